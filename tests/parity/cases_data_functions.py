"""`tf.data`: shapes of maps that depend on values, and datasets in functions."""

import numpy as np

from .harness import attempt, options

NEEDS = ("data.Dataset",)


def shown(dataset):
    return list(dataset), repr(dataset.element_spec)


def case_shapes_of_values(tf):
    numbers = tf.data.Dataset.range(1, 4)
    functions = [
        lambda n: tf.fill([n, 2], n),
        lambda n: tf.zeros([n, 3]),
        lambda n: tf.ones([n, n]),
        lambda n: tf.range(n),
        lambda n: tf.range(0, n, 2),
        lambda n: tf.constant([1, 2, 3, 4])[:n],
        lambda n: tf.ones([4, 3])[n:],
        lambda n: tf.ones([4, 3])[n, :n],
        lambda n: tf.gather(tf.range(5), tf.range(n)),
        lambda n: tf.reshape(tf.range(n * 2), [n, 2]),
        lambda n: tf.reshape(tf.range(n * 2), [-1, 2]),
        lambda n: tf.concat([tf.range(n), tf.range(n)], 0),
        lambda n: tf.stack([tf.range(n), tf.range(n)]),
        lambda n: tf.tile([1, 2], [n]),
        lambda n: tf.repeat([1, 2], n),
        lambda n: tf.reduce_sum(tf.range(n)),
        lambda n: tf.cast(tf.range(n), tf.float32) + 1.0,
        lambda n: tf.one_hot([0, 1], tf.cast(n, tf.int32)),
        lambda n: tf.eye(n),
        lambda n: tf.pad([1, 2], [[n, 0]]),
        lambda n: tf.sequence_mask(n),
        lambda n: tf.sequence_mask(n, 3),
        lambda n: tf.broadcast_to([1, 2], [n, 2]),
    ]
    return [shown(numbers.map(f)) for f in functions]


def case_counts_of_values(tf):
    rows = tf.data.Dataset.from_tensor_slices([[[1, 2], [-3, 4]], [[-5, 6], [-7, -8]]])
    functions = [
        lambda x: tf.boolean_mask(x, x[:, 0] > 0),
        lambda x: x[x > 0],
        lambda x: tf.where(x > 0),
        lambda x: tf.boolean_mask(x, x > 0) * 2,
        lambda x: tf.boolean_mask(x, x[0] > 0, axis=1),
    ]
    return [shown(rows.map(f)) for f in functions], repr(
        rows.map(functions[0]).padded_batch(2).element_spec
    )


def loops(tf):
    zero = lambda: tf.constant(0, tf.int64)

    def until(dataset):
        found = zero()
        for x in dataset:
            if x > 3:
                break
            found += x
        return found

    def odd(dataset):
        found = zero()
        for x in dataset:
            if x % 2 == 0:
                continue
            found += x
        return found

    def nested(dataset):
        found = zero()
        for x in dataset:
            for y in dataset.take(4):
                if y > x:
                    break
                found += x * y
        return found

    def numbered(dataset):
        found = zero()
        for i, x in enumerate(dataset):
            found += tf.cast(i, tf.int64) * x
        for i, x in dataset.enumerate():
            found += i * x
        return found

    def pairs(dataset):
        found = zero()
        for x, y in tf.data.Dataset.zip((dataset, dataset.skip(1))):
            found += x * y
        for entry in dataset.map(lambda x: {"a": x}):
            found += entry["a"]
        return found

    def inner_while(dataset):
        found = zero()
        for x in dataset:
            i = zero()
            while i < x:
                i += 1
                found += i
        return found

    def written(dataset):
        array = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for i, x in dataset.enumerate():
            array = array.write(tf.cast(i, tf.int32), x * 2)
        return array.stack()

    def stepped(dataset):
        iterator, found = iter(dataset), zero()
        for _ in tf.range(3):
            found += next(iterator)
        return found

    return [until, odd, nested, numbered, pairs, inner_while, written, stepped]


def case_loops(tf):
    dataset = tf.data.Dataset.range(6)
    return [tf.function(loop)(dataset) for loop in loops(tf)]


def case_pipelines_of_arguments(tf):
    data = tf.data.Dataset

    @tf.function
    def total(dataset, n):
        found = tf.constant(0, tf.int64)
        for x in dataset.skip(1).take(n).batch(2):
            found += tf.reduce_max(x)
        return found

    @tf.function
    def counted(n):
        return data.range(n).reduce(tf.constant(0, tf.int64), lambda s, x: s + x * n)

    @tf.function
    def squares(v):
        found = tf.constant(0.0)
        for x in data.from_tensor_slices(v):
            found += x * x
        return found

    @tf.function
    def mapped(dataset, n):
        return dataset.map(lambda x: x * n).batch(2)

    sizes = [tf.constant(n, tf.int64) for n in (2, 4)]
    return [
        [total(data.range(9), n) for n in sizes],
        [counted(n) for n in sizes],
        squares(tf.constant([1.0, 2.0, 3.0])),
        list(mapped(data.range(3), sizes[0])),
    ]


def case_training(tf):
    v = tf.Variable(1.0)

    @tf.function
    def train(dataset):
        for x in dataset:
            with tf.GradientTape() as tape:
                loss = v * tf.cast(x, tf.float32)
            v.assign_sub(0.1 * tape.gradient(loss, v))
        return v.read_value()

    return train(tf.data.Dataset.range(6)), v


@options(words=2)
def case_signatures(tf):
    number = tf.TensorSpec([], tf.int64)

    @tf.function(input_signature=[tf.data.DatasetSpec(number)])
    def total(dataset):
        return dataset.reduce(np.int64(0), lambda s, x: s + x)

    @tf.function(input_signature=[tf.data.IteratorSpec(number)])
    def following(iterator):
        return next(iterator) * 10 + next(iterator)

    numbers = tf.data.Dataset.range(1, 4)
    return total(numbers), following(iter(numbers))


def case_specs_of_texts(tf):
    texts = tf.data.Dataset.from_tensor_slices(["a b", "c", "d e f"])
    numbers = tf.data.Dataset.from_tensor_slices(["1", "22"])
    strings = tf.strings
    features = {
        "a": tf.io.FixedLenFeature([2], tf.float32),
        "s": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = texts.map(lambda s: tf.io.parse_single_example(s, features)).element_spec
    return [
        shown(texts.map(lambda s: (s, 1, tf.constant([1, 2])))),
        shown(texts.map(strings.split)),
        shown(texts.map(strings.length)),
        shown(texts.batch(3, drop_remainder=True).map(strings.upper)),
        shown(texts.map(lambda s: tf.stack([s, s]))),
        shown(texts.map(lambda s: strings.substr(s, 0, 1))),
        shown(texts.map(lambda s: strings.regex_replace(s, "a", "b"))),
        shown(texts.map(lambda s: strings.to_hash_bucket_fast(s, 10))),
        shown(texts.map(lambda s: s + "x")),
        shown(numbers.map(strings.to_number)),
        shown(numbers.batch(2).map(lambda s: strings.to_number(s, tf.int64))),
        shown(tf.data.Dataset.range(3).map(strings.as_string)),
        {key: repr(parsed[key]) for key in sorted(parsed)},
        repr(texts.take(0).map(strings.length).element_spec),
        repr(texts.map(tf.io.read_file).element_spec),
    ]


def case_looking_at_specs_is_no_run(tf):
    """The order of shuffled elements does not depend on who looked at what they are."""
    tf.random.set_seed(3)

    def shuffled(function):
        dataset = tf.data.Dataset.range(6).shuffle(3, seed=5).map(function)
        _ = dataset.element_spec
        both = dataset.concatenate(dataset.take(2))
        _ = both.element_spec
        return [[x.numpy().ravel() for x in each] for each in (dataset, dataset, both)]

    def ragged(x):
        return tf.RaggedTensor.from_row_lengths(tf.range(x), [x])

    return (
        shuffled(lambda x: tf.py_function(lambda y: y, [x], tf.int64)),
        shuffled(lambda x: ragged(x).flat_values),
    )


def case_specs_of_datasets_of_ragged_rows(tf):
    dataset = tf.data.Dataset
    rows = dataset.from_tensor_slices(tf.ragged.constant([[j] * j for j in range(4)]))
    counts = dataset.range(3).map(tf.range)
    made = (
        rows.flat_map(dataset.from_tensors),
        rows.flat_map(dataset.from_tensor_slices),
        rows.interleave(lambda x: dataset.from_tensors({"a": x, "b": tf.size(x)})),
        rows.flat_map(lambda x: dataset.from_tensors(x).batch(2)),
        rows.batch(2).flat_map(lambda x: dataset.from_tensor_slices(x).batch(2)),
        counts.flat_map(dataset.from_tensors),
        counts.window(2).flat_map(lambda window: window.padded_batch(2)),
    )
    return [each.element_spec for each in made], list(made[0].padded_batch(4))


def case_draws_at_several_places(tf):
    """A dataset that is used twice draws at each place by itself, and goes on where it is
    repeated."""
    Dataset = tf.data.Dataset
    tf.random.set_seed(3)

    def draws(count=3):
        return Dataset.range(count).map(lambda _: tf.random.uniform([], seed=7))

    def values(dataset):
        return [[float(x) for x in tf.nest.flatten(element)] for element in dataset]

    def turns(dataset):
        one = iter(dataset)
        found = [next(one)]
        other = iter(dataset)
        return [float(x) for x in [*found, next(other), *one, *other]]

    d, kept = draws(), Dataset.range(9).filter(lambda _: tf.random.uniform([], seed=7) < 0.5)
    inner = Dataset.range(2).flat_map(lambda _: draws(2))
    pairs = Dataset.zip((d, d)).map(lambda a, b: 10.0 * a + b)
    scanned = Dataset.range(3).scan(0.0, lambda s, _: (s + tf.random.uniform([], seed=7), s))
    return {
        "zip": values(Dataset.zip((d, d))),
        "of other lengths": values(Dataset.zip((d.repeat(2), d.concatenate(d)))),
        "repeat": values(d.repeat(2)),
        "in turn": turns(d),
        "in turn of repeated": turns(d.repeat(2)),
        "choose": values(Dataset.choose_from_datasets([d, d], Dataset.range(2).repeat(3))),
        "sample": values(Dataset.sample_from_datasets([d, d], [0.5, 0.5], seed=1)),
        "filter": values(kept.concatenate(kept)),
        "made in a function": values(Dataset.zip((inner, inner))),
        "below another": values(Dataset.zip((pairs, d))),
        "scan": values(scanned.concatenate(scanned)),
        "scan twice": [values(scanned), values(scanned)],
        "batches": [[x.numpy() for x in pair] for pair in Dataset.zip((d.batch(2), d.batch(2)))],
        "reduce": [float(d.reduce(0.0, lambda s, x: s + x)) for _ in range(2)],
    }


def case_specs_of_ragged_batches(tf):
    Dataset = tf.data.Dataset
    rows = Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], [4, 5, 6], []]))
    pairs = rows.batch(2, drop_remainder=True)
    made = {
        "endless": rows.repeat().batch(2),
        "twice": pairs.map(lambda x: x * 2),
        "other values": pairs.map(lambda x: x.with_values(tf.ones_like(x.values, tf.float32))),
        "lengths": pairs.map(lambda x: x.row_lengths()),
        "dense": pairs.map(lambda x: x.to_tensor()),
        "expanded": pairs.map(lambda x: tf.expand_dims(x, 0)),
        "interleave": pairs.interleave(Dataset.from_tensors),
        "scan": rows.scan(0, lambda s, x: (s + tf.reduce_sum(x), x + s)),
        "scan batches": pairs.scan(0, lambda s, x: (s + 1, x * s)),
    }
    return {
        key: (str(value.element_spec), [_listed(x) for x in value.take(3)])
        for key, value in made.items()
    }


def _listed(x):
    return x.to_list() if hasattr(x, "to_list") else x.numpy()


def case_specs_of_endless_batches(tf):
    """None for the size, as of others: the last batch might be smaller."""
    Dataset = tf.data.Dataset
    data = Dataset.range(20)
    made = {
        "repeat": data.repeat().batch(16),
        "map": data.repeat().map(lambda x: x + 1).batch(16),
        "full": data.repeat().batch(16, drop_remainder=True),
        "random": Dataset.random().batch(3),
        "counter": Dataset.counter().batch(3),
        "padded": data.repeat().padded_batch(3),
        "buckets": data.bucket_by_sequence_length(
            lambda x: 1, [3], [2, 2], drop_remainder=True, no_padding=True
        ),
    }
    return {key: str(value.element_spec) for key, value in made.items()}


def case_scan_of_what_runs_as_python(tf):
    texts = tf.data.Dataset.from_tensor_slices(["a", "bb"])
    ragged = tf.ragged.constant([[[1, 2], [3]], [[4]]], dtype=tf.int32)
    rows = tf.data.Dataset.from_tensor_slices(ragged)
    sparse = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]]))
    joined = rows.scan(0, lambda s, x: (s + 1, tf.concat([x, x], 0)))
    return {
        "texts": list(texts.scan("", lambda s, x: (s + x, tf.strings.length(s)))),
        "ragged": [x.to_list() for x in joined],
        "sparse": [tf.sparse.to_dense(x) for x in sparse.scan(0, lambda s, x: (s + 1, x))],
    }


def case_specs_after_functions_of_python(tf):
    def loaded(i):
        return np.full((6, 4, 1), i, np.float32), np.int64(i)

    def stated(i):
        x, y = tf.numpy_function(loaded, [i], (tf.float32, tf.int64))
        x.set_shape([6, 4, 1])
        y.set_shape([])
        return x / 255.0, tf.one_hot(y, 3)

    def ensured(i):
        x = tf.py_function(lambda i: tf.zeros([6, 4, 1]) + tf.cast(i, tf.float32), [i], tf.float32)
        return tf.image.resize(tf.ensure_shape(x, [6, 4, 1]), [3, 2])

    def in_part(i):
        x = tf.py_function(lambda i: tf.zeros([i + 1, 4]), [i], tf.float32)
        x.set_shape([None, 4])
        return x, tf.reduce_sum(x, 0), tf.reduce_sum(x, 1)

    def parsed(text):
        return tf.cast(tf.reshape(tf.io.parse_tensor(text, tf.float32), [2, 3]), tf.float64)

    numbers = tf.data.Dataset.range(3)
    texts = [tf.io.serialize_tensor(tf.fill([3, 2], float(i))) for i in range(3)]
    made = [
        numbers.map(stated).batch(2),
        numbers.map(ensured).batch(2),
        numbers.map(ensured),
        numbers.map(in_part),
        tf.data.Dataset.from_tensor_slices(texts).map(parsed).batch(2, drop_remainder=True),
    ]
    return [(repr(dataset.element_spec), list(dataset)) for dataset in made]


def case_end_of_an_iterator_in_a_function(tf):
    @tf.function
    def step(iterator):
        return next(iterator) + 1

    @tf.function(autograph=False)
    def plain(iterator):
        return next(iterator) + 1

    @tf.function
    def several(iterator):
        for _ in tf.range(2):
            x = next(iterator)
        return x

    def taken(function):
        iterator = iter(tf.data.Dataset.range(3))
        found = []
        try:
            while len(found) < 9:
                found.append(function(iterator))
        except tf.errors.OutOfRangeError as error:
            found.append(type(error).__name__)
        return found

    return taken(step), taken(plain), taken(several)


def case_the_end_of_an_iterator_in_a_function(tf):
    dataset = tf.data.Dataset.range(3)

    @tf.function
    def step(iterator):
        return next(iterator) * 2

    @tf.function
    def optional(iterator):
        return iterator.get_next_as_optional().has_value()

    def train():
        iterator, found = iter(dataset), []
        try:
            while True:
                found.append(step(iterator))
        except tf.errors.OutOfRangeError:
            return found

    ended = iter(dataset.take(0))
    return {
        "loop": train(),
        "function": attempt(lambda: step(ended), words=0),
        "eager": attempt(lambda: next(ended), words=0),
        "python": attempt(lambda: tf.function(lambda x: next(iter([])))(1), words=0),
        "optional": optional(ended),
    }


def case_sizes_of_floats(tf):
    """As anchors of a detector are laid out: sizes come from a division that is rounded up."""

    def anchors(image):
        high, wide = [tf.math.ceil(tf.shape(image)[i] / 4) for i in (1, 2)]
        x, y = [tf.range(n, dtype=tf.float32) for n in (wide, high)]
        centers = tf.expand_dims(tf.stack(tf.meshgrid(x, y), axis=-1), 2)
        sizes = tf.tile(tf.ones([1, 1, 1, 2]), [high, wide, 1, 1])
        return tf.reshape(tf.concat([centers, sizes], axis=-1), [high * wide, 4])

    def rows(image):
        half = tf.math.ceil(tf.shape(image)[1] / 2)
        return tf.reshape(image, [tf.shape(image)[0], -1, 3]), tf.tile(image[0], [half, 1, 1])

    def targets(image):
        count = tf.shape(image)[0]
        found = tf.TensorArray(tf.float32, size=count, dynamic_size=True)
        for i in range(count):
            found = found.write(i, anchors(image) * tf.reduce_sum(image[i]))
        return image, found.stack()

    spec = tf.TensorSpec([2, None, None, 3])
    image = np.arange(2 * 5 * 7 * 3, dtype=np.float32).reshape(2, 5, 7, 3)
    dataset = tf.data.Dataset.from_generator(lambda: iter([image]), output_signature=spec)
    mapped = [dataset.map(function) for function in (anchors, rows, targets)]
    return (
        [(repr(x.element_spec), list(x)) for x in mapped],
        tf.function(anchors, input_signature=[spec])(image),
    )


def case_graphs_of_a_batch_as_one(tf):
    """Atoms and pairs of molecules, that are of other numbers each: no row is looked at."""
    made = np.random.default_rng(0)
    atoms = tf.ragged.constant([made.random((n, 4)).tolist() for n in (2, 3, 1)], ragged_rank=1)
    pairs = tf.ragged.constant([[[0, 1]], [[1, 2], [0, 2]], [[0, 0]]], ragged_rank=1)

    def joined(atoms, pairs):
        counts, bonds = atoms.row_lengths(), pairs.row_lengths()
        places = tf.range(tf.shape(counts)[0])
        before = tf.pad(tf.cumsum(counts[:-1]), [(1, 0)])
        index = tf.cast(tf.gather(before, tf.repeat(places, bonds)), tf.int32)
        return (
            tf.cast(atoms.merge_dims(outer_axis=0, inner_axis=1), tf.float32),
            pairs.merge_dims(0, -2) + index[:, tf.newaxis],
            tf.repeat(places, counts),
            atoms.merge_dims(0, 2),
        )

    data = tf.data.Dataset.from_tensor_slices((atoms, pairs)).batch(2).map(joined)
    weights = tf.Variable(tf.ones([4, 2]))

    @tf.function
    def step(atoms):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.cast(atoms.merge_dims(0, 1), tf.float32) @ weights) ** 2)
        return loss, tape.gradient(loss, weights)

    return repr(data.element_spec), list(data), step(atoms), step(atoms[:2])


def case_python_functions_of_optionals(tf):
    made = tf.experimental.Optional

    def told(optional, x=0.0):
        return optional.get_value() + x if optional.has_value() else -1.0

    def called(*inp):
        return tf.py_function(told, inp, tf.float32)

    full, empty = made.from_value(2.0), made.empty(tf.TensorSpec([], tf.float32))
    function = tf.function(called)
    kept = made.from_value({"a": tf.ragged.constant([[1], [2, 3]])})
    numbers = tf.data.Dataset.range(2).map(lambda n: tf.cast(n, tf.float32))
    return (
        [called(full), called(full, 5.0), called(empty), function(full), function(empty)],
        tf.py_function(lambda optional: optional.get_value()["a"].values, [kept], tf.int32),
        list(numbers.map(lambda x: called(made.from_value(x), x))),
        list(numbers.map(lambda x: called(empty))),
    )

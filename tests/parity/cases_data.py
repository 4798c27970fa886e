"""`tf.data`: what datasets give, in which order, their specs and sizes, and their errors."""

import collections

import numpy as np

from .harness import attempt, attempts, options

NEEDS = ("data.Dataset", "io.gfile", "train.Example")


def shown(dataset):
    """The elements, with what is said of them."""
    return (
        list(dataset.as_numpy_iterator()),
        repr(dataset.element_spec),
        int(dataset.cardinality()),
        int(tensors_in(dataset)),
    )


def tensors_in(dataset):
    return sum(1 for _ in dataset)


def batches(dataset):
    return [batch.numpy().tolist() for batch in dataset]


def numbers(dataset):
    return [int(x) for x in dataset]


# --- sources


def case_slices(tf):
    made = tf.data.Dataset.from_tensor_slices
    values = {"a": [1, 2], "b": ([3.0, 4.0], np.arange(4).reshape(2, 2))}
    return [
        shown(made(x)) for x in ([1, 2, 3], ([1, 2], [3.0, 4.0]), values, ["x", "y"], np.eye(3))
    ]


def case_tensors(tf):
    made = tf.data.Dataset.from_tensors
    pair = collections.namedtuple("pair", "x y")
    values = ([1, 2], (1, None), {"z": 1, "a": 2}, pair(1, 2.0), b"text", np.int8(3))
    return [shown(made(x)) for x in values]


def case_slices_refused(tf):
    made = tf.data.Dataset.from_tensor_slices
    return [attempt(made, x) for x in (([1, 2], [1, 2, 3]), 3, {}, (1, [2]))]


def case_range(tf):
    made = tf.data.Dataset.range
    return [shown(made(*args)) for args in ((5,), (2, 5), (1, 9, 3), (5, 1, -2), (5, 2), (0,))], [
        shown(made(3, output_type=kind)) for kind in (tf.int32, tf.float32)
    ]


@options(words=6)
def case_range_refused(tf):
    made = tf.data.Dataset.range
    return [attempt(made, *args) for args in ((), (1, 2, 3, 4), (1, 2, 0))]


def case_generator(tf):
    def count(stop):
        for i in range(stop):
            yield i, [float(i)] * i

    signature = (tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
    made = tf.data.Dataset.from_generator
    return shown(made(count, args=(3,), output_signature=signature)), shown(
        made(lambda: iter(range(3)), tf.int64)
    )


@options(words=3)
def case_generator_refused(tf):
    def failing():
        yield 1
        raise KeyError("no more")

    spec = tf.TensorSpec([], tf.int32)
    made = tf.data.Dataset.from_generator

    def ran(generator, signature=spec):
        return lambda _: list(made(generator, output_signature=signature).as_numpy_iterator())

    programs = {
        "text": ran(lambda: iter(["a"])),
        "shape": ran(lambda: iter([[1, 2]])),
        "structure": ran(lambda: iter([(1, 2)]), (spec, spec, spec)),
        "key": ran(failing),
        "both": lambda tf: made(failing, tf.int32, output_signature=spec),
        "neither": lambda tf: made(failing),
        "no callable": lambda tf: made(3, tf.int32),
    }
    return attempts(tf, programs)


def case_zip(tf):
    data = tf.data.Dataset
    a, b = data.range(3), data.range(10, 15)
    return [
        shown(data.zip(a, b)),
        shown(data.zip((a, {"x": b, "a": (a,)}))),
        shown(data.zip(datasets=(a, b.batch(2)))),
        shown(data.zip((a.repeat(), b))),
        repr(data.zip(a, b)),
    ]


def case_zip_refused(tf):
    data = tf.data.Dataset
    return attempts(
        tf, {"none": lambda _: data.zip(), "list": lambda _: data.zip([data.range(3)])}, words=4
    )


# --- order and choice


def case_choices(tf):
    data = tf.data.Dataset.range(7)
    return [
        shown(x)
        for x in (
            data.take(3),
            data.take(-1),
            data.take(0),
            data.skip(3),
            data.skip(-1),
            data.skip(9),
            data.shard(3, 1),
            data.repeat(2).skip(5).take(4),
            data.repeat(0),
            data.repeat(2).shard(2, 1),
            data.concatenate(data.take(2)),
            data.enumerate(5),
            data.take(3).repeat().take(7),
        )
    ]


def case_choices_of_other_elements(tf):
    data = tf.data.Dataset.range(7).map(lambda x: (x, x + 1)).filter(lambda x, y: x != 2)
    return [
        shown(x)
        for x in (
            data.take(3),
            data.skip(3),
            data.shard(3, 1),
            data.repeat(2).skip(5).take(4),
            data.concatenate(data),
            data.enumerate(),
        )
    ]


def case_sizes(tf):
    data = tf.data.Dataset.range(7)
    some = data.filter(lambda x: x > 2)
    made = {
        "repeat": data.repeat(),
        "none": data.take(0).repeat(),
        "unknown": some.repeat(),
        "take of unknown": some.take(2),
        "take of endless": data.repeat().take(5),
        "batch of endless": data.repeat().batch(2),
        "zip": tf.data.Dataset.zip(some, data),
        "flat": data.flat_map(lambda x: tf.data.Dataset.range(x)),
        "window": data.window(3, 2),
        "full windows": data.window(3, 2, drop_remainder=True),
        "concatenate": some.concatenate(data.repeat()),
        "cache": data.cache(),
        "shuffle": data.shuffle(3),
        "prefetch": data.prefetch(2),
        "padded": data.padded_batch(2),
        "unbatch": data.batch(7, drop_remainder=True).unbatch(),
    }
    return {key: int(value.cardinality()) for key, value in made.items()}


def case_sizes_of_what_is_chosen(tf):
    data = tf.data.Dataset
    programs = {
        "filter": lambda x: x.filter(lambda _: True),
        "take_while": lambda x: x.take_while(lambda _: True),
        "flat_map": lambda x: x.flat_map(lambda _: data.range(2)),
        "interleave": lambda x: x.interleave(lambda _: data.range(2)),
        "unique": lambda x: x.unique(),
        "ignore_errors": lambda x: x.ignore_errors(),
        "rebatch": lambda x: x.batch(2).rebatch(3),
        "groups": lambda x: x.group_by_window(lambda i: i % 2, lambda _, w: w.batch(2), 2),
        "buckets": lambda x: x.bucket_by_sequence_length(lambda _: 1, [3], [2, 2]),
        "resample": lambda x: x.rejection_resample(lambda i: i % 2, [0.5, 0.5]),
        "choose": lambda x: data.choose_from_datasets([x, data.range(3)], data.range(2)),
        "sample": lambda x: data.sample_from_datasets([x, x], stop_on_empty_dataset=True),
        "skip all": lambda x: x.skip(-1),
        "enumerate": lambda x: x.enumerate(),
    }
    sources = {"none": data.range(0), "some": data.range(9), "endless": data.range(9).repeat()}
    return {
        (name, of): int(program(source).cardinality())
        for of, source in sources.items()
        for name, program in programs.items()
    }


def case_length(tf):
    data = tf.data.Dataset.range(7)
    programs = {
        "length": lambda _: len(data.batch(2)),
        "endless": lambda _: len(data.repeat()),
        "unknown": lambda _: len(data.filter(lambda x: x > 2)),
        "bool": lambda _: bool(data.take(0)),
    }
    return attempts(tf, programs)


def case_shuffle(tf):
    data = tf.data.Dataset.range(20)
    again = data.shuffle(20, seed=3)
    fixed = data.shuffle(20, reshuffle_each_iteration=False)
    near = numbers(data.shuffle(4))
    return [
        sorted(numbers(again)),
        numbers(again) == numbers(again),
        numbers(data.shuffle(20, seed=3)) == numbers(data.shuffle(20, seed=3)),
        numbers(fixed) == numbers(fixed),
        sorted(near),
        all(x - place < 4 for place, x in enumerate(near)),
        sorted(numbers(data.map(lambda x: x * 2).shuffle(3))),
        sorted(numbers(data.shuffle(100).repeat(2))),
        repr(again),
    ]


@options(words=4)
def case_refused_numbers(tf):
    data = tf.data.Dataset.range(7)
    programs = {
        "batch": lambda _: data.batch(0),
        "shuffle": lambda _: data.shuffle(0),
        "shard": lambda _: data.shard(2, 5),
        "window": lambda _: data.window(0),
        "prefetch": lambda _: data.prefetch(-5),
        "take": lambda _: data.take("a"),
    }
    return attempts(tf, programs)


# --- functions


def case_map(tf):
    data = tf.data.Dataset.range(5)
    return [
        shown(data.map(lambda x: x * 2)),
        shown(data.map(lambda x: (x, {"y": tf.cast(x, tf.float32)}))),
        shown(data.map(lambda x: [x, x + 1])),
        shown(data.map(lambda x: (x, None))),
        shown(data.enumerate().map(lambda i, x: i + x)),
        shown(data.map(lambda x: {"b": x, "a": x}).map(lambda d: d["a"] + d["b"])),
        shown(data.map(lambda x: 1.5)),
        repr(data.map(lambda x: x)),
    ]


def case_map_then_batch(tf):
    data = tf.data.Dataset.from_tensor_slices((np.arange(12.0).reshape(6, 2), np.arange(6)))

    def scaled(x, y):
        return tf.nn.softmax(x * 2.0), tf.one_hot(y % 3, 3), tf.reduce_sum(x)

    return shown(data.map(scaled).batch(4)), shown(data.map(scaled).batch(4, True))


def case_map_converted(tf):
    def halved(x):
        if x % 2 == 0:
            y = x // 2
        else:
            y = -x
        for _ in range(3):
            y += 1
        return y

    data = tf.data.Dataset.range(6).map(halved)
    return shown(data), shown(data.batch(4))


def case_map_of_unknown_sizes(tf):
    data = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    return shown(data), shown(data.map(lambda x: (tf.reduce_sum(x), tf.shape(x)[0])))


def case_map_with_python(tf):
    data = tf.data.Dataset.range(4)
    doubled = data.map(lambda x: tf.numpy_function(lambda v: v * 2, [x], tf.int64))
    tripled = data.map(lambda x: tf.py_function(lambda v: v * 3, [x], tf.int64))
    return list(doubled.as_numpy_iterator()), list(tripled.as_numpy_iterator())


def case_map_with_variables(tf):
    v = tf.Variable(2.0)
    data = tf.data.Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: x * v)
    before = list(data.as_numpy_iterator())
    v.assign(10.0)
    return before, list(data.as_numpy_iterator()), list(data.batch(2).as_numpy_iterator())


def case_map_refused(tf):
    data = tf.data.Dataset.range(3)
    programs = {
        "object": lambda _: data.map(lambda x: object()),
        "arguments": lambda _: data.map(lambda x, y: x),
        "predicate": lambda _: data.filter(lambda x: x),
        "concatenate": lambda _: data.concatenate(tf.data.Dataset.from_tensors(1.0)),
    }
    return attempts(tf, programs, words=3)


@options(words=6)
def case_errors_of_elements(tf):
    data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
    data = data.map(lambda x: tf.debugging.check_numerics(1.0 / x, "not finite"))
    iterator = iter(data)
    found = [attempt(iterator.get_next, words=3 + (i < 4)) for i in range(5)]
    return found, list(data.ignore_errors().as_numpy_iterator())


def case_filter(tf):
    data = tf.data.Dataset.range(8)
    return [
        shown(data.filter(lambda x: x % 3 == 1)),
        shown(data.enumerate().filter(lambda i, x: i > 5)),
        shown(data.take_while(lambda x: x < 3)),
        shown(data.filter(lambda x: False)),
    ]


def case_flat_map(tf):
    data = tf.data.Dataset.range(1, 4)
    made = tf.data.Dataset.from_tensor_slices
    return [
        shown(data.flat_map(lambda x: tf.data.Dataset.range(x))),
        shown(data.flat_map(lambda x: made(tf.stack([x, x * 10])))),
        shown(data.batch(2).flat_map(lambda x: made((x, x + 1)))),
        shown(data.flat_map(lambda x: tf.data.Dataset.from_tensors((x, {"y": x})).repeat(2))),
    ]


def case_interleave(tf):
    data = tf.data.Dataset.range(1, 6)

    def repeated(x):
        return tf.data.Dataset.from_tensors(x).repeat(x)

    return [
        numbers(data.interleave(repeated, cycle_length=cycle, block_length=block))
        for cycle in (1, 2, 3, 7)
        for block in (1, 2, 3)
    ], numbers(data.interleave(repeated, cycle_length=3, num_parallel_calls=2))


def case_reduce(tf):
    data = tf.data.Dataset.range(5)
    zero = tf.constant(0, tf.int64)
    return [
        data.reduce(zero, lambda s, x: s + x),
        data.reduce((zero, 0.0), lambda s, x: (s[0] + x, s[1] + 1.0)),
        data.enumerate().reduce({"a": zero}, lambda s, x: {"a": s["a"] + x[0] * x[1]}),
        data.reduce(np.zeros([0], np.int64), lambda s, x: tf.concat([s, [x]], 0)),
        data.take(0).reduce(zero, lambda s, x: s + x),
    ]


def case_scan(tf):
    data = tf.data.Dataset.range(5)
    zero = tf.constant(0, tf.int64)
    return [
        shown(data.scan(zero, lambda s, x: (s + x, (s, s + x)))),
        shown(data.scan((zero, zero + 1), lambda s, x: ((s[1], s[0] + s[1]), s[0]))),
    ]


@options(words=4)
def case_states_refused(tf):
    data = tf.data.Dataset.range(5)
    programs = {
        "dtype": lambda _: data.reduce(0, lambda s, x: x),
        "structure": lambda _: data.reduce((0,), lambda s, x: x),
        "scan": lambda _: data.scan(np.int64(0), lambda s, x: s),
        "none": lambda _: data.take(0).get_single_element(),
        "many": lambda _: data.get_single_element(),
        "one": lambda _: data.take(1).get_single_element(),
    }
    return attempts(tf, programs)


# --- batches and windows


def case_batch(tf):
    data = tf.data.Dataset.range(7)
    pairs = tf.data.Dataset.zip((data, data.map(lambda x: x * 2)))
    texts = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    return [
        shown(data.batch(3)),
        shown(data.batch(3, drop_remainder=True)),
        shown(data.batch(20, drop_remainder=True)),
        shown(pairs.batch(2)),
        shown(texts.batch(2)),
        shown(data.batch(2).batch(2)),
        shown(data.repeat(2).batch(4)),
        shown(data.map(lambda x: {"a": x, "b": x}).batch(4)),
    ]


def case_batch_of_other_shapes(tf):
    data = tf.data.Dataset.from_generator(
        lambda: iter([[1], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int32)
    )
    return attempt(lambda: list(data.batch(2)), words=20)


def case_padded_batch(tf):
    data = tf.data.Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
    pairs = tf.data.Dataset.zip((data, data.map(lambda x: tf.cast(x, tf.float32))))
    minus = tf.constant(-1, tf.int64)
    return [
        shown(data.padded_batch(2)),
        shown(data.padded_batch(2, drop_remainder=True)),
        shown(data.padded_batch(2, padded_shapes=[6], padding_values=minus)),
        shown(pairs.padded_batch(3, padded_shapes=([None], [7]), padding_values=(minus, 0.5))),
        shown(tf.data.Dataset.from_tensor_slices(["a", "b"]).padded_batch(2)),
    ]


@options(words=5)
def case_padded_batch_refused(tf):
    data = tf.data.Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
    programs = {
        "small": lambda _: list(data.padded_batch(2, padded_shapes=[1])),
        "dtype": lambda _: data.padded_batch(2, padding_values=1.0),
    }
    return attempts(tf, programs)


def case_ragged_batch(tf):
    data = tf.data.Dataset.range(4)
    specs = tf.TensorSpec([None, 2], tf.int64), tf.TensorSpec([], tf.int64)
    pairs = tf.data.Dataset.from_generator(
        lambda: (([[n, n]] * n if n else np.zeros([0, 2]), n) for n in range(4)),
        output_signature=specs,
    )

    def lists(dataset):
        found = [[getattr(x, "to_list", x.numpy)() for x in pair] for pair in dataset]
        return found, repr(dataset.element_spec)

    return [
        lists(pairs.ragged_batch(3, row_splits_dtype=tf.int32)),
        lists(pairs.ragged_batch(3, drop_remainder=True)),
        lists(data.map(lambda n: (tf.fill([n, n], n), tf.range(n))).ragged_batch(2)),
        shown(data.ragged_batch(3)),
    ]


def case_unbatch(tf):
    data = tf.data.Dataset.range(8)
    return [
        shown(data.batch(3).unbatch()),
        shown(data.enumerate().batch(3).unbatch()),
        shown(data.batch(4, drop_remainder=True).rebatch(3)),
        shown(data.batch(3).rebatch(2)),
        shown(data.batch(3).rebatch([1, 2])),
        shown(data.batch(3).rebatch(3, drop_remainder=True)),
    ]


def case_window(tf):
    data = tf.data.Dataset.range(8)
    settings = ((3,), (3, 1), (3, 2, 2), (2, 5), (3, 1, 1, True), (3, 2, 2, True))
    windows = [[numbers(w) for w in data.window(*each)] for each in settings]
    pairs = data.enumerate().window(3)
    joined = data.window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    zipped = pairs.flat_map(lambda a, b: tf.data.Dataset.zip((a, b)).batch(3))
    return windows, repr(pairs.element_spec), shown(joined), shown(zipped)


def case_group_by_window(tf):
    data = tf.data.Dataset.range(10)
    grouped = data.group_by_window(lambda x: x % 3, lambda key, w: w.batch(2), window_size=2)
    keyed = data.group_by_window(
        lambda x: x % 2,
        lambda key, w: w.map(lambda x: (key, x)),
        window_size_func=lambda key: key + 2,
    )
    return shown(grouped), shown(keyed)


def case_bucket_by_sequence_length(tf):
    lengths = (1, 4, 3, 5, 6, 2, 4)
    data = tf.data.Dataset.from_generator(
        lambda: iter([list(range(n)) for n in lengths]), tf.int64, [None]
    )

    def length(x):
        return tf.shape(x)[0]

    def fails(x):
        raise ValueError("no length")

    bucketed = data.bucket_by_sequence_length
    return [
        shown(bucketed(length, [3, 5], [2, 2, 2])),
        shown(bucketed(tf.shape, [3, 5], [2, 2, 2])),
        shown(bucketed(length, [3, 5], [2, 3, 2], drop_remainder=True)),
        shown(bucketed(length, [3, 5, 9], [2, 2, 2, 2], pad_to_bucket_boundary=True)),
        attempt(bucketed, length, [3, 5], [2, 2]),
        attempt(bucketed, fails, [3, 5], [2, 2, 2]),
    ]


# --- several datasets, elements kept


def case_choose(tf):
    data = tf.data.Dataset
    parts = [data.range(3), data.range(10, 12), data.range(20, 25)]
    choice = data.from_tensor_slices(np.int64([0, 1, 1, 2, 1, 0, 2, 2]))
    return [
        numbers(data.choose_from_datasets(parts, choice)),
        numbers(data.choose_from_datasets(parts, choice, stop_on_empty_dataset=False)),
        attempt(
            data.choose_from_datasets, parts, data.range(3).map(lambda x: tf.cast(x, tf.int32))
        ),
    ]


def case_sample(tf):
    data = tf.data.Dataset
    parts = [data.range(30), data.range(100, 130)]
    drawn = numbers(data.sample_from_datasets(parts, seed=2))
    one = numbers(data.sample_from_datasets(parts, weights=[0.0, 1.0]))
    return [
        sorted(drawn),
        [x for x in drawn if x < 50],
        one[:30],
        attempt(data.sample_from_datasets, parts, [1.0]),
    ]


def case_cache(tf):
    data = tf.data.Dataset.range(10).shuffle(10).cache()
    other = tf.data.Dataset.range(10).map(lambda x: x).shuffle(10).cache()
    return [numbers(x) == numbers(x) for x in (data, other)], sorted(numbers(data.repeat(2)))


def case_cache_is_full_with_the_last_element(tf):
    options = tf.data.Options()  # as it would read ahead of what is asked for
    options.experimental_optimization.inject_prefetch = False
    rows = tf.data.Dataset.range(8).shuffle(8, seed=3)
    mapped = rows.map(lambda x: x + 1)
    unknown = rows.filter(lambda x: x >= 0)
    found = []
    for made in (rows, mapped, unknown):
        for dataset in (made.cache().batch(2), made.batch(2).cache()):
            for count in (3, 4):
                kept = dataset.with_options(options)
                runs = [
                    [next(run).numpy().tolist() for _ in range(count)]
                    for run in map(iter, [kept] * 3)
                ]
                found.append(runs[0] == runs[1] == runs[2])
    return found


def case_unique_of_integers(tf):
    """Close to each other or far apart, at both ends of their dtypes."""
    ends = [127, -128, 127, 0, 5, 5, -128] * 20
    far = [2**62, -(2**62), 2**62, 0]
    large = np.array([2**63 + 5, 2**63 + 7, 2**63 + 5, 2**63 + 6, 2**63 + 7], np.uint64)
    arrays = [np.array(ends, np.int8), np.array(ends, np.int64), np.array(far), large]
    arrays += [np.array([], np.int32), np.array([3], np.uint16), np.arange(300)[::-1] % 7]
    return [tf.unique_with_counts(x) for x in arrays]


def case_unique(tf):
    made = tf.data.Dataset.from_tensor_slices
    return [shown(made(x).unique()) for x in ([1, 37, 2, 37, 2, 1], ["a", "b", "a"])], attempt(
        lambda: made([1.0]).unique(), words=5
    )


def case_experimental(tf):
    data = tf.data.Dataset.range(6)
    more = tf.data.experimental
    return [
        shown(data.apply(more.enumerate_dataset(2))),
        shown(data.filter(lambda x: x > 3).apply(more.assert_cardinality(2))),
        attempt(lambda: list(data.apply(more.assert_cardinality(4))), words=9),
        attempt(lambda: list(data.apply(more.assert_cardinality(9))), words=9),
        int(more.at(data, 3)),
        attempt(more.at, data, 9, words=5),
        shown(data.batch(2).apply(more.unbatch())),
        repr(more.get_structure(data)),
        shown(data.map(lambda x: {"a": x}).apply(more.pad_to_cardinality(8))),
        shown(more.from_list([(1, "a"), (2, "b")])),
        int(more.cardinality(data)),
    ]


# --- iterators, options, optionals


def case_iterators(tf):
    iterator = iter(tf.data.Dataset.range(2))
    found = [iterator.get_next(), next(iterator), attempt(iterator.get_next, words=4)]
    found.append(type(attempt(next, iterator)).__name__)
    empty = iterator.get_next_as_optional()
    some = iter(tf.data.Dataset.range(2)).get_next_as_optional()
    return [
        *found,
        empty.has_value(),
        some.has_value(),
        some.get_value(),
        attempt(empty.get_value),
        isinstance(iterator, tf.data.Iterator),
        repr(iterator.element_spec),
    ]


def case_specs(tf):
    spec = tf.TensorSpec([2], tf.int64)
    return [
        repr(tf.data.DatasetSpec(spec)),
        repr(tf.data.IteratorSpec(spec)),
        repr(tf.OptionalSpec(spec)),
        repr(tf.OptionalSpec(None)),
        tf.data.DatasetSpec(spec) == tf.data.DatasetSpec(spec),
        tf.data.DatasetSpec(spec).is_compatible_with(
            tf.data.DatasetSpec(tf.TensorSpec([None], tf.int64))
        ),
        repr(tf.data.Dataset.range(3).window(2)),
    ]


def case_options(tf):
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 3
    options.experimental_optimization.map_fusion = True
    more = tf.data.Options()
    more.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    found = tf.data.Dataset.range(3).with_options(options).map(lambda x: x).with_options(more)
    kept = found.options()
    return [
        kept.deterministic,
        kept.threading.private_threadpool_size,
        kept.experimental_optimization.map_fusion,
        kept.experimental_distribute.auto_shard_policy.name,
        attempt(setattr, options, "no_such_option", 3, words=3),
        numbers(found),
    ]


def case_in_functions(tf):
    data = tf.data.Dataset.range(5)

    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found

    @tf.function
    def first(iterator):
        return iterator.get_next() + next(iterator)

    @tf.function
    def reduced():
        return tf.data.Dataset.range(4).reduce(np.int64(1), lambda s, x: s + x)

    return total(data), total(data.take(2)), first(iter(data)), reduced()


def case_in_tapes(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = 0.0
        for x, y in tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [0.0, 1.0])).map(
            lambda x, y: (x * 2.0, y)
        ):
            loss += (x * v - y) ** 2
    return loss, tape.gradient(loss, v)


# --- files


def example(tf, **features):
    kinds = {
        int: lambda x: tf.train.Feature(int64_list=tf.train.Int64List(value=x)),
        float: lambda x: tf.train.Feature(float_list=tf.train.FloatList(value=x)),
        bytes: lambda x: tf.train.Feature(bytes_list=tf.train.BytesList(value=x)),
    }
    made = {key: kinds[type(value[0])](value) for key, value in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made))


def case_examples(tf):
    message = example(tf, a=[1, 2, -300], b=[b"x", b"\xff\n"], c=[1.5, -2.0, 1e30])
    again = tf.train.Example.FromString(message.SerializeToString(deterministic=True))
    feature = again.features.feature
    return [
        list(feature["a"].int64_list.value),
        list(feature["b"].bytes_list.value),
        list(feature["c"].float_list.value),
        feature["a"].WhichOneof("kind"),
        feature["a"].HasField("float_list"),
        again == message,
        message.SerializeToString(deterministic=True),
        str(example(tf, a=[1, -2])),
        str(example(tf, b=[b"x\xff\n'"])),
        str(example(tf, c=[1.5, 0.1])),
        attempt(lambda: tf.train.Int64List(value=[1.5]), words=0),
        attempt(lambda: tf.train.BytesList(value=["s"]), words=2),
    ]


def case_parse_examples(tf):
    text = example(tf, a=[1, 2], b=[b"x"], c=[1.5, 2.0, 3.0]).SerializeToString()
    other = example(tf, a=[3, 4], b=[b"yz"], c=[5.0]).SerializeToString()
    io = tf.io
    features = {
        "a": io.FixedLenFeature([2], tf.int64),
        "b": io.FixedLenFeature([], tf.string),
        "d": io.FixedLenFeature([2], tf.float32, [7.0, 8.0]),
        "e": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    sequence = {"c": io.FixedLenSequenceFeature([], tf.float32, True, -1.0)}
    batch = dict(sorted(io.parse_example([text, other], {**features, **sequence}).items()))
    one = dict(sorted(io.parse_single_example(text, features).items()))
    sparse = io.parse_example([text, other], {"c": io.VarLenFeature(tf.float32)})["c"]
    programs = {
        "missing": {"z": io.FixedLenFeature([3], tf.int64)},
        "dtype": {"a": io.FixedLenFeature([2], tf.float32)},
        "size": {"a": io.FixedLenFeature([3], tf.int64)},
        "none": {},
    }
    refused = [attempt(io.parse_example, [text], each, words=6) for each in programs.values()]
    single = [attempt(io.parse_single_example, text, each, words=6) for each in programs.values()]
    return batch, one, (sparse.indices, sparse.values, sparse.dense_shape), refused, single


def case_tensors_as_bytes(tf):
    io = tf.io
    values = [
        tf.constant([[1.5, 2.0]]),
        tf.constant(3, tf.int64),
        tf.constant(["a", "bc"]),
        tf.constant([True, False]),
        tf.constant([1.0, 2.0], tf.bfloat16),
        tf.constant([1 + 2j]),
        tf.zeros([0, 2]),
        tf.constant([1, 2], tf.uint16),
    ]
    texts = [io.serialize_tensor(x) for x in values]
    return texts, [io.parse_tensor(t, x.dtype) for t, x in zip(texts, values, strict=True)]


@options(words=5)
def case_decode_raw(tf):
    decode = tf.io.decode_raw
    programs = {
        "int16": lambda tf: decode(b"\x01\x00\x02\x00", tf.int16),
        "big": lambda tf: decode(b"\x01\x00\x02\x00", tf.int16, little_endian=False),
        "several": lambda tf: decode([b"ab", b"cd"], tf.uint8),
        "filled": lambda tf: decode([b"ab", b"c"], tf.uint8, fixed_length=3),
        "lengths": lambda tf: decode([b"ab", b"c"], tf.uint8),
        "multiple": lambda tf: decode(b"abc", tf.int16),
    }
    return attempts(tf, programs)


def case_files(tf):
    import tempfile

    gfile = tf.io.gfile
    with tempfile.TemporaryDirectory() as folder:
        path = gfile.join(folder, "a", "lines.txt")
        tf.io.write_file(path, "one\ntwo\r\n\nthree")
        tf.io.write_file(gfile.join(folder, "fixed"), b"HHaabbccF")
        with tf.io.TFRecordWriter(gfile.join(folder, "records")) as writer:
            for i in range(40):
                writer.write(bytes([i]) * (i * 37))
        records = tf.data.TFRecordDataset(gfile.join(folder, "records"))
        fixed = tf.data.FixedLengthRecordDataset(gfile.join(folder, "fixed"), 2, 2, 1)
        names = tf.data.Dataset.list_files(gfile.join(folder, "*"), shuffle=False)
        wrong = tf.data.TextLineDataset([path, gfile.join(folder, "none")])
        with gfile.GFile(gfile.join(folder, "g"), "w") as file:
            file.write("hello\nworld\n")
        with gfile.GFile(gfile.join(folder, "g")) as file:
            read = [file.readline(), file.tell(), file.readlines(), file.size()]
        return [
            gfile.makedirs(""),  # the folder of a file without one
            gfile.mkdir(""),
            list(tf.data.TextLineDataset(path).as_numpy_iterator()),
            list(records.as_numpy_iterator()),
            list(fixed.as_numpy_iterator()),
            [x[len(folder) :] for x in map(bytes.decode, names.as_numpy_iterator())],
            attempt(lambda: list(wrong), words=0),
            read,
            sorted(gfile.listdir(folder)),
            [(x[len(folder) :], d, f) for x, d, f in gfile.walk(gfile.join(folder, "a"))],
            gfile.isdir(folder),
            tf.io.read_file(path),
            repr(records.element_spec),
        ]


def case_files_refused(tf):
    gfile = tf.io.gfile
    programs = {
        "read": lambda tf: tf.io.read_file("/there/is/none"),
        "shape": lambda tf: tf.io.read_file(["a", "b"]),
        "listdir": lambda tf: gfile.listdir("/there/is/none"),
        "remove": lambda tf: gfile.remove("/there/is/none"),
        "copy": lambda tf: gfile.copy("/there/is/none", "/there/is/another"),
        "rmtree": lambda tf: gfile.rmtree("/there/is/none"),
        "mode": lambda tf: gfile.GFile("/there/is/none", "x"),
        "open": lambda tf: gfile.GFile("/there/is/none").read(),
        "writer": lambda tf: tf.io.TFRecordWriter("/there/is/none"),
        "records": lambda tf: list(tf.data.TFRecordDataset("/there/is/none")),
        "compression": lambda tf: tf.io.TFRecordOptions("XX"),
        "files": lambda tf: tf.data.Dataset.list_files("/there/is/none/*"),
    }
    return attempts(tf, programs, words=3)


def case_lists_of_arrays(tf):
    rows = np.arange(2)
    values = [[rows, rows], {"a": [rows, rows]}, [[1, 2], rows], [rows, [1, 2]], [np.int64(1), 2]]
    return [tf.data.Dataset.from_tensor_slices(value).element_spec for value in values]


def case_rows_that_there_are_not(tf):
    dataset = tf.data.Dataset
    numbers = {
        "number": dataset.range(3),
        "one of two": dataset.from_tensors((1, [2])),
        "text": dataset.from_tensors("a"),
    }
    calls = {"unequal": lambda tf: dataset.from_tensors(([1, 2], [3])).unbatch()}
    for name, each in numbers.items():
        calls[f"unbatch {name}"] = lambda tf, d=each: d.unbatch()
        calls[f"rebatch {name}"] = lambda tf, d=each: d.rebatch(2)
        calls[f"rebatch {name} whole"] = lambda tf, d=each: d.rebatch(2, drop_remainder=True)
        calls[f"rebatch {name} by several"] = lambda tf, d=each: d.rebatch([1, 2])
    return attempts(tf, calls, words=8)


def case_parallel_calls_of_interleave(tf):
    def run(cycle, calls):
        made = tf.data.Dataset.range(3).interleave(
            tf.data.Dataset.from_tensors, cycle_length=cycle, num_parallel_calls=calls
        )
        return [int(x) for x in made]

    pairs = [(2, 1), (2, 2), (2, tf.data.AUTOTUNE), (1, None), (1, 2), (2, 3), (2, 0), (None, -5)]
    pairs += [(0, None), (0, 1)]
    return attempts(
        tf,
        {f"{cycle} {calls}": lambda tf, c=cycle, n=calls: run(c, n) for cycle, calls in pairs},
        words=6,
    )


def case_specs_of_ragged_parts(tf):
    rows = tf.data.Dataset.from_tensor_slices(np.zeros([4, 3], np.float32)).padded_batch(2)
    ragged = rows.ragged_batch(2, drop_remainder=True)
    return [
        made.element_spec
        for made in (
            ragged.map(lambda x: x),
            ragged.enumerate().map(lambda i, x: {"x": x, "i": i}),
            ragged.map(lambda x: (x, 1)).map(lambda x, one: (one, x)),
        )
    ]

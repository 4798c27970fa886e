"""Datasets of which elements cannot be made: what comes after them, and what is refused."""

import collections

from .harness import attempt, raised


def elements(dataset, count=12):
    """The elements of a dataset; the class of its error for one that cannot be made."""
    found, iterator = [], iter(dataset)
    while len(found) < count:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except Exception as error:
            found.append(raised(error, words=0))
    return found


def _checked(tf, numbers):
    """Numbers of which NaN cannot be made."""
    dataset = tf.data.Dataset.from_tensor_slices(numbers)
    return dataset.map(lambda x: tf.debugging.check_numerics(x, "not a number"))


NUMBERS = [1.0, 2.0, float("nan"), 4.0, 5.0, 6.0, 7.0]


def case_zip_goes_on_with_all(tf):
    checked, count = _checked(tf, NUMBERS), tf.data.Dataset.range
    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[i] * i for i in range(7)]))
    zipped = [
        tf.data.Dataset.zip(checked, count(7)),
        tf.data.Dataset.zip(count(7), checked),
        tf.data.Dataset.zip(checked, checked),
        tf.data.Dataset.zip(checked, count(3)),
        tf.data.Dataset.zip(count(7), checked, count(7, 14)),
    ]
    batches = [each.batch(2) for each in zipped]
    with_rows = tf.data.Dataset.zip(ragged, checked).batch(2)
    return (
        [elements(each) for each in zipped],
        [elements(each) for each in batches],
        [elements(each.ignore_errors()) for each in (*zipped, *batches)],
        [(rows.to_list(), x) for rows, x in with_rows.ignore_errors()],
    )


def case_batches_over_a_map_are_lost_whole(tf):
    def refused():
        yield from (1.0, "a", 3.0, 4.0, 5.0)

    checked = _checked(tf, NUMBERS)
    generated = tf.data.Dataset.from_generator(refused, tf.float32, [])
    datasets = [
        checked.batch(2),
        checked.batch(4),
        checked.batch(2, drop_remainder=True),
        checked.ragged_batch(2),
        checked.padded_batch(2),
        checked.filter(lambda x: True).batch(2),
        checked.prefetch(2).batch(2),
        checked.map(lambda x: x + 1.0).batch(4),
        checked.batch(2).ignore_errors(),
        generated.batch(3),
        generated.map(lambda x: x + 1.0).batch(3),
    ]
    return [elements(each) for each in datasets]


def case_leaving_out_begins_again(tf):
    checked = _checked(tf, NUMBERS)
    twice = _checked(tf, [float("nan"), float("nan"), 3.0, 4.0, 5.0, 6.0, 7.0])
    datasets = [each.skip(n) for each in (checked, twice) for n in (1, 2, 3, 4, 20)]
    datasets += [
        checked.skip(4).take(2),
        checked.take(6).skip(4),
        checked.map(lambda x: x + 1.0).skip(4),
        checked.batch(2).skip(2),
        checked.prefetch(1).skip(3),
        twice.skip(1).ignore_errors(),
        checked.batch(3).rebatch(2),
        checked.batch(2).rebatch([1, 3]),
    ]
    return [elements(each) for each in datasets]


def case_windows_with_elements_that_fail(tf):
    checked = _checked(tf, NUMBERS)

    def windows(*args, **keywords):
        found = elements(checked.window(*args, **keywords))
        return [list(each) if isinstance(each, tf.data.Dataset) else each for each in found]

    return [
        windows(2),
        windows(1),
        windows(3, 1),
        windows(2, 3),
        windows(2, 1, 2),
        windows(3, drop_remainder=True),
        windows(2, 4, 1, True),
        windows(20),
    ]


Pair = collections.namedtuple("Pair", "a b")


def case_generators_of_other_kinds(tf):
    def given(value, *args, **keywords):
        return elements(tf.data.Dataset.from_generator(lambda: iter([value]), *args, **keywords))

    pair = (tf.int32, tf.int32)
    number = tf.TensorSpec([], tf.int32)
    return [
        [given(value, tf.int32) for value in (1.5, 2.0, [1.5, 2], 1j, True, tf.constant(1.0))],
        [given(value, tf.bool) for value in (1, True)],
        [given(value, tf.float32) for value in (1, 1j, True, tf.constant(1))],
        [given(value, tf.int32, []) for value in (1.5, True, tf.constant(1.0))],
        [given(value, output_signature=number) for value in (1.5, True, tf.constant(2.5))],
        [given(value, pair) for value in ([1, 2], (1, 2), [1, [2, 3]], Pair(1, 2))],
        [given(value, pair, ([], [])) for value in ([1, 2], (1, 2))],
        [given(value, Pair(*pair)) for value in ((1, 2), Pair(1, 2))],
        given([1], (tf.int32,)),
        given([[1, 2], {"a": 3}], (tf.int32, {"a": tf.int32})),
        given(([1, 2], {"a": 3}), (tf.int32, {"a": tf.int32})),
    ]


def case_keys_of_windows(tf):
    def grouped(key, reduce=lambda key, window: window.batch(4), **keywords):
        keywords = keywords or {"window_size": 3}
        try:
            dataset = tf.data.Dataset.range(8).group_by_window(key, reduce, **keywords)
            return dataset.element_spec, elements(dataset)
        except Exception as error:
            return raised(error, words=0)

    def total(key, window):
        return tf.data.Dataset.from_tensors((key, window.reduce(key, lambda s, x: s + x)))

    return [
        grouped(lambda x: 0),
        grouped(lambda x: x % 2, total),
        grouped(lambda x: x % 2, lambda key, window: key),
        grouped(lambda x: "a"),
        grouped(lambda x: tf.cast(x, tf.int32)),
        grouped(lambda x: [x]),
        grouped(lambda x: x % 2, window_size=0),
        grouped(lambda x: x % 2, window_size_func=lambda key: key),
        grouped(lambda x: x % 2, window_size=2, window_size_func=lambda key: 2),
    ]


def case_datasets_of_other_kinds(tf):
    data = tf.data.Dataset
    a, b = data.from_tensors({"a": 1}), data.from_tensors({"b": 1})
    words = [data.from_tensors(x).repeat(2) for x in "xyz"]

    def sampled(weights, **keywords):
        return list(data.sample_from_datasets(words, weights, **keywords).as_numpy_iterator())

    rows = data.from_tensor_slices([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0], [0, 1.0, 1.0]])
    programs = [
        lambda: a.concatenate(b),
        lambda: list(a.concatenate(a)),
        lambda: data.from_tensors((a.element_spec,)).concatenate(a),
        lambda: data.choose_from_datasets([words[0], a], data.range(2)),
        lambda: data.from_tensor_slices(None),
        lambda: sampled([1, 2, 3]),
        lambda: sampled([1.0, 2.0]),
        lambda: sampled([0.0, 0.0, 0.0]),
        lambda: sampled([0.0, 1.0, -1.0]),
        lambda: sampled([0.2, 0.3, 0.5], seed=3),
        lambda: sampled(rows, seed=3),
        lambda: sampled(data.from_tensors([0.2, 0.3, 0.5]).repeat(), seed=3),
        lambda: sampled(rows.repeat(), seed=3, stop_on_empty_dataset=True),
    ]
    return [attempt(program) for program in programs]


def case_arrays_of_composites(tf):
    rows = tf.ragged.constant([[1], [2, 3]])
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 3])

    def arrays(value):
        return list(tf.data.Dataset.from_tensors(value).as_numpy_iterator())

    return [
        [(rows.dtype.kind, [row.tolist() for row in rows]) for rows in arrays(rows)],
        arrays(sparse),
        arrays({"a": sparse, "b": 1}),
        arrays(tf.ragged.constant([[1, 2], [3, 4]])),
        [attempt(tf.data.Dataset.range(4).window(2).as_numpy_iterator)],
    ]


def case_options(tf):
    data = tf.data

    def with_options(**settings):
        options = data.Options()
        for name, value in settings.items():
            setattr(options, name, value)
        return options

    first = data.Dataset.range(3).with_options(with_options(deterministic=True))
    second = data.Dataset.range(3).with_options(with_options(deterministic=False))
    plain, names = data.Dataset.range(3), ("experimental_slack", "dataset_name")
    joined = [
        data.Dataset.zip(first, plain),
        data.Dataset.zip(first, second),
        data.Dataset.zip((plain, {"a": second})),
        plain.concatenate(second),
        second.concatenate(first),
        data.Dataset.sample_from_datasets([plain, second]),
        data.Dataset.choose_from_datasets([plain, first], plain),
    ]
    values = [(name, value) for name in (*names, "deterministic") for value in (1, None, True, "a")]
    values += [("threading", 3), ("autotune", 3), ("experimental_external_state_policy", 1)]
    return [
        [each.options().deterministic for each in joined],
        [attempt(lambda n=n, v=v: with_options(**{n: v}) and None) for n, v in values],
        attempt(lambda: hash(data.Options())),
        attempt(setattr, data.Options().threading, "private_threadpool_size", 1.5),
        attempt(setattr, data.Options().autotune, "cpu_budget", "a"),
        [n for n in dir(data.Options()) if not n.startswith("_")],
        [n for n in dir(data.ThreadingOptions()) if not n.startswith("_")],
    ]


def case_shapes_and_dtypes_that_do_not_fit(tf):
    data = tf.data.Dataset
    rows = data.from_tensor_slices([[1, 2], [3, 4]])
    pairs = data.range(2).map(lambda i: (tf.ones([2, 3]), tf.fill([i], i)))

    def by_class(function):
        chosen = data.range(4).rejection_resample(function, [0.5, 0.5], [0.5, 0.5], seed=1)
        return chosen.element_spec, elements(chosen)

    return [
        [attempt(rows.padded_batch, 2, shape, words=4) for shape in ([1], [2, 2])],
        elements(rows.padded_batch(2, [3])),
        attempt(pairs.padded_batch, 2, ([2, 2], [None]), words=4),
        elements(pairs.padded_batch(2, ([None, 4], [None]))),
        [elements(data.range(3, output_type=kind)) for kind in (tf.string, tf.bool, tf.float16)],
        [by_class(lambda x: x % 2), by_class(lambda x: tf.cast(x % 2, tf.int32))],
    ]

"""Batches of datasets whose elements are no plain tensors, and what they are filled up with."""

from .harness import attempt


def _numbers(dataset):
    return [x.numpy().tolist() for x in dataset]


def case_batches_of_datasets(tf):
    data = tf.data.Dataset
    ranges = data.range(5).map(lambda n: data.range(n))
    windows = data.range(7).window(2)
    batches, pairs = ranges.batch(3), data.zip(ranges, data.range(5)).batch(2, drop_remainder=True)
    twice = windows.batch(2).batch(2)
    return [
        [each.element_spec for each in (batches, pairs, twice, batches.unbatch())],
        [len(list(each)) for each in (batches, pairs, twice)],
        [_numbers(each) for each in batches.unbatch()],
        _numbers(batches.unbatch().flat_map(lambda each: each)),
        _numbers(batches.map(lambda each: 1)),
        _numbers(pairs.map(lambda each, n: n)),
        [(_numbers(each), n) for each, n in pairs.unbatch()],
        _numbers(twice.unbatch().unbatch().flat_map(lambda each: each.batch(2))),
        _numbers(batches.shuffle(2, seed=1).unbatch().flat_map(lambda each: each)),
    ]


def case_lists_of_datasets(tf):
    data = tf.data.Dataset
    several = [data.range(n) for n in range(3)]
    rows, one = data.from_tensor_slices(several), data.from_tensors(several)
    return [
        [each.element_spec for each in (rows, one)],
        [_numbers(each) for each in rows],
        _numbers(one.unbatch().flat_map(lambda each: each)),
        _numbers(data.from_tensor_slices((several, [5, 6, 7])).map(lambda each, n: n).batch(2)),
        attempt(lambda: data.from_tensor_slices(data.range(2))),
        attempt(lambda: data.range(4).window(2).rebatch(2)),
        attempt(lambda: one.padded_batch(2)),
    ]


def case_dtypes_of_padding(tf):
    rows = tf.data.Dataset.from_tensor_slices([[1, 2]])

    def padded(dtype, value):
        batches = rows.map(lambda row: tf.cast(row, dtype)).padded_batch(1, [3], value)
        return attempt(lambda: list(batches))

    values = [-1, 1.5, True, "a", 2j, None, [1], tf.constant(3, tf.int64), tf.constant(2.0)]
    kinds = [tf.int32, tf.int64, tf.uint8, tf.float32, tf.float64, tf.complex64, tf.bool]
    return [[attempt(lambda k=k, v=v: padded(k, v), words=9) for v in values] for k in kinds]


def case_rows_of_ragged_and_sparse_tensors(tf):
    ragged = tf.ragged.constant
    whole = {
        "rows": ragged([[1], [2, 3], [], [4, 5, 6], [7]]),
        "nested": ragged([[[1], [2, 3]], [[]], [], [[4], [5, 6], [7]]]),
        "inner": ragged([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1),
        "one length": tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4, 5, 6], 2),
        "int32": ragged([[1], [2, 3], []], row_splits_dtype=tf.int32),
        "texts": ragged([["a"], ["b", "c"], []]),
        "sparse": tf.SparseTensor([[0, 0], [1, 0], [1, 2], [3, 1]], [1, 2, 3, 4], [4, 3]),
        "cube": tf.SparseTensor([[0, 0, 1], [1, 2, 0], [3, 1, 1]], ["a", "b", "c"], [4, 3, 2]),
    }

    def parts(x):
        if isinstance(x, tuple):
            return [parts(each) for each in x]
        if isinstance(x, tf.RaggedTensor):
            return x.flat_values, list(x.nested_row_splits), str(x.shape)
        return tf.nest.flatten(x, expand_composites=True)

    def batches(dataset):
        return dataset.element_spec, [parts(each) for each in dataset]

    found = {}
    for key, value in whole.items():
        data = tf.data.Dataset.from_tensor_slices(value)
        found[key] = [
            batches(data.batch(2)),
            batches(data.batch(2, drop_remainder=True)),
            batches(data.shuffle(3, seed=1).batch(2)),
            batches(data.repeat(2).skip(1).batch(3)),
            batches(data.shard(2, 1).batch(2)),
            batches(data.take(0).batch(2)),
            batches(data.filter(lambda x: True).batch(2)),
            batches(data.batch(3).rebatch(2)),
            batches(data.enumerate().batch(2)),
            batches(tf.data.Dataset.zip(data, tf.data.Dataset.range(9)).batch(2)),
        ]
    return found


def case_ragged_batches_keep_known_sizes(tf):
    def elements():
        yield from ({"a": [[n] * n] * 2, "b": [[[n, n]] * n] * n} for n in range(1, 5))

    signature = {"a": tf.TensorSpec([2, None], tf.int32), "b": tf.TensorSpec([None, None, 2])}
    data = tf.data.Dataset.from_generator(elements, output_signature=signature)
    found = []
    for batch in data.ragged_batch(3):
        for x in (batch["a"], batch["b"]):
            found.append((str(x.shape), x.flat_values, list(x.nested_row_splits)))
    return found, data.ragged_batch(3).element_spec

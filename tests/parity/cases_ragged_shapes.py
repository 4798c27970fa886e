"""Shapes of ragged tensors: made, taken apart, and used."""

import numpy as np

from .harness import attempt, attempts


def _plain(value):
    """A shape or a ragged tensor by its parts."""
    if hasattr(value, "row_partitions"):
        rows = [p.row_splits() for p in value.row_partitions]
        return str(value), value.rank, value.dtype, value.inner_shape, rows
    return (_plain(value.values), value.row_splits, value.shape) if _is_ragged(value) else value


def _is_ragged(value):
    return hasattr(value, "row_splits") and not hasattr(value, "nvals")


def _each(functions, words=3):
    return [attempt(lambda f=f: _plain(f()), words=words) for f in functions]


def case_made_from_lengths(tf):
    made = tf.experimental.DynamicRaggedShape.from_lengths
    given = [
        ([],),
        ([2, (3, 2)],),
        ([2, 2],),
        ([2, (3, 2), 7],),
        ([2, (2, 1), (2, 0, 3)],),
        ([2, (3, 2), 2], 2),
        ([2, 2, 3], 2),
        ([2, (2, 1, 3)], 1),
        ([2, 3], 2),
        ([], 3),
        ([(5, 3), 3], "a"),
        ([(5, "a"), 3],),
        (7,),
        ([2, (3, 2)], None, tf.int32),
    ]
    rows = tf.experimental.RowPartition.from_row_splits([0, 2, 3])
    shape = tf.experimental.DynamicRaggedShape
    functions = [
        lambda: shape.from_row_partitions([rows]),
        lambda: shape.from_row_partitions([]),
        lambda: shape([rows], [3]),
        lambda: shape("x", [2]),
        lambda: shape([], [2], dtype=tf.float32),
        lambda: shape.from_tensor([[1, 2]]),
        lambda: shape.from_tensor(tf.ragged.constant([[1], [2, 3]])),
    ]
    return _each([lambda args=args: made(*args) for args in given]), _each(functions)


def case_parts_of_shapes(tf):
    made = tf.experimental.DynamicRaggedShape.from_lengths
    rows, whole = made([2, (1, 2), 3]), made([2, 3, 4])
    keys = [0, 1, -1, slice(2), slice(None), slice(1, None), slice(-1), slice(None, None, 2)]
    keys += [slice(1), slice(2, 1), tf.constant(0), "a", (0, 1)]
    return [
        _each([lambda key=key, shape=shape: shape[key] for key in keys for shape in (rows, whole)]),
        _each([lambda i=i: rows.is_uniform(i) for i in (0, 1, 2, 3, -1, "a")]),
        [rows.static_lengths(), rows.static_lengths(False), rows.num_row_partitions],
        _plain(rows.with_dtype(tf.int32)),
        [rows == made([2, (1, 2), 3]), rows == whole, rows != made([2, (2, 1), 3])],
    ]


def case_tensors_of_shapes(tf):
    made = tf.experimental.DynamicRaggedShape.from_lengths
    r, q = tf.ragged.constant([[1, 2], [], [3]]), tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    rows = made([2, (1, 2)])
    functions = [
        lambda: tf.ones(rows),
        lambda: tf.zeros(tf.shape(q), tf.int32),
        lambda: tf.fill(tf.shape(r), 2.0),
        lambda: tf.ones(made([2, 3])),
        lambda: tf.reshape([1, 2, 3], rows),
        lambda: tf.reshape(q, made([2, (3, 1)])),
        lambda: tf.reshape(r, made([3])),
        lambda: tf.reshape([1, 2], rows),
        lambda: tf.broadcast_to(1, rows),
        lambda: tf.broadcast_to([[1], [2]], rows),
        lambda: tf.broadcast_to([[1], [2]], made([2, (1, 2), 2], 1)[:2]),
        lambda: tf.broadcast_to(r, made([2, (2, 1)])),
        lambda: tf.broadcast_to([1, 2], rows),
        lambda: tf.broadcast_to(r, tf.shape(r, tf.int64)),
        lambda: tf.broadcast_dynamic_shape(tf.shape(r), made([3, 1])),
        lambda: tf.broadcast_dynamic_shape(made([1, 3]), made([4, 1])),
    ]
    values = tf.constant([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = tf.broadcast_to(values, rows) * tf.reshape([1.0, 2.0, 3.0], rows)
        total = tf.reduce_sum(y)
    return _each(functions, words=2), tape.gradient(total, values)


def case_truths_of_numbers(tf):
    r = tf.ragged.constant([[3, 0], [], [5]])
    q = tf.ragged.constant([[[0.0, -1.5], []], [[2.0]]])
    given = (None, 0, 1, [], [0, 1], -1)
    return [
        (_plain(reduce(x, axis)), _plain(reduce(x, axis, keepdims=True)))
        for reduce in (tf.reduce_any, tf.reduce_all)
        for x in (r, q)
        for axis in given
    ]


def case_axes_that_are_named_twice(tf):
    q = tf.ragged.constant([[[1.0, 4.0], []], [[2.0], [3.0, 5.0]]])

    def reduced(reduce, axis, **how):
        return attempt(lambda: _plain(reduce(q, axis, **how)))

    return [
        reduced(tf.reduce_sum, [1, -2]),
        reduced(tf.reduce_max, [0, 0]),
        reduced(tf.reduce_sum, [-1, 2]),
        reduced(tf.reduce_sum, [0, 0], keepdims=True),
        attempt(lambda: tf.math.reduce_variance(tf.cast(q, tf.complex64), 1)),
    ]


def case_map_fn_keeps_splits(tf):
    values = tf.range(6.0)
    inner = tf.RaggedTensor.from_row_splits(values, np.int32([0, 2, 2, 5, 6]))
    q = tf.RaggedTensor.from_row_splits(inner, np.int32([0, 1, 4]))
    spec = tf.RaggedTensorSpec([None], tf.int32)
    return [
        _plain(tf.map_fn(lambda row: row * 2, q)),
        _plain(tf.map_fn(lambda row: row * 2, q[:0])),
        _plain(tf.map_fn(lambda row: row.row_lengths(), q, fn_output_signature=spec)),
        attempt(lambda: tf.map_fn(lambda row: row.flat_values, q, fn_output_signature=spec)),
    ]


def case_map_fn_keeps_inner_axes(tf):
    """Rows have as many ragged axes as the signature says, or `elems`."""
    spec, f = tf.RaggedTensorSpec, tf.reshape(tf.range(12.0), [6, 2])
    r = tf.RaggedTensor.from_row_lengths(f, [0, 1, 2, 3])
    deep = tf.ragged.constant([[[1.0, 2.0], [3.0]], [[4.0]], []])

    def mapped(fn, x, sizes=None, *args):
        signature = None if sizes is None else spec(sizes, tf.float32, *args)
        return lambda: tf.map_fn(fn, x, fn_output_signature=signature)

    def filled(*sizes):
        return lambda x: tf.ones(sizes)

    def wide(row):
        return row.to_tensor(shape=[None, 2])

    with tf.GradientTape() as tape:
        tape.watch(f)
        squares = tf.map_fn(tf.square, tf.gather(f, tf.ragged.constant([[0, 1], [], [0]])))
    found = _each(
        [
            mapped(tf.exp, r),
            lambda: tf.function(lambda x: tf.map_fn(tf.exp, x))(r),
            mapped(tf.exp, r, [None, 2], 0),
            mapped(tf.exp, r, [None, 2], 0, tf.int32),
            mapped(lambda row: tf.reduce_sum(row, 0), r),
            mapped(tf.exp, r[:0]),
            mapped(wide, deep, [None, 2], 0),
            mapped(wide, deep),
            mapped(filled(2, 3), f, [None, 2], 0),
            mapped(filled(2, 2), f, [None], 0),
            mapped(filled(2, 2), f, [None, None], 1),
            mapped(filled(2), f, [None], 0),
        ]
    )
    return found, _plain(squares), tape.gradient(squares.flat_values, f)


def case_gather_by_nothing(tf):
    q = tf.ragged.constant([[[1, 4], []], [[2]]])
    none = q[:0]
    return [
        attempt(lambda: tf.gather_nd(q, 1)),
        _plain(tf.gather_nd(q, np.zeros(0, np.int32))),
        _plain(tf.gather_nd(q, np.zeros([2, 0], np.int32))),
        _plain(tf.gather(none, tf.ragged.constant([[0, 0]]), axis=2)),
        _plain(tf.gather(none, tf.ragged.constant([[0], [], [1, 0]]), axis=1)),
    ]


def case_operators_of_what_does_not_fit(tf):
    r = tf.ragged.constant([[1], [2, 3]])
    others = (None, "a", 1.5, tf.ones([3, 3], tf.int32), tf.ragged.constant([[1, 2, 3], [4]]))
    return [(r == x, r != x) for x in others], [attempt(lambda: 1.5 == r), r in [None, 5]]


def case_crosses_of_other_ranks(tf):
    def rows(inner=(), ranks=1):
        r = tf.RaggedTensor.from_row_splits(tf.ones([2, *inner], tf.int64), [0, 1, 2])
        return r if ranks == 1 else tf.RaggedTensor.from_row_splits(r, [0, 1, 2])

    def sparse(rank):
        return tf.SparseTensor([[0] * rank], [1], [2] * rank)

    cross, hashed = tf.ragged.cross, tf.ragged.cross_hashed
    return (
        [attempt(lambda: tf.sparse.cross([sparse(2), sparse(k)]), words=9) for k in (1, 3)],
        attempt(lambda: tf.sparse.cross_hashed([sparse(3)]), words=9),
        attempt(lambda: cross([rows((2,))])),
        attempt(lambda: cross([rows((), 2)])),
        attempt(lambda: cross([rows(), sparse(3)])),
        [attempt(lambda: cross([rows(), tf.ones(s, tf.int64)])) for s in ([2], [2, 1, 1])],
        attempt(lambda: hashed([rows((2,))])),
        attempt(lambda: cross([tf.cast(rows(), tf.float32)])),
    )


def case_ragged_matvec_and_batch_normalization(tf):
    x = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0]]], ragged_rank=1)
    by_rows, two = tf.ragged.constant([[1.0, 2.0], [1.0]]), tf.constant([2.0, 3.0])
    mean, variance = tf.nn.moments(x, [1], keepdims=True)

    def parts(result):
        return result.nested_row_splits, result.flat_values

    calls = {
        "by a tensor": lambda tf: tf.linalg.matvec(x, [[1.0, 2.0], [1.0, 1.0]]),
        "transposed": lambda tf: tf.linalg.matvec(x, by_rows, True),
        "adjoint": lambda tf: tf.linalg.matvec(x, by_rows, False, True),
        "uneven": lambda tf: tf.linalg.matvec(by_rows, [1.0, 2.0]),
        "whole": lambda tf: tf.nn.batch_normalization(x, 1.0, two, 0.5, two - 1.0, 1e-3),
        "by rows": lambda tf: tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3),
    }
    return attempts(tf, {name: lambda tf, c=c: parts(c(tf)) for name, c in calls.items()})

"""Ragged tensors: made, indexed, joined, reduced, and in elementwise ops."""

import numpy as np

from .harness import attempt


def parts(x):
    if isinstance(x, (list, tuple)):
        return [parts(y) for y in x]
    if hasattr(x, "row_splits"):
        uniform = x.uniform_row_length
        length = None if uniform is None else int(uniform)
        return parts(x.values), x.row_splits, length, x.shape
    return x


#: Expressions of ragged tensors, r of ints, f and q of floats, and of c, which makes one.
PROGRAMS = [
    "r[0]",
    "r[-1]",
    "r[1]",
    "r[5]",
    "r[0, 1]",
    "r[1:]",
    "r[::2]",
    "r[::-1]",
    "r[:, 0]",
    "r[:, :1]",
    "r[:, 1:]",
    "r[:, -1:]",
    "r[0:2, :1]",
    "r[...]",
    "r[tf.newaxis]",
    "r[:, tf.newaxis]",
    "r[..., :1]",
    "q[0]",
    "q[0, 1]",
    "q[0, 1, 0]",
    "q[:, :1]",
    "q[:, :, :1]",
    "q[:, :, ::-1]",
    "q[:, 0]",
    "r[:, tf.newaxis, :1]",
    'r["a"]',
    "r[0.5]",
    "q[2:, 0:1, 0:1]",
    "q[..., 0]",
    "r[tf.constant(1)]",
    "r[:, ::-1]",
    "r + r",
    "r + 1",
    "1 + r",
    "r * [[1], [2], [3]]",
    "r - r",
    "-r",
    "abs(r)",
    "r == r",
    "r != r",
    "r < 2",
    "r / 2",
    "r // 2",
    "r % 2",
    "r**2",
    "~(r > 1)",
    "(r > 1) & (r < 3)",
    "f + 1",
    "f * f",
    "tf.exp(f)",
    "tf.add(r, r)",
    "r + c([[1, 2], [3], [4]])",
    "r + c([[1, 2], [3]])",
    "f + [1.0, 2.0]",
    "r + [[1], [2], [3]]",
    "tf.maximum(r, 2)",
    "tf.cast(r, tf.float32)",
    "tf.concat([r, r], 0)",
    "tf.concat([r, r], 1)",
    "tf.concat([r, r], axis=-1)",
    "tf.concat([r, [[7]]], 0)",
    "tf.stack([r, r])",
    "tf.stack([r, r], 1)",
    "tf.tile(r, [2, 1])",
    "tf.tile(r, [1, 2])",
    "tf.expand_dims(r, 0)",
    "tf.expand_dims(r, 1)",
    "tf.expand_dims(r, 2)",
    "tf.expand_dims(r, -1)",
    "tf.reduce_sum(r)",
    "tf.reduce_sum(r, 0)",
    "tf.reduce_sum(r, 1)",
    "tf.reduce_sum(r, -1, keepdims=True)",
    "tf.reduce_mean(f, 1)",
    "tf.reduce_max(r, 1)",
    "tf.reduce_min(r, 1)",
    "tf.reduce_prod(r, 1)",
    "tf.reduce_any(r > 2, 1)",
    "tf.reduce_all(r > 0, 1)",
    "tf.reduce_sum(q, [1, 2])",
    "tf.reduce_sum(q, 1)",
    "tf.reduce_sum(q, 2)",
    "tf.reduce_sum(q, [0, 1])",
    "tf.reduce_mean(f)",
    "tf.gather(r, [2, 0])",
    "tf.gather(tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]), [1, 0]).shape",
    "tf.gather(tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]), [[1, 0]]).shape",
    "tf.gather(tf.ragged.constant([[1]]), tf.RaggedTensor.from_tensor([[0, 0], [0, 0]])).shape",
    "tf.gather([10, 20, 30, 40], r)",
    "tf.gather(tf.reshape(tf.range(16), [2, 2, 4]), r - 1, axis=-1)",
    "tf.gather(tf.reshape(tf.range(16), [2, 4, 2]), r - 1, axis=1)",
    "tf.gather(tf.reshape(tf.range(8), [2, 4]), tf.ragged.constant([[[1], []], [[0]]]), axis=1)",
    "tf.gather(c([[[1, 2]], [[5, 6]]], inner_shape=(2,)), c([[1], []]), axis=2)",
    "tf.gather(tf.zeros([2, 3]), tf.RaggedTensor.from_tensor([[1, 0]]), axis=1).shape",
    "tf.gather(r, c([[0], [1, 2]]))",
    "tf.where(r > 1, r, 0)",
    "tf.where(r > 1)",
    "tf.size(r)",
    "tf.rank(r)",
    "tf.one_hot(r, 4)",
    "tf.zeros_like(r)",
    "tf.ones_like(f)",
    "tf.identity(r)",
    "tf.squeeze(tf.expand_dims(r, 0), 0)",
    "tf.reverse(r, [0])",
    "tf.reverse(r, [1])",
    "tf.ragged.boolean_mask(r, r > 1)",
    "tf.ragged.range([2, 3])",
    "tf.ragged.range([0, 5], [3, 6])",
    "tf.ragged.range(3, [4, 8], 2)",
    "tf.ragged.stack([[1, 2], [3]])",
    "tf.ragged.stack([r, r])",
    "tf.ragged.stack([r, r], axis=1)",
    "tf.nn.softmax(f)",
    "tf.clip_by_value(r, 1, 2)",
    "tf.split(r, 3)",
    "tf.nn.relu(f)",
    "tf.nn.dropout(f, 0.0)",
    "tf.nn.dropout(f, 0.5, noise_shape=[1])",
    "tf.nn.experimental.stateless_dropout(f, 0.5, [1, 2])",
    "tf.nn.experimental.stateless_dropout(f, 0.5, [1, 2], noise_shape=[1])",
    "tf.math.bincount(r)",
    "tf.math.bincount(r, axis=-1)",
    "r.merge_dims(0, 1)",
    "q.merge_dims(0, 1)",
    "q.merge_dims(1, 2)",
    "tf.math.reduce_std(f, 1)",
    "tf.math.reduce_variance(f, 1)",
    "tf.round(f)",
    "tf.logical_not(r > 1)",
    "tf.is_tensor(r)",
    "tf.math.logical_and(r > 1, r > 2)",
    "tf.equal(r, 1)",
    "tf.equal(r, r)",
    "tf.type_spec_from_value(q)",
    "c([[1, 2], [3, 4]])",
    "c(3)",
    "c([1, 2])",
    "c([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)",
    "c([[1, [2]]])",
    "c([[1, 2], [3]], ragged_rank=2)",
    "c([[[1, 2]], [[3, 4]]], inner_shape=(2, ))",
    "c([])",
    "c([[], []])",
    "r.to_tensor(-1)",
    "r.to_tensor(shape=[None, 4])",
    "r.to_tensor(shape=[2, 1])",
    "q.to_tensor()",
    "r.to_tensor(0.5)",
    "r.to_sparse().indices",
    "q.to_list()",
    "c([[1, 2], [3, 4]]).numpy()",
    "q.bounding_shape()",
    "r.bounding_shape(axis=1)",
    "q.row_lengths(axis=2)",
    "r.with_values([4, 5, 6])",
    "r.with_values([4, 5])",
    "tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])",
    "tf.RaggedTensor.from_row_splits([1, 2, 3], [])",
    "tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])",
    "tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 1, 1])",
    "tf.RaggedTensor.from_row_limits([1, 2, 3], [0, 1, 3])",
    "tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)",
    "tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2)",
    "tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]])",
    "tf.RaggedTensor.from_tensor([1, 2])",
    "tf.RaggedTensor.from_tensor(tf.zeros([3, 2, 4]), [1, 0, 2, 9, 1, 3], ragged_rank=2)",
    "tf.RaggedTensor.from_tensor(tf.zeros([3, 2, 4]), [1, 0, 2], ragged_rank=2)",
    "tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], 1)",
    "tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], [1])",
    "r.shape",
    "r._type_spec",
    "hash(r)",
    "bool(r)",
    "list(r)",
    "r.row_starts()",
    "r.row_limits()",
    "r.value_rowids()",
    "repr(tf.shape(r))",
    'repr(c([["a"], ["b", "c"]]))',
    "r + tf.constant([[10, 20], [30, 40], [50, 60]])",
    "tf.gather(r, c([[0], [], [0]]), batch_dims=1)",
    "tf.gather(c([[1.0], [2.0, 3.0]]), [[0, 0], [0, 1]], batch_dims=1)",
    "tf.gather(c([[1], [2, 3]]), [0, 1], batch_dims=1)",
    "tf.gather(c([[1], [2, 3]]), [0, 0], axis=1)",
    "tf.gather(c([[1], [2, 3]]), 0, axis=1)",
    "tf.gather(c([[1], [2, 3]]), c([[0], [0, 0]]), axis=1)",
    "tf.gather(c([[[1, 2], [3]], [[4]]]), [0], axis=1)",
    "tf.gather(c([[[1, 2], [3]], [[4]]]), [[0, 0]], axis=1)",
    "tf.gather(c([[[1, 2], [3]], [[4]]]), c([[0], [0, 0]]), axis=2)",
    "tf.gather(c([[[1, 2], [3]], [[4, 5, 6]]]), c([[0, 0], [0]]), batch_dims=1, axis=2)",
    "tf.gather(c([[[1, 2], [3]], [[4, 5, 6]]]), c([[1, 0], [0]]), batch_dims=1)",
    "tf.gather(c([[[1, 2], [3]], [[4, 5, 6]]]), c([[[1, 0], [0]], [[2, 2]]]), batch_dims=2)",
    "tf.gather(c([[[1, 2], [3]], [[4, 5, 6]]]), c([[1, 0], [2]]), batch_dims=2)",
    "tf.gather(c([[1], [2, 3]]), [0, 1], batch_dims=2)",
    "tf.gather(c([[1], [2, 3]]), [[0], [1]], batch_dims=1, axis=0)",
    "tf.gather(c([[1], [2, 3]]), [[0], [1], [0]], batch_dims=1)",
    "tf.gather(c([[1], [2, 3]]), [0], axis=5)",
    "tf.gather(tf.zeros([2, 3]), c([[[0]], [[1]]]), batch_dims=2)",
    "tf.gather(tf.zeros([2, 3, 4]), c([[[0]], [[1]]]), batch_dims=2)",
    "tf.gather(tf.zeros([2, 3]), 0, batch_dims=1)",
    "tf.gather(tf.zeros([2, 3]), [0, 0], batch_dims=2, axis=1)",
    "tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])",
    "tf.ragged.row_splits_to_segment_ids([0.0, 1.0])",
    "tf.ragged.row_splits_to_segment_ids([])",
    "tf.ragged.segment_ids_to_row_splits([0.0, 1.0])",
    "tf.ragged.segment_ids_to_row_splits([-1, 0])",
    "tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 1], 3)",
    "tf.ragged.stack_dynamic_partitions([1, 2], [0, 1, 0], 3)",
    "tf.ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [[0, 1]], 2)",
    "tf.ragged.stack_dynamic_partitions([1, 2], [0, 5], 2)",
    "tf.ragged.stack_dynamic_partitions([1, 2], [0, -1], 2)",
    "tf.ragged.stack_dynamic_partitions([1, 2], [0.0, 0.0], 2)",
    "tf.ragged.stack_dynamic_partitions(r, c([[0], [1]]), 2)",
    "tf.ragged.stack_dynamic_partitions(c([[1, 2], [], [3]]), [1, 0, 1], 2)",
    "tf.ragged.stack_dynamic_partitions(c([[[1], [2, 3]], []]), [1, 0], 3)",
    "tf.ragged.stack_dynamic_partitions(c([[1], [2, 3]]), c([[0], [1, 0]]), 2)",
    "tf.ragged.stack_dynamic_partitions(c([[[1], [2]], [[3]]]), c([[0, 1], [1]]), 2)",
    "tf.ragged.boolean_mask(r, [True])",
    "tf.ragged.boolean_mask(r, [True, False, True, True])",
    "tf.ragged.boolean_mask(tf.zeros([3, 2]), [True, False])",
    "tf.ragged.boolean_mask(tf.zeros([3, 2]), [[True, False]])",
    "tf.ragged.boolean_mask(r, c([[True], [False]]))",
    "tf.ragged.boolean_mask(c([[1], [2, 3]]), c([[True, False], [True]]))",
    "tf.ragged.range([1, 2], [3])",
    "tf.ragged.range([1, 2, 3], [3, 4])",
    "tf.ragged.range([1, 2], [3, 4], [1])",
    "tf.ragged.range([[1]])",
    "tf.ragged.range([1, 2], [3, 4], [[1]])",
    "tf.ragged.map_flat_values(tf.add, r, 1)",
    "tf.ragged.map_flat_values(tf.add, 1, 1)",
    "tf.ragged.map_flat_values(tf.add, r, c([[1], [2], [3]]))",
    "tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])",
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2])",
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5)",
    "tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 2, 0], 3)",
    "tf.RaggedTensorSpec([None, None], tf.int32)",
    "tf.RaggedTensorSpec([2, None, None], tf.int32).ragged_rank",
    "tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2])",
    "tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 2, 3])",
    "tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 1, 3])",
    "tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, -1, 2])",
    "tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 2], nrows=5)",
    "tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 2], nrows=1)",
    "tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 3], [0, 1, 1, 3]])",
    "tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2, 1], [1, 0, 2]])",
    "tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0, 1], [0, 2, 2]])",
    "tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)",
    "tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[2, 1])",
    "tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2)",
    "tf.RaggedTensor.from_tensor([[[1, 0], [0, 0]]], padding=[0, 0])",
    "tf.RaggedTensor.from_tensor([[1, 2, 0]], lengths=[2], padding=0)",
    "tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [2, 0]], [1, 3], [3, 2]))",
    "tf.cumsum(f, 1)",
    "tf.cumsum(f, axis=1, exclusive=True, reverse=True)",
    "tf.cumsum(q, -1)",
    "tf.reduce_logsumexp(f, 1)",
    "tf.reduce_logsumexp(f)",
    "tf.reduce_logsumexp(f, -1, keepdims=True)",
    "tf.gather_nd(r, [[0, 1], [2, 0]])",
    "tf.gather_nd(q, [[0, 1], [2, 1]])",
    "tf.gather_nd(q, [[[0], [1]], [[2], [0]]])",
    "tf.gather_nd(r, [0, 1])",
    "tf.gather_nd(r, [[3, 0]])",
    "tf.gather_nd(r, c([[[0], [1]], [[2]]], ragged_rank=1))",
    "tf.gather_nd(tf.eye(3), c([[[0, 0]], [[1, 1], [0, 1]]], ragged_rank=1))",
    "tf.dynamic_partition(f, [0, 1, 0], 2)",
    "tf.dynamic_partition(r, c([[0, 1], [], [0]]), 2)",
    "tf.add_n([r, r, r])",
    "tf.matmul(b, tf.ones([2, 2, 3]))",
    "tf.matmul(b, b, transpose_b=True)",
    "tf.matmul(b, b, transpose_a=True)",
    "tf.matmul(b, b, adjoint_b=True)",
    "tf.matmul(e, e)",
    "tf.matmul(e, e, transpose_a=True)",
    "tf.matmul(tf.ones([2, 3, 2]), b, transpose_b=True)",
    "tf.matmul(b, [[[1.0], [2.0]], [[3.0], [4.0]]])",
    "tf.matmul(b, tf.RaggedTensor.from_tensor(tf.ones([2, 2, 2]), ragged_rank=1))",
    "tf.matmul(tf.ragged.stack([b, b[:1]]), tf.ragged.stack([b, b[:1]]), transpose_b=True)",
    "tf.matmul(tf.ragged.stack([b, b[:1]]), tf.ragged.stack([b, b[:1]]), transpose_a=True)",
    "tf.matmul(tf.ragged.stack([b, b[:1]]), tf.ones([2, 2, 2, 3]))",
    "tf.matmul(tf.ragged.stack([b, b[:1]]), tf.ones([3, 2, 2, 3]))",
    "tf.matmul(tf.RaggedTensor.from_row_splits(tf.zeros([0, 2]), [0, 0, 0]), tf.ones([2, 2, 3]))",
    "tf.matmul(c([[1.0, 2.0], [3.0, 4.0]]), tf.ones([2, 2]))",
    "tf.matmul(f, f)",
    "tf.matmul(b, tf.ones([3, 2, 3]))",
    "tf.matmul(tf.ones([2, 2, 2]), b)",
    "tf.matmul(b, tf.cast(b, tf.float64))",
    "tf.matmul(b, tf.ones([2, 2]))",
    "tf.matmul(b, b, transpose_a=True, adjoint_a=True)",
    "tf.matmul(b, e)",
    "tf.matmul(tf.cast(b, tf.int8), tf.cast(b, tf.int8), transpose_b=True, output_type=tf.int32)",
    "tf.reshape(r, [-1])",
    "tf.reshape(q, [2, 2])",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=f, logits=f + 1)",
    "tf.nn.leaky_relu(f - 2, alpha=0.5)",
    "tf.nn.gelu(f)",
    "tf.nn.silu(f, 2.0)",
    "tf.math.imag(tf.complex(f, 2 * f))",
    "tf.math.angle(tf.complex(f, 2 * f))",
    "tf.saturate_cast(f * 200, tf.uint8)",
    "tf.bitcast(f, tf.int32)",
    "tf.stop_gradient(f)",
    'tf.debugging.check_numerics(f, "f")',
    'tf.debugging.check_numerics(f / 0.0, "f")',
    "tf.debugging.assert_equal(r, r)",
    "tf.debugging.assert_near(f, f + 1)",
    "tf.debugging.assert_less(r, r + 1)",
    "tf.debugging.assert_type(r, tf.int32)",
    "tf.nn.moments(f, [0, 1])",
    "tf.nn.moments(c([[1.0, 2.0], [3.0]]), [1], keepdims=True)",
    "tf.shape(r).dtype, tf.shape(r)[0], tf.shape(r, out_type=tf.int64)[0]",
]


def _case(program):
    def run(tf):
        c = tf.ragged.constant
        r = c([[1, 2], [], [3]])
        f = c([[1.0, 2.0], [], [3.0]])
        q = c([[[1.0, 2.0], [5.0]], [], [[3.0], []]])
        b = c([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], ragged_rank=1)
        e = c([[[1.0, 2.0], [3.0, 4.0]], [[5.0]]])
        names = {"tf": tf, "c": c, "r": r, "f": f, "q": q, "b": b, "e": e}
        return attempt(lambda: parts(eval(program, names)))

    return run


CASES = {program: _case(program) for program in PROGRAMS}


def _column(tf, r):
    return r.with_values(r.values[:, tf.newaxis])


def case_gradients(tf):
    values = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(values)
        r = tf.RaggedTensor.from_row_lengths(values, [2, 0, 2])
        results = [
            tf.reduce_sum(r * r, 1),
            tf.reduce_mean(r * r),
            tf.concat([r, r], 1).flat_values ** 2,
            r[:, :1].flat_values ** 2,
            r.to_tensor() ** 2,
            (r + tf.constant([[1.0], [2.0], [3.0]])).flat_values ** 2,
            tf.reduce_max(r, 1)[:1],
            tf.matmul(_column(tf, r), _column(tf, r), transpose_b=True).flat_values ** 2,
            tf.matmul(_column(tf, r), tf.ones([3, 1, 2])).flat_values ** 2,
        ]
        results = [tf.reduce_sum(y) for y in results]
    return [tf.convert_to_tensor(tape.gradient(y, values)) for y in results]


def case_function(tf):
    @tf.function
    def double(r):
        return r * 2, tf.reduce_sum(r, 1), r.to_tensor()

    results = double(tf.ragged.constant([[1, 2], [], [3]]))
    return parts(results)


def case_function_keeps_rows(tf):
    double = tf.function(lambda r: tf.ragged.map_flat_values(lambda x: x * 2, r))
    return [parts(double(tf.ragged.constant(rows))) for rows in ([[1, 2]], [[1], [2]], [[3], [4]])]


def case_map_fn_of_an_unknown_number_of_rows(tf):
    spec = tf.RaggedTensorSpec([None, 2], tf.float32, ragged_rank=0)

    def pairs(x):
        return tf.map_fn(lambda row: tf.reshape(row, [-1, 2]) * 2.0, x, fn_output_signature=spec)

    function = tf.function(pairs, input_signature=[tf.TensorSpec([None, 4])], autograph=False)
    batches = tf.data.Dataset.from_tensor_slices(tf.ones([5, 4])).batch(2).map(pairs)
    return [function(tf.ones([n, 4])).to_list() for n in (3, 2)], [x.to_list() for x in batches]


def case_map_fn(tf):
    r = tf.ragged.constant([[1, 2], [], [3]])
    spec = tf.RaggedTensorSpec([None], tf.int32)
    return [
        parts(tf.map_fn(lambda x: x + 1, r)),
        parts(tf.map_fn(lambda x: x + 1, r, fn_output_signature=spec)),
        tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.int32),
        parts(tf.map_fn(tf.range, tf.constant([2, 3]), fn_output_signature=spec)),
        tf.map_fn(
            lambda x: (tf.reduce_sum(x[0]), x[1]),
            (r, tf.constant([1, 2, 3])),
            fn_output_signature=(tf.int32, tf.int32),
        ),
        attempt(tf.map_fn, tf.reduce_sum, r),
    ]


def case_texts(tf):
    c = tf.ragged.constant
    rows = [
        c([[1, 2], [], [3]]),
        c([[1, 2], [3, 4]]),
        c([[[1, 2]], [], [[3], []]]),
        c([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1),
        c([["a"], ["b", "c"]]),
        c([[], []]),
        c([[1.5], [2.0, 3.0]]),
        c([list(range(40)), [1]]),
    ]
    return [(repr(r), str(r)) for r in rows]


def case_nests_of_specs(tf):
    r, tensor = tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.TensorSpec([2])
    spec, sparse = tf.RaggedTensorSpec([2, None]), tf.SparseTensorSpec([2, 3])
    flat = [tf.constant([1.0, 2.0, 3.0]), tf.constant([0, 1, 3], tf.int64)]

    def same(*pair):
        return tf.nest.assert_same_structure(*pair, expand_composites=True)

    def pack(structure, flat):
        return tf.nest.pack_sequence_as(structure, flat, expand_composites=True)

    return [
        repr(tf.nest.flatten([{"a": spec}, tensor, sparse], expand_composites=True)),
        repr(tf.nest.flatten([spec, tensor])),
        [parts(pack(spec, flat)), parts(pack([{"a": spec}, tensor], [*flat, 1.0])[0]["a"])],
        attempt(pack, spec, flat[:1]),
        [same(spec, r), same(r, spec), same(spec, spec), same(tensor, flat[0])],
        [attempt(same, *pair) for pair in ((spec, sparse), (tensor, spec), (r, sparse))],
        attempt(same, r, tf.SparseTensor([[0]], [1.0], [3])),
    ]


def case_gather_of_one_row(tf):
    rows = tf.ragged.constant([[1, 2], [3]])
    return [
        tf.gather(rows, 1),
        tf.gather(rows, tf.constant(0, tf.int64)),
        tf.gather(tf.ragged.constant([[[1], [2, 3]], [[4]]]), 0).to_list(),
        attempt(tf.gather, rows, 2, words=0),
    ]


def _pairs_like(tf, rows):
    """Two ragged tensors with as many rows, and a pair at each place."""
    pairs = rows.with_flat_values(tf.reshape(tf.range(6.0), [3, 2]))
    return pairs, rows.with_flat_values(-pairs.flat_values)


def case_functions_of_version_1(tf):
    v1 = tf.compat.v1
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    chosen = tf.ragged.constant([[True, False], [False]])
    places = tf.ragged.constant([[1, 0], [0]])
    found = {
        "where": v1.where(chosen, x, -x),
        "rows": v1.where([True, False], x, -x),
        "pairs": v1.where(chosen, *_pairs_like(tf, chosen)),
        "mixed": attempt(lambda: v1.where(chosen, x, tf.ones([2, 2])), words=5),
        "matrix": attempt(lambda: v1.where(tf.constant([[True, False]] * 2), x, x), words=7),
        "batch_gather": v1.batch_gather(x, places),
        "div": [v1.div(x, 2.0), v1.div(places, 2), v1.div(x, x), v1.div(2.0, x)],
    }
    return tf.nest.map_structure(parts, found)


def case_joined_along_axes_that_are_not_ragged(tf):
    r = tf.ragged.constant([[1.0, 2.0], [3.0]])
    pairs = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], ragged_rank=1)
    ones = tf.ragged.constant([[[1.0], [3.0]], [[5.0]]], ragged_rank=1)
    deeper = tf.ragged.constant([[[1.0], [3.0, 4.0]], [[5.0]]])
    functions = [
        lambda: tf.stack([r, r], -1),
        lambda: tf.stack([r, r], 1),
        lambda: tf.concat([tf.expand_dims(r, -1)] * 2, -1),
        lambda: tf.concat([pairs, ones], 2),
        lambda: tf.concat([pairs, deeper], 2),
        lambda: tf.concat([deeper, pairs], 1),
        lambda: tf.stack([pairs, pairs], 3),
        lambda: tf.concat([pairs, tf.ones([2, 2, 2])], 2),
    ]
    found = []
    for function in functions:
        try:
            joined = function()
        except tf.errors.InvalidArgumentError:
            found.append("refused")
        else:
            found.append((joined.ragged_rank, str(joined.shape), joined.to_list()))
    with tf.GradientTape() as tape:
        tape.watch([pairs.flat_values, ones.flat_values])
        y = tf.reduce_sum(tf.concat([pairs, ones], 2).flat_values ** 2)
    return found, tape.gradient(y, [pairs.flat_values, ones.flat_values])


def case_stacks_of_tensors(tf):
    stack, c = tf.ragged.stack, tf.ragged.constant
    uniform = tf.RaggedTensor.from_uniform_row_length(c([[1, 2], [3], [], [4]]), 2)
    pairs = [(1, 2), (2, 1)], [(1, 2, 3), (2, 1, 3)], [(1, 2, 3), (1, 1, 3)], [(2,), (1,)], [(), ()]
    tensors = [[tf.zeros(shape, tf.int32) for shape in shapes] for shapes in pairs]
    found = [
        attempt(lambda: parts(stack(given, axis)), words=0)
        for given in tensors
        for axis in (0, 1, -1)
    ]
    functions = [
        lambda: stack([[[1, 2]], [[3], [4]]]),
        lambda: stack([uniform, uniform]),
        lambda: stack([uniform, uniform], 1),
        lambda: tf.concat([uniform, uniform], 0),
        lambda: tf.concat([uniform, uniform], 2),
        lambda: tf.tile(uniform, [2, 1, 1]),
        lambda: stack([c([[1, 2], [3]])], 1),
        lambda: stack([]),
        lambda: stack([tf.zeros([1]), tf.zeros([])]),
        lambda: tf.concat([uniform, c([[1]])], 0),
        lambda: tf.stack([uniform, c([[1]])]),
        lambda: tf.concat([c([[1]], row_splits_dtype=x) for x in (tf.int32, tf.int64)], 0),
    ]
    return found, [attempt(lambda f=f: parts(f())) for f in functions]


def case_means_of_integers(tf):
    """Are no integers, over all axes neither."""
    found = []
    for dtype in (tf.int32, tf.uint8, tf.float32):
        r = tf.ragged.constant([[1, 2, 3], [], [4, 5]], dtype)
        for axis in (None, 0, 1):
            found.append(tf.reduce_mean(r, axis))
            found.append(tf.math.reduce_variance(r, axis))
        found.append(tf.reduce_mean(r, keepdims=True))
        found.append(tf.math.reduce_std(r))
    return found


def case_splits_of_two_dtypes(tf):
    """Do not mix, in whatever op."""
    x, y = (
        tf.ragged.constant([[1], [2, 3]], row_splits_dtype=kind) for kind in (tf.int32, tf.int64)
    )
    functions = [
        lambda: x + y,
        lambda: tf.math.less(x, y),
        lambda: tf.where(x > 1, x, y),
        lambda: tf.ragged.map_flat_values(tf.add, x, y),
        lambda: tf.ragged.boolean_mask(x, y > 1),
        lambda: tf.gather(x, y[:, :0], batch_dims=1),
        lambda: x.with_values(tf.ragged.constant([[1]] * 3)),
        lambda: tf.RaggedTensor.from_row_splits(x, tf.constant([0, 2], tf.int64)),
        lambda: tf.RaggedTensor.from_row_splits(y, np.int32([0, 2])),
        lambda: tf.RaggedTensor.from_row_splits(x, np.int64([0, 2])),
        lambda: tf.RaggedTensor.from_row_lengths(x, [2]),
        lambda: tf.RaggedTensor.from_value_rowids(x, [0, 0]),
        lambda: tf.RaggedTensor.from_row_starts(x, [0]),
        lambda: tf.RaggedTensor.from_row_limits(x, [2]),
        lambda: tf.RaggedTensor.from_uniform_row_length(x, 2),
    ]
    found = [attempt(lambda f=f: parts(f()), words=4) for f in functions]
    return parts(x == y), parts(x != y), found


def case_indices_that_are_refused(tf):
    r = tf.ragged.constant([[1, 2], [3]])
    keys = [
        (..., 0, 0, 0),
        slice(None, None, 0),
        (slice(None), slice(None, None, 0)),
        (slice(None), slice(0.5, 1)),
        (slice(None), slice(0, 1, 0.5)),
        (slice(None), slice("a", "b")),
        slice(0.5, 1),
    ]
    return [attempt(r.__getitem__, key) for key in keys]


def case_made_and_taken_apart(tf):
    c, kind = tf.ragged.constant, tf.RaggedTensor
    r, q = c([[1, 2], [], [3]]), c([[[1, 2], [3]], [], [[4, 5, 6]]])
    pairs = c([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    cube = kind.from_row_splits([[[1, 2], [3, 4]]], [0, 1])
    padded = [[[1, 2], [0, 0]], [[3, 0], [0, 0]]]
    axes = [(0, 0), (1, 1), (0, 1), (1, 2), (2, 1), (0, "b"), ("a", 1), (-2, -1)]
    functions = [
        *[lambda axes=axes: q.merge_dims(*axes) for axes in axes],
        lambda: cube.merge_dims(2, 3),
        lambda: cube.merge_dims(1, 3),
        *[lambda to=to: cube.merge_dims(0, to) for to in (1, 2, 3)],
        lambda: kind.from_tensor(padded, padding=0, ragged_rank=2),
        lambda: kind.from_tensor([[1, 2]], lengths=[1.0]),
        lambda: r.to_tensor(shape=[1, 2, 3]),
        lambda: r.to_tensor(default_value=[1, 2]),
        lambda: pairs.to_tensor([9, 8, 7]),
        lambda: pairs.to_tensor([9, 8]),
        lambda: pairs.to_tensor([9]),
        lambda: pairs.to_tensor([[9, 8]]),
        lambda: c([[1]], row_splits_dtype=tf.float32),
        lambda: kind.from_nested_row_splits([1, 2, 3], tf.constant([[0, 3]])),
        lambda: kind.from_nested_row_lengths([1, 2, 3], tf.constant([[3]])),
    ]
    r._keras_mask = tf.constant(3)  # Keras 2 sets it on its inputs
    functions += [lambda: r._keras_mask, lambda: r.with_values([1, 2, 3])._keras_mask]
    rows = tf.experimental.RowPartition.from_row_lengths([1, 2])
    partitions = [
        lambda: rows.offsets_in_rows(),
        lambda: rows.with_dtype(tf.int32).row_splits(),
        lambda: rows.with_dtype(tf.float32),
        lambda: tf.experimental.RowPartition.from_uniform_row_length(2),
        lambda: tf.experimental.RowPartition.from_row_splits(tf.constant([0.0])),
        lambda: repr(tf.experimental.RowPartition.from_uniform_row_length(2, nvals=6)),
        lambda: repr(rows),
    ]
    values = tf.constant([1, 2, 3])
    functions += [
        lambda: kind.from_row_splits(values, [0.0, 3.0]),
        lambda: kind.from_row_lengths(values, [1.5, 1.5]),
        lambda: kind.from_value_rowids(values, np.array([0.0, 0.0, 1.0])),
        lambda: kind.from_uniform_row_length(values, 1.5),
    ]
    return [[attempt(lambda f=f: parts(f())) for f in each] for each in (functions, partitions)]


def case_segments_and_splits(tf):
    c, values = tf.ragged.constant, tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    f = tf.RaggedTensor.from_row_lengths(values, [2, 0, 3, 1])
    deep = c([[[1.0, 2.0], [3.0]], [], [[4.0]]])
    ids = c([[0, 1], [], [1, 0, 1], [0]])
    pairs = c([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    names = ("sum", "prod", "max", "min", "mean", "sqrt_n")
    found = [
        attempt(lambda name=name, x=x, by=by: parts(getattr(tf.math, name)(x, by, 3)), words=4)
        for name in [f"unsorted_segment_{name}" for name in names]
        for x, by in ((f, [0, 2, 0, 2]), (f, ids), (deep, [1, 0, 1]), (f, [0, -1, 1, -1]))
    ]
    refused = [
        lambda: tf.math.unsorted_segment_sum(values, ids, 2),
        lambda: tf.math.unsorted_segment_sum(f, [0, 1], 2),
        lambda: tf.split(f, 3),
        lambda: tf.split(f, 2, axis=1),
    ]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(values)
        f = tf.RaggedTensor.from_row_lengths(values, [2, 0, 3, 1])
        totals = [tf.math.unsorted_segment_sum(f, by, 3) ** 2 for by in ([0, 2, 0, 2], ids)]
        totals = [tf.reduce_sum(x) for x in totals]
    gradients = [tape.gradient(x, values) for x in totals]
    halves = [parts(x) for x in tf.split(pairs, 2, axis=2)]
    return found, [attempt(function, words=4) for function in refused], gradients, halves


def case_gradients_of_gathered_rows(tf):
    x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    calls = {"batch": ([[0, 0], [1, 0], [2, 0]], 1, None), "axis": ([0, 0], 0, 1)}
    found = {}
    for key, (indices, batch, axis) in calls.items():
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.RaggedTensor.from_row_lengths(x, [1, 2, 3])
            y = tf.gather(rows, indices, batch_dims=batch, axis=axis)
            total = tf.reduce_sum(y * y)
        found[key] = y, tape.gradient(total, x)
    return found


def case_safe_embeddings_of_ragged_ids(tf):
    table = tf.reshape(tf.range(12.0), [4, 3])
    weights = tf.constant([1.0, -2.0, 3.0, 4.0, 0.0])
    ids = tf.RaggedTensor.from_row_lengths([1, 2, 0, -3, 1], [2, 0, 2, 1])
    found = {}
    for combiner in ("sum", "mean", "sqrtn"):
        for weighted in (False, True):
            for default in (None, 3):
                with tf.GradientTape() as tape:
                    tape.watch([table, weights])
                    given = ids.with_values(weights) if weighted else None
                    y = tf.nn.safe_embedding_lookup_sparse(
                        table, ids, given, combiner=combiner, default_id=default
                    )
                    total = tf.reduce_sum(y * y)
                gradient = tape.gradient(total, table)
                found[combiner, weighted, default] = y, tf.convert_to_tensor(gradient)
    return {str(key): value for key, value in found.items()}


def case_images_of_several_sizes(tf):
    flat = tf.range(14.0)
    with tf.GradientTape() as tape:
        tape.watch(flat)
        first, second = tf.reshape(flat[:8], [2, 4, 1]), tf.reshape(flat[8:], [3, 2, 1])
        images = tf.ragged.stack([first, second])
        resized = [
            tf.image.resize(images, [2, 3]),
            tf.image.resize(images, [4, 2], method="nearest"),
            tf.image.resize(images, [2, 2], antialias=True),
            tf.compat.v1.image.resize(images, [3, 2], align_corners=True),
        ]
        total = tf.add_n([tf.reduce_sum(x * x) for x in resized])
    return (
        resized,
        tape.gradient(total, flat),
        tf.image.resize(images[:0], [2, 2]),
        attempt(lambda: tf.image.resize(images[0], [2, 2])),
    )


def case_cumsum_along_outer_axes(tf):
    q = tf.ragged.constant([[[1.0, 2.0], [3.0]], [], [[4.0], [], [5.0, 6.0, 7.0]]])
    r = tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]])
    with tf.GradientTape() as tape:
        tape.watch(q.flat_values)
        found = [tf.cumsum(q, 1), tf.cumsum(q, 0, reverse=True), tf.cumsum(q, -2, exclusive=True)]
        y = tf.reduce_sum(found[0].flat_values ** 2)
    found += [tf.cumsum(r), tf.cumsum(r, 0, exclusive=True, reverse=True)]
    return [parts(x) for x in found], tf.convert_to_tensor(tape.gradient(y, q.flat_values))


def case_ragged_images(tf):
    whole = tf.ragged.constant([[[[10, 20]], [[30, 250]]], [[[5, 6]]]], tf.uint8, ragged_rank=2)
    r = tf.image.convert_image_dtype(whole, tf.float32)
    s = tf.sparse.from_dense([[0.5, 0.0]])
    found = {
        "dtype": r,
        "back": tf.image.convert_image_dtype(r * 2.0, "uint8", saturate=True),
        "brightness": tf.image.adjust_brightness(whole, 0.25),
        "random": tf.image.stateless_random_brightness(r, 0.5, [1, 2]),
        "gamma": tf.image.adjust_gamma(r, gamma=2.0, gain=0.5),
        "scaled": tf.math.scalar_mul(2.0, r),
    }
    sparse = [lambda: tf.image.adjust_gamma(s), lambda: tf.math.scalar_mul(2.0, s)]
    return {k: parts(x) for k, x in found.items()}, [attempt(f, words=0) for f in sparse]

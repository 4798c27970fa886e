"""`tf.function` with None dimensions: what Python sees, shape arithmetic, one trace for all."""

import numpy as np

from .harness import attempt, attempts

NEEDS = ("function",)

UNKNOWN = {
    "vector": ([None], [[2], [3], [0]]),
    "matrix": ([None, 3], [[2, 3], [4, 3], [1, 3]]),
    "both": ([None, None], [[2, 3], [4, 2]]),
    "any rank": (None, [[2], [2, 3]]),
}


def unknown(tf, body, shape=(None, 3), sizes=((2, 3), (4, 3)), dtype="float32"):
    """What `body(x)` gives for several sizes in one trace, and its static shapes while traced."""
    static, traces = [], []

    @tf.function(input_signature=[tf.TensorSpec(shape, dtype)])
    def f(x):
        traces.append(1)
        result = body(x)
        static.append(tf.nest.map_structure(lambda t: str(t.shape), result))
        return result

    inputs = [np.arange(np.prod(size), dtype=dtype).reshape(size) + 1 for size in sizes]
    return {"results": [f(x) for x in inputs], "static": static, "traces": len(traces)}


#: Bodies over a float32 [None, 3].
BODIES = {
    "identity": lambda tf, x: tf.identity(x),
    "elementwise": lambda tf, x: tf.exp(x / 10.0) + x * 2.0,
    "shape": lambda tf, x: tf.shape(x),
    "shape element": lambda tf, x: tf.shape(x)[0] * 2,
    "shape out_type": lambda tf, x: tf.shape(x, out_type=tf.int64),
    "size and rank": lambda tf, x: (tf.size(x), tf.rank(x)),
    "zeros of n": lambda tf, x: tf.zeros([tf.shape(x)[0], 4]),
    "ones of shape": lambda tf, x: tf.ones(tf.shape(x)),
    "fill": lambda tf, x: tf.fill([tf.shape(x)[0] + 1], 7.0),
    "zeros_like": lambda tf, x: tf.zeros_like(x) + 1.0,
    "eye": lambda tf, x: tf.eye(tf.shape(x)[0]),
    "range": lambda tf, x: tf.range(tf.shape(x)[0]),
    "range to twice": lambda tf, x: tf.range(1, 2 * tf.shape(x)[0], 2),
    "reshape n by minus one": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], -1]),
    "reshape minus one": lambda tf, x: tf.reshape(x, [-1]),
    "reshape to columns": lambda tf, x: tf.reshape(x, [-1, 1]),
    "reshape by shape": lambda tf, x: tf.reshape(x, tf.shape(x)[::-1]),
    "reshape product": lambda tf, x: tf.reshape(x, [tf.shape(x)[0] * tf.shape(x)[1]]),
    "transpose": lambda tf, x: tf.transpose(x),
    "matmul": lambda tf, x: tf.matmul(x, tf.ones([3, 2])),
    "gram": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "einsum": lambda tf, x: tf.einsum("ij,kj->ik", x, x),
    "reduce": lambda tf, x: (tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_max(x, 1)),
    "keepdims": lambda tf, x: tf.reduce_sum(x, axis=0, keepdims=True),
    "concat": lambda tf, x: tf.concat([x, x, tf.zeros([1, 3])], 0),
    "concat columns": lambda tf, x: tf.concat([x, x], 1),
    "stack": lambda tf, x: tf.stack([x, x], axis=1),
    "expand and squeeze": lambda tf, x: tf.squeeze(tf.expand_dims(x, 1), 1),
    "tile": lambda tf, x: tf.tile(x, [2, 1]),
    "tile by n": lambda tf, x: tf.tile(tf.constant([[1.0]]), [tf.shape(x)[0], 2]),
    "broadcast_to": lambda tf, x: tf.broadcast_to(tf.constant([1.0, 2.0]), [tf.shape(x)[0], 2]),
    "broadcast row": lambda tf, x: x + tf.constant([10.0, 20.0, 30.0]),
    "broadcast column": lambda tf, x: x - tf.reduce_mean(x, axis=1, keepdims=True),
    "row": lambda tf, x: x[0],
    "last row": lambda tf, x: x[-1],
    "column": lambda tf, x: x[:, 1],
    "all but one": lambda tf, x: x[1:],
    "all but last": lambda tf, x: x[:-1],
    "reverse": lambda tf, x: x[::-1],
    "half": lambda tf, x: x[: tf.shape(x)[0] // 2],
    "new axis": lambda tf, x: x[:, tf.newaxis, :],
    "ellipsis": lambda tf, x: x[..., 0],
    "index by tensor": lambda tf, x: x[tf.shape(x)[0] - 1, 2],
    "gather": lambda tf, x: tf.gather(x, [0, 0, 1]),
    "gather by n": lambda tf, x: tf.gather(
        tf.constant([5.0, 6.0, 7.0, 8.0, 9.0]), tf.range(tf.shape(x)[0])
    ),
    "one_hot": lambda tf, x: tf.one_hot(tf.range(tf.shape(x)[0]), 5),
    "pad": lambda tf, x: tf.pad(x, [[1, 2], [0, 1]]),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "cumsum": lambda tf, x: tf.cumsum(x),
    "argmax": lambda tf, x: (tf.argmax(x), tf.argmax(x, 1)),
    "sort": lambda tf, x: tf.sort(x, axis=0, direction="DESCENDING"),
    "top_k": lambda tf, x: tuple(tf.math.top_k(x, 2)),
    "where": lambda tf, x: tf.where(x > 3.0, x, 0.0),
    "where indices": lambda tf, x: tf.where(x > 3.0),
    "boolean_mask": lambda tf, x: tf.boolean_mask(x, x[:, 0] > 1.0),
    "cast n": lambda tf, x: tf.cast(tf.shape(x)[0], tf.float32) * 0.5,
    "divide by n": lambda tf, x: tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], tf.float32),
    "layer norm": lambda tf, x: (x - tf.reduce_mean(x)) / tf.math.reduce_std(x),
    "split columns": lambda tf, x: tf.split(x, 3, axis=1),
    "unstack columns": lambda tf, x: tf.unstack(x, axis=1),
    "ensure_shape": lambda tf, x: tf.ensure_shape(x, [None, 3]),
    "diag": lambda tf, x: tf.linalg.diag(x[:, 0]),
    "segment_sum": lambda tf, x: tf.math.unsorted_segment_sum(x, tf.range(tf.shape(x)[0]) % 2, 2),
    "scatter_nd": lambda tf, x: tf.scatter_nd([[0]], [1.0], [tf.shape(x)[0]]),
    "meshgrid": lambda tf, x: tf.meshgrid(x[:, 0], tf.range(2.0)),
    "linspace": lambda tf, x: tf.linspace(0.0, 1.0, tf.shape(x)[0]),
    "sequence_mask": lambda tf, x: tf.sequence_mask(tf.range(tf.shape(x)[0])),
    "norm": lambda tf, x: tf.norm(x, axis=1),
    "min with a constant": lambda tf, x: x[: tf.minimum(tf.shape(x)[0], 3)],
    "random shape": lambda tf, x: tf.shape(tf.random.normal(tf.shape(x))),
    "random n": lambda tf, x: tf.shape(tf.random.uniform([tf.shape(x)[0], 5])),
    "dropout shape": lambda tf, x: tf.shape(tf.nn.dropout(x, 0.5)),
    "shape product": lambda tf, x: tf.reduce_prod(tf.shape(x)),
    "shape as tensor": lambda tf, x: tf.concat([tf.shape(x)[:1], [6]], 0),
    "unstack shape": lambda tf, x: tf.add(*tf.unstack(tf.shape(x))),
    "two sizes": lambda tf, x: tf.zeros([tf.shape(x)[0], tf.shape(x)[1] * 2]),
    "batch of matrices": lambda tf, x: tf.matmul(x[:, :, None], x[:, None, :]),
    "map over rows": lambda tf, x: tf.map_fn(lambda row: tf.reduce_sum(row), x),
    "dense layer": lambda tf, x: tf.nn.relu(x @ tf.ones([3, 4]) - 5.0) @ tf.ones([4, 1]),
    "cross entropy": lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.zeros([tf.shape(x)[0]], tf.int32), x
    ),
}

CASES = {
    f"body {name}": lambda tf, body=body: unknown(tf, lambda x: body(tf, x))
    for name, body in BODIES.items()
}

#: Bodies over a float32 [None, 8, 8, 2].
IMAGES = {
    "conv2d": lambda tf, x: tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]) / 18.0, 1, "SAME"),
    "conv2d strides": lambda tf, x: tf.nn.conv2d(x, tf.ones([3, 3, 2, 1]), 2, "VALID"),
    "max_pool2d": lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
    "avg_pool2d": lambda tf, x: tf.nn.avg_pool2d(x, 3, 2, "SAME"),
    "flatten": lambda tf, x: tf.reshape(x, [-1, 8 * 8 * 2]),
    "flatten by shape": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], np.prod(x.shape[1:])]),
    "global pool": lambda tf, x: tf.reduce_mean(x, [1, 2]),
    "conv2d_transpose": lambda tf, x: tf.nn.conv2d_transpose(
        x, tf.ones([2, 2, 1, 2]), [tf.shape(x)[0], 16, 16, 1], 2
    ),
    "batch norm": lambda tf, x: tf.nn.batch_normalization(
        x, tf.reduce_mean(x, [0, 1, 2]), tf.ones([2]), None, None, 1e-3
    ),
}

CASES |= {
    f"image {name}": lambda tf, body=body: unknown(
        tf, lambda x: body(tf, x), [None, 8, 8, 2], [[1, 8, 8, 2], [2, 8, 8, 2]]
    )
    for name, body in IMAGES.items()
}

CASES |= {
    f"rank {name}": lambda tf, shape=shape, sizes=sizes: unknown(
        tf, lambda x: (x + 1.0, tf.shape(x), tf.reduce_sum(x), tf.reshape(x, [-1])), shape, sizes
    )
    for name, (shape, sizes) in UNKNOWN.items()
}


# --- what Python sees


def case_static_shape(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        seen.extend([x.shape, x.shape[0], x.shape[1], x.shape.as_list(), x.shape.rank])
        seen.extend([x.shape.is_fully_defined(), x.shape.num_elements(), x.get_shape()])
        return x

    f(tf.ones([2, 3]))
    return seen


def case_static_shape_or_tensor(tf):
    """The usual helper: a number where it is known, a tensor where it is not."""

    def sizes(x):
        static, dynamic = x.shape.as_list(), tf.shape(x)
        return [dynamic[i] if s is None else s for i, s in enumerate(static)]

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
    def f(x):
        n, m = sizes(x)
        return tf.reshape(x, [n, 2, m // 2])

    return f(tf.ones([1, 4])), f(tf.ones([3, 4]))


def case_none_in_python_arithmetic(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return x.shape[0] + 1

    return attempt(f, tf.ones([2]), words=0)


def case_none_as_a_size(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.zeros([x.shape[0], 2])

    return attempt(f, tf.ones([2]), words=0)


def case_python_range_over_none(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return [x[i] for i in range(x.shape[0])]

    return attempt(f, tf.ones([2]), words=0)


def case_unstack_none(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.unstack(x)

    return attempt(f, tf.ones([2]), words=0)


def case_len_none(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(x):
        return len(x)

    return f(tf.ones([2, 2])), f(tf.ones([5, 2]))


def case_static_value_of_a_size(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        shape = tf.shape(x)
        seen.extend([tf.get_static_value(shape), tf.get_static_value(shape[1])])
        seen.append(tf.get_static_value(shape[0]))
        return x

    f(tf.ones([2, 3]))
    return seen


def case_static_values(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([2, 3], tf.int32)])
    def f(x, y):
        size, known = tf.shape(x)[0], tf.constant([1, 2])
        for value in (
            *(tf.shape(y), tf.size(y), tf.rank(x), tf.size(x), tf.shape(x)),
            *(tf.cast(tf.shape(y), tf.float32), tf.cast(y, tf.float32)),
            *(tf.stack([1, tf.size(y)]), tf.stack([1, size]), tf.concat([tf.shape(y), known], 0)),
            *(tf.concat([tf.shape(x), known], 0), tf.fill([2], tf.size(y)), tf.fill([2], size)),
            *(tf.equal(tf.size(y), 6), tf.not_equal(tf.rank(x), 2), tf.equal(size, 3)),
            *(tf.unstack(tf.shape(y))[1], tf.split(tf.shape(y), 2)[0], tf.identity(tf.size(y))),
            *(tf.range(tf.size(y)), tf.range(size), tf.stop_gradient(tf.rank(y))),
        ):
            seen.append(tf.get_static_value(value))
        return x

    f(tf.ones([5, 3]), tf.ones([2, 3], tf.int32))
    return [-1 if value is None else np.asarray(value).tolist() for value in seen]


def case_set_shape(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def f(x):
        x.set_shape([None, 3])
        seen.append(str(x.shape))
        return x @ tf.ones([3, 1])

    return f(tf.ones([2, 3])), seen


def case_set_shape_conflict(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        x.set_shape([None, 4])
        return x

    return attempt(f, tf.ones([2, 3]), words=0)


def case_ensure_shape_at_run_time(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.ensure_shape(x, [2]) * 2.0

    return f(tf.ones([2])), attempt(lambda: f(tf.ones([3])).numpy(), words=0)


def case_broadcast_static_shape(tf):
    seen = []

    @tf.function(
        input_signature=[tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None, 1], tf.float32)]
    )
    def f(x, y):
        seen.append(str((x + y).shape))
        return x + y

    return f(tf.ones([2, 3]), tf.ones([2, 1])), f(tf.ones([2, 3]), tf.ones([1, 1])), seen


def case_two_unknown_sizes(tf):
    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32)]
    )
    def f(x, y):
        return x * y

    return f(tf.ones([3]), tf.ones([3])), attempt(
        lambda: f(tf.ones([3]), tf.ones([2])).numpy(), words=0
    )


def case_two_unknown_sizes_one_is_one(tf):
    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32)]
    )
    def f(x, y):
        return x + y

    return f(tf.ones([3]), tf.ones([1])), f(tf.ones([1]), tf.ones([4]))


def case_two_unknown_sizes_concat(tf):
    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32)]
    )
    def f(x, y):
        return tf.concat([x, y], 0), tf.shape(x)[0] + tf.shape(y)[0]

    return f(tf.ones([3]), tf.ones([1])), f(tf.ones([0]), tf.ones([4]))


def case_matmul_of_unknown_sizes(tf):
    spec = tf.TensorSpec([None, None], tf.float32)
    f = tf.function(lambda a, b: a @ b, input_signature=[spec, spec])
    return (
        f(tf.ones([2, 3]), tf.ones([3, 1])),
        f(tf.ones([1, 2]), tf.ones([2, 2])),
        attempt(lambda: f(tf.ones([2, 3]), tf.ones([2, 1])).numpy(), words=0),
    )


def case_reshape_that_does_not_fit(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.reshape(x, [-1, 2])

    return f(tf.ones([4])), attempt(lambda: f(tf.ones([3])).numpy(), words=0)


def case_condition_on_a_size(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        if tf.shape(x)[0] > 2:
            return tf.reduce_sum(x)
        return -tf.reduce_sum(x)

    return f(tf.ones([2])), f(tf.ones([3]))


def case_loop_over_a_size(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        total = 0.0
        for i in tf.range(tf.shape(x)[0]):
            total = total + x[i] * tf.cast(i, tf.float32)
        return total

    return f(tf.ones([2])), f(tf.ones([4]))


def case_empty_batch(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        return tf.reduce_sum(x), x @ tf.ones([3, 2]), tf.shape(x)

    return f(tf.zeros([0, 3]))


def case_gradient_over_sizes(tf):
    w = tf.Variable(tf.ones([3, 1]))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w) ** 2)
        g = tape.gradient(loss, w)
        w.assign_sub(0.01 * g)
        return loss, g

    return step(tf.ones([2, 3])), step(tf.ones([4, 3])), step(tf.ones([2, 3])), w


def case_function_calls_function_of_unknown_size(tf):
    inner = tf.function(lambda x: tf.reduce_sum(x, 0), reduce_retracing=True)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(x):
        return inner(x) + inner(x[1:])

    return f(tf.ones([2, 2])), f(tf.ones([3, 2]))


def case_output_shapes_of_the_concrete_function(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        return x, tf.reduce_sum(x, 1), tf.concat([x, x], 0), tf.zeros([tf.shape(x)[0], 4])

    c = f.get_concrete_function()
    return c.output_shapes, [t.shape for t in c.outputs], c.structured_outputs


def case_symbolic_size_names_nothing(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def f(x):
        seen.append(repr(x))
        return x

    f(tf.ones([1, 2], tf.int32))
    return seen


def case_tensor_shape_of_unknown(tf):
    return attempts(
        tf,
        {
            "rank": lambda tf: tf.TensorShape(None).rank,
            "length": lambda tf: len(tf.TensorShape(None)),
            "item": lambda tf: tf.TensorShape(None)[0],
            "compatible": lambda tf: tf.TensorShape([None, 3]).is_compatible_with([2, 3]),
            "merge": lambda tf: tf.TensorShape([None, 3]).merge_with([2, None]),
            "concat": lambda tf: tf.TensorShape([None]).concatenate([3]),
            "equal": lambda tf: tf.TensorShape([None, 3]) == tf.TensorShape([None, 3]),
            "spec": lambda tf: tf.TensorSpec([None], tf.float32).is_compatible_with(tf.ones([4])),
        },
        words=0,
    )


def case_dtype_kept_over_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def f(x):
        n = tf.cast(tf.shape(x)[0], x.dtype)
        return tf.reduce_sum(x) / n, n

    return f(np.ones(2)), f(np.ones(3))


def case_variable_of_the_batch_size(tf):
    v = tf.Variable(tf.zeros([0]), shape=[None])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        v.assign(tf.concat([v, x], 0))
        return tf.size(v)

    return f(tf.ones([2])), f(tf.ones([3])), v


def case_padding_to_a_multiple(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        n = tf.shape(x)[0]
        missing = (-n) % 4
        return tf.reshape(tf.pad(x, [[0, missing]]), [-1, 4])

    return f(tf.ones([3])), f(tf.ones([4])), f(tf.ones([6]))


def case_slices_between_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    def f(x, k):
        return x[:k], x[k:], tf.roll(x, k, 0)

    return f(tf.range(4.0), 1), f(tf.range(4.0), 3), f(tf.range(2.0), 0)


def case_causal_mask(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, None, 4], tf.float32)])
    def f(x):
        n = tf.shape(x)[1]
        mask = tf.linalg.band_part(tf.ones([n, n]), -1, 0)
        scores = tf.matmul(x, x, transpose_b=True)
        weights = tf.nn.softmax(scores * mask - 1e9 * (1.0 - mask))
        return tf.matmul(weights, x)

    return f(tf.ones([1, 2, 4])), tf.shape(f(tf.ones([2, 3, 4])))


def case_resize_by_a_list_of_sizes(tf):
    image = tf.TensorSpec([None, None, None, 1])

    @tf.function(input_signature=[image, image])
    def f(x, like):
        shape = tf.shape(like)
        like_it = tf.image.resize(x, [shape[1], shape[2]])
        return like_it, tf.image.resize(x, (2 * tf.shape(x)[1], 3), "nearest")

    def of(height, width):
        return tf.reshape(tf.range(1.0 * height * width), [1, height, width, 1])

    return f(of(2, 3), of(4, 5)), f(of(4, 4), of(3, 2))


def case_assignments_of_sizes_that_the_call_tells(tf):
    v = tf.Variable([1.0, 2.0])
    rows = tf.Variable([[1.0, 1.0]], shape=[None, 2])
    vector, matrix = tf.TensorSpec([None]), tf.TensorSpec([None, None])

    @tf.function(input_signature=[vector])
    def assign(x):
        v.assign(x * 2.0)

    @tf.function(input_signature=[vector])
    def add(x):
        v.assign_add(x)
        v.assign_sub(x * 3.0)
        return v + 0.0

    @tf.function
    def of_size(n):
        v.assign(tf.ones(n))

    @tf.function(input_signature=[matrix])
    def assign_rows(x):
        rows.assign(x)
        rows.assign_add(x)
        return tf.reduce_sum(rows)

    calls = [
        lambda: assign([3.0, 4.0]),
        lambda: assign([3.0, 4.0, 5.0]),
        lambda: add([1.0, 1.0]),
        lambda: add([1.0]),
        lambda: of_size(tf.constant([2])),
        lambda: of_size(tf.constant([3])),
        lambda: assign_rows([[1.0, 2.0], [3.0, 4.0]]),
        lambda: assign_rows([[1.0]]),
    ]
    return [(attempt(call, words=0), v.numpy(), rows.numpy()) for call in calls]


def case_conditionals_on_ranks(tf):
    """Branches whose results have other numbers of axes, where a rank or a size decides. Each
    function is recorded once for arguments of one kind."""
    recorded, v = [], tf.Variable(1.0)

    @tf.function
    def by_if(x):
        recorded.append("if")
        y = x
        if tf.rank(x) == 2:
            y = tf.reduce_sum(x * x, axis=-1) + tf.random.uniform([])
        if tf.shape(x)[0] == 3:
            y = y[0]
        return y + tf.random.uniform([])

    @tf.function
    def by_cond(x):
        recorded.append("cond")

        def of_many():
            v.assign(5.0)
            return x[0]

        return tf.cond(tf.math.greater(tf.rank(x), 2), of_many, lambda: x)

    @tf.function
    def by_case(x):
        recorded.append("case")
        few = [lambda: x, lambda: 2.0 * tf.reduce_sum(x, 0), lambda: 3.0 * tf.reduce_sum(x, 0)]
        more = [(tf.rank(x) > 2, lambda: x[0] * 2.0), (tf.equal(tf.rank(x), 2), lambda: x[0])]
        return tf.switch_case(tf.rank(x) - 1, few), tf.case(more, default=lambda: x)

    tf.random.set_seed(4)
    found = []
    for shape in ([2, 2], [3], [3, 2], [2, 2, 2], [2, 2]):
        for f in (by_if, by_cond, by_case):
            x = tf.ones(shape)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            found.append((y, tape.gradient(y, x), v.numpy()))
    return found, recorded


def _sizes_of_rows_after_the_first(tf, x):
    return tf.shape(x[1:]), tf.shape(x[:-1])[0] - 1, tf.concat([x[1:], x], 0)


def case_concrete_function_of_no_rows(tf):
    f = tf.function(lambda x: _sizes_of_rows_after_the_first(tf, x))
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    by_name = f.get_concrete_function(tf.TensorSpec([None], tf.float32, "rows"))
    outer = tf.function(lambda x: concrete(x))
    given = [tf.zeros([n]) for n in (3, 0, 1, 0)]
    return [[concrete(x), by_name(rows=x), outer(x)] for x in given]


def case_map_of_elements_without_rows(tf):
    elements = tf.data.Dataset.range(3).map(lambda n: tf.ones([n]))
    return list(elements.map(lambda x: _sizes_of_rows_after_the_first(tf, x)))

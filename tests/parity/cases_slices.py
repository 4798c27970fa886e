"""IndexedSlices: where gradients come as slices, and everything that takes them."""

import numpy as np

from .harness import attempt, attempts, options

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]


def _gradient(program, **settings):
    def case(tf):
        table = tf.Variable(TABLE)
        with tf.GradientTape() as tape:
            y = program(tf, table)
        return y, tape.gradient(y, table, **settings)

    return case


def _watched(program):
    def case(tf):
        table = tf.constant(TABLE)
        with tf.GradientTape() as tape:
            tape.watch(table)
            y = program(tf, table)
        return y, tape.gradient(y, table)

    return case


PROGRAMS = {
    "gather": lambda tf, t: tf.gather(t, [0, 2]),
    "gather_scalar_index": lambda tf, t: tf.gather(t, 1),
    "gather_duplicates": lambda tf, t: tf.gather(t, [1, 1, 3, 1]),
    "gather_negative": lambda tf, t: tf.gather(-t, [1, 1, 3]),
    "gather_sum": lambda tf, t: tf.gather(tf.add_n([t, t, tf.ones_like(t)]), [1, 3]),
    "gather_sum_of_others": lambda tf, t: tf.gather(tf.add_n([t, t * t, -t]), [1, 3]),
    "gather_negative_twice": lambda tf, t: tf.gather(-tf.identity(-t), [0, 0]) * 2.0,
    "gather_cast": lambda tf, t: tf.gather(tf.cast(t, tf.float16), [1, 1, 3]),
    "gather_cast_twice": lambda tf, t: tf.gather(
        tf.cast(tf.cast(t, tf.bfloat16), tf.float64), [1, 3]
    ),
    "gather_cast_complex": lambda tf, t: tf.gather(tf.cast(t, tf.complex64), [1, 1]),
    "gather_squared": lambda tf, t: tf.gather(t, [2, 2]) ** 2,
    "gather_matrix_indices": lambda tf, t: tf.gather(t, [[0, 1], [1, 3]]),
    "gather_int64": lambda tf, t: tf.gather(t, tf.constant([3, 0], tf.int64)),
    "gather_axis_one": lambda tf, t: tf.gather(t, [1, 1], axis=1),
    "gather_axis_minus_one": lambda tf, t: tf.gather(t, [0], axis=-1),
    "gather_batch_dims": lambda tf, t: tf.gather(t, [0, 1, 1, 0], batch_dims=1),
    "gather_empty": lambda tf, t: tf.gather(t, tf.zeros([0], tf.int32)),
    "gather_nd": lambda tf, t: tf.gather_nd(t, [[0, 1], [2, 0]]),
    "gather_nd_rows": lambda tf, t: tf.gather_nd(t, [[2], [2]]),
    "embedding_lookup": lambda tf, t: tf.nn.embedding_lookup(t, [3, 0, 3]),
    "embedding_lookup_matrix": lambda tf, t: tf.nn.embedding_lookup(t, [[3, 0], [1, 3]]),
    "twice": lambda tf, t: tf.gather(t, [0, 1]) + tf.gather(t, [1, 2]) * 10.0,
    "twice_other_sizes": lambda tf, t: (
        tf.reduce_sum(tf.gather(t, [0])) + tf.reduce_sum(tf.gather(t, [1, 2, 0]) ** 2)
    ),
    "with_dense_use": lambda tf, t: tf.reduce_sum(tf.gather(t, [1])) + tf.reduce_sum(t * t),
    "dense_use_first": lambda tf, t: tf.reduce_sum(t * 2.0) + tf.reduce_sum(tf.gather(t, [1])),
    "read_value": lambda tf, t: tf.gather(tf.identity(t), [0, 2]),
    "of_doubled": lambda tf, t: tf.gather(t * 2.0, [0, 2]),
    "of_gather": lambda tf, t: tf.gather(tf.gather(t, [0, 2, 3]), [1, 1]),
    "index": lambda tf, t: t[1],
    "index_twice": lambda tf, t: t[1] * t[2],
    "slice": lambda tf, t: t[1:3],
    "boolean_mask": lambda tf, t: tf.boolean_mask(t, [True, False, True, False]),
    "mean_of_lookup": lambda tf, t: tf.reduce_mean(tf.nn.embedding_lookup(t, [0, 1, 1]), 0),
    "lookup_matmul": lambda tf, t: tf.nn.embedding_lookup(t, [0, 3]) @ tf.constant([[1.0], [2.0]]),
    "two_targets": lambda tf, t: [tf.gather(t, [0]), tf.gather(t, [1, 1])],
}

CASES = {f"variable_{name}": _gradient(program) for name, program in PROGRAMS.items()}
CASES |= {
    f"constant_{name}": _watched(PROGRAMS[name])
    for name in ("gather", "gather_duplicates", "gather_axis_one", "twice", "with_dense_use")
}
CASES["unconnected_zero"] = _gradient(lambda tf, t: tf.constant(1.0), unconnected_gradients="zero")


def _slices(tf, values=((1.0, 2.0), (3.0, 4.0)), indices=(2, 0), shape=(4, 2)):
    return tf.IndexedSlices(
        values=tf.constant(values), indices=tf.constant(indices), dense_shape=tf.constant(shape)
    )


def case_read_value_method(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = tf.gather(table.read_value(), [0, 0])
    return tape.gradient(y, table)


def case_sparse_read(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = table.sparse_read([0, 2])
    return y, tape.gradient(y, table)


def case_fields(tf):
    s = _slices(tf)
    return {
        "values": s.values,
        "indices": s.indices,
        "dense_shape": s.dense_shape,
        "shape": s.shape,
        "dtype": s.dtype,
        "is_tensor": tf.is_tensor(s),
        "isinstance": isinstance(s, tf.IndexedSlices),
        "type": type(s).__name__,
    }


def case_without_dense_shape(tf):
    s = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
    return s.dense_shape, s.values, attempt(lambda: tf.convert_to_tensor(s), words=4)


def case_gradient_fields(tf):
    table = tf.Variable(TABLE, name="table")
    with tf.GradientTape() as tape:
        y = tf.gather(table, [3, 3])
    g = tape.gradient(y, table)
    return g.values.dtype, g.indices.dtype, g.dense_shape, g.shape, g.dtype


def case_convert_to_tensor(tf):
    return tf.convert_to_tensor(_slices(tf))


def case_convert_duplicates(tf):
    return tf.convert_to_tensor(_slices(tf, indices=(1, 1)))


def case_convert_other_dtype(tf):
    return attempt(lambda: tf.convert_to_tensor(_slices(tf), dtype=tf.float64), words=3)


def case_in_operators(tf):
    s = _slices(tf)
    return attempts(
        tf,
        {
            "times two": lambda tf: s * 2.0,
            "two times": lambda tf: 2.0 * s,
            "negative": lambda tf: -s,
            "divide": lambda tf: s / 2.0,
            "add dense": lambda tf: tf.ones([4, 2]) + s,
            "function add": lambda tf: tf.add(s, tf.ones([4, 2])),
            "multiply": lambda tf: tf.multiply(0.1, s),
            "add_n": lambda tf: tf.add_n([s, tf.ones([4, 2])]),
            "square": lambda tf: tf.square(s),
            "sqrt": lambda tf: tf.sqrt(s),
            "cast": lambda tf: tf.cast(s, tf.float64),
            "identity": lambda tf: tf.identity(s),
            "reduce_sum": lambda tf: tf.reduce_sum(s),
            "is_nan": lambda tf: tf.math.is_nan(s),
            "clip_by_value": lambda tf: tf.clip_by_value(s, 1.5, 3.0),
            "norm": lambda tf: tf.norm(s),
            "zeros_like": lambda tf: tf.zeros_like(s),
            "shape": lambda tf: tf.shape(s),
        },
        words=0,
    )


def case_numpy_of_slices(tf):
    return attempt(lambda: _slices(tf).numpy(), words=0)


def case_clip_by_norm(tf):
    return tf.clip_by_norm(_slices(tf), 1.0)


def case_global_norm(tf):
    return tf.linalg.global_norm([_slices(tf), tf.constant([3.0]), None])


def case_clip_by_global_norm(tf):
    return tf.clip_by_global_norm([_slices(tf), tf.constant([3.0]), None], 2.0)


def case_clip_by_global_norm_of_gradient(tf):
    table, w = tf.Variable(TABLE), tf.Variable([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.nn.embedding_lookup(table, [1, 1, 0]) @ w) ** 2)
    return tf.clip_by_global_norm(tape.gradient(loss, [table, w]), 5.0)


def case_scatter_methods(tf):
    def run(name):
        def program(tf):
            v = tf.Variable(TABLE)
            result = getattr(v, name)(_slices(tf))
            return v, result

        return program

    names = ("sub", "add", "update", "max", "min", "mul", "div")
    return attempts(tf, {name: run(f"scatter_{name}") for name in names})


def case_scatter_duplicates(tf):
    def run(name):
        def program(tf):
            v = tf.Variable(TABLE)
            getattr(v, name)(_slices(tf, indices=(1, 1)))
            return v

        return program

    names = ("sub", "add", "max", "min", "mul", "div")
    return attempts(tf, {name: run(f"scatter_{name}") for name in names})


def case_scatter_non_slices(tf):
    v = tf.Variable(TABLE)
    return attempts(
        tf,
        {
            "tensor": lambda tf: v.scatter_sub(tf.ones([4, 2])),
            "list": lambda tf: v.scatter_add([1.0]),
            "none": lambda tf: v.scatter_update(None),
        },
        words=0,
    )


def case_scatter_nd(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    indices = tf.constant([[3], [1]])
    return (
        v.scatter_nd_add(indices, tf.constant([10.0, 20.0])),
        v.scatter_nd_sub(indices, tf.constant([1.0, 2.0])),
        v.scatter_nd_update(indices, tf.constant([0.0, -1.0])),
        v,
    )


@options(words=0)
def case_scatter_out_of_range(tf):
    v = tf.Variable(TABLE)
    return v.scatter_add(_slices(tf, indices=(9, 0)))


def case_batch_scatter_update(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    s = tf.IndexedSlices(tf.constant([[10.0], [20.0]]), tf.constant([[1], [0]]))
    return v.batch_scatter_update(s)


def case_plain_step(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 0]) ** 2)
    g = tape.gradient(loss, table)
    table.scatter_sub(tf.IndexedSlices(g.values * 0.1, g.indices, g.dense_shape))
    return loss, table


def case_assign_sub_of_slices(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 0]) ** 2)
    g = tape.gradient(loss, table)
    return attempt(lambda: table.assign_sub(0.1 * g))


def case_second_order_through_gather(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(table, [1, 1, 2]) ** 3)
        g = inner.gradient(y, table)
        penalty = tf.reduce_sum(tf.convert_to_tensor(g) ** 2)
    return penalty, outer.gradient(penalty, table)


def case_second_order_through_values(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(table, [1, 1, 2]) ** 3)
        g = inner.gradient(y, table)
        penalty = tf.reduce_sum(g.values)
    return penalty, outer.gradient(penalty, table)


def case_second_order_target_is_slices(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(table, [1, 2]) ** 3)
        g = inner.gradient(y, table)
    return attempt(lambda: outer.gradient(g, table))


def case_output_gradient_slices(tf):
    x = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return attempt(lambda: tape.gradient(y, x, output_gradients=tf.ones([4, 2])))


def case_gather_out_of_range(tf):
    table = tf.Variable(TABLE)
    return attempt(lambda: tf.gather(table, [7]), words=3)


def case_gather_negative(tf):
    return attempt(lambda: tf.gather(tf.constant(TABLE), [-1]), words=3)


def case_gather_float_indices(tf):
    return attempt(lambda: tf.gather(tf.constant(TABLE), [0.5]), words=0)


def case_embedding_lookup_max_norm(tf):
    return tf.nn.embedding_lookup(tf.constant(TABLE), [0, 3], max_norm=1.0)


def case_numpy_parts(tf):
    s = tf.IndexedSlices(np.ones((1, 2), np.float32), np.array([0]), np.array([4, 2]))
    return type(s.values), attempt(lambda: tf.convert_to_tensor(s))


def case_map_structure(tf):
    s = _slices(tf)
    flat = tf.nest.flatten([s, 1])
    return [type(item) for item in flat], len(tf.nest.flatten(s, expand_composites=True))


def case_indices_out_of_range(tf):
    v = tf.Variable(tf.ones([3, 2]))

    def rows(*indices):
        return tf.IndexedSlices(tf.ones([len(indices), 2]), tf.constant(indices), [3, 2])

    def update(method, *indices):
        getattr(v, method)(tf.constant(indices)[:, None], tf.ones([len(indices), 2]))

    return attempts(
        tf,
        {
            "dense, negative": lambda tf: tf.convert_to_tensor(rows(-1, 1)),
            "dense, far negative": lambda tf: tf.ones([3, 2]) * rows(-7, 2, -1),
            "dense, past the end": lambda tf: tf.convert_to_tensor(rows(0, 3)),
            "rows, negative": lambda tf: v.scatter_add(rows(-1)),
            "rows, past the end": lambda tf: v.scatter_update(rows(0, 3)),
            "full, negative": lambda tf: update("scatter_nd_add", -1),
            "full, past the end": lambda tf: update("scatter_nd_update", 3),
            "segments": lambda tf: tf.math.unsorted_segment_sum([1.0, 2.0], [0, 2], 2),
            "segments, matrix": lambda tf: tf.math.unsorted_segment_max([[1.0, 2.0]], [[0, 9]], 2),
            "segments, negative": lambda tf: tf.math.unsorted_segment_sum([1.0, 2.0], [-1, 1], 2),
            "untouched": lambda tf: v.numpy(),
        },
        words=8,
    )


def case_printed(tf):
    slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 1]), tf.constant([3, 2]))
    return str(slices), str(tf.IndexedSlices(tf.ones([1]), [0]))


def case_axes_of_one_text(tf):
    text, number = tf.constant("ab"), tf.constant(2.0)
    found = [
        [x[None], x[...], x[..., None], x[tf.newaxis, ..., tf.newaxis]] for x in (text, number)
    ]
    return found, tf.strings.length(text[None]), tf.concat([text[None], ["c"]], 0)

"""`jacobian` and `batch_jacobian`: shapes, structures, errors, higher orders."""

import numpy as np

from .harness import attempt, options


def _jacobian(program, value, **settings):
    def case(tf):
        x = tf.constant(value)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = program(tf, x)
        return y, tape.jacobian(y, x, **settings)

    return case


def _batch(program, value, **settings):
    def case(tf):
        x = tf.constant(value)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = program(tf, x)
        return tape.batch_jacobian(y, x, **settings)

    return case


SQUARE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]

CASES = {
    "scalar_by_scalar": _jacobian(lambda tf, x: x * x, 3.0),
    "scalar_by_vector": _jacobian(lambda tf, x: tf.reduce_sum(x * x), [1.0, 2.0, 3.0]),
    "vector_by_scalar": _jacobian(lambda tf, x: x * tf.constant([1.0, 2.0, 3.0]), 2.0),
    "vector_by_vector": _jacobian(lambda tf, x: tf.sin(x) * x[::-1], [1.0, 2.0, 3.0]),
    "matrix_by_matrix": _jacobian(lambda tf, x: x @ tf.transpose(x), SQUARE),
    "row_sums": _jacobian(lambda tf, x: tf.reduce_sum(x * x, axis=1), SQUARE),
    "softmax": _jacobian(lambda tf, x: tf.nn.softmax(x), [1.0, 2.0, 4.0]),
    "cumsum": _jacobian(lambda tf, x: tf.cumsum(x), [1.0, 2.0, 4.0]),
    "gather_duplicates": _jacobian(lambda tf, x: tf.gather(x, [2, 0, 2]), [1.0, 2.0, 4.0]),
    "concat": _jacobian(lambda tf, x: tf.concat([x, x * x], 0), [1.0, 2.0]),
    "where": _jacobian(lambda tf, x: tf.where(x > 1.5, x * x, -x), [1.0, 2.0, 3.0]),
    "empty_target": _jacobian(lambda tf, x: x[:0] * 2.0, [1.0, 2.0]),
    "float64": _jacobian(lambda tf, x: tf.cast(x, tf.float64) ** 3, [1.0, 2.0]),
    "identity": _jacobian(lambda tf, x: tf.identity(x), [1.0, 2.0]),
    "parallel_iterations": _jacobian(lambda tf, x: x**2, [1.0, 2.0, 3.0], parallel_iterations=2),
    "one_parallel_iteration": _jacobian(lambda tf, x: x**2, [1.0, 2.0], parallel_iterations=1),
    "without_pfor": _jacobian(lambda tf, x: x**3, [1.0, 2.0], experimental_use_pfor=False),
    "without_pfor_parallel": _jacobian(
        lambda tf, x: x**3, [1.0, 2.0], experimental_use_pfor=False, parallel_iterations=1
    ),
    "unconnected_bad": _jacobian(lambda tf, x: x**2, [1.0, 2.0], unconnected_gradients="bad"),
    "batch_elementwise": _batch(lambda tf, x: x * x, SQUARE),
    "batch_row_product": _batch(lambda tf, x: x * tf.reduce_sum(x, 1, keepdims=True), SQUARE),
    "batch_rank_three": _batch(lambda tf, x: tf.stack([x, x * x, x**3], 2), SQUARE),
    "batch_matmul": _batch(lambda tf, x: x @ tf.ones([3, 2]), SQUARE),
    "batch_one": _batch(lambda tf, x: tf.sin(x), [[1.0, 2.0]]),
    "batch_without_pfor": _batch(lambda tf, x: x**3, SQUARE, experimental_use_pfor=False),
    "batch_parallel_iterations": _batch(lambda tf, x: x**3, SQUARE, parallel_iterations=1),
    "batch_rank_one": _batch(lambda tf, x: x * x, [1.0, 2.0]),
    "batch_target_rank_one": _batch(lambda tf, x: tf.reduce_sum(x, 1), SQUARE),
    "batch_first_dimensions": _batch(lambda tf, x: tf.transpose(x), SQUARE),
    "batch_empty_columns": _batch(lambda tf, x: x[:, :0], SQUARE),
    "batch_constant_target": _batch(lambda tf, x: tf.ones([2, 2]), SQUARE),
    "batch_unconnected_bad": _batch(lambda tf, x: x * x, SQUARE, unconnected_gradients="bad"),
}


# TensorFlow wraps this error in one about vectorising: the class is what counts.
CASES["unconnected_bad"].parity = CASES["batch_unconnected_bad"].parity = {"words": 0}


def case_source_structure(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * a * b
    return tape.jacobian(y, {"a": a, "b": [b]})


def case_repeated_source(tf):
    a = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = a * a
    return tape.jacobian(y, [a, a])


def case_unconnected(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = a * a
    return tape.jacobian(y, [a, b]), tape.jacobian(y, b)


def case_unconnected_zero(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])
    with tf.GradientTape() as tape:
        y = a * a
    return tape.jacobian(y, [a, b], unconnected_gradients=tf.UnconnectedGradients.ZERO)


def case_unconnected_without_pfor(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = a * a
    return tape.jacobian(y, [a, b], experimental_use_pfor=False)


def case_nonpersistent_twice(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.jacobian(y, x), attempt(lambda: tape.jacobian(y, x), words=15)


def case_gradient_after_jacobian(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.jacobian(y, x), attempt(lambda: tape.gradient(y, x))


@options(words=6)
def case_without_pfor_nonpersistent(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.jacobian(y, x, experimental_use_pfor=False)


@options(words=6)
def case_batch_without_pfor_nonpersistent(tf):
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.batch_jacobian(y, x, experimental_use_pfor=False)


def case_target_is_source(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.jacobian(x, x)


@options(words=0)
def case_several_targets_refused(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.jacobian([y, y], x)


def case_number_as_target_refused(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        x * x
    return tape.jacobian(0, x)


def case_intermediate_source(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 3.0
        z = tf.reduce_sum(y * y) * y
    return tape.jacobian(z, [y, x])


def case_two_layers(tf):
    x = tf.constant([[0.5, -1.0], [0.3, 0.8]])
    w, b = tf.Variable([[0.1, 0.2, 0.3], [-0.1, 0.4, 0.2]]), tf.Variable([0.0, 0.1, -0.1])
    with tf.GradientTape() as tape:
        y = tf.nn.tanh(x @ w + b)
    return tape.jacobian(y, [w, b])


def case_hessian_by_jacobian_of_gradient(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_prod(x) + tf.reduce_sum(x**4)
        g = inner.gradient(y, x)
    return g, outer.jacobian(g, x)


def case_hessian_of_layer(tf):
    x = tf.constant([[0.5, -1.0]])
    w = tf.Variable([[0.1, 0.2], [-0.1, 0.4]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean(tf.nn.sigmoid(x @ w) ** 2)
        g = inner.gradient(loss, w)
    return g, outer.jacobian(g, w)


def _hessian_of_gathered(tf, method, persistent):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    with tf.GradientTape(persistent=persistent) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.gather(x, [0, 2, 0]) ** 3)
        g = inner.gradient(y, x)
    return g, getattr(outer, method)(g, x)


def case_jacobian_of_indexed_slices(tf):
    return [_hessian_of_gathered(tf, "jacobian", persistent) for persistent in (False, True)]


def case_batch_jacobian_of_indexed_slices(tf):
    return [_hessian_of_gathered(tf, "batch_jacobian", persistent) for persistent in (False, True)]


def case_jacobian_of_indexed_slices_in_function(tf):
    return tf.function(lambda: _hessian_of_gathered(tf, "jacobian", False)[1])()


def case_jacobian_of_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3 * tf.reduce_sum(x)
        j = inner.jacobian(y, x)
    return j, outer.jacobian(j, x)


def case_gradient_of_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3 * tf.reduce_sum(x)
        j = inner.jacobian(y, x)
    return outer.gradient(j, x)


def case_hessian_by_batch_jacobian(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x, axis=1)
        g = inner.gradient(y, x)
    return outer.batch_jacobian(g, x)


def case_gradient_of_batch_jacobian(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        j = inner.batch_jacobian(y, x)
    return outer.gradient(j, x)


def case_embedding_is_dense(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(table, [2, 2, 0])
    return tape.jacobian(y, table)


def case_batch_unconnected(tf):
    x, z = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0, 5.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    return tape.batch_jacobian(y, z), tape.batch_jacobian(y, z, unconnected_gradients="zero")


def case_batch_other_ranks(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reshape(tf.concat([x, x * x], 1), [2, 3, 2])
    return tape.batch_jacobian(y, x)


def case_batch_persistent_twice(tf):
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    return tape.batch_jacobian(y, x), tape.batch_jacobian(z, x), tape.gradient(z, x)


def case_empty_source(tf):
    x = tf.zeros([0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x) * tf.constant([1.0, 2.0])
    return tape.jacobian(y, x)


def case_int_target(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.cast(x * x, tf.int32)
    return attempt(lambda: tape.jacobian(y, x), words=0)


def case_none_target(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        _ = x * x
    return attempt(lambda: tape.jacobian(None, x), words=0)


def case_complex(tf):
    x = tf.constant([1 + 2j, 3 - 1j])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return attempt(lambda: tape.jacobian(y, x), words=0)


def _empty(shape, program, source=lambda x: x, method="jacobian", **settings):
    def case(tf):
        x = tf.ones(shape)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = program(tf, x)
        return getattr(tape, method)(y, source(x), experimental_use_pfor=False, **settings)

    return case


def _spread_over(n):
    return lambda tf, x: tf.reduce_sum(x) * tf.ones([n])


CASES |= {
    "empty source row by row": _empty([0], _spread_over(3)),
    "empty source two rows": _empty([0], _spread_over(3), parallel_iterations=2),
    "empty source of a matrix": _empty([2, 0], lambda tf, x: x @ tf.ones([0, 3])),
    "empty source batch": _empty(
        [2, 0], lambda tf, x: x @ tf.ones([0, 3]), method="batch_jacobian"
    ),
    "empty source scalar target": _empty([0], lambda tf, x: tf.reduce_sum(x)),
}


def case_empty_source_beside_another(tf):
    x, y = tf.ones([0]), tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = y * y * tf.reduce_sum(tf.exp(x)) + y * y
    return tape.jacobian(z, [x, y], experimental_use_pfor=False)


def case_gradient_by_what_the_target_is_made_of(tf):
    """What the tape recorded between source and target is what its Jacobian depends on."""
    x = tf.constant([0.3, 0.7])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            h = x * x
            inner.watch(h)
            outer.watch(h)
            y = h * x + tf.sin(h)
        by_x, by_h = inner.jacobian(y, [x, h])
    return [outer.gradient(j, [x, h]) for j in (by_x, by_h)]


def case_target_and_its_jacobian(tf):
    w = tf.Variable([[0.1, 0.2], [0.3, -0.4]])
    x = tf.constant([[1.0, 2.0], [0.5, -1.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.tanh(tf.tanh(x @ w) @ w)
        j = inner.batch_jacobian(y, x)
        loss = tf.reduce_sum(j**2) + tf.reduce_sum(y**3)
    return loss, outer.gradient(loss, w)


def case_outer_tape_begun_after_the_target(tf):
    w = tf.Variable([[0.1, 0.2], [0.3, -0.4]])
    x = tf.constant([[1.0, 2.0], [0.5, -1.0]])
    with tf.GradientTape(persistent=True) as inner:
        inner.watch(x)
        y = tf.tanh(tf.tanh(x @ w) @ w)
        with tf.GradientTape() as outer:
            outer.watch(w)
            j = inner.batch_jacobian(y, x)
    return j, outer.gradient(j, w)


def case_negative_zeros_stay(tf):
    x = tf.constant([-0.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 1.0 / x
    return tape.jacobian(y, x)


def case_gradients_of_rows_by_a_table(tf):
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))
    w = tf.Variable([1.0, 2.0, 3.0])

    def of_row(row):
        ids, y = row
        with tf.GradientTape() as tape:
            loss = (tf.reduce_sum(tf.gather(table, ids) * w) - y) ** 2
        return tape.gradient(loss, [table, w])

    rows = tf.constant([[0, 1], [2, 2], [3, 0]]), tf.constant([1.0, 2.0, 3.0])
    of_rows = tf.function(lambda: tf.vectorized_map(of_row, rows))
    return tf.vectorized_map(of_row, rows), of_rows()


def case_batch_unconnected_of_another_dtype(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.one_hot(tf.argmax(x, 1), 3)
    return tape.batch_jacobian(y, x), tape.jacobian(y, x, unconnected_gradients="zero")

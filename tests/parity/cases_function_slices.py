"""Slices at places that are known when a function is called."""

import numpy as np

NEEDS = ("function",)

#: Of a vector of 8 or a matrix [8, 3], by an int32 scalar.
SLICES = {
    "one row": lambda tf, x, i: x[i : i + 1],
    "rows": lambda tf, x, i: x[i : i + 3],
    "batch of a number": lambda tf, x, i: x[i * 2 : (i + 1) * 2],
    "batch by multiplied": lambda tf, x, i: x[2 * i : 2 * i + 2],
    "before": lambda tf, x, i: x[i - 1 : i + 1],
    "in steps": lambda tf, x, i: x[i : i + 4 : 2],
    "int64": lambda tf, x, i: x[tf.cast(i, tf.int64) : tf.cast(i, tf.int64) + 2],
    "of a maximum": lambda tf, x, i: x[tf.maximum(i - 2, 0) : i + 1],
    "of a minimum": lambda tf, x, i: x[i : tf.minimum(i + 2, tf.shape(x)[0])],
    "constants": lambda tf, x, i: tf.range(8)[i : i + 2],
    "after an ellipsis": lambda tf, x, i: x[..., i : i + 2],
    "with a new axis": lambda tf, x, i: x[tf.newaxis, i : i + 2],
    "length by value": lambda tf, x, i: (x[i:], x[:i]),
    "step by value": lambda tf, x, i: x[:: i + 4],
    "slice": lambda tf, x, i: tf.slice(x, [i], [tf.minimum(2, 8 - i)]),
    "strided_slice": lambda tf, x, i: tf.strided_slice(x, [i], [i + 2]),
    "strided_slice of stacked": lambda tf, x, i: tf.strided_slice(
        x, tf.stack([i]), tf.stack([i + 2]), [1]
    ),
}
PLACES = (0, 2, 6, 7, 8, -1, -3, 1)


def _slices(body):
    def case(tf):
        x = tf.range(8.0)
        f = tf.function(lambda x, i: body(tf, x, i))
        return [f(x, tf.constant(i)) for i in PLACES]

    return case


CASES = {f"slice {name}": _slices(body) for name, body in SLICES.items()}


def case_slices_of_a_matrix(tf):
    f = tf.function(lambda x, i, j: (x[i : i + 2, j : j + 1], x[j, i : i + 2], x[i : i + 2, j]))
    x = tf.reshape(tf.range(9.0), [3, 3])
    return [f(x, tf.constant(i), tf.constant(j)) for i in (0, 1, 2) for j in (0, 2)]


def case_slices_in_loops(tf):
    @tf.function
    def f(x, n):
        total = tf.zeros([2])
        for i in tf.range(n):
            total += x[2 * i : 2 * i + 2]
        j = tf.constant(0)
        while j < n:
            total += x[j : j + 2]
            j += 1
        return total

    return f(tf.range(8.0), 3), f(tf.range(8.0), 4)


def case_gradients_of_slices(tf):
    @tf.function
    def f(x, i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[i : i + 3] ** 2)
        return y, tape.gradient(y, x)

    found = []
    for i in (1, 4, 3, 2):
        x = tf.range(5.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(i))[0]
        found.append((f(x, tf.constant(i)), tape.gradient(y, x)))
    return found


def case_slices_of_unknown_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    def f(x, i):
        return x[i : i + 2]

    return [f(np.arange(n, dtype="float32"), i) for n, i in ((4, 1), (3, 1), (3, 2), (6, 4))]


def case_slices_of_variables(tf):
    v = tf.Variable(tf.zeros([4, 2]))
    place = tf.Variable(1)

    @tf.function
    def f(i):
        v[i : i + 2, 1].assign([1.0, 2.0])
        v[place : place + 1].assign(v[place : place + 1] + 1.0)
        return v[place : place + 1], v[i : i + 2]

    return f(tf.constant(0)), f(tf.constant(2)), v


def case_assigning_outside(tf):
    v = tf.Variable(tf.zeros([4]))
    count = tf.Variable(0)

    @tf.function
    def f(i):
        count.assign_add(1)
        v[i : i + 2].assign([1.0])
        count.assign_add(1)

    for i in (3, 1, 4):
        f(tf.constant(i))
    return v, count


def case_called_within_a_function(tf):
    @tf.function
    def part(x, i):
        return x[i : i + 2]

    @tf.function
    def f(x, i):
        return tf.reduce_sum(part(x, i))

    return [f(tf.range(4.0), tf.constant(i)) for i in (0, 1, 2, 3, 4)]

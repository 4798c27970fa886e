"""Conditionals, loops and TensorArrays: in eager code, in functions, and under tapes."""

import numpy as np
import pytest

import tape_compat as tf


def run_both(function, *args):
    """What a function gives in eager code and as a `tf.function`, with gradients of the sum of its
    results by the float arguments."""
    tensors = [tf.constant(a) for a in args]
    found = []
    for call in (function, tf.function(function)):
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            results = tf.nest.flatten(call(*tensors))
            total = tf.add_n([tf.reduce_sum(r) for r in results if r.dtype.is_floating])
        gradients = tape.gradient(total, tensors)
        found.append([None if x is None else x.numpy() for x in (*results, *gradients)])
    return found


def agree(function, *args):
    eager, recorded = run_both(function, *args)
    for x, y in zip(eager, recorded, strict=True):
        if x is None or y is None:
            assert x is y
        else:
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_cond():
    def branches(x, y):
        return tf.cond(x > y, lambda: (x * y, {"a": x}), lambda: (y * y, {"a": y - x}))

    agree(branches, 3.0, 2.0)
    agree(branches, 1.0, 2.0)


def test_cond_gradient_is_none_for_what_no_branch_reads():
    agree(lambda x, y, z: tf.cond(x > y, lambda: x * 2.0, lambda: x), 3.0, 2.0, 1.0)


def test_cond_assigns_in_one_branch():
    v = tf.Variable(1.0)

    @tf.function
    def step(x):
        return tf.cond(x > 0.0, lambda: v.assign_add(x) * 2.0, lambda: x)

    assert step(tf.constant(3.0)).numpy() == 8.0 and v.numpy() == 4.0
    assert step(tf.constant(-3.0)).numpy() == -3.0 and v.numpy() == 4.0


def test_branches_that_differ():
    @tf.function
    def dtypes(x):
        return tf.cond(x > 0.0, lambda: 1, lambda: 1.0)

    @tf.function
    def structures(x):
        return tf.cond(x > 0.0, lambda: (x, x), lambda: x)

    for function in (dtypes, structures):
        with pytest.raises(TypeError, match="true_fn and false_fn arguments to tf"):
            function(tf.constant(1.0))


def power(x, n):
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, 1.0))[1]


def test_loops_of_known_and_unknown_length():
    agree(lambda x: power(x, 5), 2.0)
    agree(power, 2.0, 5)
    assert tf.function(power)(tf.constant(2.0), tf.constant(0)).numpy() == 1.0


def test_second_derivative_of_an_unknown_length():
    x = tf.constant(2.0)
    function = tf.function(power)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x, tf.constant(5))
        first = inner.gradient(y, x)
    assert (first.numpy(), outer.gradient(first, x).numpy()) == (80.0, 160.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = function(x, tf.constant(5))
    assert accumulator.jvp(y).numpy() == 80.0


def recurrent(xs, w, write_at=lambda i: i):
    inputs = tf.TensorArray(tf.float32, size=4).unstack(xs)
    outputs = tf.TensorArray(tf.float32, size=4)

    def body(i, state, outputs):
        state = tf.tanh(tf.linalg.matvec(w, state) + inputs.read(i))
        return i + 1, state, outputs.write(write_at(i), state)

    _, state, outputs = tf.while_loop(
        lambda i, *_: i < 4, body, (0, tf.zeros([3]), outputs), maximum_iterations=10
    )
    return state, outputs.stack()


def test_tensor_arrays_in_loops():
    rng = np.random.default_rng(0)
    xs, w = (rng.normal(size=s).astype("float32") for s in ([4, 3], [3, 3]))
    agree(recurrent, xs, w)
    agree(lambda xs, w: recurrent(xs, w, lambda i: 3 - i), xs, w)


def test_each_turn_draws_other_numbers():
    @tf.function
    def drawn(n):
        def body(i, array):
            return i + 1, array.write(i, tf.random.uniform([2]))

        array = tf.TensorArray(tf.float32, size=6)
        return tf.while_loop(lambda i, *_: i < n, body, (0, array))[1].stack()

    first, second = drawn(tf.constant(4)).numpy(), drawn(tf.constant(4)).numpy()
    assert len({*first[:4].ravel(), *second[:4].ravel()}) == 16
    assert not first[4:].any()

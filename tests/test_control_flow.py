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


def test_arrays_that_grow_in_loops():
    @tf.function(autograph=False)
    def grown(x, n):
        def body(i, array):
            return i + 1, array.write(i, x * tf.cast(i, tf.float32))

        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        _, array = tf.while_loop(lambda i, _: i < n, body, (0, array))
        return array.stack(), array.size()

    stacked, size = grown(tf.constant([1.0, 2.0]), 3)
    assert stacked.numpy().tolist() == [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]] and size.numpy() == 3


def test_rows_of_a_loop_of_unknown_length():
    """In the order of rows, or against it; of arrays and of tensors."""
    rng = np.random.default_rng(0)
    xs = rng.normal(size=[70, 3]).astype("float32")

    def some(xs, n, backwards=False):
        array = tf.TensorArray(tf.float32, size=70, element_shape=[3]).unstack(xs)

        def body(i, state, array):
            row = 69 - i if backwards else i
            state = tf.tanh(state + xs[row])
            return i + 1, state, array.write(row, state * 2.0)

        first = (0, tf.zeros([3]), array)
        return tf.while_loop(lambda i, *_: i < n, body, first)[2].stack()

    for n in (5, 70):
        agree(some, xs, n)
    agree(lambda xs, n: some(xs, n, backwards=True), xs, 66)


def test_a_turn_costs_the_same_in_longer_loops(counted):
    """A body that reads and writes rows carries neither array: `lax.scan` has rows of both."""
    xs = tf.ones([6, 3])

    @tf.function
    def rows(xs, w):
        state, array = tf.zeros([3]), tf.TensorArray(tf.float32, size=6)
        for i in tf.range(6):
            state = tf.tanh(state * w + xs[i])
            array = array.write(i, state)
        return array.stack()

    graph = rows.get_concrete_function(xs, tf.ones([3]))
    rows(xs, tf.ones([3]))
    steps = next(iter(rows._traces.values())).captured.closure.flat.steps
    (loop,) = [step.closure for step in steps if step.closure.name == "While"]
    assert graph is not None
    assert (type(loop).__name__, loop.settings) == ("Scan", (2, 1, 6))


def test_nested_loops_and_their_derivatives():
    def nested(x, n):
        def inner(y):
            return tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, z * x), (0, y))[1]

        return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, inner(y)), (0, x))[1]

    agree(nested, 1.1, 3)
    x = tf.constant(1.1)
    function = tf.function(nested)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, tf.constant(3))  # x ** 7
        first = tape.gradient(y, x)
    np.testing.assert_allclose(first, 7 * 1.1**6, rtol=1e-5)
    np.testing.assert_allclose(outer.gradient(first, x), 42 * 1.1**5, rtol=1e-5)


def test_loops_of_more_turns_than_one_scan():
    def product(x, n):
        return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * x), (0, 1.0))[1]

    agree(product, 1.001, 300)


def test_jacobian_of_a_loop_of_unknown_length():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(power)(x[0], tf.constant(3)) * x
    np.testing.assert_allclose(tape.jacobian(y, x), [[4.0, 0.0], [6.0, 1.0]])


def test_map_scan_and_folds():
    rng = np.random.default_rng(0)
    xs = rng.normal(size=[5, 2]).astype("float32")

    def all_of(xs):
        return (
            tf.map_fn(lambda x: tf.reduce_sum(x * x), xs),
            tf.scan(lambda a, x: a * 0.5 + x, xs),
            tf.scan(lambda a, x: a * 0.5 + x, xs, reverse=True),
            tf.foldl(lambda a, x: a * x + x, xs),
            tf.foldr(lambda a, x: a * x + x, xs),
            tf.vectorized_map(lambda x: x * tf.reduce_max(x), xs),
        )

    agree(all_of, xs)


def test_vectorized_map_draws_for_each_row():
    drawn = tf.vectorized_map(lambda x: x + tf.random.uniform([2]), tf.zeros([3, 2])).numpy()
    assert len(set(drawn.ravel())) == 6


def test_vectorized_map_of_loops_of_several_lengths():
    """Each row stops by itself."""

    def until(x):
        return tf.while_loop(lambda y: y < 10.0, lambda y: (y * x,), (1.0,))[0]

    x = tf.constant([2.0, 3.0, 1.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(until, x)
    np.testing.assert_allclose(y, [16.0, 27.0, 1.5**6], rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x), [32.0, 27.0, 6 * 1.5**5], rtol=1e-5)


def test_effects_in_loops_and_branches(capfd):
    @tf.function(autograph=False)
    def shown(x, n):
        def body(i, y):
            tf.cond(i % 2 == 0, lambda: tf.print("turn", i), lambda: tf.no_op())
            return i + 1, y * x

        return tf.while_loop(lambda i, _: i < n, body, (0, 1.0))[1]

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = shown(x, tf.constant(3))
    assert tape.gradient(y, x).numpy() == 12.0
    assert capfd.readouterr().err.split("\n")[:-1] == ["turn 0", "turn 2"]


def test_variables_in_loops():
    v, total = tf.Variable(1.0), tf.Variable(0.0)

    @tf.function(autograph=False)
    def counted_up(n):
        def body(i):
            total.assign_add(v * 2.0)
            v.assign_add(1.0)
            return (i + 1,)

        tf.while_loop(lambda i: i < n, body, (0,))
        return total.read_value()

    assert counted_up(tf.constant(3)).numpy() == 12.0
    assert (v.numpy(), total.numpy()) == (4.0, 12.0)


def test_custom_gradients_and_tapes_in_loops():
    @tf.custom_gradient
    def doubled(x):
        return x * 2.0, lambda upstream: upstream * 10.0

    def own(x, n):
        return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, doubled(y)), (0, x))[1]

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(own)(x, tf.constant(2))
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (4.0, 100.0)

    def descended(x, n):
        def body(i, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return i + 1, x - 0.25 * tape.gradient(y, x)

        return tf.while_loop(lambda i, _: i < n, body, (0, x))[1]

    agree(descended, 8.0, 3)


def test_custom_gradients_in_branches_in_forward_mode():
    @tf.custom_gradient
    def square(x):
        return x * x, lambda upstream: upstream * 20.0 * x

    @tf.function
    def f(x):
        y = tf.cond(x > 0.0, lambda: square(x), lambda: x)
        return y, tf.recompute_grad(square)(x)

    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = f(x)
    assert [t.numpy() for t in accumulator.jvp(y)] == [60.0, 60.0]


def test_a_branch_that_sizes_rule_out_need_not_be_possible():
    """Keras' associative_scan has such branches; TensorFlow does not know the sizes in it."""

    @tf.function
    def joined(x, y):
        same = tf.equal(x.shape[0], tf.shape(y)[0])
        return tf.cond(same, lambda: x + y, lambda: tf.concat([x, y], 0))

    assert joined(tf.ones(2), tf.ones(3)).numpy().tolist() == [1.0] * 5
    assert joined(tf.ones(2), tf.ones(2)).numpy().tolist() == [2.0] * 2

    @tf.function
    def wrong(x, y):
        return tf.cond(tf.equal(tf.shape(x)[0], 2), lambda: x + y, lambda: x)

    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong(tf.ones(2), tf.ones(3))

"""Reverse derivatives of loops of unknown length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.loop_pullbacks import Layout, _backwards, differentiable
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.values.capture import value_of

pytestmark = pytest.mark.modeless


@pytest.mark.parametrize(
    ("count", "bound", "most"),
    [(0, None, 0), (1, 1, 0), (7, 7, 6), (64, None, 63), (65, None, 64), (300, None, 600)],
)
def test_each_iteration_is_pulled_once_from_its_state(count, bound, most):
    """The last one first; each is done again as seldom as the states that are kept allow."""
    advanced = 0

    def advance(i, state):
        nonlocal advanced

        def note():
            nonlocal advanced
            advanced += 1

        jax.debug.callback(note)
        return (state[0] + 2,)

    def pull(i, state, found):
        pulled, wrong = found
        return pulled + 1, wrong + (state[0] != 2 * i) + (i != count - 1 - pulled)

    zero = jnp.zeros((), jnp.int32)
    run = jax.jit(lambda n: _backwards(n, bound, (zero,), advance, pull, (zero, zero)))
    pulled, wrong = run(np.int32(count))
    jax.effects_barrier()
    assert (int(pulled), int(wrong)) == (count, 0) and advanced <= most


def rows_of(count):
    """A loop that takes rows and gives rows, and the same without a loop."""

    def body(i, state, x, w):
        new = jnp.sin(state) * w + x
        return i + 1, new, new * x

    def loop(state, xs, given, w):
        parts = (lambda i, state, w: (i < count,)), body
        first = jnp.zeros((), jnp.int32)
        found = differentiable(parts, Layout(2, 1, 1, 4))(None, first, state, xs, given, w)
        return found[1], found[2]

    def written_out(state, xs, given, w):
        for i in range(count):
            _, state, row = body(i, state, xs[i], w)
            given = given.at[i].set(row)
        return state, given

    return loop, written_out


@pytest.mark.parametrize("count", [0, 2])
def test_derivatives_of_any_order(count):
    rng = np.random.default_rng(0)
    values = [rng.normal(size=shape) for shape in ([2], [4, 2], [4, 2], [2])]

    def scalar(function, order, places):
        def total(*arrays):
            return sum(jnp.sum(jnp.cos(x)) for x in function(*arrays))

        for place in places[:order]:
            total = (lambda f, k: lambda *a: jnp.sum(jnp.cos(jax.grad(f, k)(*a))))(total, place)
        return jax.grad(total, (0, 1, 2, 3))

    @jax.jit
    def of_both(*values):
        """Of each order those of the loop and of what is written out."""
        return [
            [scalar(f, order, places)(*values) for f in rows_of(count)]
            for order, places in [(0, ()), (1, (0,)), (1, (2,)), (2, (1, 3))]
        ]

    for found, wanted in in_x64(of_both, *values):
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def test_a_batch_of_loops_of_several_lengths():
    """Those that have ended do nothing more, which may be NaN if it were differentiated."""

    def until(y, x):
        body = lambda y, x: (jnp.sqrt(y - 1.0) + x,)
        return differentiable((lambda y, x: (y > 1.5,), body), Layout(1, 0, 0, None))(None, y, x)[0]

    def written_out(y, x):
        while y > 1.5:
            y = jnp.sqrt(y - 1.0) + x
        return y

    ys, xs = jnp.array([1.2, 3.0, 40.0]), jnp.array([0.1, 0.2, 0.3])
    found = jax.vmap(jax.grad(until, (0, 1)))(ys, xs)
    wanted = zip(*[jax.grad(written_out, (0, 1))(y, x) for y, x in zip(ys, xs)])
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def inside(params):
    """The jaxprs in the parameters of an equation."""
    leaves = jax.tree.leaves(params, is_leaf=lambda x: hasattr(x, "eqns"))
    return [x for x in leaves if hasattr(x, "eqns")]


def count_of(jaxpr, name):
    """How many equations of this primitive are in a jaxpr and in those inside it."""
    return sum(
        (equation.primitive.name == name)
        + sum(count_of(inner, name) for inner in inside(equation.params))
        for equation in jaxpr.eqns
    )


def nested(x, n):
    def inner(y):
        return tf.while_loop(lambda j, _: j < n, lambda j, z: (j + 1, z * x), (0, y))[1]

    return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, inner(y)), (0, x))[1]


def test_second_derivative_of_loops_in_loops_has_few_loops():
    """Their number says what it takes to compile them."""
    function = tf.function(nested)
    x = tf.constant(1.1)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, tf.constant(3))  # x ** 10
        first = tape.gradient(y, x)
    np.testing.assert_allclose(first, 10 * 1.1**9, rtol=1e-5)
    np.testing.assert_allclose(outer.gradient(first, x), 90 * 1.1**8, rtol=1e-5)
    captured = next(iter(function._traces.values())).captured
    more = [value_of(source).numpy() for source in captured.sources]

    def value(x):
        return captured.closure.pure(x, np.int32(3), *more)[0]

    counts = []
    for derivative in (value, jax.grad(value), jax.grad(jax.grad(value))):
        jaxpr = in_x64(jax.make_jaxpr(derivative), np.float32(1.1)).jaxpr
        counts.append(count_of(jaxpr, "while"))
        assert count_of(jaxpr, "scan") == 0
    assert counts == [2, 8, 27]


def test_functional_loops_have_derivatives_in_any_mode():
    pure = tf.engine.functional(tf.function(nested))
    state = pure.init(tf.constant(1.1), tf.constant(2))

    def value(x):
        return pure(state, x, np.int32(2))[0]  # x ** 5

    @jax.jit
    def derivatives(x):
        return jax.jvp(value, (x,), (jnp.ones_like(x),))[1], jax.hessian(value)(x)

    wanted = 5 * 1.1**4, 20 * 1.1**3
    np.testing.assert_allclose(derivatives(jnp.float32(1.1)), wanted, rtol=1e-5)

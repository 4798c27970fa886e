"""Running log(sum(exp(x))) by steps: values and derivatives of every order, by its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import running_logsumexp
from tape_compat._src.ops.running_logsumexp import cumulative_logsumexp

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA's form is taken")
RNG = np.random.default_rng(0)
INF, NAN = np.inf, np.nan
#: An axis that is taken as a whole, ones that are cut into blocks, with and without a rest.
SHAPES = [((1,), 0), ((7, 3), 0), ((3, 256), -1), ((257, 2), 0), ((2, 400, 3), 1), ((5003,), 0)]


def own(function):
    return jax.jit(tracing(True, function))


@pytest.mark.modeless
@pytest.mark.parametrize("shape, axis", SHAPES)
def test_values(shape, axis):
    """Also where sums would overflow, and where the largest comes last."""
    run = own(lambda x: cumulative_logsumexp(x, axis))
    for scale in (1.0, 300.0):
        x = np.sort(RNG.normal(size=shape), axis) * scale
        for rows in (x, np.flip(x, axis), RNG.permuted(x, axis=axis)):
            wanted = np.logaddexp.accumulate(rows, axis)
            np.testing.assert_allclose(in_x64(run, rows), wanted, rtol=1e-13, atol=1e-13)
            single = run(rows.astype(np.float32))
            np.testing.assert_allclose(single, wanted, rtol=3e-6, atol=3e-6)


@pytest.mark.modeless
@pytest.mark.parametrize("n", [3, 700])
def test_infinities_and_nan(n):
    run = own(lambda x: cumulative_logsumexp(x, 0))
    for first in ([-INF, -INF, 1.0], [INF, 1.0, -INF], [1.0, INF, INF], [1.0, NAN, 2.0]):
        for start in (0, n - 3):
            x = np.zeros(n, np.float32)
            x[start : start + 3] = first
            with np.errstate(invalid="ignore"):
                wanted = np.logaddexp.accumulate(x.astype(np.float64))
            np.testing.assert_allclose(run(x), wanted, rtol=1e-6, atol=1e-6)
    nothing = run(np.full(n, -INF, np.float32))
    np.testing.assert_array_equal(nothing, np.full(n, -INF))


@pytest.mark.modeless
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes_and_nothing(dtype):
    for shape in ((0,), (2, 0), (0, 3), (4, 300)):
        x = np.zeros(shape) if dtype == "float64" else jnp.zeros(shape, dtype)
        found = in_x64(own(lambda x: cumulative_logsumexp(x, -1)), x)
        assert found.dtype == dtype and found.shape == shape
        wanted = np.broadcast_to(np.log(np.arange(1.0, shape[-1] + 1)), shape)
        rtol = {"float16": 1e-3, "bfloat16": 8e-3}.get(dtype, 1e-6)
        np.testing.assert_allclose(np.asarray(found, float), wanted, rtol=rtol)


def by_definition(x, axis):
    """Each by itself, which XLA compiles faster than its scan of 300."""
    x = jnp.moveaxis(x, axis, -1)
    before = jnp.tri(x.shape[-1], dtype=bool)
    return jnp.moveaxis(jax.nn.logsumexp(x[..., None, :], axis=-1, where=before), -1, axis)


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("shape, axis", [*SHAPES[:2], ((300, 2), 0), ((2, 277), 1)])
def test_derivatives_are_those_of_the_definition(shape, axis):
    x, weights, along = RNG.normal(size=(3, *shape)) * 3

    def derivatives(f, x):
        def loss(x):
            return jnp.sum(weights * f(x))

        slope = jax.grad(loss)
        second = jax.grad(lambda x: jnp.sum(slope(x) ** 2))
        rows = jax.vmap(slope)(jnp.stack([x, -x]))
        return slope(x), second(x), jax.jvp(f, (x,), (along,))[1], rows

    given = [own(lambda x: derivatives(lambda x: cumulative_logsumexp(x, axis), x))]
    given += [jax.jit(lambda x: derivatives(lambda x: by_definition(x, axis), x))]
    for ours, wanted in zip(*[in_x64(f, x) for f in given], strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.modeless
def test_gradients_are_finite_beside_infinities():
    """XLA's form has exp(1) and more there, which are no shares of a sum."""
    x = np.array([-INF, 1.0, INF, 2.0] + [0.0] * 300, np.float32)

    def slope(x):
        return jax.grad(lambda x: jnp.sum(jnp.exp(-cumulative_logsumexp(x, 0)[1:2])))(x)

    np.testing.assert_allclose(own(slope)(x)[:4], [0.0, -np.exp(-1.0), 0.0, 0.0], rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("form", [True, False])
def test_derivatives_are_the_same_in_both_forms(form, axis):
    """What is interpreted or exported has XLA's form, of which the derivative is ours too."""
    share = 1 / (1 + np.e)
    cases = [
        ([-INF, 1.0, INF, 2.0], [1.0, 2.0, 7.0, 0.0]),
        ([INF, 1.0, -INF, 2.0], [10.0, 0.0, 0.0, 0.0]),
        ([1.0, INF, INF, 3.0], [1.0, 9.0, 7.0, 0.0]),
        ([-INF, -INF, 1.0, 2.0], [3.0, 2.0, 3 + 4 * share, 4 - 4 * share]),
        ([-INF, 2.0, -INF, 1.0], [1.0, 9 - 4 * share, 0.0, 4 * share]),
    ]
    x, wanted = (np.array(rows) for rows in zip(*cases, strict=True))
    weights = np.broadcast_to(np.arange(1.0, 5.0), x.shape)
    if axis == 0:
        x, wanted, weights = x.T, wanted.T, weights.T

    def slope(x, weights):
        return jax.vjp(lambda x: cumulative_logsumexp(x, axis), x)[1](weights)[0]

    found = in_x64(jax.jit(tracing(form, slope)), x, weights)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_step_takes_the_sum_once(monkeypatch, deferred):
    """The gradient has what the value was made with."""
    noted, steps = [], running_logsumexp._steps
    monkeypatch.setattr(running_logsumexp, "_steps", lambda x: (noted.append(x.shape), steps(x))[1])

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.cumulative_logsumexp(x, reverse=True)
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, x)

    x = RNG.normal(size=(900, 2)).astype(np.float32)
    for _ in range(3):
        found = step(tf.constant(x))
    assert noted == [(30, 30, 2), (30, 2)]
    y = np.flip(np.logaddexp.accumulate(np.flip(x, 0).astype(np.float64), 0), 0)
    wanted = np.exp(x) * np.cumsum(2 * y * np.exp(-y), 0)
    np.testing.assert_allclose(found[0], y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], wanted, rtol=1e-4, atol=1e-5)

"""Functions of pairs by a kernel in C: how exact, their ends, derivatives, where it is called."""

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special as scipy
from jax import lax

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import special_pairs
from tape_compat._src.ops.kernel_derivatives import random_gamma_grad
from tests.test_interpret import QUICK

TARGET = "tape_compat_special"
pytestmark = pytest.mark.skipif(
    not special_pairs.available(), reason="not built, or for another processor"
)

RNG = np.random.default_rng(0)
NAMES = ("igamma", "igammac", "zeta", "polygamma")
SCIPY = {"igamma": scipy.gammainc, "igammac": scipy.gammaincc, "zeta": scipy.zeta}
SCIPY["polygamma"] = lambda n, x: scipy.polygamma(n.astype(int), x)
INF, NAN = np.inf, np.nan


def by_kernel(function):
    return jax.jit(tracing(True, function))


def inputs(name, n=4000):
    near = np.exp(RNG.normal(size=n) * 0.3)
    if name in ("igamma", "igammac"):
        a = np.concatenate([RNG.uniform(0.01, 3, n), 10.0 ** RNG.uniform(-3, 3, n)])
        return a, a * np.concatenate([RNG.uniform(0.01, 3, n), near])
    x, q = RNG.uniform(1.01, 12, 2 * n), 10.0 ** RNG.uniform(-2, 3, 2 * n)
    return (np.floor(x) if name == "polygamma" else x), q


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    arrays = inputs(name)
    wanted = SCIPY[name](*arrays)
    kept = np.abs(wanted) > 1e-200  # SciPy's own errors grow below
    run = by_kernel(getattr(special_pairs, name))
    found = in_x64(run, *arrays)
    np.testing.assert_allclose(found[kept], wanted[kept], rtol=3e-12)
    single = [x.astype(np.float32) for x in arrays]
    wanted = SCIPY[name](*[x.astype(np.float64) for x in single])
    kept = (np.abs(wanted) > 1e-37) & (np.abs(wanted) < 1e38)
    np.testing.assert_allclose(np.asarray(run(*single))[kept], wanted[kept], rtol=1.3e-7)


@pytest.mark.parametrize("name", NAMES)
def test_a_few_values_to_the_last_digits(name):
    """From mpmath, with 40 digits."""
    known = {
        "igamma": [(0.5, 0.3, 0.56142197391900014), (30.0, 20.0, 0.021818217525557392)],
        "igammac": [(0.5, 3.0, 0.01430587843542964), (30.0, 45.0, 0.0073371992977965036)],
        "zeta": [(1.5, 0.25, 10.213055360466601), (9.0, 9.4, 3.0597092901803817e-9)],
        "polygamma": [(1.0, 0.5, 4.9348022005446793), (6.0, 2.5, -1.3180061075500352)],
    }[name]
    arrays = [np.repeat([row[i] for row in known], 40) for i in range(2)]
    found = in_x64(by_kernel(getattr(special_pairs, name)), *arrays)
    np.testing.assert_allclose(found, np.repeat([row[2] for row in known], 40), rtol=2e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeta_below_zero(dtype):
    """Against its sum, up to the poles term by term. TensorFlow's of float32 is another."""
    q = -np.concatenate([10.0 ** RNG.uniform(-2, 2.5, 200), np.arange(20) + 0.5]).astype(dtype)
    whole = -np.floor(q).astype(np.float64)
    for x in (2, 3, 5, 12):
        terms = (q.astype(np.float64)[:, None] + np.arange(400)) ** -float(x)
        left = np.where(np.arange(400) < whole[:, None], terms, 0)
        rest = scipy.zeta(x, q + whole)
        wanted, scale = left.sum(1) + rest, np.maximum(np.abs(left).max(1), rest)
        for kernel in (True, False):
            run = jax.jit(tracing(kernel, special_pairs.zeta))
            found = np.asarray(in_x64(run, np.full_like(q, x), q), np.float64)
            error = np.abs(found - wanted) / scale
            assert error.max() < (1e-6 if dtype == "float32" else 1e-13)


@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_ends(name, dtype):
    """The kernel and XLA's form give the same; the parity cases compare that with TensorFlow's."""
    one = np.array([0.0, -0.0, 1.0, 2.0, -1.0, -0.5, INF, -INF, NAN, 1e-30, 7.5, 3.0], dtype)
    arrays = [x.ravel() for x in np.meshgrid(one, one)]
    function = getattr(special_pairs, name)
    ours = in_x64(by_kernel(function), *arrays)
    xla = in_x64(jax.jit(tracing(False, function)), *arrays)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(ours, xla, rtol=tolerance, atol=tolerance / 10)


def test_incomplete_beta_function():
    n = 4000
    a, b = (np.concatenate([RNG.uniform(0.05, 3, n), 10 ** RNG.uniform(-2, 3, n)]) for _ in "ab")
    x = np.clip(a / (a + b) * np.exp(RNG.normal(size=2 * n) * 0.2), 1e-6, 0.999)
    x[:n] = RNG.uniform(0.001, 0.999, n)
    run = by_kernel(special_pairs.betainc)
    wanted = scipy.betainc(a, b, x)
    kept = wanted > 1e-200
    np.testing.assert_allclose(in_x64(run, a, b, x)[kept], wanted[kept], rtol=2e-11)
    np.testing.assert_allclose(in_x64(run, a[:n], b[:n], x[:n]), wanted[:n], rtol=1e-13)
    single = [v.astype(np.float32) for v in (a, b, x)]
    wanted = scipy.betainc(*[v.astype(np.float64) for v in single])
    kept = wanted > 1e-37
    np.testing.assert_allclose(np.asarray(run(*single))[kept], wanted[kept], rtol=2e-7)
    one = np.array([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, INF, NAN, 50.5], np.float32)
    few = np.array([0.0, -0.0, 1.0, 0.5, -0.1, 1.5, NAN], np.float32)
    ends = [v.ravel() for v in np.meshgrid(one, one, few)]
    xla = jax.jit(tracing(False, special_pairs.betainc))
    np.testing.assert_allclose(run(*ends), xla(*ends), rtol=1e-5, atol=1e-6)
    slope = by_kernel(jax.grad(lambda x: jnp.sum(special_pairs.betainc(a[:n], b[:n], x))))
    between = x[:n].clip(0.05, 0.95)
    sides = [scipy.betainc(a[:n], b[:n], between + side) for side in (1e-6, -1e-6)]
    found = in_x64(slope, between)
    np.testing.assert_allclose(found, (sides[0] - sides[1]) / 2e-6, rtol=1e-5, atol=1e-8)


def test_derivative_of_incomplete_gamma_by_its_order():
    a, x = inputs("igamma", 300)
    ours = in_x64(by_kernel(special_pairs.igamma_grad_a), a, x)
    wanted = in_x64(jax.jit(lax.igamma_grad_a), a, x)
    np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-14)
    for end, value in (([2.0, 0.0], 0.0), ([2.0, INF], 0.0), ([INF, 2.0], 0.0), ([-1.0, 1.0], NAN)):
        pair = [np.full(70, v) for v in end]
        np.testing.assert_array_equal(in_x64(by_kernel(special_pairs.igamma_grad_a), *pair), value)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_differences(name):
    first, second = (x[:200].reshape(2, 100) for x in inputs(name))
    function, step = getattr(special_pairs, name), 1e-6

    def total(*arrays):
        return jnp.sum(function(*arrays))

    slopes = in_x64(by_kernel(jax.grad(total, (0, 1))), first, second)
    for i, slope in enumerate(slopes):
        ahead, behind = [first, second], [first, second]
        width = step * np.minimum(1, [first, second][i])
        ahead[i], behind[i] = [first, second][i] + width, [first, second][i] - width
        wanted = (SCIPY[name](*ahead) - SCIPY[name](*behind)) / (2 * width)
        if i == 0 and name in ("zeta", "polygamma"):
            wanted = np.zeros_like(slope)  # none in TensorFlow
        np.testing.assert_allclose(slope, wanted, rtol=2e-5, atol=1e-7)


def test_derivatives_of_second_order():
    a, x = (v[:100] for v in inputs("igamma"))

    def by_x(a, x):
        return jnp.sum(jax.grad(lambda x: jnp.sum(special_pairs.igamma(a, x)))(x))

    def by_a(a, x):
        return jnp.sum(jax.grad(lambda a: jnp.sum(special_pairs.igamma(a, x)))(a))

    mixed = in_x64(by_kernel(jax.grad(by_x)), a, x), in_x64(by_kernel(jax.grad(by_a, 1)), a, x)
    np.testing.assert_allclose(*mixed, rtol=1e-9)
    with pytest.raises(NotImplementedError, match="no second derivative by `a`"):
        in_x64(by_kernel(jax.grad(by_a)), a, x)


def test_short_floats_and_batches():
    a, x = (jnp.asarray(v[:600].reshape(6, 100), jnp.bfloat16) for v in inputs("igamma"))
    found = by_kernel(special_pairs.igamma)(a, x)
    wanted = scipy.gammainc(np.asarray(a, float), np.asarray(x, float))
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(np.asarray(found, float), wanted, rtol=4e-3)
    rows = by_kernel(jax.vmap(special_pairs.igamma, (0, None)))(a, x[0])
    np.testing.assert_array_equal(rows[0], found[0])


def test_wrong_arrays_are_refused():
    def call(numbers, *arrays):
        made = jax.ShapeDtypeStruct((4,), np.float32)
        return jax.ffi.ffi_call(TARGET, made)(*arrays, numbers=np.array(numbers, "int64"))

    x = jnp.ones(4)
    assert call([0], x, x).shape == (4,)
    for numbers, arrays in (
        ([5], [x, x]),
        ([7], [x, x]),
        ([-1], [x, x]),
        ([0, 0], [x, x]),
        ([0], [x]),
        ([0], [x, x[:3]]),
        ([0], [x, x.astype(np.int32)]),
        ([0], [x, x, x]),
        ([5], [x, x, x[:3]]),
    ):
        with pytest.raises(Exception, match="of two arrays or of three"):
            jax.block_until_ready(call(numbers, *arrays))


@pytest.mark.compiled
def test_programs_call_it_and_exports_do_not(monkeypatch, deferred):
    noted, call = [], special_pairs._call

    def noting(number, *arrays):
        noted.append(number)
        return call(number, *arrays)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.igamma(x, 2.0) * tf.math.zeta(x + 1, x) + tf.math.polygamma(1.0, x)
        return tape.gradient(y, x)

    monkeypatch.setattr(special_pairs, "_call", noting)
    x = RNG.uniform(0.5, 2, (3, 71)).astype(np.float32)  # no other test has compiled it
    step = tf.function(slope, jit_compile=True)
    found = [step(tf.constant(x)) for _ in range(3)][-1]
    assert set(noted) == {0, 2, 3, 4}
    pure = tf.engine.functional(slope)
    state = pure.init(x)
    exported = jax.export.export(jax.jit(pure))(state, x)
    assert TARGET not in exported.mlir_module()
    np.testing.assert_allclose(exported.call(state, x)[0], found, rtol=1e-4)


@pytest.mark.interpreted
def test_sizes_that_are_new_compile_nothing(counted):
    """Nor does a program whose arrays are small compile XLA's loops."""
    by_two = (tf.math.igamma, tf.math.igammac, tf.math.zeta, tf.math.polygamma, random_gamma_grad)
    for n in range(3, 9):
        a, x = tf.range(1.0, n) + 1, tf.linspace(0.5, 0.9, n - 1)
        found = [function(a, x) for function in by_two]
        found += [tf.math.betainc(a, a, x), tf.math.bessel_i0e(x), tf.math.bessel_i1(x)]
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.math.igamma(a, x)
        found.append(tape.gradient(y, a))
        assert all(np.isfinite(value).all() for value in found)
    assert counted()["op_compiles"] == 0 and counted()["compiles"] == 0
    program = by_kernel(special_pairs.igamma).lower(jnp.ones(3), jnp.ones(3)).as_text()
    assert TARGET in program and "while" not in program


@pytest.mark.parametrize("kernel", [False, True])
def test_gamma_of_large_orders(kernel):
    """By XLA, whose series never ended there, and by the kernel; TensorFlow's are of 2000 terms."""

    def run(function):
        return np.asarray(in_x64(jax.jit(tracing(kernel, function)), a, x))

    n = 20
    a = np.concatenate([10.0 ** RNG.uniform(6, 13, n), [1e20, 1e300, 1e20, 1e20]])
    x = np.concatenate([a[:n] + np.sqrt(a[:n]) * RNG.normal(size=n), [1e20, 1e300, 1e19, 1e21]])
    lower, upper = run(special_pairs.igamma), run(special_pairs.igammac)
    by_order = run(lambda a, x: jax.grad(lambda a: jnp.sum(special_pairs.igamma(a, x)))(a))
    np.testing.assert_allclose(lower[:n], scipy.gammainc(a, x)[:n], rtol=1e-9)
    np.testing.assert_allclose(upper[:n], scipy.gammaincc(a, x)[:n], rtol=1e-9)
    np.testing.assert_allclose(lower[n:], [0.5, 0.5, 0, 1], rtol=1e-9)
    np.testing.assert_allclose(by_order[n:], [-1 / np.sqrt(2e20 * np.pi), 0, 0, 0], atol=1e-140)
    step = 1e-3 * np.sqrt(a[:n])
    change = scipy.gammainc(a[:n] + step, x[:n]) - scipy.gammainc(a[:n] - step, x[:n])
    np.testing.assert_allclose(by_order[:n], change / (2 * step), rtol=1e-5)
    moved = run(special_pairs.random_gamma_grad)
    whole = x[:n] * np.exp(-np.square(x - a)[:n] / (2 * a[:n])) / np.sqrt(2 * np.pi * a[:n])
    few = np.abs(x - a)[:n] < np.sqrt(a[:n])
    np.testing.assert_allclose(moved[:n][few], (-a[:n] * by_order[:n] / whole)[few], rtol=2e-3)


def test_how_gamma_numbers_move_with_their_shape():
    """The kernel against XLA's, whose small orders lose digits, and at the ends TensorFlow's."""
    a = 10.0 ** RNG.uniform(-0.9, 3, 300)
    one = np.array([0.0, 1.0, -1.0, INF, NAN])
    ends = np.meshgrid(one, one)
    arrays = [np.append(v, end) for v, end in zip((a, RNG.gamma(a)), ends, strict=True)]
    both = lambda *arrays: [
        special_pairs.random_gamma_grad(*arrays),
        special_pairs.igamma_grad_a(*arrays),
    ]
    ours = in_x64(by_kernel(both), *arrays)
    xla = in_x64(jax.jit(tracing(False, both), compiler_options=QUICK), *arrays)
    singles = by_kernel(both)(*[v.astype(np.float32) for v in arrays])
    for found, value, single, middle in zip(
        ours, xla, singles, (1.17356303, -0.43172971), strict=True
    ):
        np.testing.assert_allclose(found, value, rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(single, value, rtol=1e-5, atol=1e-10)
        wanted = np.full((5, 5), NAN)
        wanted[0], wanted[1:4:2, 1:4:2], wanted[1, 1] = 0, 0, middle
        np.testing.assert_allclose(found[300:].reshape(5, 5), wanted, rtol=1e-8)

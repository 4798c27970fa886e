"""Exponentials, logarithms and inverse roots of many complex numbers: how exact, at special points,
their derivatives, where the kernel of angles is called."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import angles, complexes, rules

TARGET = "tape_compat_angles"
RNG = np.random.default_rng(0)
NUMPY = {"exp": np.exp, "log": np.log, "rsqrt": lambda x: 1 / np.sqrt(x)}
OURS = {"exp": complexes.exp, "log": complexes.log, "rsqrt": rules.rsqrt}
XLA = {"exp": lax.exp, "log": lax.log, "rsqrt": lambda x: lax.integer_pow(lax.sqrt(x), -1)}
needs_kernel = pytest.mark.skipif(
    not angles.available(), reason="not built, or for another processor"
)


def by_kernel(name):
    return jax.jit(tracing(True, OURS[name]))


def complex_of(real, imaginary, dtype) -> Any:
    found = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imaginary)), dtype)
    found.real, found.imag = real, imaginary
    return found


def numbers(name, dtype) -> Any:
    """Of all sizes, and beside the unit circle; the same whatever has been drawn before."""
    n, most = 20_001, 30 if dtype == "complex64" else 290
    rng = np.random.default_rng(0)
    around = rng.uniform(-np.pi, np.pi, n)
    close = np.exp(1j * around) * (1 + 1e-4 * rng.normal(size=n))
    if name == "exp":
        return complex_of(rng.normal(0, most / 2, n), 30 * rng.normal(size=n), dtype)
    sizes = 10.0 ** rng.uniform(-most, most, n)
    return np.concatenate([close, sizes * np.exp(1j * around)]).astype(dtype)


@pytest.mark.modeless
@needs_kernel
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no longer numbers to compare with")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", list(OURS))
def test_errors_are_a_few_of_the_last_bit(name, dtype):
    """Of the number, and of the real part of a logarithm beside 1.

    That is XLA's, which is off by 14 of them at one complex128 in some 100,000, as at
    0.4075854282919766 + 0.658286222461931j."""
    x = numbers(name, dtype)
    found: Any = np.asarray(in_x64(by_kernel(name), x)).astype(np.clongdouble)
    wanted = NUMPY[name](x.astype(np.clongdouble))
    last = np.finfo(dtype).eps
    assert np.max(np.abs(found - wanted) / np.abs(wanted)) < 3 * last
    if name == "log":
        near = slice(0, 20_001)
        few = np.abs(found.real - wanted.real)[near] / np.abs(wanted.real)[near]
        assert np.max(few) < 2 * last


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan, 88.9, -110.0, 709.9, -760.0]


@pytest.mark.modeless
@needs_kernel
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["exp", "log"])
def test_special_points_are_those_of_the_standard(name, dtype):
    """C's Annex G, by NumPy; signs of zeros and NaN that it leaves open apart."""
    x = complex_of(np.repeat(SPECIAL, 12), np.tile(SPECIAL, 12), dtype)
    with np.errstate(all="ignore"):
        wanted: Any = np.tile(NUMPY[name](x), 4)
    found: Any = np.asarray(in_x64(by_kernel(name), np.tile(x, 4)))
    assert found.dtype == dtype
    for a, b in ((found.real, wanted.real), (found.imag, wanted.imag)):
        np.testing.assert_allclose(a, b, rtol=4 * np.finfo(dtype).eps)
    known = np.tile(np.isfinite(x) & (np.abs(x.real) < 80), 4)
    np.testing.assert_array_equal(np.signbit(found.imag)[known], np.signbit(wanted.imag)[known])


@pytest.mark.modeless
def test_inverse_roots_of_negative_numbers_have_no_real_part():
    x = complex_of(np.array([-1.0, -2.0, -4.0]), 0.0, "complex64")
    found: Any = np.asarray(rules.rsqrt(x))
    np.testing.assert_array_equal(found.real, 0)
    np.testing.assert_allclose(found.imag, [-1, -(0.5**0.5), -0.5], rtol=1e-6)


@pytest.mark.modeless
@needs_kernel
@pytest.mark.parametrize("name", ["exp", "log"])
def test_where_the_kernel_is_called(name):
    many: Any = np.full(600, 1 + 2j, "complex64")
    few = many[:100]
    for array, called in ((many, True), (few, False), (many.real, False)):
        assert (TARGET in by_kernel(name).lower(array).as_text()) == called
    assert TARGET not in jax.jit(OURS[name]).lower(many).as_text()


@pytest.mark.modeless
@needs_kernel
@pytest.mark.parametrize("name", list(OURS))
def test_derivatives_are_those_of_xla(name):
    x = (RNG.normal(size=600) + 1j * RNG.normal(size=600)).astype("complex64")
    weights = (RNG.normal(size=600) + 1j * RNG.normal(size=600)).astype("complex64")

    def derivatives(f, x, weights):
        first = jax.grad(lambda x: jnp.sum(weights * f(x)), holomorphic=True)
        second = jax.grad(lambda x: jnp.sum(first(x) ** 2), holomorphic=True)
        return first(x), second(x), jax.jvp(f, (x,), (weights,))[1], jax.vmap(f)(x.reshape(6, 100))

    found = jax.jit(tracing(True, lambda *a: derivatives(OURS[name], *a)))(x, weights)
    wanted = jax.jit(lambda *a: derivatives(XLA[name], *a))(x, weights)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", ["sinh", "cosh"])
def test_hyperbolic_functions_near_the_axes(name):
    """XLA's lose a part that is small beside 1, and have NaN on an axis beside infinity."""
    reals = np.array([1e-9, -1e-30, 0.0, 0.3, 20.0, np.inf], np.float32)[:, None]
    x = complex_of(reals, np.array([2e-9, 1e-30, -0.0, 1.0], np.float32), "complex64")
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, name)(x.astype(np.complex128))
    got = np.asarray(jax.jit(getattr(complexes, name))(x))
    np.testing.assert_allclose(got.real, wanted.real, 1e-6, 1e-38)
    np.testing.assert_allclose(got.imag, wanted.imag, 1e-6, 1e-38)

"""Exponentials of batches of matrices."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops.exponentials import SQUARINGS, exponential

pytestmark = pytest.mark.modeless
RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64", "complex64", "complex128"]


def matrices(dtype, scale):
    found = scale * RNG.normal(size=(20, 5, 5))
    if dtype.startswith("complex"):
        found = found + 1j * scale * RNG.normal(size=found.shape)
    return found.astype(dtype)


def exact(a):
    """By the series, with the longer numbers of NumPy."""
    a = a.astype(np.promote_types(a.dtype, np.longdouble)) / 32
    term = found = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for i in range(1, 40):
        term = term @ a / i
        found = found + term
    for _ in range(5):
        found = found @ found
    return found


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no longer numbers to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_are_a_few_of_the_last_bit(dtype):
    """Of the largest element of a matrix, by its norm."""
    a = np.concatenate([matrices(dtype, scale) for scale in (0.0, 1e-6, 0.1, 1.0, 4.0)])
    found = np.asarray(in_x64(jax.jit(exponential), a))
    assert found.dtype == dtype
    wanted = exact(a)
    errors = np.max(np.abs(found - wanted), (1, 2)) / np.max(np.abs(wanted), (1, 2))
    norms = np.maximum(np.max(np.sum(np.abs(a), 1), 1), 1)
    assert np.max(errors / norms) < 8 * np.finfo(dtype).eps


@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_are_those_of_a_single_one(dtype):
    a, weights = matrices(dtype, 0.7), matrices(dtype, 1.0)
    a[3:6] *= 8  # squared more often than others
    turned = dtype == "complex128"

    def derivatives(function, a, weights):
        first = jax.grad(lambda a: jnp.sum(weights * function(a)), holomorphic=turned)
        second = jax.grad(lambda a: jnp.sum(first(a) ** 2), holomorphic=turned)
        return first(a), second(a), jax.jvp(function, (a,), (weights,))[1]

    found = in_x64(jax.jit(partial(derivatives, exponential)), a, weights)
    each = partial(derivatives, exponential)
    for i in range(0, 20, 4):
        wanted = in_x64(jax.jit(each), a[i], weights[i])
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one[i], other, rtol=1e-9, atol=1e-9 * np.max(np.abs(other)))


def test_special_matrices():
    a = np.zeros((4, 3, 3))
    a[0, 0, 1], a[1, 0, 0] = 1e5, np.nan
    a[2] = 1e3 * np.eye(3)
    a[3] = 2.0 ** (SQUARINGS + 4) * np.eye(3)
    found = in_x64(jax.jit(exponential), a)
    np.testing.assert_allclose(found[0], np.eye(3) + a[0])
    assert np.isnan(found[1]).all() and np.isnan(found[3]).all()
    assert np.isinf(np.diag(found[2])).all()
    assert exponential(jnp.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert exponential(jnp.zeros((2, 0, 0))).shape == (2, 0, 0)


def test_a_batch_has_one_approximant():
    """And JAX's, of several orders, is for single ones."""
    found = [str(jax.make_jaxpr(exponential)(np.zeros(s, "float32"))) for s in ((2, 3, 3), (3, 3))]
    assert found[0].count("cond[") == 1 < found[1].count("cond[")

"""Products of many rows by a very small matrix: values, derivatives, where they are sums."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import small_products
from tape_compat._src.ops.small_products import LEAST_ROWS, product

RNG = np.random.default_rng(0)


def arrays(rows, k, n, dtype="float32"):
    return RNG.normal(size=(*rows, k)).astype(dtype), RNG.normal(size=(k, n)).astype(dtype)


def derivatives(function, a, b):
    def total(a, b):
        return jnp.sum(jnp.sin(function(a, b)))

    def penalty(a, b):
        return sum(jnp.sum(g**2) for g in jax.grad(total, (0, 1))(a, b))

    tangents = jax.jvp(function, (a, b), (a[::-1], b[::-1]))[1]
    rows = jax.vmap(function, (0, None))(a.reshape(2, -1, a.shape[-1]), b)
    return (
        function(a, b),
        jax.grad(total, (0, 1))(a, b),
        jax.grad(penalty, (0, 1))(a, b),
        tangents,
        rows,
    )


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k,n", [(3, 3), (2, 3), (3, 1), (1, 2)])
def test_they_are_those_of_products(k, n, dtype):
    given = arrays((2, LEAST_ROWS), k, n, dtype)
    found = in_x64(jax.jit(tracing(True, lambda *x: derivatives(product, *x))), *given)
    wanted = in_x64(jax.jit(lambda *x: derivatives(jnp.matmul, *x)), *given)
    last = np.finfo(dtype).eps
    for one, other in zip(*map(jax.tree.leaves, (found, wanted)), strict=True):
        assert one.dtype == dtype
        size = np.max(np.abs(other))
        np.testing.assert_allclose(one, other, rtol=1e4 * last, atol=100 * last * size)


@pytest.mark.modeless
def test_numbers_that_are_none_stay():
    a, b = arrays((LEAST_ROWS,), 3, 3)
    a[0], a[1], a[2] = np.nan, [np.inf, 0, 0], 0
    b[0] = [1, -1, 0]
    found = np.asarray(jax.jit(tracing(True, product))(a, b))
    assert np.isnan(found[0]).all() and np.isnan(found[1, 2]) and (found[2] == 0).all()
    assert found[1, 0] == np.inf and found[1, 1] == -np.inf


@pytest.mark.modeless
def test_what_is_left_to_xla():
    def products(*given, own=True):
        function = tracing(own, product)
        text = in_x64(lambda *x: jax.jit(function).lower(*x).compile().as_text(), *given)
        return "dot(" in text or "_matmul" in text

    many = (LEAST_ROWS,)
    assert not products(*arrays(many, 3, 3)) and not products(*arrays(many, 3, 3, "float64"))
    assert products(*arrays(many, 3, 3), own=False)
    assert products(*arrays((64,), 3, 3)) and products(*arrays(many, 4, 3))
    assert products(*arrays(many, 3, 4)) and products(*arrays(many, 3, 3, "complex64"))


@pytest.mark.parametrize("name", ["matmul", "transposed", "tensordot"])
def test_programs_have_them(name, monkeypatch, deferred):
    noted, sums = [], small_products._by_columns
    monkeypatch.setattr(small_products, "_by_columns", lambda *x: (noted.append(x), sums(*x))[1])
    a, b = arrays((LEAST_ROWS + 7,), 3, 3)
    call = {
        "matmul": tf.matmul,
        "transposed": lambda a, b: tf.matmul(a, b, transpose_b=True),
        "tensordot": lambda a, b: tf.tensordot(a, b, [[1], [1]]),
    }[name]
    function = tf.function(lambda a, b: tf.tanh(tf.sin(call(a, b))), jit_compile=True)
    found = [function(tf.constant(a), tf.constant(b)) for _ in range(6)][-1]
    assert noted
    wanted = np.tanh(np.sin(a @ (b if name == "matmul" else b.T)))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)

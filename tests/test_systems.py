"""Cholesky decompositions and triangular systems of batches, in programs of this process."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import solvers, systems

TARGET = "tape_compat_systems"
pytestmark = [
    pytest.mark.skipif(not systems.available(), reason="not built"),
    pytest.mark.modeless,
]


def drawn(dtype, *shape):
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1] if "complex" in dtype else parts[0]).astype(dtype)


def positive(dtype, *shape):
    a = drawn(dtype, *shape)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype) * shape[-1]


def run(function, *arrays, own=True):
    return in_x64(jax.jit(tracing(own, function)), *arrays)


def close(found, wanted):
    for one, other in zip(*map(jax.tree.leaves, (found, wanted)), strict=True):
        rounding = float(np.finfo(other.dtype).eps) * 500
        scale = float(np.abs(other).max())
        np.testing.assert_allclose(one, other, rtol=rounding, atol=rounding * scale)


DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.mark.part
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 6, 70])
def test_values(n, dtype):
    """Small matrices by the kernel, large ones one by one: none in a call with others."""
    a, b = positive(dtype, 2, 3, n, n), drawn(dtype, 2, 3, n, 4)

    def everything(a, b):
        solved = [
            systems.triangular_solve(a, b, *options)
            for options in itertools.product([False, True], repeat=3)
        ]
        return jnp.tril(systems.cholesky(a)), solved

    lowered = in_x64(jax.jit(tracing(True, everything)).lower, a / n, b)
    assert (TARGET in lowered.as_text()) == (n < systems.MOST_ROWS)
    assert "tensor<2x3x" not in "".join(
        line for line in lowered.as_text().splitlines() if "@lapack" in line
    )
    found = in_x64(in_x64(lowered.compile), a / n, b)
    close(found, run(everything, a / n, b, own=False))


@pytest.mark.part
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 6, 70])
def test_factors_of_rows(n, dtype):
    """As LAPACK's, none in a call with others; and their changes, against differences."""
    a, change = drawn(dtype, 2, 3, n, n), positive(dtype, 2, 3, n, n)
    lowered = in_x64(jax.jit(tracing(True, systems.lu)).lower, a)
    assert (TARGET in lowered.as_text()) == (n < systems.MOST_ROWS)
    calls = [line for line in lowered.as_text().splitlines() if "@lapack" in line]
    assert "tensor<2x3x" not in "".join(calls)
    found, wanted = run(systems.lu, a), run(lax.linalg.lu, a, own=False)
    close(found[0], wanted[0])
    for one, other in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    if dtype == "float64" and n == 6:
        moved = run(lambda a, da: jax.jvp(systems.lu, (a,), (da,))[1][0], a, change)
        step = 1e-7 * change
        ends = [np.asarray(run(systems.lu, x)[0]) for x in (a - step, a + step)]
        slope = (ends[1] - ends[0]) / 2e-7
        np.testing.assert_allclose(moved, slope, rtol=1e-5, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_determinants(dtype):
    """With derivatives as JAX has them, of singular matrices too."""
    a = drawn(dtype, 3, 5, 5)
    a[1, :, 4] = a[1, :, :4].sum(-1)
    change = positive(dtype, 3, 5, 5)

    def sloped(f):
        return lambda a, da: jax.jvp(lambda a: f(a, da), (a,), (da,))[1]

    def functions(det, slogdet):
        return [lambda a, _, f=f: jnp.stack(jax.tree.leaves(f(a))) for f in (det, slogdet)]

    def of_all_orders(det, slogdet):
        """JAX's determinants of singular matrices have no second derivative."""

        def values(a, da):
            for i, f in enumerate(functions(det, slogdet)):
                for order in range(3):
                    given = [x[::2] if i or order == 2 else x for x in (a, da)]
                    yield f(*given)
                    f = sloped(f)

        return lambda a, da: list(values(a, da))

    own = of_all_orders(solvers.determinant, solvers.log_determinant)
    whole = of_all_orders(jnp.linalg.det, jnp.linalg.slogdet)
    close(run(own, a, change), run(whole, a, change, own=False))


@pytest.mark.part
def test_derivatives_of_every_order():
    a, b = positive("float64", 3, 5, 5), drawn("float64", 3, 5, 2)

    def values(a, b):
        triangular = systems.triangular_solve(a, b, True, True)
        return systems.cholesky(a)[..., :2] * triangular + solvers._solution(a, b)

    def loss(a, b):
        return jnp.sum(jnp.sin(values(a, b)))

    def derived(a, b):
        first = jax.grad(loss, (0, 1))
        second = jax.grad(lambda a, b: sum(jnp.sum(x**2) for x in first(a, b)), (0, 1))
        return first(a, b), second(a, b), jax.jvp(values, (a, b), (a * 0.3, b * 0.2))[1]

    close(run(derived, a, b), run(derived, a, b, own=False))
    rows = np.stack([a, a + np.eye(5)])
    one_by_one = np.stack([run(values, x, b, own=False) for x in rows])
    close(run(jax.vmap(values, (0, None)), rows, b), one_by_one)


def test_what_has_no_decomposition_is_nan():
    a = np.stack([np.eye(3), -np.eye(3), np.full((3, 3), np.nan)]).astype("float32")
    found = np.asarray(tf.function(tf.linalg.cholesky, jit_compile=True)(a))
    np.testing.assert_array_equal(found[0], np.eye(3))
    assert np.isnan(found[1:, 0, 0]).all()


def test_wrong_arrays_are_refused():
    def call(made, *arrays):
        made = jax.ShapeDtypeStruct(made, np.float32)
        given = np.zeros(2, "int64")
        return jax.jit(lambda *a: jax.ffi.ffi_call(TARGET, made)(*a, numbers=given))(*arrays)

    x = np.ones((2, 3, 3), "float32")
    for made, *arrays in (
        ((2, 3, 2), x[..., :2]),
        ((2, 3, 3), x.astype("int32")),
        ((2, 3, 3), x[:1]),
        ((2, 3, 2), x, x[:, :2, :2]),
        ((2, 3, 3), x, x, x),
    ):
        with pytest.raises(Exception, match="square matrices"):
            call(made, *arrays).block_until_ready()


def test_many_at_once_end(monkeypatch):
    """They waited for each other in LAPACK."""
    calls = []
    call = systems._call
    monkeypatch.setattr(systems, "_call", lambda *a, **k: calls.append(a) or call(*a, **k))
    x = tf.constant(positive("float32", 16, 32, 32))

    @tf.function(jit_compile=True)
    def step(x):
        parts = [tf.tanh(x * (1 + i / 100) @ x) / 100 + x for i in range(4)]
        each = [tf.sin(f(part)) for part in parts for f in (tf.linalg.cholesky, tf.linalg.inv)]
        return tf.add_n([tf.reduce_sum(x) for x in each])

    found = [float(step(x)) for _ in range(20)]
    assert found == pytest.approx([found[0]] * 20, rel=1e-4)
    assert calls


def test_a_single_matrix_is_left_to_lapack():
    a = positive("float32", 6, 6)
    text = jax.jit(tracing(True, systems.cholesky)).lower(a).as_text()
    assert TARGET not in text
    close(run(systems.cholesky, a), lax.linalg.cholesky(a))

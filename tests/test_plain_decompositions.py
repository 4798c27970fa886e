"""Decompositions of matrices by the formulas of SavedModels, against LAPACK's."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tape_compat._src.core.x64 import in_x64
from tape_compat._src.library.saved_model import plain_decompositions
from tape_compat._src.library.saved_model.plain import by_formulas
from tape_compat._src.library.saved_model.plain_decompositions import decomposed

pytestmark = pytest.mark.modeless

#: Of every size by two dtypes, of one size by all.
SHAPES = ((1, 1), (2, 5, 3), (3, 6), (70, 66))
CASES = [(shape, dtype) for shape in SHAPES for dtype in (np.float32, np.complex128)]
CASES += [((4, 4), np.float64), ((4, 4), np.complex64)]


def matrix(shape, dtype):
    numbers = np.random.default_rng(3)
    found = numbers.normal(size=shape) + 1j * numbers.normal(size=shape)
    return (found if np.issubdtype(dtype, np.complexfloating) else found.real).astype(dtype)


def run(name, *arrays, **params):
    call = jax.jit(lambda *arrays: decomposed(name, arrays, params))
    return [np.asarray(x) for x in in_x64(call, *arrays)]


def near(one, other):
    other = np.asarray(other)
    bound = 8 * np.finfo(other.dtype).eps * max(other.shape[-2:]) * max(1, np.abs(other).max())
    assert one.dtype == other.dtype and one.shape == other.shape
    assert np.abs(one - other).max() < bound


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def is_orthogonal(columns):
    product = adjoint(columns) @ columns
    near(product, np.broadcast_to(np.eye(product.shape[-1], dtype=product.dtype), product.shape))


@pytest.mark.part
@pytest.mark.parametrize(("shape", "dtype"), CASES)
def test_lu_and_qr_are_those_of_lapack(shape, dtype):
    a = matrix(shape, dtype)
    factors, pivots, order = run("lu", a)
    wanted = in_x64(lax.linalg.lu, a)
    near(factors, wanted[0])
    assert pivots.tolist() == wanted[1].tolist() and order.tolist() == wanted[2].tolist()
    for full in (False, True):
        found = run("qr", a, full_matrices=full)
        wanted = in_x64(partial(lax.linalg.qr, full_matrices=full), a)
        for one, other in zip(found, wanted, strict=True):
            near(one, other)


@pytest.mark.part
@pytest.mark.parametrize(("shape", "dtype"), CASES)
def test_singular_values(shape, dtype):
    a = matrix(shape, dtype)
    for full in (False, True):
        s, u, vh = run("svd", a, full_matrices=full, compute_uv=True)
        near(s, np.linalg.svd(a, compute_uv=False))
        count = s.shape[-1]
        near((u[..., :count] * s[..., None, :]) @ vh[..., :count, :], a)
        is_orthogonal(u)
        is_orthogonal(adjoint(vh))
    (alone,) = run("svd", a, full_matrices=True, compute_uv=False)
    assert alone.tolist() == s.tolist()


@pytest.mark.part
@pytest.mark.parametrize(
    ("size", "dtype"),
    [(1, np.float32), (2, np.complex64), (5, np.float64), (70, np.float32), (70, np.complex128)],
)
def test_matrices_that_are_their_own_adjoints(size, dtype):
    a = matrix((size, size), dtype)
    both = a + adjoint(a)
    for lower in (True, False):
        half = np.tril(both) if lower else np.triu(both)
        v, w = run("eigh", half, lower=lower, sort_eigenvalues=True)
        near(w, np.linalg.eigvalsh(both))
        near((v * w) @ adjoint(v), both)
        is_orthogonal(v)
    positive = a @ adjoint(a) + np.eye(size, dtype=dtype)
    (factor,) = run("cholesky", positive)
    near(factor, np.linalg.cholesky(positive))
    for left, transpose, conjugate in ((True, False, False), (False, True, False), (True, True, 1)):
        how = {"left_side": left, "lower": True, "transpose_a": transpose, "unit_diagonal": False}
        (x,) = run("triangular_solve", factor, a, **how, conjugate_a=bool(conjugate))
        used = adjoint(factor) if conjugate else factor.T if transpose else factor
        near(used @ x if left else x @ used, a)


def test_matrices_without_full_rank_and_without_numbers():
    for a, values in (
        (np.zeros((3, 3)), [0, 0, 0]),
        (np.ones((4, 2)), [8**0.5, 0]),
        (np.diag([1e-20, 1.0, 1e10]), [1e10, 1.0, 1e-20]),
    ):
        s, u, _ = run("svd", a, full_matrices=True, compute_uv=True)
        np.testing.assert_allclose(s, values, rtol=1e-14, atol=1e-15)
        is_orthogonal(u)
    assert run("eigh", np.diag([3.0, -1.0]), lower=True)[1].tolist() == [-1.0, 3.0]
    assert np.isnan(run("eigh", np.full((3, 3), np.nan), lower=True)[1]).all()
    assert np.isnan(run("cholesky", -np.eye(2))[0]).any()


def test_a_program_calls_no_function_of_lapack():
    def both(a):
        return jnp.linalg.solve(a, a), jnp.linalg.svd(a), jnp.linalg.qr(a), jnp.linalg.eigh(a)

    def all_of_them(a):
        return tuple(jax.tree.leaves((both(a), lax.linalg.cholesky(a))))

    a = matrix((4, 4), np.float32)
    by_our_own = jax.jit(by_formulas(jax.make_jaxpr(all_of_them)(a)))
    text = by_our_own.lower(a).as_text()
    assert "custom_call" not in text
    solved, *_ = by_our_own(a)
    near(np.asarray(solved), np.eye(4, dtype=np.float32))


def test_matrices_of_one_size_are_traced_once(monkeypatch):
    panels, by_columns = [], plain_decompositions._lu_by_columns

    def counted(a):
        panels.append(a.shape)
        return by_columns(a)

    monkeypatch.setattr(plain_decompositions, "_lu_by_columns", counted)
    for scale in (1.0, 2.0):
        jax.make_jaxpr(lambda a: decomposed("lu", [a * scale], {}))(np.zeros((71, 71), np.float32))
    assert panels == [(71, 64), (7, 7)]

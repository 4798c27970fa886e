"""Cholesky and LU decompositions and triangular systems of batches of matrices.

On processors jaxlib has LAPACK do them, and its 0.10 shares a batch among XLA's threads and waits
in one of these for the others: two calls that do not need each other wait for ever where there are
two threads. So batches of small matrices go to a kernel (`native/systems.c`), and large ones one
after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import kernels
from ..core.kernels import PROGRAMS
from .matrices import adjoint_of

_TARGET = "tape_compat_systems"

#: Rows of matrices from which LAPACK is quicker: it works by blocks.
MOST_ROWS = 64


def available() -> bool:
    """Whether XLA, as it is installed, takes the kernel."""
    return kernels.available("Systems are left to LAPACK", **{_TARGET: "SYSTEMS"})


def _is_batch(*arrays: Any) -> bool:
    """Whether there are several matrices, in a program of this process."""
    shapes = [x.shape for x in arrays]
    known = all(isinstance(n, int) and n > 0 for shape in shapes for n in shape)
    return PROGRAMS.own and known and math.prod(shapes[0][:-2]) > 1 and available()


def _call(x: Any, *matrices: Any, lower: bool, unit: bool) -> Any:
    made = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = jax.ffi.ffi_call(_TARGET, made, vmap_method="broadcast_all")
    return call(*matrices, x, numbers=np.array([lower, unit], "int64"))


def _one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of batches of matrices, one after the other."""

    def mapped(*arrays: Any) -> Any:
        rows = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
        found = lax.map(lambda given: function(*given), rows)
        batch = arrays[-1].shape[:-2]
        return jax.tree.map(lambda x: x.reshape(*batch, *x.shape[1:]), found)

    return mapped


@jax.custom_jvp
def cholesky(a: Any) -> Any:
    """The lower L with L L^H = `a` [..., n, n], of which the lower triangle is read; NaN where
    there is none."""
    whole = partial(lax.linalg.cholesky, symmetrize_input=False)
    if not _is_batch(a):
        return whole(a)
    small = a.shape[-1] < MOST_ROWS
    quick = partial(_call, lower=True, unit=False) if small else _one_by_one(whole)
    return lax.platform_dependent(a, cpu=quick, default=whole)


@cholesky.defjvp
def _cholesky_jvp(primals: Any, tangents: Any) -> Any:
    """Only the lower triangle is read, and yet the gradient is symmetric.

    Source: TF linalg_grad.py, _CholeskyGrad. JAX averages the input and its transpose first.
    """
    out = cholesky(primals[0])
    change = (tangents[0] + adjoint_of(tangents[0])) / 2
    solved = partial(triangular_solve, out, lower=True)
    return out, out @ _half_lower(adjoint_of(solved(adjoint_of(solved(change)))))


def _half_lower(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    n = x.shape[-1]
    return x * jnp.asarray(np.tril(np.ones((n, n))) - np.eye(n) / 2, x.dtype)


@jax.custom_jvp
def lu(a: Any) -> Any:
    """The factors L, whose diagonal is 1, and U of the rows of square `a` [..., n, n] in one
    matrix, what each row was changed with, and the order of rows."""
    if not _is_batch(a):
        return tuple(lax.linalg.lu(a))
    quick = _factored if a.shape[-1] < MOST_ROWS else _one_by_one(lax.linalg.lu)
    return tuple(lax.platform_dependent(a, cpu=quick, default=lax.linalg.lu))


def _factored(a: Any) -> list[Any]:
    rows = jax.ShapeDtypeStruct(a.shape[:-1], np.int32)
    made = jax.ShapeDtypeStruct(a.shape, a.dtype), rows, rows
    call = jax.ffi.ffi_call(_TARGET, made, vmap_method="broadcast_all")
    return list(call(a, numbers=np.zeros(2, "int64")))


@lu.defjvp
def _lu_jvp(primals: Any, tangents: Any) -> Any:
    """L^-1 P dA U^-1, whose triangles are the changes of the factors."""
    factors, pivots, rows = out = lu(primals[0])
    change = jnp.take_along_axis(tangents[0], rows[..., None], -2)
    half = triangular_solve(factors, change, lower=True, unit_diagonal=True)
    turned = triangular_solve(jnp.swapaxes(factors, -1, -2), jnp.swapaxes(half, -1, -2), lower=True)
    whole = jnp.swapaxes(turned, -1, -2)
    lower = jnp.tril(factors, -1) + jnp.eye(factors.shape[-1], dtype=factors.dtype)
    changed = lower @ jnp.tril(whole, -1) + jnp.triu(whole) @ jnp.triu(factors)
    return out, (changed, *[np.zeros(x.shape, jax.dtypes.float0) for x in (pivots, rows)])


def triangular_solve(
    a: Any, b: Any, lower: bool, adjoint: bool = False, unit_diagonal: bool = False
) -> Any:
    """The x of A x = `b` [..., n, k], for triangular A [..., n, n], that of `a` or its adjoint."""
    batch = lax.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    options: dict[str, Any] = {"left_side": True, "unit_diagonal": unit_diagonal}
    if not _is_batch(a, b):
        return lax.linalg.triangular_solve(
            a, b, lower=lower, transpose_a=adjoint, conjugate_a=adjoint, **options
        )
    a, lower = (adjoint_of(a), not lower) if adjoint else (a, lower)

    def solved(a: Any, b: Any, lower: bool) -> Any:
        whole = partial(lax.linalg.triangular_solve, lower=lower, **options)

        def by_kernel(a: Any, b: Any) -> Any:
            return _call(b, a, lower=lower, unit=unit_diagonal)

        quick = by_kernel if a.shape[-1] < MOST_ROWS else _one_by_one(whole)
        return lax.platform_dependent(a, b, cpu=quick, default=whole)

    def product(x: Any) -> Any:
        triangle = jnp.tril(a) if lower else jnp.triu(a)
        if unit_diagonal:
            eye = jnp.eye(a.shape[-1], dtype=a.dtype)
            triangle = triangle * (1 - eye) + eye
        return triangle @ x

    return lax.custom_linear_solve(
        product,
        b,
        lambda _, b: solved(a, b, lower),
        lambda _, b: solved(jnp.swapaxes(a, -1, -2), b, not lower),
    )

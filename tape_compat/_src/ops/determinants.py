"""Inverses and determinants, with derivatives by the kernel of triangular systems."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .lu_factors import by_factors
from .systems import lu, triangular_solve


@jax.custom_jvp
def inverse(a: Any) -> Any:
    """Of fewer steps than JAX's, which matters where they are interpreted: no rows are moved."""
    factors, _, rows = lu(a)
    return by_factors(factors, _moved_rows(a, rows))


@inverse.defjvp
def _inverse_jvp(primals: Any, tangents: Any) -> Any:
    """-inv da inv: two products, where JAX solves again."""
    out = inverse(primals[0])
    return out, -out @ tangents[0] @ out


def _moved_rows(a: Any, rows: Any) -> Any:
    """The matrix that puts rows in this order."""
    places = lax.broadcasted_iota(rows.dtype, a.shape, a.ndim - 1)
    return (rows[..., None] == places).astype(a.dtype)


def determinant(a: Any) -> Any:
    """That of matrices [..., n, n]; of few rows by JAX's formula, without factors."""
    if a.shape[-1] == 0:
        return jnp.ones(a.shape[:-2], a.dtype)
    return jnp.linalg.det(a) if a.shape[-1] in (1, 2, 3) else _determinant(a)


@jax.custom_jvp
def _determinant(a: Any) -> Any:
    return jnp.prod(_diagonal(a)[0], -1)


@_determinant.defjvp
def _determinant_jvp(primals: Any, tangents: Any) -> Any:
    """The adjugate exists of singular matrices too."""
    return _determinant(primals[0]), _trace(_adjugate(primals[0]), tangents[0])


def _diagonal(a: Any) -> tuple[Any, Any, Any]:
    """Numbers whose product is the determinant, the factors, and the order of rows."""
    factors, pivots, rows = lu(a)
    diagonal = jnp.diagonal(factors, axis1=-2, axis2=-1)
    moved = pivots != lax.broadcasted_iota(pivots.dtype, pivots.shape, pivots.ndim - 1)
    return jnp.where(moved, -diagonal, diagonal), factors, rows


def _trace(a: Any, b: Any) -> Any:
    """That of the product."""
    return jnp.sum(a * jnp.swapaxes(b, -1, -2), (-2, -1))


@jax.custom_jvp
def _adjugate(a: Any) -> Any:
    """The determinant times the inverse, by factors of which the last pivot may be 0; 0 if another
    one is."""
    diagonal, factors, rows = _diagonal(a)
    n = a.shape[-1]
    last = jnp.arange(n) == n - 1
    corner = last[:, None] & last
    upper = jnp.where(corner, 1, factors)
    whole = jnp.prod(diagonal, -1)[..., None, None]
    moved = diagonal[..., -1:, None] != factors[..., -1:, -1:]
    others = jnp.prod(diagonal[..., :-1], -1)[..., None, None] * jnp.where(moved, -1, 1)
    upper = jnp.where(others == 0, jnp.eye(n, dtype=a.dtype), upper)
    found = triangular_solve(factors, _moved_rows(a, rows), lower=True, unit_diagonal=True)
    return triangular_solve(upper, found * jnp.where(last[:, None], others, whole), lower=False)


@_adjugate.defjvp
def _adjugate_jvp(primals: Any, tangents: Any) -> Any:
    out, change = _adjugate(primals[0]), tangents[0]
    scaled = _trace(out, change)[..., None, None] * jnp.eye(change.shape[-1], dtype=change.dtype)
    return out, (scaled - out @ change) @ inverse(primals[0])


@jax.custom_jvp
def log_determinant(a: Any) -> Any:
    """The sign of the determinant of matrices [..., n, n], and the logarithm of its size."""
    diagonal = _diagonal(a)[0]
    sizes = jnp.abs(diagonal)
    some = jnp.all(sizes != 0, -1)
    sign = jnp.prod(diagonal / jnp.where(sizes == 0, 1, sizes), -1)
    return jnp.where(some, sign, 0), jnp.sum(jnp.log(sizes), -1)


@log_determinant.defjvp
def _log_determinant_jvp(primals: Any, tangents: Any) -> Any:
    sign, logarithm = log_determinant(primals[0])
    change = _trace(inverse(primals[0]), tangents[0])
    turned = (change - jnp.real(change)) * sign
    return (sign, logarithm), (turned, jnp.real(change).astype(logarithm.dtype))

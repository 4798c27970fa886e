"""What is made of the factors that `tf.linalg.lu` gives."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import broadcast, differ
from ..core.refuse import invalid, shown
from .declare import check_same_dtype, name_ops, op
from .systems import triangular_solve


def _check_factors(avals: tuple[Aval, ...], validate_args: bool) -> None:
    factors, permutation = avals[0].shape, avals[1].shape
    if len(factors) < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if len(factors) != len(permutation) + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    if differ(factors[-1], factors[-2]):
        raise ValueError("`lower_upper` must be square.")


def _check_solve(avals: tuple[Aval, ...], validate_args: bool) -> None:
    _check_factors(avals[:2], validate_args)
    factors, rhs = avals[0].shape, avals[2].shape
    if len(rhs) < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if differ(factors[-1], rhs[-2]):
        raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.")
    check_same_dtype((avals[0], avals[2]), "MatrixTriangularSolve")


def _solve_aval(avals: tuple[Aval, ...], validate_args: bool) -> Aval:
    factors, permutation, rhs = (aval.shape for aval in avals)
    batch = broadcast((factors[:-2], permutation[:-1], rhs[:-2]))
    if batch is None:
        texts = f"{shown(factors)} vs. {shown(permutation)} vs. {shown(rhs)}"
        raise invalid(f"Incompatible shapes: {texts}", "BroadcastArgs")
    return Aval.of((*batch, *rhs[-2:]), avals[2].dtype)


def _rows(x: Any, places: Any) -> Any:
    """The rows of matrices at places, batch axes broadcast."""
    if x.ndim == 2 and places.ndim == 1:
        return x.at[places].get(mode="promise_in_bounds")
    batch = lax.broadcast_shapes(x.shape[:-2], places.shape[:-1])
    x = jnp.broadcast_to(x, (*batch, *x.shape[-2:]))
    places = jnp.broadcast_to(places, (*batch, places.shape[-1]))
    return jnp.take_along_axis(x, places[..., None], axis=-2)


def solved(factors: Any, permutation: Any, rhs: Any) -> Any:
    """The x of A x = rhs, by the factors of A and the order of its rows."""
    return by_factors(factors, _rows(rhs, permutation))


def by_factors(factors: Any, rhs: Any) -> Any:
    """The x of L U x = rhs."""
    half = triangular_solve(factors, rhs, lower=True, unit_diagonal=True)
    return triangular_solve(factors, half, lower=False)


def solved_by_transpose(factors: Any, permutation: Any, rhs: Any) -> Any:
    """The x of A^T x = rhs, as `solved`."""
    turned = jnp.swapaxes(factors, -1, -2)
    half = triangular_solve(turned, rhs, lower=True)
    found = triangular_solve(turned, half, lower=False, unit_diagonal=True)
    return _rows(found, jnp.argsort(permutation, -1))


@op(arrays=3, same_dtype=False, check=_check_solve, shapes=_solve_aval, kernels=True)
def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """X [..., n, k] with A X = `rhs` [..., n, k], for the factors and rows of A by `tf.linalg.lu`.

    `validate_args` has no effect: shapes are always checked.
    Raises: ValueError for shapes that do not fit.

    >>> import tape_compat as tf
    >>> factors = tf.linalg.lu([[2.0, 1.0], [4.0, 3.0]])
    >>> tf.linalg.lu_solve(*factors, [[3.0], [7.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    return solved(lower_upper, perm, rhs)


@op(arrays=2, same_dtype=False, check=_check_factors, kernels=True)
def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of a matrix [..., n, n] of which `tf.linalg.lu` gave the factors and rows.

    `validate_args` has no effect: shapes are always checked.
    Raises: ValueError for shapes that do not fit.

    >>> import tape_compat as tf
    >>> factors = tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])
    >>> tf.linalg.lu_matrix_inverse(*factors).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return solved(lower_upper, perm, jnp.eye(lower_upper.shape[-1], dtype=lower_upper.dtype))


@op(arrays=2, same_dtype=False, check=_check_factors)
def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrix [..., n, n] of which `tf.linalg.lu` gave the factors and rows.

    `validate_args` has no effect: shapes are always checked.
    Raises: ValueError for shapes that do not fit.

    >>> import tape_compat as tf
    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[2.0, 1.0], [4.0, 3.0]])).numpy().tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    """
    unit = jnp.eye(lower_upper.shape[-1], dtype=lower_upper.dtype)
    product = jnp.matmul(jnp.tril(lower_upper, -1) + unit, jnp.triu(lower_upper))
    return _rows(product, jnp.argsort(perm, axis=-1))


name_ops(globals())

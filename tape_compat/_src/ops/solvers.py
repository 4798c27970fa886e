"""Inverses, determinants and solutions of linear systems.

Where TensorFlow finds out from the values that a matrix is singular and raises, these give inf or
NaN: the values are not known when an op is called.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import broadcast, differ, fit
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from . import systems
from .arguments import as_tensor, untracked
from .declare import Number, check_same_dtype, is_number, matching, name_ops, op
from .decompositions import pseudo_inverse
from .lu_factors import by_factors, solved, solved_by_transpose
from .matrices import adjoint_of, check_square
from .products import check_matmul


@jax.custom_jvp
def inverse(a: Any) -> Any:
    """Of fewer steps than JAX's, which matters where they are interpreted: no rows are moved."""
    factors, _, rows = systems.lu(a)
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
    factors, pivots, rows = systems.lu(a)
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
    others = jnp.prod(diagonal[..., :-1], -1)[..., None, None]
    upper = jnp.where(others == 0, jnp.eye(n, dtype=a.dtype), upper)
    moved_rows = _moved_rows(a, rows)
    found = systems.triangular_solve(factors, moved_rows, lower=True, unit_diagonal=True)
    found = found * jnp.where(last[:, None], others, whole)
    return systems.triangular_solve(upper, found, lower=False)


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


@op(
    arrays=1,
    kernel="MatrixInverse",
    dtypes="float complex",
    check=check_square("MatrixInverse"),
    kernels=True,
)
def inv(input, adjoint=False, name=None):
    """The inverse of square matrices [..., n, n], or of their adjoints. A singular one gives inf.

    >>> import tape_compat as tf
    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return inverse(adjoint_of(input) if adjoint else input)


@op(
    kernel="MatrixDeterminant",
    dtypes="float complex",
    check=check_square("MatrixDeterminant"),
    kernels=True,
)
def det(input, name=None):
    """The determinant of square matrices [..., n, n].

    >>> import tape_compat as tf
    >>> float(tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]))
    8.0
    """
    return determinant(input)


class LogMatrixDeterminant(NamedTuple):
    """Sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


def _slogdet(a: Any) -> Any:
    sign, logarithm = log_determinant(a)
    return sign, logarithm.astype(a.dtype)


_SLOGDET = Op(
    _slogdet,
    "LogMatrixDeterminant",
    check=check_square("LogMatrixDeterminant"),
    kernels=True,
).bind()


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Sign and logarithm of the absolute value of the determinant of matrices [..., n, n].

    Both are of the dtype of `input`, complex ones as well.

    >>> import tape_compat as tf
    >>> float(tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]]).sign)
    -1.0
    """
    return LogMatrixDeterminant(*apply(_SLOGDET, (as_tensor(input),)))


@op(
    kernel="Cholesky",
    dtypes="float complex",
    check=check_square("Cholesky", "Input matrix must be square."),
    kernels=True,
)
def cholesky(input, name=None):
    """The lower triangular L with L L^H = `input` [..., n, n], whose lower triangle is read.

    NaN where `input` is not positive definite.

    >>> import tape_compat as tf
    >>> tf.linalg.cholesky([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return jnp.tril(systems.cholesky(input))


@op(kernel="Cholesky", dtypes="float complex", check=check_square("Cholesky"), kernels=True)
def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices [..., n, n], real.

    >>> import tape_compat as tf
    >>> round(float(tf.linalg.logdet([[2.0, 0.0], [0.0, 4.0]])), 4)
    2.0794
    """
    diagonal = jnp.diagonal(systems.cholesky(matrix), axis1=-2, axis2=-1)
    return 2.0 * jnp.sum(jnp.log(jnp.real(diagonal)), -1)


def _check_solve(kernel: str, broadcasts: bool) -> Any:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        a, b = (aval.shape for aval in avals)
        check_same_dtype(avals, kernel)
        if broadcasts and min(len(a), len(b)) < 2:
            which, n = (0, len(a)) if len(a) < 2 else (1, len(b))
            raise invalid(f"In[{which}] ndims must be >= 2: {n}", kernel)
        if not broadcasts and len(a) != len(b):
            raise invalid("All input tensors must have the same rank.", kernel)
        check_square(kernel)(avals)
        if differ(a[-1], b[-2]):
            raise invalid(
                "Input matrix and right-hand side must have the same number of rows: "
                f"{shown(a)} vs. {shown(b)}",
                kernel,
            )
        if not broadcasts and not fit(a[:-2], b[:-2]):
            raise invalid(
                f"All input tensors must have the same outer dimensions: {shown(a)} vs. {shown(b)}",
                kernel,
            )
        if broadcast((a[:-2], b[:-2])) is None:
            raise invalid(
                f"In[0] and In[1] must have compatible batch dimensions: {shown(a)} vs. {shown(b)}",
                kernel,
            )

    return check


def _solved(avals: tuple[Aval, ...], **_: Any) -> Aval:
    """What solving gives: it has the rows and columns of the right-hand side."""
    a, b = (aval.shape for aval in avals)
    return Aval.of((*broadcast((a[:-2], b[:-2])), *b[-2:]), avals[1].dtype)  # type: ignore[misc]


@op(
    arrays=2,
    kernel="MatrixTriangularSolve",
    dtypes="float complex",
    check=_check_solve("MatrixTriangularSolve", True),
    shapes=_solved,
    kernels=True,
)
def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """X [..., n, m] with `matrix` X = `rhs`, for triangular `matrix` [..., n, n].

    Args:
      lower: whether the lower triangle is read, or the upper.
      adjoint: solve with the adjoint of `matrix`.

    >>> import tape_compat as tf
    >>> tf.linalg.triangular_solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return systems.triangular_solve(matrix, rhs, bool(lower), bool(adjoint))


def _by_cholesky(factor: Any, rhs: Any) -> Any:
    """The x of L L^H x = rhs."""
    half = systems.triangular_solve(factor, rhs, True)
    return systems.triangular_solve(factor, half, True, adjoint=True)


@op(
    arrays=2,
    kernel="CholeskySolve",
    dtypes="float complex",
    check=_check_solve("CholeskySolve", True),
    shapes=_solved,
    kernels=True,
)
def cholesky_solve(chol, rhs, name=None):
    """X [..., n, m] with A X = `rhs`, for `chol`, the Cholesky factor of A [..., n, n].

    >>> import tape_compat as tf
    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [2.0]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    return _by_cholesky(chol, rhs)


@op(
    arrays=2,
    kernel="MatrixSolve",
    dtypes="float complex",
    check=_check_solve("MatrixSolve", False),
    shapes=_solved,
    kernels=True,
)
def solve(matrix, rhs, adjoint=False, name=None):
    """X [..., n, m] with `matrix` X = `rhs`, for square `matrix` [..., n, n] or its adjoint.

    Raises: InvalidArgumentError if the shapes do not fit. A singular matrix gives inf or NaN.

    >>> import tape_compat as tf
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    return _solution(adjoint_of(matrix) if adjoint else matrix, rhs)


@jax.custom_jvp
def _solution(a: Any, b: Any) -> Any:
    factors, _, rows = systems.lu(a)
    return solved(factors, rows, b)


@_solution.defjvp
def _solution_jvp(primals: Any, tangents: Any) -> Any:
    return jax.jvp(_by_linear_solve, primals, tangents)


def _by_linear_solve(a: Any, b: Any) -> Any:
    """The same, whose derivatives of every order are solutions by the same factors."""
    factors, _, rows = systems.lu(lax.stop_gradient(a))
    return lax.custom_linear_solve(
        lambda x: a @ x,
        b,
        lambda _, b: solved(factors, rows, b),
        lambda _, b: solved_by_transpose(factors, rows, b),
    )


def _lstsq(a: Any, b: Any, *regularizer: Any, fast: bool) -> Any:
    if not fast:
        return jnp.matmul(pseudo_inverse(a), b)
    rows, columns = a.shape[-2:]
    h = adjoint_of(a)
    gram = jnp.matmul(h, a) if rows >= columns else jnp.matmul(a, h)
    if regularizer:
        gram = gram + regularizer[0] * jnp.eye(gram.shape[-1], dtype=a.dtype)
    factor = systems.cholesky(gram)

    if rows >= columns:
        return _by_cholesky(factor, jnp.matmul(h, b))
    return jnp.matmul(h, _by_cholesky(factor, b))


def _check_lstsq(avals: tuple[Aval, ...], **_: Any) -> None:
    a, b = avals[:2]
    check_same_dtype((a, b), "MatrixSolveLs")
    check_matmul((a, b), ta=True)


_LSTSQ = Op(_lstsq, "MatrixSolveLs", check=_check_lstsq, kernels=True)


def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Number = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """X [..., n, k] that minimizes |`matrix` X - `rhs`|^2 + `l2_regularizer` |X|^2.

    Args:
      matrix: [..., m, n]; with m < n, the X of least norm that solves it.
      rhs: [..., m, k].
      fast: by the normal equations; otherwise by the pseudo-inverse, which takes any rank (and then
        no regularizer).

    >>> import tape_compat as tf
    >>> round(float(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]])[0, 0]), 4)
    2.0
    """
    inputs = tuple(matching((matrix, rhs)))
    if not is_number(l2_regularizer, 0):
        inputs += (untracked(convert(l2_regularizer, inputs[0].dtype.real_dtype)),)
    return apply(_LSTSQ.bind(fast=bool(fast)), inputs)


name_ops(globals())

"""Products with matrices of few diagonals, and solutions.

Three diagonals are an array [..., 3, n], the upper one first: entry i of each belongs to row i, so
that the last of the upper and the first of the lower are not read.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import as_tensor
from .casting import cast
from .comparison import greater, less_equal, logical_and
from .declare import check_same_dtype, matching, name_ops, op
from .decompositions import eigh, eigvalsh
from .diagonals import diag, diag_part
from .elementwise import conj, real
from .products import matrix_transpose
from .selection import boolean_mask
from .shapes import expand_dims, squeeze
from .systems import triangular_solve


def _multiply(upper: Any, main: Any, lower: Any, x: Any) -> Any:
    above = upper[..., :-1, None] * x[..., 1:, :]
    below = lower[..., 1:, None] * x[..., :-1, :]
    return (
        main[..., None] * x
        + jnp.pad(above, [(0, 0)] * (above.ndim - 2) + [(0, 1), (0, 0)])
        + jnp.pad(below, [(0, 0)] * (below.ndim - 2) + [(1, 0), (0, 0)])
    )


def _check_multiply(avals: tuple[Aval, ...]) -> None:
    kernel = "TridiagonalMatMul"
    check_same_dtype(avals, kernel)
    x = avals[3].shape
    if len(x) < 2:
        raise invalid(f"Input rhs must have rank >= 2, got {len(x)}", kernel)
    for which, aval in zip(("super", "main", "sub"), avals):
        if differ(aval.shape[-1], x[-2]):
            both = f"{shown(aval.shape)} for a rhs of shape {shown(x)}"
            raise invalid(f"Invalid {which}diagonal shape: {both}", kernel)


_MULTIPLY = Op(_multiply, "TridiagonalMatMul", check=_check_multiply).bind()


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The product of tridiagonal matrices [..., n, n] and `rhs` [..., n, k], batch axes broadcast.

    Args:
      diagonals: "compact": [..., 3, n], the upper, main and lower diagonal, of which the last entry
        of the upper and the first of the lower are not read. "sequence": these as a list of three
        [..., n]. "matrix": [..., n, n], of which only the diagonals are read.
      diagonals_format: one of these.
    Raises: ValueError for another format or a matrix that is not square; InvalidArgumentError if
      the sizes do not fit.

    >>> import tape_compat as tf
    >>> diagonals = [[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]]
    >>> tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [1.0]]).numpy().tolist()
    [[3.0], [5.0]]
    """
    if diagonals_format == "sequence":
        upper, main, lower = diagonals
        return apply(_MULTIPLY, tuple(matching((upper, main, lower, rhs))))
    if diagonals_format not in ("compact", "matrix"):
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    found = as_tensor(diagonals)
    if diagonals_format == "matrix":
        found = _of_matrix(found)
    inputs = (found[..., 0, :], found[..., 1, :], found[..., 2, :], rhs)
    return apply(_MULTIPLY, tuple(matching(inputs)))


def _of_matrix(matrix: Tensor) -> Tensor:
    """The three diagonals of a matrix. Raises: ValueError unless it is square."""
    rows, columns = matrix._aval.shape[-2:]
    if differ(rows, columns):
        raise ValueError(
            f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}"
        )
    return diag_part(matrix, k=(-1, 1), align="LEFT_RIGHT")


def _solve(diagonals: Any, rhs: Any) -> Any:
    upper, main, lower = (diagonals[..., i, :] for i in range(3))
    upper, lower = upper.at[..., -1:].set(0), lower.at[..., :1].set(0)
    return lax.linalg.tridiagonal_solve(lower, main, upper, rhs)


_SOLVE = Op(_solve, "TridiagonalSolve", check=lambda a: check_same_dtype(a, "TridiagonalSolve"))
_PLAIN_SOLVE = _SOLVE.bind()


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """X [..., n, k] with A X = `rhs` for tridiagonal matrices A [..., n, n].

    Args:
      diagonals: of A, see `tridiagonal_matmul`; in a "sequence" the outer ones may be shorter by
        one.
      rhs: [..., n, k], or [..., n] for one vector a matrix; the batch axes are those of A.
      diagonals_format: "compact", "sequence" or "matrix".
      transpose_rhs, conjugate_rhs: use the transpose, the conjugate, or both, of `rhs`.
      partial_pivoting: a hint, which changes no result: rows are exchanged anyway.
      perturb_singular: not here.
    Raises: ValueError for shapes that do not fit or another format, NotImplementedError for
      `perturb_singular`. A singular matrix gives inf or NaN.

    >>> import tape_compat as tf
    >>> diagonals = [[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]]
    >>> tf.linalg.tridiagonal_solve(diagonals, [3.0, 5.0]).numpy().round(4).tolist()
    [1.0, 1.0]
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    if perturb_singular:
        raise NotImplementedError("tf.linalg.tridiagonal_solve with perturb_singular")
    if diagonals_format == "sequence":
        compact = _of_sequence(diagonals)
    elif diagonals_format == "matrix":
        compact = _of_matrix(as_tensor(diagonals))
    elif diagonals_format == "compact":
        compact = as_tensor(diagonals)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rhs = convert(rhs, hint=compact.dtype)
    _check_ranks(compact, rhs)
    is_vector = len(rhs._aval.shape) == len(compact._aval.shape) - 1
    if is_vector:
        rhs = expand_dims(conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    left, right = compact._aval.shape[-1], rhs._aval.shape[-2]
    if differ(left, right):
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{left} and {right}"
        )
    found = apply(_PLAIN_SOLVE, (compact, rhs))
    return squeeze(found, -1) if is_vector else found


def _compact(upper: Any, main: Any, lower: Any) -> Any:
    n = main.shape[-1]
    edges = [(0, 0)] * (main.ndim - 1)
    upper = jnp.pad(upper, [*edges, (0, n - upper.shape[-1])])
    lower = jnp.pad(lower, [*edges, (n - lower.shape[-1], 0)])
    return jnp.stack([upper, main, lower], -2)


_COMPACT = Op(
    _compact,
    "Pack",
    check=lambda avals: check_same_dtype(avals, "Pack"),
    shapes=lambda avals: Aval.of((*avals[1].shape[:-1], 3, avals[1].shape[-1]), avals[1].dtype),
).bind()


def _of_sequence(diagonals: Any) -> Tensor:
    """Three diagonals as one array; the outer ones may lack the entry that is not read."""
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    upper, main, lower = matching(diagonals)
    if not all(x.shape[:-1].is_compatible_with(main.shape[:-1]) for x in (lower, upper)):
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape,except for the last "
            f"dimension, got {lower.shape}, {main.shape}, {upper.shape}"
        )
    m = main._aval.shape[-1]
    for which, x in (("sub", lower), ("super", upper)):
        n = x._aval.shape[-1]
        if differ(n, m) and differ(n, m - 1):
            raise ValueError(f"Expected {which}diagonal to be have length {m} or {m - 1}, got {n}.")
    return apply(_COMPACT, (upper, main, lower))


def _check_ranks(diagonals: Tensor, rhs: Tensor) -> None:
    """Raises: ValueError unless ranks and batch axes fit."""
    a, b = diagonals.shape, rhs.shape
    if len(a) < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {len(a)}")
    if len(b) not in (len(a), len(a) - 1):
        raise ValueError(f"Expected the rank of rhs to be {len(a) - 1} or {len(a)}, got {len(b)}")
    if not a[:-2].is_compatible_with(b[: len(a) - 2]):
        raise ValueError(f"Batch shapes {a[:-2]} and {b[: len(a) - 2]} are incompatible")
    if a[-2] not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {a[-2]}")


def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues, ascending, of the Hermitian tridiagonal matrix with these diagonals.

    Args:
      alpha: [n], the diagonal; the real part is read.
      beta: [n - 1], what stands above the diagonal; its conjugate stands below.
      eigvals_only: whether to leave out the eigenvectors.
      select: "a": all; "i": those of the indices `select_range`, both ends included; "v": those
        in the interval `select_range`.
      tol: a bound that always holds: eigenvalues are as exact as the dtype allows.
    Returns: eigenvalues [k], real; or a pair of these and of eigenvectors, the columns of [n, k].
    Raises: ValueError for two dtypes or another `select`; InvalidArgumentError for an empty range.

    >>> import tape_compat as tf
    >>> tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().round(4).tolist()
    [1.0, 3.0]
    """
    alpha, beta = as_tensor(alpha), as_tensor(beta)
    if alpha.dtype != beta.dtype:
        raise ValueError("'alpha' and 'beta' must have the same type.")
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if alpha.dtype.is_complex:
        alpha = cast(real(alpha), alpha.dtype)
    if beta._aval.shape == (0,) and differ(alpha._aval.shape[-1], 1):
        raise invalid(f"Incompatible shapes: {shown(alpha._aval.shape)} vs. [0]", "AddV2")
    # The lower triangle is read.
    matrix = diag(alpha) + diag(conj(beta), k=-1)
    values = real(eigvalsh(matrix)) if eigvals_only else None
    vectors = None
    if not eigvals_only:
        values, vectors = eigh(matrix)
        values = real(values)
    if select != "a":
        values, vectors = _selected(values, vectors, select, select_range)
    return values if eigvals_only else (values, vectors)


def _selected(values: Any, vectors: Any, select: str, ends: Any) -> tuple[Any, Any]:
    """Those of eigenvalues, and of vectors if any, that a range picks."""
    low, high = ends
    if select == "i":
        low, high = int(low), int(high)
        if low > high:
            raise invalid("Got empty index range in select_range.", "Assert")
        picked: Any = slice(low, high + 1)
        return values[picked], None if vectors is None else vectors[:, picked]
    low, high = convert(low, values.dtype), convert(high, values.dtype)
    if bool(low >= high):
        raise invalid("Got empty interval in select_range.", "Assert")
    inside = logical_and(greater(values, low), less_equal(values, high))
    found = boolean_mask(values, inside)
    return found, None if vectors is None else boolean_mask(vectors, inside, axis=1)


def _check_banded(avals: tuple[Aval, ...], **_: Any) -> None:
    kernel = "BandedTriangularSolve"
    check_same_dtype(avals, kernel)
    bands, rhs = (aval.shape for aval in avals)
    if min(len(bands), len(rhs)) < 2:
        which, n = (0, len(bands)) if len(bands) < 2 else (1, len(rhs))
        raise invalid(f"In[{which}] ndims must be >= 2: {n}", kernel)
    if differ(bands[-1], rhs[-2]):
        raise invalid(
            f"In[0] mismatch In[1] shape: {bands[-1]} vs. {rhs[-2]}: {shown(bands)} {shown(rhs)}",
            kernel,
        )


def _of_bands(bands: Any, lower: bool) -> Any:
    """The triangular matrix [..., n, n] of bands [..., k, n], the main diagonal at the side of the
    triangle's edge."""
    count, n = bands.shape[-2:]
    row, column = np.arange(n)[:, None], np.arange(n)
    offset = row - column if lower else column - row
    inside = (offset >= 0) & (offset < count)
    which = np.clip(offset if lower else count - 1 - offset, 0, count - 1)
    found = bands[..., which, np.broadcast_to(row, (n, n))]
    return jnp.where(inside, found, jnp.zeros((), bands.dtype))


@op(
    arrays=2,
    kernel="BandedTriangularSolve",
    dtypes="float complex",
    check=_check_banded,
    kernels=True,
)
def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """X [..., n, m] with A X = `rhs`, for a triangular matrix A [..., n, n] of k diagonals.

    Args:
      bands: [..., k, n]: entry i of each diagonal belongs to row i. With `lower` the main diagonal
        is the first, and then come those below it; otherwise it is the last, after those above it.
      lower: whether A is lower triangular, or upper.
      adjoint: solve with the adjoint of A.

    >>> import tape_compat as tf
    >>> bands = [[2.0, 4.0], [0.0, 1.0]]
    >>> tf.linalg.banded_triangular_solve(bands, [[2.0], [5.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    return triangular_solve(_of_bands(bands, bool(lower)), rhs, bool(lower), bool(adjoint))


name_ops(globals())

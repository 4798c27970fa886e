"""Rules of triangular systems and of decompositions, over batches of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.native import KERNELS
from .rule import Avals, Function, Params, Rule, direct

#: The kernels of `native/lu.c`, and what they take.
_ELIMINATE: Any = getattr(KERNELS, "eliminate", None)
_SUBSTITUTE: Any = getattr(KERNELS, "substitute", None)
_TAKEN = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128")))

#: Larger systems are left to LAPACK: the kernel multiplies number by number. It takes those of 64
#: unknowns in a tenth of the time of NumPy, of 400 in a fifth.
_MOST_ROWS = 512


def _solve(a: Any, b: Any, lower: bool, unit: bool) -> Any:
    """The x of a @ x = b for triangular a."""
    n, columns = b.shape[-2:]
    x = np.array(b, order="C")
    a = np.ascontiguousarray(a)
    _SUBSTITUTE(a.reshape(-1, n, n), x.reshape(-1, n, columns), lower, unit)
    return x


def _triangular_solve(params: Params, ins: Avals, outs: Avals) -> Function | None:
    left, lower = params["left_side"], params["lower"]
    transposed, conjugated = params["transpose_a"], params["conjugate_a"]
    unit = params["unit_diagonal"]
    if 0 in ins[1].shape:
        return lambda a, b: b
    small = ins[0].shape[-1] <= _MOST_ROWS
    if _SUBSTITUTE is None or ins[0].dtype not in _TAKEN or not small:
        return None

    def function(a: Any, b: Any) -> Any:
        a = a.conj() if conjugated else a
        if transposed == left:  # x @ a = b is a.T @ x.T = b.T
            a = np.swapaxes(a, -1, -2)
        if left:
            return _solve(a, b, lower != transposed, unit)
        b = np.swapaxes(b, -1, -2)
        return np.swapaxes(_solve(a, b, lower == transposed, unit), -1, -2)

    return function


def _cholesky_or_nan(x: Any) -> Any:
    """Not a number, below the diagonal and on it, where a matrix is not positive definite."""
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        if x.ndim > 2:
            return np.stack([_cholesky_or_nan(matrix) for matrix in x])
        return np.tril(np.full_like(x, np.nan))


def _by_kernel(a: Any, shapes: list[Any]) -> list[Any]:
    rows, columns = shapes[0][-2:]
    found = np.array(a, order="C"), *[np.empty(shape, np.int32) for shape in shapes[1:]]
    sizes = (rows, columns), (min(rows, columns),), (rows,)
    _ELIMINATE(*[x.reshape(-1, *size) for x, size in zip(found, sizes, strict=True)])
    return list(found)


def _lu(params: Params, ins: Avals, outs: Avals) -> Function | None:
    if 0 in ins[0].shape or _ELIMINATE is None or ins[0].dtype not in _TAKEN:
        return None
    shapes = [aval.shape for aval in outs]
    return lambda a: _by_kernel(a, shapes)


def _qr(params: Params, ins: Avals, outs: Avals) -> Function | None:
    if params.get("pivoting") or 0 in ins[0].shape:
        return None
    mode = "complete" if params["full_matrices"] else "reduced"
    return lambda a: np.linalg.qr(a, mode)


TABLE: dict[str, Rule] = {
    "triangular_solve": Rule(_triangular_solve),
    "cholesky": direct(_cholesky_or_nan),
    "lu": Rule(_lu),
    "qr": Rule(_qr),
}

#: What only kernels do here.
BY_KERNEL = frozenset(("triangular_solve", "lu"))

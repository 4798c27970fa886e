"""Rules of triangular systems and of decompositions, over batches of matrices."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from ...core.native import KERNELS
from .. import policy
from .rule import Avals, Function, Params, Rule, direct

#: The kernels of `native/lu.c`, and what they take.
_ELIMINATE: Any = getattr(KERNELS, "eliminate", None)
_SUBSTITUTE: Any = getattr(KERNELS, "substitute", None)
_TAKEN = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128")))

#: LAPACK's letters for them, and the names of what its routines want to be given room by.
_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_ROOMS = {"syevd": ("lwork", "liwork"), "heevd": ("lwork", "liwork", "lrwork")}

_NAN = {"f": np.nan, "c": complex(np.nan, np.nan)}

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


def _routine(name: str, dtype: np.dtype) -> Function:
    """A routine of LAPACK, of the library whose routines jaxlib calls. By NumPy's, which compute in
    double precision, vectors of single precision have other signs."""
    lapack = importlib.import_module("scipy.linalg.lapack")
    return getattr(lapack, f"{_LETTERS[dtype.name]}{name}")


def _lapack(name: str, dtype: np.dtype) -> tuple[Function, Function]:
    """A routine, and what gives its room."""
    return _routine(name, dtype), _routine(f"{name}_lwork", dtype)


def _tridiagonal_solve(params: Params, ins: Avals, outs: Avals) -> Function | None:
    shape, dtype = outs[0].shape, outs[0].dtype
    if params.get("perturb_singular") or 0 in shape or dtype not in _TAKEN:
        return None
    routine, n = _routine("gtsv", dtype), shape[-2]
    beside = max(n - 1, 1)  # of one row SciPy wants something

    def function(below: Any, diagonal: Any, above: Any, b: Any) -> Any:
        lines = [x.reshape(-1, n) for x in (below, diagonal, above)]
        found = np.array(b.reshape(-1, *shape[-2:]))
        for x, low, main, high in zip(found, *lines, strict=True):
            *_, solved, failed = routine(low[-beside:], main, high[:beside], x)
            x[:] = _NAN[dtype.kind] if failed else solved
        return found.reshape(shape)

    return function


def _each(decompose: Function, outs: Avals) -> Function:
    """Over a batch. Not a number in what is of a matrix whose decomposition does not end."""

    def function(a: Any) -> Any:
        matrices = a.reshape(-1, *a.shape[-2:])
        found = [np.empty((len(matrices), *aval.shape[a.ndim - 2 :]), aval.dtype) for aval in outs]
        for i, matrix in enumerate(matrices):
            parts = decompose(matrix)
            for j, out in enumerate(found):
                out[i] = _NAN[out.dtype.kind] if parts is None else parts[j]
        return [out.reshape(aval.shape) for out, aval in zip(found, outs, strict=True)]

    return function


def _whole(params: Params, aval: Any) -> bool:
    """Whether all of a decomposition is asked for, of matrices that have one and are not so large
    that it is for several threads; see `policy.in_one_thread`."""
    others = map(params.get, ("subset_by_index", "algorithm", "implementation"))
    small = 0 not in aval.shape and math.prod(aval.shape[-2:]) <= policy.ONE_THREAD_SIDE**2
    return small and aval.dtype in _TAKEN and all(x is None for x in others)


def _eigh(params: Params, ins: Avals, outs: Avals) -> Function | None:
    if not _whole(params, ins[0]):
        return None
    kind = "heevd" if ins[0].dtype.kind == "c" else "syevd"
    routine, room = _lapack(kind, ins[0].dtype)
    lower = params["lower"]
    *sizes, _ = room(ins[0].shape[-1], lower=lower)
    given = dict(zip(_ROOMS[kind], map(_room, sizes), strict=True))

    def decompose(a: Any) -> Any:
        w, v, failed = routine(a, lower=lower, **given)
        return None if failed else (v, w)

    return _each(decompose, outs)


def _svd(params: Params, ins: Avals, outs: Avals) -> Function | None:
    if not _whole(params, ins[0]):
        return None
    routine, room = _lapack("gesdd", ins[0].dtype)
    vectors, full = params["compute_uv"], params["full_matrices"]
    lwork = _room(room(*ins[0].shape[-2:], compute_uv=vectors, full_matrices=full)[0])

    def decompose(a: Any) -> Any:
        u, s, v, failed = routine(a, compute_uv=vectors, full_matrices=full, lwork=lwork)
        return None if failed else (s, u, v)

    return _each(decompose, outs)


def _eig(params: Params, ins: Avals, outs: Avals) -> Function | None:
    if not _whole(params, ins[0]) or params["compute_left_eigenvectors"]:
        return None
    routine, room = _lapack("geev", ins[0].dtype)
    asked = {"compute_vl": False, "compute_vr": params["compute_right_eigenvectors"]}
    lwork = _room(room(ins[0].shape[-1], **asked)[0])

    def decompose(a: Any) -> Any:
        if not np.isfinite(a).all():
            return None
        *values, _, v, failed = routine(a, **asked, lwork=lwork)
        if failed:
            return None
        if len(values) == 1:
            return values[0], v
        return values[0] + 1j * values[1], _in_pairs(v, values[1])

    return _each(decompose, outs)


def _schur(params: Params, ins: Avals, outs: Avals) -> Function | None:
    if not _whole(params, ins[0]) or params["sort_eig_vals"]:
        return None
    routine, vectors = _routine("gees", ins[0].dtype), params["compute_schur_vectors"]

    def of(a: Any, lwork: int) -> Any:
        return routine(lambda *_: False, a, compute_v=vectors, lwork=lwork)

    lwork = _room(of(np.zeros(ins[0].shape[-2:], ins[0].dtype), -1)[-2][0])

    def decompose(a: Any) -> Any:
        form, *_, v, _, failed = of(a, lwork)
        return None if failed else (form, v)

    return _each(decompose, outs)


def _in_pairs(v: Any, imaginary: Any) -> Any:
    """The eigenvectors of a real matrix. Of two that are conjugate LAPACK gives the real part of
    the first, then its imaginary one."""
    found = v.astype(np.result_type(v, 1j))
    for i in np.flatnonzero(imaginary > 0) if v.size else ():
        found[:, i] = v[:, i] + 1j * v[:, i + 1]
        found[:, i + 1] = found[:, i].conj()
    return found


def _room(size: Any) -> int:
    """What LAPACK says it needs is a number of the matrix' dtype, which may be rounded down."""
    return int(size.real * 1.000001) + 1


TABLE: dict[str, Rule] = {
    "triangular_solve": Rule(_triangular_solve),
    "cholesky": direct(_cholesky_or_nan),
    "lu": Rule(_lu),
    "qr": Rule(_qr),
    "tridiagonal_solve": Rule(_tridiagonal_solve),
}

#: Of what the size of the matrices tells how many threads it may have.
BY_LAPACK: dict[str, Rule] = {
    "eigh": Rule(_eigh),
    "svd": Rule(_svd),
    "eig": Rule(_eig),
    "schur": Rule(_schur),
}

#: What calls no BLAS here.
BY_KERNEL = frozenset(("triangular_solve", "lu", "tridiagonal_solve"))

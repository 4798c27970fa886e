"""Diagonals, bands and triangles of matrices.

A band of diagonals k = (low, high) is an array [..., high - low + 1, longest], the highest diagonal
first; `align` says at which end the shorter ones stand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..core.avals import Aval
from ..core.dimensions import Size, differ, fit, is_unknown, less, maximum, minimum
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import as_scalar, as_size, as_tensor, dims
from .declare import Number, check_same_dtype, matching, name_ops, op


class _Band(NamedTuple):
    """Where each entry of a packed band stands in the matrix, and the reverse."""

    rows: np.ndarray  # [diagonals, longest]
    columns: np.ndarray
    valid: np.ndarray
    diagonal: np.ndarray  # [rows, columns]: which diagonal, and the place in it
    place: np.ndarray
    inside: np.ndarray


def _band(rows: int, columns: int, low: int, high: int, align: str) -> _Band:
    left_above, left_below = (side == "LEFT" for side in align.split("_"))
    count = high - low + 1
    longest = min(rows + min(high, 0), columns - max(low, 0))
    band = _Band(
        *(np.zeros((count, longest), dtype) for dtype in (int, int, bool)),
        *(np.zeros((rows, columns), dtype) for dtype in (int, int, bool)),
    )
    for which, k in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(k, 0), columns - max(k, 0))
        at_left = (k >= 0 and left_above) or (k <= 0 and left_below)
        start = 0 if at_left else longest - length
        for i in range(length):
            row, column = i - min(k, 0), i + max(k, 0)
            band.rows[which, start + i], band.columns[which, start + i] = row, column
            band.valid[which, start + i] = True
            band.diagonal[row, column], band.place[row, column] = which, start + i
            band.inside[row, column] = True
    return band


#: More diagonals are looked up, entry by entry.
_MOST_SPREAD = 8


def _distances(rows: Size, columns: Size) -> Any:
    """How far each entry of a matrix is above its main diagonal."""
    counted = jnp if is_unknown((rows, columns)) else np
    return counted.arange(columns) - counted.arange(rows)[:, None]


def _spread(packed: Any, out: Any, k: tuple[int, int], align: str) -> Any:
    """`out` [..., rows, columns] with the diagonals of a packed band instead of its own.

    Each is broadcast over the matrix, so that its gradient is a sum and no scatter: of 256 matrices
    256 x 256 that took 346 ms, 5 with this.
    """
    rows, columns = out.shape[-2:]
    if k[1] - k[0] >= _MOST_SPREAD:
        band = _band(rows, columns, *k, align)
        return jnp.where(band.inside, packed[..., band.diagonal, band.place], out)
    left_above, left_below = (side == "LEFT" for side in align.split("_"))
    longest = packed.shape[-1]
    distances = _distances(rows, columns)
    for which, of in enumerate(range(k[1], k[0] - 1, -1)):
        length = minimum(rows + min(of, 0), columns - max(of, 0))
        if less(length, 1):  # a diagonal outside of the matrix, as `diag` allows
            continue
        at_left = (of >= 0 and left_above) or (of <= 0 and left_below)
        start = 0 if at_left else longest - length
        diagonal = packed[..., which, start : start + length]
        more = (rows if of >= 0 else columns) - length
        filled = jnp.pad(diagonal, [(0, 0)] * (diagonal.ndim - 1) + [(0, more)])
        entries = jnp.expand_dims(filled, -1 if of >= 0 else -2)
        out = jnp.where(distances == of, entries, out)
    return out


def _range_of(k: Any) -> tuple[int, int]:
    known = dims(k)
    low, high = (known[0], known[0]) if len(known) == 1 else known
    if low > high:
        raise invalid(
            f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}",
            "MatrixDiagPartV3",
        )
    return low, high


_ALIGN = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _check_align(align: str) -> None:
    if align not in _ALIGN:
        listed = ", ".join(f'"{a}"' for a in _ALIGN)
        raise not_allowed(f'"{align}"', listed, "MatrixDiagPartV3", "align")


def _diag_part(x: Any, padding: Any, k: tuple[int, int], align: str) -> Any:
    if k[0] == k[1] and is_unknown(x.shape[-2:]):
        down, right = -min(k[0], 0), max(k[0], 0)
        place = jnp.arange(minimum(x.shape[-2] - down, x.shape[-1] - right))
        return x[..., place + down, place + right]
    band = _band(x.shape[-2], x.shape[-1], *k, align)
    found = x[..., band.rows, band.columns]
    if not band.valid.all():
        found = jnp.where(band.valid, found, padding)
    return found[..., 0, :] if k[0] == k[1] else found


def _check_rank(avals: tuple[Aval, ...], kernel: str) -> None:
    if len(avals[0].shape) < 2:
        raise invalid(
            f"input must be at least 2-dim, received shape: {shown(avals[0].shape)}", kernel
        )


def _check_range(rows: int, columns: int, k: tuple[int, int], kernel: str) -> None:
    for which, i in zip(("lower_diag_index", "upper_diag_index"), k):
        if i != 0 and (less(i, 1 - rows) or less(columns - 1, i)):
            raise invalid(
                f"{which} is out of bound: {i}. It must be between {-rows} and {columns}", kernel
            )


def _check_diag_part(avals: tuple[Aval, ...], k: tuple[int, int], align: str) -> None:
    _check_rank(avals, "MatrixDiagPartV3")
    _check_align(align)
    _check_range(avals[0].shape[-2], avals[0].shape[-1], k, "MatrixDiagPartV3")


def _padding(value: Any, x: Tensor) -> Tensor:
    """What fills up; the 0 that is the default is False among booleans."""
    return convert(
        False if x.dtype.is_bool and value.__class__ is int and value == 0 else value, x.dtype
    )


_DIAG_PART = Op(_diag_part, "MatrixDiagPartV3", check=_check_diag_part)


@takes_composites
def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Number = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The k-th diagonal of `input` [..., n, m], or the band of diagonals k = (low, high).

    Args:
      padding_value: fills up the shorter diagonals of a band.
      align: "RIGHT_LEFT": those above the main one stand at the right, those below at the left;
        or "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT".
    Returns: [..., length], or [..., high - low + 1, longest] from the highest diagonal down.

    >>> import tape_compat as tf
    >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    x = as_tensor(input)
    padding = _padding(padding_value, x)
    return apply(_DIAG_PART.bind(k=_range_of(k), align=align), (x, padding))


def _diag(x: Any, padding: Any, k: tuple[int, int], rows: int, columns: int, align: str) -> Any:
    packed = jnp.expand_dims(x, -2) if k[0] == k[1] else x
    rows, columns = _diag_size(packed.shape[-1], k, rows, columns)
    full = jnp.broadcast_to(padding, (*packed.shape[:-2], rows, columns))
    # JAX takes nothing from nothing.
    return _spread(packed, full, k, align) if packed.shape[-1] else full


def _diag_size(longest: Size, k: tuple[int, int], rows: Size, columns: Size) -> tuple[Size, Size]:
    least_rows, least_columns = longest - min(k[1], 0), longest + max(k[0], 0)
    if rows == -1 and columns == -1:
        rows = columns = maximum(least_rows, least_columns)
    return least_rows if rows == -1 else rows, least_columns if columns == -1 else columns


def _check_diag(
    avals: tuple[Aval, ...], k: tuple[int, int], rows: int, columns: int, align: str
) -> None:
    have = avals[0].shape
    _check_align(align)
    if not have:
        raise invalid("diagonal must be at least 1-dim, received shape: []", "MatrixDiagV3")
    count = k[1] - k[0] + 1
    if count > 1 and (len(have) < 2 or differ(have[-2], count)):
        raise invalid(
            "The number of diagonals provided in the input does not match the lower_diag_index "
            f"and upper_diag_index range: {shown(have)}, {count}",
            "MatrixDiagV3",
        )
    least = _diag_size(have[-1], k, -1, -1)
    given = _diag_size(have[-1], k, rows, columns)
    low_rows, low_columns = have[-1] - min(k[1], 0), have[-1] + max(k[0], 0)
    if less(given[0], low_rows) or less(given[1], low_columns):
        which = "rows" if less(given[0], low_rows) else "columns"
        raise invalid(
            f"The number of {which} is too small: {given}, at least {least}", "MatrixDiagV3"
        )
    if differ(given[0], low_rows) and differ(given[1], low_columns):
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
            "and diagonal.",
            "MatrixDiagV3",
        )


def _diag_aval(
    avals: tuple[Aval, ...], k: tuple[int, int], rows: Size, columns: Size, align: str
) -> Aval:
    have = avals[0].shape
    batch = have[:-1] if k[0] == k[1] else have[:-2]
    return Aval.of((*batch, *_diag_size(have[-1], k, rows, columns)), avals[0].dtype)


_DIAG = Op(_diag, "MatrixDiagV3", check=_check_diag, shapes=_diag_aval)


def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Number = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with `diagonal` [..., n] as their k-th diagonal, or a band k = (low, high) of them.

    Args:
      num_rows, num_cols: size of the matrices; by default square and as small as can be.
      padding_value: what stands elsewhere.
      align: see `diag_part`.

    >>> import tape_compat as tf
    >>> tf.linalg.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    x = as_tensor(diagonal)
    closure = _DIAG.bind(
        k=_range_of(k), rows=as_size(num_rows), columns=as_size(num_cols), align=align
    )
    return apply(closure, (x, _padding(padding_value, x)))


def _set_diag(x: Any, diagonal: Any, k: tuple[int, int], align: str) -> Any:
    packed = jnp.expand_dims(diagonal, -2) if k[0] == k[1] else diagonal
    return _spread(packed, x, k, align)


def _check_set_diag(avals: tuple[Aval, ...], k: tuple[int, int], align: str) -> None:
    kernel = "MatrixSetDiagV3"
    check_same_dtype(avals, kernel)
    _check_rank(avals, kernel)
    _check_align(align)
    x, diagonal = (aval.shape for aval in avals)
    _check_range(x[-2], x[-1], k, kernel)
    longest = minimum(x[-2] + min(k[1], 0), x[-1] - max(k[0], 0))
    count = k[1] - k[0] + 1
    wanted = (*x[:-2], *((count,) if count > 1 else ()), longest)
    if not fit(diagonal, wanted):
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or "
            "diagonal.shape[:-1] is not equal to the longests diagonal in range "
            "[lower_diag_index:upper_diag_index]. "
            f"Input shape: {shown(x)}, diagonal shape: {shown(diagonal)}, wanted {shown(wanted)}",
            kernel,
        )


_SET_DIAG = Op(
    _set_diag,
    "MatrixSetDiagV3",
    check=_check_set_diag,
    shapes=lambda avals, k, align: avals[0],
)


def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """`input` [..., n, m] with its k-th diagonal, or a band k = (low, high), replaced.

    >>> import tape_compat as tf
    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [0, 0]).numpy().tolist()
    [[0, 2], [3, 0]]
    """
    closure = _SET_DIAG.bind(k=_range_of(k), align=align)
    return apply(closure, tuple(matching((input, diagonal))))


def _band_part(x: Any, lower: int, upper: int) -> Any:
    rows, columns = x.shape[-2:]
    distance = _distances(rows, columns)
    kept = ((lower < 0) | (-distance <= lower)) & ((upper < 0) | (distance <= upper))
    return jnp.where(kept, x, jnp.zeros((), x.dtype))


def _check_band_part(avals: tuple[Aval, ...], lower: int, upper: int) -> None:
    _check_rank(avals, "MatrixBandPart")
    for which, what, n, given in zip(
        ("lower", "upper"), ("rows", "columns"), avals[0].shape[-2:], (lower, upper)
    ):
        if less(n, given):
            raise invalid(
                f"num_{which} must be negative or less or equal to number of {what} ({n}) "
                f"got: {given}",
                "MatrixBandPart",
            )


_BAND_PART = Op(
    _band_part,
    "MatrixBandPart",
    check=_check_band_part,
    shapes=lambda avals, lower, upper: avals[0],
)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """`input` [..., n, m] with zeros outside a band around the main diagonal.

    `num_lower` diagonals below and `num_upper` above are kept, all of them if negative.

    >>> import tape_compat as tf
    >>> tf.linalg.band_part([[1, 2], [3, 4]], 0, -1).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    lower, upper = (
        as_size(as_scalar(n, "MatrixBandPart", f"num_{which} must be scalar, got shape "))
        for n, which in ((num_lower, "lower"), (num_upper, "upper"))
    )
    closure = _BAND_PART.bind(lower=lower, upper=upper)
    return apply(closure, (as_tensor(input),))


def _check_trace(avals: tuple[Aval, ...]) -> None:
    _check_rank(avals, "MatrixDiagPartV3")


@op(kernel="Sum", dtypes="float complex integer", check=_check_trace)
def trace(x, name=None):
    """The sum of the main diagonal of `x` [..., n, m].

    >>> import tape_compat as tf
    >>> float(tf.linalg.trace([[1.0, 2.0], [3.0, 4.0]]))
    5.0
    """
    return jnp.sum(jnp.diagonal(x, axis1=-2, axis2=-1), -1, dtype=x.dtype)


def _check_tensor_diag(avals: tuple[Aval, ...]) -> None:
    if not avals[0].shape:
        raise invalid("Input must be at least rank 1, got 0", "Diag")


@op(kernel="Diag", check=_check_tensor_diag)
def tensor_diag(diagonal, name=None):
    """A tensor [*shape, *shape] with `diagonal` where both halves of the index are equal.

    >>> import tape_compat as tf
    >>> tf.linalg.tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    return jnp.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


def _check_tensor_diag_part(avals: tuple[Aval, ...]) -> None:
    have = avals[0].shape
    half = len(have) // 2
    if len(have) % 2:
        raise invalid(
            f"The rank of the tensor should be even and positive, got shape {shown(have)}",
            "DiagPart",
        )
    for i in range(half):
        if differ(have[i], have[i + half]):
            raise invalid(
                f"Invalid shape {shown(have)}: dimensions {i} and {i + half} do not match.",
                "DiagPart",
            )


@op(kernel="DiagPart", check=_check_tensor_diag_part)
def tensor_diag_part(input, name=None):
    """What stands in `input` [*shape, *shape] where both halves of the index are equal.

    >>> import tape_compat as tf
    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    half = input.shape[: input.ndim // 2]
    n = int(np.prod(half))
    return jnp.diagonal(input.reshape(n, n)).reshape(half)


name_ops(globals())

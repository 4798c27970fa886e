"""`x[...]` with arrays, as NumPy has it, for `experimental_enable_numpy_behavior`."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ...core import dtypes
from ...values.tensor import Tensor
from ...values.variable import Variable
from .. import selection as _selection
from ..casting import cast
from ..gather_scatter import gather, gather_nd
from ..indexing import getitem
from ..joining import stack
from ..shapes import reshape
from .arrays import as_array, promoted
from .selection import from_start
from .shapes import broadcast_arrays, moveaxis

_VALID = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)
_WHOLE = slice(None)
_ARRAYS = (Tensor, Variable, np.ndarray, jax.Array)


def _entries(index: Any) -> tuple[Any, ...]:
    """The entries of an index: of a list that is no array too."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and any(map(_is_no_number, index)):
        return tuple(index)
    return (index,)


def _is_no_number(item: Any) -> bool:
    if item is None or item is Ellipsis or isinstance(item, (list, tuple, slice)):
        return True
    return isinstance(item, _ARRAYS) and len(item.shape) > 0


def _plain(entry: Any) -> Any:
    """An entry; a number of another integer dtype as one that slicing takes."""
    if entry is None or entry is Ellipsis or isinstance(entry, (int, slice, list, tuple)):
        return entry
    x = as_array(entry)
    if x.ndim or x.dtype in (dtypes.int32, dtypes.int64):
        return entry
    return _places(x)


def _is_array(entry: Any) -> bool:
    """Whether an entry takes several places along its axis."""
    if isinstance(entry, _ARRAYS):
        return len(entry.shape) > 0 or np.dtype(entry.dtype.name).kind not in "iu"
    return isinstance(entry, (list, tuple))


def _places(entry: Any) -> Tensor:
    """An array of an index as numbers of places. Raises IndexError for what is none."""
    x = as_array(entry)
    if x.dtype.is_bool:
        if x.ndim != 1:
            raise NotImplementedError(f"Need rank 1 for bool index {entry}")
        return reshape(_selection.where(x), [-1])
    if not x.dtype.is_integer or x.dtype is dtypes.uint64:
        raise IndexError(f"{_VALID}, got {entry!r}")
    return x if x.dtype in (dtypes.int32, dtypes.int64) else cast(x, dtypes.int64)


def numpy_getitem(x: Tensor, index: Any) -> Tensor:
    """`x[index]`, where entries of the index may be arrays of integers or of bools.

    Several arrays broadcast. Where they stand side by side what they take stands in their place;
    otherwise in front. An integer takes its axis away before.
    Raises: IndexError for an entry that is no index.
    """
    if index.__class__ in (int, bool, slice):
        return getitem(x, index)
    dtype = getattr(index, "dtype", None)
    if dtype is dtypes.bool or dtype == np.bool_:
        return getitem(x, index)
    entries = tuple(map(_plain, _entries(index)))
    arrays = [i for i, entry in enumerate(entries) if _is_array(entry)]
    if not arrays:
        return getitem(x, entries)
    rest = getitem(x, tuple(_WHOLE if i in arrays else e for i, e in enumerate(entries)))
    axes = [_axis_of(entries, i, arrays, rest.ndim) for i in arrays]
    return _taken(rest, axes, [_places(entries[i]) for i in arrays])


def _axis_of(entries: tuple[Any, ...], i: int, arrays: list[int], rank: int) -> int:
    """The axis of the result of the other entries that entry `i` indexes."""

    def width(part: tuple[int, ...]) -> int:
        kept = [entries[k] for k in part]
        return sum(e is None or isinstance(e, slice) or k in arrays for k, e in zip(part, kept))

    if any(entry is Ellipsis for entry in entries[:i]):
        return rank - width(tuple(range(i, len(entries))))
    return width(tuple(range(i)))


def _taken(x: Tensor, axes: list[int], places: list[Tensor]) -> Tensor:
    places = [from_start(p, x, axis) for axis, p in zip(axes, places)]
    if len(axes) == 1:
        return gather(x, places[0], axis=axes[0])
    common = broadcast_arrays(*promoted(*places))
    front = list(range(len(axes)))
    found = gather_nd(moveaxis(x, axes, front), stack(common, -1))
    if axes != list(range(axes[0], axes[0] + len(axes))):
        return found
    batch = range(common[0].ndim)
    return moveaxis(found, batch, [axes[0] + i for i in batch])

"""Indices outside their range: an error where the host knows them, dropped where it does not.

TensorFlow raises on the CPU, and drops on a GPU, as a compiled program must. It never counts
negative indices from the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from ..core.dimensions import Size, is_symbolic, less
from ..core.native import native
from ..core.refuse import invalid, shown

if TYPE_CHECKING:
    from .tensor import Tensor

#: Characters of a size's expression, beyond which nobody asks whether it may be 0.
LONG_EXPRESSION = 100


def scattered(at: Any, method: str, updates: Any) -> Any:
    """`x.at[...]` with updates: what lies outside is left out, and no index counts from the end."""
    return getattr(at, method)(updates, mode="drop", wrap_negative_indices=False)


def _may_be_empty(size: Any) -> bool:
    """Whether an axis may have no element. JAX's time to decide doubles with each division in
    another, so a long expression counts as a size that is not 0."""
    return not (len(str(size)) > LONG_EXPRESSION or less(0, size))


def not_empty(x: Any, axes: Iterable[int]) -> Any:
    """An array with zeros behind the end of axes that may have no element: JAX takes none of
    nothing."""
    short = [axis for axis in axes if _may_be_empty(x.shape[axis])]
    if not short:
        return x
    return jnp.pad(x, [(0, int(axis in short)) for axis in range(x.ndim)])


def of_rows(function: Callable[[Any, Any], Any], x: Any, places: Any, axes: Iterable[int]) -> Any:
    """What a function picks of `x` at places, row by row along axes that may have no row."""
    short = [axis for axis in axes if _may_be_empty(x.shape[axis])]
    found = function(not_empty(x, short), not_empty(places, short))
    for axis in short:
        found = lax.slice_in_dim(found, 0, x.shape[axis], axis=axis)
    return found


def along(x: Any, places: Any, axis: int) -> Any:
    """The elements at places along an axis, of arrays that may be empty."""
    axis %= x.ndim
    rows = [i for i in range(x.ndim) if i != axis]
    given = not_empty(x, (axis,))
    return of_rows(lambda x, at: jnp.take_along_axis(x, at, axis), given, places, rows)


def host_value(tensor: Tensor) -> np.ndarray | None:
    """The value of a host constant, None for anything else."""
    array = tensor._array
    return array if array.__class__ is np.ndarray else None


def present_value(tensor: Tensor) -> np.ndarray | None:
    """A value that is there, in the memory of the host: for checks, since a program must not follow
    from what was computed. None for anything else."""
    array = tensor._array
    if array is None or isinstance(array, np.ndarray):
        return array
    return np.asarray(array) if _on_cpu(array) else None


def _known(indices: Tensor) -> np.ndarray | None:
    """Indices that are there, are integers and are in the memory of the host."""
    known = present_value(indices)
    return known if known is not None and known.size and known.dtype.kind in "iu" else None


def _on_cpu(array: jax.Array) -> bool:
    """Whether an array lies on one CPU, which makes it NumPy's without a copy."""
    if isinstance(array, Tracer):
        return False
    devices = array.sharding.device_set
    return len(devices) == 1 and next(iter(devices)).platform == "cpu"


@native
def within(array: Any, sizes: tuple[int, ...]) -> bool:
    """Whether an integer array [..., k] in the host's memory is inside axes of these k sizes; of
    one size, whether all of its numbers are. True for an array that is elsewhere."""
    if not isinstance(array, np.ndarray) and not _on_cpu(array):
        return True
    known = np.asarray(array)
    return bool(((known >= 0) & (known < np.array(sizes))).all())


def _outside(indices: Tensor, sizes: tuple[int, ...]) -> np.ndarray | None:
    """Indices that are there, are integers and are in the memory of the host, if one of them is
    outside of its axis; None if none is."""
    array = indices._array
    if array is None or indices._aval.np_dtype.kind not in "iu" or within(array, sizes):
        return None
    return np.asarray(array)


def _known_size(size: Size) -> int:
    """A size, or what no place is past if it is unknown."""
    return _ENDLESS if is_symbolic(size) else size


def refuse_rows(indices: Tensor, rows: Size, kernel: str) -> None:
    """TensorFlow's error for a row that is not there."""
    size = rows if rows.__class__ is int else _known_size(rows)
    known = _outside(indices, (size,))
    if known is None:
        return
    at = np.argwhere((known < 0) | (known >= size))[0]
    raise invalid(f"indices{_place(at)} = {known[tuple(at)]} is not in [0, {rows})", kernel)


def refuse_at(at: Size, size: Size, axis: int) -> None:
    """TensorFlow's error for a place, counted from the start, that an axis has not."""
    if less(at, 0) or less(size - 1, at):
        raise invalid(f"slice index {at} of dimension {axis} out of bounds.", "StridedSlice")


def refuse_place(place: Tensor, size: Size, axis: int) -> None:
    """The same for a scalar tensor, whose place may be counted from the end."""
    known = present_value(place)
    if known is not None:
        at = int(known)
        refuse_at(at + size if at < 0 else at, size, axis)


def refuse_no_permutation(numbers: Tensor, kernel: str) -> None:
    """TensorFlow's error for a vector [n] that does not hold each of 0, ..., n - 1."""
    known = _known(numbers)
    if known is None or known.ndim != 1:
        return
    bad = known[(known < 0) | (known >= known.size)]
    if bad.size:
        raise invalid(f"{bad[0]} is not between 0 and {known.size}", kernel)
    seen, first = np.unique(known, return_index=True)
    if seen.size < known.size:
        again = np.delete(known, first)[0]
        raise invalid(f"{again} is duplicated in the input.", kernel)


def refuse_labels(labels: Tensor, classes: int, kernel: str) -> None:
    """TensorFlow's error for a label that is of no class."""
    known = None if is_symbolic(classes) else _outside(labels, (classes,))
    if known is None:
        return
    bad = known[(known < 0) | (known >= classes)][0]
    raise invalid(
        f"Received a label value of {bad} which is outside the valid range of [0, {classes}).  "
        f"Label values: {' '.join(map(str, known.ravel().tolist()))}",
        kernel,
    )


def refuse_segments(ids: Tensor, segments: int, kernel: str) -> None:
    """TensorFlow's error for a segment that is not there. Negative ones are left out."""
    known = None if is_symbolic(segments) else _outside(ids, (segments,))
    if known is None or known.max() < segments:
        return
    at = np.argwhere(known >= segments)[0]
    value = known[tuple(at)]
    raise invalid(f"segment_ids{_place(at)} = {value} is out of range [0, {segments})", kernel)


def refuse_positions(indices: Tensor, shape: Sequence[int], kernel: str, what: str = "") -> None:
    """TensorFlow's error for full indices [..., k] that lie outside `shape`, which is `what`'s."""
    depth = indices._aval.shape[-1] if indices._aval.shape else 0
    if is_symbolic(depth) or not 0 < depth <= len(shape):
        return
    sizes = tuple(map(_known_size, shape[:depth]))
    known = _outside(indices, sizes)
    if known is None:
        return
    at = np.argwhere(((known < 0) | (known >= np.array(sizes))).any(-1))[0]
    position = ", ".join(map(str, known[tuple(at)].tolist()))
    raise invalid(
        f"indices{_place(at)} = [{position}] does not index into {what}shape {shown(shape)}",
        kernel,
    )


#: In the place of a size that is unknown.
_ENDLESS = np.iinfo(np.int64).max


def _place(at: np.ndarray) -> str:
    return shown(at.tolist()) if at.size else ""

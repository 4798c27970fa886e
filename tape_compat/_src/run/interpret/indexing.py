"""Rules of gather and scatter: which elements, as numbers in the flat array."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from jax import lax

from .rule import Avals, Function, Params, Rule, moving

_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


class _Windows:
    """Windows of an array, one for each row of indices.

    Args:
      shape, sizes: of the array and of a window.
      axes: the axis that each column of the indices counts along.
      batch: pairs of an axis of the array and one of the indices that go together.
      kept: the axes that a window keeps.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        sizes: tuple[int, ...],
        axes: tuple[int, ...],
        batch: tuple[tuple[int, int], ...],
        kept: tuple[int, ...],
    ):
        self.shape, self.sizes, self.axes, self.batch, self.kept = shape, sizes, axes, batch, kept
        self._most = np.array([shape[a] - sizes[a] for a in axes], np.int64)
        self._last = shape[axes[0]] - sizes[axes[0]] if axes else 0
        self._strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        self._columns = np.array([self._strides[a] for a in axes], np.int64)

    def first(self, indices: Any) -> Any:
        """The places of the windows [..., columns], moved inside."""
        if indices.dtype.kind == "u":
            indices = np.minimum(indices, np.uint64(2**62)).astype(np.int64)
        return np.minimum(np.maximum(indices, 0), self._most)

    def holds(self, indices: Any) -> bool:
        """Whether all windows along one axis are inside."""
        words = indices.view(_UNSIGNED[indices.dtype.itemsize])  # a negative one is a large one
        return bool(np.maximum.reduce(words, None) <= self._last)

    def elements(self, first: Any) -> Any:
        """Numbers of the elements [..., sizes of the axes kept]."""
        lead = first.shape[:-1]
        flat = first @ self._columns
        for axis, other in self.batch:
            along = [-1 if i == other else 1 for i in range(len(lead))]
            flat = flat + (np.arange(lead[other]) * self._strides[axis]).reshape(along)
        for axis in self.kept:
            flat = flat[..., None] + np.arange(self.sizes[axis]) * self._strides[axis]
        return flat

    def along(self) -> int | None:
        """The axis along which whole slices are taken, one at a time; None if it is not that."""
        if len(self.axes) != 1 or self.batch:
            return None
        axis = self.axes[0]
        rest = tuple([i for i in range(len(self.shape)) if i != axis])
        whole = all(self.sizes[i] == self.shape[i] for i in rest)
        return axis if whole and self.kept == rest else None


def _inside(first: Any, indices: Any) -> Any:
    """Which windows need not be moved [...]."""
    return np.equal(first, indices).all(-1)


def _fill_value(params: Params, dtype: Any) -> Any:
    """What there is outside, if nothing is said."""
    value = params.get("fill_value")
    if value is not None:
        return np.asarray(value).astype(dtype)
    if dtype.kind in "fcV":
        return dtype.type(np.nan)
    if dtype.kind == "b":
        return np.True_
    return dtype.type(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max)


def _gather_windows(params: Params, ins: Avals) -> _Windows:
    numbers = params["dimension_numbers"]
    shape = ins[0].shape
    batched = tuple(getattr(numbers, "operand_batching_dims", ()))
    others = tuple(getattr(numbers, "start_indices_batching_dims", ()))
    gone = {*numbers.collapsed_slice_dims, *batched}
    kept = tuple([i for i in range(len(shape)) if i not in gone])
    pairs = tuple(zip(batched, others, strict=True))
    return _Windows(
        shape, tuple(params["slice_sizes"]), tuple(numbers.start_index_map), pairs, kept
    )


def _order(offsets: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Puts axes that are last to the places `offsets`, and the others between."""
    lead = iter(range(rank - len(offsets)))
    last = iter(range(rank - len(offsets), rank))
    return tuple([next(last) if i in offsets else next(lead) for i in range(rank)])


def _to_front(along: int, count: int, rank: int) -> tuple[int, ...] | None:
    """Puts so many axes from `along` on before the others; None if they are there."""
    if along == 0 or count == 0:
        return None
    moved = range(along, along + count)
    return (*moved, *[i for i in range(rank) if i not in moved])


def _gather(params: Params, ins: Avals, outs: Avals) -> Function:
    windows, out = _gather_windows(params, ins), outs[0]
    order = _order(tuple(params["dimension_numbers"].offset_dims), len(out.shape))
    value = _fill_value(params, out.dtype)
    along, still = windows.along(), order == tuple(range(len(order)))
    front = None if along is None else _to_front(along, len(ins[1].shape) - 1, len(out.shape))
    if 0 in out.shape or 0 in windows.shape:
        return lambda x, indices: np.full(out.shape, value, out.dtype)

    def taken(x: Any, first: Any, mode: Any = "raise") -> Any:
        """[indices, axes kept]"""
        if along is None:
            return np.ravel(x)[windows.elements(first)]
        places = first[..., 0]
        found = x.take(places, along, None, mode)
        return found if front is None else found.transpose(front)

    def clipped(x: Any, indices: Any) -> Any:
        if along is None or indices.dtype.kind == "u":
            found = taken(x, windows.first(indices))
        else:
            found = taken(x, indices, "clip")
        return found if still else found.transpose(order)

    def filled(x: Any, indices: Any) -> Any:
        if along is not None and windows.holds(indices):
            found = taken(x, indices)
            return found if still else found.transpose(order)
        first = windows.first(indices)
        found, inside = taken(x, first), _inside(first, indices)
        if not inside.all():
            found = np.where(inside[(..., *(None,) * len(windows.kept))], found, value)
        return found if still else found.transpose(order)

    return filled if params["mode"] == lax.GatherScatterMode.FILL_OR_DROP else clipped


def _scatter_windows(params: Params, ins: Avals) -> _Windows:
    numbers = params["dimension_numbers"]
    shape, updates = ins[0].shape, ins[2].shape
    batched = tuple(getattr(numbers, "operand_batching_dims", ()))
    others = tuple(getattr(numbers, "scatter_indices_batching_dims", ()))
    gone = {*numbers.inserted_window_dims, *batched}
    kept = tuple([i for i in range(len(shape)) if i not in gone])
    sizes = [1] * len(shape)
    for i, axis in zip(kept, numbers.update_window_dims, strict=True):
        sizes[i] = updates[axis]
    axes = tuple(numbers.scatter_dims_to_operand_dims)
    return _Windows(shape, tuple(sizes), axes, tuple(zip(batched, others, strict=True)), kept)


class Scatter:
    """What does a scatter: a copy of the array, of which some elements are then changed by `put`.

    Attributes:
      put: takes the flat array, the places in it and the updates; a function in C, so that no
        signal comes between.
    """

    def __init__(self, put: Function, windows: _Windows, order: tuple[int, ...], moves: bool):
        self.put = put
        self._windows, self._order, self._moves = windows, order, moves

    def places(self, indices: Any, updates: Any) -> tuple[Any, Any]:
        """Which elements change, in the flat array, and the updates for them."""
        first = self._windows.first(indices)
        places, updates = self._windows.elements(first), updates.transpose(self._order)
        if not self._moves and not (inside := _inside(first, indices)).all():
            places, updates = places[inside], updates[inside]
        return places.reshape(-1), updates.reshape(-1)

    def __call__(self, x: Any, indices: Any, updates: Any) -> Any:
        out = np.array(x, order="C")
        self.put(out.reshape(-1), *self.places(indices, updates))
        return out


def _scatter(put: Function) -> Rule:
    def build(params: Params, ins: Avals, outs: Avals) -> Function | None:
        windows = _scatter_windows(params, ins)
        inner = params["dimension_numbers"].update_window_dims
        rank = len(ins[2].shape)
        order = (*[i for i in range(rank) if i not in inner], *inner)
        if 0 in ins[2].shape or 0 in windows.shape:
            return lambda x, indices, updates: x
        return Scatter(put, windows, order, params["mode"] == lax.GatherScatterMode.CLIP)

    return Rule(build)


_UPDATES = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
SCATTERS: dict[str, Rule] = {
    "scatter": _scatter(operator.setitem),
    **{f"scatter-{name}": _scatter(function.at) for name, function in _UPDATES.items()},
    **{f"scatter_{name}": _scatter(function.at) for name, function in _UPDATES.items()},
}
TABLE: dict[str, Rule] = {"gather": moving(_gather), **SCATTERS}

"""Rules of gather and scatter: which elements, as numbers in the flat array."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .movement import broadcast
from .rule import Avals, Function, Params, Rule, moving


class _Windows(NamedTuple):
    """Windows of an array, one for each row of indices.

    shape, sizes: of the array and of a window. axes: the axis that each column of the indices
    counts along. batch: pairs of an axis of the array and one of the indices that go together.
    kept: the axes that a window keeps.
    """

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    axes: tuple[int, ...]
    batch: tuple[tuple[int, int], ...]
    kept: tuple[int, ...]

    def first(self, indices: Any) -> tuple[Any, Any]:
        """The places of the windows [..., columns] moved inside, and which were inside [...]."""
        most = np.array([self.shape[a] - self.sizes[a] for a in self.axes], np.int64)
        if indices.dtype.kind == "u":
            indices = np.minimum(indices, np.uint64(2**62)).astype(np.int64)
        moved = np.clip(indices, 0, most)
        return moved, np.equal(moved, indices).all(-1)

    def elements(self, first: Any) -> Any:
        """Numbers of the elements [..., sizes of the axes kept]."""
        strides = [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]
        lead = first.shape[:-1]
        flat = first @ np.array([strides[a] for a in self.axes], np.int64)
        for axis, other in self.batch:
            along = [-1 if i == other else 1 for i in range(len(lead))]
            flat = flat + (np.arange(lead[other]) * strides[axis]).reshape(along)
        for axis in self.kept:
            flat = flat[..., None] + np.arange(self.sizes[axis]) * strides[axis]
        return flat


def _filling(params: Params) -> bool:
    return str(params["mode"]).endswith(("FILL_OR_DROP", "1"))


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


def _along_one_axis(windows: _Windows) -> int | None:
    """The axis, if whole rows along one axis are taken, one at a time."""
    if len(windows.axes) != 1 or windows.batch:
        return None
    axis = windows.axes[0]
    whole = [i for i in range(len(windows.shape)) if i != axis]
    fits = all(windows.sizes[i] == windows.shape[i] for i in whole)
    return axis if fits and list(windows.kept) == whole else None


def _gather(params: Params, ins: Avals, outs: Avals) -> Function:
    windows, out = _gather_windows(params, ins), outs[0]
    order = _order(tuple(params["dimension_numbers"].offset_dims), len(out.shape))
    axis = _along_one_axis(windows)
    if 0 in out.shape or 0 in windows.shape:
        value = _fill_value(params, out.dtype)
        return lambda x, indices: np.full(out.shape, value, out.dtype)

    def taken(x: Any, first: Any) -> Any:
        """[indices, axes kept]"""
        if axis == 0:
            return x[first[..., 0]]
        if axis is not None:
            return np.moveaxis(x, axis, 0)[first[..., 0]]
        return np.ravel(x)[windows.elements(first)]

    def clipped(x: Any, indices: Any) -> Any:
        return taken(x, windows.first(indices)[0]).transpose(order)

    if not _filling(params):
        return clipped
    value = _fill_value(params, out.dtype)

    def filled(x: Any, indices: Any) -> Any:
        first, inside = windows.first(indices)
        found = taken(x, first)
        if not inside.all():
            found = np.where(inside[(..., *(None,) * len(windows.kept))], found, value)
        return found.transpose(order)

    return filled


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


def _put(flat: Any, places: Any, values: Any) -> None:
    flat[places] = values


def _scatter(put: Function) -> Rule:
    def build(params: Params, ins: Avals, outs: Avals) -> Function | None:
        windows = _scatter_windows(params, ins)
        inner = params["dimension_numbers"].update_window_dims
        rank = len(ins[2].shape)
        order = (*[i for i in range(rank) if i not in inner], *inner)
        moves = str(params["mode"]).endswith(("CLIP", "0"))
        if 0 in ins[2].shape or 0 in windows.shape:
            return lambda x, indices, updates: x

        def function(x: Any, indices: Any, updates: Any) -> Any:
            out = np.array(x, order="C")
            first, inside = windows.first(indices)
            places, updates = windows.elements(first), updates.transpose(order)
            if not moves and not inside.all():
                places, updates = places[inside], updates[inside]
            put(out.reshape(-1), places.reshape(-1), updates.reshape(-1))
            return out

        return function

    return Rule(build)


def _rules() -> dict[str, Rule]:
    functions = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
    }
    found = {"scatter": _scatter(_put)}
    for name, function in functions.items():
        found[f"scatter-{name}"] = found[f"scatter_{name}"] = _scatter(function.at)
    return found


TABLE: dict[str, Rule] = {"gather": moving(_gather), **_rules()}

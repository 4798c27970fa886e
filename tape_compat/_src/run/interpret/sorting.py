"""Rules of sorting, by a kernel of this library's own where that is quicker (`native/order.c`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.native import KERNELS
from .elementwise import in_total_order
from .rule import Avals, Function, Params, Rule, moving

_ORDER = getattr(KERNELS, "order", None)
_LARGEST: Any = getattr(KERNELS, "largest", None)

#: So many of the largest are found without sorting.
MOST_BY_KERNEL = 64

#: Of fewer numbers NumPy sorts quicker: 64 in 2.5 us, 1,000 in 22, by the kernel in 11.
LEAST_BY_KERNEL = 200

BY_KERNEL = frozenset(map(np.dtype, ("int32", "int64", "float32", "float64")))


def places_in_order(x: Any, axis: int, descending: bool = False) -> Any:
    """The places along an axis that sort numbers; equal ones keep their order."""
    if _ORDER is None or x.dtype not in BY_KERNEL or x.size < LEAST_BY_KERNEL:
        return np.argsort(np.invert(x) if descending else x, axis, kind="stable")
    rows = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    places = np.empty(rows.shape, np.int32)
    _ORDER(rows, places, descending)
    return np.moveaxis(places, -1, axis)


def _keys(x: Any) -> list[Any]:
    """What to compare, the most important first."""
    if x.dtype.kind == "c":
        return [x.real, x.imag]
    return [x.astype(np.float32) if x.dtype.kind == "V" else x]


class Sorting:
    """Sorts arrays by the first `keys` of them. What it takes is not less in a compiled program."""

    stays = True

    def __init__(self, axis: int, keys: int):
        self._axis, self._keys = axis, keys

    def __call__(self, *arrays: Any) -> list[Any]:
        compared = [key for x in arrays[: self._keys] for key in _keys(x)]
        if len(compared) == 1:
            places = places_in_order(compared[0], self._axis)
        else:
            places = np.lexsort(compared[::-1], self._axis)
        return [np.take_along_axis(x, places, self._axis) for x in arrays]


def _sort(params: Params, ins: Avals, outs: Avals) -> Function:
    axis = params["dimension"]
    if len(ins) == 1 and ins[0].dtype.kind not in "cV":
        return lambda x: [np.sort(x, axis)]
    return Sorting(axis, params["num_keys"])


def by_kernel(params: Params, ins: Avals) -> bool:
    """Whether the kernel finds the largest."""
    shape, k = ins[0].shape, params["k"]
    last = params.get("axis", len(shape) - 1) % len(shape) == len(shape) - 1
    fits = last and 0 < k <= MOST_BY_KERNEL and 0 not in shape
    return fits and _LARGEST is not None and ins[0].dtype in BY_KERNEL


class _Largest:
    """The largest of rows. What that takes is not less in a compiled program."""

    stays = True

    def __init__(self, outs: Avals):
        self._shape, self._dtypes = outs[0].shape, [aval.dtype for aval in outs]

    def __call__(self, x: Any) -> tuple[Any, Any]:
        values, places = np.empty(self._shape, self._dtypes[0]), np.empty(self._shape, np.int32)
        _LARGEST(np.ascontiguousarray(x), values, places)
        return values, places.astype(self._dtypes[1], copy=False)


def _top_k(params: Params, ins: Avals, outs: Avals) -> Function:
    """In the order of bits, the first of equal ones first."""
    axis = params.get("axis", len(ins[0].shape) - 1) % len(ins[0].shape)
    if by_kernel(params, ins):
        return _Largest(outs)
    first = (*(slice(None),) * axis, slice(0, params["k"]))
    dtype = outs[1].dtype

    def function(x: Any) -> tuple[Any, Any]:
        places = places_in_order(in_total_order(x), axis, descending=True)[first]
        return np.take_along_axis(x, places, axis), places.astype(dtype)

    return function


TABLE: dict[str, Rule] = {
    "sort": moving(_sort),
    "top_k": moving(_top_k),
}

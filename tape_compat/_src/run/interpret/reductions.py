"""Rules of reductions, running reductions and windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .rule import SHORT_AXIS, SMALL, Avals, Function, Params, Rule, same, size

_BOOL = np.dtype(bool)


def least(dtype: Any) -> Any:
    """What the largest of nothing is."""
    if dtype == _BOOL:
        return np.False_
    return dtype.type(-np.inf) if dtype.kind in "fcV" else np.iinfo(dtype).min


def most(dtype: Any) -> Any:
    if dtype == _BOOL:
        return np.True_
    return dtype.type(np.inf) if dtype.kind in "fcV" else np.iinfo(dtype).max


def _reduce(function: np.ufunc, start: Callable[[Any], Any] | None = None) -> Rule:
    """A reduction by a NumPy function; `start` gives what there is of nothing."""
    reduce = function.reduce

    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        axes, dtype = tuple(params["axes"]), ins[0].dtype
        if not axes:
            return same
        if len(axes) == 1 and _folds(ins[0], axes[0]):
            return _folded(function, axes[0], ins[0].shape[axes[0]])
        together = _rows_together(ins[0], axes)
        if together > 1:
            return _by_long_rows(function, axes, together, dtype)
        if start is None:
            return lambda x: reduce(x, axes, dtype)
        if 0 in ins[0].shape:
            nothing = start(dtype)
            return lambda x: reduce(x, axes, dtype, initial=nothing)
        return lambda x: reduce(x, axes)

    return Rule(build)


def _folds(aval: Any, axis: int) -> bool:
    return 1 < aval.shape[axis] <= SHORT_AXIS and size(aval) > SMALL


#: Elements that are reduced side by side, where each row of an array has fewer.
LONG_ROW = 1024


def _rows_together(aval: Any, axes: tuple[int, ...]) -> int:
    """Where all axes but the last ones are reduced, which are short: how many rows to reduce as one
    long row, which divides their number. The sum over 32 x 26 x 26 x 8 took 300 us, 18 so."""
    kept = math.prod(aval.shape[len(axes) :])
    leading = sorted(axes) == list(range(len(axes)))
    if not leading or not 1 < kept <= LONG_ROW // 2 or size(aval) <= SMALL:
        return 1
    if aval.dtype.kind not in "iufc" or aval.dtype.itemsize < 4:
        return 1
    rows = size(aval) // kept
    return next(n for n in range(LONG_ROW // kept, 0, -1) if rows % n == 0)


def _by_long_rows(function: np.ufunc, axes: tuple[int, ...], together: int, dtype: Any) -> Function:
    """Rows of that many side by side, then what lies side by side."""
    reduce, first = function.reduce, len(axes)

    def by_long_rows(x: Any) -> Any:
        if not x.flags.c_contiguous:
            return reduce(x, axes, dtype)
        kept = x.shape[first:]
        row = math.prod(kept) * together
        return reduce(reduce(x.reshape(-1, row), 0, dtype).reshape(together, *kept), 0, dtype)

    return by_long_rows


def _parts(axis: int, length: int) -> list[tuple[Any, ...]]:
    """What lies beside each element of an axis."""
    return [(*(slice(None),) * axis, i) for i in range(length)]


def _folded(function: np.ufunc, axis: int, length: int) -> Function:
    """Element by element of a short axis, each with all that lie beside it."""
    parts = _parts(axis, length)

    def folded(x: Any) -> Any:
        out = function(x[parts[0]], x[parts[1]])
        for part in parts[2:]:
            out = function(out, x[part])
        return out

    return folded


def _extreme(function: Callable[..., Any], extreme: np.ufunc) -> Rule:
    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        (axis,), dtype = params["axes"], outs[0].dtype
        if ins[0].dtype.kind in "iuf" and _folds(ins[0], axis):
            return _first(extreme, axis, ins[0].shape[axis], dtype)
        return lambda x: function(x, axis).astype(dtype)

    return Rule(build)


def _first(extreme: np.ufunc, axis: int, length: int, dtype: Any) -> Function:
    """Where along a short axis the first extreme is, a NaN being one."""
    fold, parts = _folded(extreme, axis, length), _parts(axis, length)

    def first(x: Any) -> Any:
        found = fold(x)
        later, number = np.ones(found.shape, bool), np.zeros(found.shape, np.int8)
        for part in parts[:-1]:
            later &= (x[part] != found) & (x[part] == x[part])
            number += later
        return number.astype(dtype)

    return first


# -- running ---------------------------------------------------------------------------------------


def _running(function: np.ufunc) -> Rule:
    accumulate = function.accumulate

    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        axis, dtype = params["axis"], ins[0].dtype
        if not params["reverse"]:
            return lambda x: accumulate(x, axis, dtype)
        turn = (*(slice(None),) * axis, slice(None, None, -1))
        return lambda x: accumulate(x[turn], axis, dtype)[turn]

    return Rule(build)


TABLE: dict[str, Rule] = {
    "reduce_sum": _reduce(np.add),
    "reduce_prod": _reduce(np.multiply),
    "reduce_max": _reduce(np.maximum, least),
    "reduce_min": _reduce(np.minimum, most),
    "reduce_and": _reduce(np.bitwise_and),
    "reduce_or": _reduce(np.bitwise_or),
    "reduce_xor": _reduce(np.bitwise_xor),
    "argmax": _extreme(np.argmax, np.maximum),
    "argmin": _extreme(np.argmin, np.minimum),
    "cumsum": _running(np.add),
    "cumprod": _running(np.multiply),
    "cummax": _running(np.maximum),
    "cummin": _running(np.minimum),
    "cumlogsumexp": _running(np.logaddexp),
}

"""Rules of reductions, running reductions, sorting and windows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .elementwise import in_total_order
from .movement import spread
from .rule import Avals, Build, Function, Params, Rule, moving, same

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
        if start is None:
            return lambda x: reduce(x, axes, dtype)
        if 0 in ins[0].shape:
            nothing = start(dtype)
            return lambda x: reduce(x, axes, dtype, initial=nothing)
        return lambda x: reduce(x, axes)

    return Rule(build)


def _extreme(function: Callable[..., Any]) -> Rule:
    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        (axis,), dtype = params["axes"], outs[0].dtype
        return lambda x: function(x, axis).astype(dtype)

    return Rule(build)


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


# -- order -----------------------------------------------------------------------------------------


def _key(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def _sort(params: Params, ins: Avals, outs: Avals) -> Function:
    axis, keys = params["dimension"], params["num_keys"]
    if len(ins) == 1 and ins[0].dtype.kind != "V":
        return lambda x: [np.sort(x, axis, kind="stable")]

    def function(*arrays: Any) -> list[Any]:
        if keys == 1:
            order = np.argsort(_key(arrays[0]), axis, kind="stable")
        else:
            order = np.lexsort([_key(x) for x in arrays[:keys][::-1]], axis)
        return [np.take_along_axis(x, order, axis) for x in arrays]

    return function


def _top_k(params: Params, ins: Avals, outs: Avals) -> Function:
    """In the order of bits, the first of equal ones first."""
    axis = params.get("axis", len(ins[0].shape) - 1) % len(ins[0].shape)
    first = (*(slice(None),) * axis, slice(0, params["k"]))
    dtype = outs[1].dtype

    def function(x: Any) -> tuple[Any, Any]:
        order = np.argsort(np.invert(in_total_order(x)), axis, kind="stable")[first]
        return np.take_along_axis(x, order, axis), order.astype(dtype)

    return function


# -- windows ---------------------------------------------------------------------------------------


def _offsets(params: Params, rank: int) -> tuple[tuple[int, ...], ...]:
    """Of a window: its sizes, strides and the steps inside it."""
    ones = (1,) * rank
    steps = params.get("window_dilation") or ones
    return tuple(params["window_dimensions"]), tuple(params["window_strides"] or ones), tuple(steps)


def _along(function: np.ufunc, x: Any, axis: int, window: tuple[int, int, int], length: int) -> Any:
    """Windows along one axis, the parts of all windows with one offset at a time."""
    size, stride, step = window
    out = None
    for k in range(size):
        first = k * step
        part = slice(first, first + (length - 1) * stride + 1, stride)
        taken = x[(*(slice(None),) * axis, part)]
        out = taken if out is None else function(out, taken)
    return out


def _window(function: np.ufunc, start: Callable[[Any], Any]) -> Rule:
    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        x, out = ins[0], outs[0]
        windows = list(zip(*_offsets(params, len(x.shape)), strict=True))
        spaces = params.get("base_dilation") or (1,) * len(x.shape)
        config = tuple([(*p, d - 1) for p, d in zip(params["padding"], spaces, strict=True)])
        shape = tuple(
            [
                max(0, low + high + max(0, (n - 1) * (b + 1) + 1))
                for n, (low, high, b) in zip(x.shape, config)
            ]
        )
        initial = start(x.dtype)
        if 0 in out.shape:
            return lambda x: np.zeros(out.shape, out.dtype)
        still = not any(map(any, config))

        def run(x: Any) -> Any:
            x = x if still else spread(x, initial, config, shape)
            for axis, (window, length) in enumerate(zip(windows, out.shape, strict=True)):
                if window[:2] != (1, 1):
                    x = _along(function, x, axis, window, length)
            return x

        return run

    return Rule(build)


def _zero(dtype: Any) -> Any:
    return dtype.type(0)


TABLE: dict[str, Rule] = {
    "reduce_sum": _reduce(np.add),
    "reduce_prod": _reduce(np.multiply),
    "reduce_max": _reduce(np.maximum, least),
    "reduce_min": _reduce(np.minimum, most),
    "reduce_and": _reduce(np.bitwise_and),
    "reduce_or": _reduce(np.bitwise_or),
    "reduce_xor": _reduce(np.bitwise_xor),
    "argmax": _extreme(np.argmax),
    "argmin": _extreme(np.argmin),
    "cumsum": _running(np.add),
    "cumprod": _running(np.multiply),
    "cummax": _running(np.maximum),
    "cummin": _running(np.minimum),
    "cumlogsumexp": _running(np.logaddexp),
    "sort": moving(_sort),
    "top_k": moving(_top_k),
    "reduce_window_sum": _window(np.add, _zero),
    "reduce_window_max": _window(np.maximum, least),
    "reduce_window_min": _window(np.minimum, most),
}

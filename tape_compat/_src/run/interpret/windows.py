"""Rules of reductions over windows, and of their derivatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .movement import padded, spread
from .reductions import least, most
from .rule import Avals, Function, Params, Rule


class _Windows:
    """Windows over an array: how it is padded, and where in it each offset of a window lies."""

    def __init__(self, params: Params, shape: tuple[int, ...], places: tuple[int, ...]):
        ones = (1,) * len(shape)
        self.places = places
        self.sizes = tuple(params["window_dimensions"])
        self.strides = tuple(params["window_strides"] or ones)
        self.steps = tuple(params.get("window_dilation") or ones)
        pairs = zip(params["padding"], params.get("base_dilation") or ones, strict=True)
        self.config = tuple([(low, high, by - 1) for (low, high), by in pairs])
        self.still = not any(map(any, self.config))
        self.shape = padded(shape, self.config)
        self.empty = 0 in places or 0 in shape

    def padded(self, x: Any, value: Any) -> Any:
        return x if self.still else spread(x, value, self.config, self.shape)

    def part(self, axis: int, k: int) -> slice:
        """Along one axis, the elements that have offset k in their window."""
        first, stride = k * self.steps[axis], self.strides[axis]
        return slice(first, first + (self.places[axis] - 1) * stride + 1, stride)

    def parts(self) -> Iterator[tuple[slice, ...]]:
        """For each offset in a window, the elements that have it."""
        for offset in itertools.product(*map(range, self.sizes)):
            yield tuple([self.part(axis, k) for axis, k in enumerate(offset)])


def _along(function: np.ufunc, x: Any, axis: int, windows: _Windows) -> Any:
    before = (slice(None),) * axis
    out = x[(*before, windows.part(axis, 0))]
    for k in range(1, windows.sizes[axis]):
        out = function(out, x[(*before, windows.part(axis, k))])
    return out


def _reduce(function: np.ufunc, start: Callable[[Any], Any]) -> Rule:
    """Axis by axis."""

    def build(params: Params, ins: Avals, outs: Avals) -> Function:
        windows, out = _Windows(params, ins[0].shape, outs[0].shape), outs[0]
        initial = start(ins[0].dtype)
        if windows.empty:
            return lambda x: np.full(out.shape, initial, out.dtype)
        pairs = enumerate(zip(windows.sizes, windows.strides, strict=True))
        axes = [axis for axis, pair in pairs if pair != (1, 1)]

        def run(x: Any) -> Any:
            x = windows.padded(x, initial)
            for axis in axes:
                x = _along(function, x, axis, windows)
            return x

        return run

    return Rule(build)


def _chosen(windows: _Windows, x: Any, largest: bool) -> tuple[Any, Any]:
    """Of each window the first of its largest or smallest elements, and the number of its offset.

    A NaN is passed over for what comes after it, as in XLA; what is padded is never chosen."""
    compare = np.greater_equal if largest else np.less_equal
    inside = windows.padded(np.ones(x.shape, bool), False)
    x = windows.padded(x, x.dtype.type(0))
    best = np.zeros(windows.places, x.dtype)
    number = np.full(windows.places, -1)
    for i, part in enumerate(windows.parts()):
        better = inside[part] & ((number < 0) | ~compare(best, x[part]))
        best, number = np.where(better, x[part], best), np.where(better, i, number)
    return best, number


def _largest(params: Params) -> bool:
    return params["select_prim"].name == "ge"


def _scatter_add(params: Params, ins: Avals, outs: Avals) -> Function:
    """Adds each element of a source to the element of x that its window chooses."""
    source, x = ins
    windows, largest = _Windows(params, x.shape, source.shape), _largest(params)
    if windows.empty:
        return lambda source, x: np.zeros_like(x)
    middle = tuple(
        [slice(max(low, 0), max(low, 0) + n) for n, (low, _, _) in zip(x.shape, windows.config)]
    )

    def function(source: Any, x: Any) -> Any:
        _, number = _chosen(windows, x, largest)
        out = np.zeros(windows.shape, x.dtype)
        for i, part in enumerate(windows.parts()):
            out[part] += np.where(number == i, source, x.dtype.type(0))
        return out[middle]

    return function


def _gather_add(params: Params, ins: Avals, outs: Avals) -> Function:
    """The element of x at the place that each window of `by` chooses."""
    windows, largest = _Windows(params, ins[0].shape, outs[0].shape), _largest(params)
    if windows.empty:
        return lambda x, by: np.zeros(outs[0].shape, outs[0].dtype)

    def function(x: Any, by: Any) -> Any:
        _, number = _chosen(windows, by, largest)
        x = windows.padded(x, x.dtype.type(0))
        out = np.zeros(windows.places, x.dtype)
        for i, part in enumerate(windows.parts()):
            out = np.where(number == i, x[part], out)
        return out

    return function


TABLE: dict[str, Rule] = {
    "reduce_window_sum": _reduce(np.add, lambda dtype: dtype.type(0)),
    "reduce_window_max": _reduce(np.maximum, least),
    "reduce_window_min": _reduce(np.minimum, most),
    "select_and_scatter_add": Rule(_scatter_add),
    "select_and_gather_add": Rule(_gather_add),
}

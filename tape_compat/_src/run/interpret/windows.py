"""Rules of reductions over windows."""

from __future__ import annotations

from collections.abc import Callable
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


TABLE: dict[str, Rule] = {
    "reduce_window_sum": _reduce(np.add, lambda dtype: dtype.type(0)),
    "reduce_window_max": _reduce(np.maximum, least),
    "reduce_window_min": _reduce(np.minimum, most),
}

"""Rules of products of arrays and of convolutions, by `np.matmul`."""

from __future__ import annotations

import math
from operator import mul
from typing import Any

import numpy as np

from .movement import padded, spread
from .rule import Avals, Function, Params, Rule


def _cast(function: Function, ins: Avals, out: Any) -> Function:
    """Computed in the dtype of the output, where inputs have another one."""
    if all(x.dtype == out.dtype for x in ins):
        return function
    return lambda x, y: function(x.astype(out.dtype), y.astype(out.dtype))


def _dot_general(params: Params, ins: Avals, outs: Avals) -> Function:
    (left_sum, right_sum), (left_batch, right_batch) = params["dimension_numbers"]
    left, right = len(ins[0].shape), len(ins[1].shape)
    if left == right == 2 and not left_batch and len(left_sum) == 1:
        return _cast(_flat(left_sum[0], right_sum[0]), ins, outs[0])
    left_free = [i for i in range(left) if i not in {*left_sum, *left_batch}]
    right_free = [i for i in range(right) if i not in {*right_sum, *right_batch}]

    def merged(aval: Any, *groups: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """An order of axes, and the shape with each group of them as one."""
        order = tuple([int(i) for group in groups for i in group])
        return order, tuple([math.prod([aval.shape[i] for i in group]) for group in groups])

    a_order, a_shape = merged(ins[0], left_batch, left_free, left_sum)
    b_order, b_shape = merged(ins[1], right_batch, right_sum, right_free)
    if not left_batch:
        a_shape, b_shape = a_shape[1:], b_shape[1:]
    shape = outs[0].shape

    def function(x: Any, y: Any) -> Any:
        x, y = x.transpose(a_order).reshape(a_shape), y.transpose(b_order).reshape(b_shape)
        return np.matmul(x, y).reshape(shape)

    return _cast(function, ins, outs[0])


def _flat(left: int, right: int) -> Function:
    """The product of two matrices by their axes `left` and `right`."""
    if left == 1:
        return np.matmul if right == 0 else lambda x, y: np.matmul(x, y.T)
    if right == 0:
        return lambda x, y: np.matmul(x.T, y)
    return lambda x, y: np.matmul(x.T, y.T)


# -- convolutions ----------------------------------------------------------------------------------


class _Layout:
    """Where a convolution has its axes, and how far its windows are apart.

    The inputs become [n, spatial..., groups, channels] and [groups, window..., channels, features],
    the output [groups, n, places..., features]; groups are of features or of examples.
    """

    def __init__(self, params: Params, ins: Avals, outs: Avals):
        numbers = params["dimension_numbers"]
        batch, channel, *spatial = numbers.lhs_spec
        feature, inner, *window = numbers.rhs_spec
        self.left, self.right = (batch, *spatial, channel), (feature, *window, inner)
        self.of_examples = params["batch_group_count"] > 1
        self.groups = params["batch_group_count"] * params["feature_group_count"]
        self.channels = ins[1].shape[inner]
        self.window = tuple([ins[1].shape[i] for i in window])
        self.examples = outs[0].shape[numbers.out_spec[0]]
        self.places = tuple([outs[0].shape[i] for i in numbers.out_spec[2:]])
        self.features = ins[1].shape[feature] // self.groups
        out_batch, out_feature, *out_spatial = numbers.out_spec
        self.back = tuple(np.argsort((out_batch, *out_spatial, out_feature)).tolist())
        self._space(params, [ins[0].shape[i] for i in self.left])

    def _space(self, params: Params, before: list[int]) -> None:
        """How the spatial axes are padded, and the steps between windows and inside one."""
        pairs = zip(params["padding"], params["lhs_dilation"], strict=True)
        self.config = ((0, 0, 0), *[(low, high, by - 1) for (low, high), by in pairs], (0, 0, 0))
        self.padded = padded(before, self.config)
        self.still = not any(map(any, self.config))
        self.strides, self.steps = params["window_strides"], params["rhs_dilation"]

    def windows(self, x: Any) -> Any:
        """All windows side by side: [groups, n * places, window * channels]."""
        x = x.transpose(self.left)
        x = np.ascontiguousarray(x) if self.still else spread(x, 0, self.config, self.padded)
        one, *along, last = x.strides
        group = one * self.examples if self.of_examples else last * self.channels
        view = np.lib.stride_tricks.as_strided(
            x,
            (self.groups, self.examples, *self.places, *self.window, self.channels),
            (group, one, *map(mul, along, self.strides), *map(mul, along, self.steps), last),
            writeable=False,
        )
        return view.reshape(self.groups, -1, math.prod(self.window) * self.channels)

    def kernel(self, w: Any) -> Any:
        """[groups, window * channels, features]"""
        return w.transpose(self.right).reshape(self.groups, self.features, -1).swapaxes(1, 2)

    def output(self, y: Any) -> Any:
        y = y.reshape(self.groups, self.examples, *self.places, self.features)
        y = np.moveaxis(y, 0, -2)
        return y.reshape(self.examples, *self.places, -1).transpose(self.back)


def _conv(params: Params, ins: Avals, outs: Avals) -> Function:
    """As one product: all windows side by side, by the kernel."""
    layout, out = _Layout(params, ins, outs), outs[0]
    if 0 in (*out.shape, *layout.padded, *layout.window, layout.channels):
        return lambda x, w: np.zeros(out.shape, out.dtype)

    def function(x: Any, w: Any) -> Any:
        return layout.output(np.matmul(layout.windows(x), layout.kernel(w)))

    return _cast(function, ins, out)


TABLE: dict[str, Rule] = {
    "dot_general": Rule(_dot_general),
    "conv_general_dilated": Rule(_conv),
}

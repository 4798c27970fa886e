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


#: Elements of windows that lie side by side at a time: they stay in the cache between the copy and
#: the product. 32 images of 28 x 28 x 64 by 3 x 3 x 32 took 31 ms at once, 16 ms one by one.
BLOCK = 1 << 18


class _Layout:
    """Where a convolution has its axes, and how far its windows are apart.

    The inputs become [n, spatial..., groups, channels] and [groups, window..., channels, features],
    the output [groups, n, places..., features]; groups are of features or of examples.
    """

    def __init__(self, params: Params, ins: Avals, outs: Avals):
        numbers = params["dimension_numbers"]
        self.batch, self.channel, *self.spatial = numbers.lhs_spec
        self.feature, self.inner, *self.offsets = numbers.rhs_spec
        self.of_examples = params["batch_group_count"] > 1
        self.groups = params["batch_group_count"] * params["feature_group_count"]
        self.channels = ins[1].shape[self.inner]
        self.window = tuple([ins[1].shape[i] for i in self.offsets])
        self.examples = outs[0].shape[numbers.out_spec[0]]
        self.places = tuple([outs[0].shape[i] for i in numbers.out_spec[2:]])
        self.features = ins[1].shape[self.feature] // self.groups
        pairs = zip(params["padding"], params["lhs_dilation"], strict=True)
        middle = [(low, high, by - 1) for (low, high), by in pairs]
        self.config = ((0, 0, 0), *middle, (0, 0, 0))
        before = [ins[0].shape[i] for i in (self.batch, *self.spatial, self.channel)]
        self.padded = padded(before, self.config)
        self.strides, self.steps = params["window_strides"], params["rhs_dilation"]

    def spread(self, x: Any, first: int, last: int) -> Any:
        """Padded, with the axes `first` and `last` before and after those of space."""
        x = x.transpose(first, *self.spatial, last)
        if not any(map(any, self.config)):
            return np.ascontiguousarray(x)
        return spread(x, 0, self.config, (x.shape[0], *self.padded[1:-1], x.shape[-1]))

    def along(self, x: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bytes from one window to the next, and from one element of it to the next."""
        inside = x.strides[1:-1]
        return tuple(map(mul, inside, self.strides)), tuple(map(mul, inside, self.steps))

    def block(self, times: int) -> int:
        """How many examples are done at a time, or channels: of each, windows for so many."""
        return max(1, BLOCK // (math.prod(self.window) * math.prod(self.places) * times))


def _by_examples(layout: _Layout, order: tuple[int, ...], dtype: Any) -> Function:
    """Some examples at a time: all windows of them side by side, by the kernel."""
    kernel = (layout.feature, *layout.offsets, layout.inner)
    out_batch, out_feature, *out_space = order
    back = tuple(np.argsort((out_batch, *out_space, out_feature)).tolist())
    groups, n, channels, features = layout.groups, layout.examples, layout.channels, layout.features
    rows, depth = math.prod(layout.places), math.prod(layout.window) * channels
    block = layout.block(groups * channels)

    def function(x: Any, w: Any) -> Any:
        x = layout.spread(x, layout.batch, layout.channel)
        between, inside = layout.along(x)
        one, last = x.strides[0], x.strides[-1]
        group = one * n if layout.of_examples else last * channels
        windows = np.lib.stride_tricks.as_strided(
            x,
            (groups, n, *layout.places, *layout.window, channels),
            (group, one, *between, *inside, last),
            writeable=False,
        )
        w = w.transpose(kernel).reshape(groups, features, depth).swapaxes(1, 2)
        out = np.empty((groups, n * rows, features), dtype)
        for i in range(0, n, block):
            some = windows[:, i : i + block].reshape(groups, -1, depth)
            np.matmul(some, w, out=out[:, i * rows : (i + block) * rows])
        y = np.moveaxis(out.reshape(groups, n, *layout.places, features), 0, -2)
        return y.reshape(n, *layout.places, -1).transpose(back)

    return function


def _by_channels(layout: _Layout, order: tuple[int, ...], dtype: Any) -> Function:
    """Some channels at a time, and the sum: where windows are larger than what there is of them,
    as in the derivative by a kernel, whose channels are the examples."""
    kernel = (layout.inner, *layout.offsets, layout.feature)
    back = tuple(np.argsort((*order[2:], *order[:2])).tolist())
    n, features = layout.examples, layout.features
    rows, block = math.prod(layout.places) * n, layout.block(n)

    def function(x: Any, w: Any) -> Any:
        x = layout.spread(x, layout.channel, layout.batch)
        between, inside = layout.along(x)
        windows = np.lib.stride_tricks.as_strided(
            x,
            (layout.channels, *layout.window, *layout.places, n),
            (x.strides[0], *inside, *between, x.strides[-1]),
            writeable=False,
        )
        w = w.transpose(kernel)
        out = np.zeros((rows, features), dtype)
        for i in range(0, layout.channels, block):
            some = windows[i : i + block].reshape(-1, rows)
            out += np.matmul(some.T, w[i : i + block].reshape(-1, features))
        return out.reshape(*layout.places, n, features).transpose(back)

    return function


def _conv(params: Params, ins: Avals, outs: Avals) -> Function:
    layout, out = _Layout(params, ins, outs), outs[0]
    if 0 in (*out.shape, *layout.padded, *layout.window, layout.channels):
        return lambda x, w: np.zeros(out.shape, out.dtype)
    few = layout.groups == 1 and math.prod(layout.places) < math.prod(layout.window)
    build = _by_channels if few else _by_examples
    return _cast(build(layout, params["dimension_numbers"].out_spec, out.dtype), ins, out)


TABLE: dict[str, Rule] = {
    "dot_general": Rule(_dot_general),
    "conv_general_dilated": Rule(_conv),
}

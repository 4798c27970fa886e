"""Rules of convolutions: by kernels of this library's own, others by `np.matmul`."""

from __future__ import annotations

import math
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from ...core.kernels import WIDTH, of_axes, width_of
from ...core.native import KERNELS
from .movement import padded, spread
from .products import cast
from .rule import Avals, Function, Params, Rule, size

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
        #: Whether windows are larger than what there is of them.
        self.few = self.groups == 1 and math.prod(self.places) < math.prod(self.window)

    def spread(self, x: Any) -> Any:
        """Padded, with the axes of space between those of examples and of channels."""
        x = x.transpose(self.batch, *self.spatial, self.channel)
        if not any(map(any, self.config)):
            return np.ascontiguousarray(x)
        return spread(x, 0, self.config, (x.shape[0], *self.padded[1:-1], x.shape[-1]))

    def along(self, x: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bytes from one window to the next, and from one element of it to the next."""
        inside = x.strides[1:-1]
        return tuple(map(mul, inside, self.strides)), tuple(map(mul, inside, self.steps))


def _by_examples(layout: _Layout, order: tuple[int, ...], dtype: Any) -> Function:
    """Some examples at a time: all windows of them side by side, by the kernel."""
    kernel = (layout.feature, *layout.offsets, layout.inner)
    out_batch, out_feature, *out_space = order
    back = tuple(np.argsort((out_batch, *out_space, out_feature)).tolist())
    groups, n, channels, features = layout.groups, layout.examples, layout.channels, layout.features
    rows, depth = math.prod(layout.places), math.prod(layout.window) * channels
    block = max(1, BLOCK // (groups * depth * rows))

    def function(x: Any, w: Any) -> Any:
        x = layout.spread(x)
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


class KernelCall(NamedTuple):
    """A convolution as a kernel of `native/kernels.c` does it.

    Attributes:
      derivative: whether it is that of another convolution by its kernel. The images of that one
        are the channels here, its places the windows, and its kernel what is given.
      depthwise: whether each channel is by itself.
      groups: of channels.
      orders: in which the kernel takes the axes of the inputs.
      times: how often each channel of the images is taken, where channels are by themselves.
      shapes: of the inputs and of the result, with images of three axes.
      numbers: what it takes for these axes.
      work: how many multiplications it does, in whole vectors.
    """

    derivative: bool
    depthwise: bool
    groups: int
    orders: tuple[tuple[int, ...], tuple[int, ...]]
    times: int
    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    work: float


class ByKernel:
    """What makes such a call, and gives an array of `shape` with its axes in the order `back`. In
    a compiled program it takes as long."""

    stays = True

    def __init__(self, call: KernelCall, back: tuple[int, ...], shape: tuple[int, ...]):
        self._call, self._back, self._shape = call, back, shape
        right, other = call.orders[1], call.shapes[1]
        rank = len(right) - 2
        self._reverse = (slice(None, None, -1),) * rank
        self._exchanged = call.groups == 1 and right == (*range(rank), rank + 1, rank)
        self._turned = (*other[:-2], other[-1], other[-2])

    def __call__(self, x: Any, w: Any) -> Any:
        derivative, depthwise, _, (left, right), times, shapes, numbers, _ = self._call
        images, other, made = shapes
        x = np.ascontiguousarray(x.transpose(left)).reshape(images)
        if times > 1:
            x = np.repeat(x, times, -1)
        out = np.empty(made, x.dtype)
        # A transposed convolution: the kernel takes the weights as they lie in memory.
        flipped = self._exchanged and w[self._reverse].flags.c_contiguous
        if flipped:
            w = w[self._reverse].reshape(self._turned)
        else:
            w = np.ascontiguousarray(w.transpose(right)).reshape(other)
        assert KERNELS is not None
        KERNELS.compute(derivative, x, w, out, (*numbers, flipped, depthwise))
        return out.reshape(self._shape).transpose(self._back)


def kernel_call(params: Params, ins: Avals, outs: Avals) -> KernelCall | None:
    """How a kernel does a convolution, if one does."""
    dtype = outs[0].dtype
    if not WIDTH or dtype not in (np.float32, np.float64) or any(x.dtype != dtype for x in ins):
        return None
    layout, (x, w), apart = _Layout(params, ins, outs), ins, params["lhs_dilation"]
    rank, batch, features = len(layout.window), layout.batch, w.shape[layout.feature]
    alone = layout.groups == 1 and batch > 0
    derivative = layout.of_examples or (alone and (batch == rank + 1 or layout.few))
    channels = x.shape[batch if derivative else layout.channel]
    width = width_of(dtype)
    depthwise = layout.groups == channels > 1 and features >= width
    times = features // channels if depthwise else 1
    strides, steps = layout.strides, layout.steps
    if derivative:
        strides, steps = steps, strides
    if rank not in (1, 2, 3) or any(min(pair) > 1 for pair in zip(strides, apart, strict=True)):
        return None
    if derivative and max(apart) > 1:
        return None
    ones = (1,) * (3 - rank)
    if derivative:
        ends = (features, 1) if depthwise else (layout.examples, features)
        made = (*ones, *layout.places, *ends)
        orders = (
            (layout.channel, *layout.spatial, batch),
            (layout.inner, *layout.offsets, layout.feature),
        )
        other = (layout.channels, *ones, *layout.window, features)
    else:
        ends = (features, 1) if depthwise else (layout.channels, features)
        made = (layout.examples, *ones, *layout.places, features)
        orders = (
            (batch, *layout.spatial, layout.channel),
            (*layout.offsets, layout.inner, layout.feature),
        )
        other = (*ones, *layout.window, *ends)
    numbers = of_axes(strides, steps, [low for low, _ in params["padding"]], apart)
    first, *sizes = [x.shape[i] for i in orders[0]]
    shapes = (first, *ones, *sizes), other, made
    own = max(1 if depthwise else layout.features, 1)
    full = 1.0 if depthwise else -(-own // width) * width / own
    work = size(outs[0]) * math.prod(layout.window) * layout.channels * full / math.prod(apart)
    groups = layout.groups
    return KernelCall(derivative, depthwise, groups, orders, times, shapes, numbers, work)


def _conv(params: Params, ins: Avals, outs: Avals) -> Function:
    layout, out = _Layout(params, ins, outs), outs[0]
    if 0 in (*out.shape, *layout.padded, *layout.window, layout.channels):
        return lambda x, w: np.zeros(out.shape, out.dtype)
    order = params["dimension_numbers"].out_spec
    call = kernel_call(params, ins, outs)
    if call is not None:
        batch, feature, *space = order
        axes = (*space, batch, feature) if call.derivative else (batch, *space, feature)
        back, shape = tuple(np.argsort(axes).tolist()), tuple([out.shape[i] for i in axes])
        return ByKernel(call, back, shape)
    return cast(_by_examples(layout, order, out.dtype), ins, out)


TABLE: dict[str, Rule] = {"conv_general_dilated": Rule(_conv)}

"""Rules of products of arrays and of convolutions, by `np.matmul`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .movement import spread
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


def _conv(params: Params, ins: Avals, outs: Avals) -> Function:
    """As one product: all windows side by side, by the kernel."""
    numbers = params["dimension_numbers"]
    left, right, out = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    batches, groups = params["batch_group_count"], params["feature_group_count"]
    strides, steps = params["window_strides"], params["rhs_dilation"]
    spatial = len(left) - 2
    low = tuple(
        [(*p, d - 1) for p, d in zip(params["padding"], params["lhs_dilation"], strict=True)]
    )
    config = ((0, 0, 0), (0, 0, 0), *low)
    kernel = [ins[1].shape[i] for i in right]
    sizes = [outs[0].shape[i] for i in out]
    before = [ins[0].shape[i] for i in left]
    padded = tuple(
        [
            lo + hi + (max(0, (n - 1) * (b + 1) + 1))
            for n, (lo, hi, b) in zip(before, config, strict=True)
        ]
    )
    still = not any(map(any, config))
    n, channels = before[0] // batches, kernel[1]
    count = batches * groups
    back = tuple(np.argsort(out).tolist())
    window, places = kernel[2:], sizes[2:]
    depth = channels * math.prod(window)

    def function(x: Any, w: Any) -> Any:
        x, w = x.transpose(left), w.transpose(right)
        x = np.ascontiguousarray(x) if still else spread(x, 0, config, padded)
        #  [batch group, n, group, channels, ...] -> [group, n, places, channels, window]
        if batches > 1:
            x = x.reshape(batches, n, *x.shape[1:])
        else:
            x = x.reshape(n, groups, channels, *x.shape[2:]).swapaxes(0, 1)
        a = x.strides[3:]
        view = np.lib.stride_tricks.as_strided(
            x,
            (count, n, *places, channels, *window),
            (
                *x.strides[:2],
                *[s * k for s, k in zip(a, strides, strict=True)],
                x.strides[2],
                *[s * k for s, k in zip(a, steps, strict=True)],
            ),
            writeable=False,
        )
        patches = view.reshape(count, -1, depth)
        weights = w.reshape(count, -1, depth).swapaxes(1, 2)
        y = np.matmul(patches, weights).reshape(count, n, *places, -1)
        order = (1, 0, spatial + 2, *range(2, spatial + 2))
        return y.transpose(order).reshape(sizes).transpose(back)

    if 0 in outs[0].shape or 0 in padded or depth == 0:
        return lambda x, w: np.zeros(outs[0].shape, outs[0].dtype)
    return _cast(function, ins, outs[0])


TABLE: dict[str, Rule] = {
    "dot_general": Rule(_dot_general),
    "conv_general_dilated": Rule(_conv),
}

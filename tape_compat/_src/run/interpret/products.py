"""Rules of products of arrays, by `np.matmul`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .rule import Avals, Function, Params, Rule


def cast(function: Function, ins: Avals, out: Any) -> Function:
    """Computed in the dtype of the output, where inputs have another one."""
    if all(x.dtype == out.dtype for x in ins):
        return function
    return lambda x, y: function(x.astype(out.dtype), y.astype(out.dtype))


def _dot_general(params: Params, ins: Avals, outs: Avals) -> Function:
    (left_sum, right_sum), (left_batch, right_batch) = params["dimension_numbers"]
    left, right = len(ins[0].shape), len(ins[1].shape)
    if left == right == 2 and not left_batch and len(left_sum) == 1:
        return cast(_flat(left_sum[0], right_sum[0]), ins, outs[0])
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

    return cast(function, ins, outs[0])


def _flat(left: int, right: int) -> Function:
    """The product of two matrices by their axes `left` and `right`."""
    if left == 1:
        return np.matmul if right == 0 else lambda x, y: np.matmul(x, y.T)
    if right == 0:
        return lambda x, y: np.matmul(x.T, y)
    return lambda x, y: np.matmul(x.T, y.T)


TABLE: dict[str, Rule] = {"dot_general": Rule(_dot_general)}

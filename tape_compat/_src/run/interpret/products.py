"""Rules of products of arrays, by `np.matmul`, and of Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .rule import Avals, Function, Params, Rule, size

#: From so many multiplications on, products of integers are taken by those of floats.
LEAST_BY_FLOATS = 1 << 14

#: Sums of integers below this are exact in float64.
EXACT = 1 << 53

#: Sums of so many products of lower halves are, and half as many of an upper and a lower one.
DEEPEST = 1 << 20


def cast(function: Function, ins: Avals, out: Any) -> Function:
    """Computed in the dtype of the output, where inputs have another one."""
    if all(x.dtype == out.dtype for x in ins):
        return function
    return lambda x, y: function(x.astype(out.dtype), y.astype(out.dtype))


def _dot_general(params: Params, ins: Avals, outs: Avals) -> Function:
    (left_sum, right_sum), (left_batch, right_batch) = params["dimension_numbers"]
    left, right = len(ins[0].shape), len(ins[1].shape)
    depth = math.prod([ins[0].shape[i] for i in left_sum])
    multiply = integer_product if by_floats(outs[0], depth) else np.matmul
    if left == right == 2 and not left_batch and len(left_sum) == 1:
        return cast(_flat(multiply, left_sum[0], right_sum[0]), ins, outs[0])
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
        return multiply(x, y).reshape(shape)

    return cast(function, ins, outs[0])


def _flat(multiply: Function, left: int, right: int) -> Function:
    """The product of two matrices by their axes `left` and `right`."""
    if left == 1:
        return multiply if right == 0 else lambda x, y: multiply(x, y.T)
    if right == 0:
        return lambda x, y: multiply(x.T, y)
    return lambda x, y: multiply(x.T, y.T)


def by_floats(out: Any, depth: int) -> bool:
    """Whether a product with so many terms in each sum is taken by floats."""
    return out.dtype.kind in "iu" and size(out) * depth >= LEAST_BY_FLOATS


def integer_product(x: Any, y: Any) -> Any:
    """The product of matrices of integers, which wraps as theirs does, by products of float64:
    these are exact up to 2**53, and BLAS takes them, as it does none of integers.

    Larger ones of 32 bits are taken by the upper and lower halves of these, those of 64 by NumPy.
    """
    if _largest(x) * _largest(y) * x.shape[-1] <= EXACT:
        return _by_floats(x, y).astype(x.dtype)
    if x.dtype.itemsize > 4 or x.shape[-1] > DEEPEST:
        return np.matmul(x, y)
    (x_upper, x_lower), (y_upper, y_lower) = _halves(x), _halves(y)
    upper = _by_floats(x_upper, y_lower) + _by_floats(x_lower, y_upper)
    return ((upper << 16) + _by_floats(x_lower, y_lower)).astype(x.dtype)


def _by_floats(x: Any, y: Any) -> Any:
    return np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(np.int64)


def _largest(x: Any) -> int:
    """The largest absolute value."""
    return max(int(x.max()), -int(x.min())) if x.size else 0


def _halves(x: Any) -> tuple[Any, Any]:
    """The upper 16 bits, with their sign, and the lower ones, which have none."""
    return x >> 16, x & 0xFFFF


#: NumPy's names of Fourier transforms; it loads what is in `np.fft` when that is first asked for.
_TRANSFORMS = {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}


def _fft(params: Params, ins: Avals, outs: Avals) -> Function | None:
    lengths, dtype = tuple(params["fft_lengths"]), outs[0].dtype
    if 0 in (*ins[0].shape, *lengths):
        return None
    transform = getattr(np.fft, _TRANSFORMS[params["fft_type"].name])
    axes = tuple(range(-len(lengths), 0))
    return lambda x: transform(x, lengths, axes).astype(dtype, copy=False)


TABLE: dict[str, Rule] = {"dot_general": Rule(_dot_general)}

FOURIER: dict[str, Rule] = {"fft": Rule(_fft)}

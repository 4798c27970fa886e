"""Convolutions of float64 on processors, as sums and products of what lies under their windows.

XLA calls Eigen for those over two axes with the stride 1. All others it does number by number: 8
images 28 x 28 x 16 depthwise by 3 x 3 took 9 ms, with the gradients 66; by windows 0.2 and 1.7.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .convolution_kernels import Bilinear, Windows, on_processors
from .windows import padding_pairs

#: Elements of windows that lie side by side at a time: all of 29 MB took 21 ms, for the pages of
#: such an array are new at each step.
BLOCK = 1 << 20


def windows(
    x: Any,
    window: Sequence[int],
    places: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Iterator[Any]:
    """Of each element of the window, what lies under it at all places."""
    for offset in itertools.product(*map(range, window)):
        begin = [i * step for i, step in zip(offset, dilations, strict=True)]
        end = [
            i + (n - 1) * stride + 1 for i, n, stride in zip(begin, places, strides, strict=True)
        ]
        yield lax.slice(x, (0, *begin, 0), (x.shape[0], *end, x.shape[-1]), (1, *strides, 1))


def block_of(examples: int, each: int) -> int:
    """How many examples at a time, a part of all, whose windows have so many elements each."""
    most = max(1, BLOCK // max(each, 1))
    return max(size for size in range(1, min(most, examples) + 1) if examples % size == 0)


def transposed(linear: Callable[[Any], Any], shape: tuple[int, ...], y: Any) -> Any:
    """The transpose at `y` of a linear function of an array of `shape`."""
    (found,) = jax.linear_transpose(linear, jax.ShapeDtypeStruct(shape, y.dtype))(y)
    return found


def is_depthwise(channels: int, kernel: tuple[int, ...]) -> bool:
    """Whether each channel is convolved by itself, with a part of `kernel`."""
    return kernel[-2] == 1 and (channels > 1 or kernel[-1] == 1)


def fit(x: tuple[Any, ...], dtype: Any, kernel: tuple[Any, ...]) -> bool:
    """Whether images [n, sizes..., channels] and kernels of such shapes are for windows."""
    if dtype != jnp.float64 or not all(isinstance(n, int) for n in (*x, *kernel)):
        return False
    return 0 not in (*x, *kernel) and (kernel[-2] == x[-1] or is_depthwise(x[-1], kernel))


def pay(x: tuple[Any, ...], dtype: Any, kernel: tuple[Any, ...], strides: tuple[int, ...]) -> bool:
    """Whether windows are quicker than XLA for such shapes, which has Eigen do the others."""
    if not fit(x, dtype, kernel) or math.prod(kernel[:-2]) == 1:
        return False
    return is_depthwise(x[-1], kernel) or len(strides) != 2 or max(strides) > 1


def by_windows(
    x: Any,
    kernel: Any,
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
) -> Any:
    """The convolution of `x` [n, sizes..., channels] by `kernel` [window..., channels, features],
    or depthwise [window..., 1, features]."""
    window, features = kernel.shape[:-2], kernel.shape[-1]
    pads = padding_pairs(x.shape[1:-1], window, strides, padding, dilations)
    places = Windows.of(x.shape[1:-1], window, strides, padding, dilations).places
    x = jnp.pad(x, ((0, 0), *pads, (0, 0)))
    parts = windows(x, window, places, strides, dilations)
    if is_depthwise(x.shape[-1], kernel.shape):
        factors = kernel.reshape(math.prod(window), x.shape[-1], -1)
        found = reduce(jnp.add, [part[..., None] * factors[i] for i, part in enumerate(parts)])
        return found.reshape(x.shape[0], *places, features)
    # Within the loop of a product XLA would look up each element among the parts.
    matrix = lax.optimization_barrier(jnp.concatenate(list(parts), -1))
    return jnp.matmul(matrix, kernel.reshape(-1, features))


def _in_blocks(function: Callable[[Any], Any], x: Any, each: int) -> Any:
    """What `function` gives of the examples `x`, whose windows have so many elements each."""
    n, block = x.shape[0], block_of(x.shape[0], each)
    if block == n:
        return function(x)
    found = lax.map(function, x.reshape(n // block, block, *x.shape[1:]))
    return found.reshape(n, *found.shape[2:])


def convolution(by_xla: Bilinear, x: Any, kernel: Any, **given: Any) -> Any:
    """`by_xla(x, kernel)`, where windows `pay`. given: the rest that `by_windows` takes."""
    windows = Windows.of(x.shape[1:-1], kernel.shape[:-2], **given)
    if min(windows.places) == 0:
        return by_xla(x, kernel)
    each = math.prod(windows.places) * math.prod(kernel.shape[:-1])

    def quick(x: Any, kernel: Any) -> Any:
        return _in_blocks(partial(by_windows, kernel=kernel, **given), x, each)

    return on_processors(by_xla, quick, x, kernel)


def convolution_back(
    by_xla: Bilinear, y: Any, kernel: Any, shape: tuple[int, ...], **given: Any
) -> Any:
    """`by_xla(y, kernel)`, the transpose of the convolution of images of `shape`, of which windows
    `pay`."""
    if 0 in y.shape:
        return by_xla(y, kernel)
    each = math.prod(y.shape[1:-1]) * math.prod(kernel.shape[:-1])

    def quick(y: Any, kernel: Any) -> Any:
        def back(y: Any) -> Any:
            some = (y.shape[0], *shape[1:])
            return transposed(partial(by_windows, kernel=kernel, **given), some, y)

        return _in_blocks(back, y, each)

    return on_processors(by_xla, quick, y, kernel)

"""The derivative of a convolution by its kernel, as processors do it quickest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .convolution_kernels import Windows, fit, kernel_derivative, on_processors
from .windows import padding_pairs

#: On processors XLA takes the derivative for a convolution by a window as large as the image: of 32
#: images 28 x 28 x 32 by 64 kernels 3 x 3 it took 24 ms, where a matrix product of as many
#: multiplications takes 3; windows side by side, and their product, 10 ms (JAX 0.10; 12 and 10 in
#: JAX 0.12). XLA's may be quicker for small images, few features and little work: below these.
LEAST_PLACES = 100
LEAST_FEATURES = 32
LEAST_MULTIPLICATIONS = 100_000_000

#: XLA takes the examples for channels: of many small images, with many features, windows of at most
#: MOST_WINDOW places are quicker for less work, too. The product of examples and features is to be
#: at least this, half of it for one channel: 128 images 28 x 28 by 32 kernels 3 x 3 took 3.4 ms,
#: windows side by side 1.2; 64 of 32 x 32 x 3 took 4.9 and 2.9 (140 shapes in JAX 0.10 and 0.12).
MOST_PLACES = 1024
MOST_WINDOW = 9
LEAST_EXAMPLES_BY_FEATURES = 2048

#: With so many channels windows are of one row each, and moved along the first axis as a whole: a
#: part of the array as it lies in memory. 32 images 28 x 28 x 32 by 64 kernels: 10.2 -> 8.2 ms.
LEAST_CHANNELS_BY_ROWS = 32

#: Elements of windows that lie side by side at a time: all of 29 MB took 21 ms, for the pages of
#: such an array are new at each step.
BLOCK = 1 << 20


def transposed(linear: Callable[[Any], Any], shape: tuple[int, ...], y: Any) -> Any:
    """The transpose at `y` of a linear function of an array of `shape`."""
    (found,) = jax.linear_transpose(linear, jax.ShapeDtypeStruct(shape, y.dtype))(y)
    return found


def kernel_gradient(
    convolve: Callable[[Any, Any], Any],
    x: Any,
    dy: Any,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    """The cotangent of the kernel, of shape `kernel`, of `convolve(x, filters)` by that of its
    output. Source: Goodfellow et al., Deep Learning, equation 9.11."""

    def by_xla(x: Any, dy: Any) -> Any:
        return transposed(partial(convolve, x), kernel, dy)

    if last and fit(x, dy):
        windows = Windows.of(x.shape[1:-1], kernel[:-2], strides, padding, dilations)
        found = kernel_derivative(by_xla, x, dy, kernel, windows)
        if found is not None:
            return found
    if not last or not _pays(x, dy, kernel):
        return by_xla(x, dy)
    window = kernel[:-2]
    pads = padding_pairs(x.shape[1:-1], window, strides, padding, dilations)

    def side_by_side(x: Any, dy: Any) -> Any:
        x = jnp.pad(x, ((0, 0), *pads, (0, 0)))
        return _by_windows(x, dy, window, strides, dilations).reshape(kernel)

    return on_processors(by_xla, side_by_side, x, dy)


def _pays(x: Any, dy: Any, kernel: tuple[int, ...]) -> bool:
    if not all(isinstance(size, int) for size in (*x.shape, *dy.shape)):
        return False  # traced for any size
    *window, depth, features = kernel
    examples, places = dy.shape[0], math.prod(dy.shape[1:-1])
    if (
        x.dtype not in (jnp.float32, jnp.float64)
        or depth != x.shape[-1]
        or math.prod(window) == 1
        or places < LEAST_PLACES
    ):
        return False
    large = examples * places * math.prod(kernel) >= LEAST_MULTIPLICATIONS
    if large and (features >= LEAST_FEATURES or len(window) == 3):
        return True
    return (
        len(window) == 2
        and math.prod(window) <= MOST_WINDOW
        and places <= MOST_PLACES
        and examples * features >= LEAST_EXAMPLES_BY_FEATURES // (2 if depth == 1 else 1)
    )


def _windows(
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


def _block_of(examples: int, each: int) -> int:
    """How many examples at a time, a part of all, whose windows have so many elements each."""
    most = max(1, BLOCK // max(each, 1))
    return max(size for size in range(1, min(most, examples) + 1) if examples % size == 0)


def _by_windows(
    x: Any, dy: Any, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Any:
    """[window..., channels, features] as a matrix, by products for each block of examples. `x` is
    padded."""
    n, places, features = dy.shape[0], dy.shape[1:-1], dy.shape[-1]
    depth = math.prod(window) * x.shape[-1]
    block = _block_of(n, math.prod(places) * depth)
    # The parts of the windows along the first axis that a product is taken with at once.
    rows, over, across = [0], window[0], places
    if strides[0] == 1 and x.shape[-1] >= LEAST_CHANNELS_BY_ROWS:
        rows, over = [i * dilations[0] for i in range(window[0])], 1
        across = (x.shape[1], *places[1:])

    def add(total: Any, some: tuple[Any, Any]) -> tuple[Any, None]:
        x, dy = some
        parts = list(_windows(x, (over, *window[1:]), across, strides, dilations))
        # Within the loop of a product XLA would look up each element among the parts.
        matrix = lax.optimization_barrier(jnp.concatenate(parts, -1))
        found = []
        for row in rows:
            part = lax.slice_in_dim(matrix, row, row + places[0], axis=1)
            part = lax.optimization_barrier(part).reshape(*dy.shape[:2], -1)
            found.append(lax.dot_general(dy, part, (((0, 1), (0, 1)), ((), ()))))
        return total + jnp.stack(found), None

    blocks = (
        x.reshape(n // block, block, *x.shape[1:]),
        dy.reshape(n // block, block, -1, features),
    )
    start = jnp.zeros((len(rows), features, depth // len(rows)), dy.dtype)
    return lax.scan(add, start, blocks)[0].swapaxes(1, 2)

"""Largest elements of windows on processors by a kernel of this library's own, `native/pooling.c`.

It is called in programs that this process runs itself, where windows overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from ..core import kernels
from ..core.kernels import FLOATS, PROGRAMS, WIDTH, in_floats

_TARGET = "tape_compat_pool"

#: Vectors are of channels.
LEAST_CHANNELS = 8

#: XLA takes the largest along one axis after the other, which is as quick or quicker where windows
#: are large or begin at each element: of 16 images 56 x 56 x 64 by 3 x 3 1.2 ms, and 0.9 by the
#: kernel, with strides of 2; 3.5 both with strides of 1.
MOST_ELEMENTS = 9


def available() -> bool:
    """Whether this processor, and XLA as it is installed, take the kernel."""
    return WIDTH > 0 and kernels.available("Pools are left to XLA", **{_TARGET: "POOL"})


def fits(x: Any) -> bool:
    """Whether images [n, sizes..., channels] are for the kernel, in the program that is traced."""
    return (
        PROGRAMS.own
        and x.dtype in FLOATS
        and all(isinstance(n, int) for n in x.shape)
        and x.shape[-1] >= LEAST_CHANNELS
        and 0 not in x.shape
        and available()
    )


class Pool:
    """Windows over images, by axes of space; low: the padding before these. first: whether the
    first of equal elements takes the whole cotangent, or each of them all of it."""

    def __init__(
        self, window: Sequence[int], strides: Sequence[int], low: Sequence[int], first: bool
    ):
        self._window, self._strides = window, strides
        self._ones = ones = (1,) * (3 - len(window))
        none = (0,) * len(ones)
        self._numbers = np.array([*ones, *window, *ones, *strides, *none, *low, first], "int64")

    def is_quick(self, x: Any) -> bool:
        """Whether the kernel takes the largest of such images no slower than XLA."""
        few = math.prod(self._window) <= MOST_ELEMENTS and min(self._strides) > 1
        return few and x.shape[-1] % LEAST_CHANNELS == 0

    def largest(self, by_xla: Callable[[Any], Any], x: Any, shape: tuple[int, ...]) -> Any:
        """`by_xla(x)`, of such a shape: the largest of each window. Its derivatives are XLA's."""

        @jax.custom_jvp
        def function(x: Any) -> Any:
            return lax.platform_dependent(x, cpu=lambda x: self._call(shape, x), default=by_xla)

        @function.defjvp
        def _(primals: Any, tangents: Any) -> Any:
            return function(*primals), jax.jvp(by_xla, primals, tangents)[1]

        return function(x)

    def back(self, by_xla: Callable[[Any, Any], Any], x: Any, dy: Any) -> Any:
        """`by_xla(x, dy)`: the cotangent of the images. It is linear in `dy`, and does not change
        with `x` but by leaps."""

        @jax.custom_jvp
        def function(x: Any, dy: Any) -> Any:
            return lax.platform_dependent(
                x, dy, cpu=lambda x, dy: self._call(x.shape, x, dy), default=by_xla
            )

        @function.defjvp
        def _(primals: Any, tangents: Any) -> Any:
            return function(*primals), by_xla(primals[0], tangents[1])

        return function(x, dy)

    def _call(self, shape: tuple[int, ...], *arrays: Any) -> Any:
        """A call of the kernel, which takes halves as float32, and images of three axes: of fewer
        they get first ones of size 1."""

        def wide(shape: tuple[int, ...]) -> tuple[int, ...]:
            return (shape[0], *self._ones, *shape[1:])

        def pool(*arrays: Any) -> Any:
            made = jax.ShapeDtypeStruct(wide(shape), arrays[0].dtype)
            call = jax.ffi.ffi_call(_TARGET, made, vmap_method="broadcast_all")
            return call(*arrays, numbers=self._numbers).reshape(shape)

        return in_floats(pool)(*[a.reshape(wide(a.shape)) for a in arrays])

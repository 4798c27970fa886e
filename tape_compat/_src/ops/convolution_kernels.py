"""Convolutions on processors by kernels of this library's own, `native/convolution.c`.

They are called in programs that this process runs itself, where they are quicker than what XLA has.
Those of float16 and bfloat16 are done in float32 and rounded once, as TensorFlow does; XLA's take
still longer: the step of a network of depthwise ones 300 ms, 25 in float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero, zero_from_primal

from ..core import kernels
from ..core.kernels import FLOATS, PROGRAMS, WIDTH, in_floats, of_axes, width_of
from .windows import extents, padding_pairs

#: A function of two arrays, linear in each.
Bilinear = Callable[[Any, Any], Any]

#: Of float32 XLA's are quicker for fewer features of many channels, unless they are of groups or
#: over three axes: a vector is of several features. 8 images 28 x 28 x 128 to 1 feature by 5 x 5
#: took 7.4 ms of the processors' time, and 3.2 by XLA; of 64 x 64 x 2 to 2 by 3 x 3 0.4 and 1.8.
#: The derivative by the kernel took XLA 0.9 to 9 times as long (24 shapes), 2 in the middle. Of
#: groups, with derivatives, 23 to 450 times; depthwise 10 to 100 (JAX 0.10).
LEAST_FEATURES = 3
FEW_CHANNELS = 16

#: The same where the images lie apart: 8 images 32 x 32 x 64 to 64 x 64 x 6 by 3 x 3 took 950 us,
#: and 750 by XLA; to 64 x 64 x 16 900 and 1,400.
LEAST_FEATURES_APART = 8

_CONVOLUTION = "tape_compat_convolution"
_DERIVATIVE = "tape_compat_convolution_derivative"


class Windows(NamedTuple):
    """Where the windows of a convolution lie, by axes.

    apart: how far the pixels of the images are from each other; more than 1: zeros lie between.
    flipped: whether the kernel is that of the convolution that this one transposes.
    """

    places: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    low: tuple[int, ...]
    apart: tuple[int, ...]
    flipped: bool = False

    @classmethod
    def of(
        cls,
        sizes: Sequence[int],
        window: Sequence[int],
        strides: tuple[int, ...],
        padding: Any,
        dilations: tuple[int, ...],
    ) -> Windows:
        pads = padding_pairs(sizes, window, strides, padding, dilations)
        reach = extents(window, dilations)
        places = [
            (n + sum(pair) - size) // step + 1
            for n, pair, size, step in zip(sizes, pads, reach, strides, strict=True)
        ]
        low = tuple([low for low, _ in pads])
        return cls(tuple(places), strides, dilations, low, (1,) * len(places))

    def transposed(self, sizes: Sequence[int], window: Sequence[int]) -> Windows:
        """Those of the convolution that takes what has come of images of such sizes back to
        them."""
        reach = extents(window, self.dilations)
        low = tuple([n - 1 - low for n, low in zip(reach, self.low, strict=True)])
        ones = (1,) * len(self.places)
        return Windows(tuple(sizes), ones, self.dilations, low, self.strides, True)

    def numbers(self, depthwise: bool) -> np.ndarray:
        """As the kernels take them."""
        found = of_axes(self.strides, self.dilations, self.low, self.apart)
        return np.array([*found, self.flipped, depthwise], "int64")


def available() -> bool:
    """Whether this processor, and XLA as it is installed, take the kernels."""
    names = {_CONVOLUTION: "CONVOLUTION", _DERIVATIVE: "DERIVATIVE"}
    return WIDTH > 0 and kernels.available("Convolutions are left to XLA", **names)


def on_processors(
    by_xla: Bilinear, quick: Bilinear, x: Any, y: Any, rows: bool | None = None
) -> Any:
    """`by_xla(x, y)`, on processors done by `quick`; its derivatives are XLA's.

    rows: whether several `x` for one `y` may be given to `quick` as one array, along the first
    axis. None: `quick` is JAX's, which knows by itself what to do.
    """
    if rows is not None:
        quick = _by_rows(quick, rows)

    @jax.custom_jvp
    def function(x: Any, y: Any) -> Any:
        return lax.platform_dependent(x, y, cpu=quick, default=by_xla)

    def derivative(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        parts = []
        if not isinstance(dx, SymbolicZero):
            parts.append(by_xla(dx, y))
        if not isinstance(dy, SymbolicZero):
            parts.append(by_xla(x, dy))
        found = function(x, y)
        return found, functools.reduce(jnp.add, parts) if parts else zero_from_primal(found)

    function.defjvp(derivative, symbolic_zeros=True)
    return function(x, y)


def _by_rows(quick: Bilinear, rows: bool) -> Bilinear:
    """`quick`, which JAX cannot batch: one after the other where it is batched otherwise than by
    rows. XLA does such batches as groups: 64 kernels 3 x 3 x 3 x 8, each of its own image 28 x 28,
    took 11 ms, and one after the other 1.8; their derivatives 4.2 and 1.7."""

    @jax.custom_batching.custom_vmap
    def function(x: Any, y: Any) -> Any:
        return quick(x, y)

    @function.def_vmap
    def _(size: int, batched: Sequence[bool], x: Any, y: Any) -> Any:
        if rows and not batched[1]:
            found = function(x.reshape(-1, *x.shape[2:]), y)
            return found.reshape(size, -1, *found.shape[1:]), True
        if all(batched):
            return lax.map(lambda both: function(*both), (x, y)), True
        if batched[0]:
            return lax.map(lambda x: function(x, y), x), True
        return lax.map(lambda y: function(x, y), y), True

    return function


def fit(*arrays: Any) -> bool:
    """Whether such arrays are for the kernels, in the program that is traced."""
    return PROGRAMS.own and all(
        a.dtype in FLOATS and a.ndim in (3, 4, 5) and all(isinstance(n, int) for n in a.shape)
        for a in arrays
    )


def convolution(by_xla: Bilinear, x: Any, kernel: Any, windows: Windows, features: int) -> Any:
    """`by_xla(x, kernel)`: the convolution of `x` [n, sizes..., channels] at such windows, which
    gives so many features. The arrays `fit`."""
    channels = features if windows.flipped else x.shape[-1]
    grouped = kernel.shape[-2] != channels
    if (
        not (grouped or _pays(x, kernel, windows, features))
        or min(windows.places) == 0
        or not available()
    ):
        return by_xla(x, kernel)
    depthwise = grouped and _fills_vectors(kernel.shape, kernel.dtype)

    def quick(x: Any, kernel: Any) -> Any:
        if depthwise:
            return _depthwise(x, kernel, windows, channels)
        shape = (x.shape[0], *windows.places, features)
        return _call(_CONVOLUTION, x, kernel, shape, windows)

    return on_processors(by_xla, in_floats(quick), x, kernel, rows=True)


def _pays(x: Any, kernel: Any, windows: Windows, features: int) -> bool:
    """Whether a convolution without groups is quicker by a kernel."""
    if math.prod(kernel.shape[:-2]) == 1:
        return False
    if x.dtype == np.float64 or x.ndim == 5 or x.shape[-1] <= FEW_CHANNELS:
        return True
    return features >= (LEAST_FEATURES if max(windows.apart) == 1 else LEAST_FEATURES_APART)


def kernel_derivative(
    by_xla: Bilinear, x: Any, dy: Any, kernel: tuple[int, ...], windows: Windows
) -> Any:
    """`by_xla(x, dy)`: the cotangent, of shape `kernel`, of the kernel by that of the output; None
    where these kernels are not to do it. The arrays `fit`."""
    grouped = kernel[-2] != x.shape[-1]
    if not (grouped or math.prod(kernel[:-2]) > 1) or min(windows.places) == 0 or not available():
        return None
    depthwise = grouped and _fills_vectors(kernel, x.dtype)

    def quick(x: Any, dy: Any) -> Any:
        if depthwise:
            x = _repeated(x, kernel[-1] // x.shape[-1])
        shape = _by_themselves(kernel) if depthwise else kernel
        return _call(_DERIVATIVE, x, dy, shape, windows, depthwise).reshape(kernel)

    return on_processors(by_xla, in_floats(quick), x, dy, rows=False)


def _fills_vectors(kernel: tuple[int, ...], dtype: Any) -> bool:
    """Whether a convolution with groups is done channel by channel: groups are of one, and vectors
    are full. As groups, each would have a vector for itself."""
    return kernel[-2] == 1 and kernel[-1] >= width_of(dtype)


def _by_themselves(kernel: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a kernel [window..., 1, features] as depthwise kernels take it."""
    return (*kernel[:-2], kernel[-1], 1)


def _depthwise(x: Any, kernel: Any, windows: Windows, channels: int) -> Any:
    """Of images `x` [n, sizes..., channels] each channel by itself, with its part of `kernel`
    [window..., 1, channels * multiplier]. If `windows` are flipped, `x` is of what has come of
    that, [n, places..., channels * multiplier], and the result of the images."""
    features = kernel.shape[-1]
    multiplier = features // channels
    if not windows.flipped:
        x = _repeated(x, multiplier)
    shape = (x.shape[0], *windows.places, features)
    kernel = kernel.reshape(_by_themselves(kernel.shape))
    found = _call(_CONVOLUTION, x, kernel, shape, windows, depthwise=True)
    if windows.flipped and multiplier > 1:
        found = jnp.sum(found.reshape(*shape[:-1], channels, multiplier), -1)
    return found


def _repeated(x: Any, multiplier: int) -> Any:
    """Each channel so often."""
    return x if multiplier == 1 else jnp.repeat(x, multiplier, -1)


def _call(
    target: str,
    x: Any,
    y: Any,
    shape: tuple[int, ...],
    windows: Windows,
    depthwise: bool = False,
) -> Any:
    """A call of a kernel. It takes images of three axes: of fewer they get first ones of size 1."""
    of_kernel, ones = target == _DERIVATIVE, (1,) * (5 - x.ndim)

    def wide(shape: Sequence[int], kernel: bool) -> tuple[int, ...]:
        return (*ones, *shape) if kernel else (shape[0], *ones, *shape[1:])

    made = jax.ShapeDtypeStruct(wide(shape, of_kernel), x.dtype)
    x, y = x.reshape(wide(x.shape, False)), y.reshape(wide(y.shape, not of_kernel))
    call = jax.ffi.ffi_call(target, made)
    return call(x, y, numbers=windows.numbers(depthwise)).reshape(shape)

"""Brightness, contrast, saturation, hue and gamma."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ...core.avals import Aval
from ...core.dimensions import differ, product
from ...core.op import Op
from ...core.refuse import invalid, shown
from ...values.bounds import host_value
from ...values.convert import convert
from ...values.dispatch import maps_first
from ...values.record import apply
from ...values.tensor import Tensor
from ..arithmetic import add, divide, maximum, multiply, pow, subtract
from ..casting import cast
from ..declare import Number
from ..elementwise import rsqrt
from ..reductions import reduce_mean, reduce_std
from .colors import as_float, convert_image_dtype, from_hsv, to_hsv
from .geometry import checked


@maps_first
def adjust_brightness(image: Any, delta: Number) -> Tensor:
    """`image` with `delta`, in units of the whole range, added; integers keep their range.

    >>> import tape_compat as tf
    >>> tf.image.adjust_brightness([[[0.25]]], 0.5).numpy().item()
    0.75
    """
    image = convert(image)
    flat = as_float(image)
    return convert_image_dtype(add(flat, cast(delta, flat.dtype)), image.dtype, saturate=True)


@maps_first
def adjust_gamma(image: Any, gamma: Number = 1, gain: Number = 1) -> Tensor:
    """gain * image ** gamma, of an image in [0, 1].

    Raises: ValueError for a known `gamma` below 0.

    >>> import tape_compat as tf
    >>> tf.image.adjust_gamma([[[0.5]]], 2.0).numpy().item()
    0.25
    """
    image = convert(image)
    known = host_value(gamma) if isinstance(gamma, Tensor) else gamma
    if known is not None and known < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    adjusted = multiply(gain, pow(as_float(image), gamma))
    return convert_image_dtype(adjusted, image.dtype, saturate=True)


def _contrast(x: Any, factor: Any) -> Any:
    wide = x.astype(jnp.float32)
    mean = jnp.mean(wide, axis=(-3, -2), keepdims=True)
    return ((wide - mean) * factor + mean).astype(x.dtype)


def _check_contrast(avals: tuple[Aval, ...]) -> None:
    shape = avals[0].shape
    if len(shape) < 3:
        raise invalid(f"input must be at least 3-D, got shape{shown(shape)}", "AdjustContrastv2")
    _check_scalar(avals, "AdjustContrastv2", "contrast_factor")


def _check_scalar(avals: tuple[Aval, ...], kernel: str, what: str) -> None:
    if avals[1].shape:
        raise invalid(f"{what} must be scalar: {shown(avals[1].shape)}", kernel)


def _saturated(x: Any, factor: Any) -> Any:
    hsv = to_hsv(x.astype(jnp.float32))
    saturation = jnp.clip(hsv[..., 1] * factor, 0, 1)
    return from_hsv(jnp.stack([hsv[..., 0], saturation, hsv[..., 2]], -1)).astype(x.dtype)


def _turned(x: Any, delta: Any) -> Any:
    hsv = to_hsv(x.astype(jnp.float32))
    hue = hsv[..., 0] + delta
    hue = jnp.where(hue < 0, hue + 1, hue)
    hue = jnp.where(hue >= 1, hue - 1, hue)
    return from_hsv(jnp.stack([hue, hsv[..., 1], hsv[..., 2]], -1)).astype(x.dtype)


def _check_colors(kernel: str, what: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...]) -> None:
        shape = avals[0].shape
        if len(shape) < 3:
            raise invalid(f"input must be at least 3-D, got shape{shown(shape)}", kernel)
        if differ(shape[-1], 3):
            raise invalid(
                f"input must have 3 channels but instead has {shape[-1]} channels.", kernel
            )
        _check_scalar(avals, kernel, what)

    return check


_CONTRAST = Op(_contrast, "AdjustContrastv2", check=_check_contrast).bind()
_SATURATION = Op(
    _saturated, "AdjustSaturation", check=_check_colors("AdjustSaturation", "scale")
).bind()
_HUE = Op(_turned, "AdjustHue", check=_check_colors("AdjustHue", "delta")).bind()


def adjust_contrast(images: Any, contrast_factor: Number) -> Tensor:
    """Images whose distance from the mean of each channel is `contrast_factor` times as large.

    >>> import tape_compat as tf
    >>> tf.image.adjust_contrast([[[0.0], [1.0]]], 0.5).numpy().ravel().tolist()
    [0.25, 0.75]
    """
    images = convert(images)
    found = apply(_CONTRAST, (as_float(images), convert(contrast_factor, "float32")))
    return convert_image_dtype(found, images.dtype, saturate=True)


def adjust_saturation(image: Any, saturation_factor: Number, name: str | None = None) -> Tensor:
    """Red, green and blue of a saturation `saturation_factor` times as large, at most 1.

    >>> import tape_compat as tf
    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().ravel().tolist()
    [1.0, 1.0, 1.0]
    """
    image = convert(image)
    found = apply(_SATURATION, (as_float(image), convert(saturation_factor, "float32")))
    return convert_image_dtype(found, image.dtype)


def adjust_hue(image: Any, delta: Number, name: str | None = None) -> Tensor:
    """Red, green and blue whose hue, a turn of the circle of colors, is larger by `delta`.

    Raises: ValueError for a known `delta` outside of [-1, 1].

    >>> import tape_compat as tf
    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().ravel().tolist()
    [0.0, 1.0, 1.0]
    """
    image = convert(image)
    known = host_value(delta) if isinstance(delta, Tensor) else delta
    if known is not None and not -1 <= known <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    found = apply(_HUE, (as_float(image), convert(delta, "float32")))
    return convert_image_dtype(found, image.dtype)


def per_image_standardization(image: Any) -> Tensor:
    """Images [..., h, w, c] as float32 of mean 0 and variance 1 each.

    The deviation counts as at least 1 / sqrt(h * w * c), so that images of one color become 0.
    Raises: ValueError for fewer than 3 axes.

    >>> import tape_compat as tf
    >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel().tolist()
    [-1.0, 1.0]
    """
    x = cast(checked(image), "float32")
    axes = [-1, -2, -3]
    count = convert(product(x._aval.shape[-3:]))
    least = rsqrt(cast(count, "float32"))
    deviation = maximum(reduce_std(x, axes, keepdims=True), least)
    return divide(subtract(x, reduce_mean(x, axes, keepdims=True)), deviation)

"""Colors: other spaces, other dtypes, gray."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ...core import errors
from ...core.avals import Aval
from ...core.dimensions import differ
from ...core.dtypes import as_dtype, float32
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.convert import convert, preferring
from ...values.dispatch import maps_first
from ...values.record import apply
from ...values.tensor import Tensor
from ..arithmetic import floordiv, multiply
from ..casting import cast, saturate_cast
from ..declare import allowed
from ..products import tensordot
from ..repeating import tile
from ..shapes import expand_dims, identity

_FLOATS = "half, bfloat16, float, double"


def check_colors(kernel: str, listed: str | None = None) -> Callable[..., None]:
    """A check that the last axis has 3 channels."""

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        x = avals[0]
        if listed is not None and not x.floating:
            raise not_allowed(x.dtype, listed, kernel)
        if not x.shape:
            raise invalid(f"input must be at least 1D{shown(x.shape)}", kernel)
        if differ(x.shape[-1], 3):
            raise errors.FailedPreconditionError(
                None,
                None,
                f"input must have 3 channels but input only has {x.shape[-1]} channels. "
                f"[Op:{kernel}] (at {errors.user_location()})",
            )

    return check


def to_hsv(x: Any) -> Any:
    """Hue, saturation and value of red, green and blue.

    Of equal channels the first is the largest and the last the smallest, also for derivatives.
    """
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    value = jnp.where((r >= g) & (r >= b), r, jnp.where(g >= b, g, b))
    least = jnp.where((r < b) & (r < g), r, jnp.where(g < b, g, b))
    spread = value - least
    saturation = jnp.where(value > 0, spread / jnp.where(value > 0, value, 1), 0)
    norm = 1 / (6 * jnp.where(spread > 0, spread, 1))
    hue = jnp.where(
        r == value,
        norm * (g - b),
        jnp.where(g == value, norm * (b - r) + 2 / 6, norm * (r - g) + 4 / 6),
    )
    hue = jnp.where(spread > 0, hue, 0)
    hue = jnp.where(hue < 0, hue + 1, hue)
    return jnp.stack([hue, saturation, value], axis=-1).astype(x.dtype)


def from_hsv(x: Any) -> Any:
    """Red, green and blue of hue, saturation and value."""
    hue, saturation, value = 6 * x[..., 0], x[..., 1], x[..., 2]
    shares = (jnp.abs(hue - 3) - 1, 2 - jnp.abs(hue - 2), 2 - jnp.abs(hue - 4))
    colors = [((1 - saturation) + saturation * jnp.clip(s, 0, 1)) * value for s in shares]
    return jnp.stack(colors, axis=-1).astype(x.dtype)


_TO_HSV = Op(to_hsv, "RGBToHSV", check=check_colors("RGBToHSV", _FLOATS)).bind()
_FROM_HSV = Op(
    from_hsv, "HSVToRGB", check=check_colors("HSVToRGB", _FLOATS), differentiable=None
).bind()


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value, in [0, 1], of red, green and blue [..., 3] in [0, 1].

    Raises: FailedPreconditionError if there are not 3 channels.

    >>> import tape_compat as tf
    >>> tf.image.rgb_to_hsv([1.0, 0.5, 0.5]).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    return apply(_TO_HSV, (preferring(images, float32, allowed("float")),))


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Red, green and blue of hue, saturation and value [..., 3]; without a gradient.

    >>> import tape_compat as tf
    >>> tf.image.hsv_to_rgb([0.0, 0.5, 1.0]).numpy().tolist()
    [1.0, 0.5, 0.5]
    """
    return apply(_FROM_HSV, (preferring(images, float32, allowed("float")),))


_MATRICES = {
    "rgb_to_yiq": (
        (0.299, 0.59590059, 0.2115),
        (0.587, -0.27455667, -0.52273617),
        (0.114, -0.32134392, 0.31119955),
    ),
    "yiq_to_rgb": (
        (1, 1, 1),
        (0.95598634, -0.27201283, -1.10674021),
        (0.6208248, -0.64720424, 1.70423049),
    ),
    "rgb_to_yuv": (
        (0.299, -0.14714119, 0.61497538),
        (0.587, -0.28886916, -0.51496512),
        (0.114, 0.43601035, -0.10001026),
    ),
    "yuv_to_rgb": ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0)),
}


def _by_matrix(name: str, images: Any) -> Tensor:
    x = convert(images)
    matrix = convert(_MATRICES[name], x.dtype)
    return tensordot(x, matrix, [[len(x._aval.shape) - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """Luma and two chromas (NTSC) of red, green and blue [..., 3].

    >>> import tape_compat as tf
    >>> tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]]).numpy().round(4).tolist()[0][0]
    1.0
    """
    return _by_matrix("rgb_to_yiq", images)


def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yiq`."""
    return _by_matrix("yiq_to_rgb", images)


def rgb_to_yuv(images: Any) -> Tensor:
    """Luma and two chromas (PAL) of red, green and blue [..., 3].

    >>> import tape_compat as tf
    >>> tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]]).numpy().round(4).tolist()[0][0]
    1.0
    """
    return _by_matrix("rgb_to_yuv", images)


def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yuv`."""
    return _by_matrix("yuv_to_rgb", images)


@maps_first
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """An image of another dtype. Floats in [0, 1] stand for all of the range of integers.

    Args:
      saturate: whether numbers outside of the new range become its ends.
    Raises: AttributeError if one of the dtypes is no number.

    >>> import tape_compat as tf
    >>> tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8).numpy().tolist()
    [0, 127, 255]
    """
    x, new = convert(image), as_dtype(dtype)
    for kind, what in ((new, "dtype"), (x.dtype, "image dtype")):
        if not (kind.is_floating or kind.is_integer):
            raise AttributeError(f"{what} must be either floating point or integer")
    to_new = saturate_cast if saturate else cast
    if x.dtype is new:
        return identity(x)
    if x.dtype.is_integer and new.is_integer:
        old_size, new_size = x.dtype.max + 1, new.max + 1
        if old_size > new_size:
            return to_new(floordiv(x, old_size // new_size), new)
        return multiply(to_new(x, new), new_size // old_size)
    if new.is_floating:
        return cast(x, new) if x.dtype.is_floating else multiply(cast(x, new), 1 / x.dtype.max)
    return to_new(multiply(x, new.max + 0.5), new)


def as_float(image: Any) -> Tensor:
    """An image as float16 if it is that, else as float32."""
    x = convert(image)
    return x if x.dtype.name in ("float16", "float32") else convert_image_dtype(x, "float32")


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The luma [..., 1] of red, green and blue [..., 3].

    >>> import tape_compat as tf
    >>> tf.image.rgb_to_grayscale([[[255, 255, 255]]]).shape
    TensorShape([1, 1, 1])
    """
    x = convert(images)
    flat = convert_image_dtype(x, "float32")
    gray = tensordot(flat, convert([0.2989, 0.587, 0.114], flat.dtype), [-1, -1])
    return convert_image_dtype(expand_dims(gray, -1), x.dtype)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Gray [..., 1] as red, green and blue [..., 3].

    Raises: ValueError if the last axis is not of size 1.

    >>> import tape_compat as tf
    >>> tf.image.grayscale_to_rgb([[[7]]]).numpy().tolist()
    [[[7, 7, 7]]]
    """
    x = convert(images)
    shape = x._aval.shape
    if len(shape) < 2:
        raise ValueError(f"A grayscale image (shape {x.shape}) must be at least two-dimensional.")
    if differ(shape[-1], 1):
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return tile(x, [1] * (len(shape) - 1) + [3])

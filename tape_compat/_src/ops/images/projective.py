"""Images seen through a projective transform."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ...core.avals import Aval
from ...core.dimensions import differ
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims

_KERNEL = "ImageProjectiveTransformV3"
_MODES = ("REFLECT", "WRAP", "CONSTANT", "NEAREST")


def _reflected(at: Any, size: int) -> Any:
    """Beyond an edge the image again, mirrored: dcba|abcd|dcba."""
    if size <= 1:
        return jnp.zeros_like(at)
    period = 2 * size
    low = jnp.where(at < period, period * jnp.trunc(-at / period) + at, at)
    low = jnp.where(low < -size, low + period, -low - 1)
    high = at - period * jnp.trunc(at / period)
    high = jnp.where(high >= size, period - high - 1, high)
    return jnp.where(at < 0, low, jnp.where(at > size - 1, high, at))


def _wrapped(at: Any, size: int) -> Any:
    """Beyond an edge the image again: abcd|abcd|abcd."""
    if size <= 1:
        return jnp.zeros_like(at)
    low = at + size * (jnp.trunc(-at / (size - 1)) + 1)
    high = at - size * jnp.trunc(at / (size - 1))
    return jnp.where(at < 0, low, jnp.where(at > size - 1, high, at))


def _mapped(at: Any, size: int, mode: str) -> Any:
    if mode == "CONSTANT":
        return at
    if mode != "NEAREST":
        at = (_reflected if mode == "REFLECT" else _wrapped)(at, size)
    return jnp.clip(at, 0, max(size - 1, 0))


def _read(image: Any, y: Any, x: Any, fill: Any) -> Any:
    """Pixels [rows, columns, c] at whole coordinates, `fill` outside of the image."""
    height, width = image.shape[:2]
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    rows = jnp.clip(y, 0, height - 1).astype(jnp.int32)
    columns = jnp.clip(x, 0, width - 1).astype(jnp.int32)
    return jnp.where(inside[..., None], image[rows, columns], fill)


def _rounded(x: Any) -> Any:
    """The nearest whole number, halves away from 0."""
    return jnp.trunc(x + jnp.copysign(jnp.asarray(0.5, x.dtype), x))


def _one(image: Any, t: Any, fill: Any, size: tuple[int, int], nearest: bool, mode: str) -> Any:
    if 0 in image.shape[:2]:
        return jnp.broadcast_to(fill, (*size, image.shape[-1]))
    x = lax.broadcasted_iota(t.dtype, size, 1)
    y = lax.broadcasted_iota(t.dtype, size, 0)
    depth = t[6] * x + t[7] * y + 1
    behind = depth == 0
    over = jnp.where(behind, 1, depth)
    at_x = _mapped((t[0] * x + t[1] * y + t[2]) / over, image.shape[1], mode)
    at_y = _mapped((t[3] * x + t[4] * y + t[5]) / over, image.shape[0], mode)
    if nearest:
        found = _read(image, _rounded(at_y), _rounded(at_x), fill)
    else:
        left, top = jnp.floor(at_x), jnp.floor(at_y)
        along = (at_x - left)[..., None]
        down = (at_y - top)[..., None]
        upper = _read(image, top, left, fill) * (1 - along)
        upper += _read(image, top, left + 1, fill) * along
        lower = _read(image, top + 1, left, fill) * (1 - along)
        lower += _read(image, top + 1, left + 1, fill) * along
        found = upper * (1 - down) + lower * down
    return jnp.where(behind[..., None], fill, found).astype(image.dtype)


def _transformed(
    images: Any, transforms: Any, fill: Any, size: tuple[int, int], nearest: bool, mode: str
) -> Any:
    transforms = jnp.broadcast_to(transforms, (images.shape[0], 8))
    fill = fill.astype(jnp.float32 if images.dtype.itemsize < 4 else images.dtype)
    one = partial(_one, size=size, nearest=nearest, mode=mode)
    return jax.vmap(one, in_axes=(0, 0, None))(images, transforms, fill)


def _inverse(transforms: Any) -> Any:
    """The transforms the other way, the last element of each matrix 1."""
    whole = jnp.concatenate([transforms, jnp.ones_like(transforms[:, :1])], axis=1)
    flat = jnp.linalg.inv(whole.reshape(-1, 3, 3)).reshape(-1, 9)
    return flat[:, :8] / flat[:, 8:]


def _forward(*args: Any) -> tuple[Any, Any]:
    images, transforms, fill = args[:3]
    return _transformed(*args), (images.shape[1:3], transforms, fill)


def _backward(size: Any, nearest: bool, mode: str, kept: Any, dy: Any) -> tuple[Any, Any, Any]:
    """The cotangent seen through the inverse transform, which is not quite the transpose.

    Source: TF image_ops.py, _image_projective_transform_v3_grad.
    """
    shape, transforms, fill = kept
    back = _transformed(dy, _inverse(transforms), jnp.zeros_like(fill), shape, nearest, mode)
    return back, jnp.zeros_like(transforms), jnp.zeros_like(fill)


#: As `_transformed`. Forward mode and derivatives of the gradient are lost.
_projected: Any = jax.custom_vjp(_transformed, nondiff_argnums=(3, 4, 5))
_projected.defvjp(_forward, _backward)


def _check(avals: tuple[Aval, ...], **_: Any) -> None:
    images, transforms, _fill = avals
    if len(images.shape) != 4:
        raise invalid(f"Images must have rank 4{shown(images.shape)}", _KERNEL)
    rows = transforms.shape[0] if transforms.shape else 0
    several = differ(rows, 1) and differ(rows, images.shape[0])
    if len(transforms.shape) != 2 or differ(transforms.shape[1], 8) or several:
        raise invalid("Input transform should be num_images x 8 or 1 x 8", _KERNEL)


def _projection(
    images: Any, transforms: Any, fill: Any, size: tuple[int, int], nearest: bool, mode: str
) -> Any:
    return _projected(images, transforms, fill, size, nearest, mode)


_PROJECTION = Op(_projection, _KERNEL, check=_check, through=(0,))


def project(
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Tensor:
    """Images [n, h, w, c] whose pixel (x, y) is the pixel of `images` that a transform maps it to.

    Args:
      transforms: float32 [n, 8] or [1, 8]: a0, a1, a2, b0, b1, b2, c0, c1; (x, y) is mapped to
        ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
      interpolation: "NEAREST" or "BILINEAR".
      fill_mode: what lies outside: "CONSTANT" (`fill_value`), "REFLECT", "WRAP" or "NEAREST".
    Raises: InvalidArgumentError if the shapes do not fit.
    """
    size = dims(output_shape)
    if len(size) != 2:
        raise invalid(f"output shape must have two elements{shown((len(size),))}", _KERNEL)
    for value, known, what in (
        (interpolation, ("NEAREST", "BILINEAR"), "interpolation"),
        (fill_mode, _MODES, "fill_mode"),
    ):
        if value.upper() not in known:
            listed = ", ".join(f'"{name}"' for name in known)
            raise not_allowed(f'"{value}"', listed, _KERNEL, what)
    closure = _PROJECTION.bind(
        size=size, nearest=interpolation.upper() == "NEAREST", mode=fill_mode.upper()
    )
    inputs = (convert(images), convert(transforms, "float32"), convert(fill_value, "float32"))
    return apply(closure, inputs)

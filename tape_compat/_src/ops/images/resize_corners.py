"""Images of another size as TensorFlow 1 makes them: pixels lie at their corners, not centers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core import dtypes
from ...core.avals import Aval
from ...core.dimensions import Shape, less
from ...core.op import Op
from ...core.refuse import invalid
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims
from ..casting import cast
from .resize import given_back, one_each, resize, weighted

_KERNELS = {
    "bilinear": "ResizeBilinear",
    "nearest": "ResizeNearestNeighbor",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}


def _scale(new: int, old: int, align: bool) -> np.float32:
    """How many old pixels a new one is wide; with `align` the last ones lie on each other."""
    if align and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


def _corners(new: int, old: int, align: bool) -> np.ndarray:
    return np.arange(new, dtype=np.float32) * _scale(new, old, align)


def _nearest(new: int, old: int, align: bool) -> np.ndarray:
    at = _corners(new, old, align)
    place = np.floor(at + np.float32(0.5)) if align else np.floor(at)
    return np.minimum(place.astype(np.int32), old - 1)


def _bilinear(new: int, old: int, align: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    at = _corners(new, old, align)
    low = np.floor(at)
    first = low.astype(np.int32)
    return first, np.minimum(first + 1, old - 1), at - low


#: Steps of the table that TensorFlow's bicubic weights are from.
_STEPS = 1024


def _cubic(x: np.ndarray) -> np.ndarray:
    """Keys' cubic with a = -3/4, for x from 0 to 2."""
    a = -0.75
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x > 1, far, near).astype(np.float32)


@lru_cache(maxsize=256)
def _bicubic(new: int, old: int, align: bool) -> np.ndarray:
    """Weights of the four old pixels around each new one; at the edges pixels count twice."""
    at = _corners(new, old, align)
    low = np.floor(at).astype(np.int64)
    step = np.rint((at - low.astype(np.float32)) * np.float32(_STEPS)) / _STEPS
    weights = np.zeros((new, old), np.float32)
    for k, distance in ((-1, step + 1), (0, step), (1, 1 - step), (2, 2 - step)):
        np.add.at(weights, (np.arange(new), np.clip(low + k, 0, old - 1)), _cubic(distance))
    return weights


@lru_cache(maxsize=256)
def _area(new: int, old: int, align: bool) -> np.ndarray:
    """The part of each new pixel that each old one covers."""
    scale = _scale(new, old, align)
    weights = np.zeros((new, old), np.float32)
    for i in range(new):
        start, end = np.float32(i) * scale, np.float32(i + 1) * scale
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            covered = min(np.float32(j + 1), end) - max(np.float32(j), start)
            weights[i, min(j, old - 1)] += covered
    return weights / scale


def _along(x: Any, axis: int, new: int, method: str, align: bool, xp: Any) -> Any:
    old = x.shape[axis]
    if method == "nearest":
        return xp.take(x, _nearest(new, old, align), axis=axis)
    if method == "bilinear":
        low, high, share = _bilinear(new, old, align)
        share = share.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        first = xp.take(x, low, axis=axis)
        return first + (xp.take(x, high, axis=axis) - first) * share
    return weighted(x, axis, _weights(new, old, method, align), xp)


def _weights(new: int, old: int, method: str, align: bool) -> np.ndarray:
    """What each new pixel takes of each old one, [new, old]."""
    if method in ("bicubic", "area"):
        return (_bicubic if method == "bicubic" else _area)(new, old, align)
    if method == "nearest":
        return one_each(old, _nearest(new, old, align))
    low, high, share = _bilinear(new, old, align)
    return one_each(old, low) * (1 - share)[:, None] + one_each(old, high) * share[:, None]


def _resize(x: Any, size: tuple[int, int], method: str, align: bool, xp: Any = jnp) -> Any:
    if method != "nearest":
        x = x.astype(np.float32)
    for axis in (2, 1):
        x = _along(x, axis, size[axis - 1], method, align, xp)
    return x


def _pull(
    arrays: Sequence[Any],
    cotangents: Sequence[Any],
    wrt: tuple[int, ...],
    size: Shape,
    method: str,
    align: bool,
) -> tuple[Any, ...]:
    resized = partial(_resize, size=size, method=method, align=align)
    weights = partial(_weights, method=method, align=align)
    return (given_back(arrays[0], cotangents[0], size, resized, weights),)


def _check(avals: tuple[Aval, ...], size: Shape, method: str, align: bool) -> None:
    (x,), kernel = avals, _KERNELS[method]
    if len(x.shape) != 4:
        raise invalid(f"input must be 4-dimensional{x.tensor_shape}", kernel)
    if any(less(n, 1) for n in size):
        raise invalid("output dimensions must be positive", kernel)
    if any(less(n, 1) for n in x.shape[1:3]):
        raise invalid("input image must be of non-zero size", kernel)


def _shape(avals: tuple[Aval, ...], size: Shape, method: str, align: bool) -> Aval:
    count, _, _, channels = avals[0].shape
    dtype = avals[0].dtype if method == "nearest" else dtypes.float32
    return Aval.of((count, *size, channels), dtype)


def _on_host(x: np.ndarray, size: tuple[int, int], method: str, align: bool) -> np.ndarray:
    return _resize(x, size, method, align, np)


_RESIZE = {
    method: Op(_resize, kernel, check=_check, shapes=_shape, host=_on_host, pull=_pull)
    for method, kernel in _KERNELS.items()
}


def _by_corners(x: Tensor, size: Shape, method: str, align: bool) -> Tensor:
    return apply(_RESIZE[method].bind(size=size, method=method, align=align), (x,))


def resized(
    images: Any, size: Any, method: str, align_corners: bool, half_pixel_centers: bool = False
) -> Tensor:
    """Images [n, h, w, c] of another size as TensorFlow's kernels make them; float32, but by
    "nearest" as given.

    Args:
      align_corners: whether the last pixels lie on each other, not only the first ones.
      half_pixel_centers: whether pixels are where their centers are.
    Raises: InvalidArgumentError for both.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.images.resize_corners import resized
    >>> x = tf.constant([0.0, 4.0], shape=[1, 1, 2, 1])
    >>> resized(x, [1, 3], "bilinear", align_corners=True).numpy().ravel().tolist()
    [0.0, 2.0, 4.0]
    """
    if align_corners and half_pixel_centers:
        text = "If half_pixel_centers is True, align_corners must be False."
        raise invalid(text, _KERNELS[method])
    if not (half_pixel_centers or (method == "area" and not align_corners)):
        return _by_corners(convert(images), tuple(dims(size)), method, bool(align_corners))
    found = resize(images, size, method)
    return found if method == "nearest" else cast(found, dtypes.float32)

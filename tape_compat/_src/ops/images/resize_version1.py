"""Images of another size as TensorFlow 1 places the pixels: by their corners, not their centers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core import dtypes
from ...core.avals import Aval
from ...core.op import Op
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims
from .resize import weighted

_KERNELS = {
    "bilinear": "ResizeBilinear",
    "nearest": "ResizeNearestNeighbor",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}


def _scale(new: int, old: int, corners: bool) -> np.float32:
    """Old pixels for a new one. corners: whether the first and the last pixels stay."""
    if corners and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


@lru_cache(maxsize=256)
def _nearest(new: int, old: int, corners: bool) -> np.ndarray:
    at = np.arange(new, dtype=np.float32) * _scale(new, old, corners)
    found = np.floor(at + np.float32(0.5)) if corners else np.floor(at)
    return np.minimum(found.astype(np.int32), old - 1)


@lru_cache(maxsize=256)
def _bilinear(new: int, old: int, corners: bool) -> np.ndarray:
    at = np.arange(new, dtype=np.float32) * _scale(new, old, corners)
    low = np.floor(at).astype(np.int64)
    share = at - low.astype(np.float32)
    weights = np.zeros((new, old), np.float32)
    rows = np.arange(new)
    np.add.at(weights, (rows, np.minimum(low, old - 1)), 1 - share)
    np.add.at(weights, (rows, np.minimum(np.ceil(at).astype(np.int64), old - 1)), share)
    return weights


def _cubic(x: np.ndarray) -> np.ndarray:
    """Keys' cubic with a = -3/4, for x from 0."""
    near = (1.25 * x - 2.25) * x * x + 1
    far = ((-0.75 * x + 3.75) * x - 6) * x + 3
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


@lru_cache(maxsize=256)
def _bicubic(new: int, old: int, corners: bool) -> np.ndarray:
    at = np.arange(new, dtype=np.float32) * _scale(new, old, corners)
    below = np.floor(at).astype(np.int64)
    step = np.rint((at - below.astype(np.float32)) * np.float32(1024)) / 1024
    weights = np.zeros((new, old), np.float32)
    for k, distance in ((-1, step + 1), (0, step), (1, 1 - step), (2, 2 - step)):
        place = np.clip(below + k, 0, old - 1)
        np.add.at(weights, (np.arange(new), place), _cubic(distance.astype(np.float64)))
    return weights


@lru_cache(maxsize=256)
def _area(new: int, old: int, corners: bool) -> np.ndarray:
    """The part of each new pixel that each old one covers; the last one goes on for ever."""
    scale = _scale(new, old, corners)
    weights = np.zeros((new, old), np.float32)
    for i in range(new):
        start, end = np.float32(i) * scale, np.float32(i + 1) * scale
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            weights[i, min(j, old - 1)] += min(np.float32(j + 1), end) - max(np.float32(j), start)
    return weights / scale


_WEIGHTS = {"bilinear": _bilinear, "bicubic": _bicubic, "area": _area}


def _resize(x: Any, size: tuple[int, int], method: str, corners: bool) -> Any:
    for axis in (2, 1):
        new, old = size[axis - 1], x.shape[axis]
        if method == "nearest":
            x = jnp.take(x, _nearest(new, old, corners), axis=axis)
        else:
            weights = _WEIGHTS[method](new, old, corners)
            x = weighted(x.astype(np.float32), axis, weights, jnp)
    return x


def _shape(avals: tuple[Aval, ...], size: tuple[int, int], method: str, corners: bool) -> Aval:
    count, _, _, channels = avals[0].shape
    dtype = avals[0].dtype if method == "nearest" else dtypes.float32
    return Aval.of((count, *size, channels), dtype)


_OPS = {method: Op(_resize, kernel, shapes=_shape) for method, kernel in _KERNELS.items()}


def resize_by_corners(images: Any, size: Any, method: str, align_corners: bool) -> Tensor:
    """Images [n, h, w, c] of another size; float32, but by "nearest" as given.

    align_corners: whether the pixels of the corners are the same in both.
    """
    closure = _OPS[method].bind(size=tuple(dims(size)), method=method, corners=align_corners)
    return apply(closure, (convert(images),))

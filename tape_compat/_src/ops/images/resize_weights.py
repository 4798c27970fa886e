"""How much of each pixel of a row goes into each pixel of a resized row: float32 [new, old].

Numbers are float32 as in TensorFlow's kernels, whose roundings decide which pixels take part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

_ONE = np.float32(1)
_TINY = np.float32(1000) * np.finfo(np.float32).tiny


def centers(new: int, old: int) -> np.ndarray:
    """Where the centers of the new pixels lie, in old pixels from the edge."""
    scale = np.float32(old) / np.float32(new)
    return (np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale


@lru_cache(maxsize=256)
def nearest(new: int, old: int) -> np.ndarray:
    """The old pixel that each new one is."""
    return np.clip(np.floor(centers(new, old)).astype(np.int32), 0, old - 1)


@lru_cache(maxsize=256)
def bilinear(new: int, old: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two old pixels beside each new one, and the share of the second."""
    at = centers(new, old) - np.float32(0.5)
    below = np.floor(at)
    low = np.maximum(below.astype(np.int32), 0)
    high = np.minimum(np.ceil(at).astype(np.int32), old - 1)
    return np.minimum(low, old - 1), np.maximum(high, 0), at - below


def _cubic(x: np.ndarray) -> np.ndarray:
    """Keys' cubic with a = -1/2, for x from 0."""
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


#: Steps of the table that TensorFlow's bicubic weights are from.
_STEPS = 1024


@lru_cache(maxsize=256)
def bicubic(new: int, old: int) -> np.ndarray:
    """Weights of the four old pixels around each new one, those outside left out."""
    at = centers(new, old) - np.float32(0.5)
    below = np.floor(at).astype(np.int64)
    step = np.rint((at - below.astype(np.float32)) * np.float32(_STEPS)) / _STEPS
    weights = np.zeros((new, old), np.float32)
    for k, distance in ((-1, step + 1), (0, step), (1, 1 - step), (2, 2 - step)):
        place = below + k
        inside = np.flatnonzero((place >= 0) & (place < old))
        weights[inside, place[inside]] = _cubic(distance.astype(np.float64))[inside]
    return _normalized(weights)


@lru_cache(maxsize=256)
def area(new: int, old: int) -> np.ndarray:
    """The part of each new pixel that each old one covers."""
    scale = np.float32(old) / np.float32(new)
    weights = np.zeros((new, old), np.float32)
    for i in range(new):
        start, end = np.float32(i) * scale, np.float32(i + 1) * scale
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            covered = min(np.float32(j + 1), end) - max(np.float32(j), start)
            weights[i, min(j, old - 1)] += covered
    return weights / scale


def _lanczos(radius: float) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        safe = np.where(x <= 1e-3, 1, x)
        value = radius * np.sin(np.pi * safe) * np.sin(np.pi * safe / radius)
        value = value / (np.pi * np.pi * safe * safe)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, value))

    return kernel


def _gaussian(x: np.ndarray) -> np.ndarray:
    """Of standard deviation 1/2, cut off at three of them."""
    return np.where(x >= 1.5, 0, np.exp(-x * x / 0.5))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.where(x < 1, 1 - x, 0)


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))


def _mitchell(x: np.ndarray) -> np.ndarray:
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


#: Filters by their method: the radius, and the weight by the distance.
FILTERS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1.0, _triangle),
    "bicubic": (2.0, _cubic),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "mitchellcubic": (2.0, _mitchell),
    "box": (1.0, _box),
}


def filtered(new: int, old: int, method: str, antialias: bool) -> np.ndarray:
    """Weights of a filter; with `antialias` it is as wide as a new pixel if that is larger."""
    return moved(new, old, np.float32(new) / np.float32(old), np.float32(0), method, antialias)


@lru_cache(maxsize=256)
def moved(
    new: int, old: int, scale: np.float32, shift: np.float32, method: str, antialias: bool
) -> np.ndarray:
    """The same of pixels that are `scale` as large and go on by `shift`; those that are outside of
    the old ones have no weights."""
    radius, kernel = FILTERS[method]
    inverse = _ONE / scale
    wide = max(inverse, _ONE) if antialias else _ONE
    at = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * inverse - shift * inverse
    reach = np.float32(radius) * wide
    first = np.clip(np.ceil(at - reach - np.float32(0.5)), 0, old - 1)[:, None]
    last = np.clip(np.floor(at + reach - np.float32(0.5)), 0, old - 1)[:, None]
    place = np.arange(old, dtype=np.float32)
    distance = np.abs((place + np.float32(0.5) - at[:, None]) * (_ONE / wide))
    used = (place >= first) & (place <= last) & (at >= 0)[:, None] & (at <= old)[:, None]
    return _normalized(np.where(used, kernel(distance.astype(np.float64)), 0))


def _normalized(weights: Any) -> np.ndarray:
    weights = weights.astype(np.float32)
    total = weights.sum(1, keepdims=True, dtype=np.float32)
    return weights / np.where(np.abs(total) >= _TINY, total, _ONE)

"""How much of each pixel of a row goes into each pixel of a resized row: float32 [new, old].

Numbers are float32 as in TensorFlow's kernels, whose roundings decide which pixels take part. They
are NumPy's arrays, and kept, where both sizes are known; else arrays of JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np

from ...core.dimensions import Size, is_symbolic

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ONE = np.float32(1)
_TINY = np.float32(1000) * np.finfo(np.float32).tiny


def _arrays(*sizes: Size) -> Any:
    """The module that computes with these sizes."""
    return jnp if any(map(is_symbolic, sizes)) else np


def _of_known_sizes(function: _Function) -> _Function:
    """The function, whose results are kept where sizes are known."""
    keeping = lru_cache(maxsize=256)(function)

    @wraps(function)
    def call(new: Size, old: Size, *args: Any) -> Any:
        return (keeping if _arrays(new, old) is np else function)(new, old, *args)

    return call  # type: ignore[return-value]


def _scale(new: Size, old: Size, xp: Any) -> Any:
    return xp.asarray(old).astype(np.float32) / xp.asarray(new).astype(np.float32)


def centers(new: Size, old: Size) -> Any:
    """Where the centers of the new pixels lie, in old pixels from the edge."""
    xp = _arrays(new, old)
    return (xp.arange(new, dtype=np.float32) + np.float32(0.5)) * _scale(new, old, xp)


@_of_known_sizes
def nearest(new: Size, old: Size) -> Any:
    """The old pixel that each new one is."""
    xp = _arrays(new, old)
    return xp.clip(
        xp.floor(centers(new, old)).astype(np.int32), 0, xp.asarray(old - 1).astype(np.int32)
    )


@_of_known_sizes
def bilinear(new: Size, old: Size) -> tuple[Any, Any, Any]:
    """The two old pixels beside each new one, and the share of the second."""
    xp = _arrays(new, old)
    last = xp.asarray(old - 1).astype(np.int32)
    at = centers(new, old) - np.float32(0.5)
    below = xp.floor(at)
    low = xp.maximum(below.astype(np.int32), 0)
    high = xp.minimum(xp.ceil(at).astype(np.int32), last)
    return xp.minimum(low, last), xp.maximum(high, 0), at - below


def _cubic(x: Any, xp: Any) -> Any:
    """Keys' cubic with a = -1/2, for x from 0."""
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return xp.where(x >= 2, 0, xp.where(x >= 1, far, near))


#: Steps of the table that TensorFlow's bicubic weights are from.
_STEPS = 1024


@_of_known_sizes
def bicubic(new: Size, old: Size) -> Any:
    """Weights of the four old pixels around each new one, those outside left out."""
    xp = _arrays(new, old)
    at = centers(new, old) - np.float32(0.5)
    below = xp.floor(at)
    step = xp.rint((at - below) * np.float32(_STEPS)) / _STEPS
    pixels, weights = xp.arange(old, dtype=np.float32), 0
    for k, distance in ((-1, step + 1), (0, step), (1, 1 - step), (2, 2 - step)):
        weight = _cubic(distance.astype(np.float64), xp).astype(np.float32)
        weights = weights + xp.where(pixels == (below + k)[:, None], weight[:, None], 0)
    return _normalized(weights, xp)


@_of_known_sizes
def area(new: Size, old: Size) -> Any:
    """The part of each new pixel that each old one covers."""
    if _arrays(new, old) is jnp:
        return _area_of_unknown(new, old)
    scale = np.float32(old) / np.float32(new)
    weights = np.zeros((new, old), np.float32)
    for i in range(new):
        start, end = np.float32(i) * scale, np.float32(i + 1) * scale
        for j in range(int(np.floor(start)), int(np.ceil(end))):
            covered = min(np.float32(j + 1), end) - max(np.float32(j), start)
            weights[i, min(j, old - 1)] += covered
    return weights / scale


def _area_of_unknown(new: Size, old: Size) -> Any:
    scale = _scale(new, old, jnp)
    at, pixel = jnp.arange(new, dtype=np.float32)[:, None], jnp.arange(old, dtype=np.float32)
    covered = jnp.minimum(pixel + 1, (at + 1) * scale) - jnp.maximum(pixel, at * scale)
    return jnp.maximum(covered, 0) / scale


def _lanczos(radius: float) -> Callable[[Any, Any], Any]:
    def kernel(x: Any, xp: Any) -> Any:
        safe = xp.where(x <= 1e-3, 1, x)
        value = radius * xp.sin(np.pi * safe) * xp.sin(np.pi * safe / radius)
        value = value / (np.pi * np.pi * safe * safe)
        return xp.where(x > radius, 0, xp.where(x <= 1e-3, 1, value))

    return kernel


def _gaussian(x: Any, xp: Any) -> Any:
    """Of standard deviation 1/2, cut off at three of them."""
    return xp.where(x >= 1.5, 0, xp.exp(-x * x / 0.5))


def _triangle(x: Any, xp: Any) -> Any:
    return xp.where(x < 1, 1 - x, 0)


def _box(x: Any, xp: Any) -> Any:
    return xp.where(x < 0.5, 1, xp.where(x == 0.5, 0.5, 0))


def _mitchell(x: Any, xp: Any) -> Any:
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return xp.where(x >= 2, 0, xp.where(x >= 1, far, near))


#: Filters by their method: the radius, and the weight by the distance.
FILTERS: dict[str, tuple[float, Callable[[Any, Any], Any]]] = {
    "bilinear": (1.0, _triangle),
    "bicubic": (2.0, _cubic),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "mitchellcubic": (2.0, _mitchell),
    "box": (1.0, _box),
}


def filtered(new: Size, old: Size, method: str, antialias: bool) -> Any:
    """Weights of a filter; with `antialias` it is as wide as a new pixel if that is larger."""
    if _arrays(new, old) is jnp:
        return _moved(new, old, _scale(old, new, jnp), np.float32(0), method, antialias)
    return moved(new, old, np.float32(new) / np.float32(old), np.float32(0), method, antialias)


def _moved(new: Size, old: Size, scale: Any, shift: Any, method: str, antialias: bool) -> Any:
    """The same of pixels that are `scale` as large and go on by `shift`; those that are outside of
    the old ones have no weights."""
    xp = _arrays(new, old)
    radius, kernel = FILTERS[method]
    inverse = _ONE / scale
    wide = xp.maximum(inverse, _ONE) if antialias else _ONE
    at = (xp.arange(new, dtype=np.float32) + np.float32(0.5)) * inverse - shift * inverse
    reach = np.float32(radius) * wide
    edge = xp.asarray(old).astype(np.float32)
    first = xp.clip(xp.ceil(at - reach - np.float32(0.5)), 0, edge - 1)[:, None]
    last = xp.clip(xp.floor(at + reach - np.float32(0.5)), 0, edge - 1)[:, None]
    place = xp.arange(old, dtype=np.float32)
    distance = xp.abs((place + np.float32(0.5) - at[:, None]) * (_ONE / wide))
    used = (place >= first) & (place <= last) & (at >= 0)[:, None] & (at <= edge)[:, None]
    return _normalized(xp.where(used, kernel(distance.astype(np.float64), xp), 0), xp)


moved = _of_known_sizes(_moved)


def _normalized(weights: Any, xp: Any) -> Any:
    weights = weights.astype(np.float32)
    total = weights.sum(1, keepdims=True, dtype=np.float32)
    return weights / xp.where(xp.abs(total) >= _TINY, total, _ONE)

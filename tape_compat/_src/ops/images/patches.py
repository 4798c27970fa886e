"""Patches cut out of images."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core import errors
from ...core.avals import Aval
from ...core.dimensions import Size, maximum
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..declare import static

_KERNEL = "ExtractImagePatches"


def _count(size: Size, window: int, stride: int, rate: int, padding: str) -> Size:
    """How many windows there are along an axis."""
    reach = (window - 1) * rate + 1
    return maximum((size - reach) // stride + 1, 0) if padding == "VALID" else -(-size // stride)


def _places(size: int, window: int, stride: int, rate: int, padding: str) -> tuple[int, int, int]:
    """The same, and the padding before and after."""
    count = _count(size, window, stride, rate, padding)
    if padding == "VALID":
        return count, 0, 0
    reach = (window - 1) * rate + 1
    total = max((count - 1) * stride + reach - size, 0)
    return count, total // 2, total - total // 2


def _patches(x: Any, sizes: tuple, strides: tuple, rates: tuple, padding: str) -> Any:
    found = [_places(x.shape[1 + i], sizes[i], strides[i], rates[i], padding) for i in (0, 1)]
    x = jnp.pad(x, [(0, 0), found[0][1:], found[1][1:], (0, 0)])
    for axis, (count, *_), i in ((1, found[0], 0), (3, found[1], 1)):
        starts = np.arange(count) * strides[i]
        index = starts[:, None] + np.arange(sizes[i]) * rates[i]
        x = jnp.take(x, index, axis=axis, mode="clip")
    x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
    return x.reshape(*x.shape[:3], sizes[0] * sizes[1] * x.shape[-1])


def _check(avals: tuple[Aval, ...], **_: Any) -> None:
    shape = avals[0].shape
    if len(shape) != 4:
        raise invalid(f"input must be 4-dimensional{shown(shape)}", _KERNEL)


def _shape(
    avals: tuple[Aval, ...], sizes: tuple, strides: tuple, rates: tuple, padding: str
) -> Aval:
    n, h, w, c = avals[0].shape
    counts = [
        _count(size, sizes[i], strides[i], rates[i], padding) for i, size in enumerate((h, w))
    ]
    return Aval.of((n, *counts, sizes[0] * sizes[1] * c), avals[0].dtype)


_PATCHES = Op(_patches, _KERNEL, check=_check, shapes=_shape)


def _spatial(value: Any, what: str) -> tuple[int, int]:
    given = static(value)
    if len(given) < 4:
        raise invalid(
            f"Length for attr '{what}' of {len(given)} must be at least minimum 4", _KERNEL
        )
    if given[0] != 1 or given[3] != 1:
        raise errors.UnimplementedError(
            None,
            None,
            f"Only support {what} across space. [Op:{_KERNEL}] (at {errors.user_location()})",
        )
    return given[1], given[2]


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Patches of `images` [n, h, w, c], each laid out as channels: [n, rows, columns, ph * pw * c].

    Args:
      sizes: [1, ph, pw, 1], of a patch.
      strides: [1, rows, columns, 1], from one patch to the next.
      rates: [1, rows, columns, 1], from one pixel of a patch to the next.
      padding: "VALID" or "SAME", which pads with zeros.
    Raises: InvalidArgumentError for images of another rank or another padding.

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(9), [1, 3, 3, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.image.extract_patches(x, [1, 2, 2, 1], ones, ones, "VALID").numpy()[0, 0].tolist()
    [[0, 1, 3, 4], [1, 2, 4, 5]]
    """
    if padding not in ("SAME", "VALID"):
        raise not_allowed(f'"{padding}"', '"SAME", "VALID"', _KERNEL, "padding")
    closure = _PATCHES.bind(
        sizes=_spatial(sizes, "ksizes"),
        strides=_spatial(strides, "strides"),
        rates=_spatial(rates, "rates"),
        padding=padding,
    )
    return apply(closure, (convert(images),))

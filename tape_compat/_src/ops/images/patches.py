"""Patches cut out of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core import errors
from ...core.avals import Aval
from ...core.dimensions import Shape, Size, is_symbolic, maximum
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..checks import REAL, check_dtypes
from ..declare import static
from ..windows import check_size, extents, whole

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
    total = maximum((count - 1) * stride + reach - size, 0)
    return count, total // 2, total - total // 2


def _cut(shape: Shape, counts: Sequence[Size], sizes: Sequence[int]) -> Shape:
    """The shape of so many patches of `sizes`, laid out as channels."""
    return (shape[0], *counts, math.prod(sizes) * shape[-1])


def _patches(x: Any, sizes: tuple, strides: tuple, rates: tuple, padding: str) -> Any:
    found = [_places(x.shape[1 + i], sizes[i], strides[i], rates[i], padding) for i in (0, 1)]
    if not x.shape[1] or not x.shape[2]:  # JAX takes nothing from nothing
        return jnp.zeros(_cut(x.shape, [place[0] for place in found], sizes), x.dtype)
    x = jnp.pad(x, [(0, 0), found[0][1:], found[1][1:], (0, 0)])
    for axis, (count, *_), i in ((1, found[0], 0), (3, found[1], 1)):
        counted = jnp if is_symbolic(count) else np
        starts = counted.arange(count) * strides[i]
        index = starts[:, None] + np.arange(sizes[i]) * rates[i]
        x = jnp.take(x, index, axis=axis, mode="clip")
    x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
    return x.reshape(*x.shape[:3], sizes[0] * sizes[1] * x.shape[-1])


def _check(
    avals: tuple[Aval, ...], sizes: tuple, strides: tuple, rates: tuple, padding: str
) -> None:
    shape = avals[0].shape
    if len(shape) != 4:
        raise invalid(f"input must be 4-dimensional{shown(shape)}", _KERNEL)
    check_size(shape[1:3], extents(sizes, rates), strides, padding, _KERNEL, by_kernel=True)


def _shape(
    avals: tuple[Aval, ...], sizes: tuple, strides: tuple, rates: tuple, padding: str
) -> Aval:
    _, h, w, _ = avals[0].shape
    counts = [
        _count(size, sizes[i], strides[i], rates[i], padding) for i, size in enumerate((h, w))
    ]
    return Aval.of(_cut(avals[0].shape, counts, sizes), avals[0].dtype)


_PATCHES = Op(_patches, _KERNEL, check=_check, shapes=_shape)


def _spatial(value: Any, what: str) -> tuple[int, int]:
    given = whole(static(value), what)
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


# -- of volumes ------------------------------------------------------------------------------------

_VOLUMES = "ExtractVolumePatches"


def _volume_patches(x: Any, sizes: tuple, strides: tuple, padding: str) -> Any:
    found = [_places(x.shape[1 + i], sizes[i], strides[i], 1, padding) for i in range(3)]
    if not all(x.shape[1:4]):
        return jnp.zeros(_cut(x.shape, [place[0] for place in found], sizes), x.dtype)
    x = jnp.pad(x, [(0, 0), *[place[1:] for place in found], (0, 0)])
    for i, (count, *_) in enumerate(found):
        index = (np.arange(count) * strides[i])[:, None] + np.arange(sizes[i])
        x = jnp.take(x, index, axis=1 + 2 * i, mode="clip")
    x = jnp.transpose(x, (0, 1, 3, 5, 2, 4, 6, 7))
    return x.reshape(*x.shape[:4], sizes[0] * sizes[1] * sizes[2] * x.shape[-1])


def _volume_sizes(aval: Aval, sizes: tuple, strides: tuple, padding: str) -> list[Size]:
    for i in range(3):
        check_size(
            aval.shape[1 + i : 2 + i], sizes[i : i + 1], strides[i : i + 1], padding, _VOLUMES, True
        )
    return [_count(aval.shape[1 + i], sizes[i], strides[i], 1, padding) for i in range(3)]


def _check_volumes(avals: tuple[Aval, ...], **attributes: Any) -> None:
    check_dtypes(_VOLUMES, REAL)(avals)
    if len(avals[0].shape) != 5:
        raise invalid(f"input must be 5-dimensional{shown(avals[0].shape)}", _VOLUMES)
    _volume_sizes(avals[0], **attributes)


def _volume_shape(avals: tuple[Aval, ...], sizes: tuple, strides: tuple, padding: str) -> Aval:
    counts = _volume_sizes(avals[0], sizes, strides, padding)
    n, *_, c = avals[0].shape
    return Aval.of((n, *counts, sizes[0] * sizes[1] * sizes[2] * c), avals[0].dtype)


_OF_VOLUMES = Op(_volume_patches, _VOLUMES, check=_check_volumes, shapes=_volume_shape)


def _of_space(value: Any, what: str) -> tuple[int, int, int]:
    given = whole(static(value), what)
    if len(given) < 5:
        raise invalid(
            f"Length for attr '{what}' of {len(given)} must be at least minimum 5", _VOLUMES
        )
    if given[0] != 1 or given[4] != 1:
        raise errors.UnimplementedError(
            None,
            None,
            f"Only support {what} across space. [Op:{_VOLUMES}] (at {errors.user_location()})",
        )
    return given[1], given[2], given[3]


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """Patches of volumes [n, d, h, w, c], each laid out as channels: [n, ..., pd * ph * pw * c].

    Args:
      ksizes: [1, pd, ph, pw, 1], of a patch.
      strides: [1, planes, rows, columns, 1], from one patch to the next.
      padding: "VALID" or "SAME", which pads with zeros.
    Raises: InvalidArgumentError for another rank, dtype or padding, or patches too large.

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(8), [1, 2, 2, 2, 1])
    >>> ones = [1, 1, 1, 1, 1]
    >>> tf.extract_volume_patches(x, [1, 1, 2, 2, 1], ones, "VALID").numpy()[0, :, 0, 0].tolist()
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    if padding not in ("SAME", "VALID"):
        raise not_allowed(f'"{padding}"', '"SAME", "VALID"', _VOLUMES, "padding")
    closure = _OF_VOLUMES.bind(
        sizes=_of_space(ksizes, "ksizes"), strides=_of_space(strides, "strides"), padding=padding
    )
    return apply(closure, (convert(input),))

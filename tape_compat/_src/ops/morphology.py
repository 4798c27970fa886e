"""Dilation and erosion of images by a filter of gray values."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import errors
from ..core.avals import Aval
from ..core.dimensions import Size, differ, maximum
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .checks import REAL, check_dtypes
from .declare import check_same_dtype, matching, static
from .elementwise import negative
from .ordering import reverse
from .windows import check_size, whole

_KERNEL = "Dilation2D"


def _dilate(x: Any, f: Any, strides: tuple, rates: tuple, padding: str) -> Any:
    """The first of equal ones takes the whole gradient, as in TF's kernels."""
    height, width = f.shape[:2]
    reach = [(n - 1) * rate + 1 for n, rate in zip((height, width), rates, strict=True)]
    pads = lax.padtype_to_pads(x.shape[1:3], reach, strides, padding)
    lowest = (jnp.finfo if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo)(x.dtype).min
    config = [(0, 0, 0), *[(int(a), int(b), 0) for a, b in pads], (0, 0, 0)]
    padded = lax.pad(x, np.asarray(lowest, x.dtype), config)
    inside = lax.pad(jnp.ones(x.shape[1:3], bool), np.asarray(False), config[1:3])
    counts = [
        (n - r) // stride + 1 for n, r, stride in zip(inside.shape, reach, strides, strict=True)
    ]
    if any(count < 1 for count in counts):  # no window fits
        return jnp.zeros((x.shape[0], *(max(count, 0) for count in counts), x.shape[3]), x.dtype)
    found = None
    for i in range(height):
        for j in range(width):
            first = (i * rates[0], j * rates[1])
            last = [
                at + (count - 1) * stride + 1
                for at, count, stride in zip(first, counts, strides, strict=True)
            ]
            cut = padded[:, first[0] : last[0] : strides[0], first[1] : last[1] : strides[1]]
            here = inside[first[0] : last[0] : strides[0], first[1] : last[1] : strides[1]]
            value = jnp.where(here[:, :, None], cut + f[i, j], np.asarray(lowest, x.dtype))
            found = value if found is None else jnp.where(value > found, value, found)
    return found


def _counts(avals: tuple[Aval, ...], strides: tuple, rates: tuple, padding: str) -> list[Size]:
    x, f = avals
    found = []
    for i in (0, 1):
        size, reach = x.shape[1 + i], (f.shape[i] - 1) * rates[i] + 1
        if padding == "SAME":
            found.append(-(-size // strides[i]))
            continue
        check_size([size], [reach], [strides[i]], padding, _KERNEL, by_kernel=True)
        found.append(maximum((size - reach) // strides[i] + 1, 0))
    return found


def _check(avals: tuple[Aval, ...], **attributes: Any) -> None:
    x, f = avals
    check_same_dtype(avals, _KERNEL)
    check_dtypes(_KERNEL, REAL)(avals)
    if len(x.shape) != 4:
        raise invalid(f"input must be 4-dimensional{shown(x.shape)}", _KERNEL)
    if len(f.shape) != 3:
        raise invalid(f"filter must be 3-dimensional: {shown(f.shape)}", _KERNEL)
    if differ(x.shape[3], f.shape[2]):
        raise invalid(
            f"input and filter must have the same depth: {x.shape[3]} vs {f.shape[2]}", _KERNEL
        )
    _counts(avals, **attributes)


def _shape(avals: tuple[Aval, ...], **attributes: Any) -> Aval:
    n, _, _, c = avals[0].shape
    return Aval.of((n, *_counts(avals, **attributes), c), avals[0].dtype)


_DILATION = Op(_dilate, _KERNEL, check=_check, shapes=_shape)


def _spatial(value: Any, what: str, argument: str) -> tuple[int, int]:
    given = static(value)
    if not isinstance(given, tuple):
        raise TypeError(f"Expected list for '{argument}' argument to 'dilation2d' Op, not {value}.")
    if len(given) < 4:
        raise invalid(
            f"Length for attr '{argument}' of {len(given)} must be at least minimum 4", _KERNEL
        )
    if (given[0], given[3]) != (1, 1):
        raise errors.UnimplementedError(
            None,
            None,
            f"{what} is only supported across spatial dimensions. [Op:{_KERNEL}] "
            f"(at {errors.user_location()})",
        )
    return whole(given[1:3], argument)


def _checked(strides: Any, padding: Any, data_format: Any, dilations: Any) -> dict[str, Any]:
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other  than 'NHWC' are not supported. "
            f"Received: data_format={data_format}"
        )
    if padding not in ("SAME", "VALID"):
        raise not_allowed(f'"{padding}"', '"SAME", "VALID"', _KERNEL, "padding")
    rates = _spatial(dilations, "Rate", "rates")
    if min(rates) < 1:
        raise invalid("Dilated rates should be larger than 0.", _KERNEL)
    return {
        "strides": _spatial(strides, "Stride", "strides"),
        "rates": rates,
        "padding": padding,
    }


def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The largest of each window of `input` [n, h, w, c] plus `filters` [fh, fw, c].

    The gradient goes to the first of equal ones.

    Args:
      strides, dilations: four, those of batch and channels 1.
      padding: "SAME" or "VALID"; what is padded is never the largest.
      data_format: "NHWC".
    Raises: InvalidArgumentError if shapes or dtypes do not fit; ValueError for another format.

    >>> import tape_compat as tf
    >>> x, f = tf.reshape(tf.range(4.0), [1, 2, 2, 1]), tf.zeros([2, 2, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.dilation2d(x, f, ones, "SAME", "NHWC", ones).numpy().ravel().tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    closure = _DILATION.bind(**_checked(strides, padding, data_format, dilations))
    return apply(closure, tuple(matching((input, filters))))


def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The smallest of each window of `value` [n, h, w, c] minus `filters`, turned around.

    The arguments are those of `dilation2d`, of which it is the dual.

    >>> import tape_compat as tf
    >>> x, f = tf.reshape(tf.range(1.0, 5.0), [1, 2, 2, 1]), tf.zeros([2, 2, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.erosion2d(x, f, ones, "VALID", "NHWC", ones).numpy().ravel().tolist()
    [1.0]
    """
    _checked(strides, padding, data_format, dilations)
    turned = reverse(convert(filters), [0, 1])
    found = dilation2d(negative(value), turned, strides, padding, data_format, dilations)
    return negative(found)

"""Counts in bins of equal width, and bins by their boundaries."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import is_symbolic, less
from ..core.dtypes import DType
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.bounds import present_value
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import as_size, no_float
from .declare import check_same_dtype, matching, static

_KERNEL = "HistogramFixedWidth"
_TAKEN = ("int32", "int64", "float32", "float64")
_LISTED = "int32, int64, float, double"


def _histogram(values: Any, value_range: Any, bins: int, dtype: DType) -> Any:
    values, value_range = values.astype(np.float64), value_range.astype(np.float64)
    low, high = value_range[0], value_range[1]
    share = (jnp.maximum(values, low) - low) / ((high - low) / bins)
    at = jnp.where(jnp.isnan(share), bins, jnp.minimum(share, bins - 1)).astype(np.int32)
    return jnp.zeros(bins, dtype.np_dtype).at[at.reshape(-1)].add(1, mode="drop")


def _check(avals: tuple[Aval, ...], bins: int, **_: Any) -> None:
    if avals[0].dtype.name not in _TAKEN:
        raise not_allowed(avals[0].dtype, _LISTED, _KERNEL)
    check_same_dtype(avals, _KERNEL)
    sizes = avals[1].shape
    if len(sizes) != 1 or not (is_symbolic(sizes[0]) or sizes[0] == 2):
        raise invalid("value_range should be a vector of 2 elements.", _KERNEL)
    if less(bins, 1):
        raise invalid(f"nbins should be a positive number, but got '{bins}'", _KERNEL)


_HISTOGRAM = Op(_histogram, _KERNEL, differentiable=False, check=_check)


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many of `values` fall into each of `nbins` bins of equal width, int32 or int64 [nbins].

    Args:
      value_range: [low, high], of the dtype of `values`. What lies outside counts in the first or
        the last bin, NaN in none.
    Raises: InvalidArgumentError if there are no bins, or a range is empty whose value is known.

    >>> import tape_compat as tf
    >>> tf.histogram_fixed_width([-1.0, 0.5, 1.5, 9.0], [0.0, 2.0], nbins=2).numpy().tolist()
    [2, 2]
    """
    inputs = matching((values, value_range))
    known = present_value(inputs[1])
    if known is not None and known.shape == (2,) and known[0] >= known[1]:
        raise invalid(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{known[0]:g}, {known[1]:g}]'",
            _KERNEL,
        )
    dtype = dtypes.as_dtype(dtype or dtypes.int32)
    if dtype.name not in ("int32", "int64"):
        raise not_allowed(dtype, "int32, int64", _KERNEL, "dtype")
    return apply(_HISTOGRAM.bind(bins=as_size(no_float(nbins)), dtype=dtype), tuple(inputs))


def _bins(values: Any, value_range: Any, bins: int) -> Any:
    low, high = value_range[0], value_range[1]
    share = jnp.true_divide(values - low, high - low)
    count = jnp.asarray(bins, share.dtype)
    found = jnp.clip(jnp.floor(count * share), 0, count - 1).astype(np.int32)
    # What a processor makes of NaN: the lowest int32.
    return jnp.where(jnp.isnan(share), np.iinfo(np.int32).min, found)


_BINS = Op(
    _bins,
    "Floor",
    differentiable=False,
    check=lambda avals, bins: check_same_dtype(avals, "Sub"),
)


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin that each of `values` falls into, an int32 of the shape of `values`.

    `dtype` must be one, and changes nothing in TensorFlow either. See `histogram_fixed_width`.

    >>> import tape_compat as tf
    >>> tf.histogram_fixed_width_bins([-1.0, 0.5, 1.5, 9.0], [0.0, 2.0], nbins=2).numpy().tolist()
    [0, 0, 1, 1]
    """
    dtypes.as_dtype(dtype or dtypes.int32)
    bins = as_size(no_float(nbins))
    if less(bins, 1):
        raise invalid(f"Expected 'nbins {bins} must > 0' to be true.", "Assert")
    return apply(_BINS.bind(bins=bins), tuple(matching((values, value_range))))


def _bucketize(x: Any, boundaries: tuple[float, ...]) -> Any:
    limits = np.asarray(boundaries, np.float32)
    wide = x.astype(np.float32) if jnp.issubdtype(x.dtype, jnp.integer) else x
    found = jnp.searchsorted(jnp.asarray(limits.astype(wide.dtype)), wide, side="right")
    return found.astype(np.int32)


_BUCKETIZE = Op(_bucketize, "Bucketize", differentiable=False)


def bucketize(input: Any, boundaries: Any) -> Tensor:
    """How many of `boundaries`, which ascend, are at most each element of `input`; int32."""
    given = tuple(float(b) for b in static(boundaries))
    if list(given) != sorted(given):
        raise invalid("Expected sorted boundaries", "Bucketize")
    x = convert(input)
    if x.dtype.name not in _TAKEN:
        raise not_allowed(x.dtype, _LISTED, "Bucketize")
    return apply(_BUCKETIZE.bind(boundaries=given), (x,))

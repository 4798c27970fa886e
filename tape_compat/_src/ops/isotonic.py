"""Isotonic regression: the nearest numbers that never rise."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import DType
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor

_KERNEL = "IsotonicRegression"
_AS_THEY_ARE = ("float32", "float16", "bfloat16")


class IsotonicRegression(NamedTuple):
    """The solution, and the number of the segment of each place."""

    output: Tensor
    segments: Tensor


def _segments(row: Any) -> Any:
    """Which segment each of `row` belongs to: neighbors are joined while a later mean is larger.

    All such neighbors at a time: what is joined last is the same in any order.
    """
    count = row.shape[0]

    def joined(segments: Any) -> Any:
        """For each place, whether it begins a segment whose mean is above the one before."""
        size = jax.ops.segment_sum(jnp.ones_like(row), segments, num_segments=count)
        mean = jax.ops.segment_sum(row, segments, num_segments=count) / jnp.maximum(size, 1)
        mean = mean[segments]
        before = jnp.concatenate([mean[:1], mean[:-1]])
        first = jnp.concatenate([segments[:1] < 0, segments[1:] != segments[:-1]])
        return first & (mean > before)

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        segments, joins = state
        segments = segments - jnp.cumsum(joins, dtype=np.int32)
        return segments, joined(segments)

    start = jnp.arange(count, dtype=np.int32)
    return lax.while_loop(lambda state: jnp.any(state[1]), step, (start, joined(start)))[0]


def _solve(x: Any, axis: int, decreasing: bool, dtype: DType) -> tuple[Any, Any]:
    wide = x.astype(dtype.np_dtype)
    if not wide.size:
        return wide, jnp.zeros(wide.shape, np.int32)
    rows = jnp.moveaxis(wide, axis, -1) if wide.ndim else wide[None]
    shape, count = rows.shape, rows.shape[-1]
    flat = rows.reshape(-1, count)
    if not decreasing:
        flat = -flat
    segments = jax.vmap(_segments)(lax.stop_gradient(flat))

    def means(row: Any, segments: Any) -> Any:
        total = jax.ops.segment_sum(row, segments, num_segments=count)
        size = jax.ops.segment_sum(jnp.ones_like(row), segments, num_segments=count)
        return (total / jnp.maximum(size, 1))[segments]

    found = jax.vmap(means)(flat, segments)
    if not decreasing:
        found = -found

    def back(array: Any) -> Any:
        array = array.reshape(shape)
        return jnp.moveaxis(array, -1, axis) if wide.ndim else array[0]

    return back(found), back(segments)


def _check(avals: tuple[Aval, ...], **_: Any) -> None:
    dtype = avals[0].dtype
    if not (dtype.is_floating or dtype.is_integer):
        raise not_allowed(
            dtype,
            "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64",
            _KERNEL,
        )


def _shapes(avals: tuple[Aval, ...], dtype: DType, **_: Any) -> tuple[Aval, Aval]:
    shape = avals[0].shape
    return Aval.of(shape, dtype), Aval.of(shape, dtypes.int32)


_SOLVE = Op(_solve, _KERNEL, check=_check, shapes=_shapes)


def isotonic_regression(
    inputs: Any, decreasing: bool = True, axis: int = -1
) -> IsotonicRegression | tuple[Tensor, Tensor]:
    """The numbers nearest to `inputs` that do not rise along `axis`, and their segments.

    Nearest by the sum of the squares; such numbers are equal in segments. The gradient is the mean
    over each segment.

    Args:
      decreasing: False for numbers that do not fall.
    Returns: of the shape of `inputs`: numbers of their dtype (float64 for integers, float32 for
      those of 8 and 16 bits), and int32 numbers of segments, counted from 0.
    Raises: InvalidArgumentError for an axis that is not there or another dtype.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.nn.isotonic_regression([3.0, 1.0, 2.0])]
    [[3.0, 1.5, 1.5], [0, 1, 1]]
    """
    x = convert(inputs)
    rank = max(len(x._aval.shape), 1)
    if not -rank <= axis < rank:
        raise invalid(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
            f"dimensions in the input. Received: dim={axis}",
            _KERNEL,
        )
    if x.dtype.name in _AS_THEY_ARE:
        dtype = x.dtype
    else:
        dtype = dtypes.float32 if x.dtype.name in ("int8", "int16") else dtypes.float64
    axis = axis % rank
    closure = _SOLVE.bind(axis=axis, decreasing=bool(decreasing), dtype=dtype)
    found = apply(closure, (x,))
    return IsotonicRegression(*found) if decreasing and axis == rank - 1 else (found[0], found[1])

"""Pooling over windows whose sizes differ by one, so that sizes shrink by a ratio that is no
integer."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes, errors
from ..core.avals import Aval
from ..core.dimensions import is_unknown
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .declare import static
from .random_keys import next_key, plain_seed, seed_tensor, typed_key

_MAX, _AVG = "FractionalMaxPool", "FractionalAvgPool"
_DTYPES = ("float32", "float64", "int32", "int64")


class FractionalMaxPool(NamedTuple):
    """The result, and where windows begin and end along rows and columns."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


class FractionalAvgPool(NamedTuple):
    """The result, and where windows begin and end along rows and columns."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


def _ends(key: Any, size: int, count: int, pseudo: bool) -> Any:
    """Where `count` windows of an axis begin, and where the last one ends: int64 [count + 1].

    Source: Graham, "Fractional Max-Pooling" (2015): random, or pseudo-random, sequences.
    """
    least = size // count
    if size % count == 0:
        return jnp.arange(count + 1, dtype=np.int64) * least
    if not pseudo:
        steps = least + (np.arange(count) < size % count)
        steps = jax.random.permutation(key, jnp.asarray(steps, np.int64))
        return jnp.concatenate([jnp.zeros((1,), np.int64), jnp.cumsum(steps)])
    ratio = size / count
    most = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
    u = jax.random.uniform(key, (), np.float64) * most
    inner = jnp.ceil(ratio * (np.arange(1, count) + u)).astype(np.int64) - 1
    ends = np.zeros(1, np.int64), np.full(1, size, np.int64)
    return jnp.concatenate([ends[0], inner, ends[1]])


def _windows(x: Any, axis: int, ends: Any, widest: int, overlapping: bool) -> tuple[Any, Any]:
    """The windows of an axis as two axes, and which of their places count."""
    size = x.shape[axis]
    places = ends[:-1, None] + np.arange(widest + overlapping)
    stop = ends[1:, None] + overlapping
    used = (places < stop) & (places < size)
    return jnp.take(x, jnp.minimum(places, size - 1), axis=axis), used


def _pool(
    x: Any, key: Any, counts: tuple[int, int], pseudo: bool, overlapping: bool, largest: bool
) -> tuple[Any, Any, Any]:
    keys = jax.random.split(typed_key(key))
    sizes = x.shape[1:3]
    rows, columns = [_ends(keys[i], sizes[i], counts[i], pseudo) for i in (0, 1)]
    widest = -(-sizes[0] // counts[0]), -(-sizes[1] // counts[1])
    return _between(x, rows, columns, widest, overlapping, largest), rows, columns


def _between(
    x: Any, rows: Any, columns: Any, widest: tuple[int, int], overlapping: bool, largest: bool
) -> Any:
    """The largest element, or the average, of each window between such rows and columns."""
    cut, of_rows = _windows(x, 1, rows, widest[0], overlapping)
    cut, of_columns = _windows(cut, 3, columns, widest[1], overlapping)
    cut = jnp.moveaxis(cut, 2, 3)  # [n, rows, columns, window rows, window columns, c]
    used = of_rows[:, None, :, None] & of_columns[None, :, None, :]
    flat = cut.reshape(*cut.shape[:3], -1, cut.shape[-1])
    mask = used.reshape(1, *cut.shape[1:3], -1, 1)
    floating = jnp.issubdtype(x.dtype, jnp.floating)
    if largest:
        lowest = -np.inf if floating else np.iinfo(x.dtype).min
        seen = jnp.where(mask, lax.stop_gradient(flat), np.asarray(lowest, x.dtype))
        first = jnp.argmax(seen, axis=3, keepdims=True)
        return jnp.take_along_axis(flat, first, axis=3)[:, :, :, 0]
    total = jnp.sum(jnp.where(mask, flat, 0), 3, dtype=x.dtype)
    size = jnp.sum(mask, 3).astype(x.dtype)
    return total / size if floating else lax.div(total, jnp.broadcast_to(size, total.shape))


def _shapes(avals: tuple[Aval, ...], counts: tuple[int, int], **_: Any) -> tuple[Aval, ...]:
    n, _, _, c = avals[0].shape
    ends = [Aval.of((count + 1,), dtypes.int64) for count in counts]
    return (Aval.of((n, *counts, c), avals[0].dtype), *ends)


_POOLS = {kernel: Op(_pool, kernel, shapes=_shapes, host_foldable=False) for kernel in (_MAX, _AVG)}


def _counts(x: Tensor, ratios: tuple[float, ...], kernel: str) -> tuple[int, int]:
    shape, dtype = x._aval.shape, x.dtype
    if dtype.name not in _DTYPES:
        raise not_allowed(dtype, "float, double, int32, int64", kernel)
    if len(shape) != 4:
        raise invalid("tensor_in must be 4-dimensional", kernel)
    if ratios[0] != 1 or ratios[3] != 1:
        what = "max" if kernel == _MAX else "average"
        raise errors.UnimplementedError(
            None,
            None,
            f"Fractional {what} pooling is not yet supported on the batch nor channel dimension. "
            f"[Op:{kernel}] (at {errors.user_location()})",
        )
    if is_unknown(shape[1:3]):
        raise NotImplementedError(f"{kernel} of images of unknown height or width")
    for i in (1, 2):
        if shape[i] < ratios[i]:
            raise invalid(
                f"Pooling ratio is higher than input dimension size for dimension {i}. Input dim "
                f"size: {shape[i]} pooling ratio: {ratios[i]:g}",
                kernel,
            )
    return int(shape[1] / ratios[1]), int(shape[2] / ratios[2])


def _pooled(
    kernel: str, value: Any, ratios: tuple[float, ...], pseudo: bool, overlapping: bool, seed: Any
) -> Any:
    x = convert(value)
    closure = _POOLS[kernel].bind(
        counts=_counts(x, ratios, kernel),
        pseudo=bool(pseudo),
        overlapping=bool(overlapping),
        largest=kernel == _MAX,
    )
    fixed = plain_seed(seed)
    key = seed_tensor([fixed, 0]) if fixed else next_key(kernel, None)
    return apply(closure, (x, key))


def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: Any = 0,
    name: str | None = None,
) -> FractionalMaxPool:
    """Largest of each window of `value` [n, h, w, c]; heights and widths shrink by a ratio.

    Args:
      pooling_ratio: at least 1: a number, or four with ones for batch and channels.
      pseudo_random: whether windows follow one another evenly from a place drawn at random;
        otherwise their sizes, which differ by at most one, are shuffled.
      overlapping: whether windows share their borders.
      seed: 0 for other windows at each call.
    Returns: the largest ones, and int64 vectors: where the windows of rows and columns begin, and
      where the last one ends.
    Raises: ValueError for ratios below 1; InvalidArgumentError if shape or dtype do not fit.

    >>> import tape_compat as tf
    >>> found = tf.nn.fractional_max_pool(tf.ones([1, 7, 6, 2]), 1.5, seed=1)
    >>> found.output.shape, found.row_pooling_sequence.shape
    (TensorShape([1, 4, 4, 2]), TensorShape([5]))
    """
    ratios = static(pooling_ratio)
    received = f"Received: pooling_ratio={pooling_ratio}"
    if isinstance(ratios, tuple):
        if ratios[0] != 1.0 or ratios[-1] != 1.0:
            raise ValueError(
                f"`pooling_ratio` should have first and last elements with value 1.0. {received}"
            )
        if min(ratios) < 1.0:
            raise ValueError(f"`pooling_ratio` elements should be >= 1.0. {received}")
        if len(ratios) not in (1, 2, 4):
            raise ValueError(
                f"pooling_ratio should be of length 1, 2 or 4. {received} of length {len(ratios)}"
            )
        ratios = ratios if len(ratios) == 4 else (1.0, *(ratios * 2)[:2], 1.0)
    elif isinstance(ratios, (int, float)):
        if ratios < 1.0:
            raise ValueError(f"`pooling_ratio` should be >= 1.0. {received}")
        ratios = (1.0, ratios, ratios, 1.0)
    else:
        raise ValueError(f"`pooling_ratio` should be an int or a list of ints. {received}")
    return FractionalMaxPool(*_pooled(_MAX, value, ratios, pseudo_random, overlapping, seed))


def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: Any = 0,
    name: str | None = None,
) -> FractionalAvgPool:
    """Mean of each window of `value` [n, h, w, c]; heights and widths shrink by a ratio.

    Args:
      pooling_ratio: four numbers, those of batch and channels 1.
      pseudo_random, overlapping, seed: as of `fractional_max_pool`.
    Returns: as `fractional_max_pool`.
    Raises: TypeError for one number; InvalidArgumentError if shape or dtype do not fit.

    >>> import tape_compat as tf
    >>> found = tf.nn.fractional_avg_pool(tf.ones([1, 7, 6, 2]), [1.0, 1.5, 2.0, 1.0], seed=1)
    >>> found.output.shape
    TensorShape([1, 4, 3, 2])
    """
    ratios = static(pooling_ratio)
    if not isinstance(ratios, tuple):
        raise TypeError(
            "Expected list for 'pooling_ratio' argument to 'fractional_avg_pool' Op, "
            f"not {pooling_ratio}."
        )
    if len(ratios) < 4:
        raise invalid(
            f"Length for attr 'pooling_ratio' of {len(ratios)} must be at least minimum 4", _AVG
        )
    return FractionalAvgPool(*_pooled(_AVG, value, ratios, pseudo_random, overlapping, seed))


_BETWEEN = Op(_between, "FractionalPoolBetween", host_foldable=False)


def _told(x: Any, rows: np.ndarray, columns: np.ndarray, overlapping: bool, largest: bool) -> Any:
    widest = int(np.diff(rows).max(initial=0)), int(np.diff(columns).max(initial=0))
    closure = _BETWEEN.bind(widest=widest, overlapping=overlapping, largest=largest)
    return apply(closure, tuple(map(convert, (x, rows, columns))))


def largest_between(x: Any, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> Tensor:
    """What `fractional_max_pool` gives of windows that end where it once told."""
    return _told(x, rows, columns, overlapping, True)


def average_between(x: Any, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> Tensor:
    """What `fractional_avg_pool` gives of windows that end where it once told."""
    return _told(x, rows, columns, overlapping, False)

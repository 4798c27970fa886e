"""Random tensors by the global seed and op seeds."""

from __future__ import annotations

import math
from typing import Any

from ..core import dtypes
from ..core.dimensions import is_unknown, less
from ..core.dtypes import as_dtype
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .declare import Number
from .philox import shuffled_blocks
from .random_draws import (
    COUNTS,
    FLOATING,
    NORMAL,
    POISSON,
    SIGNED,
    TRUNCATED,
    broadcast_shape,
    check_attribute,
    check_one_of,
    class_count,
    class_numbers,
    draw_bell,
    draw_classes,
    draw_flat,
    draw_gamma,
    draw_shape,
    gamma_parameters,
    shuffled,
)
from .random_keys import RESERVED, next_key


def _next_key(kernel: str, seed: Any, sizes: tuple[int, ...], dtype: Any) -> Tensor:
    """The key of a draw of these sizes. Dtypes of a kernel are kernels of their own."""
    if seed is None:
        return next_key(kernel, None)
    # In functions, where sizes may be unknown, the op works out how far it moves.
    numbers = 0 if is_unknown(sizes) else math.prod(sizes)
    return next_key(f"{kernel} {as_dtype(dtype or dtypes.int64).name}", seed, RESERVED * numbers)


def normal(
    shape: Any,
    mean: Number = 0.0,
    stddev: Number = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers, differentiable by `mean` and `stddev`.

    Args:
      shape: of the noise; the result broadcasts it with `mean` and `stddev`.
      seed: of the op; see `tf.random.set_seed`.
    Raises: InvalidArgumentError for a bad shape; TypeError for a dtype that is not floating.

    >>> import tape_compat as tf
    >>> tf.random.normal([3, 2], mean=[5.0, 6.0], seed=1).shape
    TensorShape([3, 2])
    """
    kernel = "RandomStandardNormal"
    sizes = draw_shape(shape, kernel)
    return draw_bell(NORMAL, _next_key(kernel, seed, sizes, dtype), sizes, mean, stddev, dtype)


def truncated_normal(
    shape: Any,
    mean: Number = 0.0,
    stddev: Number = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers at most two deviations from the mean; otherwise as `normal`.

    >>> import tape_compat as tf
    >>> bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([1000])) <= 2.0))
    True
    """
    kernel = "TruncatedNormal"
    sizes = draw_shape(shape, kernel)
    return draw_bell(TRUNCATED, _next_key(kernel, seed, sizes, dtype), sizes, mean, stddev, dtype)


def uniform(
    shape: Any,
    minval: Number = 0,
    maxval: Number = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers from `minval` up to, but without, `maxval`.

    Args:
      minval, maxval: tensors of `dtype`, scalars for integers; floats are differentiable by them.
        `maxval` is 1 by default for floats and must be given for integers.
      dtype: floating, int32 or int64.
      seed: of the op; see `tf.random.set_seed`.
    Raises: ValueError for another dtype or a missing `maxval`; InvalidArgumentError for an empty
      range of integers or a bad shape.

    >>> import tape_compat as tf
    >>> sorted(set(tf.random.uniform([200], 2, 5, tf.int32, seed=1).numpy().tolist()))
    [2, 3, 4]
    """
    dtype = as_dtype(dtype)
    check_one_of(dtype, (*FLOATING, *SIGNED))
    if maxval is None and dtype.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    kernel = "RandomUniformInt" if dtype.is_integer else "RandomUniform"
    sizes = draw_shape(shape, kernel)
    return draw_flat(_next_key(kernel, seed, sizes, dtype), sizes, minval, maxval, dtype, kernel)


def gamma(
    shape: Any,
    alpha: Number,
    beta: Number = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """`shape` draws from each of the Gamma distributions `alpha`, `beta` (the inverse scale).

    The result, of shape `shape` + that of `alpha` and `beta` broadcast, is differentiable by both.

    >>> import tape_compat as tf
    >>> tf.random.gamma([4], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    kernel = "RandomGamma"
    sizes = draw_shape(shape, kernel)
    alpha, beta = gamma_parameters(alpha, beta, dtype)
    end = broadcast_shape((alpha._aval, beta._aval), "BroadcastArgs")
    sizes = (*sizes, *end)
    return draw_gamma(_next_key(kernel, seed, sizes, alpha.dtype), sizes, alpha, beta)


def poisson(
    shape: Any,
    lam: Number,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """`shape` draws from each of the Poisson distributions of rates `lam`, not differentiable.

    >>> import tape_compat as tf
    >>> tf.random.poisson([4], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    kernel = "RandomPoissonV2"
    sizes, lam, dtype = draw_shape(shape, kernel), convert(lam), as_dtype(dtype)
    check_attribute(dtype, COUNTS, kernel)
    sizes = (*sizes, *lam._aval.shape)
    key = _next_key(kernel, seed, sizes, dtype)
    return apply(POISSON.bind(shape=sizes, dtype=dtype), (key, lam))


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Classes drawn by the unnormalized log-probabilities `logits` [batch, classes].

    Returns: int64 (or `dtype`: int32) Tensor [batch, num_samples].

    >>> import tape_compat as tf
    >>> tf.random.categorical([[0.0, -1e9]], 3).numpy().tolist()
    [[0, 0, 0]]
    """
    logits = convert(logits)
    count = class_count(num_samples, "Multinomial")
    shape = logits._aval.shape
    rows = shape[0] if len(shape) == 2 and not less(count, 0) else 0
    key = _next_key("Multinomial", seed, (class_numbers(rows, count),), dtype)
    return draw_classes(key, logits, count, dtype)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """`value` with its rows (along axis 0) in random order. Its gradient is None.

    >>> import tape_compat as tf
    >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    value = convert(value)
    rows = value._aval.shape[:1]
    blocks = 0 if seed is None or is_unknown(rows) else shuffled_blocks(*rows)
    return shuffled(next_key(f"RandomShuffle {value.dtype.name}", seed, blocks), value)

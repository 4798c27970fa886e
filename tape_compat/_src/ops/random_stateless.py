"""Random tensors of which the seed says it all."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.dtypes import as_dtype
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .declare import Number
from .random_draws import (
    BETWEEN,
    BINOMIAL,
    BITS,
    COUNTS,
    FLOATING,
    FOLD,
    NORMAL,
    POISSON,
    SIGNED,
    TRUNCATED,
    UNSIGNED,
    check_attribute,
    check_one_of,
    class_count,
    draw_bell,
    draw_classes,
    draw_flat,
    draw_gamma,
    draw_shape,
    gamma_parameters,
    shuffled,
)
from .random_keys import algorithm_number, seed_tensor


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Number = 0.0,
    stddev: Number = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`normal`, the same for the same `seed`: two integers, int32 or int64.

    >>> import tape_compat as tf
    >>> a, b = (tf.random.stateless_normal([2], seed=[1, 2]) for _ in range(2))
    >>> bool(tf.reduce_all(a == b))
    True
    """
    algorithm_number(alg)
    sizes = draw_shape(shape, "StatelessRandomNormalV2")
    return draw_bell(NORMAL, seed_tensor(seed), sizes, mean, stddev, dtype)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Number = 0.0,
    stddev: Number = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`truncated_normal`, the same for the same `seed` [2].

    >>> import tape_compat as tf
    >>> tf.random.stateless_truncated_normal([3], seed=[1, 2]).shape
    TensorShape([3])
    """
    algorithm_number(alg)
    sizes = draw_shape(shape, "StatelessTruncatedNormalV2")
    return draw_bell(TRUNCATED, seed_tensor(seed), sizes, mean, stddev, dtype)


def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Number = 0.0,
    stddevs: Number = 1.0,
    minvals: Number = -2.0,
    maxvals: Number = 2.0,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers between `minvals` and `maxvals`, the same for the same `seed` [2].

    `shape` must end with the shape of the parameters broadcast; differentiable by all four.

    >>> import tape_compat as tf
    >>> x = tf.random.stateless_parameterized_truncated_normal([9], [1, 2], minvals=0.0)
    >>> bool(tf.reduce_all(x >= 0.0))
    True
    """
    sizes = draw_shape(shape, BETWEEN.name)
    key = seed_tensor(seed)
    first = convert(means)
    dtype = first._aval.dtype
    check_attribute(dtype, FLOATING, BETWEEN.name)
    others = (convert(x, dtype) for x in (stddevs, minvals, maxvals))
    return apply(BETWEEN.bind(shape=sizes, dtype=dtype), (key, first, *others))


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Number = 0,
    maxval: Number = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`uniform`, the same for the same `seed` [2].

    Integers without `minval` and `maxval` (None, None) are drawn from all that the dtype has,
    which uint32 and uint64 must be.

    >>> import tape_compat as tf
    >>> x = tf.random.stateless_uniform([100], [1, 2], 0, 10, tf.int32)
    >>> 0 <= int(tf.reduce_min(x)) and int(tf.reduce_max(x)) < 10
    True
    """
    algorithm_number(alg)
    dtype = as_dtype(dtype)
    check_one_of(dtype, (*FLOATING, *SIGNED, *UNSIGNED))
    if dtype.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    kernel = "StatelessRandomUniformIntV2" if dtype.is_integer else "StatelessRandomUniformV2"
    sizes = draw_shape(shape, kernel)
    if dtype.is_integer and minval is None:
        return apply(BITS.bind(shape=sizes, dtype=dtype), (seed_tensor(seed),))
    if dtype in UNSIGNED:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )
    return draw_flat(seed_tensor(seed), sizes, minval, maxval, dtype, kernel)


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Number,
    beta: Number = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Gamma random numbers, the same for the same `seed` [2], differentiable by `alpha`, `beta`.

    `shape` is that of the result and must end with the shape of the parameters broadcast.

    >>> import tape_compat as tf
    >>> tf.random.stateless_gamma([4, 2], [1, 2], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    sizes = draw_shape(shape, "StatelessRandomGammaV3")
    return draw_gamma(seed_tensor(seed), sizes, *gamma_parameters(alpha, beta, dtype))


def stateless_poisson(
    shape: Any,
    seed: Any,
    lam: Number,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Poisson random numbers, the same for the same `seed` [2].

    `shape` is that of the result and must end with that of `lam`.

    >>> import tape_compat as tf
    >>> tf.random.stateless_poisson([4, 2], [1, 2], [0.5, 1.5]).dtype
    tf.int32
    """
    kernel = "StatelessRandomPoisson"
    sizes, dtype = draw_shape(shape, kernel), as_dtype(dtype)
    check_attribute(dtype, COUNTS, kernel)
    return apply(POISSON.bind(shape=sizes, dtype=dtype), (seed_tensor(seed), convert(lam)))


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Number,
    probs: Number,
    output_dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Successes in `counts` trials of probability `probs`, the same for the same `seed` [2].

    `shape` is that of the result and must end with the shape of the parameters broadcast.

    >>> import tape_compat as tf
    >>> tf.random.stateless_binomial([3], [1, 2], counts=7.0, probs=[0.0, 1.0, 0.0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 7, 0], dtype=int32)>
    """
    return draw_binomial(seed_tensor(seed), shape, counts, probs, output_dtype)


def draw_binomial(key: Tensor, shape: Any, counts: Number, probs: Number, dtype: Any) -> Tensor:
    """Counts of successes, of a dtype that holds counts."""
    sizes, dtype = draw_shape(shape, BINOMIAL.name), as_dtype(dtype)
    check_attribute(dtype, COUNTS, BINOMIAL.name)
    probs = convert(probs)
    counts = convert(counts, hint=probs.dtype)
    return apply(BINOMIAL.bind(shape=sizes, dtype=dtype), (key, counts, probs))


def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """`categorical`, the same for the same `seed` [2].

    >>> import tape_compat as tf
    >>> tf.random.stateless_categorical([[0.0, -1e9]], 3, [1, 2]).numpy().tolist()
    [[0, 0, 0]]
    """
    count = class_count(num_samples, "StatelessMultinomial")
    return draw_classes(seed_tensor(seed), logits, count, dtype)


def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Tensor:
    """`shuffle`, the same for the same `seed` [2]."""
    algorithm_number(alg)
    return shuffled(seed_tensor(seed), value)


def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """`num` new seeds made from one: [num, 2], of the dtype of `seed` [2].

    >>> import tape_compat as tf
    >>> tf.random.split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    algorithm_number(alg)
    key = seed_tensor(seed)
    sizes = draw_shape([num, 2], BITS.name)
    return apply(BITS.bind(shape=sizes, dtype=key.dtype), (key,))


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A new seed [2] made from `seed` [2] and a scalar `data`, of the dtype of `data`.

    >>> import tape_compat as tf
    >>> tf.random.fold_in([1, 2], 5).shape
    TensorShape([2])
    """
    algorithm_number(alg)
    key, data = seed_tensor(seed), convert(data)
    check_one_of(data.dtype, (*SIGNED, *UNSIGNED))
    return apply(FOLD.bind(), (key, data))

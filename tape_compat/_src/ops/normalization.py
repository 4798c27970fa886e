"""Biases, moments, and batch normalization."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.dtypes import float32, float64
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown, wrong_dtype
from ..values.convert import convert, preferring
from ..values.dispatch import takes_composites
from ..values.record import apply
from ..values.tensor import Tensor
from . import arithmetic, elementwise, reductions, rules
from .arguments import known_value
from .casting import cast
from .checks import check_dtypes
from .declare import Number, allowed, check_same_dtype, matching, static
from .gather_scatter import gather
from .shapes import shape as shape_of
from .windows import channels_last


def _bias_add(value: Any, bias: Any, last: bool) -> Any:
    if not last:
        bias = bias.reshape(bias.shape + (1,) * (value.ndim - 2))
    return _spread_sum(value, bias)


_spread_sum = rules.spread(jnp.add)


def _check_bias(avals: tuple[Aval, ...], last: bool) -> None:
    check_same_dtype(avals, "BiasAdd")
    check_dtypes("BiasAdd", "float integer complex")(avals)
    texts = [shown(a.shape) for a in avals]
    value, bias = (a.shape for a in avals)
    if len(value) < 2:
        raise invalid(f"Input tensor must be at least 2D: {texts[0]}", "BiasAdd")
    if len(bias) != 1:
        raise invalid(f"Biases must be 1D: {texts[1]}", "BiasAdd")
    if value[-1 if last else 1] != bias[0]:
        which = "last" if last else "channel"
        raise invalid(
            f"Must provide as many biases as the {which} dimension of the input tensor: "
            f"{texts[1]} vs. {texts[0]}",
            "BiasAdd",
        )


_BIAS_ADD = Op(_bias_add, "BiasAdd", check=_check_bias)
_BIAS_ADD_LAST = _BIAS_ADD.bind(last=True)


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` [batch, ..., channels] plus `bias` [channels]; channels second for "NC...".

    Raises: InvalidArgumentError if the ranks or the number of channels do not fit.

    >>> import tape_compat as tf
    >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy().tolist()
    [[11.0, 22.0]]
    """
    if value.__class__ is not Tensor or bias.__class__ is not Tensor:
        value, bias = matching((value, bias))
    if data_format is None:
        return apply(_BIAS_ADD_LAST, (value, bias))
    return apply(_BIAS_ADD.bind(last=channels_last(data_format)), (value, bias))


_MEANT = allowed("float complex index")


def _check_moments(avals: tuple[Aval, ...], axes: Any, **_: Any) -> None:
    rank = len(avals[0].shape)
    if avals[0].dtype.name not in _MEANT:
        raise not_allowed(avals[0].dtype, _MEANT, "SquaredDifference")
    for i in axes if isinstance(axes, tuple) else () if axes is None else (axes,):
        if not isinstance(i, (int, str)):
            raise TypeError(f"Cannot convert {i!r} to EagerTensor of dtype int32")
        if isinstance(i, str):
            raise not_allowed("string", "int32, int64", "Mean", "Tidx")
        if not -rank <= i < rank:
            raise invalid(
                f"Invalid reduction dimension ({i} for input with {rank} dimension(s)", "Mean"
            )


def _integer_mean(x: Any, axes: Any) -> Any:
    total = jnp.sum(x, axis=axes, keepdims=True, dtype=jnp.int64)
    count = x.size // max(total.size, 1)
    return lax.div(total, jnp.full_like(total, max(count, 1))).astype(x.dtype)


def _squared_distance(x: Any, mean: Any) -> Any:
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return rules.squared_difference(x, mean)
    return lax.square(x - mean)


def _moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    dtype = x.dtype
    y = x.astype(jnp.float32) if dtype == jnp.float16 else x
    if jnp.issubdtype(dtype, jnp.integer):
        mean = _integer_mean(y, axes)
        variance = _integer_mean(lax.square(y - mean), axes)
    else:
        mean = jnp.mean(y, axis=axes, keepdims=True)
        # The mean inside is held, as in TF: its part of the first derivative is 0.
        squares = _squared_distance(y, lax.stop_gradient(mean))
        variance = jnp.mean(squares, axis=axes, keepdims=True)
    if not keepdims:
        mean, variance = jnp.squeeze(mean, axes), jnp.squeeze(variance, axes)
    return mean.astype(dtype), variance.astype(dtype)


_MOMENTS = Op(_moments, "Mean", check=_check_moments)


def _static_axes(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, range) else static(axes)


@takes_composites
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`. `shift` has no effect, as in TensorFlow.

    >>> import tape_compat as tf
    >>> mean, variance = tf.nn.moments([1.0, 3.0], axes=[0])
    >>> float(mean), float(variance)
    (2.0, 1.0)
    """
    closure = _MOMENTS.bind(axes=_static_axes(axes), keepdims=bool(keepdims))
    return apply(closure, (convert(x),))


def _weighted_moments(x: Any, weights: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    dtype = x.dtype
    if dtype == jnp.float16:
        x = x.astype(jnp.float32)
    weights = weights.astype(x.dtype)
    total = jnp.sum(jnp.broadcast_to(weights, jnp.broadcast_shapes(weights.shape, x.shape)),
                    axis=axes, keepdims=True)  # fmt: skip
    mean = rules.divide_no_nan(jnp.sum(weights * x, axis=axes, keepdims=True), total)
    squares = jnp.sum(weights * _squared_distance(x, mean), axis=axes, keepdims=True)
    variance = rules.divide_no_nan(squares, total)
    if not keepdims:
        mean, variance = jnp.squeeze(mean, axes), jnp.squeeze(variance, axes)
    return mean.astype(dtype), variance.astype(dtype)


def _check_weighted(avals: tuple[Aval, ...], axes: Any, **_: Any) -> None:
    _check_moments(avals, axes)
    if not avals[0].trainable:
        raise wrong_dtype(float64, 1, avals[0].dtype, "SquaredDifference")


_WEIGHTED_MOMENTS = Op(_weighted_moments, "Sum", check=_check_weighted)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`, each element counted `frequency_weights` times: 0 where
    all of these are 0.

    >>> import tape_compat as tf
    >>> mean, _ = tf.nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0])
    >>> float(mean)
    2.0
    """
    x = convert(x)
    weights = convert(frequency_weights, hint=x.dtype)
    closure = _WEIGHTED_MOMENTS.bind(axes=_static_axes(axes), keepdims=bool(keepdims))
    return apply(closure, (x, weights))


def _batch_normalization(
    x: Any, mean: Any, variance: Any, epsilon: Any, *others: Any, has_offset: bool, has_scale: bool
) -> Any:
    rest = iter(others)
    offset = next(rest) if has_offset else None
    inverse = rules.rsqrt(variance + epsilon)
    if has_scale:
        inverse = inverse * next(rest)
    shift = -mean * inverse if offset is None else offset - mean * inverse
    return x * inverse.astype(x.dtype) + shift.astype(x.dtype)


def _check_batch_normalization(avals: tuple[Aval, ...], **_: Any) -> None:
    check_same_dtype(avals[1:], "Mul")


_BATCH_NORMALIZATION = Op(
    _batch_normalization, "Mul", broadcasts=True, check=_check_batch_normalization
)


@takes_composites
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Number,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; `scale`, `offset` may be None.

    `x` may be of another dtype than the others, which the result has.

    >>> import tape_compat as tf
    >>> y = tf.nn.batch_normalization([1.0, 3.0], 2.0, 4.0, 0.5, None, 0.0)
    >>> y.numpy().tolist()
    [0.0, 1.0]
    """
    inputs = [mean, variance, variance_epsilon, *(t for t in (offset, scale) if t is not None)]
    closure = _BATCH_NORMALIZATION.bind(has_offset=offset is not None, has_scale=scale is not None)
    return apply(closure, (convert(x), *matching(inputs)))


def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Number,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """`batch_normalization` with the offset `beta`, and the scale `gamma` if it is asked for.

    >>> import tape_compat as tf
    >>> normalize = tf.nn.batch_norm_with_global_normalization
    >>> normalize([1.0, 3.0], 2.0, 4.0, 0.5, 3.0, 0.0, True).numpy().tolist()
    [-1.0, 2.0]
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


def _local_response(x: Any, radius: int, bias: float, alpha: float, beta: float) -> Any:
    wide = x.astype(jnp.float32) if x.dtype != jnp.float32 else x
    window, around = (1, 1, 1, 2 * radius + 1), ((0, 0), (0, 0), (0, 0), (radius, radius))
    total = lax.reduce_window(lax.square(wide), 0.0, lax.add, window, (1, 1, 1, 1), around)
    return (wide * (bias + alpha * total) ** -beta).astype(x.dtype)


_RESPONSE_DTYPES = ("float16", "bfloat16", "float32")


def _check_local_response(avals: tuple[Aval, ...], **_: Any) -> None:
    (aval,) = avals
    if aval.dtype.name not in _RESPONSE_DTYPES:
        raise not_allowed(aval.dtype, "half, bfloat16, float", "LRN")
    if len(aval.shape) != 4:
        raise invalid("in must be 4-dimensional", "LRN")


_LOCAL_RESPONSE = Op(_local_response, "LRN", check=_check_local_response)


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """x / (bias + alpha * s) ** beta, where s sums the squares of the channels near by.

    Args:
      input: float16, bfloat16 or float32 [batch, height, width, channels].
      depth_radius: so many channels on each side count.
    Raises: InvalidArgumentError for another rank or dtype.

    >>> import tape_compat as tf
    >>> tf.nn.local_response_normalization(tf.ones([1, 1, 1, 3]), 1).numpy().round(3).tolist()
    [[[[0.5770000219345093, 0.5, 0.5770000219345093]]]]
    """
    closure = _LOCAL_RESPONSE.bind(
        radius=int(static(depth_radius)),
        bias=float(static(bias)),
        alpha=float(static(alpha)),
        beta=float(static(beta)),
    )
    return apply(closure, (preferring(input, float32, _RESPONSE_DTYPES),))


def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Tensor, Tensor, Any]:
    """What `normalize_moments` makes moments of: the number of elements along `axes`, their sum and
    the sum of their squares, each after `shift` was taken away; and `shift`.

    >>> import tape_compat as tf
    >>> count, total, squares, _ = tf.nn.sufficient_statistics([1.0, 3.0], axes=[0])
    >>> float(count), float(total), float(squares)
    (2.0, 4.0, 10.0)
    """
    x = convert(x)
    axes = [int(axis) for axis in np.atleast_1d(known_value(axes))]
    sizes = gather(shape_of(x), axes)
    count = cast(reductions.reduce_prod(sizes), x.dtype)
    if shift is not None:
        shift = convert(shift, x.dtype)
        mean, squares = x - shift, arithmetic.squared_difference(x, shift)
    else:
        mean, squares = x, elementwise.square(x)
    total = reductions.reduce_sum(mean, axes, keepdims)
    return count, total, reductions.reduce_sum(squares, axes, keepdims), shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of what `sufficient_statistics` gives.

    >>> import tape_compat as tf
    >>> mean, variance = tf.nn.normalize_moments(2.0, 4.0, 10.0, None)
    >>> float(mean), float(variance)
    (2.0, 1.0)
    """
    divisor = elementwise.reciprocal(convert(counts))
    shifted = arithmetic.multiply(mean_ss, divisor)
    mean = shifted if shift is None else arithmetic.add(shifted, shift)
    squares = arithmetic.multiply(variance_ss, divisor)
    return mean, arithmetic.subtract(squares, elementwise.square(shifted))

"""Batch normalization as one op, which gives the moments of the batch too."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor

_KERNEL = "FusedBatchNormV3"
_RANKS = {"NHWC": 4, "NCHW": 4, "NDHWC": 5, "NCDHW": 5}


def _fused(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    factor: float,
    last: bool,
    training: bool,
    rank: int,
) -> tuple[Any, ...]:
    channels = rank - 1 if last else 1
    axes = tuple(axis for axis in range(rank) if axis != channels)
    form = tuple(-1 if axis == channels else 1 for axis in range(rank))
    wide = x.astype(jnp.float32)
    if training:
        now = jnp.mean(wide, axes)
        spread = jnp.mean(lax.square(wide - now.reshape(form)), axes)
        count = jnp.asarray(x.size // x.shape[channels], jnp.float32)
        unbiased = spread * (count / jnp.maximum(count - 1, 1))
        means, spreads = _blended(mean, now, factor), _blended(variance, unbiased, factor)
    else:
        now, spread = means, spreads = mean, variance
    by = lax.rsqrt(spread + epsilon) * scale
    y = (wide - now.reshape(form)) * by.reshape(form) + offset.reshape(form)
    moments = (lax.stop_gradient(each) for each in (means, spreads, now, spread))
    return y.astype(x.dtype), *moments, jnp.zeros(0, jnp.float32)


def _blended(before: Any, now: Any, factor: float) -> Any:
    return now if factor == 1 else before * (1 - factor) + now * factor


def _check(avals: tuple[Aval, ...], last: bool, training: bool, rank: int, **_: Any) -> None:
    x = avals[0]
    if x.dtype.name not in ("float16", "bfloat16", "float32"):
        raise not_allowed(x.dtype, "half, bfloat16, float", _KERNEL)
    if len(x.shape) != rank:
        raise invalid(f"input must be {rank}-dimensional{shown(x.shape)}", _KERNEL)
    channels = x.shape[-1 if last else 1]
    for name, aval in zip(("scale", "offset", "mean", "variance"), avals[1:], strict=True):
        moment = name in ("mean", "variance")
        if len(aval.shape) != 1:
            raise invalid(f"{name} must be 1-dimensional{shown(aval.shape)}", _KERNEL)
        if differ(aval.shape[0], channels) and not (moment and training):
            when = "When is_training=false, " if moment else ""
            raise invalid(
                f"{when}{name} must have the same number of elements as the channels of x, got "
                f"{aval.shape[0]} and {channels}",
                _KERNEL,
            )


_FUSED = Op(_fused, _KERNEL, check=_check, through=(0, 1, 2))
#: Earlier moments have no derivative, in TensorFlow too.
_HELD = Op(lambda x: x, "StopGradient", differentiable=False).bind()


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Tensor, ...]:
    """Images or volumes of one mean and variance for each channel, and what these were.

    Args:
      x: float16, bfloat16 or float32 [batch, ..., channels], or [batch, channels, ...].
      scale, offset: float32 [channels]; what the result is multiplied by, and what is added.
      mean, variance: those of `x` unless it is training; then the earlier ones, or empty.
      exponential_avg_factor: how much of the new moments is in those that are given back; 1 is all.
      is_training: whether `x` has the moments of the batch.
    Returns: the result; mean and variance (that of a sample, with one element fewer), to keep;
      mean and variance that were used; an empty vector. Derivatives are those of the first.
    Raises: InvalidArgumentError for shapes that do not fit, or another dtype.
    """
    closure = _FUSED.bind(
        epsilon=float(epsilon),
        factor=float(exponential_avg_factor),
        last=data_format.endswith("C"),
        training=bool(is_training),
        rank=_rank(data_format),
    )
    held = [apply(_HELD, (convert(each),)) for each in (mean, variance)]
    return apply(closure, (convert(x), convert(scale), convert(offset), *held))


def _rank(data_format: str) -> int:
    rank = _RANKS.get(data_format)
    if rank is None:
        listed = ", ".join(f'"{each}"' for each in _RANKS)
        raise not_allowed(f'"{data_format}"', listed, _KERNEL, "data_format")
    return rank

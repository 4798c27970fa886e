"""Clipping: `tf.clip_by_value`, `tf.clip_by_norm`, `tf.clip_by_global_norm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.avals import Aval
from ..core.op import Op
from ..core.refuse import not_allowed
from ..values.convert import convert
from ..values.dispatch import maps_composites
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules
from .casting import cast
from .declare import Number, allowed, check_broadcast, check_same_dtype, matching, static

# -- by value --------------------------------------------------------------------------------------


def _clip(x: Any, low: Any, high: Any) -> Any:
    return rules.maximum(rules.minimum(x, high), low)


def _check_clip(avals: tuple[Aval, ...]) -> None:
    x, low, high = avals
    check_same_dtype((x, high), "Minimum")
    check_same_dtype((x, low), "Maximum")
    if x.dtype.name not in allowed("float integer"):
        raise not_allowed(x.dtype, "numbers", "Minimum")
    for bound, kernel in ((high, "Minimum"), (low, "Maximum")):
        check_broadcast(x, bound, kernel)
        if jnp.broadcast_shapes(x.shape, bound.shape) != x.shape:
            raise ValueError(f"Shapes {x.tensor_shape} and {bound.tensor_shape} are incompatible")


_CLIP = Op(_clip, "Maximum", check=_check_clip).bind()


@maps_composites
def clip_by_value(
    t: Any, clip_value_min: Number, clip_value_max: Number, name: str | None = None
) -> Any:
    """`t` with what is below `clip_value_min` or above `clip_value_max` set to that bound.

    At a bound the gradient is 1. IndexedSlices give IndexedSlices.
    Raises: InvalidArgumentError if a bound does not broadcast to `t`, ValueError if it is larger.

    >>> import tape_compat as tf
    >>> tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0).numpy().tolist()
    [-1.0, 0.5, 1.0]
    """
    values = t.values if isinstance(t, IndexedSlices) else t
    tensors = matching((values, clip_value_min, clip_value_max))
    clipped = apply(_CLIP, tuple(tensors))
    return IndexedSlices(clipped, t.indices, t.dense_shape) if values is not t else clipped


# -- by norm ---------------------------------------------------------------------------------------


def _clip_by_norm(x: Any, clip_norm: Any, axes: Any) -> Any:
    total = jnp.sum(lax.square(x), axis=axes, keepdims=True)
    positive = total > 0
    # The square root of 1 where the norm is 0: its gradient at 0 would be NaN.
    norm = jnp.where(positive, rules.sqrt(jnp.where(positive, total, 1)), total)
    clip_norm = rules.maximum(clip_norm, jnp.zeros_like(clip_norm))
    return x * clip_norm / rules.maximum(norm, clip_norm)


def _check_float(avals: tuple[Aval, ...], **_: Any) -> None:
    if not avals[0].dtype.trainable:
        listed = "bfloat16, half, float, double, complex64, complex128"
        raise not_allowed(avals[0].dtype, listed, "Sqrt")
    check_same_dtype(avals, "Mul")


_CLIP_BY_NORM = Op(_clip_by_norm, "RealDiv", check=_check_float)


def clip_by_norm(t: Any, clip_norm: Number, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down so that its 2-norm over `axes` (None: all) is at most `clip_norm`.

    IndexedSlices give IndexedSlices.

    >>> import tape_compat as tf
    >>> tf.clip_by_norm([3.0, 4.0], 1.0).numpy().round(6).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    values = t.values if isinstance(t, IndexedSlices) else t
    x, limit = matching((values, clip_norm))
    if limit.dtype is not x.dtype and (limit.dtype.is_floating or limit.dtype.is_integer):
        limit = cast(limit, x.dtype)
    clipped = apply(_CLIP_BY_NORM.bind(axes=static(axes)), (x, limit))
    return IndexedSlices(clipped, t.indices, t.dense_shape) if values is not t else clipped


# -- several at once -------------------------------------------------------------------------------


def _half_squares(*arrays: Any) -> Any:
    return sum(jnp.sum(lax.square(x) / 2) for x in arrays)


def _global_norm(*arrays: Any) -> Any:
    return rules.sqrt(_half_squares(*arrays) * 2)


def _check_norm(avals: tuple[Aval, ...]) -> None:
    for aval in avals:
        if aval.dtype.name not in allowed("float"):
            raise not_allowed(aval.dtype, "half, bfloat16, float, double", "L2Loss")
    check_same_dtype(avals, "AddN")


_GLOBAL_NORM = Op(_global_norm, "L2Loss", check=_check_norm).bind()


def _values(t_list: Any) -> list[Tensor | None]:
    if isinstance(t_list, (str, bytes, dict, Tensor)) or not isinstance(t_list, Sequence):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return [
        None if t is None else t.values if isinstance(t, IndexedSlices) else convert(t)
        for t in t_list
    ]


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """2-norm of all tensors of a list taken together; None is passed over.

    Of IndexedSlices the values count as they stand, repeated indices one by one.
    Raises: TypeError if `t_list` is not a list.

    >>> import tape_compat as tf
    >>> float(tf.linalg.global_norm([tf.constant([3.0, 0.0]), None, tf.constant(4.0)]))
    5.0
    """
    present = tuple(t for t in _values(t_list) if t is not None)
    if not present:
        return convert(0.0)
    return apply(_GLOBAL_NORM, present)


def _scale_all(norm: Any, clip_norm: Any, *arrays: Any) -> tuple[Any, ...]:
    scale = clip_norm * rules.minimum(1 / norm, 1 / clip_norm)
    scale = jnp.where(jnp.isfinite(norm), scale, jnp.nan)
    return tuple(x * scale.astype(x.dtype) for x in arrays)


_SCALE_ALL = Op(_scale_all, "Mul").bind()


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Number, use_norm: Number = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Tensors scaled down together to a common 2-norm of at most `clip_norm`, and their norm.

    None stays None, IndexedSlices stay IndexedSlices. An infinite norm gives NaN everywhere.

    Args:
      t_list: list of tensors, IndexedSlices and None.
      clip_norm: the largest norm allowed.
      use_norm: the norm, if known already.
    Raises: TypeError if `t_list` is not a list.

    >>> import tape_compat as tf
    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0]), None], 1.0)
    >>> clipped[0].numpy().round(6).tolist(), clipped[1], float(norm)
    ([0.6000000238418579, 0.800000011920929], None, 5.0)
    """
    values = _values(t_list)
    norm = global_norm(t_list) if use_norm is None else convert(use_norm)
    present = [t for t in values if t is not None]
    if not present:
        return list(values), norm
    clip_norm = convert(clip_norm, hint=norm.dtype)
    if clip_norm.dtype is not norm.dtype:
        raise TypeError(
            f"`x` and `y` must have the same dtype, got {norm.dtype!r} != {clip_norm.dtype!r}."
        )
    scaled = iter(apply(_SCALE_ALL, (norm, clip_norm, *present)))
    answer: list[Any] = []
    for t, value in zip(t_list, values, strict=True):
        if value is None:
            answer.append(None)
        elif isinstance(t, IndexedSlices):
            answer.append(IndexedSlices(next(scaled), t.indices, t.dense_shape))
        else:
            answer.append(next(scaled))
    return answer, norm

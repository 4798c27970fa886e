"""One step of an update rule, in JAX: what it is given, its ops and what they check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core import errors
from ...core.avals import Aval
from ...core.op import Op


class Gradient:
    """A gradient inside an update: dense, or rows `values` at `indices`, which may repeat.

    Keras hands rows on as far as they go, without adding up repeated ones first: their squares are
    added, not squared sums. `add_to` and `of` are all that an update needs to do the same.
    """

    __slots__ = ("indices", "values")

    def __init__(self, values: Any, indices: Any = None):
        self.values = values
        self.indices = indices

    def add_to(self, array: Any, updates: Any) -> Any:
        """`array` with `updates`, which are shaped as `values`, added where they belong."""
        if self.indices is None:
            return array + updates
        return array.at[self.indices].add(updates, mode="drop")

    def of(self, array: Any) -> Any:
        """The part of `array` that has a gradient, shaped as `values`."""
        return array if self.indices is None else array[self.indices]


Update = Callable[..., tuple[Any, ...]]


class Updates:
    """The ops of an update rule, for dense gradients and for rows.

    `rule(x, gradient, learning_rate, *scalars_and_slots, **numbers, **settings)` gives new `x` and
    new slots.
    """

    def __init__(self, rule: Update, kernel: str):
        def dense(x: Any, values: Any, *rest: Any, **settings: Any) -> tuple[Any, ...]:
            return _step(rule, x, Gradient(values), *rest, **settings)

        def rows(x: Any, values: Any, indices: Any, *rest: Any, **settings: Any) -> tuple[Any, ...]:
            return _step(rule, x, Gradient(values, indices), *rest, **settings)

        self.dense = Op(dense, kernel, differentiable=False, check=_check_dense)
        self.rows = Op(rows, kernel, differentiable=False, check=_check_slices)


def _step(
    rule: Update,
    x: Any,
    gradient: Gradient,
    rate: Any,
    *rest: Any,
    numbers: tuple[str, ...],
    **settings: Any,
) -> tuple[Any, ...]:
    given = dict(zip(numbers, rest[0])) if numbers else {}
    for clip in CLIPS:
        if clip in given:
            gradient.values = _clipped(gradient.values, clip, given.pop(clip))
    gradient.values = gradient.values.astype(x.dtype)
    rate = rate.astype(x.dtype)
    if "weight_decay" in given:
        x = x - x * given.pop("weight_decay") * rate
    return rule(x, gradient, rate, *rest[bool(numbers) :], **given, **settings)


def by_float32(value: float) -> float:
    """A setting as Keras casts it, by way of float32: 0.9 in float64 becomes 0.8999999761581421."""
    return float(np.float32(value))


#: Numbers of an update that clip a gradient.
CLIPS = ("clipnorm", "clipvalue")


def _clipped(values: Any, kind: str, bound: Any) -> Any:
    bound = bound.astype(values.dtype)
    if kind == "clipvalue":
        return jnp.clip(values, -bound, bound)
    norm = jnp.sqrt(jnp.sum(jnp.square(values)))
    return values * bound / jnp.maximum(norm, bound)


def _check_dense(avals: tuple[Aval, ...], **_: Any) -> None:
    x, values, rate = avals[:3]
    if values.shape != x.shape:
        _refuse_shape(x.shape, values.shape)
    _check_rate(rate)


def _check_slices(avals: tuple[Aval, ...], **_: Any) -> None:
    x, values, indices, rate = avals[:4]
    if len(indices.shape) != 1 or values.shape != (*indices.shape, *x.shape[1:]) or not x.shape:
        _refuse_shape(x.shape, values.shape)
    _check_rate(rate)


def _check_rate(rate: Aval) -> None:
    if rate.shape:
        raise ValueError(
            f"The learning rate must be a scalar. Received shape {rate.shape} at "
            f"{errors.user_location()}."
        )


def _refuse_shape(shape: tuple[int, ...], given: tuple[int, ...]) -> None:
    raise errors.InvalidArgumentError(
        None,
        None,
        f"Cannot update variable with shape {list(shape)} using a Tensor with shape "
        f"{list(given)}, shapes must be equal. [Op:AssignSubVariableOp] (at "
        f"{errors.user_location()})",
    )

"""Slices of the batch axes of operators: parameters are sliced, and an operator made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.refuse import invalid
from ...ops.joining import concat
from ...ops.shapes import reshape, shape
from ...values.convert import convert


def batch_slice(operator: Any, slices: Any) -> Any:
    """The operator of the matrices that `slices` picks.

    Each parameter is sliced where it has the axis, and left alone where it is broadcast along it.
    """
    if not isinstance(slices, Sequence):
        slices = (slices,)
    parameters = dict(operator.parameters)
    if len(slices) != 1 or slices[0] is not Ellipsis:
        batch = operator.batch_shape
        if not batch.is_fully_defined():
            raise NotImplementedError(
                f"Slices of {type(operator).__name__} of unknown batch shape {batch}"
            )
        for name, axes in dict(operator._experimental_parameter_ndims_to_matrix_ndims).items():
            value = getattr(operator, name)
            if value is not None:
                parameters[name] = _each(value, axes, lambda x, n: _sliced(x, n, slices, batch))
    return type(operator)(**parameters)


def _each(value: Any, axes: Any, of: Any) -> Any:
    """`of(parameter, axes)` for a parameter, or each of a nest of parameters."""
    if isinstance(axes, (list, tuple)):
        return [_each(part, n, of) for part, n in zip(value, axes)]
    return of(value, axes)


def _is_operator(value: Any) -> bool:
    return hasattr(value, "batch_shape_tensor")


def _sliced(value: Any, axes: int, slices: Sequence[Any], batch: Any) -> Any:
    value = _with_rank(value, axes, batch.rank)
    own = value.batch_shape if _is_operator(value) else value.shape
    own = own[: own.rank - axes]
    if batch.rank and not own.rank:
        return value
    picked = _of_broadcast(slices, batch, own)
    if axes:
        if not any(part is Ellipsis for part in slices):
            picked.append(Ellipsis)
        picked += [slice(None)] * axes
    return value[tuple(picked)]


def _with_rank(value: Any, axes: int, rank: int) -> Any:
    """A parameter with axes of size 1 in front, so that it has `rank` batch axes."""
    if not _is_operator(value):
        value = convert(value)
        missing = rank + axes - value.shape.rank
        return reshape(value, concat([[1] * missing, shape(value)], 0)) if missing > 0 else value
    inner = dict(value._experimental_parameter_ndims_to_matrix_ndims)
    changed = {
        name: _each(getattr(value, name), n, lambda x, n: _with_rank(x, n + axes, rank))
        for name, n in inner.items()
        if getattr(value, name) is not None
    }
    return type(value)(**{**value.parameters, **changed}) if changed else value


def _of_broadcast(slices: Sequence[Any], batch: Any, own: Any) -> list[Any]:
    """The slices for a parameter that has size 1 where the batch has more."""
    found: list[Any] = []
    axis = 0
    for i, part in enumerate(slices):
        if part is Ellipsis:
            if axis < 0:
                raise ValueError(f"Found multiple `...` in slices {slices}")
            axis = -sum(later is not None for later in slices[i + 1 :])
        elif part is not None:
            if not -batch.rank <= axis < batch.rank:
                at = axis + batch.rank if axis < 0 else axis
                raise invalid(f"slice index {at} of dimension 0 out of bounds.", "StridedSlice")
            if batch[axis] > own[axis]:
                part = slice(0, 1) if isinstance(part, slice) else 0
            axis += 1
        found.append(part)
    return found

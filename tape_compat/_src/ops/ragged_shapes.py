"""Ops on the shapes of ragged tensors: what tensors broadcast to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor
from ..core.errors import InvalidArgumentError, user_location
from ..values import dispatch
from ..values.convert import convert
from .creation import fill, ones
from .dynamic_shape import DynamicRaggedShape as DynamicRaggedShape
from .ragged_creation import same_rows
from .ragged_maps import broadcast
from .repeating import broadcast_to


def _broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeated along axes of size 1 and new leading axes, to a shape with ragged rows."""
    x = input if isinstance(input, RaggedTensor) else convert(input)
    if not isinstance(shape, DynamicRaggedShape):
        raise dispatch.refusal(x)
    if not len(x.shape):
        return fill(shape, x)
    if not shape.num_row_partitions and not isinstance(x, RaggedTensor):
        return broadcast_to(x, shape.inner_shape)
    like: Any = ones(shape)
    if len(x.shape) > shape.rank:
        raise _cannot(x, shape)
    try:
        found = broadcast([x, like])[0]
    except InvalidArgumentError:
        raise _cannot(x, shape) from None
    if not isinstance(found, RaggedTensor) or not same_rows(found, like):
        raise _cannot(x, shape)
    return shape.around(broadcast_to(found.flat_values, shape.inner_shape))


def _cannot(x: Any, shape: DynamicRaggedShape) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"Cannot broadcast\n{x.shape} to {shape} (at {user_location()})"
    )


def _shape_of(value: Any) -> DynamicRaggedShape:
    if isinstance(value, DynamicRaggedShape):
        return value
    return DynamicRaggedShape((), np.asarray(convert(value)).tolist())


def _broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> DynamicRaggedShape:
    """The shape that two shapes broadcast to, one of which has ragged rows."""
    shapes = _shape_of(shape_x), _shape_of(shape_y)
    dtype = next((s.dtype for s in shapes if s.num_row_partitions), shapes[0].dtype)
    if not any(shape.num_row_partitions for shape in shapes):
        sizes = [shape.static_lengths() for shape in shapes]
        return DynamicRaggedShape((), np.broadcast_shapes(*sizes), dtype)
    return DynamicRaggedShape.from_tensor(broadcast(list(map(ones, shapes)))[0], dtype)


dispatch.define(
    DynamicRaggedShape,
    broadcast_dynamic_shape=_broadcast_dynamic_shape,
    broadcast_to=_broadcast_to,
)

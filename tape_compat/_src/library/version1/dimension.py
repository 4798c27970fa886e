"""Sizes that may be unknown, as shapes of TensorFlow 1 hold them."""

from __future__ import annotations

from typing import Any

from ...core.dimension import Dimension as Dimension
from ...core.shapes import TensorShape, as_shape


def dimension_value(dimension: Any) -> int | None:
    """The size of a `Dimension`; another value as it is.

    >>> import tape_compat as tf
    >>> tf.compat.dimension_value(tf.compat.v1.Dimension(3)), tf.compat.dimension_value(4)
    (3, 4)
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: Any, index: int) -> Dimension:
    """The size at a place of a shape as a `Dimension`.

    >>> import tape_compat as tf
    >>> tf.compat.dimension_at_index(tf.TensorShape([2, None]), 1)
    Dimension(None)
    """
    shape = shape if isinstance(shape, TensorShape) else as_shape(shape)
    return Dimension(None if shape.rank is None else shape[index])

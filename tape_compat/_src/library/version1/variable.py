"""`tf.compat.v1.Variable`, and assignments to parts of variables."""

from __future__ import annotations

from typing import Any

from ...ops.repeating import broadcast_to
from ...values.convert import convert
from ...values.indexed_slices import IndexedSlices
from ...values.variable import Variable as VariableV2
from .collections import add_to_collection


class _Made(type):
    """The type of a class whose objects are those of `tf.Variable`."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, VariableV2)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, VariableV2)


class Variable(metaclass=_Made):
    """A `tf.Variable`, from the arguments of TensorFlow 1.

    >>> import tape_compat as tf
    >>> v = tf.compat.v1.Variable(1.0, trainable=False)
    >>> isinstance(v, tf.Variable), v.trainable
    (True, False)
    """

    def __new__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: Any = None,
    ) -> Any:
        made = VariableV2(
            initial_value,
            True if trainable is None else trainable,
            name=name,
            dtype=dtype,
            constraint=constraint,
            shape=shape,
        )
        for key in collections or ():
            add_to_collection(key, made)
        return made


def _rows(ref: Any, indices: Any, updates: Any) -> IndexedSlices:
    indices = convert(indices)
    updates = convert(updates, ref.dtype)
    shape = [*indices.shape, *ref.shape[1:]]
    if not len(updates.shape):
        updates = broadcast_to(updates, shape)
    return IndexedSlices(updates, indices)


def _scatter(method: str, name: str) -> Any:
    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return getattr(ref, method)(_rows(ref, indices, updates))

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"`ref.{method}` of a Variable."
    return scatter


scatter_add = _scatter("scatter_add", "scatter_add")
scatter_div = _scatter("scatter_div", "scatter_div")
scatter_max = _scatter("scatter_max", "scatter_max")
scatter_min = _scatter("scatter_min", "scatter_min")
scatter_mul = _scatter("scatter_mul", "scatter_mul")
scatter_sub = _scatter("scatter_sub", "scatter_sub")
scatter_update = _scatter("scatter_update", "scatter_update")


def _scatter_nd(method: str) -> Any:
    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return getattr(ref, method)(indices, updates)

    scatter.__name__ = scatter.__qualname__ = method
    scatter.__doc__ = f"`ref.{method}` of a Variable."
    return scatter


scatter_nd_add = _scatter_nd("scatter_nd_add")
scatter_nd_sub = _scatter_nd("scatter_nd_sub")
scatter_nd_update = _scatter_nd("scatter_nd_update")
batch_scatter_update = _scatter("batch_scatter_update", "batch_scatter_update")

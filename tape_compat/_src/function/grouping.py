"""Graphs of functions as TensorFlow's programs see them: `tf.Graph`, `tf.group`, `tf.no_op`."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from ..core.errors import user_location
from ..core.state import LOCAL
from ..values import nest
from ..values.context import inside_function
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.operation import Operation
from ..values.record import identity
from ..values.tensor import Tensor
from ..values.variable import Variable
from .graph import FuncGraph


class Graph(abc.ABC):  # noqa: B024 - nobody is to make a class of it
    """The class of `x.graph` of symbolic tensors, for `isinstance`. None is made by itself."""

    def __init__(self) -> None:
        raise NotImplementedError(
            "tf.Graph: graphs that are built by hand and run in sessions are not here; tf.function "
            f"records a function. At {user_location()}."
        )


Graph.register(FuncGraph)


def group(*inputs: Any, **kwargs: Any) -> Operation | None:
    """Make sure that all inputs are computed, which needs nothing: None in eager code, in a
    `tf.function` an operation that does nothing.

    Raises: TypeError in a function for what is no tensor; ValueError there for other keywords than
      `name`.

    >>> import tape_compat as tf
    >>> v, w = tf.Variable(1.0), tf.Variable(1.0)
    >>> tf.group(v.assign_add(1.0), w.assign_add(1.0))
    """
    if not inside_function():
        return None
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    for x in nest.flatten(inputs, expand_composites=True):
        if not isinstance(x, (Tensor, Variable, Operation)):
            raise TypeError(
                "'inputs' should be zero or more (nested) Tensors. "
                f"Received '{x}' with type '{type(x)}'."
            )
    return Operation(LOCAL.state.capture, "group_deps", "NoOp")


def tuple(tensors: Sequence[Any], control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors, once all of them are computed: a list of them.

    Raises: ValueError in a `tf.function` if there is no tensor among them.

    >>> import tape_compat as tf
    >>> tf.tuple([tf.constant(1), None])
    [<tf.Tensor: shape=(), dtype=int32, numpy=1>, None]
    """
    if not inside_function():
        return list(tensors)
    if all(x is None for x in tensors):
        raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
    slices = IndexedSlices
    return [x if x is None or isinstance(x, slices) else identity(convert(x)) for x in tensors]


def no_op(name: str | None = None) -> Operation | None:
    """Nothing: None in eager code, in a `tf.function` an operation that does nothing.

    >>> import tape_compat as tf
    >>> tf.no_op()
    """
    return Operation(LOCAL.state.capture, "NoOp", "NoOp") if inside_function() else None

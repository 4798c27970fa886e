"""Graphs of functions as TensorFlow's programs see them: `tf.Graph`, `tf.group`, `tf.no_op`."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

from ..composites.sparse import SparseTensor, SparseTensorSpec
from ..core.avals import Aval
from ..core.dimensions import is_symbolic
from ..core.dtypes import as_dtype
from ..core.errors import NeedsValue
from ..core.shapes import as_shape
from ..core.state import LOCAL
from ..values import nest
from ..values.capture import Sketch, capturing
from ..values.context import inside_function
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.operation import Operation, done
from ..values.record import identity
from ..values.tensor import Tensor
from ..values.variable import Variable
from .graph import OUTSIDE, FuncGraph, of_function


class Graph(abc.ABC):  # noqa: B024 - what is entered is a FuncGraph
    """A record that nothing is computed of: what ops in its context give has a shape and a dtype.

    Libraries find shapes with it. There are no sessions: `tf.function` records what is to be run.
    It is also the class of `x.graph` of symbolic tensors.

    Args:
      name: shown in its text.

    >>> import tape_compat as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.ones([2, 3]) @ tf.ones([3, 4])
    >>> x.shape, hasattr(x, "numpy")
    (TensorShape([2, 4]), False)
    """

    building_function = False

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self._names_used: dict[str, int] = {}

    unique_name = FuncGraph.unique_name
    _apply_device_functions = FuncGraph._apply_device_functions
    _get_control_flow_context = FuncGraph._get_control_flow_context
    _variable_creator_stack = FuncGraph._variable_creator_stack

    @contextlib.contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """A context in which ops are recorded into it. The next one begins anew: tensors of one
        that was left are not found in it."""
        with capturing(lambda state: FuncGraph(state, self.name, creates=True)) as program:
            assert isinstance(program, FuncGraph)
            program.sketch, program.shapes_only = Sketch(), True
            program.lifts = program.outer is not None
            yield program


class FunctionGraph(Graph):
    """The class of the records of functions, which the graph of eager code is not of."""

    building_function = True

    @property
    def outer_graph(self) -> Any:
        """The record of the function that this is in, or the graph of eager code."""
        return of_function(LOCAL.state.capture) or OUTSIDE[0]


FunctionGraph.register(FuncGraph)


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
    return done("NoOp", "group_deps")


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """The tensors, once all of them are computed: a list of them, in eager code what was given.

    Raises: ValueError in a `tf.function` if there is no tensor among them; TypeError there for
      `control_inputs` that are neither operations nor tensors.

    >>> import tape_compat as tf
    >>> tf.tuple([tf.constant(1), None])
    [<tf.Tensor: shape=(), dtype=int32, numpy=1>, None]
    """
    if not inside_function():
        return tensors
    for each in control_inputs or ():
        if not isinstance(each, (Operation, Tensor, Variable, IndexedSlices)):
            raise TypeError(
                f"'control_inputs' must only contain Operation or Tensor. Received: {type(each)}"
            )
    if all(x is None for x in tensors):
        raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
    slices = IndexedSlices
    return [x if x is None or isinstance(x, slices) else identity(convert(x)) for x in tensors]


def no_op(name: str | None = None) -> Operation | None:
    """Nothing: None in eager code, in a `tf.function` an operation that does nothing.

    >>> import tape_compat as tf
    >>> tf.no_op()
    """
    return done("NoOp")


#: The one graph outside of functions.
OUTSIDE.append(Graph("default"))


def get_default_graph() -> Any:
    """The graph that is being recorded; outside of functions one that nothing is added to.

    >>> import tape_compat as tf
    >>> with tf.Graph("g").as_default():
    ...     tf.compat.v1.get_default_graph().name
    'g'
    """
    graph = of_function(LOCAL.state.capture)
    return OUTSIDE[0] if graph is None else graph


def renew_default_graph() -> None:
    """Let `get_default_graph` give another one outside of functions: Keras 2 counts names by it."""
    OUTSIDE[0] = Graph("default")


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor of a graph or function that is being recorded which stands for no value yet.

    Args:
      dtype: of the tensor. shape: None among the sizes for those that are unknown. The first of
        them is taken for the same in all such tensors: a batch and its mask have as many rows.
    Raises: RuntimeError outside of a graph; NeedsValue for an unknown rank.

    >>> import tape_compat as tf
    >>> from tape_compat._src.function.grouping import placeholder
    >>> with tf.Graph().as_default():
    ...     x = tf.reduce_sum(placeholder("float32", [None, 3]), axis=1)
    >>> x.shape
    TensorShape([None])
    """
    graph = LOCAL.state.capture
    if not isinstance(graph, FuncGraph):
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    aval = graph.aval(as_shape(shape), as_dtype(dtype))
    if aval.shape and is_symbolic(aval.shape[0]):
        graph.rows = graph.rows or aval.shape[0]
        aval = Aval.of((graph.rows, *aval.shape[1:]), aval.dtype)
    return graph.placeholder(aval, name or "Placeholder")


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor of a graph or function that is being recorded, which stands for no value yet.

    Args:
      dtype: of the values. shape: of the whole, None among the sizes for those that are unknown.
    Raises: RuntimeError outside of a graph; NeedsValue for an unknown rank.

    >>> import tape_compat as tf
    >>> from tape_compat._src.function.grouping import sparse_placeholder
    >>> with tf.Graph().as_default():
    ...     x = tf.sparse.transpose(sparse_placeholder("float32", [None, 3]))
    >>> x.shape
    TensorShape([3, None])
    """
    if not isinstance(LOCAL.state.capture, FuncGraph):
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")
    spec = SparseTensorSpec(shape, dtype)
    if spec.shape.rank is None:
        raise NeedsValue("a sparse tensor of unknown rank cannot be recorded")
    parts = [placeholder(part.dtype, part.shape) for part in spec._component_specs]
    return spec._from_components(parts)

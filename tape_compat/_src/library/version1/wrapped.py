"""`tf.compat.v1.wrap_function`: a function of TensorFlow 1 recorded once, parts of which are
functions too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.errors import user_location
from ...core.state import LOCAL
from ...core.steps import needed
from ...function.any_rank import ConcreteFunctionOfAnyRank
from ...function.concrete import ConcreteFunction
from ...function.function import Function
from ...function.graph import FuncGraph, without_collections
from ...function.signature import Bound, Signature, parameter_name
from ...function.trace import Results, Trace, traced, unique_name
from ...function.tracebacks import filter_traceback
from ...values import nest
from ...values.capture import Captured, anchor, capturing, close
from ...values.composite import CompositeTensor
from ...values.creators import variable_creator_scope
from ...values.operation import Operation
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from ...values.variable import Variable
from ..saved_model.import_graph import Imported, ImportedTensor, placeholder_spec
from ..saved_model.restored import concrete_of
from .collections import GraphKeys, add_to_collection
from .scopes import keeping


class WrappedFunction(ConcreteFunction):
    """What `tf.compat.v1.wrap_function` gives: the record of a function, with the variables that
    the function made. Parts of it are functions by `prune`."""

    def __init__(
        self,
        trace: Trace,
        signature: Signature,
        bound: Bound,
        name: str,
        made: Sequence[Variable] = (),
        by_name: bool = True,
    ):
        super().__init__(trace, signature, bound, name)
        self._made, self._by_name = tuple(made), by_name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not self._by_name:
            raise NotImplementedError(
                "Keyword arguments are not supported when calling a wrap_function-decorated "
                f"function. Got {kwargs}."
            )
        self._trace.refuse_unfed()
        return super().__call__(*args, **kwargs)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that were made in it, and those that it reads or assigns to."""
        return tuple({v._handle: v for v in (*self._made, *super().variables)}.values())

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None
    ) -> ConcreteFunction:
        """The part of it between tensors that are given and tensors that are wanted.

        Args:
          feeds: a nest of tensors of its graph, or their names ("x:0"); the arguments, in order.
          fetches: a nest of tensors, composites and operations of its graph, or their names; what
            the part gives, None for an operation. Variables are assigned to where a tensor is
            wanted that was read after that.
          name: of the function, "pruned" by default.
        Raises: ValueError for what is of another graph, and for an operation among `feeds`;
          KeyError for a name that is not there; InvalidArgumentError for placeholders that are
          needed and not fed; NotImplementedError for an `input_signature`.
        """
        if input_signature is not None:
            raise NotImplementedError(
                f"prune: `input_signature`; arguments are flat (at {user_location()})."
            )
        graph: FuncGraph = self._trace.graph
        given = [
            _fed(graph.as_graph_element(x)) for x in nest.flatten(feeds, expand_composites=True)
        ]
        wanted = nest.map_structure(lambda x: _element(graph, x), fetches)
        leaves = nest.flatten(wanted, expand_composites=True)
        one = _one_import([*given, *leaves])
        function = _of_import(one, given, wanted) if one else _of_record(graph, given, wanted)
        names: list[str] = []
        for x in given:
            names.append(unique_name(parameter_name(x.op.name), set(names)))
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        function.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
        function.__name__ = function.__qualname__ = name or "pruned"
        made = Function(function, function.__name__, autograph=False)
        found = concrete_of(made, list(map(_spec, given)), {})
        if isinstance(found, ConcreteFunctionOfAnyRank):
            return found
        return WrappedFunction(
            found._trace, found._signature, found._bound, function.__name__, self.variables
        )


def _fed(x: Any) -> Any:
    if isinstance(x, Operation):
        raise ValueError(
            f"All members of argument `feeds` must be tensors. Got {x} with type {type(x)}."
        )
    return x


def _element(graph: FuncGraph, x: Any) -> Any:
    if isinstance(x, CompositeTensor):
        for part in nest.flatten(x, expand_composites=True):
            graph.as_graph_element(part)
        return x
    return graph.as_graph_element(x)


def _spec(x: Any) -> TensorSpec:
    """The spec of what is fed."""
    if isinstance(x, ImportedTensor) and x.op.type == "Placeholder":
        return placeholder_spec(x.op.node)
    return TensorSpec(x.shape, x.dtype)


def _one_import(elements: Sequence[Any]) -> Imported | None:
    """The graph that all are of, if they are of one that was imported by itself."""
    found = {getattr(x if isinstance(x, Operation) else x.op, "imported", None) for x in elements}
    one = found.pop() if len(found) == 1 else None
    return one if one is not None and one.closed and _by_name(elements) else None


def _by_name(elements: Sequence[Any]) -> bool:
    return not any(isinstance(x, Tensor) for x in elements)


def _of_import(imported: Imported, given: Sequence[ImportedTensor], wanted: Any) -> Any:
    """A function that does the nodes of a graph between tensors."""

    def pruned(*args: Any) -> Any:
        run = imported.run_with(dict(zip(given, args, strict=True)))

        def value(x: Any) -> Any:
            if isinstance(x, Operation):
                run.node(x.node.name)  # type: ignore[attr-defined]
                return None
            return run.at(x.at)

        return nest.map_structure(value, wanted)

    return pruned


def _of_record(graph: FuncGraph, given: Sequence[Any], wanted: Any) -> Callable[..., Any]:
    """A function that does the instructions of a record between tensors."""
    inputs = [x._as_tensor() if isinstance(x, ImportedTensor) else x for x in given]

    def tensor(x: Any) -> Any:
        if isinstance(x, Operation):
            return None
        return x._as_tensor() if isinstance(x, ImportedTensor) else x

    results = Results(nest.map_structure(tensor, wanted), "prune")
    with capturing(lambda _: graph):
        outputs = [anchor(graph, x) for x in results.outputs]
        cells = _assigned(graph, outputs)
        outputs += [graph.values[handle] for handle in cells]
        closure = close(graph, inputs, outputs, "pruned", len(results.outputs))
    reads, variables = tuple(graph.reads.values()), tuple(graph.used.values())
    found = Captured(closure, graph.sources(), None, tuple(cells), reads, variables)
    trace = Trace(found, results, graph, tuple(inputs), ())
    for x in graph.unfed(inputs, outputs):
        raise ValueError(
            f"Unable to lift what is fetched: it depends on the placeholder {x.name!r}, which is "
            f"not fed (at {user_location()})."
        )

    def pruned(*args: Any) -> Any:
        return trace.call(list(args), ())

    return pruned


def _assigned(graph: FuncGraph, outputs: Sequence[Tensor]) -> list[Any]:
    """The variables whose last values are on the way to these tensors."""
    path = needed(graph.node.path(), tuple([x._at[1] for x in outputs]))
    slots = {slot for step in path for slot in range(step.first, step.end)}
    last = {handle: graph.slot_of(graph.values[handle]) for handle in graph.cells}
    return [handle for handle, slot in last.items() if slot in slots]


@contextmanager
def _holding(made: list[Variable]) -> Iterator[None]:
    """A context that notes the variables which are made in it."""

    def note(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        made.append(variable)
        add_to_collection(GraphKeys.GLOBAL_VARIABLES, variable)
        if variable.trainable:
            add_to_collection(GraphKeys.TRAINABLE_VARIABLES, variable)
        return variable

    with variable_creator_scope(note), keeping():
        yield


def _named(value: Any) -> Any:
    """An argument; a spec with a name."""
    if type(value) is TensorSpec and value.name is None:
        return TensorSpec(value.shape, value.dtype, "Placeholder")
    return value


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> Any:
    """A function of TensorFlow 1's kind, recorded once: it may make variables, by `tf.Variable` and
    `tf.compat.v1.get_variable`, and import graphs, by `tf.graph_util.import_graph_def`.

    Args:
      fn: the Python function.
      signature: a list of its arguments: TensorSpecs, and values that are part of the record.
      name: of the graph, "wrapped_function" and this.
    Returns: a ConcreteFunction that keeps the variables, with `prune`, which gives the part between
      some tensors of its `graph` and others.
    Raises: what `fn` does; NeedsValue if it cannot be recorded.

    >>> import tape_compat as tf
    >>> def scaled(x):
    ...     factor = tf.compat.v1.get_variable("factor", initializer=3.0)
    ...     return factor * x
    >>> f = tf.compat.v1.wrap_function(scaled, [tf.TensorSpec([], tf.float32)])
    >>> f(2.0).numpy().item(), [v.name for v in f.variables]
    (6.0, ['factor:0'])
    """
    title = "wrapped_function" if name is None else f"wrapped_function_{name}"
    made: list[Variable] = []

    def recorded(*args: Any, **kwargs: Any) -> Any:
        without_collections(LOCAL.state.capture)
        with _holding(made):
            return fn(*args, **kwargs)

    kinds = Signature(fn, None)
    bound = kinds.general(kinds.bind(tuple(map(_named, signature)), {}))
    try:
        trace = traced(recorded, bound, title, creates=True, fallible=False)
    except Exception as error:
        filter_traceback(error)
        raise
    return WrappedFunction(trace, kinds, bound, title, made, by_name=False)

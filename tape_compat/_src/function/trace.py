"""One trace of a function: what it recorded, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..core import dimensions, errors, limits
from ..core.avals import Aval
from ..core.caches import keep
from ..core.dimensions import Sizes
from ..core.dtypes import string
from ..core.native import native, provide
from ..core.program import Node
from ..core.refuse import tf_dtype_name
from ..core.state import LOCAL, ThreadState
from ..core.steps import slot_avals
from ..run.executor import give_up, run
from ..run.op_by_op import interprets, op_runner
from ..values import nest
from ..values.capture import (
    Captured,
    Sketch,
    call_captured,
    captured,
    capturing,
)
from ..values.composite import CompositeTensor, Opaque, TypeSpec
from ..values.convert import convert
from ..values.names import outside_scopes
from ..values.record import begin_step
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.variable import Handle, Variable, current
from .graph import FuncGraph
from .python_steps import call_in_parts, computes_with_texts
from .signature import Bound, check_unchanged, copied, holds_anything, rebuilt
from .tensor_array import TensorArray
from .untaken import at_sizes


class Called:
    """The records of the functions that are called, while somebody wants to know them."""

    graphs: dict[int, FuncGraph] | None = None


CALLED = Called()
provide(called=CALLED, give_up=give_up)


class _Array(NamedTuple):
    """A TensorArray that was returned, and which output its buffer is, if it has one."""

    array: TensorArray
    place: int | None


class _Composite:
    """Stands in a structure for a composite that cannot be made of anything but tensors."""

    __slots__ = ("_components", "_spec")

    def __init__(self, value: CompositeTensor):
        self._spec: TypeSpec = value._type_spec
        self._components = _outline(self._spec._to_components(value))

    def made(self, items: Iterator[Any]) -> Any:
        """The composite of the next items."""
        return self._spec._from_components(_filled(self._components, items))


def _outline(structure: Any) -> Any:
    """A structure with 0 in the place of its leaves."""
    return nest.map_structure(_outlined, structure, expand_composites=False)


def _outlined(leaf: Any) -> Any:
    if not isinstance(leaf, CompositeTensor):
        return 0
    if holds_anything(leaf._type_spec):
        return nest.map_structure(_outlined, leaf, expand_composites=True)
    return _Composite(leaf)


def _filled(outline: Any, items: Iterator[Any]) -> Any:
    """The structure with these items in the place of its leaves."""
    leaves = [
        leaf.made(items) if leaf.__class__ is _Composite else next(items)
        for leaf in nest.flatten(outline, expand_composites=True)
    ]
    return nest.pack_sequence_as(outline, leaves, expand_composites=True)


@native
class Results:
    """What a function returned: a structure whose tensors are numbered.

    leaves: for each leaf the number of an output, or (value,) where it is no output. single: if
    it is one tensor. nothing: if it is None. flat: whether it is a plain list or tuple of tensors.
    keys: of a plain dict of tensors, with the numbers of these.
    """

    __slots__ = ("flat", "keys", "leaves", "nothing", "outputs", "single", "structure")

    def __init__(self, result: Any, function: Any):
        self.outputs: list[Tensor] = []
        self.leaves: list[int | tuple[Any]] = []
        for value in nest.flatten(result, expand_composites=True):
            self.leaves.append(self._leaf(value, function))
        self.structure = _outline(result)
        children = nest.children_of(result)
        self.single = self.leaves == [0] and children is None
        self.nothing = result is None
        plain = (
            children is not None
            and self.leaves == list(range(len(children)))
            and all(nest.children_of(x) is None for x in children)
        )
        self.flat = plain and type(result) in (list, tuple)
        self.keys = None
        if plain and type(result) is dict:
            self.keys = [(key, sorted(result).index(key)) for key in result]

    def _leaf(self, value: Any, function: Any) -> int | tuple[Any]:
        if value is None:
            return (None,)
        if isinstance(value, TensorArray):
            return self._array(value)
        tensor = _returned(value, function)
        if tensor._aval.dtype is string and not tensor._is_symbolic():
            return (tensor,)
        self.outputs.append(tensor)
        return len(self.outputs) - 1

    def _array(self, array: TensorArray) -> tuple[Any]:
        """A TensorArray: its buffer, if it has one, is an output."""
        buffer = array._recorded().buffer
        if buffer is not None:
            self.outputs.append(buffer)
        return (_Array(array, None if buffer is None else len(self.outputs) - 1),)

    def packed(self, outputs: Sequence[Any]) -> Any:
        """The structure with these in the place of the outputs."""
        if self.single:
            return outputs[0]
        if self.flat:
            return type(self.structure)(outputs)
        if self.keys is not None:
            return {key: outputs[i] for key, i in self.keys}
        if self.nothing:
            return None
        leaves = [outputs[x] if isinstance(x, int) else x[0] for x in self.leaves]
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, _Array):
                place = leaf.place
                leaves[i] = leaf.array.returned(None if place is None else outputs[place])
        return _filled(self.structure, iter(leaves))


def _returned(value: Any, function: Any) -> Tensor:
    if isinstance(value, Variable):
        return value.read_value()
    if isinstance(value, Opaque):
        raise errors.NeedsPython(f"{function!r} returns {value!r}")
    try:
        return convert(value)
    except errors.NeedsValue:
        raise
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors "
            f"or ExtensionTypes or None values; in compilation of {function!r}, found return value "
            f"of type {type(value).__name__}, which is not a Tensor or ExtensionType."
        ) from None


def as_tensors(result: Any, function: Any) -> Any:
    """What a function returned that ran as Python, of tensors as if it had been recorded."""
    if isinstance(result, (Tensor, Opaque)):
        return result
    leaves = [
        value
        if value is None or isinstance(value, (TensorArray, Opaque))
        else _returned(value, function)
        for value in nest.flatten(result, expand_composites=True)
    ]
    return nest.pack_sequence_as(result, leaves, expand_composites=True)


class Inputs:
    """The symbolic inputs of a trace, made as its arguments are gone through."""

    def __init__(self, graph: FuncGraph, known_texts: bool):
        self._graph, self._known_texts = graph, known_texts

    def of(self, name: str, value: Any) -> Any:
        """An argument with symbolic inputs for the tensors in it, which have its name."""
        return rebuilt(value, lambda x: self._input(name, x))

    def _input(self, name: str, value: Any) -> Tensor:
        graph = self._graph
        if isinstance(value, TensorSpec):
            x = graph.symbol(graph.aval(value.shape, value.dtype))
            name = value.name or name
        else:
            value = convert(value)
            if value._aval.dtype is string and self._known_texts:
                return value
            x = graph.symbol(value._aval)
            graph.values_given[id(x)] = value
        names = graph.argument_names
        names[x._at[1]] = unique_name(name, set(names.values()))
        graph.inputs.append(x)
        return x


def unique_name(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken."""
    if name not in taken:
        return name
    return next(f"{name}_{i}" for i in range(1, len(taken) + 2) if f"{name}_{i}" not in taken)


@native
class Trace:
    """What a trace gave.

    captured: what was recorded. results: what was returned. inputs: the symbolic ones. variables:
    those among the arguments. created: made meanwhile. shapes: those of the inputs, then of the
    variables of unknown shape, if sizes in them are unknown. spec_names: the names that specs gave
    to inputs, None for others. plain: whether each call runs it as one program, as it was recorded.
    plan: of one that is settled, how C calls it again.
    """

    __slots__ = (
        "_as_recorded",
        "_closures",
        "_origin",
        "_short",
        "captured",
        "created",
        "graph",
        "inputs",
        "plain",
        "plan",
        "results",
        "shapes",
        "spec_names",
        "variables",
    )

    def __init__(
        self,
        captured: Captured,
        results: Results,
        graph: FuncGraph,
        inputs: tuple[Tensor, ...],
        variables: tuple[Variable, ...],
    ):
        self.captured, self.results, self.graph = captured, results, graph
        self.inputs, self.variables = inputs, variables
        self.created = tuple(graph.created or ())
        shapes = [x._aval.shape for x in inputs]
        shapes += [aval.shape for aval in graph.variable_avals.values()]
        self.shapes = tuple(shapes) if any(map(dimensions.is_unknown, shapes)) else None
        self.spec_names: tuple[str | None, ...] = ()
        self._as_recorded = self.shapes is None and not variables
        self.plain = self._as_recorded and not graph.in_parts
        self.plan: Any = None
        self._origin = (id(graph), 0)
        #: Whether it computes only, and has few ops.
        self._short = (
            not captured.cells
            and not captured.closure.effect
            and not graph.in_parts
            and all(isinstance(x, Tensor) and x._array is not None for x in captured.sources)
            and len(captured.closure.flat.steps) <= limits.MAX_SHORT_TRACE
        )
        #: For known sizes, by the avals of the tensors.
        self._closures: dict[tuple[Aval, ...], Any] = {}

    def require_one_program(self, what: str) -> None:
        """Refuse what needs all of it in one program, if Python does steps of it."""
        if self.graph.in_parts:
            raise NotImplementedError(
                f"{what} of {self.graph.name}: Python does steps of it (ops of texts and files, "
                "tf.py_function, sizes that depend on values), so it is several programs. At "
                f"{errors.user_location()}."
            )

    def refuse_unfed(self) -> None:
        """Refuse to be called if it needs a placeholder that is no argument."""
        for x in self.graph.unfed(self.inputs, self.graph.outputs):
            name = x.name.partition(":")[0]
            raise errors.refusal(
                f"You must feed a value for placeholder tensor '{name}' with dtype "
                f"{tf_dtype_name(x.dtype)} and shape {x.shape}. At {errors.user_location()}."
            )

    def computes_with_texts(self) -> bool:
        """Whether something takes a text that is no step of the host, and cannot."""
        inputs = [x.dtype for x in self.inputs]
        # constants are given as they are
        held = [isinstance(x, Handle) and x.dtype for x in self.captured.sources]
        texts = [i for i, dtype in enumerate([*inputs, *held]) if dtype is string]
        return self.graph.in_parts and computes_with_texts(self.captured.closure, texts)

    def call(self, tensors: list[Tensor], variables: Sequence[Variable]) -> Any:
        """Call it. By itself it runs now; under a tape, or in another function, it is recorded as
        one instruction."""
        found = self.captured if self._as_recorded else self._fitted(tensors, variables)
        if CALLED.graphs is not None:
            CALLED.graphs[id(self.graph)] = self.graph
        state = LOCAL.state
        if self.graph.in_parts and state.capture is None:
            return self.results.packed(call_in_parts(found, tensors))
        if state.deferring:
            if (self.graph.assumes or self.graph.in_parts) and state.capture is not None:
                note = state.capture.call_python if self.graph.in_parts else state.capture.assume
                note(f"What {self.graph.name} assumes")
            return self.results.packed(found.call(tensors))
        if state.program is not None:
            begin_step()
        state.origin = self._origin
        try:
            state.deferring = True  # no recorder is to be told which variables are read
            outputs = call_captured(found.closure, tensors, found.sources, found.cells)
            state.deferring = False
        except BaseException:
            state.deferring = False
            raise
        program = state.program
        if program is not None:
            try:
                run(program)
            except Exception:
                give_up(program)
                raise
        return self.results.packed(outputs)

    def values(self, tensors: list[Tensor]) -> Any:
        """What it gives for the elements of a dataset: the results or, of a short one that only
        moves elements of arrays, arrays in their place. No program is made for these."""
        state = LOCAL.state
        if not self._short or state.deferring or state.program is not None or state.device:
            return self.call(tensors, ())
        inputs = [*tensors, *self.captured.sources]
        closure = self.captured.closure
        if self.shapes is not None:
            closure = self._at_sizes(tensors)
        kinds = tuple([x._aval for x in inputs])
        runner = op_runner(closure, kinds)
        if not runner.moves or not interprets():
            return self.call(tensors, ())
        return self.results.packed(runner.now(*[x._value() for x in inputs]))

    def _fitted(self, tensors: Sequence[Tensor], variables: Sequence[Variable]) -> Captured:
        """What was recorded, for tensors of these sizes and for these variables."""
        found, handles = self.of_variables(variables)
        if self.shapes is not None:
            held = [current(handles.get(h, h)) for h in self.graph.variable_avals]
            found = found._replace(closure=self._at_sizes([*tensors, *held]))
        return found

    def of_variables(self, variables: Sequence[Variable]) -> tuple[Captured, dict[Handle, Handle]]:
        """What was recorded, for these variables as arguments, and the cells that they have in the
        place of those that were recorded."""
        handles = {m._handle: v._handle for m, v in zip(self.variables, variables)}
        if all(mine is given for mine, given in handles.items()):
            return self.captured, handles
        return self._with(self.captured, handles, variables), handles

    def at_values(self, values: Sequence[Tensor]) -> Any:
        """The closure for what it takes in a call: its inputs, then what its sources give."""
        given, sources = values[: len(self.inputs)], values[len(self.inputs) :]
        return self._at_sizes([*given, *self._held(sources)])

    def _held(self, sources: Sequence[Any]) -> list[Any]:
        """Of what the sources give, what variables of unknown shape hold."""
        pairs = zip(self.captured.sources, sources, strict=True)
        held = {source: x for source, x in pairs if isinstance(source, Handle)}
        return [held[handle] for handle in self.graph.variable_avals]

    def _at_sizes(self, tensors: Sequence[Tensor]) -> Any:
        """The closure for tensors of these sizes."""
        key = tuple([x._aval for x in tensors])
        found = self._closures.get(key)
        if found is None:
            made, bound = self.closure_at(self.sizes(tensors)), limits.MAX_SHAPES_PER_CLOSURE
            found = keep(self._closures, key, made, bound)
        return found

    def shapes_with(self, given: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
        """What stands for `shapes` where the arguments have these, and the sources are these arrays
        or avals."""
        return [*given, *[x.shape for x in self._held(sources)]]

    def takes(self) -> list[Aval]:
        """The avals of what its closure takes."""
        further = [self.graph.tensor_at(slot) for slot in self.graph.further_inputs()]
        return [x._aval for x in (*self.inputs, *further)]

    def closure_at(self, sizes: Sizes) -> Any:
        """The closure with sizes for the unknown ones, without branches that do not take them."""
        avals = tuple([aval.at(sizes) for aval in self.takes()])
        return at_sizes(self.captured.closure, sizes, avals)

    def holds_for(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the sizes that were computed are those that there are for these tensors, of which
        some have no elements: JAX takes it that an unknown size is not 0, and `x[:1]` one row."""
        held = [current(handle) for handle in self.graph.variable_avals]
        sizes, path = self.sizes([*tensors, *held]), self.graph.node.path()
        known = {slot: aval.at(sizes) for slot, aval in slot_avals(path).items()}
        return all(_is_told(node, known, sizes) for node in path)

    def sizes(self, tensors: Sequence[Tensor]) -> Sizes:
        """What the unknown sizes are in a call."""
        assert self.shapes is not None
        found = Sizes.between(self.shapes, [x._aval.shape for x in tensors])
        if found is None:
            given = ", ".join(str(x.shape) for x in tensors)
            raise errors.refusal(
                f"{self.graph.name} was recorded for tensors of the shapes "
                f"{', '.join(str(x.shape) for x in self.inputs)} and does not take {given}. At "
                f"{errors.user_location()}."
            )
        return found

    def _with(
        self, found: Captured, handles: dict[Handle, Handle], variables: Sequence[Variable]
    ) -> Captured:
        """What was recorded, with other variables as arguments."""
        others = {m._handle: v for m, v in zip(self.variables, variables, strict=True)}
        return found._replace(
            sources=tuple(
                [handles.get(s, s) if isinstance(s, Handle) else s for s in found.sources]
            ),
            cells=tuple([handles.get(h, h) for h in found.cells]),
            reads=tuple([others.get(v._handle, v) for v in found.reads]),
            variables=tuple([others.get(v._handle, v) for v in found.variables]),
        )


def _is_told(node: Node, known: Mapping[int, Aval], sizes: Sizes) -> bool:
    """Whether what an instruction gives has the shapes that are known, at these sizes."""
    if node.closure is None:
        return True
    try:
        found, _ = node.closure.at(sizes).infer(tuple([known[i] for i in node.inputs]))
    except Exception:  # the call will say what does not fit
        return True
    return all(known[i].shape == aval.shape for i, aval in enumerate(found, node.first))


class AssumingTrace(Trace):
    """One that a call may find not to be right for it; see `FuncGraph`. A class of its own, so that
    the calls of others need not ask."""

    __slots__ = ()


class Unlearned(str):
    """Why there is no trace yet: something must be seen first; the next call may make one."""

    __slots__ = ()


class BySizes(dict[tuple, Any]):
    """Traces for each set of sizes, by the arguments, where one for unknown sizes is not possible:
    an op or the Python function needs a number."""


def traced(
    function: Callable[..., Any],
    bound: Bound,
    name: str,
    creates: bool,
    settled: bool = False,
    fallible: bool = False,
    sketch: Sketch | None = None,
) -> Trace:
    """Record a Python function with these arguments, the tensors among them made symbolic. settled:
    it was to be recorded for all sizes, and is recorded for those of one call. fallible, sketch:
    see `FuncGraph`; with a sketch texts are inputs as well."""

    def graph(state: ThreadState) -> FuncGraph:
        made = FuncGraph(state, name, creates, settled)
        made.fallible, made.sketch = fallible, sketch
        return made

    recording = capturing(graph)
    try:
        return _recorded(function, bound, name, recording)
    except BaseException:  # an interrupt may have come just before the context was left
        if recording.program is not None and LOCAL.state.capture is recording.program:
            recording.__exit__()
        raise


def _recorded(function: Callable[..., Any], bound: Bound, name: str, recording: capturing) -> Trace:
    arguments = bound.taken_apart(specs=True)
    with recording as graph, outside_scopes():
        assert isinstance(graph, FuncGraph)
        inputs = Inputs(graph, bound.known_texts)
        args = [inputs.of(name, value) for name, value in bound.named]
        kwargs = {name: inputs.of(name, value) for name, value in bound.kwargs}
        given = [*args, *kwargs.values()]
        copies = list(map(copied, given))
        results = Results(function(*args, **kwargs), function)
        check_unchanged(copies, given, [*(name for name, _ in bound.named), *kwargs], function)
        found = captured(graph, graph.inputs, None, results.outputs, name)
        graph.values_given.clear()
        graph.outputs, graph.results = results.outputs, results
    make = AssumingTrace if graph.assumes else Trace
    return make(found, results, graph, tuple(graph.inputs), tuple(arguments.variables))

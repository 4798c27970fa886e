"""Concrete functions as functions of a graph.

The body of each is one program, of the kernel XlaCallModule, between the nodes that read variables
and those that assign to them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ...core.avals import Aval
from ...core.call import Call
from ...core.dtypes import DType, int32, int64, string, uint64
from ...core.errors import user_location
from ...core.shapes import TensorShape
from ...data.io.tensors import make_tensor_proto
from ...function.concrete import ConcreteFunction
from ...function.trace import Trace
from ...ops.random_keys import KEY
from ...values import nest
from ...values.capture import Drawn
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from ...values.variable import Handle, current
from .messages import AttrValue, FunctionDef, NodeDef, SavedConcreteFunction
from .program import Derivative, Program, aval_text, derivative_of, one_batch, program_of
from .structured import encoded, shape_proto

LOGGER = logging.getLogger("tape_compat")

#: TensorFlow's number for handles of resources.
RESOURCE = 20
_LARGEST = (1 << 63) - 1


class Definition(NamedTuple):
    """A concrete function as a message; the variables that it takes beside its arguments; what a
    SavedModel says of its arguments and results; and the specs of its tensors."""

    function: FunctionDef
    handles: tuple[Handle, ...]
    saved: SavedConcreteFunction
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]


def defined(concrete: ConcreteFunction, name: str, differentiable: bool) -> Definition:
    """A concrete function as a function of a graph, with this name.

    differentiable: whether its derivative is written too.
    Raises: NotImplementedError for what cannot be written.
    """
    trace = concrete._trace
    trace.require_one_program("A SavedModel")
    if trace.variables:
        raise NotImplementedError(
            f"{trace.graph.name} takes Variables as arguments, and cannot be written to a "
            f"SavedModel. At {user_location()}."
        )
    closure, avals = trace.captured.closure, _avals(trace)
    try:
        program = program_of(closure, avals, name)
    except NotImplementedError:
        sizes = one_batch(avals)  # with which it may be possible
        if not sizes:
            raise
        closure, avals = cast(Call, closure.at(sizes)), [aval.at(sizes) for aval in avals]
        program = program_of(closure, avals, name)
    derivative = None
    if differentiable:
        try:
            derivative = derivative_of(closure, program, f"{name}_grad")
        except NotImplementedError as error:
            LOGGER.warning("%s is saved without its derivative: %s", trace.graph.name, error)
    return _Writing(concrete, name, program, derivative).definition()


def _avals(trace: Trace) -> list[Aval]:
    """The avals of all that a record takes: its arguments, then what its sources give."""
    found = [x._aval for x in trace.inputs]
    for source in trace.captured.sources:
        if isinstance(source, Drawn):
            found.append(KEY)
        elif isinstance(source, Handle):
            unknown = trace.graph.variable_avals.get(source)
            found.append(unknown or current(source)._aval)
        else:
            found.append(source._aval)
    return found


class _Writing:
    """A function that is being written, node by node."""

    def __init__(
        self,
        concrete: ConcreteFunction,
        name: str,
        program: Program,
        derivative: Derivative | None,
    ):
        self._concrete, self._trace = concrete, concrete._trace
        self._program, self._derivative = program, derivative
        self._function = FunctionDef()
        self._function.signature.name = name
        captured = self._trace.captured
        sources = [s for s in captured.sources if isinstance(s, Handle)]
        self._handles = tuple(dict.fromkeys([*sources, *captured.cells]))
        self._arguments = {handle: f"variable_{i}" for i, handle in enumerate(self._handles)}

    def definition(self) -> Definition:
        inputs = self._add_arguments()
        read = [*inputs, *[self._source(s) for s in self._trace.captured.sources]]
        node = self.node("program", "XlaCallModule", read, program_attributes(self._program))
        self._add_derivative(node)
        results = len(self._program.outputs) - len(self._trace.captured.cells)
        after = self._assign(results)
        specs = self._add_results(after)
        signature = self._function.signature
        signature.is_stateful = bool(self._handles) or self._draws()
        signature.control_output.extend(after)
        for name in after:
            self._function.control_ret.add(key=name, value=name)
        saved = SavedConcreteFunction()
        try:
            given = encoded(self._concrete.structured_input_signature)
            gives = encoded(_specs(self._concrete.structured_outputs))
        except TypeError as error:
            raise NotImplementedError(
                f"{signature.name} takes or gives what is no tensor: {error} (at {user_location()})"
            ) from None
        saved.canonicalized_input_signature.CopyFrom(given)
        saved.output_signature.CopyFrom(gives)
        return Definition(
            self._function, self._handles, saved, tuple(self._concrete._input_specs), specs
        )

    def _draws(self) -> bool:
        return any(isinstance(source, Drawn) for source in self._trace.captured.sources)

    def _add_arguments(self) -> list[str]:
        """The arguments, tensors and then handles of variables. Gives the names of the tensors."""
        taken: set[str] = set(self._arguments.values()) | {"program"}
        names = []
        for spec in self._concrete._input_specs:
            name = unique(argument_name(spec.name or "x"), taken)
            names.append(name)
            self._function.signature.input_arg.add(name=name, type=spec.dtype.as_datatype_enum)
        for name in self._arguments.values():
            self._function.signature.input_arg.add(name=name, type=RESOURCE)
        return names

    def node(
        self, name: str, op: str, inputs: Iterable[str] = (), attr: dict[str, Any] | None = None
    ) -> NodeDef:
        """Add a node."""
        node = make_node(name, op, inputs, attr)
        self._function.node_def.append(node)
        return node

    def _source(self, source: Any) -> str:
        """The node that gives what the record takes beside its arguments."""
        number = len(self._function.node_def)
        if isinstance(source, Handle):
            attr = {"dtype": source.dtype}
            self.node(f"read_{number}", "ReadVariableOp", [self._arguments[source]], attr)
            return f"read_{number}:value:0"
        if isinstance(source, Drawn):
            return self._key(number)
        return self._constant(f"const_{number}", np.asarray(source._value()), source.dtype)

    def _constant(self, name: str, array: np.ndarray, dtype: DType) -> str:
        self.node(name, "Const", (), {"value": _tensor(array, dtype), "dtype": dtype})
        return f"{name}:output:0"

    def _key(self, number: int) -> str:
        """The key of a draw: random words, another one at each call."""
        shape = self._constant(f"key_{number}_shape", np.array([4], np.int32), int32)
        low = self._constant(f"key_{number}_low", np.array(0, np.int64), int64)
        high = self._constant(f"key_{number}_high", np.array(_LARGEST, np.int64), int64)
        attr = {"Tout": int64, "T": int32}
        self.node(f"key_{number}_words", "RandomUniformInt", [shape, low, high], attr)
        words = f"key_{number}_words:output:0"
        self.node(f"key_{number}_bits", "Bitcast", [words], {"T": int64, "type": uint64})
        mask = self._constant(f"key_{number}_mask", _KEY_MASK, uint64)
        inputs = [f"key_{number}_bits:output:0", mask]
        self.node(f"key_{number}", "BitwiseAnd", inputs, {"T": uint64})
        return f"key_{number}:z:0"

    def _add_derivative(self, node: NodeDef) -> None:
        if self._derivative is not None:
            program, inputs, outputs = self._derivative
            given = {"module": program.module, "inputs": list(inputs), "outputs": list(outputs)}
            for name, value in given.items():
                put_attribute(node, f"_derivative_{name}", value)

    def _assign(self, first: int) -> list[str]:
        """Assign to the variables what the program gives after its results. Gives the nodes."""
        names = []
        for i, handle in enumerate(self._trace.captured.cells):
            inputs = [self._arguments[handle], f"program:output:{first + i}"]
            self.node(f"assign_{i}", "AssignVariableOp", inputs, {"dtype": handle.dtype})
            names.append(f"assign_{i}")
        return names

    def _add_results(self, after: Sequence[str]) -> tuple[TensorSpec, ...]:
        places = {id(x): i for i, x in enumerate(self._trace.results.outputs)}
        specs = []
        for x in nest.flatten(self._concrete.structured_outputs):
            if not isinstance(x, Tensor):
                continue
            name = f"output_{len(specs)}"
            if x.dtype is string:
                given = self._constant(f"{name}_text", np.asarray(x._value()), string)
            else:
                given = f"program:output:{places[id(x)]}"
            inputs = [given, *[f"^{node}" for node in after]]
            self.node(f"{name}_value", "Identity", inputs, {"T": x.dtype})
            self._function.signature.output_arg.add(name=name, type=x.dtype.as_datatype_enum)
            self._function.ret.add(key=name, value=f"{name}_value:output:0")
            specs.append(TensorSpec(x.shape, x.dtype, name))
        return tuple(specs)


#: Of the four words of a key the last counts the draws before it: it is 0.
_KEY_MASK = np.array([_LARGEST, _LARGEST, _LARGEST, 0], np.uint64)


def _specs(outputs: Any) -> Any:
    """What a function gives, with a TensorSpec for each tensor."""
    return nest.map_structure(
        lambda x: TensorSpec(x.shape, x.dtype) if isinstance(x, Tensor) else x, outputs
    )


def program_attributes(program: Program) -> dict[str, Any]:
    """The attributes of the node that runs a program: TensorFlow's, and those that we read."""
    return {
        "Tin": [aval.dtype for aval in program.inputs],
        "Tout": [aval.dtype for aval in program.outputs],
        "Sout": [aval.tensor_shape for aval in program.outputs],
        "module": program.module,
        "version": program.version,
        "platforms": [name.upper() for name in program.platforms],
        "_inputs": list(map(aval_text, program.inputs)),
        "_outputs": list(map(aval_text, program.outputs)),
    }


# -- nodes ----------------------------------------------------------------------------------------


def make_node(
    name: str, op: str, inputs: Iterable[str] = (), attr: dict[str, Any] | None = None
) -> NodeDef:
    """A node of a graph."""
    node = NodeDef(name=name, op=op)
    node.input.extend(inputs)
    for key, value in (attr or {}).items():
        put_attribute(node, key, value)
    return node


def put_attribute(node: NodeDef, name: str, value: Any) -> None:
    """Give a node an attribute."""
    held: AttrValue = node.attr[name]
    if isinstance(value, bool):
        held.b = value
    elif isinstance(value, int):
        held.i = value
    elif isinstance(value, (bytes, str)):
        held.s = value.encode() if isinstance(value, str) else value
    elif isinstance(value, DType):
        held.type = value.as_datatype_enum
    elif isinstance(value, TensorShape):
        held.shape.CopyFrom(shape_proto(value))
        held.shape.SetInParent()
    elif isinstance(value, list):
        held.list.SetInParent()
        for item in value:
            _put_item(held.list, item)
    elif type(value).__name__ == "NameAttrList":
        held.func.CopyFrom(value)
    else:
        held.tensor.CopyFrom(value)


def _put_item(held: Any, item: Any) -> None:
    if isinstance(item, DType):
        held.type.append(item.as_datatype_enum)
    elif isinstance(item, TensorShape):
        held.shape.append(shape_proto(item))
    elif isinstance(item, int):
        held.i.append(item)
    else:
        held.s.append(item.encode() if isinstance(item, str) else item)


def _tensor(array: np.ndarray, dtype: DType) -> Any:
    return make_tensor_proto(array, dtype)


def argument_name(name: str) -> str:
    """A name that a function of a graph may give an argument.

    >>> argument_name("Inputs/0"), argument_name("_x")
    ('inputs_0', 'x')
    """
    found = re.sub(r"[^a-z0-9_]", "_", name.lower()).strip("_")
    return found if found[:1].isalpha() else f"x_{found}".rstrip("_")


def unique(name: str, taken: set[str]) -> str:
    """A name that is not taken yet; it is then."""
    found, count = name, 0
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    taken.add(found)
    return found

"""The nodes of a function that is being written."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.avals import Aval
from ...core.call import Call
from ...core.dimensions import INCONCLUSIVE
from ...core.dtypes import DType, int32, int64, string, uint64
from ...core.errors import NeedsValue, user_location
from ...core.shapes import TensorShape
from ...data.io.tensors import make_tensor_proto
from ...values.tensor import Tensor
from .assets import Asset, asset_of
from .make_nodes import (
    RESOURCE,
    argument_name,
    make_node,
    program_attributes,
    put_attribute,
    unique,
)
from .messages import FunctionDef, NodeDef
from .program import Derivative, lapack_of
from .written import Written, written

LOGGER = logging.getLogger("tape_compat")
_LARGEST = (1 << 63) - 1
#: Of the four words of a key the last counts the draws before it: it is 0.
_KEY_MASK = np.array([_LARGEST, _LARGEST, _LARGEST, 0], np.uint64)


def type_of_resource(value: Any) -> int:
    """What TensorFlow calls the kind of a handle: that of an asset is a text, its path."""
    return string.as_datatype_enum if isinstance(value, Asset) else RESOURCE


def behind(nodes: Iterable[str]) -> list[str]:
    """The inputs of a node that comes after these nodes."""
    return [f"^{name}" for name in nodes]


class Body:
    """The nodes of a function of a graph. Values are known by references: `x` is an argument,
    `node:output:1` the second value of an output of a node.

    resources: the objects that it takes handles of, with their arguments. title: of the function
    whose part it is. functions: those that its nodes name.
    """

    def __init__(self, name: str, title: str, differentiable: bool):
        self.function = FunctionDef()
        self.function.signature.name = name
        self.resources: dict[Any, str] = {}
        self.functions: list[FunctionDef] = []
        self.title, self._differentiable = title, differentiable
        self._taken: set[str] = set()
        self._is_inner = False
        #: What it does beside what it gives, one after the other: names of nodes.
        self.effects: list[str] = []

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self.function.signature.name

    def inner(self, what: str) -> Body:
        """The body of a function that its nodes name."""
        made = Body(f"{self.name}_{what}_{len(self.functions)}", self.title, self._differentiable)
        made.functions, made._is_inner = self.functions, True
        self.functions.append(made.function)
        return made

    def argument(self, name: str, dtype: DType, shape: TensorShape | None = None) -> str:
        """Add an argument, of a shape if that is told. Gives its name."""
        found = unique(argument_name(name), self._taken)
        arguments = self.function.signature.input_arg
        if shape is not None:
            entry = self.function.arg_attr.add(key=len(arguments))
            put_attribute(entry.value, "_output_shapes", [shape])
        arguments.add(name=found, type=dtype.as_datatype_enum)
        return found

    def resource(self, value: Any) -> str:
        """The argument for the handle of a variable or a table."""
        found = self.resources.get(value)
        if found is None:
            found = self.resources[value] = unique("resource", self._taken)
        return found

    def finish_arguments(self) -> None:
        """Add the arguments for handles, behind the others."""
        for value, name in self.resources.items():
            self.function.signature.input_arg.add(name=name, type=type_of_resource(value))

    def node(
        self, name: str, op: str, inputs: Iterable[str] = (), attr: dict[str, Any] | None = None
    ) -> NodeDef:
        """Add a node, with a name like this one."""
        node = make_node(unique(name, self._taken), op, inputs, attr)
        self.function.node_def.append(node)
        return node

    def value(
        self, op: str, output: str, inputs: Iterable[str], attr: dict[str, Any] | None = None
    ) -> str:
        """Add a node. Gives its value, which the kernel calls `output`."""
        return f"{self.node(op.lower(), op, inputs, attr).name}:{output}:0"

    def constant(self, value: Any, dtype: DType) -> str:
        """Add a constant."""
        array = np.asarray(value, object if dtype is string else dtype.np_dtype)
        attr = {"value": make_tensor_proto(array, dtype), "dtype": dtype}
        return self.value("Const", "output", (), attr)

    def cast(self, value: str, dtype: DType, wanted: DType) -> str:
        """A value of a dtype as one of another; itself if it is of that."""
        if dtype is wanted:
            return value
        return self.value("Cast", "y", [value], {"SrcT": dtype, "DstT": wanted, "Truncate": False})

    def known(self, x: Tensor) -> str:
        """A tensor that has a value: a constant, but for the path of an asset, which is another one
        where the SavedModel is loaded.

        Raises: NotImplementedError for such a path in a conditional or a loop.
        """
        asset = asset_of(x)
        if asset is None:
            return self.constant(x._value(), x.dtype)
        if self._is_inner:
            raise NotImplementedError(
                f"{self.title} takes the path of an asset in a conditional or a loop, and cannot "
                f"be written to a SavedModel. At {user_location()}."
            )
        return self.resource(asset)

    def effect(self, op: str, inputs: Sequence[str], attr: dict[str, Any]) -> None:
        """Add a node that comes after what else the function does, for what it does."""
        inputs = [*inputs, *behind(self.effects[-1:])]
        self.effects.append(self.node(op.lower(), op, inputs, attr).name)

    def finish_effects(self, nodes: Sequence[str]) -> None:
        """Say that nodes are to be done whether or not their values are wanted."""
        signature = self.function.signature
        signature.is_stateful = signature.is_stateful or bool(nodes)
        signature.control_output.extend(nodes)
        for name in nodes:
            self.function.control_ret.add(key=name, value=name)

    def result(self, name: str, reference: str, dtype: DType, after: Sequence[str]) -> None:
        """Add a result, which comes after these nodes."""
        inputs = [reference, *behind(after)]
        node = self.node(f"{name}_value", "Identity", inputs, {"T": dtype})
        self.function.signature.output_arg.add(name=name, type=dtype.as_datatype_enum)
        self.function.ret.add(key=name, value=f"{node.name}:output:0")

    def resource_result(self, argument: str) -> None:
        """Add a result that is the handle which an argument has."""
        name = unique(f"{argument}_kept", self._taken)
        self.function.signature.output_arg.add(name=name, type=RESOURCE)
        self.function.ret.add(key=name, value=argument)

    def holds(self, reference: str, rank: int) -> str:
        """Whether a tensor of bools of this rank is true everywhere."""
        if not rank:
            return reference
        axes = self.constant(np.arange(rank), int32)
        return self.value("All", "output", [reference, axes], {"Tidx": int32, "keep_dims": False})

    def key(self) -> str:
        """The key of a draw: random words, another one at each call."""
        shape = self.constant([4], int32)
        low, high = self.constant(0, int64), self.constant(_LARGEST, int64)
        attr = {"Tout": int64, "T": int32}
        words = self.value("RandomUniformInt", "output", [shape, low, high], attr)
        bits = self.value("Bitcast", "output", [words], {"T": int64, "type": uint64})
        mask = self.constant(_KEY_MASK, uint64)
        return self.value("BitwiseAnd", "z", [bits, mask], {"T": uint64})

    def program(
        self,
        closure: Call,
        avals: Sequence[Aval],
        references: Sequence[str],
        one: bool = False,
        whole: bool = False,
    ) -> list[str]:
        """Add a program with its derivative: what a closure does with values of these avals. Gives
        what it gives. one: whether batches may be taken to be of one size if need be. whole:
        whether its derivative must be written too, and TensorFlow must have all that it calls.

        Raises: NotImplementedError if it cannot be written.
        """
        try:
            found = written(closure, avals, self.name, one)
        except (NeedsValue, INCONCLUSIVE) as error:
            raise NotImplementedError(str(error)) from error
        program, derivative = found.program, self._derivative(found, whole)
        called = lapack_of(program)
        if called and whole:
            raise NotImplementedError(f"{self.title} calls LAPACK's {', '.join(called)}")
        if called:
            LOGGER.warning(
                "%s calls LAPACK's %s: what is saved runs here, and not in TensorFlow. At %s.",
                *(self.title, ", ".join(called), user_location()),
            )
        node = self.node("program", "XlaCallModule", references, program_attributes(program))
        if derivative is not None:
            if derivative.program is not None:
                put_attribute(node, "_derivative_module", derivative.program.module)
            put_attribute(node, "_derivative_inputs", list(derivative.inputs))
            put_attribute(node, "_derivative_outputs", list(derivative.outputs))
        return [f"{node.name}:output:{i}" for i in range(len(program.outputs))]

    def _derivative(self, found: Written, whole: bool) -> Derivative | None:
        if not self._differentiable:
            return None
        try:
            return found.derivative(f"{self.name}_grad")
        except NotImplementedError as error:
            if whole:
                raise
            LOGGER.warning("%s is saved without its derivative: %s", self.title, error)
            return None

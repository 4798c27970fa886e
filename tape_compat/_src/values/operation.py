"""The instructions of a function as operations of a graph, as TensorFlow's programs see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..core.avals import Aval
from ..core.program import Node
from ..core.state import LOCAL
from .tensor import Tensor

#: What TensorFlow's Python calls an op whose kernel has another name.
_NAMES = {
    "AddV2": "add",
    "ConcatV2": "concat",
    "FloorDiv": "floordiv",
    "FloorMod": "mod",
    "Mul": "mul",
    "Pack": "stack",
    "Pow": "pow",
    "RealDiv": "truediv",
    "Split": "split",
    "SplitV": "split",
    "StridedSlice": "strided_slice",
    "Placeholder": "ReadVariableOp",
    "Sub": "sub",
    "Transpose": "transpose",
}


class Operation:
    """An instruction of a `tf.function`, with TensorFlow's name for it.

    graph: the record of the function. name: numbered where there are more. type: of the kernel.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def f(x):
    ...     y = tf.exp(x)
    ...     print(y.op.name, y.op.type, y.op.inputs[0].name)
    >>> _ = f(tf.constant(1.0))
    Exp Exp x:0
    """

    __slots__ = ("_avals", "_first", "_inputs", "graph", "name", "type")

    def __init__(
        self,
        graph: Any,
        name: str,
        type: str,
        inputs: tuple[int, ...] = (),
        first: int = 0,
        avals: tuple[Aval, ...] = (),
    ):
        self.graph, self.name, self.type = graph, name, type
        self._inputs, self._first, self._avals = inputs, first, avals

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that it reads."""
        return tuple([self.graph.tensor_at(slot) for slot in self._inputs])

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that it gives."""
        return [self.graph.tensor_at(self._first + i) for i in range(len(self._avals))]

    def values(self) -> tuple[Tensor, ...]:
        """The same as `outputs`, as a tuple."""
        return tuple(self.outputs)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def done(kind: str, name: str | None = None) -> Operation | None:
    """What an op without results gives: None in eager code, while a function is recorded an
    operation, for `tf.group` and `tf.control_dependencies`.

    kind: TensorFlow's name for the kernel. name: by default the same.
    """
    capture = LOCAL.state.capture
    if capture is None or not capture.in_function:
        return None
    return Operation(capture, name or kind, kind)


def named(program: Any) -> Iterator[tuple[Node, str]]:
    """The instructions of a record with the names that TensorFlow gives them."""
    arguments = program.argument_names
    counts: Counter[str] = Counter(arguments.values())
    for node in program.node.path():
        if node.first in arguments:
            yield node, arguments[node.first]
            continue
        kernel = str(node.closure.name)
        base = _NAMES.get(kernel, kernel)
        yield node, f"{base}_{counts[base]}" if counts[base] else base
        counts[base] += 1


def operations(program: Any) -> list[Operation]:
    """The instructions of a record, in order."""
    found = []
    for node, name in named(program):
        kernel = str(node.closure.name)
        if kernel == "Placeholder" and node.first not in program.argument_names:
            kernel = "ReadVariableOp"
        found.append(Operation(program, name, kernel, node.inputs, node.first, node.outputs))
    return found


def operation_at(program: Any, slot: int) -> tuple[Operation, int]:
    """The instruction that gives the value in a slot, and which of its outputs that is."""
    for found in operations(program):
        index = slot - found._first
        if 0 <= index < len(found._avals):
            return found, index
    return Operation(program, "Const", "Const"), 0

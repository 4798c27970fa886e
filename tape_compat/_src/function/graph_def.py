"""The record of a function as a list of nodes, as TensorFlow's GraphDef has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values.operation import Operation, named, operations
from ..values.tensor import Tensor


class NodeDef:
    """A node: its name, the kernel `op`, the names of what it reads in `input` (a `^` before what
    only comes before it), and `attr`, a dict of Python's values."""

    __slots__ = ("attr", "device", "input", "name", "op")

    def __init__(self, name: str, op: str, input: list[str], attr: dict[str, Any] | None = None):
        self.name, self.op, self.input = name, op, input
        self.attr: dict[str, Any] = attr or {}
        self.device = ""

    def __repr__(self) -> str:
        return f"name: {self.name!r} op: {self.op!r} input: {self.input}"


class GraphDef:
    """The nodes of a function, in order."""

    __slots__ = ("node",)

    def __init__(self, node: list[NodeDef]):
        self.node = node

    def __repr__(self) -> str:
        return "\n".join(f"node {{ {node!r} }}" for node in self.node)


#: Tensors from outside of a function that are this small are constants of its graph.
_SMALL = 128


class _Listing:
    """The nodes of a record: beside its instructions the constants that they read, before them, and
    the identities of its outputs at its end."""

    def __init__(self, graph: Any, constant: Any):
        self.graph = graph
        self.nodes: list[tuple[NodeDef, Operation]] = []
        self._constant = constant
        #: The slots, with the names of what they hold.
        self._names = {
            slot: name if slot == node.first else f"{name}:{slot - node.first}"
            for node, name in named(graph)
            for slot in range(node.first, node.end)
        }
        self._taken = {name for _, name in named(graph)}
        self._leaves = dict(graph.leaves.values())
        for operation in operations(graph):
            self._instruction(operation)

    def _instruction(self, operation: Operation) -> None:
        for place, slot in enumerate(operation._inputs):
            if slot in self._leaves and slot not in self._names:
                self._leaf(slot, operation, place)
        attr: dict[str, Any] = {}
        if operation.type == "Placeholder":
            attr = {"dtype": operation.outputs[0].dtype, "shape": operation.outputs[0].shape}
        self._add(operation, [self._names[slot] for slot in operation._inputs], attr)

    def _leaf(self, slot: int, operation: Operation, place: int) -> None:
        x: Tensor = self._leaves[slot]
        made_here = self._constant(x) or (not x._is_symbolic() and x._aval.size <= _SMALL)
        two = len(operation._inputs) == 2 and made_here
        name = self._unique(f"{operation.name}/{'xy'[place]}" if two else "Const")
        kind = "Const" if made_here else "Placeholder"
        attr = {"dtype": x.dtype, "shape": x.shape}
        if made_here and x._array is not None:
            attr["value"] = np.asarray(x._value())
        self._names[slot] = name
        self._add(Operation(self.graph, name, kind, (), slot, (x._aval,)), [], attr)

    def _unique(self, name: str) -> str:
        found, count = name, 0
        while found in self._taken:
            count += 1
            found = f"{name}_{count}"
        self._taken.add(found)
        return found

    def _add(self, operation: Operation, inputs: list[str], attr: dict[str, Any]) -> None:
        self.nodes.append((NodeDef(operation.name, operation.type, inputs, attr), operation))

    def finish(self, outputs: list[Tensor]) -> None:
        """Add the identities of the outputs, which come after what the function does."""
        done = [n.name for n, _ in self.nodes if n.op.endswith("VariableOp") or n.op in _EFFECTS]
        last = [f"^{self._unique('NoOp')}"] if done else []
        for x in outputs:
            slot = self.graph.slot_of(x)
            if slot is None or slot not in self._names:
                continue
            operation = Operation(self.graph, self._unique("Identity"), "Identity", (slot,), slot)
            operation._avals = (x._aval,)
            self._add(operation, [self._names[slot], *last], {"T": x.dtype})
        if done:
            nothing = Operation(self.graph, last[0][1:], "NoOp")
            self._add(nothing, [f"^{name}" for name in done], {})


_EFFECTS = frozenset(("PrintV2", "Assert", "EagerPyFunc", "PyFunc"))


def listed(graph: Any, outputs: list[Tensor], constant: Any) -> list[tuple[NodeDef, Operation]]:
    """The nodes of a record, and the operations that they are. constant: whether a tensor that has
    a value was made in it."""
    listing = _Listing(graph, constant)
    listing.finish(outputs)
    return listing.nodes

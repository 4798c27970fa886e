"""The graph of objects in a checkpoint: which parts each object has, and where its values are.

Source: TensorFlow, trackable_object_graph.proto.
"""

from __future__ import annotations

import functools
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ..data.io import wire

#: The name of the graph among the values of a checkpoint.
GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


@dataclass
class Value:
    """A value of an object: its name there, and its key in the checkpoint."""

    name: str
    full_name: str
    key: str


@dataclass
class Slot:
    """A variable that an optimizer keeps for another variable."""

    original: int
    name: str
    slot: int


@dataclass
class Node:
    """An object: its parts by their names, as numbers of nodes, and its values."""

    children: dict[str, int] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    #: The name of the registered saver that wrote it.
    saver: str = ""
    has_values: bool | None = None

    def may_have_values(self) -> bool:
        """Whether it, or a part of it, has values."""
        if self.has_values is not None:
            return self.has_values
        return bool(self.children or self.values or self.slots or self.saver)

    def __repr__(self) -> str:
        lines = [
            f"children {{\n  node_id: {i}\n  local_name: {n!r}\n}}"
            for n, i in self.children.items()
        ]
        for value in self.values:
            lines.append(
                f'attributes {{\n  name: "{value.name}"\n  full_name: "{value.full_name}"\n'
                f'  checkpoint_key: "{value.key}"\n}}'
            )
        if self.has_values:
            lines.append("has_checkpoint_values {\n  value: true\n}")
        return "".join(f"{line}\n" for line in lines)


class Graph:
    """The objects of a checkpoint. Node 0 is the one that was saved."""

    def __init__(self, nodes: list[Node]):
        self.nodes = nodes

    @functools.cached_property
    def names(self) -> list[str]:
        """What each object is called in messages: `(root).model.layers.0`."""
        found: dict[int, str] = {0: "(root)"}
        ahead = deque([0])
        while ahead:
            number = ahead.popleft()
            for name, child in self.nodes[number].children.items():
                if child not in found:
                    found[child] = f"{found[number]}.{name}"
                    ahead.append(child)
        for number, node in enumerate(self.nodes):
            for slot in node.slots:
                found[slot.slot] = (
                    f"{found.get(number)}'s state '{slot.name}' for {found.get(slot.original)}"
                )
        return [found.get(number, f"node {number}") for number in range(len(self.nodes))]

    def mark_values(self) -> None:
        """Say of each object whether it, or a part of it, has values."""
        above: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            node.has_values = bool(node.values or node.slots or node.saver)
            for child in node.children.values():
                above[child].append(number)
        ahead = [number for number, node in enumerate(self.nodes) if node.has_values]
        while ahead:
            for number in above[ahead.pop()]:
                if not self.nodes[number].has_values:
                    self.nodes[number].has_values = True
                    ahead.append(number)

    def serialized(self) -> bytes:
        """The graph as a message of protocol buffers."""
        return b"".join([wire.field(1, _node_bytes(node)) for node in self.nodes])


def _text(number: int, text: str) -> bytes:
    return wire.field(number, text.encode()) if text else b""


def _number(number: int, value: int) -> bytes:
    return wire.number_field(number, value) if value else b""


def _node_bytes(node: Node) -> bytes:
    parts = [
        wire.field(1, _number(1, child) + _text(2, name)) for name, child in node.children.items()
    ]
    for value in node.values:
        text = _text(1, value.name) + _text(2, value.full_name) + _text(3, value.key)
        parts.append(wire.field(2, text))
    for slot in node.slots:
        text = _number(1, slot.original) + _text(2, slot.name) + _number(3, slot.slot)
        parts.append(wire.field(3, text))
    if node.has_values is not None:
        parts.append(wire.field(5, _number(1, int(node.has_values))))
    return b"".join(parts)


def parsed(data: bytes) -> Graph:
    """The graph that a message holds. Raises ValueError for what is no such message.

    >>> graph = Graph([Node({"v": 1}), Node(values=[Value("VARIABLE_VALUE", "v", "v/x")])])
    >>> graph.mark_values()
    >>> parsed(graph.serialized()).nodes == graph.nodes
    True
    """
    return Graph([_node(value) for number, _, value in wire.fields(data) if number == 1])


def _node(data: Any) -> Node:
    node = Node()
    for number, _, value in wire.fields(data):
        if not 1 <= number <= 5:
            continue
        found: dict[int, Any] = {
            n: part if isinstance(part, int) else bytes(part).decode()
            for n, _, part in wire.fields(value)  # type: ignore[arg-type]
        }
        if number == 1:
            node.children[found.get(2, "")] = found.get(1, 0)
        elif number == 2:
            node.values.append(Value(found.get(1, ""), found.get(2, ""), found.get(3, "")))
        elif number == 3:
            node.slots.append(Slot(found.get(1, 0), found.get(2, ""), found.get(3, 0)))
        elif number == 4:
            node.saver = found.get(1, "")
        else:
            node.has_values = bool(found.get(1, 0))
    return node

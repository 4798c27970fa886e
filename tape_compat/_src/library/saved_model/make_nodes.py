"""Nodes of graphs, and the names in them, to be written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...core.dtypes import DType
from ...core.shapes import TensorShape
from .messages import AttrValue, NameAttrList, NodeDef
from .program import Program, aval_text
from .structured import shape_proto

#: TensorFlow's number for handles of resources.
RESOURCE = 20
#: Stands for it in lists of dtypes.
RESOURCE_TYPE: Any = object()
#: The kernel that calls a function which may have state.
CALL = "StatefulPartitionedCall"


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
    elif isinstance(value, NameAttrList):
        held.func.CopyFrom(value)
    else:
        held.tensor.CopyFrom(value)


def function_named(name: str) -> NameAttrList:
    """A function of the graph, as an attribute."""
    return NameAttrList(name=name)


def _put_item(held: Any, item: Any) -> None:
    if isinstance(item, DType):
        held.type.append(item.as_datatype_enum)
    elif item is RESOURCE_TYPE:
        held.type.append(RESOURCE)
    elif isinstance(item, NameAttrList):
        held.func.append(item)
    elif isinstance(item, TensorShape):
        held.shape.append(shape_proto(item))
    elif isinstance(item, int):
        held.i.append(item)
    else:
        held.s.append(item.encode() if isinstance(item, str) else item)


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
        "_bounds": list(program.bounds),
    }

"""A graph as a Python function: its nodes, done one after the other by our ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ...checkpoint.variables import variable_of
from ...core.dtypes import as_dtype
from ...data.io.tensors import make_ndarray
from ...values.convert import convert
from ..raw.attributes import attribute_or_default
from ..raw.definitions import MISSING, Argument, definition
from ..raw.updates import UPDATES
from .messages import AttrValue, FunctionDef, NodeDef
from .registry import KERNELS, attributes_of
from .saved_gradients import GradientFunction, gradient_type, refusing, unsaved, with_gradient
from .structured import shape_of

#: Kernels that need more than the values of their inputs: they take a `Node` instead.
NODES: dict[str, Callable[[Node], Any]] = {}


def node_kernel(*names: str) -> Callable[[Callable[[Node], Any]], Callable[[Node], Any]]:
    """A decorator: the function does the nodes of these kernels."""

    def noted(function: Callable[[Node], Any]) -> Callable[[Node], Any]:
        NODES.update(dict.fromkeys(names, function))
        return function

    return noted


def attribute(value: AttrValue) -> Any:
    """What an attribute is, as Python has it; a function is its name."""
    kind = value.WhichOneof("value")
    if kind == "list":
        fields = value.list.ListFields()
        return [_value(name, item) for name, items in fields for item in items]
    return _value(kind or "i", getattr(value, kind or "i"))


def _value(kind: str, held: Any) -> Any:
    if kind == "type":
        return as_dtype(held)
    if kind == "shape":
        return shape_of(held)
    if kind == "tensor":
        return convert(make_ndarray(held), as_dtype(held.dtype))
    if kind == "func":
        return held.name
    if kind == "b":
        return bool(held)
    return _text(held) if kind == "s" else held


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


#: The attribute of a kernel that writes to a list of tensors, behind its end too.
_GROWS = "resize_if_index_out_of_bounds"
#: Kernels that change a table.
_CHANGES = frozenset(("LookupTableInsertV2", "LookupTableRemoveV2"))


class Library:
    """The functions of a graph by their names. state: of the graph itself, the variables and tables
    that its nodes share. lists_grow: whether lists of tensors are written to behind their ends.
    tables_change: whether nodes put keys into tables, or take them out."""

    def __init__(self, functions: Iterable[FunctionDef], state: Any = None):
        functions = list(functions)
        self._functions = {f.signature.name: GraphFunction(f, self) for f in functions}
        nodes = [node for f in functions for node in f.node_def]
        self.lists_grow = any(_GROWS in node.attr and node.attr[_GROWS].b for node in nodes)
        self.tables_change = any(node.op in _CHANGES for node in nodes)
        self.state = state
        #: By types of gradients what gives them for a run: the function, and what it captured.
        self.gradients: Mapping[str, Callable[[Run], tuple[GradientFunction, list[Any]]]] = {}
        #: What was worked out of nodes, by their identities.
        self.kept: dict[int, dict[str, Any]] = {}

    def __getitem__(self, name: str) -> GraphFunction:
        return self._functions[name]

    def __contains__(self, name: str) -> bool:
        return name in self._functions


class Node:
    """A node that is being done: its kernel, its inputs and its attributes."""

    def __init__(self, node: NodeDef, inputs: Sequence[Any], library: Library, function: str):
        self.name, self.op, self.function_name = node.name, node.op, function
        self.inputs, self.library = list(inputs), library
        self._attributes = node.attr
        #: What was worked out of the node's attributes in a run before.
        self.kept: dict[str, Any] = library.kept.setdefault(id(node), {})

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute, or `default` if the graph leaves it out."""
        return attribute(self._attributes[name]) if name in self._attributes else default

    def data(self, name: str) -> bytes:
        """The bytes of an attribute."""
        found: bytes = self._attributes[name].s
        return found

    def function(self, name: str) -> GraphFunction:
        """The function that an attribute names."""
        return self.library[self.attribute(name)]


def _row(op: str) -> Callable[..., Any]:
    """The function that does a kernel of attributes."""
    return KERNELS.get(op) or UPDATES[op]


@cache
def _defaults(op: str) -> dict[str, Any]:
    """The attributes that a kernel takes and TensorFlow has a default for."""
    defined = definition(op)
    known = {} if defined is None else defined.attributes
    return {
        name: attribute_or_default(defined, name, MISSING, name)  # type: ignore[arg-type]
        for name in attributes_of(_row(op))
        if name in known and known[name].default is not MISSING
    }


def attributes(node: NodeDef, op: str = "") -> dict[str, Any]:
    """What a kernel wants of a node's attributes, with TensorFlow's defaults.

    op: another kernel that does the node.
    """
    op = op or node.op
    wanted = attributes_of(_row(op))
    given = {name: attribute(node.attr[name]) for name in wanted if name in node.attr}
    return {**_defaults(op), **given}


def _done(node: NodeDef, inputs: Sequence[Any], library: Library, function: str) -> list[Any]:
    """The outputs of a node. function: the name of the one that it is in."""
    special = NODES.get(node.op)
    if special is not None:
        found = special(Node(node, inputs, library, function))
    elif node.op in KERNELS:
        found = KERNELS[node.op](*inputs, **attributes(node))
    elif node.op in UPDATES:
        found = UPDATES[node.op](*map(_handle_or_tensor, inputs), **attributes(node))
    elif node.op in library:  # older graphs call functions as if they were kernels
        found = library[node.op](*inputs)
    else:
        raise NotImplementedError(
            f"the kernel {node.op!r} of the node {node.name!r} is not here; there are "
            f"{len(KERNELS) + len(NODES) + len(UPDATES)} of TensorFlow's"
        )
    if found is None:
        return []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _handle_or_tensor(x: Any) -> Any:
    variable = variable_of(x)
    return convert(x) if variable is None else variable._assigned()


def _place(node: NodeDef, output: str, number: str, library: Library) -> int:
    """Where `node:output:1` is among all that a kernel gives, or a function that is called so."""
    start, found = 0, definition(node.op)
    if node.op == "LookupTableExportV2":
        return ("keys", "values").index(output)
    if found is None and node.op in library:
        return library[node.op].output_names.index(output) + int(number)
    for each in () if found is None else found.outputs:
        if each.name == output:
            break
        start += _tensors_of(each, node)
    return start + int(number)


def _tensors_of(output: Argument, node: NodeDef) -> int:
    """How many tensors an output of a node has."""
    if output.count:
        return int(attribute(node.attr[output.count]))
    return len(attribute(node.attr[output.kind[1:-1]])) if output.several else 1


#: Kernels that give two tensors, which are in graphs alone.
_PAIRS = ("LookupTableExportV2", "Merge", "RefMerge", "RefSwitch", "Switch", "TensorArrayV3")


def output_count(node: NodeDef, library: Library) -> int:
    """How many tensors a node gives; one if its kernel is not known."""
    if node.op in _PAIRS:
        return 2
    found = definition(node.op)
    if found is not None:
        return sum(_tensors_of(each, node) for each in found.outputs)
    if node.op in library:
        return len(library[node.op].output_names)
    kinds = [node.attr[name] for name in ("Tout", "T") if name in node.attr]  # of calls, of loops
    several = [kind for kind in kinds if kind.WhichOneof("value") == "list"]
    return len(attribute(several[0])) if several else 1


def _argument_name(name: str) -> str:
    """The name that the argument of a function has for a node of its graph.

    >>> _argument_name("while/Mul/ReadVariableOp/resource")
    'while_mul_readvariableop_resource'
    """
    return re.sub("[^a-z0-9_]", "_", name.lower()).lstrip("_0123456789")


class GraphFunction:
    """A function of a graph, which takes and gives flat lists of values.

    Values are tensors or, where TensorFlow has handles of resources, the objects that these are.
    """

    def __init__(self, function: FunctionDef, library: Library):
        self.name = function.signature.name
        self._arguments = [arg.name for arg in function.signature.input_arg]
        results = {entry.key: entry.value for entry in function.ret}
        self.output_names = [arg.name for arg in function.signature.output_arg]
        self._results = [results[name] for name in self.output_names]
        self._after = [entry.value for entry in function.control_ret]
        self._nodes = {node.name: node for node in function.node_def}
        self._library = library

    def __call__(self, *inputs: Any) -> list[Any]:
        """What it gives. All that it does beside comes in the order that the graph asks for."""
        values: dict[str, Any] = dict(zip(self._arguments, inputs, strict=True))
        run = Run(self._nodes, values, self._library, self.name)
        run.do(self._after)
        return [run.value(reference) for reference in self._results]


class Run:
    """One run through the nodes of a function. given: the values of its arguments."""

    def __init__(
        self, nodes: dict[str, NodeDef], given: dict[str, Any], library: Library, name: str
    ):
        self._nodes, self._given, self._library, self.name = nodes, given, library, name
        self._done: dict[str, list[Any]] = {}

    def value(self, reference: str) -> Any:
        """The value that `argument`, `node`, `node:1` or `node:output:1` names."""
        name, *place = reference.split(":")
        if name in self._given and name not in self._done:
            return self._given[name]
        outputs = self.node(name)
        if len(place) < 2:
            return outputs[int(place[0]) if place else 0]
        output, number = place
        return outputs[_place(self._nodes[name], output, number, self._library)]

    def named(self, name: str) -> Any:
        """The value of a tensor of the graph that the function was made of."""
        first = name.partition(":")[0]
        known = first in self._nodes or first in self._given
        return self.value(name if known else _argument_name(first))

    def node(self, name: str) -> list[Any]:
        """The outputs of a node, which is done after those that it depends on."""
        ahead = [name]
        while ahead:
            top = ahead[-1]
            if top in self._done:
                ahead.pop()
                continue
            node = self._nodes[top]
            before = [n for n in self._before(node) if n not in self._done]
            if before:
                ahead += before[::-1]
                continue
            self._done[top] = self._outputs(node)
            ahead.pop()
        return self._done[name]

    def do(self, names: Iterable[str]) -> None:
        """Do nodes, and those that they depend on."""
        for name in names:
            self.node(name)

    def _outputs(self, node: NodeDef) -> list[Any]:
        """What a node gives, for which all is there."""
        return self._kernel(node, [self.value(x) for x in node.input if not x.startswith("^")])

    def _kernel(self, node: NodeDef, inputs: Sequence[Any]) -> list[Any]:
        def kernel(given: Sequence[Any]) -> list[Any]:
            return _done(node, given, self._library, self.name)

        kind = gradient_type(node)
        if kind is None or node.op in self._library:
            return kernel(inputs)
        return with_gradient(kernel, inputs, *self._gradient(kind, node))

    def _gradient(self, kind: str, node: NodeDef) -> tuple[GradientFunction, list[Any]]:
        """The gradient of a node, and what it takes beside those of the node's outputs."""
        found = self._library.gradients.get(kind)
        if found is None:
            return refusing(unsaved(node)), []
        try:
            return found(self)
        except NotImplementedError as error:
            return refusing(error), []

    def _before(self, node: NodeDef) -> Iterator[str]:
        for reference in node.input:
            name = reference.lstrip("^").partition(":")[0]
            if name not in self._given:
                yield name

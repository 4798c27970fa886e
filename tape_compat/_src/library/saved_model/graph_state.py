"""The variables and tables of a graph of TensorFlow 1, which its nodes share by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...checkpoint.reader import CheckpointReader
from ...checkpoint.slices import Extents, slice_of
from ...core.dtypes import DType
from ...core.errors import FailedPreconditionError
from ...core.shapes import TensorShape
from ...ops.arguments import known_value
from ...values.convert import convert
from ...values.variable import Variable
from ..raw.definitions import definition
from ..raw.updates import UPDATES
from .messages import NodeDef, VariableDef
from .nodes import Node, attributes, node_kernel


class Cell:
    """A variable of a graph, which is made when it has a value."""

    def __init__(self, state: State, name: str, shape: TensorShape, dtype: DType):
        self._state, self.name, self._shape, self._dtype = state, name, shape, dtype
        self.made: Variable | None = None

    @property
    def variable(self) -> Variable:
        """The variable; with its initial value if none has been assigned to it.

        Raises: FailedPreconditionError if the graph does not say what that is.
        """
        self.fill()
        if self.made is None:
            raise FailedPreconditionError(
                None, None, f"Attempting to use uninitialized value {self.name}"
            )
        return self.made

    def fill(self) -> None:
        """Give it its initial value, if the graph says one and it is a resource."""
        described = self._state.described.get(self.name)
        if self.made is None and described is not None and described.is_resource:
            self.assign(self._state.initial(described.initial_value_name))

    def assign(self, value: Any) -> None:
        """Give it a value."""
        if self.made is not None:
            self.made.assign(value)
            return
        described = self._state.described.get(self.name)
        self.made = Variable(
            convert(value, self._dtype),
            trainable=described is not None and described.trainable,
            name=self.name,
            shape=self._shape,
        )

    def read_value(self) -> Any:
        """What it holds."""
        return self.variable.read_value()


class Reference:
    """What a node gives for a variable: kernels read it, or change it."""

    def __init__(self, cell: Cell):
        self.cell = cell


class State:
    """What the nodes of a graph share.

    described: what is said of its variables, by the names of their nodes. initial: gives the value
    of a tensor of it, asked for if something is described. cells: the variables by name.
    """

    def __init__(
        self, described: Mapping[str, VariableDef] | None = None, initial: Any = None
    ) -> None:
        self.described, self.initial = described or {}, initial
        self.cells: dict[str, Cell] = {}
        self._resources: dict[str, Any] = {}

    def cell(self, node: Node | NodeDef, shape: TensorShape, dtype: DType) -> Cell:
        """The variable of a node."""
        if node.name not in self.cells:
            self.cells[node.name] = Cell(self, node.name, shape, dtype)
        return self.cells[node.name]

    def resources(self) -> dict[str, Any]:
        """The tables by name."""
        return dict(self._resources)

    def resource(self, name: str, make: Callable[[], Any]) -> Any:
        """What has a name among tables and the like, made once."""
        if name not in self._resources:
            self._resources[name] = make()
        return self._resources[name]


@node_kernel("VariableV2", "Variable", "VarHandleOp")
def _variable(node: Node) -> Any:
    """A variable of the graph itself: a reference, or what TensorFlow has a handle of."""
    if node.library.state is None:
        raise ValueError(f"the graph has no variable {node.name!r}")
    cell = node.library.state.cell(node, node.attribute("shape"), node.attribute("dtype"))
    if node.op != "VarHandleOp":
        return Reference(cell)
    return cell if cell.made is None else cell.made


#: The kernels that change a variable which they have a reference to, by those that do so by handle.
_BY_HANDLE = {
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
    **{name.removeprefix("Resource"): name for name in UPDATES if name.startswith("Resource")},
}

#: The kernels that take references.
REFERRING = {*_BY_HANDLE, "Assign", "RefIdentity", "IsVariableInitialized"}


def refer(node: NodeDef, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of a kernel whose first input is a reference."""
    reference = inputs[0]
    if node.op == "IsVariableInitialized":
        return [convert(reference.cell.made is not None)]
    if node.op == "Assign":
        reference.cell.assign(read(inputs[1]))
    elif node.op in _BY_HANDLE:
        op = _BY_HANDLE[node.op]
        defined = definition(op)
        assert defined is not None
        given = [
            x.cell.variable._assigned() if argument.kind == "resource" else convert(read(x))
            for x, argument in zip(inputs, defined.inputs, strict=True)
        ]
        UPDATES[op](*given, **attributes(node, op))
    return [reference]


def read(value: Any) -> Any:
    """What a kernel takes: the value of a variable that is referred to."""
    return value.cell.read_value() if isinstance(value, Reference) else value


@node_kernel("RestoreV2")
def _restore(node: Node) -> list[Any]:
    """Values of a checkpoint, by their names and the parts of them."""
    prefix, names, parts = map(known_value, node.inputs)
    reader = CheckpointReader(prefix.item().decode())
    keys = [name.decode() for name in names]
    values = reader.get_tensors(keys)
    return [
        convert(values[key][slice_of(extents_of(part.decode()))])
        for key, part in zip(keys, parts, strict=True)
    ]


def extents_of(text: str) -> Extents:
    """The part that the text of a slice says: the sizes of the whole, then start and length in each
    dimension.

    >>> extents_of("5 3 2,2:-"), extents_of("")
    (((2, 2), (0, None)), ())
    """
    if not text:
        return ()
    found: list[tuple[int, int | None]] = []
    for part in text.rpartition(" ")[2].split(":"):
        start, _, length = part.partition(",")
        found.append((0, None) if part == "-" else (int(start), int(length)))
    return tuple(found)

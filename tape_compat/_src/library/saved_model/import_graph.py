"""`tf.graph_util.import_graph_def`: the graph of a GraphDef in the record of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.dtypes import DType, as_dtype
from ...core.errors import user_location
from ...core.shapes import TensorShape
from ...core.state import LOCAL
from ...function.graph import FuncGraph, of_function
from ...function.graph_def import GraphDef as Listing
from ...values.capture import capturing
from ...values.convert import convert
from ...values.operation import Operation
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from .classic_control import Control, Place, place
from .every_kernel import TABLES
from .graph_run import GraphRun
from .graph_state import State
from .messages import GraphDef, NodeDef
from .nodes import Library, attribute, output_count
from .structured import shape_of

#: Imported for the kernels that nodes are done by.
KERNEL_TABLES = TABLES


def import_graph_def(
    graph_def: GraphDef,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Put the graph of a message into the function that is being recorded.

    Nodes are done by our ops as they are needed: those of `return_elements` at once, others when
    `prune` of a `tf.compat.v1.wrap_function` fetches them, or when something is computed of them.

    Args:
      graph_def: the message; `tf.compat.v1.GraphDef()` reads one by `ParseFromString`.
      input_map: by the names of tensors in it, what stands for these: tensors.
      return_elements: names of tensors ("out:0") and operations ("out") that are wanted.
      name: what the names of its operations begin with, "import" by default; "" for nothing.
      producer_op_list: without effect: kernels have TensorFlow's defaults.
    Returns: a list of what `return_elements` names; None without them.
    Raises: TypeError for arguments of other kinds; ValueError for names that are not in it, and if
      an operation of such a name is there already; NotImplementedError outside of functions where
      tensors are given or wanted, and for a kernel that is not here where it is needed.

    >>> import tape_compat as tf
    >>> graph_def = tf.compat.v1.GraphDef()
    >>> x = graph_def.node.add(name="x", op="Placeholder")
    >>> x.attr["dtype"].type = tf.float32.as_datatype_enum
    >>> y = graph_def.node.add(name="y", op="Exp", input=["x"])
    >>> @tf.function
    ... def f(x):
    ...     return tf.graph_util.import_graph_def(graph_def, {"x:0": x}, ["y:0"])[0]
    >>> f(tf.constant(0.0)).numpy().item()
    1.0
    """
    _check(graph_def, input_map)
    record = LOCAL.state.capture
    if record is None:
        if input_map or return_elements:
            raise NotImplementedError(
                "tf.import_graph_def: tensors are given to a graph and taken from it where it is "
                f"recorded, in tf.function or tf.compat.v1.wrap_function (at {user_location()})."
            )
        return None
    imported = put_graph(graph_def, input_map or {}, "import" if name is None else name, State())
    if return_elements is None:
        return None
    return [imported.element(each) for each in return_elements]


def put_graph(
    graph_def: GraphDef, input_map: Mapping[str, Any], name: str, state: State
) -> Imported:
    """Put the graph of a message into the function that is being recorded.

    Args: as those of `import_graph_def`; `state`: the variables and tables that its nodes share.
    """
    record = LOCAL.state.capture
    graph = of_function(record)
    assert graph is not None
    mapped = {place(key): convert(value) for key, value in input_map.items()}
    imported = Imported(graph, graph_def, graph.unique_name(name) if name else "", mapped, state)
    imported.check_names(input_map)
    if record is graph:  # what branches and loops compute is theirs
        graph.imports.append(imported)
    return imported


def _check(graph_def: Any, input_map: Any) -> None:
    if isinstance(graph_def, Listing):
        raise NotImplementedError(
            "tf.import_graph_def: what `as_graph_def` gives is for looking at; call the function "
            f"itself (at {user_location()})."
        )
    if not isinstance(graph_def, GraphDef):
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    if not isinstance(input_map, (Mapping, type(None))):
        raise TypeError(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )


class ImportedTensor:
    """A tensor of an imported graph: by its name, and by the record that it is computed in as soon
    as something is computed of it.

    op: what gives it. index: which of its outputs it is.
    """

    __slots__ = ("index", "op")

    def __init__(self, op: ImportedOperation, index: int):
        self.op, self.index = op, index

    @property
    def at(self) -> Place:
        """Where it is in the graph of the message."""
        return self.op.node.name, self.index

    @property
    def name(self) -> str:
        """Its name, "import/out:0"."""
        return f"{self.op.name}:{self.index}"

    @property
    def graph(self) -> Any:
        """The record that the graph was imported into."""
        return self.op.graph

    @property
    def shape(self) -> TensorShape:
        """Its shape."""
        return self._as_tensor().shape

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        return self._as_tensor().dtype

    def _as_tensor(self) -> Tensor:
        return self.op.imported.computed(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} of an imported graph>"


class ImportedOperation(Operation):
    """An operation of an imported graph.

    imported: the graph. count: how many tensors it gives. node: its message.
    """

    __slots__ = ("_outputs", "_read", "count", "imported", "node")

    def __init__(
        self,
        imported: Any,
        name: str,
        node: Any,
        count: int,
        read: Callable[[], Sequence[ImportedTensor]],
    ):
        super().__init__(imported.graph, name, node.op)
        self.imported, self.node, self.count, self._read = imported, node, count, read
        self._outputs: list[Any] = [ImportedTensor(self, i) for i in range(count)]

    @property
    def node_def(self) -> Any:
        """Its message."""
        return self.node

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The tensors that it reads."""
        return tuple(self._read())

    @property
    def outputs(self) -> list[Any]:
        """The tensors that it gives."""
        return list(self._outputs)


class Imported:
    """A graph in the record of a function.

    graph: the record. operations: those of the graph, by their names there. slots: of what was
    recorded of it, with the tensors that these are, None for what lies between. closed: whether
    nothing of the record is given to it.
    """

    def __init__(
        self,
        graph: FuncGraph,
        graph_def: GraphDef,
        prefix: str,
        mapped: dict[Place, Tensor],
        state: State,
    ):
        self.graph, self._mapped = graph, mapped
        self._nodes = {node.name: node for node in graph_def.node}
        self._library = Library(graph_def.library.function, state)
        self._control = Control(self._nodes)
        self.operations: dict[str, ImportedOperation] = {}
        self.slots: dict[int, ImportedTensor | None] = {}
        self.closed = not any(x._is_symbolic() for x in mapped.values())
        self._run: GraphRun | None = None
        begin = f"{prefix}/" if prefix else ""
        taken = {name for each in graph.imports for name in each.operations}
        for node in graph_def.node:
            name = begin + node.name
            if name in taken:
                raise ValueError(f"Node name '{name}' already exists in the Graph")
            count = output_count(node, self._library)
            self.operations[name] = ImportedOperation(self, name, node, count, self._reads(node))
        self._by_node = dict(zip(self._nodes, self.operations.values(), strict=True))

    def _reads(self, node: NodeDef) -> Callable[[], list[ImportedTensor]]:
        def read() -> list[ImportedTensor]:
            places = [place(x) for x in node.input if not x.startswith("^")]
            return [self._by_node[name].outputs[index] for name, index in places]

        return read

    def check_names(self, names: Mapping[str, Any]) -> None:
        """Raises: ValueError for names of tensors that the graph has not."""
        wrong = [key for key in names if place(key)[0] not in self._nodes]
        if wrong:
            raise ValueError(
                f"Attempted to map inputs that were not found in graph_def: [{', '.join(wrong)}]"
            )

    def element(self, name: str) -> Any:
        """An operation by its name in the graph, or a tensor, computed now."""
        operation, _, index = name.partition(":")
        if operation not in self._by_node or not (index or "0").isdecimal():
            kind = "tensor" if index else "operation"
            raise ValueError(f"Requested return {kind} '{name}' not found in graph def")
        found = self._by_node[operation]
        return self.computed(found.outputs[int(index)]) if index else found

    def computed(self, x: ImportedTensor) -> Tensor:
        """A tensor of it, in the record."""
        if LOCAL.state.capture is not None and self not in self.graph.imports:  # in a branch
            return convert(self._run_of(self._mapped).at(x.at))
        with capturing(lambda _: self.graph):
            first = self.graph.node.end
            if self._run is None:
                self._run = self._run_of(self._with_placeholders())
            found = convert(self._run.at(x.at))
            for slot in range(first, self.graph.node.end):
                self.slots.setdefault(slot, None)
            if found._at[0] is self.graph:
                self.slots[found._at[1]] = x
            return found

    def _with_placeholders(self) -> dict[Place, Tensor]:
        """What stands for tensors of it, symbols for its placeholders among them."""
        found = dict(self._mapped)
        for name, node in self._nodes.items():
            if node.op == "Placeholder" and (name, 0) not in found:
                spec = placeholder_spec(node)
                if spec.shape.rank is not None:
                    aval = self.graph.aval(spec.shape, spec.dtype)
                    found[name, 0] = self.graph.placeholder(aval, name)
        return found

    def _run_of(self, mapped: Mapping[Place, Any]) -> GraphRun:
        return GraphRun(self._nodes, mapped, self._library, self._control)

    def node(self, name: str) -> NodeDef:
        """A node by its name in the message."""
        return self._nodes[name]

    def run(self, given: Mapping[Place, Any]) -> GraphRun:
        """A run through it in which what is at these places has these values."""
        return self._run_of({**self._mapped, **given})

    def run_with(self, given: Mapping[ImportedTensor, Any]) -> GraphRun:
        """A run through it in which tensors have these values."""
        return self.run({x.at: value for x, value in given.items()})


def placeholder_spec(node: NodeDef) -> TensorSpec:
    """The spec of a node that is to be fed."""
    shape = shape_of(node.attr["shape"].shape) if "shape" in node.attr else TensorShape(None)
    return TensorSpec(shape, as_dtype(attribute(node.attr["dtype"])))

"""FuncGraph: the record of a function."""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..core import dimensions, errors
from ..core.avals import Aval
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.state import LOCAL, ThreadState
from ..ops.random_keys import initial_draws
from ..run import policy
from ..values.capture import (
    SymbolicProgram,
    leaving,
    lifted,
    symbolic_value,
    within,
    worked_out,
)
from ..values.context import current_device
from ..values.convert import convert
from ..values.creators import creators
from ..values.names import current_name_scope, get_current_name_scope, name_scope
from ..values.operation import Operation
from ..values.tensor import Tensor, next_id
from ..values.variable import Handle, Variable, initial_tensor
from .graph_def import GraphDef, NodeDef, listed

_SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
    "tf.Variable is only created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
)


class Chances:
    """How often a record was called, and how often what it assumes did not hold."""

    __slots__ = ("calls", "refuted")

    def __init__(self) -> None:
        self.calls = 0
        self.refuted: float = 0

    @property
    def used_up(self) -> bool:
        """Whether it does not hold often enough."""
        return self.refuted * policy.CALLS_AS_RECORDED > self.calls + policy.CALLS_AS_RECORDED


#: The graph of eager code, which nothing is added to.
OUTSIDE: list[Any] = []


class FuncGraph(SymbolicProgram):
    """The record of a function.

    created: the variables made meanwhile; None if none may be. lifts: whether their initial values
    may be tensors of it, and draw its numbers: not in a graph that no function is recorded in.
    inputs: the symbolic ones; outputs:
    the symbols that were returned; values_given: values of inputs in the call that is recorded, as
    far as they have one. variable_avals: those of variables of unknown shape.
    began: the identity that a tensor had when it was begun.
    fallible: whether its Python can run where what it assumes does not hold; assumes: whether it
    assumes something; chances: how often that held. in_parts:
    whether Python does steps of it. rows: the unknown number of rows of placeholders. results: what
    was returned; structured_input_signature: specs of its arguments, once there is a concrete
    function of it. imports: graphs of files that were put into it; each has `operations` by their
    names and `slots`, those of what was recorded of it, with the tensors that these are.
    placeholders: the slots of what is to be given by whoever takes a part of it.
    """

    __slots__ = (
        "__dict__",
        "_names_used",
        "_unknown",
        "assumes",
        "began",
        "chances",
        "created",
        "fallible",
        "imports",
        "in_parts",
        "inputs",
        "lifts",
        "outputs",
        "placeholders",
        "results",
        "rows",
        "shapes_only",
        "structured_input_signature",
        "values_given",
        "variable_avals",
    )

    #: As TensorFlow has it.
    building_function = True

    def __init__(self, owner: ThreadState, name: str, creates: bool, settled: bool = False):
        super().__init__(owner, name)
        self.in_function = True
        self.sketch = None  # its record is kept, and called
        self.settled = self.settled or settled
        self.shapes_only = False
        self.created: list[Variable] | None = [] if creates else None
        self.lifts = True
        self.began = next_id()
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.values_given: dict[int, Tensor] = {}
        self.variable_avals: dict[Handle, Aval] = {}
        self.fallible = self.assumes = self.in_parts = False
        self.chances = Chances()
        self.rows: Any = None
        self.imports: list[Any] = []
        self.placeholders: set[int] = set()
        self.results: Any = None
        self.structured_input_signature: Any = None
        self._unknown = 0
        self._names_used: dict[str, int] = {}

    @property
    def _variable_creator_stack(self) -> tuple[Any, ...]:
        """The functions of `tf.variable_creator_scope` that this is in."""
        return creators()

    @property
    def outer_graph(self) -> Any:
        """The record of the function that this is in, or the graph of eager code. Keras 2 asks."""
        return of_function(self.outer) or OUTSIDE[0]

    def _apply_device_functions(self, op: Any) -> None:
        """Tell `op` the device that `tf.device` asks for, if it does. Keras 2 asks."""
        if name := current_device():
            op._set_device_from_string(name)

    def _get_control_flow_context(self) -> None:
        """None: conditionals and loops are records of their own. Keras 2 asks."""

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name below the name scope; with a number if it has been given before.

        mark_as_used: whether it counts as given now.

        >>> import tape_compat as tf
        >>> with tf.Graph().as_default() as graph:
        ...     graph.unique_name("a"), graph.unique_name("a", mark_as_used=False)
        ('a', 'a_1')
        """
        used = self._names_used
        wanted = f"{current_name_scope()}{name}"
        key, count = wanted.lower(), used.get(wanted.lower(), 0)
        if mark_as_used:
            used[key] = count + 1
        found = wanted
        while count and found.lower() in used:
            found, count = f"{wanted}_{count}", count + 1
        if mark_as_used:
            used.setdefault(found.lower(), 1)
        return found

    def aval(self, shape: TensorShape, dtype: DType) -> Aval:
        """An aval with an unknown size for each None.

        Raises: NeedsValue if the rank is unknown.
        """
        if shape.rank is None:
            raise errors.NeedsValue(
                "a tensor of unknown rank cannot be recorded: give the number of axes, as in "
                f"tf.TensorSpec([None, None]). At {errors.user_location()}."
            )
        sizes = []
        for size in shape.as_list():
            sizes.append(dimensions.variable(self._unknown) if size is None else size)
            self._unknown += size is None
        return Aval.of(tuple(sizes), dtype)

    def _aval_of(self, handle: Handle) -> Aval:
        if handle.shape.is_fully_defined():
            return super()._aval_of(handle)
        found = self.variable_avals.get(handle)
        if found is None:
            shape = handle.shape
            if shape.rank is None:  # then the rank that it has counts
                shape = TensorShape([None] * len(super()._aval_of(handle).shape))
            found = self.variable_avals[handle] = self.aval(shape, handle.dtype)
        return found

    def assume(self, what: str) -> None:
        """Note that it holds for calls only in which something is so.

        Raises: NeedsValue if nothing else could be done in other calls.
        """
        if not self.fallible:
            raise errors.NeedsValue(
                f"{what} is known only when {self.name} is called (at {errors.user_location()})."
            )
        if self.outer is not None:
            self.outer.assume(what)
        self.assumes = True

    def call_python(self, what: str) -> None:
        """Note that Python does a step of it.

        Raises: NeedsValue in a map, and where its Python is not there.
        """
        self.assume(what)
        if self.outer is not None:
            self.outer.call_python(what)
        self.in_parts = True

    @property
    def takes_steps(self) -> bool:
        """Whether the host may do steps of it: not in the record of another function."""
        return self.outer is None

    def take_host_step(self) -> bool:
        """Note that the host does a step of it; False if that is not possible here."""
        if self.takes_steps:
            self.in_parts = True
            self.assumes = self.assumes or self.fallible
        return self.takes_steps

    def initial(self, value: Any, dtype: Any, variable: Variable) -> Tensor:
        """The initial value of a variable that is made meanwhile, worked out at once.

        Raises: ValueError if this is not the first call, or the value depends on an argument that
          has none.
        """
        if self.created is None:
            raise ValueError(f"{_SINGLETON} At {errors.user_location()}.")
        self.created.append(variable)
        if callable(value):
            draws = initial_draws(self.next_draw) if self.lifts else contextlib.nullcontext()
            with leaving(), draws:
                return initial_tensor(value, dtype)
        if not self.lifts and isinstance(value, Tensor) and value._is_symbolic():
            raise ValueError(
                f"Argument `initial_value` ({value!r}) could not be lifted out of {self.name}: "
                f"make it outside, or give a function that makes it. At {errors.user_location()}."
            )
        return worked_out(initial_tensor(value, dtype))

    def placeholder(self, aval: Aval, name: str) -> Tensor:
        """A symbol that a call of a part of it gives a value."""
        found = symbolic_value(aval)
        self.argument_names[found._at[1]] = self.unique_name(name)
        self.placeholders.add(found._at[1])
        return found

    def unfed(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> list[Tensor]:
        """The placeholders that these outputs are computed of, but for what these inputs give."""
        if not self.placeholders:
            return []
        given = {x._at[1] for x in inputs}
        wanted = {slot for x in outputs if (slot := self.slot_of(x)) is not None}
        for node in reversed(self.node.path()):
            if any(s in wanted and s not in given for s in range(node.first, node.end)):
                wanted.update(node.inputs)
        return [self.tensor_at(slot) for slot in sorted(self.placeholders & (wanted - given))]

    def lifted(self, x: Tensor) -> Tensor:
        """A tensor of it, worked out at once, with the arguments of the call that is recorded."""
        known = [x for x in self.inputs if id(x) in self.values_given]
        return lifted(x, known, [self.values_given[id(x)] for x in known])

    def is_of_itself(self, x: Tensor) -> bool:
        """Whether a tensor was made since it was begun: it is a constant of the function."""
        return isinstance(x._id, int) and x._id >= self.began

    def _listed(self) -> list[tuple[NodeDef, Operation]]:
        return listed(self, self.outputs, self.is_of_itself)

    def get_operations(self) -> list[Operation]:
        """Its instructions, in order, with the constants that they read and the identities of the
        outputs; then the operations of graphs that were imported."""
        hidden = {slot for each in self.imports for slot in each.slots}
        found = [x for _, x in self._listed() if not hidden or x._first not in hidden]
        return [*found, *[x for each in self.imports for x in each.operations.values()]]

    def name_of(self, slot: int) -> str:
        for each in self.imports:
            if each.slots.get(slot) is not None:
                return str(each.slots[slot].name)
        return super().name_of(slot)

    def operation_at(self, slot: int) -> tuple[Operation, int]:
        for each in self.imports:
            if each.slots.get(slot) is not None:
                return each.slots[slot].op, each.slots[slot].index
        return super().operation_at(slot)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """What is in a collection of it, as `tf.compat.v1.get_collection` has it."""
        return chosen(collections_of(self).get(name, ()), scope)

    # -- what it takes from outside -------------------------------------------------------------

    @property
    def captures(self) -> list[tuple[Any, Tensor]]:
        """What it takes beside its arguments, so far: each tensor, and the handle of each variable,
        with what stands for it in the record.

        >>> import tape_compat as tf
        >>> v, k = tf.Variable(1.0), tf.constant([2.0, 3.0])
        >>> graph = tf.function(lambda: v * k).get_concrete_function().graph
        >>> [outside is v.handle or outside is k for outside, _ in graph.captures]
        [True, True]
        """
        found: list[tuple[Any, Tensor]] = [(h, symbol) for h, symbol in self.symbols.items()]
        for slot, x in self._distinct_leaves():
            if id(x) not in self.keys and not self.is_of_itself(x):
                found.append((x, self.tensor_at(slot)))
        return found

    @property
    def external_captures(self) -> list[Any]:
        """The tensors and handles among `captures`."""
        return [outside for outside, _ in self.captures]

    @property
    def internal_captures(self) -> list[Tensor]:
        """What stands for them in the record."""
        return [inside for _, inside in self.captures]

    @property
    def num_captures(self) -> int:
        """How many there are."""
        return len(self.captures)

    @property
    def deferred_external_captures(self) -> list[Any]:
        """None: what is taken is known when the function is recorded."""
        return []

    @property
    def deferred_internal_captures(self) -> list[Any]:
        """None, too."""
        return []

    def capture(self, tensor: Any, name: str | None = None) -> Tensor:
        """A tensor of eager code as one of the record."""
        return convert(tensor)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads or assigns to, so far."""
        return tuple(self.used.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are trainable."""
        return tuple([v for v in self.variables if v.trainable])

    # -- what it gives --------------------------------------------------------------------------

    @property
    def structured_outputs(self) -> Any:
        """What the function returned, of symbolic tensors; None while it is being recorded."""
        return None if self.results is None else self.results.packed(self.results.outputs)

    @property
    def output_shapes(self) -> list[TensorShape]:
        """The shapes of the tensors that it gives."""
        return [x.shape for x in self.outputs]

    def get_name_scope(self) -> str:
        """The names of the scopes in force, joined by slashes."""
        return get_current_name_scope()

    def name_scope(self, name: str) -> name_scope:
        """`tf.name_scope`."""
        return name_scope(name)

    @property
    def finalized(self) -> bool:
        """False: what is recorded takes no mark."""
        return False

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """A tensor or an operation of it by its name, or as it is.

        Raises: TypeError for what is neither; ValueError for one of the kind that is not allowed,
          or of another record; KeyError if there is none.
        """
        if isinstance(obj, str):
            obj = self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        is_operation = isinstance(obj, Operation)
        if not is_operation and not (isinstance(obj, Tensor) or hasattr(obj, "op")):
            raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")
        name = "Operation" if is_operation else "Tensor"
        if not (allow_operation if is_operation else allow_tensor):
            raise ValueError(f"{obj!r} is a {name}, which is not allowed here.")
        if (obj._at[0] if isinstance(obj, Tensor) else obj.graph) is not self:
            raise ValueError(f"{name} {obj!r} is not an element of this graph.")
        return obj

    def get_operation_by_name(self, name: str) -> Operation:
        """An instruction by its name. Raises KeyError if there is none."""
        for each in self.imports:
            if name in each.operations:
                return each.operations[name]
        for found in self.get_operations():
            if found.name == name:
                return found
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def get_tensor_by_name(self, name: str) -> Tensor:
        """A tensor by its name, "Exp:0". Raises KeyError if there is none."""
        operation, _, index = name.partition(":")
        if not index.isdecimal():
            self.get_operation_by_name(operation)
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of "
                'the form "<op_name>:<output_index>".'
            )
        try:
            return self.get_operation_by_name(operation).outputs[int(index)]
        except KeyError:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                f"{operation!r}, does not exist in the graph."
            ) from None

    @contextlib.contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """A context that records into it, where it is being recorded.

        Raises: NotImplementedError elsewhere: what was recorded stays as it is.
        """
        program = LOCAL.state.capture
        while program is not None and program is not self:
            program = program.outer
        if program is None:
            raise NotImplementedError(
                f"{self.name} has been recorded, and nothing is added to it. At "
                f"{errors.user_location()}."
            )
        if program is LOCAL.state.capture:  # its tapes go on
            yield self
            return
        with within(self):
            yield self

    def as_graph_def(
        self,
        from_version: int | None = None,
        add_shapes: bool = False,
        use_pybind11_proto: bool = False,
    ) -> GraphDef:
        """Its nodes: `.node` is a list of what has a `name`, an `op`, an `input` and an `attr`.

        It tells what a function does; it is no message, and cannot be loaded. What is done is given
        by `experimental_get_compiler_ir`.

        Raises: NotImplementedError for arguments other than `add_shapes`, which changes nothing.

        >>> import tape_compat as tf
        >>> f = tf.function(lambda x: tf.exp(x) * 2.0)
        >>> graph = f.get_concrete_function(tf.TensorSpec([2])).graph
        >>> [(node.name, node.op, node.input) for node in graph.as_graph_def().node][2:4]
        [('mul/y', 'Const', []), ('mul', 'Mul', ['Exp', 'mul/y'])]
        """
        if from_version is not None or use_pybind11_proto:
            raise NotImplementedError(
                "FuncGraph.as_graph_def: `from_version` and `use_pybind11_proto`: there are no "
                "GraphDef messages here."
            )
        return GraphDef([node for node, _ in self._listed()])


def of_function(program: SymbolicProgram | None) -> FuncGraph | None:
    """A program that is being recorded, or the nearest around it, that is of a function."""
    while program is not None and not isinstance(program, FuncGraph):
        program = program.outer
    return program


# -- collections -----------------------------------------------------------------------------------

#: The collections of each graph that has some.
_OF_GRAPHS: weakref.WeakKeyDictionary[Any, dict[Any, list[Any]]] = weakref.WeakKeyDictionary()


class _Outside:
    """The place of collections of eager code."""

    outer = None


_OUTSIDE = _Outside()


def collections_of(graph: Any) -> dict[Any, list[Any]]:
    """Those of a graph, or of eager code for None; it begins with what the one around it has."""
    if graph is None:
        graph = _OUTSIDE
    if graph not in _OF_GRAPHS:
        above = {} if graph is _OUTSIDE else collections_of(graph.outer)
        _OF_GRAPHS[graph] = {name: list(values) for name, values in above.items()}
    return _OF_GRAPHS[graph]


def without_collections(graph: Any) -> None:
    """Let a graph begin with none."""
    _OF_GRAPHS[graph] = {}


def forget_outside() -> None:
    """Forget those of eager code."""
    _OF_GRAPHS.pop(_OUTSIDE, None)


def chosen(values: Iterable[Any], scope: str | None) -> list[Any]:
    """A new list of what is in a collection; with a `scope`, of what has a name that it matches."""
    found = list(values)
    if scope is None:
        return found
    return [x for x in found if hasattr(x, "name") and re.match(scope, x.name)]

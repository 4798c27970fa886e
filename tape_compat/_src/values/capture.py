"""Capture: record a Python function into a program with symbolic inputs, as one closure.

The inputs have shapes and dtypes but no values. Whatever else the function reads (constants,
tensors made before, variables, the keys of random draws) becomes a further input, so the closure is
pure, is differentiable with respect to all of them, and two captures of the same structure are the
same closure.
"""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..core.avals import Aval
from ..core.call import Call
from ..core.dimensions import TOLD, variable as unknown_size
from ..core.dtypes import DType, int8, int64, string
from ..core.errors import NeedsValue, user_location
from ..core.native import native, provide
from ..core.op import Closure, Op
from ..core.program import CAPTURED, Node, Program
from ..core.refuse import out_of_scope
from ..core.state import LOCAL, ThreadState, changed
from ..core.steps import Steps, needed
from ..run.executor import waiting
from ..run.op_by_op import result
from .operation import named, operation_at
from .record import apply, flush
from .tensor import Tensor, pending
from .updates import ASSIGN, apply_off_tape
from .variable import Handle, Variable, initial_tensor, put_into, read

_PLACEHOLDER = Op(lambda shape, dtype: jnp.zeros(shape, dtype.np_dtype), "Placeholder")


class Drawn(NamedTuple):
    """The key of a random draw: another one at each call.

    generator: gives it, by `key(count)`. times: how many draws of the generator a call makes.
    """

    generator: Any
    times: int

    def draw(self, calls: int = 1) -> Tensor:
        """The key of the next of so many calls."""
        return self.generator.key(self.times * calls)


#: Where a further input of a captured function comes from: it is a constant, what a variable holds
#: at the call, or the key of a draw.
Source = Tensor | Handle | Drawn


def value_of(source: Source) -> Tensor:
    """What a source gives now."""
    if isinstance(source, Tensor):
        return source
    if isinstance(source, Handle):
        capture = LOCAL.state.capture
        return as_result(source.tensor) if capture is None else capture.held(source)
    return source.draw()


def as_result(x: Tensor) -> Tensor:
    """What a variable holds. A number that it was given is from then on as what a program computed,
    so that a function's first call, or the first after a metric was reset, is as the others."""
    if _is_number(x):
        x._array = result(x._array)
    return x


provide(as_result=as_result)


class Sketch:
    """Sizes that a record needs and does not know, each an unknown one of its own. What is recorded
    with them cannot be called; it tells shapes.

    count: how many there are. used: whether there are any. tells: whether it is asked for them now.
    taken: whether the host does a step. calls: whether Python functions with results are called.
    any_size: whether of what those gave only the ranks are taken as known.
    """

    __slots__ = ("_found", "any_size", "calls", "count", "taken", "tells", "used")

    def __init__(self, any_size: bool = False) -> None:
        self._found: dict[tuple[Program, int], Any] = {}
        self.any_size = any_size
        self.count = 0
        self.used = self.taken = self.calls = False
        self.tells = True

    def size(self) -> Any:
        """A size that nothing is known of."""
        self.used = True
        self.count += 1
        return unknown_size(TOLD + self.count)

    def since(self, count: int) -> frozenset[str]:
        """The names of the sizes that were made since there were so many."""
        return frozenset([f"d{TOLD + i}" for i in range(count + 1, self.count + 1)])

    def sizes(self, program: Program, slot: int, shape: tuple[int, ...]) -> np.ndarray | None:
        """The sizes in an array of integers; None if they are not told."""
        found = self._found.get((program, slot))
        if found is None:
            found = self._found[program, slot] = self._new_sizes(shape)
        return found

    def _new_sizes(self, shape: tuple[int, ...]) -> np.ndarray:
        found = np.empty(shape, object)
        for place in np.ndindex(*shape):
            found[place] = self.size()
        return found

    def tensor(self, shape: Sequence[Any], dtype: DType) -> Tensor:
        """What stands for a result; a None in its shape for a size that is not known."""
        self.used = True
        sizes = tuple([self.size() if size is None else size for size in shape])
        return symbolic_value(Aval.of(sizes, dtype))

    def sparse_parts(self, dtype: DType, rank: int = 2) -> tuple[Tensor, Tensor, Tensor]:
        """What stands for the places, the values and the shape of a sparse tensor."""
        count = self.size()
        kinds = (((count, rank), int64), ((count,), dtype), ((rank,), int64))
        places, values, shape = [self.tensor(*kind) for kind in kinds]
        return places, values, shape


class SymbolicProgram(Program):
    """A program whose leaves are tensors rather than arrays; it is replayed, never run.

    name: what it is a record of, for messages. outer: the one that was under way when it began.
    symbols: what variables hold at first, each a symbolic input; values: what they hold now, which
    only this record knows. cells: those that were assigned to, in order. reads: the variables that
    were read, by their handles; used: those that were read or assigned to. keys: those of
    draws, by the identity of the object. argument_names: those of the symbolic inputs that have
    one, by their slots. draws: how many there are of random numbers.
    """

    __slots__ = (
        "argument_names",
        "cells",
        "draws",
        "in_function",
        "keys",
        "leaves",
        "name",
        "outer",
        "reads",
        "same",
        "settled",
        "sketch",
        "symbols",
        "used",
        "values",
    )
    symbolic = True
    #: Whether it is never called.
    shapes_only = False

    def __init__(self, owner: ThreadState, name: str = "function"):
        super().__init__(owner, CAPTURED)
        self.name = name
        self.outer: SymbolicProgram | None = owner.capture
        #: Whether it is the record of a `tf.function`, or of a part of one.
        self.in_function: bool = self.outer is not None and self.outer.in_function
        #: Whether its sizes are those of one call, where the function was to be recorded for all.
        self.settled: bool = self.outer is not None and self.outer.settled
        self.leaves: dict[int, tuple[int, Tensor]] = {}
        self.cells: dict[Handle, None] = {}
        self.symbols: dict[Handle, Tensor] = {}
        self.values: dict[Handle, Tensor] = {}
        self.reads: dict[Handle, Variable] = {}
        self.used: dict[Handle, Variable] = {}
        self.keys: dict[int, tuple[Tensor, Drawn]] = {}
        self.argument_names: dict[int, str] = {}
        self.draws = 0
        #: The slots of numbers that are equal to others, and the slots of these.
        self.same: dict[int, int] = {}
        #: What stands for values that it needs and that are known at the call only, if its outputs'
        #: shapes are all that is wanted of it.
        self.sketch: Sketch | None = None if self.outer is None else self.outer.sketch

    def slot_of(self, x: Tensor) -> int | None:
        found = super().slot_of(x)
        return self.leaves[id(x)][0] if found is None and id(x) in self.leaves else found

    def put_leaf(self, x: Tensor, slot: int) -> None:
        self.leaves[id(x)] = (slot, x)

    def refuse_foreign(self, x: Tensor) -> None:
        """Refuse a tensor of a record that this one is no part of, if it is to be called."""
        program: SymbolicProgram | None = self
        while program is not None and program is not x._at[0] and not program.shapes_only:
            program = program.outer
        if program is None:
            raise out_of_scope(x)

    def held(self, handle: Handle) -> Tensor:
        """What a variable holds at this point of the record."""
        found = self.values.get(handle)
        if found is None:
            with within(self):
                found = self.symbol(self._aval_of(handle))
            found._id = handle.id
            self.symbols[handle] = self.values[handle] = found
        return found

    def symbol(self, aval: Aval) -> Tensor:
        """A tensor that stands for what this record is given at each call.

        Raises: NeedsValue for a string, if the host cannot do steps of it.
        """
        sketch = self.sketch
        if sketch is None or aval.dtype is not string:
            return symbolic_input(aval)
        if not self.take_host_step():
            if not sketch.tells:
                raise NeedsValue(f"A text has no value (at {user_location()})")
            sketch.used = True
        return symbolic_value(aval)

    def _aval_of(self, handle: Handle) -> Aval:
        """The aval of what a variable holds when this record begins."""
        outer = self.outer
        if outer is None:
            return handle.tensor._aval
        return outer.values[handle]._aval if handle in outer.values else outer._aval_of(handle)

    def put(self, handle: Handle, tensor: Tensor) -> None:
        """Let a variable hold a tensor from this point of the record on."""
        old = self.held(handle)
        if tensor._aval is old._aval and old._aval.trainable:
            tensor = apply_off_tape(ASSIGN, (old, tensor))
        tensor._id = handle.id
        self.values[handle] = tensor
        self.cells[handle] = None

    def note_read(self, variable: Variable) -> None:
        """Note that a variable is read (called by the engine)."""
        self.reads.setdefault(variable._handle, variable)
        self.used.setdefault(variable._handle, variable)

    def note_use(self, variable: Variable) -> None:
        """Note that a variable is assigned to (called by the engine)."""
        self.used.setdefault(variable._handle, variable)

    def assume(self, what: str) -> None:
        """Note that it holds for calls only in which something is so.

        Raises: NeedsValue if nothing else could be done in other calls.
        """
        if self.outer is None:
            raise NeedsValue(f"{what} is known only when it is called (at {user_location()}).")
        self.outer.assume(what)

    def call_python(self, what: str) -> None:
        """Note that Python does a step of it.

        Raises: NeedsValue in a branch or a loop, and where its Python is not there.
        """
        raise NeedsValue(
            f"{what} is needed inside a branch, a loop or a map (at {user_location()})."
        )

    @property
    def takes_steps(self) -> bool:
        """Whether the host may do steps of it."""
        return False

    def take_host_step(self) -> bool:
        """Note that the host does a step of it; False if that is not possible here."""
        return False

    def next_draw(self) -> int:
        """The number of a draw that has no seed of its own. Branches and loops count theirs."""
        self.draws += 1
        return self.draws - 1

    def drawn(self, key: Tensor, source: Drawn) -> Tensor:
        """`key`, which stands for what its source gives at each call."""
        self.keys[id(key)] = (key, source)
        return key

    def initial(self, value: Any, dtype: Any, variable: Variable) -> Tensor:
        """The initial value of a variable that is made meanwhile, worked out at once."""
        if self.outer is not None:
            return self.outer.initial(value, dtype, variable)
        if not callable(value):
            return worked_out(initial_tensor(value, dtype))
        with leaving():
            return initial_tensor(value, dtype)

    def lifted(self, x: Tensor) -> Tensor:
        """A tensor of it, worked out at once."""
        return lifted(x)

    def is_constant(self, x: Tensor) -> bool:
        """Whether a tensor that has a value has it at each call."""
        if id(x) in self.keys:
            return False
        return self.outer is None or self.outer.is_constant(x)

    def source_at(self, slot: int) -> Source:
        """Where a leaf, or what a variable holds at first, comes from."""
        for handle, symbol in self.symbols.items():
            if symbol._at[1] == slot:
                return handle
        return self._leaf_source(next(x for at, x in self.leaves.values() if at == slot))

    def _leaf_source(self, x: Tensor) -> Source:
        return self.keys[id(x)][1] if id(x) in self.keys else x

    def sources(self) -> tuple[Source, ...]:
        """Where the inputs that are no arguments come from: variables in the order in which they
        were met, then the leaves in the order of their slots."""
        return (*self.symbols, *[self._leaf_source(x) for _, x in self._distinct_leaves()])

    def further_inputs(self) -> list[int]:
        """Their slots."""
        leaves = [slot for slot, _ in self._distinct_leaves()]
        return [*[x._at[1] for x in self.symbols.values()], *leaves]

    def _distinct_leaves(self) -> list[tuple[int, Tensor]]:
        leaves = sorted(self.leaves.values(), key=_slot)
        return [leaf for leaf in leaves if leaf[0] not in self.same]

    def share_numbers(self) -> None:
        """Let numbers that are equal, and that nobody else holds any more, be one input: what is
        computed of them, as the bias corrections of each variable in an optimizer, is computed
        once."""
        self.same = {}
        first: dict[tuple[Aval, bytes], int] = {}
        for leaf in sorted(self.leaves.values(), key=_slot):
            if _is_number(leaf[1]) and _references(leaf) <= _OWN and id(leaf[1]) not in self.keys:
                number = leaf[1]._aval, leaf[1]._array.tobytes()
                earlier = first.setdefault(number, leaf[0])
                if earlier != leaf[0]:
                    self.same[leaf[0]] = earlier

    def name_of(self, slot: int) -> str:
        """The name of a tensor as TensorFlow makes it: its op's, numbered where there are more."""
        if slot in self.argument_names:
            return f"{self.argument_names[slot]}:0"
        for node, name in named(self):
            if node.first <= slot < node.end:
                return f"{name}:{slot - node.first}"
        return f"Const:{slot}"

    operation_at = operation_at

    def tensor_at(self, slot: int) -> Tensor:
        """The tensor in a slot: what it is if it came from outside, or a symbol."""
        for at, x in self.leaves.values():
            if at == slot:
                return x
        for x in self.symbols.values():
            if x._at[1] == slot:
                return x
        slots, alive = waiting(self.refs)
        if slot in slots:  # tapes know the tensor itself
            return alive[slots.index(slot)]
        node = next(node for node in self.node.path() if node.first <= slot < node.end)
        return pending(node.outputs[slot - node.first], self, slot)


_slot = operator.itemgetter(0)


def _is_number(x: Tensor) -> bool:
    return x._array.__class__ is np.ndarray and x._aval.packed is not None


def _references(leaf: tuple[int, Tensor]) -> int:
    """How many references to the tensor of a leaf are counted."""
    return sys.getrefcount(leaf[1])


#: References to a tensor that only its record holds.
_OWN = _references((0, Tensor.__new__(Tensor)))


def lifted(x: Tensor, inputs: Sequence[Tensor] = (), values: Sequence[Tensor] = ()) -> Tensor:
    """What a symbolic tensor is, worked out now, where these inputs have these values.

    Raises: ValueError if it depends on another input.
    """
    program = x._at[0]
    if x._array is not None or program is None or not program.symbolic:
        return x
    whole = close(program, inputs, [x], "initial_value").flat
    steps = needed(whole.steps, whole.outputs, effects=False)
    if any(step.closure.op is _PLACEHOLDER for step in steps):
        raise ValueError(
            f"Unable to lift tensor {x!r} out of {program.name}: the initial value of a "
            "tf.Variable made in a tf.function must not depend on the function's arguments. Make "
            f"it outside, or give a function that makes the value. At {user_location()}."
        )
    sources = [*values, *program.sources()]
    used = {place for step in steps for place in step.inputs}.union(whole.outputs)
    read = [place for place in range(whole.inputs) if place in used]
    closure = Call(Steps.numbered(steps, read, whole.outputs), "initial_value")
    with leaving():
        return apply(closure, tuple([worked_out(value_of(sources[i])) for i in read]))[0]


def worked_out(x: Tensor) -> Tensor:
    """What a tensor is in the call that is recorded, if that is known: see `lifted`."""
    program = x._at[0]
    return x if program is None or not program.symbolic else program.lifted(x)


def within(program: SymbolicProgram) -> Any:
    """Context: record into a function around the one that is being recorded, or into this one."""
    return changed(LOCAL.state, program=program, capture=program, recorders=())


@contextlib.contextmanager
def leaving() -> Iterator[None]:
    """Context: outside every function that is being recorded, and every tape."""
    with changed(LOCAL.state, program=None, recorders=(), capture=None, deferring=False):
        try:
            yield
        finally:
            flush()


class Captured(NamedTuple):
    """A function that was recorded.

    closure: from the inputs, then what the sources give, to the tensors of the result, then what
    these cells of variables hold after it. result: what the function returned. reads: the variables
    it reads; variables: those that it reads or assigns to.
    """

    closure: Call
    sources: tuple[Source, ...]
    result: Any
    cells: tuple[Handle, ...]
    reads: tuple[Variable, ...]
    variables: tuple[Variable, ...]

    def call(self, inputs: Sequence[Tensor], closure: Any = None) -> tuple[Tensor, ...]:
        """Call it, or a closure that takes and gives the same: the tensors of the result. Recorders
        see one instruction, and which variables it reads; variables are assigned to."""
        self.note_variables()
        return call_captured(closure or self.closure, list(inputs), self.sources, self.cells)

    def note_variables(self) -> None:
        """Tell recorders, and the function around, which variables it reads and assigns to."""
        for variable in self.reads:
            read(variable)
        outer = LOCAL.state.capture
        if outer is not None:
            for variable in self.variables:
                outer.note_use(variable)


@native
def call_captured(
    closure: Closure, tensors: list[Tensor], sources: tuple[Source, ...], cells: tuple[Handle, ...]
) -> tuple[Tensor, ...]:
    """Apply what was captured to tensors and to what its sources give; put what comes after the
    results into the cells of variables."""
    outputs = apply(closure, (*tensors, *map(value_of, sources)))
    results = len(outputs) - len(cells)
    for handle, tensor in zip(cells, outputs[results:], strict=True):
        put_into(handle, tensor)
    return outputs[:results]


class capturing:
    """Context: ops of this thread are recorded into a fresh symbolic program, made by `make`."""

    def __init__(self, make: Callable[[ThreadState], SymbolicProgram] = SymbolicProgram):
        self._make = make
        self.program: SymbolicProgram | None = None

    def __enter__(self) -> SymbolicProgram:
        state = self.state = LOCAL.state
        self.before = (state.program, state.recorders, state.capture, state.deferring)
        program = self.program = self._make(state)
        try:
            state.program = state.capture = program
            state.recorders = ()
            state.deferring = True
            return program
        except BaseException:  # an interrupt: the `with` block will not be entered
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        state = self.state
        state.program = None
        program, state.recorders, state.capture, state.deferring = self.before
        if program is not None:
            with program.lock:
                if not program.ran and not program.results:  # as reading a value does
                    state.program = program


def symbolic_input(aval: Aval) -> Tensor:
    """A tensor that stands for an input to be given later.

    Raises: NeedsValue for a string, which the host computes with.
    """
    if aval.dtype.name == "string":
        raise NeedsValue(f"A string is known only when it is given (at {user_location()}).")
    return apply(_PLACEHOLDER.bind(shape=aval.shape, dtype=aval.dtype), ())


def symbolic_value(aval: Aval) -> Tensor:
    """As `symbolic_input`, of texts too, which steps of the host may take."""
    if aval.dtype is not string:
        return symbolic_input(aval)
    place = symbolic_input(Aval.of(aval.shape, int8))  # JAX has no texts
    return pending(aval, *place._at)


def capture(
    function: Callable[..., Any],
    avals: Sequence[Aval],
    flatten: Callable[[Any], Sequence[Tensor]],
    name: str,
) -> Captured:
    """Record `function` on symbolic inputs of these avals.

    `flatten` gives the tensors of what the function returns. The variables that it assigns to are
    left as they were.
    """
    with capturing() as program:
        inputs = [symbolic_input(aval) for aval in avals]
        result = function(*inputs)
        return captured(program, inputs, result, flatten(result), name)


def captured(
    program: SymbolicProgram,
    inputs: Sequence[Tensor],
    result: Any,
    outputs: Sequence[Tensor],
    name: str,
) -> Captured:
    """What was recorded, while it is still under way."""
    cells = tuple(program.cells)
    given = [anchor(program, tensor) for tensor in outputs]
    given += [anchor(program, program.values[handle]) for handle in cells]
    program.share_numbers()
    closure = close(program, inputs, given, name, len(outputs))
    reads, variables = tuple(program.reads.values()), tuple(program.used.values())
    return Captured(closure, program.sources(), result, cells, reads, variables)


def anchor(program: SymbolicProgram, tensor: Tensor) -> Tensor:
    """`tensor` as an output that is the program's own, whatever the function returned."""
    return tensor if tensor._at[0] is program else apply(_OUTPUT, (tensor,))


#: An identity that is recorded, of constants too.
_OUTPUT = Op(lambda x: x, "Identity", host_foldable=False, of_sizes=lambda x: x).bind()


def leaves_of(program: SymbolicProgram) -> tuple[Tensor, ...]:
    """The tensors that a program reads beside its inputs, with what they hold now."""
    return tuple(map(value_of, program.sources()))


def close(
    program: SymbolicProgram,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    name: str,
    results: int | None = None,
    until: Node | None = None,
) -> Call:
    """The closure of a recorded program, from `inputs` and its leaves to `outputs`, of which so
    many are results. until: the last instruction whose effect counts."""
    node = program.node
    live = tuple(tensor._at[1] for tensor in outputs)
    given = tuple(tensor._at[1] for tensor in inputs)
    key = (name, live, given, tuple(program.same.items()), results, until)
    found: Any = node.captures.get(key)
    if found is None:
        slots = (*given, *program.further_inputs())
        inputs = set(slots)
        path = needed((until or node).path(), live)
        path = [s for s in path if s.first not in inputs or s.first == s.end]
        steps = Steps.numbered(path, slots, live, program.same)
        found = node.captures[key] = Call(steps, name, results=results)
    return found

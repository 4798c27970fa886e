"""Recording the parts of control flow: branches, predicates, bodies.

Each part is captured by itself. What the parts read from outside becomes the operands that they
share; the variables that they assign to become outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..core import errors
from ..core.avals import Aval
from ..core.dimensions import Size, Sizes
from ..core.dtypes import string
from ..core.state import LOCAL, ThreadState
from ..values import nest
from ..values.capture import (
    Captured,
    Source,
    SymbolicProgram,
    captured,
    capturing,
    symbolic_value,
    within,
)
from ..values.composite import Opaque
from ..values.convert import convert
from ..values.host_steps import same_text, takes_steps
from ..values.operation import Operation
from ..values.tensor import Tensor
from ..values.variable import Handle, Variable, read
from .buffers import Room
from .recorded_array import UnknownLength
from .tensor_array import TensorArray


def flat(structure: Any) -> list[Any]:
    """The leaves of a structure of tensors and TensorArrays."""
    return nest.flatten(structure, expand_composites=True)


def packed(structure: Any, leaves: Sequence[Any]) -> Any:
    """The inverse of `flat`."""
    return nest.pack_sequence_as(structure, leaves, expand_composites=True)


def tensor_of(leaf: Any) -> Any:
    """What a leaf is as a tensor; a TensorArray, a dataset and None are left as they are, and an
    operation is None as well."""
    if isinstance(leaf, Operation):
        return None
    if leaf is None or isinstance(leaf, TensorArray):
        return leaf
    if isinstance(leaf, Opaque):
        if recording():
            raise errors.NeedsPython(f"{leaf!r} is known when Python runs")
        return leaf
    tensor = leaf.read_value() if isinstance(leaf, Variable) else convert(leaf)
    if tensor.dtype is string and tensor._is_symbolic() and not takes_steps():
        raise errors.NeedsValue(
            f"A text that is known when the function is called cannot go into or out of a branch "
            f"or a loop (at {errors.user_location()})."
        )
    return tensor


class PartProgram(SymbolicProgram):
    """The record of a branch, or of the body of a loop, which Python may do steps of.

    in_parts: whether it does.
    """

    __slots__ = ("in_parts",)

    def __init__(self, owner: ThreadState, name: str):
        super().__init__(owner, name)
        self.in_parts = False

    @property
    def takes_steps(self) -> bool:
        """Whether the host may do steps of it."""
        return self.outer is not None and self.outer.takes_steps

    def take_host_step(self) -> bool:
        """Note that the host does a step of it; False if that is not possible here."""
        if self.outer is not None and self.outer.take_host_step():
            self.in_parts = True
        return self.in_parts

    def call_python(self, what: str) -> None:
        """Note that Python does a step of it.

        Raises: NeedsValue in a map, and where its Python is not there.
        """
        if self.outer is None or not self.takes_steps:
            super().call_python(what)
        else:
            self.outer.call_python(what)
            self.in_parts = True


class Part(NamedTuple):
    """A part that was recorded.

    captured: from its inputs to the tensors among `leaves`, then the cells. places: for each leaf
    that it was given, which input that is; None if it is none. structure: what the function
    returned. leaves: those of it, as tensors; TensorArrays, whose buffers are tensors of `captured`
    if they have any; None. avals: those of the inputs. in_parts: whether Python does steps of it.
    texts: whether texts are inputs and outputs too, as the host has them.
    """

    captured: Captured
    places: list[int | None]
    structure: Any
    leaves: list[Any]
    avals: list[Aval]
    in_parts: bool
    texts: bool

    @property
    def outputs(self) -> int:
        """How many values `captured` gives."""
        given = sum(self.tensor(leaf) is not None for leaf in self.leaves)
        return given + len(self.captured.cells)

    def tensor(self, leaf: Any) -> Tensor | None:
        """What `captured` has for a leaf."""
        return buffer_or_tensor(leaf, self.texts)

    def at(self, sizes: Sizes) -> Part:
        """The part with sizes for the unknown ones in it."""
        closure: Any = self.captured.closure.at(sizes)
        return self._replace(captured=self.captured._replace(closure=closure))


def buffer_or_tensor(leaf: Any, texts: bool = False) -> Tensor | None:
    """The tensor that a leaf stands for: the buffer of a TensorArray, if it has one. None for text,
    which is no input of a program, but where the host takes `texts`."""
    if isinstance(leaf, TensorArray):
        return leaf._recorded().buffer
    return None if leaf is None or (leaf.dtype is string and not texts) else leaf


def refuse_growth(one: TensorArray, other: TensorArray, where: str) -> None:
    """Refuse that a TensorArray has other numbers of elements in iterations or branches."""
    sizes = one._recorded().length, other._recorded().length
    if sizes[0] != sizes[1]:
        raise UnknownLength(
            f"A TensorArray has {sizes[0]} and {sizes[1]} elements in {where}, so how large it "
            f"becomes is not known before the function is called (at {errors.user_location()})."
        )


def record(
    function: Callable[..., Any],
    given: Sequence[Any],
    name: str,
    finish: Callable[[Recording, list[Any]], None] | None = None,
    room: Size | None = None,
    texts: bool = False,
    make: Callable[[ThreadState, str], SymbolicProgram] = PartProgram,
) -> Part:
    """Record a function on symbolic inputs like the leaves `given`, which it takes as a list:
    tensors, avals, TensorArrays, None.

    A TensorArray that has no buffer yet gets one, as a further input, when it is first written to.
    One that grows then has room for so many elements more, or as it
    needs. `finish` is called with the leaves of the
    result while it is still being recorded. `make` makes the record. texts: see `Part`.
    """
    with capturing(lambda state: make(state, name)) as program:
        part = Recording(program, given, room, texts)
        structure = function(part.arguments)
        leaves = [tensor_of(leaf) for leaf in flat(structure)]
        if finish is not None:
            finish(part, leaves)
        outputs = [x for x in map(part.output, leaves) if x is not None]
        found = captured(program, part.inputs, None, outputs, name)
    in_parts = isinstance(program, PartProgram) and program.in_parts
    avals = [x._aval for x in part.inputs]
    return Part(found, part.places, structure, leaves, avals, in_parts, texts)


class Recording:
    """A part that is being recorded. arguments: its leaves. inputs: its symbolic inputs."""

    def __init__(self, program: SymbolicProgram, given: Sequence[Any], room: Any, texts: bool):
        self.program, self._room, self._texts = program, room, texts
        self.inputs: list[Tensor] = []
        #: For each argument the place of its input, None while it has none.
        self.places: list[int | None] = []
        self.arguments = [self._argument(x) for x in given]

    def _argument(self, leaf: Any) -> Any:
        index = len(self.places)
        self.places.append(None)
        if isinstance(leaf, TensorArray):
            array = leaf._recorded().through_iterations(self._room)
            if array.buffer is None:
                room = Room(self.program, lambda aval: self.input(index, aval))
                return leaf._with(replace(array, _room=room))
            aval = Aval.of((array.length, *array.buffer._aval.shape[1:]), array.dtype)
            return leaf._with(array.with_buffer(self.input(index, aval)))
        if leaf is None or (leaf.dtype is string and not self._texts):
            return leaf
        return self.input(index, leaf if isinstance(leaf, Aval) else leaf._aval)

    def output(self, leaf: Any) -> Tensor | None:
        """The tensor of a leaf of the result."""
        x = buffer_or_tensor(leaf, self._texts)
        if x is None or x.dtype is not string or x._at[0] is self.program:
            return x
        return same_text(x)

    def input(self, index: int, aval: Aval) -> Tensor:
        """The input for an argument, made now."""
        with within(self.program):
            x = symbolic_value(aval)
        self.places[index] = len(self.inputs)
        self.inputs.append(x)
        return x


class Operands:
    """What several parts read from outside, each once."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._places: dict[Any, int] = {}

    def place(self, source: Source) -> int:
        """The place of a source."""
        key = source if isinstance(source, Handle) else id(source)
        if key not in self._places:
            self._places[key] = len(self.sources)
            self.sources.append(source)
        return self._places[key]


def assigned(parts: Iterable[Part]) -> list[Handle]:
    """The cells of variables that one of the parts assigns to."""
    return list(dict.fromkeys(h for part in parts for h in part.captured.cells))


def note_variables(parts: Sequence[Part]) -> None:
    """Tell recorders, and the function around, which variables the parts read and assign to."""
    reads = {v._handle: v for part in parts for v in part.captured.reads}
    for variable in reads.values():
        read(variable)
    outer = LOCAL.state.capture
    if outer is not None:
        for part in parts:
            for variable in part.captured.variables:
                outer.note_use(variable)


def recording() -> bool:
    """Whether a function is being recorded."""
    return LOCAL.state.capture is not None

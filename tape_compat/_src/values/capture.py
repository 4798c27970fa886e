"""Capture: record a Python function into a program with symbolic inputs, as one closure.

The inputs have shapes and dtypes but no values. Whatever else the function reads (constants,
tensors made before, variables) becomes a further input, so the closure is pure, is differentiable
with respect to all of them, and two captures of the same structure are the same closure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..core.avals import Aval
from ..core.op import Closure, Op
from ..core.program import CAPTURED, Program
from ..core.state import LOCAL, ThreadState
from ..core.steps import Steps, needed
from .record import apply, identity
from .tensor import Tensor

_PLACEHOLDER = Op(lambda shape, dtype: jnp.zeros(shape, dtype.np_dtype), "Placeholder")


class SymbolicProgram(Program):
    """A program whose leaves are tensors rather than arrays; it is replayed, never run."""

    __slots__ = ("cells", "leaves")
    symbolic = True

    def __init__(self, owner: ThreadState):
        super().__init__(owner, CAPTURED)
        self.leaves: dict[int, tuple[int, Tensor]] = {}
        #: What the cells of variables held that were assigned to meanwhile.
        self.cells: dict[Any, Tensor] = {}

    def slot_of(self, x: Tensor) -> int | None:
        found = super().slot_of(x)
        return self.leaves[id(x)][0] if found is None and id(x) in self.leaves else found

    def put_leaf(self, x: Tensor, slot: int) -> None:
        self.leaves[id(x)] = (slot, x)


class Captured(NamedTuple):
    """A closure made by `capture`, the tensors it reads beside its inputs, and what it gives: the
    result, then what these cells of variables hold after it."""

    closure: Closure
    captured: tuple[Tensor, ...]
    result: Any
    cells: tuple[Any, ...]


class capturing:
    """Context: ops of this thread are recorded into a fresh symbolic program."""

    def __enter__(self) -> SymbolicProgram:
        state = self.state = LOCAL.state
        self.before = (state.program, state.recorders, state.capture, state.deferring)
        program = SymbolicProgram(state)
        state.program = state.capture = program
        state.recorders = ()
        state.deferring = True
        return program

    def __exit__(self, *_: object) -> None:
        state = self.state
        for handle, tensor in state.capture.cells.items():
            handle.tensor = tensor
        program, state.recorders, state.capture, state.deferring = self.before
        state.program = None
        if program is not None:
            with program.lock:
                if not program.ran and not program.results:  # as reading a value does
                    state.program = program


def symbolic_input(aval: Aval) -> Tensor:
    """A tensor that stands for an input to be given later."""
    return apply(_PLACEHOLDER.bind(shape=aval.shape, dtype=aval.dtype), ())


def capture(
    function: Callable[..., Any],
    avals: Sequence[Aval],
    flatten: Callable[[Any], Sequence[Tensor]],
    name: str,
) -> Captured:
    """Record `function` on symbolic inputs of these avals.

    `flatten` gives the tensors of what the function returns. Returns a closure from the inputs,
    then the captured tensors, to those tensors, then to what the cells of variables hold that the
    function assigned to. The variables themselves are left as they were.
    """
    with capturing() as program:
        inputs = [symbolic_input(aval) for aval in avals]
        result = function(*inputs)
        outputs = [anchor(program, tensor) for tensor in flatten(result)]
        cells = tuple(program.cells)
        outputs += [anchor(program, handle.tensor) for handle in cells]
    return Captured(close(program, inputs, outputs, name), leaves_of(program), result, cells)


def anchor(program: SymbolicProgram, tensor: Tensor) -> Tensor:
    """`tensor` as an output that is the program's own, whatever the function returned."""
    return tensor if tensor._at[0] is program else identity(tensor)


def leaves_of(program: SymbolicProgram) -> tuple[Tensor, ...]:
    return tuple(tensor for _, tensor in sorted(program.leaves.values(), key=lambda x: x[0]))


def close(
    program: SymbolicProgram, inputs: Sequence[Tensor], outputs: Sequence[Tensor], name: str
) -> Closure:
    """The closure of a recorded program, from `inputs` and its leaves to `outputs`."""
    node = program.node
    live = tuple(tensor._at[1] for tensor in outputs)
    given = tuple(tensor._at[1] for tensor in inputs)
    key = (name, live, given)
    found = node.captures.get(key)
    if found is None:
        slots = (*given, *sorted(slot for slot, _ in program.leaves.values()))
        path = [s for s in needed(node.path(), live) if s.first not in given]
        steps = Steps.numbered(path, slots, live)
        found = node.captures[key] = Closure(Op(steps.replay, name), {})
    return found

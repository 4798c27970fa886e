"""The way of every op call: run it now, or record it.

`apply` holds the program's lock. Its twin in C takes none, and fewer steps. Append, then test
`state.program is program`; if false, another thread took the program and its copy of the log may
lack our entry: record again. So do both if the log has grown since the child was looked up: a
finalizer, run by a collection, may have recorded something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..core import limits
from ..core.avals import Aval, Packed
from ..core.native import native, provide
from ..core.op import Closure, Op
from ..core.program import Entry, Node, Program, node_of, refer
from ..core.state import LOCAL, MODE, ThreadState
from ..core.x64 import in_x64
from ..run import executor, policy
from . import forked
from .tensor import Tensor, concrete, next_id, pending


@native
def apply(closure: Closure, inputs: tuple[Tensor, ...]) -> Any:
    """Call a closure on tensors: a Tensor if it gives one array, else a tuple of Tensors.

    It is recorded while a recorder (a tape, an accumulator) or a capture is active, while something
    is pending, when an input is, and where it is likely to prepare a step; else it runs now.
    """
    state = LOCAL.state
    if not state.deferring and not _joins(state, inputs) and _concrete(inputs):
        if not _prepares(state, inputs):
            state.ran_now += 1
            return _run_now(closure, inputs, state)
        current_program(state).prepares = True
    if MODE.immediate and state.capture is None:
        return _run_now(closure, inputs, state)
    program = current_program(state)
    with program.lock:
        if program.ran or state.program is not program:  # another thread has just run it
            if state.program is program:
                state.program = None
            return apply(closure, inputs)
        log = program.log
        size = len(log)
        node = node_of(log[-1])
        key: list[Any] = [closure]
        leaves = None
        for x in inputs:
            at = x._at
            if at[0] is program:
                key.append(at[1])
            else:
                if leaves is None:
                    if closure.op.host_foldable and not program.symbolic and _host_only(inputs):
                        return _run_on_host(closure, inputs, state)
                    leaves = _Leaves(program)
                key.append(leaves.add(x))
        child = node.children.get(tuple(key))
        if child is None:
            child = _extend(program, node, tuple(key), leaves, inputs)
            if not state.deferring:
                child.joined = node.joined or _concrete(inputs)
                program.joined_new = program.joined_new or child.joined
        outputs = tuple(
            [pending(aval, program, slot) for slot, aval in enumerate(child.outputs, child.first)]
        )
        entry: Entry = child
        if leaves is not None:
            entry = child, tuple(leaves.arrays), tuple(leaves.scalars)
        references = list(map(refer, outputs))
        if len(log) != size or program.log is not log:  # a finalizer recorded or ran something
            return apply(closure, inputs)
        log.append(entry)
        for reference in references:
            program.refs.append(reference)
        if leaves is not None:
            leaves.placed(child.first_leaf)
    if state.recorders:
        notify(state.recorders, closure, inputs, outputs, child)
    if child.must_flush and not program.symbolic:
        executor.run(program)
    return outputs[0] if child.one_output else outputs


def _joins(state: ThreadState, inputs: tuple[Tensor, ...]) -> bool:
    """Whether an op belongs to what is pending though its inputs have values."""
    program = state.program
    return program is not None and state.device is None and (program.joins or not inputs)


def _prepares(state: ThreadState, inputs: tuple[Tensor, ...]) -> bool:
    """Whether an op is likely to prepare a step, which it is recorded with: nothing is pending, but
    after the last step of this kind ops ran here and a tape was entered."""
    return (
        state.previous is not None
        and state.program is None
        and state.device is None
        and not MODE.immediate
        and executor.leads_to_tape(state.previous)
        and not _host_only(inputs)
    )


def _concrete(inputs: tuple[Tensor, ...]) -> bool:
    for x in inputs:
        if x._array is None:
            return False
    return True


@native
def apply_scalar(closure: Closure, x: Tensor, value: float, reflected: bool) -> Any:
    """`apply` of a binary closure to a floating tensor and a Python number, in this order unless
    `reflected`. The number is a leaf that travels packed with the others of its dtype."""
    aval = x._aval.scalar
    number = concrete(np.array(value, aval.np_dtype), aval)
    return apply(closure, (number, x) if reflected else (x, number))


def notify(
    recorders: tuple[Any, ...],
    closure: Any,
    inputs: tuple[Tensor, ...],
    outputs: tuple[Tensor, ...],
    node: Node | None,
) -> None:
    """Tell the recorders that track one of the inputs."""
    for recorder in recorders:
        ids = recorder.ids
        for x in inputs:
            if x._id in ids:
                recorder.record(closure, inputs, outputs, node)
                break


class _Leaves:
    """The concrete inputs that one instruction brings into a program."""

    __slots__ = ("arrays", "kinds", "program", "scalars", "tensors")

    def __init__(self, program: Program):
        self.program = program
        self.arrays: list[Any] = []
        self.scalars: list[Any] = []
        self.kinds: list[Aval | Packed] = []
        self.tensors: list[Tensor] = []

    def add(self, x: Tensor) -> Any:
        """What stands for `x` in the key: the leaf's kind, or its place if it came twice."""
        for i, seen in enumerate(self.tensors):
            if seen is x:
                return ("again", i)
        if self.program.symbolic:
            return self._add_captured(x)
        aval = x._aval
        array = x._value()
        if array.__class__ is np.ndarray:
            if aval.packed is not None:
                self._take(x, aval.packed)
                self.scalars.append(array)
                return aval.packed
            if aval.nbytes >= limits.MOVE_AT_FIRST_USE_BYTES or x._at[0] is not None:
                array = x._device_array()
        self._take(x, aval)
        self.arrays.append(array)
        return aval

    def _add_captured(self, x: Tensor) -> Any:
        known = self.program.leaves.get(id(x))  # type: ignore[attr-defined]
        if known is not None:
            return known[0]
        self._take(x, x._aval)
        return x._aval

    def _take(self, x: Tensor, kind: Aval | Packed) -> None:
        self.tensors.append(x)
        self.kinds.append(kind)

    def placed(self, first: int) -> None:
        """Remember the slots, so that the next use of these tensors is not a new leaf."""
        program = self.program
        for slot, x in enumerate(self.tensors, first):
            if program.symbolic:
                program.leaves[id(x)] = (slot, x)  # type: ignore[attr-defined]
            else:
                put_leaf(x, program, slot)


def put_leaf(x: Tensor, program: Program, slot: int) -> None:
    """Remember where a leaf stands."""
    owner = x._at[0]
    if owner is not None and owner is not program and not owner.ran:
        owner.moved = True
    x._at = (program, slot)


def _host_only(inputs: tuple[Tensor, ...]) -> bool:
    """Whether all inputs are small integer constants on the host: shapes, axes, sizes."""
    for x in inputs:
        aval = x._aval
        if (
            x._array.__class__ is not np.ndarray
            or aval.np_dtype.kind not in "iub"
            or aval.size > policy.HOST_SIZE
        ):
            return False
    return True


def current_program(state: ThreadState) -> Program:
    """The pending program of this thread, begun if there is none."""
    program = state.program
    if program is None:
        program = state.program = Program(state)
        program.origin = state.origin
        program.joins = executor.joins(state.origin)
        if state.deferring and 0 < state.ran_now <= policy.MOST_BEFORE_TAPE:
            executor.led_to_tape(state.previous, state.ran_now)
        state.previous, state.ran_now = state.origin, 0
        state.programs += 1
    return program


def _extend(
    program: Program,
    node: Node,
    key: tuple,
    leaves: _Leaves | None,
    inputs: tuple[Tensor, ...],
) -> Node:
    """A structure not seen before: work out shapes and dtypes, or raise at the user's line."""
    closure = key[0]
    outputs, single = closure.infer(tuple(x._aval for x in inputs))
    slots = []
    new = node.end
    for part in key[1:]:
        if part.__class__ is int:
            slots.append(part)
        elif part.__class__ is tuple:
            slots.append(node.end + part[1])
        else:
            slots.append(new)
            new += 1
    kinds = tuple(leaves.kinds) if leaves is not None else ()
    child = Node(node, closure, tuple(slots), kinds, outputs, single)
    if program.tree.count > 2 * policy.MAX_NODES:
        program.tree.prune()
    return program.tree.extend(node, key, child)


# ---------------------------------------------------------------------------------------------
# Splices: sequences of instructions appended as one.


def splice(program: Program, key: tuple) -> list[Tensor | None] | None:
    """Append the sequence remembered under `key` at this point, or None if there is none."""
    with program.lock:
        if program.ran:
            return None
        log = program.log
        found = node_of(log[-1]).splices.get(key)
        if found is None:
            return None
        end, slots = found
        log.append(end)
        return splice_outputs(program, slots)


@native
def splice_outputs(program: Program, slots: tuple) -> list[Tensor | None]:
    """The answers of a splice: a pending tensor for each (slot, aval), the one at a place before
    for (place, None), None for (None, None)."""
    answers: list[Tensor | None] = []
    for slot, aval in slots:
        if aval is None:
            answers.append(None if slot is None else answers[slot])
        else:
            out = pending(aval, program, slot)
            answers.append(out)
            program.refs.append(refer(out))
    return answers


def remember_splice(program: Program, start: Node, key: tuple, answers: list[Any]) -> None:
    """Remember the sequence from `start` to here, if it read nothing new and gives tensors."""
    end = program.node
    if recorded_since(program, start) is None or end.must_flush:
        return
    slots = []
    places: dict[int, int] = {}
    for place, a in enumerate(answers):
        if a is None:
            slots.append((None, None))
        elif id(a) in places:
            slots.append((places[id(a)], None))
        elif a.__class__ is Tensor and a._at[0] is program:
            places[id(a)] = place
            slots.append((a._at[1], a._aval))
        else:
            return
    store_splice(start, key, (end, tuple(slots)))


def recorded_since(program: Program, start: Node) -> list[Node] | None:
    """What a program has recorded from `start` to here, the last first; None if it brought in
    something new, or what it reads may be elsewhere by now."""
    if program.ran or program.aliases or program.moved:
        return None
    steps: list[Node] = []
    node = program.node
    while node is not start:
        if node.leaves or node.parent is None:
            return None
        steps.append(node)
        node = node.parent
    return steps


def store_splice(start: Node, key: tuple, sequence: Any) -> None:
    if len(start.splices) >= policy.MAX_SPLICES:
        start.splices.clear()
    start.splices[key] = sequence


# ---------------------------------------------------------------------------------------------
# Now.


def _run_now(closure: Closure, inputs: tuple[Tensor, ...], state: ThreadState) -> Any:
    arrays = [x._value() for x in inputs]
    kinds = tuple([x._aval for x in inputs])
    avals, single = closure.infer(kinds)
    if state.device is None:
        results = executor.run_now(closure, kinds, arrays)
    else:
        with jax.default_device(state.device):
            results = in_x64(closure.run, *arrays)
    return _finished(closure, inputs, results, avals, single, state)


def _run_on_host(closure: Closure, inputs: tuple[Tensor, ...], state: ThreadState) -> Any:
    """Integer constants in, integer constants out, on the CPU, whatever is pending."""
    kinds = tuple([x._aval for x in inputs])
    avals, single = closure.infer(kinds)
    with jax.default_device(_host_device()):
        results = executor.run_on_host(closure, kinds, [x._array for x in inputs])
    if all(aval.size <= policy.HOST_SIZE for aval in avals):
        results = list(map(np.asarray, results))
    return _finished(closure, inputs, results, avals, single, state)


def _finished(
    closure: Closure,
    inputs: tuple[Tensor, ...],
    results: Sequence[Any],
    avals: tuple[Aval, ...],
    single: bool,
    state: ThreadState,
) -> Any:
    outputs = tuple(map(concrete, results, avals))
    if state.recorders:
        notify(state.recorders, closure, inputs, outputs, None)
    return outputs[0] if single else outputs


def _host_device() -> Any:
    global _HOST_DEVICE
    if _HOST_DEVICE is None:
        _HOST_DEVICE = jax.local_devices(backend="cpu")[0]
    return _HOST_DEVICE


_HOST_DEVICE: Any = None


# ---------------------------------------------------------------------------------------------
# What the core itself needs.


def _identity(x: Any) -> Any:
    return x


#: Its cotangent is its output's, sparse or not.
IDENTITY = Op(_identity, "Identity", sparse=lambda closure, inputs, given, want: given).bind()


def identity(x: Tensor) -> Tensor:
    """A tensor of its own with the value of `x`, connected to it on tapes."""
    return apply(IDENTITY, (x,))


def moved(x: Tensor, array: Any) -> Tensor:
    """A tensor of `array`, the value of `x` in another place, connected to it on tapes."""
    output = concrete(array, x._aval)
    notify(LOCAL.state.recorders, IDENTITY, (x,), (output,), None)
    return output


def begin_step() -> None:
    """Send off this thread's pending work, unless it is what prepares the step that begins."""
    program = LOCAL.state.program
    if program is not None and program.prepares:
        program.prepares = False
    else:
        flush()


def flush() -> None:
    """Send off this thread's pending work. Does not wait for it."""
    program = LOCAL.state.program
    if program is not None and not program.symbolic:
        executor.run(program)


forked.watch()
provide(current_program=current_program)

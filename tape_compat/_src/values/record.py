"""The way of every op call: run it now, or record it.

`apply` holds the program's lock. Its twin in C takes none, and fewer steps. Append, then test
`state.program is program`; if false, another thread took the program and its copy of the log may
lack our entry: record again. So do both if the log has grown since the child was looked up: a
finalizer, run by a collection, may have recorded something.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..core import limits
from ..core.avals import Aval, Packed
from ..core.errors import InvalidArgumentError, while_recorded
from ..core.native import native, provide
from ..core.op import Closure, Op
from ..core.program import Entry, Node, Program, node_of, refer
from ..core.state import LOCAL, MODE, ThreadState
from ..core.x64 import in_x64
from ..run import executor, policy
from ..run.op_by_op import interprets, op_runner
from . import forked
from .tensor import Tensor, concrete, pending


@native
def apply(closure: Closure, inputs: tuple[Tensor, ...]) -> Any:
    """Call a closure on tensors: a Tensor if it gives one array, else a tuple of Tensors.

    It is recorded while a recorder (a tape, an accumulator) or a capture is active, while something
    is pending, when an input is, and where it is likely to prepare a step; else it runs now.
    """
    state = LOCAL.state
    if not state.deferring:
        splits = _splits(state, inputs)
        if splits:
            flush()
        if splits or (not _joins(state, inputs) and _concrete(inputs)):
            if not splits and not _prepares(state, inputs):
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
        slots, leaves = _slots(program, node.end, inputs)
        if _foldable(program, closure, inputs, leaves):
            return _run_now(closure, inputs, state, on_host=True)
        new = [_leaf(program, x) for x in leaves]
        kinds = {slot: kind for slot, (kind, _) in enumerate(new, node.end)}
        key = closure, *[kinds.pop(slot, slot) for slot in slots]  # a leaf by its kind, once
        child = node.children.get(key)
        if child is None:
            # A structure not seen before: shapes and dtypes are worked out, or refused.
            given, single = _inferred(program, closure, inputs)
            child = Node(node, closure, slots, tuple([kind for kind, _ in new]), given, single)
            if program.tree.overgrown:
                program.tree.prune()
            child = program.tree.extend(node, key, child)
            if not state.deferring:
                child.joined = node.joined or _concrete(inputs)
                program.joined_new = program.joined_new or child.joined
        outputs = tuple(
            [pending(aval, program, slot) for slot, aval in enumerate(child.outputs, child.first)]
        )
        entry: Entry = child
        if leaves:
            arrays = tuple([array for kind, array in new if kind.__class__ is Aval])
            entry = child, arrays, tuple([a for kind, a in new if kind.__class__ is Packed])
        references = list(map(refer, outputs))
        if len(log) != size or program.log is not log:  # a finalizer recorded or ran something
            return apply(closure, inputs)
        log.append(entry)
        for reference in references:
            program.refs.append(reference)
        for slot, x in enumerate(leaves, node.end):
            program.put_leaf(x, slot)
    if state.recorders:
        notify(state.recorders, closure, inputs, outputs, child)
    if child.must_flush and not program.symbolic:
        executor.run(program)
    return outputs[0] if child.one_output else outputs


def _inferred(program: Any, closure: Closure, inputs: tuple[Tensor, ...]) -> Any:
    try:
        return closure.infer(tuple([x._aval for x in inputs]))
    except InvalidArgumentError as error:
        raise while_recorded(error) if program.symbolic else error  # noqa: B904


def _joins(state: ThreadState, inputs: tuple[Tensor, ...]) -> bool:
    """Whether an op belongs to what is pending though its inputs have values."""
    program = state.program
    return program is not None and state.device is None and (program.joins or not inputs)


def _splits(state: ThreadState, inputs: tuple[Tensor, ...]) -> bool:
    """Whether an op is likely to be the first of what prepares the next step: what is pending is as
    long as a step was before such ops. They are recorded with the step that they prepare, where XLA
    can fuse them, and a step that is read is the same program as one that is not."""
    program = state.program
    return (
        program is not None
        and program.split == len(program.log)
        and program.joins
        and state.device is None
        and not program.symbolic
        and _concrete(inputs)
        and not _host_only(inputs)
    )


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
    if -6e4 < value < 6e4:
        array = np.array(value, aval.np_dtype)
    else:
        with np.errstate(over="ignore"):  # infinity, of what the dtype cannot hold
            array = np.array(value, aval.np_dtype)
    number = concrete(array, aval)
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


def _slots(
    program: Program, end: int, inputs: tuple[Tensor, ...]
) -> tuple[tuple[int, ...], list[Tensor]]:
    """Where the inputs of an instruction stand in a program, and which of them are new to it: they
    will stand from `end` on."""
    slots = []
    leaves: dict[int, Tensor] = {}
    places: dict[int, int] = {}
    for x in inputs:
        slot = program.slot_of(x)
        if slot is None:
            slot = places.setdefault(id(x), end + len(leaves))
            leaves[id(x)] = x
        slots.append(slot)
    return tuple(slots), list(leaves.values())


def _leaf(program: Program, x: Tensor) -> tuple[Aval | Packed, Any]:
    """What stands in a key for a tensor that is new to a program, and its array. One of the host
    moves to the device if it is large, or was used before; one that may be changed in place does
    not at once."""
    if program.symbolic:
        if x._array is None and x._at[0].symbolic:
            program.refuse_foreign(x)  # type: ignore[attr-defined]
        return x._aval, None
    aval, array = x._aval, x._value()
    if array.__class__ is np.ndarray:
        if aval.packed is not None:
            return aval.packed, array.item()
        large = aval.nbytes >= limits.MOVE_AT_FIRST_USE_BYTES
        stays = aval.nbytes >= policy.IN_PLACE_BYTES and interprets()
        if (large and not stays) or x._at[0] is not None:
            array = x._device_array()
    return aval, array


def _foldable(program: Any, closure: Closure, inputs: tuple[Tensor, ...], leaves: list) -> bool:
    """Whether an op of constants is done at once on the host, and gives constants."""
    if not closure.op.host_foldable or not inputs or not _host_only(inputs):
        return False
    if program.symbolic:
        known = closure.op.of_sizes is not None and not closure.unknown
        return known and all(program.is_constant(x) for x in inputs)
    return bool(leaves)


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
        program.split = executor.split_of(state.origin, program.begun)
        if state.deferring and 0 < state.ran_now <= limits.MOST_BEFORE_TAPE:
            executor.led_to_tape(state.previous, state.ran_now)
        state.previous, state.ran_now = state.origin, 0
        state.programs += 1
    return program


# ---------------------------------------------------------------------------------------------
# Splices: sequences of instructions appended as one.


#: The node that a sequence ends at, and the slots and avals of its answers: see `splice_outputs`.
Spliced = tuple[Node, tuple]


def splice(program: Program, start: Node, sequence: Spliced) -> list[Tensor | None] | None:
    """Append a sequence that was remembered at `start`, or None if that is not where this program
    is any more."""
    with program.lock:
        if program.ran or node_of(program.log[-1]) is not start:
            return None
        end, slots = sequence
        program.log.append(end)
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


def sequence_since(program: Program, start: Node, answers: list[Any]) -> Spliced | None:
    """The sequence from `start` to here, None if it read something new or gives what is not a
    tensor of this program."""
    end = program.node
    if recorded_since(program, start) is None or end.must_flush:
        return None
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
            return None
    return end, tuple(slots)


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


# ---------------------------------------------------------------------------------------------
# Now.


def _run_now(
    closure: Closure, inputs: tuple[Tensor, ...], state: ThreadState, on_host: bool = False
) -> Any:
    """Run an op at once. on_host: integer constants in, integer constants out, whatever is
    pending."""
    arrays = [x._value() for x in inputs]
    kinds = tuple([x._aval for x in inputs])
    avals, single = closure.infer(kinds)
    if on_host:
        results = executor.run_on_host(closure, kinds, arrays)
        if all(aval.size <= policy.HOST_SIZE for aval in avals):
            results = list(map(np.asarray, results))
    elif state.device is None:
        results = op_runner(closure, kinds).now(*arrays)
    else:
        with jax.default_device(state.device):
            results = in_x64(closure.run, *arrays)
    if closure.effect:
        executor.finish_effects()
    outputs = tuple(map(concrete, results, avals))
    if MODE.checks is not None:
        MODE.checks(closure, inputs, outputs)
    if state.recorders:
        notify(state.recorders, closure, inputs, outputs, None)
    return outputs[0] if single else outputs


# ---------------------------------------------------------------------------------------------
# What the core itself needs.


#: Its cotangent is its output's, sparse or not.
IDENTITY = Op(
    lambda x: x,
    "Identity",
    sparse=lambda closure, inputs, given, want: given,
    of_sizes=lambda x: x,
).bind()


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
        program.begun = len(program.log)
        program.split = executor.split_of(program.origin, program.begun)
    elif program is not None and not program.symbolic:
        if program.node.joined:
            executor.note_tail(program)
        executor.run(program)


def flush() -> None:
    """Send off this thread's pending work. Does not wait for it."""
    program = LOCAL.state.program
    if program is not None and not program.symbolic:
        executor.run(program)


forked.watch()
provide(current_program=current_program)

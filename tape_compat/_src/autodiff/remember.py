"""Derivatives asked for again are appended as they were worked out the first time.

Where nothing else records, as one entry of the log: `record.splice`. Other tapes must see each
instruction; for them its script is played: the same closures, of the same tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.caches import keep
from ..core.program import Node, Program
from ..core.state import LOCAL, MODE
from ..core.steps import Steps
from ..run import policy
from ..values.indexed_slices import IndexedSlices
from ..values.record import Spliced, apply, recorded_since, sequence_since, splice
from ..values.tensor import Tensor
from . import reverse
from .missed import Shown, missed
from .record import Record


class Tape(Protocol):
    """What is asked of a tape: the identities that it tracks, and its reads of variables."""

    ids: set[int]
    reads: dict[int, Tensor]


class Script(NamedTuple):
    """The instructions of derivatives in terms of the calls on a tape.

    given: the tensors that they read, by where they stand in `reverse.Calls` and which input they
    are. answers: for each derivative its place among the outputs of the steps, or None.
    """

    given: tuple[tuple[int, int], ...]
    steps: Steps
    answers: tuple[int | None, ...]

    def play(self, calls: reverse.Calls) -> list[Tensor | None]:
        given = [reverse.as_tuple(calls[place])[i] for place, i in self.given]
        made = self.steps.interpret(lambda call, x: reverse.as_tuple(apply(call, x)), given)
        return [None if i is None else made[i] for i in self.answers]


def script(
    program: Program, start: Node, calls: reverse.Calls, answers: Sequence[Any]
) -> Script | None:
    """The script of what a program has recorded from `start` on; None if it brought in something,
    or read what no call did."""
    steps = recorded_since(program, start)
    if steps is None:
        return None
    place_of: dict[int, tuple[int, int]] = {}
    for place in range(1, len(calls), 4):
        for i, x in enumerate(reverse.as_tuple(calls[place])):
            if x._at[0] is program:
                place_of.setdefault(x._at[1], (place, i))
    given: dict[int, None] = {}
    for step in steps:
        for slot in step.inputs:
            if slot < start.end and slot not in given:
                if slot not in place_of:
                    return None
                given[slot] = None

    slots: list[int] = []
    numbers: list[int | None] = []
    for a in answers:
        if a is None:
            numbers.append(None)
        elif a.__class__ is Tensor and a._at[0] is program and a._at[1] >= start.end:
            numbers.append(len(slots))
            slots.append(a._at[1])
        else:
            return None
    played = Steps.numbered(reversed(steps), given, slots)
    return Script(tuple(place_of[slot] for slot in given), played, tuple(numbers))


class SlicedSequence(NamedTuple):
    """A sequence some of whose answers are IndexedSlices.

    sequence: its answers are the tensors and the parts of slices that it makes, in order. forms:
    for each answer None if it is the next of those; else where values and indices come from, None
    likewise or an input of a call as in `Script`, and the dense shape, which is always the same.
    """

    sequence: Spliced
    forms: tuple[tuple[Any, ...] | None, ...]

    def answers(self, made: list[Any], calls: reverse.Calls) -> list[Any]:
        """The derivatives, of the tensors that the sequence has made."""
        parts = iter(made)

        def part(form: tuple[int, int] | None) -> Any:
            return next(parts) if form is None else reverse.as_tuple(calls[form[0]])[form[1]]

        return [
            next(parts) if form is None else IndexedSlices(part(form[0]), part(form[1]), form[2])
            for form in self.forms
        ]


def _spliced(program: Program, start: Node, found: Any, calls: reverse.Calls) -> list[Any] | None:
    """The answers of what is remembered at `start`, appended; None if there is none."""
    if found is None:
        return None
    if found.__class__ is not SlicedSequence:
        return splice(program, start, found)
    made = splice(program, start, found.sequence)
    return None if made is None else found.answers(made, calls)


def _sequence(
    program: Program, start: Node, calls: reverse.Calls, answers: list[Any]
) -> Spliced | SlicedSequence | None:
    """What to remember of derivatives that were recorded from `start` on; None if they cannot be
    had so again."""
    if not any(a.__class__ is IndexedSlices for a in answers):
        return sequence_since(program, start, answers)
    made: list[Any] = []
    forms: list[tuple[Any, ...] | None] = []
    for answer in answers:
        if answer.__class__ is not IndexedSlices:
            made.append(answer)
            forms.append(None)
            continue
        form = []
        for x in (answer.values, answer.indices):
            new = x._at[0] is program and x._at[1] >= start.end
            form.append(None if new else _read_by(calls, x))
            if new:
                made.append(x)
            elif form[-1] is None:
                return None
        shape = answer.dense_shape
        if shape.__class__ is not Tensor or shape._array.__class__ is not np.ndarray:
            return None  # it was not told by shapes
        form.append(shape)
        forms.append(tuple(form))
    sequence = sequence_since(program, start, made)
    return None if sequence is None else SlicedSequence(sequence, tuple(forms))


def _read_by(calls: reverse.Calls, x: Any) -> tuple[int, int] | None:
    """Where a call has a tensor among its inputs."""
    for place in range(1, len(calls), 4):
        for i, given in enumerate(reverse.as_tuple(calls[place])):
            if given is x:
                return place, i
    return None


def structure_key(
    program: Any,
    calls: reverse.Calls,
    targets: list[Tensor],
    sources: list[Any],
    tracked: set[int],
    reads: dict[int, Tensor],
) -> tuple | None:
    """What the instructions of a gradient depend on, in terms of the pending program: the nodes
    recorded and the slots of targets and sources. None if that is not the whole story."""
    key: list[Any] = calls[3::4]
    if None in key:
        return None
    key.append(None)
    for target in targets:
        owner, slot = target._at
        if owner is not program:
            return None
        key.append(slot)
    key.append(None)
    for source in sources:
        identity = source._id
        tensor = source if source.__class__ is Tensor else reads.get(identity)
        if tensor is None:
            return None
        owner, slot = tensor._at
        if owner is not program:
            return None
        key.append(slot if identity in tracked else (slot,))
    return tuple(key)


def remembered(
    tape: Tape,
    record: Record,
    what: Any,
    targets: list[Tensor],
    sources: list[Any],
    compute: Callable[[Shown | None], list[Any]],
) -> list[Any]:
    """The derivatives `what` as `compute` gives them, or as it gave them if the same were asked for
    at this point before."""
    shown = missed(tape, record.calls)
    if shown is not None:
        return _computed(compute, shown)
    state = LOCAL.state
    program, recorders = state.program, state.recorders
    if (
        program is None
        or program is not record.program
        or (MODE.immediate or record.reassigned or program.aliases or program.moved)
        or not all(r.__class__ is tape.__class__ for r in recorders)
    ):
        return _computed(compute)
    key = structure_key(program, record.calls, targets, sources, tape.ids, tape.reads)
    if key is None:
        return _computed(compute)
    start = program.node
    if not recorders:
        key = (what, key)
        answers = _spliced(program, start, start.splices.get(key), record.calls)
        if answers is None:
            answers = _computed(compute)
            found = _sequence(program, start, record.calls, answers)
            if found is not None and any(a is not None for a in answers):  # else a place is told
                keep(start.splices, key, found, policy.MAX_SPLICES)
        return answers
    key = ("script", what, key)
    found = start.splices.get(key)
    if found is not None:
        return found.play(record.calls)
    calls = record.calls.copy()  # the tape may be one of the recorders
    answers = _computed(compute)
    written = script(program, start, calls, answers)
    if written is not None:
        keep(start.splices, key, written, policy.MAX_SPLICES)
    return answers


def _computed(
    compute: Callable[[Shown | None], list[Any]], shown: Shown | None = None
) -> list[Any]:
    with reverse.deferring():
        return compute(shown)

"""The parts of a record that Python does steps of: programs, and the steps between them.

Where a step of the host tells sizes, what depends on them is kept apart from what does not, so that
of a step with a mask only the few masked ops are of other shapes at each call; the layers before
and behind them are programs that serve all calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple

from ..core.avals import Aval
from ..core.caches import Cache
from ..core.call import Call
from ..core.limits import MAX_CONTROL_FLOW
from ..core.op import Closure
from ..core.steps import Step, Steps
from ..values.host_steps import PythonStep

#: So many times as many parts as in the order of the record are not worth it.
_MAX_MORE_PARTS = 3


class ProgramPart(NamedTuple):
    """A part of a record: what it does, the numbers of what it reads, and of what it gives. sized:
    whether shapes in it depend on sizes that a step of the host tells."""

    closure: Closure
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    sized: bool = False


class _Kind(IntEnum):
    """What does a step, in the order in which groups of them take turns."""

    FIXED = 0
    PYTHON = 1
    SIZED = 2


#: The parts of a record, by it and the avals of what it takes.
_PARTS: Cache[tuple, list[ProgramPart]] = Cache("parts of functions", MAX_CONTROL_FLOW)


def parts_of(call: Call, avals: tuple[Aval, ...] | None = None) -> list[ProgramPart]:
    """The parts of a record, in its order. avals: those of what it takes; given them, what depends
    on sizes that are told at a call is kept apart, in an order that does the same."""
    return _PARTS.find((call, avals), lambda: _split(call, avals))


def parts_between(call: Call, alone: Callable[[Closure], bool]) -> list[ProgramPart]:
    """The parts of a record, of which what is to be alone is one as well."""

    def by_itself(closure: Closure) -> bool:
        return isinstance(closure, PythonStep) or alone(closure)

    groups = _in_order(call.flat.steps, by_itself)
    return _parts(call, [(group, False) for group in groups], by_itself)


def _split(call: Call, avals: tuple[Aval, ...] | None) -> list[ProgramPart]:
    flat = call.flat
    groups = _in_order(flat.steps)
    if avals is None:
        return _parts(call, [(group, False) for group in groups])
    kinds = _kinds(flat, avals)
    if _Kind.SIZED in kinds:
        by_kind = _by_kind(flat.steps, kinds)
        if len(by_kind) <= _MAX_MORE_PARTS * len(groups):
            return _parts(call, by_kind)
    sized = {id(step) for step, kind in zip(flat.steps, kinds) if kind is _Kind.SIZED}
    return _parts(call, [(group, not sized.isdisjoint(map(id, group))) for group in groups])


def _by_python(closure: Closure) -> bool:
    return isinstance(closure, PythonStep)


def _in_order(
    steps: Sequence[Step], alone: Callable[[Closure], bool] = _by_python
) -> list[list[Step]]:
    """The steps from one that is to be alone to the next, and these."""
    groups: list[list[Step]] = [[]]
    for step in steps:
        if alone(step.closure):
            groups += [[step], []]
        else:
            groups[-1].append(step)
    return [group for group in groups if group]


def _kinds(flat: Steps, avals: tuple[Aval, ...]) -> list[_Kind]:
    """The kind of each step."""
    known: list[Aval | None] = list(avals)
    kinds = []
    for closure, inputs, first, end in flat.steps:
        found = _given(closure, [known[i] for i in inputs], end - first)
        told = closure.unknown or any(_is_unknown(aval) for aval in found)
        if isinstance(closure, PythonStep):
            kinds.append(_Kind.PYTHON)
        elif told or any(_is_unknown(known[i]) for i in inputs):
            kinds.append(_Kind.SIZED)
        else:
            kinds.append(_Kind.FIXED)
        known += found
    return kinds


def _given(closure: Closure, avals: Sequence[Aval | None], outputs: int) -> Sequence[Aval | None]:
    """The avals of what a step gives, None where that cannot be told."""
    if isinstance(closure, PythonStep):
        return closure.avals
    known = tuple([aval for aval in avals if aval is not None])
    if len(known) == len(avals):
        try:
            return closure.infer(known)[0]
        except Exception:  # of sizes in it some are known and some are not
            pass
    return [None] * outputs


def _is_unknown(aval: Aval | None) -> bool:
    return aval is None or aval.unknown


def _by_kind(steps: Sequence[Step], kinds: Sequence[_Kind]) -> list[tuple[list[Step], bool]]:
    """Groups of steps of one kind, and whether they are sized: each step is in the first group
    behind those of what it reads, and of what tells its sizes, or in a later one of its kind that
    is there anyway, if all that read it are in that or behind it. Effects stay in their order."""
    turn: dict[int, int] = {}
    turns: list[int] = []
    effects = told = 0
    for step, kind in zip(steps, kinds, strict=True):
        ordered = has_effect(step.closure)
        after = max((turn.get(i, 0) for i in step.inputs), default=0)
        if ordered:
            after = max(after, effects)
        if step.closure.unknown:  # zeros of such a size read nothing
            after = max(after, told)
        found = after + (kind - after) % len(_Kind)
        if ordered:
            effects = found
        if isinstance(step.closure, PythonStep) and any(map(_is_unknown, step.closure.avals)):
            told = max(told, found)
        turn.update(dict.fromkeys(range(step.first, step.end), found))
        turns.append(found)
    groups: dict[int, list[Step]] = {}
    for step, number in zip(steps, _put_off(steps, turns), strict=True):
        groups.setdefault(number, []).append(step)
    found_groups: list[tuple[list[Step], bool]] = []
    for number in sorted(groups):
        if number % len(_Kind) == _Kind.PYTHON:
            found_groups += [([step], False) for step in groups[number]]
        else:
            found_groups.append((groups[number], number % len(_Kind) == _Kind.SIZED))
    return found_groups


def _put_off(steps: Sequence[Step], turns: Sequence[int]) -> list[int]:
    """The turns of groups of steps, each step in the last group of its kind of which all that read
    it are members or come later; effects and what Python does stay."""
    found = list(turns)
    numbers = sorted(set(turns), reverse=True)
    last = max(turns, default=0)
    until: dict[int, int] = {}  # by a value, the turn of the first that reads it
    for place in range(len(steps) - 1, -1, -1):
        closure, inputs, first, end = steps[place]
        kind = turns[place] % len(_Kind)
        if kind != _Kind.PYTHON and not has_effect(closure):
            before = min([until.get(i, last) for i in range(first, end)], default=last)
            found[place] = next(n for n in numbers if n <= before and n % len(_Kind) == kind)
        for i in inputs:
            until[i] = min(until.get(i, last), found[place])
    return found


def has_effect(closure: Closure) -> bool:
    """Whether somebody can tell when it is called."""
    return closure.effect and not (isinstance(closure, PythonStep) and closure.silent)


def _parts(
    call: Call,
    groups: Sequence[tuple[Sequence[Step], bool]],
    alone: Callable[[Closure], bool] = _by_python,
) -> list[ProgramPart]:
    """Groups of steps as parts, without those of which nothing is wanted."""
    wanted = set(call.flat.outputs)
    parts: list[ProgramPart] = []
    for group, sized in reversed(groups):
        if len(group) == 1 and _is_idle(group[0], wanted, parts):
            continue
        made = [i for step in group for i in range(step.first, step.end)]
        read = dict.fromkeys(i for step in group for i in step.inputs)
        inputs = tuple([i for i in read if i not in set(made)])
        if alone(group[0].closure):
            parts.append(ProgramPart(group[0].closure, group[0].inputs, tuple(made)))
        else:
            outputs = tuple([i for i in made if i in wanted])
            steps = Steps.numbered(group, inputs, outputs)
            # of other shapes at each call: it is compiled when that has paid
            part = Call(steps, call.name, 0 if sized else call.due)
            parts.append(ProgramPart(part, inputs, outputs, sized))
        wanted.update(inputs)
    return parts[::-1]


def _is_idle(step: Step, wanted: set[int], later: Sequence[ProgramPart]) -> bool:
    """Whether nothing that a step of the host gives is wanted, nor its sizes by what follows."""
    if not isinstance(step.closure, PythonStep) or not step.closure.silent:
        return False
    if not wanted.isdisjoint(range(step.first, step.end)):
        return False
    return not any(part.closure.unknown for part in later)

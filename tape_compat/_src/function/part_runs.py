"""How the parts of a record are run: with tensors, or on arrays where nobody follows them.

On arrays a part looks up nothing but what its sizes are, and no tensors are made but for the steps
that the host does: a turn of a loop of four parts takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..core import errors
from ..core.avals import Aval
from ..core.caches import Cache, keep
from ..core.call import Call
from ..core.dimensions import Sizes
from ..core.host import on_host
from ..core.limits import MAX_CONTROL_FLOW, MAX_PART_AS_OP, MAX_SHAPES_PER_CLOSURE
from ..core.op import Closure
from ..core.state import LOCAL
from ..run.op_by_op import OpRunner, as_here, op_runner, result
from ..run.polymorphic import Polymorphic
from ..values.capture import Captured
from ..values.host_steps import PythonStep
from ..values.record import apply, begin_step, flush, notify
from ..values.tensor import Tensor, concrete
from .program_parts import ProgramPart
from .untaken import at_sizes


def _shown(avals: Sequence[Aval]) -> str:
    """Avals in a message."""
    return ", ".join(f"{aval.dtype.name}{list(aval.shape)}" for aval in avals) or "nothing"


def run_part(closure: Call, given: tuple[Tensor, ...], at_once: bool) -> Sequence[Tensor]:
    """What a part gives: a short one is done `at_once`, as an op by itself; tapes see it as one
    call."""
    if not at_once or closure.effect or len(closure.flat.steps) > MAX_PART_AS_OP:
        return as_program(closure, given)
    avals = tuple([x._aval for x in given])
    runner = closure.runners.get(avals)
    if runner is None:
        closure.infer(avals)  # raises for what is wrong
        runner = op_runner(closure, avals)
    found = runner.now(*[x._value() for x in given])
    outputs = tuple(map(concrete, found, runner.outputs))
    state = LOCAL.state
    if state.recorders:
        notify(state.recorders, closure, given, outputs, None)
    return outputs


#: What parts without effects do for sizes that are new.
_POLYMORPHIC: Cache[Closure, Polymorphic] = Cache("parts for any sizes", MAX_CONTROL_FLOW)


def run_sized(
    closure: Call, sizes: Sizes, given: tuple[Tensor, ...], at_once: bool
) -> Sequence[Tensor]:
    """What a part gives for sizes that a step of the host has given."""
    followed = bool(LOCAL.state.recorders)  # tapes see calls of known sizes
    found = _of_new_sizes(closure, sizes, given) if at_once and not followed else None
    if found is not None:
        return found
    at = at_sizes(closure, sizes, tuple([x._aval for x in given]))
    return run_part(at, given, at_once)


def _of_new_sizes(
    closure: Call, sizes: Sizes, given: tuple[Tensor, ...]
) -> Sequence[Tensor] | None:
    """The same by what serves all sizes, while they have not come often; else None."""
    if closure.effect:
        return None
    steps = closure.flat
    program = _POLYMORPHIC.find(closure, lambda: Polymorphic(steps))
    if not program.is_new(sizes if closure.unknown else None, tuple([x._aval for x in given])):
        return None
    try:
        return list(map(concrete, program.run(sizes, [x._value() for x in given])))
    except Exception:  # run for these sizes it is raised as of the op that it comes from
        return None


def run_step_or_part(
    found: Captured,
    part: tuple[Any, bool],
    given: tuple[Any, ...],
    sizes: Sizes,
    at_once: bool,
) -> tuple[Sequence[Any], Sizes]:
    """What a step of the host or a part gives, and the sizes with those that it tells. part: its
    closure, and whether that is of unknown sizes."""
    closure, sized = part
    if isinstance(closure, PythonStep):
        step: Any = closure.at(sizes)
        outputs = step.done(found, *given)
        return outputs, with_sizes_of(sizes, step, outputs) if step.tells_sizes else sizes
    if sized:
        return run_sized(closure, sizes, given, at_once), sizes
    return run_part(closure, given, at_once), sizes


#: By sizes, and what a step was to give and gave.
_SIZES: Cache[tuple, Sizes] = Cache("sizes that steps gave", MAX_CONTROL_FLOW)


def other_results(name: str, found: Sequence[Aval], wanted: Sequence[Aval]) -> errors.NotAsRecorded:
    """The error for a step that gave other results than when it was recorded."""
    what = f"{name} gave {_shown(found)}, and {_shown(wanted)} when it was recorded"
    return errors.located(errors.NotAsRecorded, what)


def with_sizes_of(sizes: Sizes, step: PythonStep, outputs: Sequence[Tensor]) -> Sizes:
    """Sizes with those of what a step gave.

    Raises: NotAsRecorded if they are not of the kind that was recorded.
    """
    found = tuple([y._aval for y in outputs if isinstance(y, Tensor)])
    wanted = step.avals[: len(found)]
    if found == wanted:
        return sizes
    key = sizes, wanted, found
    known = _SIZES.get(key)
    if known is not None:
        return known
    more = Sizes.between([aval.shape for aval in wanted], [aval.shape for aval in found])
    if more is None or any(a.dtype is not b.dtype for a, b in zip(found, wanted)):
        raise other_results(step.name, found, wanted)
    return _SIZES.put(key, sizes.and_those(more))


def as_program(closure: Closure, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """What a closure gives: recorded, or run at once as a program of its own."""
    state = LOCAL.state
    if state.deferring:
        return apply(closure, given)
    begin_step()
    state.origin = (id(closure), 0)
    state.deferring = True
    try:
        outputs = apply(closure, given)
    finally:
        state.deferring = False
    flush()
    return outputs


# ---------------------------------------------------------------------------------------------
# On arrays.


class SettledPart:
    """A part on arrays, done inside of `on_host` unless it is `apart`: a step of the host, or what
    runs as a program."""

    __slots__ = ("_closure", "_inputs", "_known", "_outputs", "_runner", "_sized", "apart")

    def __init__(self, part: ProgramPart, moved: Sequence[int]):
        closure: Any = part.closure
        self._closure, self._sized = closure, part.sized
        self._inputs = [moved[i] for i in part.inputs]
        self._outputs = [moved[i] for i in part.outputs]
        self._runner: OpRunner | None = None
        self._known: dict[Sizes, tuple[list[Any], OpRunner]] = {}
        as_op = isinstance(closure, Call) and len(closure.flat.steps) <= MAX_PART_AS_OP
        self.apart = closure.effect or not as_op

    def run(self, values: list[Any], sizes: Sizes) -> None:
        """Do it: what it gives comes into its slots."""
        given = [values[i] for i in self._inputs]
        runner = self._of_sizes(given, sizes) if self._sized else self._runner
        if runner is None:
            found = self._first(given, sizes)
        else:
            found = runner.inside(given)
        for slot, value in zip(self._outputs, found):
            values[slot] = value

    def _of_sizes(self, given: Sequence[Any], sizes: Sizes) -> OpRunner | None:
        """What runs it where sizes are these, if that is settled."""
        known = self._known.get(sizes)
        if known is not None and known[0] == [x.shape for x in given]:
            return known[1]
        return None

    def _first(self, given: Sequence[Any], sizes: Sizes) -> list[Any]:
        """What it gives where it is not settled what runs it; it is if sizes are not new."""
        tensors = tuple(map(_tensor, given))
        avals = tuple([x._aval for x in tensors])
        closure: Any = self._closure
        found = _of_new_sizes(closure, sizes, tensors) if self._sized else None
        if found is None:
            closure = at_sizes(closure, sizes, avals) if self._sized else closure
            found = run_part(closure, tensors, True)
            runner = closure.runners[avals]
            if not self._sized:
                self._runner = runner
            else:
                known = [x.shape for x in given], runner
                keep(self._known, sizes, known, MAX_SHAPES_PER_CLOSURE)
        return [x._value() for x in found]

    def run_apart(self, found: Captured, values: list[Any], sizes: Sizes) -> Sizes:
        """Do it outside of `on_host`: the sizes, with those that it tells."""
        given = tuple([_tensor(values[i]) for i in self._inputs])
        part = self._closure, self._sized
        outputs, sizes = run_step_or_part(found, part, given, sizes, True)
        if LOCAL.state.program is not None:
            flush()
        for slot, output in zip(self._outputs, outputs, strict=True):
            values[slot] = _here(output) if isinstance(output, Tensor) else output
        return sizes


def _here(x: Tensor) -> Any:
    """The value of a tensor; one that is not on a device as plans read it."""
    value = x._value()
    return as_here(value) if isinstance(value, np.ndarray) and value.dtype != object else value


def _tensor(value: Any) -> Any:
    """A value as a tensor; a `Called` stays as it is."""
    if isinstance(value, jax.Array):
        return concrete(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    return concrete(value if value.dtype == object else result(value))


class Turns:
    """A loop of parts on arrays: what tells whether it goes on, then the body.

    predicate, body: the parts of each, and the numbers of what is wanted. carried: the avals of
    what changes in a turn, and the first of the `count` values that the parts take.
    """

    def __init__(
        self,
        predicate: tuple[Sequence[ProgramPart], Sequence[int]],
        body: tuple[Sequence[ProgramPart], Sequence[int]],
        count: int,
        carried: Sequence[Aval],
    ):
        self._carried, self._sizes = carried, SizesOf(carried)
        self._count = self._size = count
        first, (self._goes_on,) = self._settled(*predicate, count)
        then, self._next = self._settled(*body, count)
        self._parts: list[SettledPart | None] = [*first, None, *then]
        self._room = [None] * (self._size - count)

    def _settled(
        self, parts: Sequence[ProgramPart], wanted: Sequence[int], count: int
    ) -> tuple[list[SettledPart], list[int]]:
        """Parts whose values have slots of their own, and the slots of what is wanted."""
        most = max([i for part in parts for i in (*part.inputs, *part.outputs)], default=-1)
        moved = [*range(count), *range(self._size, self._size + max(0, most + 1 - count))]
        self._size += len(moved) - count
        return [SettledPart(part, moved) for part in parts], [moved[i] for i in wanted]

    def run(self, found: Captured, given: Sequence[Tensor]) -> list[Tensor]:
        """What is carried at the end. found: the function that is called."""
        turn = _Turn([*[_here(x) for x in given], *self._room], Sizes(), 0)
        turn.sizes = self._sizes.of(turn.values)
        while on_host(self._goes_on_to_apart, turn):
            part: Any = self._parts[turn.place]
            turn.sizes = part.run_apart(found, turn.values, turn.sizes)
            turn.place += 1
        return list(map(_tensor, turn.values[: len(self._carried)]))

    def _goes_on_to_apart(self, turn: _Turn) -> bool:
        """Do all that is done on the host, up to a part that is apart; whether there is one, and
        the loop has not ended."""
        parts = self._parts
        while True:
            values, sizes = turn.values, turn.sizes
            for place in range(turn.place, len(parts)):
                part = parts[place]
                if part is None:
                    if not values[self._goes_on]:
                        return False
                elif part.apart:
                    turn.place = place
                    return True
                else:
                    part.run(values, sizes)
            carried = [values[i] for i in self._next]
            turn.values = [*carried, *values[len(carried) : self._count], *self._room]
            turn.sizes, turn.place = self._sizes.of(carried), 0


class _Turn:
    """Where a loop is: the values of a turn, the sizes in it, the next part."""

    __slots__ = ("place", "sizes", "values")

    def __init__(self, values: list[Any], sizes: Sizes, place: int):
        self.values, self.sizes, self.place = values, sizes, place


class SizesOf:
    """The unknown sizes in what a loop carries, by the shapes of that in a turn."""

    def __init__(self, carried: Sequence[Aval]):
        self._places = [i for i, aval in enumerate(carried) if aval.unknown]
        self._formal = [carried[i].shape for i in self._places]
        self._known: dict[tuple, Sizes] = {}

    def of(self, values: Sequence[Any]) -> Sizes:
        """Those where these are carried."""
        key = tuple([values[i].shape for i in self._places])
        found = self._known.get(key)
        if found is None:
            found = Sizes.between(self._formal, key)
            assert found is not None
            keep(self._known, key, found, MAX_SHAPES_PER_CLOSURE)
        return found

"""Loops, with what they read and write row by row as rows.

A body that reads row `i` of a tensor, or writes it in a TensorArray, `i` being a number that grows
evenly, need not carry the whole: each iteration is given its row, and gives its row. Then an
iteration costs as much as the row does, in the derivative as well, which would otherwise add up
zeros of the size of the whole in every iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..core.avals import Aval
from ..core.control import structured
from ..core.dimensions import Size, is_symbolic, less, minimum
from ..core.loops import Scan, While
from ..core.op import Closure, Op
from ..core.steps import Step, Steps, needed
from ..ops.gather_scatter import GATHERS
from ..values.record import apply
from ..values.sizes import integer
from ..values.tensor import Tensor
from . import buffers
from .iterations import Count, Flow, stride


def _span(first: Size, by: int, count: Size) -> slice:
    """The rows `first`, `first + by`, ..., `count` of them, in ascending order."""
    last = first + by * (count - 1)
    low, high = (first, last) if by > 0 else (last, first)
    return slice(low, high + 1, abs(by)) if is_symbolic(count) or count else slice(0, 0)


def _taken(x: Any, axis: int, first: int, by: int, count: int) -> Any:
    rows = jnp.moveaxis(x, axis, 0)[_span(first, by, count)]
    return rows[::-1] if by < 0 else rows


def _taken_shape(avals: tuple[Aval, ...], axis: int, first: Size, by: int, count: Size) -> Aval:
    shape = avals[0].shape
    return Aval.of((count, *shape[:axis], *shape[axis + 1 :]), avals[0].dtype)


def _put(x: Any, rows: Any, first: int, by: int) -> Any:
    rows = rows[::-1] if by < 0 else rows
    if rows.shape == x.shape:
        return rows
    return x.at[_span(first, by, rows.shape[0])].set(rows)


#: Rows of a tensor along an axis, and a buffer with rows put there.
_TAKE = Op(_taken, "TakeRows", shapes=_taken_shape)
_PUT = Op(_put, "PutRows", shapes=lambda avals, first, by: avals[0])


class _Place(NamedTuple):
    """Rows of a tensor, one for each iteration: where the first is, how far it is to the next, and
    how many there are."""

    tensor: int
    axis: int
    first: Size
    by: int
    room: Size


class Rolled:
    """A loop, with rows.

    carried: the places that are still carried. fixed: those that stay as they were. written: those
    of which each iteration gives a row, and where it belongs. body: the Steps of an iteration.
    most: how many iterations there are; if that is not exact no more than that, None if nothing is
    known. A loop that reads or writes row after row takes no more iterations than there are rows:
    more is an error in TensorFlow.
    """

    def __init__(self, goes_on: Flow, body: Flow, count: Count):
        self._flow, self._count = body, count
        outputs = body.steps.outputs
        places = range(body.carried)
        self.fixed = [p for p in places if body.origin(outputs[p]) == p]
        self._uses = self._count_uses()
        #: What the predicate reads, where it is asked.
        self._needed = set() if count.exact else {*goes_on.steps.outputs}
        if not count.exact:
            self._needed.update(i for step in goes_on.steps.steps for i in step.inputs)
        self._reads = {step.first: found for step, found in self._find_reads()}
        self.written = {p: found for p in places if (found := self._write(p)) is not None}
        self.carried = [p for p in places if p not in self.fixed and p not in self.written]
        given = [outputs[p] for p in self.carried]
        given += [number for _, number in self.written.values()]
        kept = [s for s in body.steps.steps if s.first not in self._reads]
        path: list[Any] = needed(kept, given)  # type: ignore[arg-type]
        used = {i for step in path for i in step.inputs}.union(given)
        self._rows = [place for number, place in self._reads.items() if number in used]
        self._held = [i for i in self._constants() if i in used or i in self._needed]
        rows = [number for number in self._reads if number in used]
        self.body = Steps.numbered(path, [*self.carried, *rows, *self._held], given)
        self.goes_on = (
            Steps.numbered(goes_on.steps.steps, [*self.carried, *self._held], goes_on.steps.outputs)
            if not count.exact
            else None
        )
        self.most = self._most()

    def _most(self) -> Size | None:
        places = [*self._rows, *[place for place, _ in self.written.values()]]
        rooms = [place.room for place in places]
        known = rooms if self._count.most is None else [self._count.most, *rooms]
        return self._count.most if self._count.exact or not known else reduce(minimum, known)

    def _constants(self) -> list[int]:
        """The inputs that are the same in all iterations."""
        return [*self.fixed, *range(self._flow.carried, self._flow.steps.inputs)]

    def _count_uses(self) -> Counter[int]:
        """How often each value is read or given."""
        flow = self._flow
        uses = Counter(map(flow.origin, flow.steps.outputs))
        for step in flow.steps.steps:
            if step.closure.name != "Identity":
                uses.update(map(flow.origin, step.inputs))
        return uses

    def _find_reads(self) -> Iterator[tuple[Step, _Place]]:
        constants = set(self._constants())
        for step in self._flow.steps.steps:
            axis = _axis_read(step, self._aval)
            tensor = None if axis is None else self._flow.origin(step.inputs[0])
            if axis is None or tensor not in constants:
                continue
            x = self._flow.inputs[tensor]
            place = self._place(tensor, axis, step.inputs[1])
            if place is not None and isinstance(x, Tensor):
                yield step, place

    def _aval(self, number: int) -> Aval | None:
        """The aval of an input; None of what is computed."""
        number = self._flow.origin(number)
        inputs = self._flow.inputs
        x = inputs[number] if number < len(inputs) else None
        return x._aval if isinstance(x, Tensor) else None

    def _place(self, tensor: int, axis: int, index: int) -> _Place | None:
        """The rows that `index` says in the iterations, if that is known and they are all there."""
        aval, found = self._aval(tensor), self._evenly(index)
        if aval is None or found is None:
            return None
        (first, by), size = found, aval.shape[axis]
        if not (less(-1, first) and less(first, size)):
            return None
        room = -((first - size) // by) if by > 0 else first // -by + 1
        place = _Place(tensor, axis, first, by, room)
        return place if not self._count.exact or _inside(place, self._count.most, size) else None

    def _evenly(self, number: int) -> tuple[Size, int] | None:
        """An integer's value in the first iteration, and by how much it grows."""
        flow = self._flow
        number = flow.origin(number)
        if number < flow.carried:
            first, by = integer(flow.inputs[number]), stride(flow, number)
            return None if first is None or not isinstance(by, int) or not by else (first, by)
        step = flow.step(number)
        if step is None or step.closure.name not in ("AddV2", "Sub"):
            return None
        x, y = step.inputs
        if step.closure.name == "AddV2" and flow.fixed(x) is not None:
            x, y = y, x
        found, more = self._evenly(x), flow.fixed(y)
        if found is None or more is None:
            return None
        return found[0] + (more if step.closure.name == "AddV2" else -more), found[1]

    def _write(self, place: int) -> tuple[_Place, int] | None:
        """Where a carried buffer is written to, and what, if that is all that is done with it."""
        flow = self._flow
        output = flow.origin(flow.steps.outputs[place])
        step = flow.step(output)
        if step is None or step.closure.op is not buffers.SET:
            return None
        buffer, index, value = step.inputs
        if flow.origin(buffer) != place or self._uses[place] != 1 or self._uses[output] != 1:
            return None
        found = self._place(place, 0, index)
        return None if found is None or place in self._needed else (found, value)

    def number_of(self, place: int) -> int:
        """The place of the carried integer that says where a written buffer is written to."""
        flow = self._flow
        step = flow.step(flow.steps.outputs[place])
        assert step is not None
        number = flow.origin(step.inputs[1])
        while number >= flow.carried:
            step = flow.step(number)
            assert step is not None
            (number,) = (flow.origin(x) for x in step.inputs if self._evenly(x) is not None)
        return number

    def closure(self) -> Closure:
        """The loop, of what `arguments` gives."""
        count = len(self.carried), len(self._rows)
        if self.goes_on is None:
            return structured(Scan, "While", (self.body,), *count, self.most)
        parts = self.goes_on, self.body
        return structured(While, "While", parts, *count, len(self.written), self.most)

    def _taken(self, values: Sequence[Tensor], place: _Place) -> Tensor:
        closure = _TAKE.bind(axis=place.axis, first=place.first, by=place.by, count=self.most)
        return apply(closure, (values[place.tensor],))

    def arguments(self, values: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """What the closure takes, by the inputs of the loop."""
        places = list(self._rows)
        if self.goes_on is not None:
            places += [place for place, _ in self.written.values()]
        rows = [self._taken(values, place) for place in places]
        return (*[values[p] for p in self.carried], *rows, *[values[i] for i in self._held])

    def results(self, values: Sequence[Tensor], outputs: Iterable[Tensor]) -> list[Tensor]:
        """What the loop carries at its end, by its inputs and what the closure gives."""
        found = list(values[: self._flow.carried])
        given = iter(outputs)
        for place in self.carried:
            found[place] = next(given)
        for place, (where, _) in self.written.items():
            closure = _PUT.bind(first=where.first, by=where.by)
            found[place] = apply(closure, (found[place], next(given)))
        return found


def _axis_read(step: Step, aval_of: Any) -> int | None:
    """The axis of which a step takes the row that its second input says."""
    closure = step.closure
    if closure.op is buffers.GET:
        return 0
    if closure.op in GATHERS and len(step.inputs) == 2:
        index = aval_of(step.inputs[1])
        axis = closure.attributes["axis"]
        scalar = index is not None and not index.shape
        return axis if scalar and not closure.attributes["batch_dims"] and axis >= 0 else None
    if closure.name == "StridedSlice" and len(step.inputs) == 2:
        spec = closure.attributes["spec"]
        axis = next((i for i, part in enumerate(spec) if part == "dynamic"), None)
        whole = [part for i, part in enumerate(spec) if i != axis]
        return axis if all(part == (None, None, None) for part in whole) else None
    return None


def _inside(place: _Place, count: Size | None, size: Size) -> bool:
    """Whether so many rows are certainly there."""
    if count is None or (type(count) is int and not count):
        return True
    last = place.first + place.by * (count - 1)
    return less(-1, last) and less(last, size)

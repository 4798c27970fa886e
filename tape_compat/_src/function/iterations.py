"""How many iterations a recorded loop takes, where that can be told from what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from ..core.call import flattened
from ..core.dimensions import Size, is_symbolic, maximum, minimum
from ..core.steps import Step, Steps
from ..values.sizes import integer


class Count(NamedTuple):
    """At most so many iterations, None if nothing is known; `exact`: just so many."""

    most: Size | None
    exact: bool


UNKNOWN = Count(None, False)

#: A comparison with its sides exchanged.
_EXCHANGED = {
    "Less": "Greater",
    "Greater": "Less",
    "LessEqual": "GreaterEqual",
    "GreaterEqual": "LessEqual",
    "NotEqual": "NotEqual",
}


class Flow:
    """Steps to be looked at: where each value comes from.

    inputs: the tensors that the loop begins with, then those that stay the same; `carried` of them
    are carried.
    """

    def __init__(self, steps: Steps, inputs: Sequence[Any], carried: int):
        self.steps = flattened(steps)
        self.inputs, self.carried = inputs, carried
        self._from = {
            number: step for step in self.steps.steps for number in range(step.first, step.end)
        }

    def origin(self, number: int) -> int:
        """The value that this one is the same as."""
        step = self._from.get(number)
        while step is not None and step.closure.name == "Identity":
            number = step.inputs[0]
            step = self._from.get(number)
        return number

    def step(self, number: int) -> Step | None:
        """The instruction that gives a value, None for an input."""
        return self._from.get(self.origin(number))

    def fixed(self, number: int) -> Size | None:
        """The value of an integer that is known and the same in all iterations."""
        number = self.origin(number)
        return integer(self.inputs[number]) if self.carried <= number < self.steps.inputs else None


def stride(body: Flow, place: int) -> Size | None:
    """By how much a carried integer grows in each iteration, if that is known."""
    output = body.origin(body.steps.outputs[place])
    if output == place:
        return 0
    step = body.step(output)
    if step is None or step.closure.name not in ("AddV2", "Sub"):
        return None
    first, second = map(body.origin, step.inputs)
    if first == place:
        by = body.fixed(second)
        return by if by is None or step.closure.name == "AddV2" else -by
    return body.fixed(first) if second == place and step.closure.name == "AddV2" else None


def iterations(goes_on: Steps, body: Steps, inputs: Sequence[Any], carried: int) -> Count:
    """How many iterations a loop takes, which begins with `inputs`."""
    flow, iteration = Flow(goes_on, inputs, carried), Flow(body, inputs, carried)
    return _count(flow, iteration, flow.steps.outputs[0])


def guessed(goes_on: Steps, inputs: Sequence[Any], carried: int) -> Size | None:
    """How many iterations a loop takes if what its predicate compares grows or shrinks by 1."""
    flow = Flow(goes_on, inputs, carried)
    return _guess(flow, flow.steps.outputs[0])


def _guess(flow: Flow, number: int) -> Size | None:
    step = flow.step(number)
    if step is None or len(step.inputs) != 2:
        return None
    name = step.closure.name
    if name == "LogicalAnd":
        known = [n for n in (_guess(flow, i) for i in step.inputs) if n is not None]
        return reduce(minimum, known) if known else None
    if name not in _EXCHANGED:
        return None
    for compared, (x, y) in ((name, step.inputs), (_EXCHANGED[name], step.inputs[::-1])):
        place, limit = flow.origin(x), flow.fixed(y)
        start = integer(flow.inputs[place]) if place < flow.carried else None
        if start is not None and limit is not None:
            return _until(compared, limit - start, -1 if compared.startswith("Greater") else 1).most
    return None


def _count(goes_on: Flow, body: Flow, number: int) -> Count:
    """How many iterations it takes until a bool becomes false."""
    step = goes_on.step(number)
    if step is None:
        return UNKNOWN
    name = step.closure.name
    if name == "LogicalAnd":
        parts = [_count(goes_on, body, i) for i in step.inputs]
        known = [part.most for part in parts if part.most is not None]
        most = reduce(minimum, known) if known else None
        return Count(most, all(part.exact for part in parts))
    if name not in _EXCHANGED or len(step.inputs) != 2:
        return UNKNOWN
    for compared, (x, y) in ((name, step.inputs), (_EXCHANGED[name], step.inputs[::-1])):
        place, limit = goes_on.origin(x), _constant(goes_on, body, y)
        if place < goes_on.carried and limit is not None:
            start, by = integer(goes_on.inputs[place]), stride(body, place)
            if start is not None and isinstance(by, int) and by:
                return _until(compared, limit - start, by)
    return UNKNOWN


def _constant(goes_on: Flow, body: Flow, number: int) -> Size | None:
    """An integer that is the same in all iterations."""
    place = goes_on.origin(number)
    if place < goes_on.carried and stride(body, place) == 0:
        return integer(goes_on.inputs[place])
    return goes_on.fixed(number)


def _until(compared: str, way: Size, by: int) -> Count:
    """How often a number compares like that to another one, which is `way` larger at first, if it
    grows by `by` in each iteration."""
    if compared in ("Greater", "GreaterEqual"):
        compared, way, by = _EXCHANGED[compared], -way, -by
    if compared == "NotEqual":
        if is_symbolic(way) or way % by or way // by < 0:
            return UNKNOWN
        return Count(way // by, True)
    if by < 0:
        certain = not is_symbolic(way) and (way < 0 or (way == 0 and compared == "Less"))
        return Count(0, True) if certain else UNKNOWN
    iterations = -(-way // by) if compared == "Less" else way // by + 1
    return Count(maximum(iterations, 0), True)

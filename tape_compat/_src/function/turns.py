"""How many turns a recorded loop takes, where that can be told from what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.call import flattened
from ..core.steps import Step, Steps
from ..values.tensor import Tensor


class Count(NamedTuple):
    """At most so many turns, None if nothing is known; `exact`: just so many."""

    most: int | None
    exact: bool


_UNKNOWN = Count(None, False)

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

    def __init__(self, steps: Steps, inputs: Sequence[Tensor], carried: int):
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

    def fixed(self, number: int) -> int | None:
        """The value of an integer that is known and the same in all turns."""
        number = self.origin(number)
        return value_of(self.inputs[number]) if self.carried <= number < self.steps.inputs else None


def value_of(x: Tensor) -> int | None:
    """The value of a tensor if it is an integer that is there."""
    if x._array is None or x._aval.shape or x._aval.np_dtype.kind not in "iu":
        return None
    return int(np.asarray(x._array))


def stride(body: Flow, place: int) -> int | None:
    """By how much a carried integer grows in each turn, if that is known."""
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


def turns(goes_on: Steps, body: Steps, inputs: Sequence[Tensor], carried: int) -> Count:
    """How many turns a loop takes, which begins with `inputs`."""
    flow, turn = Flow(goes_on, inputs, carried), Flow(body, inputs, carried)
    return _count(flow, turn, flow.steps.outputs[0])


def _count(goes_on: Flow, body: Flow, number: int) -> Count:
    """How many turns it takes until a bool becomes false."""
    step = goes_on.step(number)
    if step is None:
        return _UNKNOWN
    name = step.closure.name
    if name == "LogicalAnd":
        parts = [_count(goes_on, body, i) for i in step.inputs]
        known = [part.most for part in parts if part.most is not None]
        return Count(min(known, default=None), all(part.exact for part in parts))
    if name not in _EXCHANGED or len(step.inputs) != 2:
        return _UNKNOWN
    for compared, (x, y) in ((name, step.inputs), (_EXCHANGED[name], step.inputs[::-1])):
        place, limit = goes_on.origin(x), _constant(goes_on, body, y)
        if place < goes_on.carried and limit is not None:
            start, by = value_of(goes_on.inputs[place]), stride(body, place)
            if start is not None and by:
                return _until(_HOLDS[compared], start, limit, by)
    return _UNKNOWN


def _constant(goes_on: Flow, body: Flow, number: int) -> int | None:
    """An integer that is the same in all turns."""
    place = goes_on.origin(number)
    if place < goes_on.carried and stride(body, place) == 0:
        return value_of(goes_on.inputs[place])
    return goes_on.fixed(number)


_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "Less": lambda x, y: x < y,
    "LessEqual": lambda x, y: x <= y,
    "Greater": lambda x, y: x > y,
    "GreaterEqual": lambda x, y: x >= y,
    "NotEqual": lambda x, y: x != y,
}


def _until(holds: Callable[[int, int], bool], start: int, limit: int, by: int) -> Count:
    """How often a number that begins at `start` and grows by `by` compares like that."""
    if not holds(start, limit):
        return Count(0, True)
    turns = max(0, (limit - start) // by)
    # the number of whole steps to the limit, or one less or more, by the kind of comparison
    for count in (turns, turns + 1):
        if not holds(start + count * by, limit):
            return Count(count, True)
    return _UNKNOWN

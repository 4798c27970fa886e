"""Steps: the one straight-line form of a list of instructions, and what runs it.

A whole program, a piece of one, the body of a loop, a captured function, what a Jacobian
differentiates and a remembered gradient are all Steps: so many inputs, closures wired by number,
and the numbers of what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .avals import Aval, Packed
from .derivative import Pullback
from .dimensions import Sizes
from .op import Closure
from .program import Node


class Step(NamedTuple):
    """An instruction: what runs, the numbers of what it reads, and those of what it gives: from
    `first` to `end`."""

    closure: Closure
    inputs: tuple[int, ...]
    first: int
    end: int


_Kind = TypeVar("_Kind", Node, Step)


class Steps(NamedTuple):
    """A pure function as a list of instructions. Equal Steps do the same, so they are cache keys.

    inputs: how many there are; they are the values 0, 1, ... outputs: numbers of values.
    """

    inputs: int
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    @staticmethod
    def numbered(
        steps: Iterable[Node | Step],
        inputs: Iterable[int],
        outputs: Iterable[int],
        same: Mapping[int, int] | None = None,
    ) -> Steps:
        """Instructions in a numbering of any kind: `inputs` and `outputs` are given in it, and
        `same` has for values that are no inputs those that they are equal to."""
        number = {slot: i for i, slot in enumerate(inputs)}
        count = end = len(number)
        for slot, other in (same or {}).items():
            number[slot] = number[other]
        own = []
        for step in steps:
            read = tuple([number[slot] for slot in step.inputs])
            first = end
            for slot in range(step.first, step.end):
                number[slot] = end
                end += 1
            own.append(Step(step.closure, read, first, end))
        return Steps(count, tuple(own), tuple([number[slot] for slot in outputs]))

    def replay(self, *arrays: Any) -> tuple[Any, ...]:
        """What the steps give, under a trace, each forward pass shared with its pullbacks."""
        env: dict[int, Any] = dict(enumerate(arrays))
        Replay(self.steps).run(self.steps, env)
        return tuple([env[i] for i in self.outputs])

    def at(self, sizes: Sizes) -> Steps:
        """The steps with sizes for the unknown ones in the closures."""
        steps = [step._replace(closure=step.closure.at(sizes)) for step in self.steps]
        return Steps(self.inputs, tuple(steps), self.outputs)

    def interpret(
        self, call: Callable[[Closure, tuple[Any, ...]], Sequence[Any]], values: Iterable[Any]
    ) -> list[Any]:
        """What the steps give, each done by `call`, of values of any kind."""
        env = list(values)
        for step in self.steps:
            env += call(step.closure, tuple([env[i] for i in step.inputs]))
        return [env[i] for i in self.outputs]


def needed(path: Sequence[_Kind], live: Iterable[int], effects: bool = True) -> list[_Kind]:
    """The instructions that the live slots depend on, or that have an effect, in order."""
    wanted = set(live)
    steps = []
    for node in reversed(path):
        effect = effects and node.closure.effect
        if effect or any(slot in wanted for slot in range(node.first, node.end)):
            steps.append(node)
            wanted.update(node.inputs)
    steps.reverse()
    return steps


def last_uses(used: Sequence[Iterable[int]], kept: Iterable[int]) -> list[tuple[int, ...]]:
    """Of the values that each step reads or gives, those that no later one reads and that are not
    kept."""
    seen = set(kept)
    found = []
    for values in reversed(used):
        last = tuple(set(values) - seen)
        seen.update(last)
        found.append(last)
    return found[::-1]


def leaf_layout(path: Sequence[Node]) -> tuple[list[int], dict[np.dtype, list[int]]]:
    """Slots of the array leaves, and of the scalar leaves by dtype, in order of arrival."""
    arrays: list[int] = []
    scalars: dict[np.dtype, list[int]] = {}
    for node in path:
        for slot, leaf in enumerate(node.leaves, node.first_leaf):
            if isinstance(leaf, Packed):
                scalars.setdefault(leaf.aval.np_dtype, []).append(slot)
            else:
                arrays.append(slot)
    return arrays, scalars


def zero_leaves(path: Sequence[Node]) -> tuple[list[np.ndarray], dict[np.dtype, list[Any]]]:
    """Zeros in the place of the array leaves, and of the scalar leaves by dtype."""
    avals = slot_avals(path)
    arrays, scalars = leaf_layout(path)
    zeros = [np.zeros(avals[slot].shape, avals[slot].np_dtype) for slot in arrays]
    return zeros, {dtype: [dtype.type(0)] * len(slots) for dtype, slots in scalars.items()}


def slot_avals(path: Sequence[Node]) -> dict[int, Aval]:
    """The avals of all slots."""
    avals: dict[int, Aval] = {}
    for node in path:
        for slot, leaf in enumerate(node.leaves, node.first_leaf):
            avals[slot] = leaf.aval if isinstance(leaf, Packed) else leaf
        avals.update(enumerate(node.outputs, node.first))
    return avals


class Replay:
    """Runs instructions on `env` (number to array) under a trace, in one go or in several.

    Each closure is called through its own `jax.jit`, whose trace is kept: tracing a program again
    costs 80 us an instruction, not 500. Its pullback computes the forward pass again, and XLA
    merges the two. Where it would not, the forward instruction is run as `jax.vjp` and what that
    gives is kept for the pullback; but not of one that prints or checks, which derivatives do not.
    """

    __slots__ = ("_pulls", "_wrt")

    def __init__(self, steps: Iterable[Step]):
        self._wrt: dict[tuple, set[int]] = {}
        for step in steps:
            closure = step.closure
            if isinstance(closure, Pullback):
                key = (closure.base, step.inputs[: closure.count])
                self._wrt.setdefault(key, set()).update(closure.inputs)
        self._pulls: dict[tuple, tuple[tuple, Callable, tuple[int, ...]]] = {}

    def run(self, steps: Iterable[Step], env: dict[int, Any]) -> None:
        for step in steps:
            closure = step.closure
            arrays = [env[slot] for slot in step.inputs]
            key = (closure, step.inputs)
            if key in self._wrt and not closure.effect and closure.shares(arrays):
                order = tuple(sorted(self._wrt[key]))
                outputs, pull = closure.vjp(arrays, order)
                self._pulls[key] = outputs, pull, order
            elif isinstance(closure, Pullback):
                outputs = self._pullback(closure, step.inputs, arrays)
            else:
                outputs = self._forward(closure, arrays)
            env.update(zip(range(step.first, step.end), outputs, strict=True))

    def _forward(self, closure: Closure, arrays: list[Any]) -> tuple[Any, ...]:
        return closure.traced(*arrays)

    def _pullback(
        self, closure: Pullback, slots: tuple[int, ...], arrays: list[Any]
    ) -> tuple[Any, ...]:
        kept = self._pulls.get((closure.base, slots[: closure.count]))
        if kept is None:
            return closure.traced(*arrays)
        outputs, pull, order = kept
        given = tuple(arrays[closure.count :])
        answers = dict(zip(order, closure.finish(outputs, pull, given), strict=True))
        return tuple(answers[i] for i in closure.inputs)

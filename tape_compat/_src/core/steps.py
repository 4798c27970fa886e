"""Replay: the instructions of a program applied to arrays or tracers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .avals import Aval, Packed
from .derivative import Pullback
from .op import Closure
from .program import Node


class Step(Protocol):
    """An instruction: what runs, the slots it reads, and those it fills."""

    @property
    def closure(self) -> Closure: ...
    @property
    def inputs(self) -> tuple[int, ...]: ...
    @property
    def first(self) -> int: ...
    @property
    def end(self) -> int: ...


class Numbered(NamedTuple):
    """A step in a numbering of its own."""

    closure: Closure
    inputs: tuple[int, ...]
    first: int
    end: int


def needed(path: Sequence[Node], live: Iterable[int]) -> list[Node]:
    """The instructions that the live slots depend on, in order."""
    wanted = set(live)
    steps = []
    for node in reversed(path):
        if any(slot in wanted for slot in range(node.first, node.end)):
            steps.append(node)
            wanted.update(node.inputs)
    steps.reverse()
    return steps


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


def slot_avals(path: Sequence[Node]) -> dict[int, Aval]:
    """The avals of all slots."""
    avals: dict[int, Aval] = {}
    for node in path:
        for slot, leaf in enumerate(node.leaves, node.first_leaf):
            avals[slot] = leaf.aval if isinstance(leaf, Packed) else leaf
        avals.update(enumerate(node.outputs, node.first))
    return avals


def replay(steps: Sequence[Step], env: dict[int, Any]) -> None:
    """Run the instructions on `env` (slot to array), under a trace."""
    Replay(steps).run(steps, env)


class Replay:
    """Runs instructions under a trace, in one go or in several.

    Each closure is called through its own `jax.jit`, whose trace is kept: tracing a program again
    costs 80 us an instruction, not 500. Its pullback computes the forward pass again, and XLA
    merges the two. Where it would not, the forward instruction is run as `jax.vjp` and what that
    gives is kept for the pullback.
    """

    __slots__ = ("_pulls", "_wrt")

    def __init__(self, steps: Iterable[Step]):
        self._wrt: dict[tuple, set[int]] = {}
        for step in steps:
            closure = step.closure
            if isinstance(closure, Pullback):
                key = (closure.base, step.inputs[: closure.n])
                self._wrt.setdefault(key, set()).update(closure.want)
        self._pulls: dict[tuple, tuple[tuple, Callable, tuple[int, ...]]] = {}

    def run(self, steps: Iterable[Step], env: dict[int, Any]) -> None:
        for step in steps:
            closure = step.closure
            arrays = [env[slot] for slot in step.inputs]
            key = (closure, step.inputs)
            if key in self._wrt and closure.shares(arrays):
                order = tuple(sorted(self._wrt[key]))
                outputs, pull = closure.vjp(arrays, order)
                self._pulls[key] = outputs, pull, order
            elif isinstance(closure, Pullback):
                outputs = self._pullback(closure, step.inputs, arrays)
            else:
                outputs = closure.traced(*arrays)
            env.update(zip(range(step.first, step.end), outputs, strict=True))

    def _pullback(
        self, closure: Pullback, slots: tuple[int, ...], arrays: list[Any]
    ) -> tuple[Any, ...]:
        kept = self._pulls.get((closure.base, slots[: closure.n]))
        if kept is None:
            return closure.traced(*arrays)
        outputs, pull, order = kept
        given = tuple(arrays[closure.n :])
        answers = dict(zip(order, closure.finish(outputs, pull, given), strict=True))
        return tuple(answers[i] for i in closure.want)

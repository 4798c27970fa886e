"""Replay: the instructions of a program applied to arrays or tracers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from .avals import Packed
from .op import Closure, Pullback
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


def replay(steps: Sequence[Step], env: dict[int, Any]) -> None:
    """Run the instructions on `env` (slot to array), under a trace.

    Each closure is called through its own `jax.jit`, whose trace is kept: tracing a program again
    costs 80 us an instruction, not 500. Its pullback computes the forward pass again, and XLA
    merges the two. Where it would not, the forward instruction is run as `jax.vjp` and what that
    gives is kept for the pullback.
    """
    wrt: dict[tuple, set[int]] = {}
    for node in steps:
        if isinstance(node.closure, Pullback):
            key = (node.closure.base, node.inputs[: node.closure.n])
            wrt.setdefault(key, set()).update(node.closure.want)
    pulls: dict[tuple, tuple[tuple, Callable, tuple[int, ...]]] = {}
    for node in steps:
        closure = node.closure
        arrays = [env[slot] for slot in node.inputs]
        key = (closure, node.inputs)
        if key in wrt and closure.shares(arrays):
            order = tuple(sorted(wrt[key]))
            outputs, pull = closure.vjp(arrays, order)
            pulls[key] = outputs, pull, order
        elif isinstance(closure, Pullback):
            outputs = _replay_pullback(closure, node.inputs, arrays, pulls)
        else:
            outputs = closure.traced(*arrays)
        env.update(zip(range(node.first, node.end), outputs, strict=True))


def _replay_pullback(
    closure: Pullback, slots: tuple[int, ...], arrays: list[Any], pulls: dict[tuple, tuple]
) -> tuple[Any, ...]:
    kept = pulls.get((closure.base, slots[: closure.n]))
    if kept is None:
        return closure.traced(*arrays)
    outputs, pull, order = kept
    answers = dict(
        zip(order, closure.finish(outputs, pull, tuple(arrays[closure.n :])), strict=True)
    )
    return tuple(answers[i] for i in closure.want)

"""Conditionals as closures that hold Steps, and what they share with loops.

The branches of a conditional, the predicate and the body of a loop are Steps. A closure of this
kind is one instruction to a tape and to a program; JAX differentiates it from the inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from .avals import Aval
from .caches import Cache
from .call import Call
from .limits import MAX_CONTROL_FLOW
from .op import Arrays, Closure, Op
from .steps import Step, Steps

#: Which inputs each of several outputs depends on.
Dependence: TypeAlias = tuple[frozenset[int], ...]
#: Gives that of steps on inputs of these avals.
DependenceOf: TypeAlias = Callable[[Steps, tuple[Aval, ...]], Dependence]

_CLOSURES: Cache[tuple, Structured] = Cache("control flow", MAX_CONTROL_FLOW)


class Structured(Closure):
    """A closure that holds Steps and decides which of them run, and how often."""

    #: Not every output need depend on every input.
    derivative = True

    __slots__ = ()

    def __init__(self, name: str, parts: Iterable[Call]):
        super().__init__(Op(self._run, name, effect=any(part.effect for part in parts)), {})

    def _run(self, *arrays: Any) -> Arrays:
        raise NotImplementedError

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf) -> Dependence:
        """For each output, the positions of the inputs that it depends on."""
        raise NotImplementedError


def structured(make: type[Structured], *parts: Any) -> Any:
    """The one closure `make(*parts)` of equal parts: Steps, numbers, names."""
    return _CLOSURES.find((make, *parts), lambda: make(*parts))


def calling(
    call: Closure, outputs: int, operands: int, given: Iterable[int], chosen: Iterable[int]
) -> Steps:
    """Steps that take `operands` inputs, call a closure of so many outputs with those at `given`,
    and give the values `chosen`: inputs come first, then what the closure gave."""
    step = Step(call, tuple(given), operands, operands + outputs)
    return Steps(operands, (step,), tuple(chosen))


def is_wanted(closure: Closure) -> bool:
    """Whether a step is to be done though nobody needs what it gives."""
    return closure.effect


def quiet(steps: Steps) -> Steps:
    """The same without effects that nothing depends on, to be computed a second time."""
    if not any(is_wanted(step.closure) for step in steps.steps):
        return steps
    wanted = set(steps.outputs)
    kept = []
    for step in reversed(steps.steps):
        if not wanted.isdisjoint(range(step.first, step.end)):
            kept.append(step)
            wanted.update(step.inputs)
    path = kept[::-1]
    return Steps.numbered(path, range(steps.inputs), steps.outputs)


class Cond(Structured):
    """One of several branches, by a number or a bool; the last one for any other number.

    Inputs: the number, then the operands of every branch. With two branches and a bool, the first
    is that of False.
    """

    __slots__ = ("branches",)

    def __init__(self, name: str, branches: tuple[Steps, ...]):
        self.branches = tuple([Call(steps, name) for steps in branches])
        super().__init__(name, self.branches)

    def _run(self, *arrays: Any) -> Arrays:
        index, *operands = arrays
        first, *others = [branch.fn for branch in self.branches]
        if index.dtype == jnp.bool_ and len(others) == 1:
            return jax.lax.cond(index, others[0], first, *operands)
        last = len(others)
        index = jnp.where((index < 0) | (index > last), last, index).astype(jnp.int32)
        return jax.lax.switch(index, [first, *others], *operands)

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        return self.branches[0].infer(avals[1:])[0], False

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf) -> Dependence:
        parts = [of(branch.flat, avals[1:]) for branch in self.branches]
        return tuple([_shifted(frozenset().union(*each)) for each in zip(*parts, strict=True)])


def _shifted(positions: frozenset[int]) -> frozenset[int]:
    return frozenset([i + 1 for i in positions])


def fixed_point(carried: int, found: Sequence[frozenset[int]], inputs: int) -> list[frozenset[int]]:
    """What the values that a loop carries depend on, whatever the number of turns: inputs of the
    loop. found: what they depend on after one turn, by inputs of the body."""
    reach = [frozenset((i,)) for i in range(inputs)]
    while True:
        new = [
            reach[i].union(*[reach[k] for k in found[i]]) if i < carried else reach[i]
            for i in range(inputs)
        ]
        if new == reach:
            return reach
        reach = new

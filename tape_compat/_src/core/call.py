"""Calls: a list of instructions as one instruction.

What a user's function does, the branch of a conditional or the body of a loop is recorded once and
then called. A program that calls it runs its instructions as if they stood there: what two calls
compute of the same values, as a function and its pullback do, is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax

from .avals import Aval
from .dimensions import Sizes
from .op import Arrays, Closure, Op
from .program import Node
from .steps import Replay, Step, Steps

_COPY = Op(lambda x: x, "Identity").bind()


class Call(Closure):
    """Steps as a closure. It is interned by whoever makes it.

    due: at which run a program that calls it is to be compiled, because the user declared that it
    is called again and again; 0 if that is not known. results: how many outputs are results; the
    others are what variables hold afterwards. joined: inputs that every output counts as depending
    on, as the gradient of a function does, which reads what the function computed.
    """

    #: Not every output need depend on every input.
    derivative = True

    __slots__ = ("_flat", "due", "joined", "results", "steps")

    def __init__(
        self,
        steps: Steps,
        name: str,
        due: int = 0,
        results: int | None = None,
        joined: frozenset[int] = frozenset(),
    ):
        self.steps = steps
        self.due = due
        self.joined = joined
        self.results = len(steps.outputs) if results is None else results
        self._flat: Steps | None = None
        effect = any(step.closure.effect for step in steps.steps)
        kernels = any(step.closure.kernels for step in steps.steps)
        affine = any(step.closure.op.affine for step in steps.steps)
        op = Op(self._run, name, effect=effect, host_foldable=False, kernels=kernels, affine=affine)
        super().__init__(op, {})

    @property
    def flat(self) -> Steps:
        """The steps without calls among them."""
        if self._flat is None:
            self._flat = flattened(self.steps)
        return self._flat

    def _run(self, *arrays: Any) -> Arrays:
        return self.flat.replay(*arrays)

    def pure(self, *arrays: Any) -> Arrays:
        """Nothing flows through what has no gradient either."""
        steps = [s for s in self.flat.steps if not s.closure.effect or s.end > s.first]
        env: dict[int, Any] = dict(enumerate(arrays))
        _Barred(steps).run(steps, env)
        return tuple([env[i] for i in self.flat.outputs])

    def _of(self, steps: Steps, joined: frozenset[int]) -> Closure:
        return Call(steps, self.name, self.due, self.results, joined)

    def _without_effect(self) -> Closure:
        return self._of(self.pure_steps(), self.joined)

    def joining(self, inputs: frozenset[int]) -> Closure:
        """The same, with these inputs as `joined`."""
        return self.derived(("joined", inputs), lambda: self._of(self.steps, inputs))

    def pure_steps(self) -> Steps:
        """Its steps without those that give nothing."""
        steps = [s for s in self.steps.steps if not s.closure.effect or s.end > s.first]
        pure = [s._replace(closure=s.closure.without_effect()) for s in steps]
        return self.steps._replace(steps=tuple(pure))

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        known = list(avals)
        for step in self.steps.steps:
            known += step.closure.infer(tuple([known[i] for i in step.inputs]))[0]
        return tuple([known[i] for i in self.steps.outputs]), False

    def _has_unknown(self) -> bool:
        return any(step.closure.unknown for step in self.steps.steps)

    def _at(self, sizes: Sizes) -> Closure:
        return self._of(self.steps.at(sizes), self.joined)


class _Barred(Replay):
    """A replay in which nothing differentiates through closures that have no gradient."""

    __slots__ = ()

    def run(self, steps: Iterable[Step], env: dict[int, Any]) -> None:
        for step in steps:
            if step.closure.differentiable:
                super().run((step,), env)
                continue
            held = {i: jax.lax.stop_gradient(env[i]) for i in step.inputs}
            super().run((step,), held)
            env.update({i: held[i] for i in range(step.first, step.end)})

    def _forward(self, closure: Closure, arrays: list[Any]) -> Arrays:
        return closure.traced_pure(*arrays)


class _Flat:
    """Steps being written one after the other, those that are calls as what they call."""

    def __init__(self, inputs: int):
        self.steps: list[Step] = []
        self._count = inputs
        self._seen: dict[tuple, range] = {}

    def add(self, steps: Steps, given: Sequence[int]) -> list[int]:
        """Write steps whose inputs have the numbers `given`: the numbers of their outputs."""
        numbers = list(given)
        for closure, inputs, first, end in steps.steps:
            read = tuple([numbers[i] for i in inputs])
            if isinstance(closure, Call):
                numbers += self.add(closure.steps, read)
            else:
                numbers += self.step(closure, read, end - first)
        return [numbers[i] for i in steps.outputs]

    def copy(self, number: int) -> int:
        """The number of another value that is the same."""
        self.steps.append(Step(_COPY, (number,), self._count, self._count + 1))
        self._count += 1
        return self._count - 1

    def step(self, closure: Closure, read: tuple[int, ...], outputs: int) -> range:
        found = None if closure.effect else self._seen.get((closure, read))
        if found is None:
            found = range(self._count, self._count + outputs)
            self._count = found.stop
            self._seen[closure, read] = found
            self.steps.append(Step(closure, read, found.start, found.stop))
        return found


def flattened(steps: Steps) -> Steps:
    """The same without calls, and each closure once for the same values."""
    if not any(isinstance(step.closure, Call) for step in steps.steps):
        return steps
    flat = _Flat(steps.inputs)
    outputs = flat.add(steps, range(steps.inputs))
    return Steps(steps.inputs, tuple(flat.steps), tuple(outputs))


def without_calls(
    steps: Sequence[Step | Node], live: Sequence[int], avals: dict[int, Aval]
) -> tuple[list[Step], tuple[int, ...], dict[int, Aval]]:
    """Steps in a numbering of slots as they are without calls among them, with further slots; where
    the live slots are then, each one a step's own; and the avals of all."""
    flat = _Flat(max(avals, default=-1) + 1)
    slots: dict[int, int] = {}
    for step in steps:
        read = [slots.get(i, i) for i in step.inputs]
        made: Sequence[int]
        if isinstance(step.closure, Call):
            made = flat.add(step.closure.steps, read)
        else:
            made = flat.step(step.closure, tuple(read), step.end - step.first)
        slots.update(zip(range(step.first, step.end), made, strict=True))
    found: list[int] = []
    for slot in live:
        number = slots.get(slot, slot)
        taken = number in found or number in avals
        found.append(flat.copy(number) if taken else number)
    known = dict(avals)
    for step in flat.steps:
        given = tuple([known[i] for i in step.inputs])
        known.update(zip(range(step.first, step.end), step.closure.infer(given)[0], strict=True))
    return flat.steps, tuple(found), known

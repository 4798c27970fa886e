"""Conditionals and functions of rows as closures that hold Steps, and what loops share with them.

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
from .dimensions import Size, Sizes, variables
from .kernels import Apart
from .limits import MAX_CONTROL_FLOW
from .op import Arrays, Closure, Op
from .reverse_only import FORWARD
from .steps import Step, Steps

#: Which inputs each of several outputs depends on.
Dependence: TypeAlias = tuple[frozenset[int], ...]
#: Gives that of steps on inputs of these avals.
DependenceOf: TypeAlias = Callable[[Steps, tuple[Aval, ...]], Dependence]
#: What a part does, of arrays under a trace.
Part: TypeAlias = Callable[..., Arrays]

_CLOSURES: Cache[tuple, Structured] = Cache("control flow", MAX_CONTROL_FLOW)


class Structured(Closure):
    """A closure that holds Steps and decides which of them run, and how often.

    parts: its Steps, as calls. settings: what else it is made of.
    """

    #: Not every output need depend on every input.
    derivative = True

    __slots__ = ("_pure", "parts", "settings")

    def __init__(self, name: str, parts: tuple[Steps, ...], *settings: Any):
        self.parts = tuple([Call(steps, name) for steps in parts])
        self.settings = settings
        effect = any(part.effect for part in self.parts)
        kernels = any(part.kernels for part in self.parts)
        affine = any(part.op.affine for part in self.parts)
        super().__init__(Op(self._run, name, effect=effect, kernels=kernels, affine=affine), {})
        self._pure = self._jitted()

    def _jitted(self) -> Callable[..., Arrays]:
        return Apart(jax.jit, self.pure) if self.kernels else jax.jit(self.pure)

    def _run(self, *arrays: Any) -> Arrays:
        return self.run_parts([part.fn for part in self.parts], arrays)

    def pure(self, *arrays: Any) -> Arrays:
        return self.run_parts([part.pure for part in self.parts], arrays)

    def traced_pure(self, *arrays: Any) -> Arrays:
        return self.pure(*arrays) if FORWARD.mode else self._pure(*arrays)

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        """What it gives, by its parts as functions."""
        raise NotImplementedError

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf, /) -> Dependence:
        """For each output, the positions of the inputs that it depends on."""
        raise NotImplementedError

    def _without_effect(self) -> Closure:
        parts = tuple([part.pure_steps() for part in self.parts])
        return structured(type(self), self.name, parts, *self.settings)

    def _has_unknown(self) -> bool:
        return any(part.unknown for part in self.parts) or bool(variables(self.settings))

    def _at(self, sizes: Sizes) -> Closure:
        parts = tuple([part.steps.at(sizes) for part in self.parts])
        return structured(type(self), self.name, parts, *sizes.fill(self.settings))

    def forget(self) -> None:
        super().forget()
        self._pure = self._jitted()


def structured(make: type[Structured], name: str, parts: tuple[Steps, ...], *settings: Any) -> Any:
    """The one closure of this kind of equal parts and settings."""
    key = (make, name, parts, *settings)
    return _CLOSURES.find(key, lambda: make(name, parts, *settings))


def calling(
    call: Closure, outputs: int, operands: int, given: Iterable[int], chosen: Iterable[int]
) -> Steps:
    """Steps that take `operands` inputs, call a closure of so many outputs with those at `given`,
    and give the values `chosen`: inputs come first, then what the closure gave."""
    step = Step(call, tuple(given), operands, operands + outputs)
    return Steps(operands, (step,), tuple(chosen))


class Cond(Structured):
    """One of several branches, by a number or a bool; the last one for any other number.

    Inputs: the number, then the operands of every branch. With two branches and a bool, the first
    is that of False.
    """

    __slots__ = ()

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        index, *operands = arrays
        first, *others = parts
        if index.dtype == jnp.bool_ and len(others) == 1:
            return jax.lax.cond(index, others[0], first, *operands)
        last = len(others)
        index = jnp.where((index < 0) | (index > last), last, index).astype(jnp.int32)
        return jax.lax.switch(index, [first, *others], *operands)

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        return self.parts[0].infer(avals[1:])[0], False

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf, /) -> Dependence:
        parts = [of(branch.flat, avals[1:]) for branch in self.parts]
        return tuple([frozenset(i + 1 for i in union(each)) for each in zip(*parts, strict=True)])


class Batched(Structured):
    """A function of rows, done for all rows at once: `jax.vmap` of its part.

    The settings are how many rows there are, and for each input whether it is given row by row or
    is the same for all.
    """

    __slots__ = ()

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        count, by_rows = self.settings
        axes = [0 if rows else None for rows in by_rows]
        return jax.vmap(parts[0], axes, axis_size=count)(*arrays)

    def _rows(self, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        pairs = zip(avals, self.settings[1], strict=True)
        return tuple([a.row if rows else a for a, rows in pairs])

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        count: Size = self.settings[0]
        found = self.parts[0].infer(self._rows(avals))[0]
        return tuple([Aval.of((count, *a.shape), a.dtype) for a in found]), False

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf, /) -> Dependence:
        return of(self.parts[0].flat, self._rows(avals))


def union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)

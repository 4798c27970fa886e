"""Arrays whose sizes the call tells, and which are broadcast to each other.

JAX has no program of these: it takes it that two unknown sizes are never the same, nor 1. So arrays
are repeated to one shape before an op broadcasts them, and sizes get bounds: one of two is 1, or
both are the same. Where sizes are known, XLA is left with no more than it has otherwise.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...core.avals import Aval
from ...core.call import Call
from ...core.dimensions import Shape, Size, broadcast, is_symbolic
from ...core.op import Op
from ...core.steps import Step, Steps


def broadcasting(closure: Call, avals: Sequence[Aval]) -> tuple[Call, tuple[str, ...]]:
    """A closure that repeats the arrays which its ops broadcast along unknown sizes, and the bounds
    of sizes that it is for. The closure itself if it has none to repeat."""
    made = _Broadcasting(avals)
    for step in closure.flat.steps:
        made.add(step)
    if not made.bounds:
        return closure, ()
    outputs = tuple([made.numbers[i] for i in closure.flat.outputs])
    steps = Steps(len(avals), tuple(made.steps), outputs)
    return Call(steps, closure.name, closure.due), tuple(made.bounds)


class _Broadcasting:
    """Steps being written again. numbers: those of their values, by the numbers these had. parts:
    the sizes of which one that was made by broadcasting is the largest."""

    def __init__(self, avals: Sequence[Aval]):
        self.steps: list[Step] = []
        self.bounds: dict[str, None] = {}
        self._parts: dict[Size, tuple[Size, ...]] = {}
        self.numbers = dict(enumerate(range(len(avals))))
        self._avals = list(avals)

    def add(self, step: Step) -> None:
        """Write a step, behind those that repeat what it broadcasts."""
        inputs = [self.numbers[i] for i in step.inputs]
        shapes = [self._avals[i].shape for i in inputs]
        if step.closure.op.broadcasts:
            together = broadcast(shapes) or ()
            self._bound(shapes, together)
            inputs = [self._repeated(i, together) for i in inputs]
        elif shape := step.closure.name == "BroadcastTo" and step.closure.attributes.get("shape"):
            self.bounds.update(dict.fromkeys(_bounds_to(shapes[0], shape)))
            inputs = [self._repeated(inputs[0], shape)]
        first = self._written(step.closure, inputs)
        self.numbers.update(zip(range(step.first, step.end), itertools.count(first), strict=False))

    def _bound(self, shapes: Sequence[Shape], together: Shape) -> None:
        """What must hold of sizes so that these shapes broadcast: the smaller of two is 1, or both
        are the same. Of one that was made by broadcasting it must hold of those it was made of:
        JAX takes the longer, the more bounds there are."""
        full = [(1,) * (len(together) - len(shape)) + tuple(shape) for shape in shapes]
        for *along, size in zip(*full, together, strict=True):
            parts = [part for x in along if x != 1 for part in self._parts.get(x, (x,))]
            sizes = tuple(dict.fromkeys(parts))
            for a, b in itertools.combinations(sizes, 2):
                if is_symbolic(a) or is_symbolic(b):
                    self.bounds.update(dict.fromkeys(_bounds_of(*sorted((a, b), key=str))))
            if is_symbolic(size):
                self._parts[size] = sizes

    def _repeated(self, number: int, together: Shape) -> int:
        """A value that is repeated to the sizes that it is broadcast to, if it need be."""
        shape = self._avals[number].shape
        wanted = together[len(together) - len(shape) :]
        sizes = zip(shape, wanted, strict=True)
        repeats = {i: size for i, (have, size) in enumerate(sizes) if have not in (1, size)}
        if not repeats:
            return number
        closure = _REPEATED.bind(axes=tuple(repeats), sizes=tuple(repeats.values()))
        return self._written(closure, [number])

    def _written(self, closure: Any, inputs: Sequence[int]) -> int:
        """Write a closure. Gives the number of the first value that it gives."""
        first = len(self._avals)
        self._avals += closure.infer(tuple([self._avals[i] for i in inputs]))[0]
        self.steps.append(Step(closure, tuple(inputs), first, len(self._avals)))
        return first


def _repeated(x: Any, axes: tuple[int, ...], sizes: Shape) -> Any:
    """An array with these sizes along axes, along which it has the same ones, or 1."""
    for axis, size in zip(axes, sizes, strict=True):
        have = x.shape[axis]
        first = jax.lax.slice_in_dim(_longer(x, axis, 1), 0, 1, axis=axis)
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        same = _longer(x, axis, size - have)
        x = jax.lax.select(jnp.asarray(have) == 1, jnp.broadcast_to(first, shape), same)
    return x


def _longer(x: Any, axis: int, more: Size) -> Any:
    """An array with zeros behind its end along an axis."""
    pads = [(0, more if i == axis else 0, 0) for i in range(x.ndim)]
    return jax.lax.pad(x, jnp.zeros((), x.dtype), pads)


def _shape_of_repeated(avals: Sequence[Aval], axes: tuple[int, ...], sizes: Shape) -> Aval:
    shape = list(avals[0].shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return Aval.of(tuple(shape), avals[0].dtype)


_REPEATED = Op(_repeated, "BroadcastTo", shapes=_shape_of_repeated)


def _bounds_to(have: Shape, shape: Shape) -> Iterator[str]:
    """The same for what is broadcast to a shape."""
    for size, wanted in zip(have, shape[len(shape) - len(have) :], strict=True):
        if size != wanted and (is_symbolic(size) or is_symbolic(wanted)):
            yield from _is_one_or(f"max({size}, 0)", f"max({wanted}, 0)")


def _bounds_of(a: Size, b: Size) -> Iterator[str]:
    """That the smaller of two sizes is 1, or both are the same. Of two that have no more to do with
    each other one equation says it, for which JAX writes half as much."""
    less, more = f"min({a}, {b})", f"max({a}, {b})"
    alone = [_ALONE.fullmatch(str(size)) for size in (a, b)]
    if len({found and found[1] for found in alone} - {None}) == 2:
        yield f"{less}*{more} == {more} + {less}*{less} - {less}"
    else:
        yield from _is_one_or(less, more)


#: An unknown size, or that of an array which may be empty.
_ALONE = re.compile(r"([A-Za-z_]\w*)(?: - 1)?")


def _is_one_or(size: str, other: str) -> Iterator[str]:
    """That a size is 1 or another one: (other - size)(size - 1) is 0."""
    for relation in ("<=", ">="):
        yield f"{size}*{other} + {size} {relation} {other} + {size}*{size}"

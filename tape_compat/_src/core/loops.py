"""Loops as closures that hold Steps: of as many turns as are known, or as a predicate says.

A loop of known length is `lax.scan`, which JAX differentiates. One that runs while a predicate
holds is `lax.while_loop`, which JAX does not differentiate backwards, for it would have to keep a
number of values that it does not know. Its derivative is that of another form, which does the same
turns in scans in scans that stop when the predicate says so. Each level keeps what its turns began
with and computes the rest again (`jax.checkpoint`), so a million turns keep a few hundred states.
It is the nesting of equinox's bounded `while_loop`. Which of the `FORMS` is needed is known when
the derivative is taken: the loop counts its turns. All of it is ordinary JAX code, so that
derivatives of derivatives, in any mode and of loops in loops, are there too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .avals import Aval
from .control import Dependence, DependenceOf, Part, Structured, fixed_point, union
from .dimensions import Size
from .op import Arrays

#: How long the scans are by which a loop of unknown length is differentiated, the innermost first:
#: for loops of at most 64 turns, and for longer ones. A cell of a network of 64 units takes 1 s to
#: compile with its gradient; with six levels of 32, for any number of turns, the second derivative
#: took 14 s rather than 6 s. The derivative of more turns is NaN.
FORMS = ((64,), (64, 64, 256))
#: Loops known to have no more turns are differentiated as one scan.
ONE_SCAN = 256


class Scan(Structured):
    """A loop of so many turns. Its one part is the body.

    Inputs: what is carried, what each turn takes a row of, and what is the same in all turns. The
    body takes these (a row each) and gives what is carried next, then what is stacked.
    """

    __slots__ = ()

    @property
    def _layout(self) -> tuple[int, int, Size]:
        """How many inputs are carried, where the rows end, and the number of turns."""
        carried, rows, length = self.settings
        return carried, carried + rows, length

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        carried, end, length = self._layout
        held = arrays[end:]

        def turn(state: Arrays, rows: Arrays) -> tuple[Arrays, Arrays]:
            found = parts[0](*state, *rows, *held)
            return found[:carried], found[carried:]

        state = tuple(map(jnp.asarray, arrays[:carried]))
        state, stacked = jax.lax.scan(turn, state, arrays[carried:end], length)
        return (*state, *stacked)

    def _body_avals(self, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        carried, end, _ = self._layout
        rows = [Aval.of(a.shape[1:], a.dtype) for a in avals[carried:end]]
        return (*avals[:carried], *rows, *avals[end:])

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        carried, _, length = self._layout
        found = self.parts[0].infer(self._body_avals(avals))[0]
        stacked = [Aval.of((length, *a.shape), a.dtype) for a in found[carried:]]
        return (*avals[:carried], *stacked), False

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf) -> Dependence:
        carried = self._layout[0]
        found = of(self.parts[0].flat, self._body_avals(avals))
        reach = fixed_point(carried, found, len(avals))
        stacked = [union([reach[i] for i in each]) for each in found[carried:]]
        return (*reach[:carried], *stacked)


class While(Structured):
    """A loop that goes on while a predicate holds. Its parts are the predicate and the body.

    Inputs: what is carried, and what is the same in all turns; both parts take all of it. The
    settings are how many are carried, and a bound: no more turns than that, None if none is known.
    """

    __slots__ = ()

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        return _counted(parts, self.settings[0], arrays)[1:]

    def pure(self, *arrays: Any) -> Arrays:
        parts = [part.pure for part in self.parts]
        return _differentiable(parts, *self.settings)(*map(jnp.asarray, arrays))[1:]

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        return avals[: self.settings[0]], False

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf) -> Dependence:
        carried = self.settings[0]
        found = of(self.parts[1].flat, avals)
        return tuple(fixed_point(carried, found, len(avals))[:carried])


def _counted(parts: Sequence[Part], carried: int, arrays: Arrays) -> Arrays:
    """The number of turns of a loop, and what it carries at the end."""
    goes_on, body = parts
    held = arrays[carried:]

    def turn(state: Arrays) -> Arrays:
        return (state[0] + 1, *body(*state[1:], *held))

    start = (jnp.zeros((), jnp.int32), *map(jnp.asarray, arrays[:carried]))
    return jax.lax.while_loop(lambda s: goes_on(*s[1:], *held)[0], turn, start)


def _differentiable(parts: Sequence[Part], carried: int, bound: Size) -> Callable[..., Arrays]:
    """`_counted`, with a derivative."""

    @jax.custom_jvp
    def loop(*arrays: Any) -> Arrays:
        return _counted(parts, carried, arrays)

    def derivative(primals: Arrays, tangents: Arrays) -> tuple[Arrays, Arrays]:
        count, *state = loop(*primals)
        moving = [
            i
            for i, tangent in enumerate(tangents)
            if not isinstance(tangent, jax.custom_derivatives.SymbolicZero)
        ]
        inexact = [i for i, x in enumerate(state) if _inexact(x)]

        def form(*chosen: Any) -> Arrays:
            arrays = list(primals)
            for i, x in zip(moving, chosen, strict=True):
                arrays[i] = x
            found = _nested(parts, carried, bound, count, arrays)
            return tuple([found[i] for i in inexact])

        chosen = tuple([primals[i] for i in moving])
        pushed = jax.jvp(jax.checkpoint(form), chosen, tuple([tangents[i] for i in moving]))[1]
        answers = dict(zip(inexact, pushed, strict=True))
        return (count, *state), (
            _no_tangent(count),
            *[answers[i] if i in answers else _no_tangent(x) for i, x in enumerate(state)],
        )

    loop.defjvp(derivative, symbolic_zeros=True)
    return loop


def _no_tangent(x: Any) -> Any:
    return jax.custom_derivatives.zero_from_primal(x)


def _nested(
    parts: Sequence[Part], carried: int, bound: int | None, count: Any, arrays: list[Any]
) -> Arrays:
    """The loop as nested scans: what is carried at the end."""
    state, held = tuple(arrays[:carried]), tuple(arrays[carried:])
    start = parts[0](*state, *held)[0], state
    if bound is not None and bound <= ONE_SCAN:
        return _levels(parts, (bound,))(start, held)[1]
    forms = [_levels(parts, lengths) for lengths in FORMS]
    found = jax.lax.cond(count <= FORMS[0][0], *forms, start, held)[1]
    if bound is not None and bound <= math.prod(FORMS[-1]):
        return found
    spoiled = jnp.where(count > math.prod(FORMS[-1]), jnp.nan, 1.0)
    return tuple([x * spoiled.astype(x.dtype) if _inexact(x) else x for x in found])


def _inexact(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


#: Whether to go on, and what is carried; then what is held.
Turn = Callable[[Any, Arrays], Any]


def _levels(parts: Sequence[Part], lengths: tuple[int, ...]) -> Turn:
    """Scans in scans of these lengths, the innermost first."""
    goes_on, body = parts

    def turn(state: Any, held: Arrays) -> Any:
        def go(carried: Arrays) -> Any:
            carried = body(*carried, *held)
            return goes_on(*carried, *held)[0], carried

        return jax.lax.cond(state[0], go, lambda carried: (state[0], carried), state[1])

    level = _repeated(turn, lengths[0])
    for length in lengths[1:]:
        level = _repeated(_unless_done(level), length)
    return level


def _repeated(turn: Turn, length: int) -> Turn:
    once = jax.checkpoint(turn, prevent_cse=False)

    def level(state: Any, held: Arrays) -> Any:
        return jax.lax.scan(lambda s, _: (once(s, held), None), state, None, length)[0]

    return level


def _unless_done(level: Turn) -> Turn:
    def turn(state: Any, held: Arrays) -> Any:
        return jax.lax.cond(_any(state[0]), level, lambda s, _: s, state, held)

    return turn


@jax.custom_batching.custom_vmap
def _any(goes_on: Any) -> Any:
    """A bool, or whether one of a batch is true: a batch of loops stops when all have."""
    return goes_on


@_any.def_vmap
def _any_of_batch(size: int, batched: Any, goes_on: Any) -> tuple[Any, bool]:
    return jnp.any(goes_on), False

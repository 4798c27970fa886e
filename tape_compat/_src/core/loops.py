"""Loops as closures that hold Steps: of as many iterations as are known, or as a predicate says.

A loop of known length is `lax.scan`, which JAX differentiates. One that runs while a predicate
holds is `lax.while_loop`, which JAX does not differentiate backwards, for it would have to keep a
number of values that it does not know. `loop_pullbacks` has its reverse derivatives. For forward
mode, and derivatives of that, it is differentiated as another form, which does the same iterations
in scans in scans that stop when the predicate says so. Each level keeps what its iterations began
with and computes the rest again (`jax.checkpoint`), so a million iterations keep a few hundred
states. It is the nesting of equinox's bounded `while_loop`. Which of the `FORMS` is needed is known
when the derivative is taken: the loop counts its iterations. All of it is ordinary JAX code, so
that derivatives of derivatives, in any mode and of loops in loops, are there too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from .avals import Aval
from .control import Dependence, Part, Structured
from .derivative import inexact
from .dimensions import Size, is_symbolic, less
from .loop_pullbacks import Layout, counted, differentiable
from .op import Arrays
from .reverse_only import FORWARD, forward_mode

#: How long the scans are by which a loop of unknown length is differentiated forward, the innermost
#: first: for loops of at most 64 iterations, and for longer ones. That of more iterations is NaN.
FORMS = ((64,), (64, 64, 256))


class Loop(Structured):
    """What loops have in common: they are one op to a tape, as in TensorFlow, so that a gradient by
    what only the predicate reads is 0 and not None."""

    __slots__ = ()

    def dependence(self, avals: tuple[Aval, ...], *_: Any) -> Dependence:
        return (frozenset(range(len(avals))),) * len(self.infer(avals)[0])


class Scan(Loop):
    """A loop of so many iterations. Its one part is the body.

    Inputs: what is carried, what each iteration takes a row of, and what is the same in all
    iterations. The body takes these (a row each) and gives what is carried next, then what is
    stacked.
    """

    __slots__ = ()

    @property
    def _layout(self) -> tuple[int, int, Size]:
        """How many inputs are carried, where the rows end, and the number of iterations."""
        carried, rows, length = self.settings
        return carried, carried + rows, length

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        carried, end, length = self._layout
        held = arrays[end:]

        def iteration(state: Arrays, rows: Arrays) -> tuple[Arrays, Arrays]:
            found = parts[0](*state, *rows, *held)
            return found[:carried], found[carried:]

        state = tuple(map(jnp.asarray, arrays[:carried]))
        if is_symbolic(length):  # which `lax.scan` takes from rows only
            numbered = jnp.arange(length, dtype=jnp.int32), arrays[carried:end]
            state, stacked = jax.lax.scan(lambda x, rows: iteration(x, rows[1]), state, numbered)
        else:
            state, stacked = jax.lax.scan(iteration, state, arrays[carried:end], length)
        return (*state, *stacked)

    def body_avals(self, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        """What the body takes."""
        carried, end, _ = self._layout
        return (*avals[:carried], *[a.row for a in avals[carried:end]], *avals[end:])

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        carried, _, length = self._layout
        found = self.parts[0].infer(self.body_avals(avals))[0]
        stacked = [Aval.of((length, *a.shape), a.dtype) for a in found[carried:]]
        return (*avals[:carried], *stacked), False


class While(Loop):
    """A loop that goes on while a predicate holds. Its parts are the predicate and the body.

    Inputs: what is carried; what each iteration takes a row of; rows that each iteration gives
    another one for; and what is the same in all iterations. The predicate takes the first and the
    last of these, the body what an iteration has. It gives what is carried next, then rows. The
    settings: how many inputs are carried, taken by rows and given by rows; and a bound, no more
    iterations than that, None if nothing is known. If there are rows, there are as many as
    iterations at most.
    """

    __slots__ = ()

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        layout = Layout(*self.settings)
        return _having_rows(lambda *x: counted(parts, layout, x)[1:], layout, arrays)

    def pure(self, *arrays: Any) -> Arrays:
        if FORWARD.mode:
            return self.in_scans(*arrays)
        parts = [part.pure for part in self.parts]
        layout = Layout(*self.settings)
        return _having_rows(partial(differentiable(parts, layout), None), layout, arrays)

    def in_scans(self, *arrays: Any) -> Arrays:
        """`pure` with derivatives in any mode."""
        parts = [forward_mode()(part.pure) for part in self.parts]
        return _in_scans(parts, Layout(*self.settings), arrays)

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        layout = Layout(*self.settings)
        carried, _, given, _ = layout.split(avals)
        return (*carried, *given), False


class WhileInScans(While):
    """The same for who differentiates it by JAX in any mode."""

    __slots__ = ()

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        if self.effect:
            return super().run_parts(parts, arrays)
        return _in_scans(parts, Layout(*self.settings), arrays)

    def pure(self, *arrays: Any) -> Arrays:
        return self.in_scans(*arrays)


def _having_rows(loop: Callable[..., Arrays], layout: Layout, arrays: Sequence[Any]) -> Arrays:
    """A loop with a row more of what may have none: JAX takes a row of an empty array nowhere, not
    in a body that never runs either."""
    carried, taken, given, held = layout.split(tuple(map(jnp.asarray, arrays)))
    found = loop(*carried, *map(_with_a_row, taken), *map(_with_a_row, given), *held)
    pairs = zip(found[layout.carried :], given, strict=True)
    rows = [
        x if less(0, like.shape[0]) else jax.lax.slice_in_dim(x, 0, like.shape[0])
        for x, like in pairs
    ]
    return (*found[: layout.carried], *rows)


def _with_a_row(x: Any) -> Any:
    return x if less(0, x.shape[0]) else jnp.pad(x, [(0, 1)] + [(0, 0)] * (x.ndim - 1))


def _in_scans(parts: Sequence[Part], layout: Layout, arrays: Sequence[Any]) -> Arrays:
    loop = _differentiable(parts, layout)
    return _having_rows(lambda *x: loop(*x)[1:], layout, arrays)


def _differentiable(parts: Sequence[Part], layout: Layout) -> Callable[..., Arrays]:
    """`counted`, with a derivative."""

    @jax.custom_jvp
    def loop(*arrays: Any) -> Arrays:
        return counted(parts, layout, arrays)

    def derivative(primals: Arrays, tangents: Arrays) -> tuple[Arrays, Arrays]:
        count, *state = loop(*primals)
        moving = [
            i
            for i, tangent in enumerate(tangents)
            if not isinstance(tangent, jax.custom_derivatives.SymbolicZero)
        ]
        places = [i for i, x in enumerate(state) if inexact(x)]

        def form(*chosen: Any) -> Arrays:
            arrays = list(primals)
            for i, x in zip(moving, chosen, strict=True):
                arrays[i] = x
            found = _nested(parts, layout, count, tuple(arrays))
            return tuple([found[i] for i in places])

        chosen = tuple([primals[i] for i in moving])
        pushed = jax.jvp(jax.checkpoint(form), chosen, tuple([tangents[i] for i in moving]))[1]
        answers = dict(zip(places, pushed, strict=True))
        none = jax.custom_derivatives.zero_from_primal
        found = [answers[i] if i in answers else none(x) for i, x in enumerate(state)]
        return (count, *state), (none(count), *found)

    loop.defjvp(derivative, symbolic_zeros=True)
    return loop


def _nested(parts: Sequence[Part], layout: Layout, count: Any, arrays: Arrays) -> Arrays:
    """The loop as nested scans: what is carried at the end, and the rows."""
    carried, taken, given, held = layout.split(arrays)
    start = parts[0](*carried, *held)[0], tuple(carried)
    rows = tuple(taken), tuple(given)
    bound = layout.bound
    if bound is not None and bound <= math.prod(FORMS[-1]):
        return _at_most(parts, bound, start, rows, held)
    forms = [_levels(parts, lengths) for lengths in FORMS]
    none: tuple[Arrays, Arrays] = (), ()
    longer = _any(count > FORMS[0][0])[0]
    found = jax.lax.cond(longer, forms[1], forms[0], start, none, held)[0][1]
    spoiled = jnp.where(count > math.prod(FORMS[-1]), jnp.nan, 1.0)
    return tuple([x * spoiled.astype(x.dtype) if inexact(x) else x for x in found])


def _at_most(
    parts: Sequence[Part], bound: int, start: Any, rows: tuple[Arrays, Arrays], held: Arrays
) -> Arrays:
    """A loop of at most so many iterations."""
    lengths: list[int] = []
    rest = max(bound, 1)
    while rest > 1 or not lengths:
        scans = -(-rest // FORMS[0][0])
        lengths.append(-(-rest // scans))
        rest = scans
    room = math.prod(lengths)

    def folded(x: Any) -> Any:
        padded = jnp.pad(x, [(0, room - x.shape[0])] + [(0, 0)] * (x.ndim - 1))
        return padded.reshape((*lengths[::-1], *x.shape[1:]))

    level = _levels(parts, tuple(lengths))
    (_, carried), given = level(start, jax.tree.map(folded, rows), held)
    unfolded = [x.reshape((room, *x.shape[len(lengths) :])) for x in given]
    return (*carried, *[x[: y.shape[0]] for x, y in zip(unfolded, rows[1], strict=True)])


#: Takes whether to go on and what is carried, rows, and what is held; gives the first two anew,
#: the rows being those that are given.
Iteration = Callable[[Any, tuple[Arrays, Arrays], Arrays], tuple[Any, Arrays]]


def _levels(parts: Sequence[Part], lengths: tuple[int, ...]) -> Iteration:
    """Scans in scans of these lengths, the innermost first."""
    goes_on, body = parts

    def iteration(state: Any, rows: tuple[Arrays, Arrays], held: Arrays) -> tuple[Any, Arrays]:
        taken, given = rows
        count = len(state[1])

        some, mine = _any(state[0])

        def go(carried: Arrays) -> Any:
            inside = [_only(mine, x) for x in (*carried, *taken, *held)]
            found = body(*inside)
            new = [jnp.where(mine, x, y) for x, y in zip(found, (*carried, *given), strict=True)]
            carried = tuple(new[:count])
            return (goes_on(*carried, *held)[0] & mine, carried), tuple(new[count:])

        return jax.lax.cond(some, go, lambda carried: ((state[0], carried), given), state[1])

    level = _repeated(iteration, lengths[0])
    for length in lengths[1:]:
        level = _repeated(_unless_done(level), length)
    return level


def _repeated(iteration: Iteration, length: int) -> Iteration:
    once = jax.checkpoint(iteration, prevent_cse=False)

    def level(state: Any, rows: tuple[Arrays, Arrays], held: Arrays) -> tuple[Any, Arrays]:
        return jax.lax.scan(lambda s, row: once(s, row, held), state, rows, length)

    return level


def _unless_done(level: Iteration) -> Iteration:
    def iteration(state: Any, rows: tuple[Arrays, Arrays], held: Arrays) -> tuple[Any, Arrays]:
        return jax.lax.cond(_any(state[0])[0], level, lambda s, r, _: (s, r[1]), state, rows, held)

    return iteration


def _only(mine: Any, x: Any) -> Any:
    """`x`, through which a derivative flows only where a loop goes on: that of the others may be
    NaN."""
    return jnp.where(mine, x, jax.lax.stop_gradient(x))


@jax.custom_batching.custom_vmap
def _any(goes_on: Any) -> tuple[Any, Any]:
    """Whether one of a batch of loops goes on, so that all stop when all have ended; and which one
    does, which is plainly true where there is no batch."""
    return goes_on, jnp.ones((), bool)


@_any.def_vmap
def _any_of_batch(size: int, batched: Any, goes_on: Any) -> Any:
    return (jnp.any(goes_on), goes_on), (False, True)

"""Templates: programs whose loops run as loops, however often.

A template says what a program does, but not how often its loops run: this is an argument of the
compiled program, up to a capacity. So the programs of all lengths of a Python loop are one template
and one compiled program. `write.py` finds the template of a record.

A value is one array, a stack is one array for each iteration of a loop. Both are numbered in the
order in which the template first speaks of them; that makes templates equal that do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ...core.avals import Aval
from ...core.steps import Replay, Step, Steps
from .. import policy
from ..donation import Care, donating


class Load(NamedTuple):
    """`value` is one row of a stack; which one is an argument."""

    value: int
    stack: int


class Given(NamedTuple):
    """`value` is an integer that is an argument."""

    value: int


class Unpack(NamedTuple):
    """The values from `first` on are the rows of what a loop saved: its first iterations."""

    first: int
    stack: int
    rows: int


class Pack(NamedTuple):
    """A stack is made of values."""

    stack: int
    values: tuple[int, ...]


class Carry(NamedTuple):
    """What an iteration reads of an earlier one. `start` is the value that the first iteration
    reads; None if no iteration reads it and only the last one's is wanted."""

    start: int | None
    aval: Aval


class Stream(NamedTuple):
    """What each iteration reads of a stack: the row of its own number, or one given as an argument.
    If there is no stack: the given number itself."""

    stack: int | None
    given: bool


class Save(NamedTuple):
    """What each iteration adds to a stack. Row 0 is the value `start`, if there is one."""

    stack: int
    start: int | None
    aval: Aval


class Loop(NamedTuple):
    """A loop. The inputs of its body are the invariants, carries and streams; its outputs are what
    the next iteration reads as carries, then what the saves keep.

    The values from `first` on are what the carries are after the last iteration.
    """

    loop: int
    body: Steps
    invariants: tuple[int, ...]
    carries: tuple[Carry, ...]
    streams: tuple[Stream, ...]
    saves: tuple[Save, ...]
    first: int


Segment = Step | Given | Load | Unpack | Pack | Loop


class Bundle(NamedTuple):
    """Array leaves given as a stack, one for each iteration of a loop; or, if `whole`, the rows of
    one leaf. Its capacity is that numbered `loop`."""

    stack: int
    loop: int
    aval: Aval
    whole: bool = False


class Scalars(NamedTuple):
    """The scalar leaves of a dtype, in one vector: single ones, then those of (stack, loop)."""

    dtype: str
    values: tuple[int, ...]
    stacks: tuple[tuple[int, int], ...]


class Template(NamedTuple):
    """What a program does. `outputs` and `buffers`: the values and the stacks that it gives."""

    segments: tuple[Segment, ...]
    leaves: tuple[tuple[int, Aval], ...]
    bundles: tuple[Bundle, ...]
    scalars: tuple[Scalars, ...]
    outputs: tuple[int, ...]
    buffers: tuple[int, ...]

    @property
    def instructions(self) -> int:
        """How many instructions a compile sees."""
        return sum(len(s.body.steps) if isinstance(s, Loop) else 1 for s in self.segments)


def function_of(
    template: Template, capacities: tuple[int, ...], counts: tuple[int, ...] | None = None
) -> Callable[..., tuple[Any, ...]]:
    """The template as a JAX function.

    Its arguments are the leaves, the bundles, the vectors of scalars, and a vector of int32: for
    each loop the number of iterations and the rows of its given streams, for each `Load` its row,
    for each `Given` itself, in the order of the segments. `counts`: the numbers of iterations, if
    the program is for these alone.
    """

    def function(*arguments: Any) -> tuple[Any, ...]:
        given = iter(arguments)
        env: dict[int, Any] = {value: next(given) for value, _ in template.leaves}
        stacks: dict[int, Any] = {bundle.stack: next(given) for bundle in template.bundles}
        for _, values, streams in template.scalars:
            vector = next(given)
            env.update((value, vector[i]) for i, value in enumerate(values))
            at = len(values)
            for stack, loop in streams:
                stacks[stack] = vector[at : at + capacities[loop]]
                at += capacities[loop]
        _run(template.segments, capacities, counts, env, stacks, _Numbers(next(given)))
        return (*(env[v] for v in template.outputs), *(stacks[s] for s in template.buffers))

    return function


class _Numbers:
    """Reads a vector from its start."""

    def __init__(self, vector: Any):
        self.vector, self.at = vector, 0

    def one(self) -> Any:
        self.at += 1
        return self.vector[self.at - 1]

    def many(self, count: int) -> Any:
        self.at += count
        return self.vector[self.at - count : self.at]


def _run(
    segments: tuple[Segment, ...],
    capacities: tuple[int, ...],
    counts: tuple[int, ...] | None,
    env: dict[int, Any],
    stacks: dict[int, Any],
    numbers: _Numbers,
) -> None:
    straight = Replay(s for s in segments if isinstance(s, Step))
    for segment in segments:
        if isinstance(segment, Step):
            straight.run((segment,), env)
        elif isinstance(segment, Loop):
            known = None if counts is None else counts[segment.loop]
            _run_loop(segment, capacities[segment.loop], known, env, stacks, numbers)
        elif isinstance(segment, Given):
            env[segment.value] = numbers.one()
        elif isinstance(segment, Load):
            env[segment.value] = _row(stacks[segment.stack], numbers.one())
        elif isinstance(segment, Unpack):
            stack = stacks[segment.stack]
            env.update((segment.first + t, stack[t + 1]) for t in range(segment.rows))
        else:
            stacks[segment.stack] = jnp.stack([env[v] for v in segment.values])


def _row(stack: Any, number: Any) -> Any:
    return lax.dynamic_index_in_dim(stack, number, keepdims=False)


def _run_loop(
    loop: Loop,
    capacity: int,
    known: int | None,
    env: dict[int, Any],
    stacks: dict[int, Any],
    numbers: _Numbers,
) -> None:
    given = numbers.one()
    count = given if known is None else known
    rows = [numbers.many(capacity) if s.given else None for s in loop.streams]
    invariants = [env[v] for v in loop.invariants]

    def iteration(i: Any, state: tuple) -> tuple:
        carried, saved = state
        read = []
        for s, row in zip(loop.streams, rows, strict=True):
            place = i if row is None else row[i]
            read.append(place if s.stack is None else _row(stacks[s.stack], place))
        given = loop.body.replay(*invariants, *carried, *read)
        count = len(loop.carries)
        return (
            tuple(_like(x, c.aval) for x, c in zip(given[:count], loop.carries, strict=True)),
            tuple(
                lax.dynamic_update_index_in_dim(stack, _like(x, s.aval), i + 1, 0)
                for stack, x, s in zip(saved, given[count:], loop.saves, strict=True)
            ),
        )

    carried = tuple(_start(env, c.start, c.aval) for c in loop.carries)
    saved = tuple(_room(env, s, capacity) for s in loop.saves)
    carried, saved = lax.fori_loop(0, count, iteration, (carried, saved))
    env.update(enumerate(carried, loop.first))
    stacks.update((s.stack, stack) for s, stack in zip(loop.saves, saved, strict=True))


def _like(array: Any, aval: Aval) -> Any:
    """Without JAX's mark of a weak type, which the state of a loop must not change."""
    return lax.convert_element_type(array, aval.np_dtype)


def _start(env: dict[int, Any], value: int | None, aval: Aval) -> Any:
    return jnp.zeros(aval.shape, aval.np_dtype) if value is None else _like(env[value], aval)


def _room(env: dict[int, Any], save: Save, capacity: int) -> Any:
    room = jnp.zeros((capacity + 1, *save.aval.shape), save.aval.np_dtype)
    return room if save.start is None else room.at[0].set(_start(env, save.start, save.aval))


class CompiledLoops:
    """A template compiled, when first called, for loops of up to so many iterations.

    counts: how often they run, if it is compiled for that alone.
    """

    __slots__ = ("call", "capacities", "care", "counts")

    def __init__(
        self,
        template: Template,
        capacities: tuple[int, ...],
        counts: tuple[int, ...] | None,
        donate: tuple[int, ...],
        care: Care,
    ):
        self.capacities, self.counts, self.care = capacities, counts, care
        self.call = donating(function_of(template, capacities, counts), donate)

    def serves(self, counts: tuple[int, ...]) -> bool:
        """Whether loops of so many iterations fit, and not so loosely that stacks waste memory."""
        if self.counts is not None:
            return counts == self.counts
        return all(
            n <= capacity <= max(policy.LEAST_CAPACITY, policy.LOOSEST * n)
            for n, capacity in zip(counts, self.capacities, strict=True)
        )


def compile_for(
    template: Template,
    counts: tuple[int, ...],
    donate: tuple[int, ...],
    first: bool,
    care: Care,
) -> CompiledLoops:
    """The template compiled for loops of so many iterations: for them alone if it is the `first`
    time and a loop is dear that does not know how often it runs."""
    if first and jax.default_backend() not in policy.COUNTS_ARE_ARGUMENTS:
        return CompiledLoops(template, counts, counts, donate, care)
    return CompiledLoops(template, capacities_for(template, counts), None, donate, care)


def capacities_for(template: Template, counts: tuple[int, ...]) -> tuple[int, ...]:
    """The capacities to compile for: powers of two, so that few serve all lengths; but not where
    the stacks are so large that the memory matters."""
    row = [0] * len(counts)
    for segment in template.segments:
        if isinstance(segment, Loop):
            row[segment.loop] += sum(save.aval.nbytes for save in segment.saves)
    for bundle in template.bundles:
        row[bundle.loop] += bundle.aval.nbytes
    return tuple(map(_capacity, counts, row))


def _capacity(iterations: int, row: int) -> int:
    for capacity in (policy.LEAST_CAPACITY, 1 << (iterations - 1).bit_length()):
        if capacity >= iterations and capacity * row <= policy.LARGE_STACKS:
            return capacity
    return -(-iterations // policy.LEAST_ITERATIONS) * policy.LEAST_ITERATIONS

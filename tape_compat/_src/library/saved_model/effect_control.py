"""Conditionals and loops of XLA that print or check, as those that TensorFlow's kernels do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax

from ...core.avals import Aval
from ...core.call import Call
from ...core.control import Cond, Structured
from ...core.dtypes import int32
from ...core.loop_pullbacks import Layout
from ...core.loops import Scan, While
from ...core.op import Closure, Op
from ...core.steps import Step, Steps
from ...function.host_control import Branches, ControlStep, Loop
from ...values.bounds import not_empty
from ...values.effects import Effect


def is_effect(closure: Closure) -> bool:
    """Whether it prints, checks or the like, and is no conditional or loop."""
    return isinstance(closure.op, Effect)


def is_control(closure: Closure) -> bool:
    """Whether it is a conditional or a loop of XLA that prints or checks."""
    return isinstance(closure, (Cond, Scan, While)) and closure.effect


class ByParts(NamedTuple):
    """A conditional or a loop that is done part by part.

    sources: for each of its inputs the place of that of XLA's, or the aval of zeros. first: how
    many results it gives before those that XLA's gives.
    """

    step: ControlStep
    sources: tuple[int | Aval, ...]
    first: int


def by_parts(closure: Structured, avals: Sequence[Aval]) -> ByParts:
    """A conditional or a loop of XLA that takes such arrays."""
    results = closure.infer(tuple(avals))[0]
    if isinstance(closure, Cond):
        step = Branches(closure.name, closure.parts, results)
        return ByParts(step, tuple(range(len(avals))), 0)
    if isinstance(closure, Scan):
        carried, taken, length = closure.settings
        layout = Layout(carried, taken, 0, None)
        stacked = results[carried:]
        goes_on: Closure = _LESS.bind(limit=length)
    else:
        layout, stacked, goes_on = Layout(*closure.settings), (), closure.parts[0]
    carried, taken, given, held = layout.split(range(len(avals)))
    sources = (_COUNTER, *carried, *given, *stacked, *taken, *held)
    kinds = [avals[x] if isinstance(x, int) else x for x in sources]
    turning = kinds[: 1 + len(results)]
    counts = len(carried), len(results) - len(carried), len(taken), len(held)
    parts = _condition(goes_on, counts), _body(closure.parts[-1], counts)
    calls = [Call(steps, closure.name) for steps in parts]
    return ByParts(Loop(closure.name, calls, turning, turning), sources, 1)


_COUNTER = Aval.of((), int32)
#: An array of a shape and a dtype.
ZEROS = Op(lambda shape, dtype: jnp.zeros(shape, dtype), "ZerosLike", differentiable=False)
_LESS = Op(lambda i, limit: i < limit, "Less", differentiable=False)
_NEXT = Op(lambda i: i + 1, "AddV2", differentiable=False).bind()
_ROW = Op(
    lambda x, i: lax.dynamic_index_in_dim(not_empty(x, (0,)), i, 0, keepdims=False), "GatherV2"
).bind()
_WITH_ROW = Op(
    lambda x, i, row: lax.dynamic_update_index_in_dim(x, row, i, 0), "TensorScatterUpdate"
).bind()


def _places(counts: Sequence[int]) -> list[range]:
    """Of what is carried, given row by row, taken row by row and held, behind the counter."""
    ends = [1 + sum(counts[:i]) for i in range(len(counts) + 1)]
    return [range(start, end) for start, end in zip(ends, ends[1:])]


def _condition(goes_on: Closure, counts: Sequence[int]) -> Steps:
    carried, _, _, held = _places(counts)
    read = (0,) if goes_on.op is _LESS else (*carried, *held)
    return Steps(held.stop, (Step(goes_on, read, held.stop, held.stop + 1),), (held.stop,))


def _body(iteration: Closure, counts: Sequence[int]) -> Steps:
    carried, given, taken, held = _places(counts)
    steps: list[Step] = []

    def add(closure: Closure, read: Sequence[int], outputs: int = 1) -> range:
        first = steps[-1].end if steps else held.stop
        steps.append(Step(closure, tuple(read), first, first + outputs))
        return range(first, first + outputs)

    rows = [add(_ROW, (place, 0))[0] for place in taken]
    found = add(iteration, (*carried, *rows, *held), len(carried) + len(given))
    new = [
        add(_WITH_ROW, (place, 0, row))[0]
        for place, row in zip(given, found[len(carried) :], strict=True)
    ]
    following = add(_NEXT, (0,))[0]
    return Steps(held.stop, tuple(steps), (following, *found[: len(carried)], *new))

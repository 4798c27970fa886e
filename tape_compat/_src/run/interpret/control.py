"""Rules of conditions and loops, which run plans of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .randomness import stack_of
from .rule import Avals, Function, Params

#: Runs a jaxpr on arrays.
Run: TypeAlias = Callable[[Sequence[Any]], list[Any]]
#: Makes that of a jaxpr.
Nested: TypeAlias = Callable[[Any], Run]


class _Iterations(threading.local):
    """How many iterations the loops of unknown length have taken in this thread."""

    taken = 0


ITERATIONS = _Iterations()


def _cond(params: Params, outs: Avals, nested: Nested) -> Function:
    branches = [nested(branch) for branch in params["branches"]]
    last = len(branches) - 1

    def function(index: Any, *operands: Any) -> list[Any]:
        return branches[min(max(int(index), 0), last)](operands)

    return function


def _while(params: Params, outs: Avals, nested: Nested) -> Function:
    goes_on, body = nested(params["cond_jaxpr"]), nested(params["body_jaxpr"])
    first = params["cond_nconsts"]
    start = first + params["body_nconsts"]

    def function(*operands: Any) -> Sequence[Any]:
        held, fixed, state = operands[:first], operands[first:start], operands[start:]
        while np.any(going := goes_on((*held, *state))[0]):
            found = body((*fixed, *state))
            state = found if not np.ndim(going) else _where(going, found, state)
            ITERATIONS.taken += 1
        return state

    return function


def _where(going: Any, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
    """Of a batch of loops the state of those that go on, and that of those that have ended."""
    chosen = []
    for x, y in zip(new, old, strict=True):
        ones = (1,) * (np.ndim(x) - np.ndim(going))
        chosen.append(np.where(np.reshape(going, (*np.shape(going), *ones)), x, y))
    return chosen


def loop_layout(params: Params) -> tuple[int, int]:
    """How many inputs of a scan are the same in each iteration, and how many are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    held, carried, _ = params["ft_in"].unpack()  # from JAX 0.12 on
    return len(held), len(carried)


def _scan(params: Params, outs: Avals, nested: Nested) -> Function:
    body, length = nested(params["jaxpr"]), params["length"]
    first, carried = loop_layout(params)
    start = first + carried
    iterations = range(length)[::-1] if params["reverse"] else range(length)
    stacks = [stack_of(aval) for aval in outs[carried:]]

    def function(*operands: Any) -> list[Any]:
        held, state, rows = operands[:first], operands[first:start], operands[start:]
        results = [np.empty(*stack) for stack in stacks]
        for i in iterations:
            found = body((*held, *state, *[x[i] for x in rows]))
            state = found[:carried]
            for out, value in zip(results, found[carried:], strict=True):
                out[i] = value
        return [*state, *results]

    return function


def _linear_solve(params: Params, outs: Avals, nested: Nested) -> Function:
    """By the solver that is given with it; the rest serves derivatives."""
    solve, counts = nested(params["jaxprs"].solve), params["const_lengths"]
    first = counts.matvec + counts.vecmat
    end, last = first + counts.solve, first + counts.solve + counts.transpose_solve
    return lambda *operands: solve((*operands[first:end], *operands[last:]))


CONTROL: dict[str, Callable[[Params, Avals, Nested], Function]] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "custom_linear_solve": _linear_solve,
    "linear_solve": _linear_solve,
}

#: Primitives that call a jaxpr once, and the parameters it may be in.
CALLS = frozenset(
    "jit pjit closed_call core_call call custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr "
    "checkpoint remat remat2".split()
)
CALLED = ("jaxpr", "call_jaxpr", "fun_jaxpr")


def called(params: Params) -> Any:
    """The jaxpr that an equation calls."""
    return next(params[name] for name in CALLED if name in params)

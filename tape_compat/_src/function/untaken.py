"""Branches, and bodies of loops, that do not take the sizes of a call.

They may not be run in that call: TensorFlow raises where they are. So each is replaced by one that
raises, when it is run, what it was refused for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jax.numpy as jnp

from ..core.avals import Aval
from ..core.call import Call
from ..core.control import Cond, Structured, structured
from ..core.derivative import Jvp, Pullback, jvp, pullback
from ..core.dimensions import Sizes
from ..core.errors import OpError
from ..core.loop_pullbacks import Layout
from ..core.loops import Scan, While
from ..core.op import Closure, Op
from ..core.steps import Step, Steps
from ..values.effects import failing

Avals = tuple[Aval, ...]

#: What inference raises.
REFUSALS = (OpError, TypeError, ValueError)

_ZEROS = Op(lambda shape, dtype: jnp.zeros(shape, dtype), "Fill", differentiable=False)


def at_sizes(closure: Any, sizes: Sizes, avals: Avals) -> Any:
    """A closure with sizes for the unknown ones, for inputs of these, without parts that do not
    take them."""
    known = closure.at(sizes)
    return known.derived(("fitting", avals), lambda: fitting(known, avals))


def branches(closure: Any) -> bool:
    """Whether there are conditionals or loops in a closure."""
    if isinstance(closure, (Pullback, Jvp)):
        return branches(closure.base)
    if isinstance(closure, Call):
        return any(branches(step.closure) for step in closure.steps.steps)
    return isinstance(closure, (Cond, Scan, While))


def fitting(closure: Any, avals: Avals) -> Any:
    """A closure for inputs of known sizes, without parts that do not take them.

    Raises: what is wrong with what is run in any case.
    """
    if not branches(closure):
        return closure
    if isinstance(closure, Call):
        steps = _fitting_steps(closure.steps, avals)
        return (
            closure
            if steps == closure.steps
            else Call(steps, closure.name, closure.due, closure.results)
        )
    if isinstance(closure, Pullback):
        base = fitting(closure.base, avals[: closure.count])
        return pullback(base, closure.count, closure.inputs, closure.outputs)
    if isinstance(closure, Jvp):
        base = fitting(closure.base, avals[: closure.count])
        return jvp(base, closure.count, closure.inputs)
    if isinstance(closure, Cond):
        return _fitting_branches(closure, avals)
    if isinstance(closure, While):
        return _fitting_loop(closure, avals)
    assert isinstance(closure, Scan)
    return _with_parts(closure, [fitting(closure.parts[0], closure.body_avals(avals))])


def _fitting_steps(steps: Steps, avals: Avals) -> Steps:
    known, made = list(avals), []
    for step in steps.steps:
        given = tuple([known[i] for i in step.inputs])
        closure = fitting(step.closure, given)
        made.append(step._replace(closure=closure))
        known += closure.infer(given)[0]
    return steps._replace(steps=tuple(made))


def _with_parts(closure: Structured, parts: Sequence[Closure]) -> Closure:
    if list(parts) == list(closure.parts):
        return closure
    steps = tuple([cast(Call, part).steps for part in parts])
    return structured(type(closure), closure.name, steps, *closure.settings)


def _fitting_branches(closure: Cond, avals: Avals) -> Closure:
    given, parts, errors = avals[1:], [], {}
    outputs: Avals = ()
    for i, part in enumerate(closure.parts):
        try:
            parts.append(fitting(part, given))
            outputs = parts[-1].infer(given)[0]
        except REFUSALS as error:
            parts[i:] = [part]
            errors[i] = error
    if len(errors) == len(parts):
        raise errors[0]
    others = [part.flat.outputs for i, part in enumerate(parts) if i not in errors]
    for i, error in errors.items():
        parts[i] = Call(_raising(error, given, outputs, others), closure.name)
    return _with_parts(closure, parts)


def _fitting_loop(closure: While, avals: Avals) -> Closure:
    layout = Layout(*closure.settings)
    carried, taken, _, held = layout.split(avals)
    goes_on = fitting(closure.parts[0], (*carried, *held))
    given = (*carried, *[aval.row for aval in taken], *held)
    try:
        body = fitting(closure.parts[1], given)
        body.infer(given)
    except REFUSALS as error:
        return _if_it_runs(closure, goes_on, error, avals)
    return _with_parts(closure, [goes_on, body])


def _if_it_runs(closure: While, goes_on: Any, error: Exception, avals: Avals) -> Closure:
    """A conditional in the place of a loop whose body raises: that of one iteration."""
    layout, count = Layout(*closure.settings), len(avals)
    carried, _, rows, held = layout.split(range(count))
    kept = (*carried, *rows)
    skips = Steps(count, (), kept)
    raising = _raising(error, avals, tuple([avals[i] for i in kept]), [kept])
    cond = structured(Cond, closure.name, (skips, raising))
    asks = Step(goes_on, (*carried, *held), count, count + 1)
    runs = Step(cond, (count, *range(count)), count + 1, count + 1 + len(kept))
    steps = Steps(count, (asks, runs), tuple(range(count + 1, count + 1 + len(kept))))
    return Call(steps, closure.name)


def _raising(
    error: Exception, avals: Avals, outputs: Avals, others: Sequence[tuple[int, ...]]
) -> Steps:
    """Steps that raise. They give what another branch hands on, as the values of variables that it
    leaves alone; zeros in other places."""
    count = len(avals)
    steps, given = [Step(failing(str(error)), (), count, count)], []
    for i, aval in enumerate(outputs):
        same = next((each[i] for each in others if each[i] < count), None)
        if same is None:
            same = count + sum(step.end - step.first for step in steps)
            zeros = _ZEROS.bind(shape=aval.shape, dtype=aval.np_dtype)
            steps.append(Step(zeros, (), same, same + 1))
        given.append(same)
    return Steps(count, tuple(steps), tuple(given))

"""Which inputs a derivative depends on.

TensorFlow says None, not zero, for the second derivative of something linear: the gradient does not
depend on the primal. A pullback has all primals as inputs, so which of its outputs use them is read
off its jaxpr, once per closure and shapes, and only where a derivative is differentiated. What is
used in a comparison, as an integer or rounded is not: there no derivative comes through.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from ..core import limits
from ..core.avals import Aval
from ..core.caches import Cache
from ..core.call import Call
from ..core.control import Structured
from ..core.derivative import Jvp, Pullback, pullback
from ..core.inference import example
from ..core.op import Closure
from ..core.steps import Steps
from ..values.tensor import Tensor

_FOUND: Cache[tuple, tuple[frozenset[int], ...]] = Cache("dependence", limits.MAX_DEPENDENCES)
_VARYING: Cache[tuple, tuple[frozenset[int], ...]] = Cache("variation", limits.MAX_DEPENDENCES)

#: Primitives and kinds of numbers that no derivative comes through, as in TensorFlow.
_STEPS = frozenset(("floor", "ceil", "round"))
_DISCRETE = "biu"


def used_inputs(closure: Closure, inputs: tuple[Tensor, ...]) -> tuple[frozenset[int], ...]:
    """For each output of the closure, the positions of the inputs that it depends on."""
    return used_by(closure, tuple([x._aval for x in inputs]))


def used_by(closure: Closure, avals: tuple[Aval, ...]) -> tuple[frozenset[int], ...]:
    """The same by the avals of the inputs."""
    key = (closure, *avals)
    found = _FOUND.get(key)
    if found is None:
        if isinstance(closure, Call):
            found = tuple([u | closure.joined for u in _of_steps(closure.steps, avals)])
        elif isinstance(closure, Structured):
            found = closure.dependence(avals, _of_steps)
        else:
            found = _by_trace(closure, avals, base_of(closure).op.masks)
            if isinstance(closure, Jvp):
                found = _with_those_of_pullback(closure, avals, found)
        if closure.as_one:
            found = as_one(found, len(found))
        _FOUND.put(key, found)
    return found


def _with_those_of_pullback(
    closure: Jvp, avals: tuple[Aval, ...], found: tuple[frozenset[int], ...]
) -> tuple[frozenset[int], ...]:
    """TensorFlow transposes the gradient by all inputs, with zeros for tangents that there are not:
    the tangent of x * w by x counts as depending on x, as the gradient by w does."""
    primals = avals[: closure.count]
    every = tuple([i for i, aval in enumerate(primals) if aval.trainable])
    if len(every) == len(closure.inputs):
        return found
    results = closure.base.infer(primals)[0]
    outputs = tuple([i for i, aval in enumerate(results) if aval.trainable])
    back = pullback(closure.base, closure.count, every, outputs)
    used = used_by(back, (*primals, *[results[i] for i in outputs]))
    also = frozenset([i for i in frozenset().union(*used) if i in closure.inputs])
    return tuple([part | also for part in found])


def as_one(used: tuple[frozenset[int], ...], count: int) -> tuple[frozenset[int], ...]:
    """What outputs depend on where the first `count` count as depending on what any of them does:
    results of a function, which is one op to a tape."""
    return (frozenset().union(*used[:count]),) * count + used[count:]


def varied_by(closure: Closure, inputs: tuple[Tensor, ...]) -> tuple[frozenset[int], ...]:
    """Of `used_inputs`, those by which the derivative is not zero everywhere: a second derivative
    of relu is there, but only compares."""
    if closure.as_one or not base_of(closure).op.masks:
        return used_inputs(closure, inputs)
    avals = tuple([x._aval for x in inputs])
    key = (closure, *avals)
    found = _VARYING.get(key)
    return found or _VARYING.put(key, _by_trace(closure, avals, by_mask=False))


def _by_trace(
    closure: Closure, avals: tuple[Aval, ...], by_mask: bool
) -> tuple[frozenset[int], ...]:
    if closure.unknown or any(aval.unknown for aval in avals):
        known = example(closure, avals)
        if known is None:
            return (frozenset(range(len(avals))),) * len(closure.infer(avals)[0])
        closure, avals = known
    return tuple(_dependence(_jaxpr(closure, avals), by_mask))


def _jaxpr(closure: Closure, avals: tuple[Aval, ...]) -> Any:
    """JAX leaves out what is done with no elements: sizes of 0 are 1 where the closure has none."""
    some = tuple([Aval.of(tuple([n or 1 for n in a.shape]), a.dtype) for a in avals])
    if some != avals:
        with contextlib.suppress(TypeError, ValueError):
            return closure.trace(some).jaxpr.jaxpr
    return closure.trace(avals).jaxpr.jaxpr


def counted(closure: Closure, avals: tuple[Aval, ...]) -> tuple[frozenset[int], ...]:
    """`used_by` of a derivative or a call as a tape counts it: results of a function are one."""
    used = used_by(closure, avals)
    return as_one(used, closure.results) if isinstance(closure, Call) else used


def flowing(
    closure: Closure, avals: tuple[Aval, ...], outputs: tuple[Aval, ...]
) -> Sequence[Iterable[int]]:
    """For each output the positions of the inputs that a gradient comes to, as a tape sees it."""
    through = closure.op.through
    parts: Sequence[Iterable[int]] = [range(len(avals)) if through is None else through] * len(
        outputs
    )
    if closure.derivative:
        parts = counted(closure, avals)
    flows = [closure.differentiable and aval.trainable for aval in outputs]
    return [part if does else () for part, does in zip(parts, flows, strict=True)]


def _of_steps(steps: Steps, given: tuple[Aval, ...]) -> tuple[frozenset[int], ...]:
    """Which inputs the outputs of steps depend on, as a tape would see it."""
    avals = list(given)
    used = [frozenset((i,)) if aval.trainable else frozenset() for i, aval in enumerate(avals)]
    for closure, inputs, *_ in steps.steps:
        kinds = tuple([avals[i] for i in inputs])
        outputs = closure.infer(kinds)[0]
        for part in flowing(closure, kinds, outputs):
            used.append(frozenset().union(*[used[inputs[i]] for i in part]))
        avals += outputs
    return tuple([used[i] for i in steps.outputs])


def base_of(closure: Any) -> Closure:
    """The closure whose derivative, of any order, this is."""
    while isinstance(closure, (Pullback, Jvp)):
        closure = closure.base
    return closure


def _dependence(jaxpr: Any, by_mask: bool) -> list[frozenset[int]]:
    """For each output of a jaxpr, the positions of the inputs that it depends on; `by_mask`: a
    comparison counts."""
    known: dict[Any, frozenset[int]] = {v: frozenset((i,)) for i, v in enumerate(jaxpr.invars)}

    def of(atom: Any) -> frozenset[int]:
        return frozenset() if hasattr(atom, "val") else known.get(atom, frozenset())

    for eqn in jaxpr.eqns:
        inputs = [of(v) for v in eqn.invars]
        for v, through in zip(eqn.outvars, _through(eqn, inputs, by_mask), strict=True):
            stops = eqn.primitive.name in _STEPS or v.aval.dtype.kind in _DISCRETE
            known[v] = through if by_mask or not stops else frozenset()
    return [of(v) for v in jaxpr.outvars]


def _through(eqn: Any, inputs: list[frozenset[int]], by_mask: bool) -> list[frozenset[int]]:
    """What the outputs of an equation depend on: followed into calls and branches, everything
    elsewhere."""
    everything = [frozenset().union(*inputs)] * len(eqn.outvars)
    name = eqn.primitive.name
    if name.startswith("custom_vjp"):  # what the function does is not what its gradient says
        return everything
    if name == "cond":
        called, chosen, inputs = eqn.params["branches"], inputs[0], inputs[1:]
    else:
        inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")
        called, chosen = [inner if name not in ("scan", "while") else None], frozenset()
    answers = [chosen] * len(eqn.outvars)
    for inner in called:
        inner = getattr(inner, "jaxpr", inner)
        if inner is None or (len(inner.invars), len(inner.outvars)) != (len(inputs), len(answers)):
            return everything
        for i, positions in enumerate(_dependence(inner, by_mask)):
            answers[i] = answers[i].union(*(inputs[k] for k in positions))
    return answers

"""Which inputs a derivative depends on.

TensorFlow says None, not zero, for the second derivative of something linear: the gradient does not
depend on the primal. A pullback has all primals as inputs, so whether it uses them is read off its
jaxpr, once per closure and shapes, and only where a derivative is differentiated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax

from ..core.op import Closure
from ..core.tensor import Tensor
from ..core.x64 import in_x64

_FOUND: dict[tuple, frozenset[int]] = {}
_MAX = 10_000


def used_inputs(closure: Closure, inputs: tuple[Tensor, ...]) -> frozenset[int]:
    """Positions of the inputs that some output of the closure depends on."""
    key = (closure, *(x._aval for x in inputs))
    found = _FOUND.get(key)
    if found is None:
        jaxpr = in_x64(jax.make_jaxpr(closure.fn), *(x._aval.struct for x in inputs)).jaxpr
        if len(_FOUND) >= _MAX:
            _FOUND.clear()
        found = _FOUND[key] = frozenset().union(*_dependence(jaxpr))
    return found


def _dependence(jaxpr: Any) -> list[frozenset[int]]:
    """For each output of a jaxpr, the positions of the inputs that it depends on."""
    known: dict[Any, frozenset[int]] = {v: frozenset((i,)) for i, v in enumerate(jaxpr.invars)}

    def of(atom: Any) -> frozenset[int]:
        return frozenset() if hasattr(atom, "val") else known.get(atom, frozenset())

    for eqn in jaxpr.eqns:
        inputs = [of(v) for v in eqn.invars]
        known.update(zip(eqn.outvars, _through(eqn, inputs), strict=True))
    return [of(v) for v in jaxpr.outvars]


def _through(eqn: Any, inputs: list[frozenset[int]]) -> Iterable[frozenset[int]]:
    """What the outputs of an equation depend on: followed into calls, everything elsewhere."""
    inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")
    inner = getattr(inner, "jaxpr", inner)
    followed = inner is not None and eqn.primitive.name not in ("scan", "while", "cond")
    if (
        inner is not None
        and followed
        and len(inner.invars) == len(inputs)
        and len(inner.outvars) == len(eqn.outvars)
    ):
        return [
            frozenset().union(*(inputs[i] for i in positions)) for positions in _dependence(inner)
        ]
    everything = frozenset().union(*inputs)
    return [everything for _ in eqn.outvars]

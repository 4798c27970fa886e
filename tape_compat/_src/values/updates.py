"""The closures that change a variable: they are recorded, but on no tape."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.op import Closure, Op
from ..core.state import seen_by
from .bounds import scattered
from .record import apply
from .tensor import Tensor


def _rows(method: str) -> Any:
    def scatter(x: Any, indices: Any, updates: Any) -> Any:
        shape = (*indices.shape, *x.shape[1:])
        return scattered(x.at[indices], method, jnp.broadcast_to(updates, shape))

    return scatter


def _nd(method: str) -> Any:
    def scatter(x: Any, indices: Any, updates: Any) -> Any:
        return scattered(x.at[tuple(jnp.moveaxis(indices, -1, 0))], method, updates)

    return scatter


def _negated(scatter: Any) -> Any:
    return lambda x, indices, updates: scatter(x, indices, -updates)


ADD = Op(lambda x, y: x + y, "AssignAddVariableOp").bind()
SUB = Op(lambda x, y: x - y, "AssignSubVariableOp").bind()

#: Row updates `x[indices] = f(x[indices], updates)`, by TensorFlow's name of the method.
SCATTER: dict[str, Closure] = {
    "add": Op(_rows("add"), "ResourceScatterAdd").bind(),
    "sub": Op(_negated(_rows("add")), "ResourceScatterSub").bind(),
    "mul": Op(_rows("multiply"), "ResourceScatterMul").bind(),
    "div": Op(_rows("divide"), "ResourceScatterDiv").bind(),
    "min": Op(_rows("min"), "ResourceScatterMin").bind(),
    "max": Op(_rows("max"), "ResourceScatterMax").bind(),
    "update": Op(_rows("set"), "ResourceScatterUpdate").bind(),
}

#: Updates at full indices `[..., k]`.
SCATTER_ND: dict[str, Closure] = {
    "add": Op(_nd("add"), "ResourceScatterNdAdd").bind(),
    "sub": Op(_negated(_nd("add")), "ResourceScatterNdSub").bind(),
    "min": Op(_nd("min"), "ResourceScatterNdMin").bind(),
    "max": Op(_nd("max"), "ResourceScatterNdMax").bind(),
    "update": Op(_nd("set"), "ResourceScatterNdUpdate").bind(),
}


@jax.custom_jvp
def _assigned(old: Any, new: Any) -> Any:
    return new


@_assigned.defjvp
def _(primals: Any, tangents: Any) -> Any:
    return primals[1], tangents[0]


#: What a variable holds after an assignment in a function that is being recorded: the new value,
#: which derivatives know as the variable.
ASSIGN = Op(_assigned, "AssignVariableOp", through=(0,)).bind()


def apply_off_tape(closure: Closure, inputs: tuple[Tensor, ...]) -> Any:
    """`apply`, seen by no tape: deferred all the same if a tape records."""
    return seen_by((), apply, closure, inputs)

"""The closures that change a variable: they are recorded, but on no tape."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.avals import Aval
from ..core.dimensions import differ, fit
from ..core.op import Closure, Op
from ..core.refuse import invalid, not_allowed, shown
from ..core.state import seen_by
from . import operators
from .bounds import scattered
from .record import apply
from .tensor import Tensor, concrete


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


def _divided(x: Any, indices: Any, updates: Any) -> Any:
    """Integers are cut off towards zero: by the product of what a row is divided by, which is the
    same as one after the other."""
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return _rows("divide")(x, indices, updates)
    return jax.lax.div(x, _rows("multiply")(jnp.ones_like(x), indices, updates))


def _check_indices(indices: Aval, kernel: str) -> None:
    if indices.dtype.name not in ("int32", "int64"):
        raise not_allowed(indices.dtype, "int32, int64", kernel, "Tindices")


def _row_op(method: Any, kernel: str) -> Closure:
    def check(avals: tuple[Aval, ...]) -> None:
        _check_indices(avals[1], kernel)
        x, indices, updates = [aval.shape for aval in avals]
        wanted = (*indices, *x[1:])
        if not updates or fit(updates, wanted):
            return
        if len(updates) == len(wanted) and not fit(updates[: len(indices)], indices):
            raise invalid(
                f"The shape of indices ({shown(indices)}) must be a prefix of the shape of updates "
                f"({shown(updates)})",
                kernel,
            )
        raise invalid(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {shown(updates)}, indices.shape {shown(indices)}, params.shape "
            f"{shown(x)}",
            kernel,
        )

    return Op(method, kernel, check=check).bind()


def _nd_op(method: Any, kernel: str) -> Closure:
    def check(avals: tuple[Aval, ...]) -> None:
        _check_indices(avals[1], kernel)
        x, indices, updates = [aval.shape for aval in avals]
        n = len(indices) - 1
        for i, size in enumerate(indices[:n]):
            if i >= len(updates) or differ(size, updates[i]):
                raise invalid(
                    f"Dimensions [{i},{i + 1}) of indices[shape={shown(indices)}] = {size} must "
                    f"match dimensions [{i},{i + 1}) of updates[shape={shown(updates)}]",
                    kernel,
                )
        if n < 0 or indices[-1] > len(x) or not fit(updates, (*indices[:n], *x[indices[-1] :])):
            depth = indices[-1] if indices else 0
            raise invalid(
                f"Dimensions [{depth},{len(x)}) of input[shape={shown(x)}] must match dimensions "
                f"[{depth},{len(updates)}) of updates[shape={shown(updates)}]",
                kernel,
            )

    return Op(method, kernel, check=check).bind()


def may_be_equal(held: Aval, delta: Aval) -> bool:
    """Whether what a variable holds and what is added to it may have one shape."""
    return held.shape == delta.shape or fit(held.shape, delta.shape)


def shapes_differ(held: Aval, delta: Aval) -> str:
    """What is said where they have not."""
    return (
        f"Cannot update variable with shape {held.tensor_shape.as_list()} using a Tensor with "
        f"shape {delta.tensor_shape.as_list()}, shapes must be equal."
    )


def _sum(operation: Any, kernel: str) -> Closure:
    def check(avals: tuple[Aval, ...]) -> None:
        if not may_be_equal(*avals):
            raise invalid(shapes_differ(*avals), kernel)

    return Op(operation, kernel, check=check).bind()


ADD = _sum(lambda x, y: x + y, "AssignAddVariableOp")
SUB = _sum(lambda x, y: x - y, "AssignSubVariableOp")

#: Row updates `x[indices] = f(x[indices], updates)`, by TensorFlow's name of the method.
SCATTER: dict[str, Closure] = {
    "add": _row_op(_rows("add"), "ResourceScatterAdd"),
    "sub": _row_op(_negated(_rows("add")), "ResourceScatterSub"),
    "mul": _row_op(_rows("multiply"), "ResourceScatterMul"),
    "div": _row_op(_divided, "ResourceScatterDiv"),
    "min": _row_op(_rows("min"), "ResourceScatterMin"),
    "max": _row_op(_rows("max"), "ResourceScatterMax"),
    "update": _row_op(_rows("set"), "ResourceScatterUpdate"),
}

#: Updates at full indices `[..., k]`.
SCATTER_ND: dict[str, Closure] = {
    "add": _nd_op(_nd("add"), "ResourceScatterNdAdd"),
    "sub": _nd_op(_negated(_nd("add")), "ResourceScatterNdSub"),
    "min": _nd_op(_nd("min"), "ResourceScatterNdMin"),
    "max": _nd_op(_nd("max"), "ResourceScatterNdMax"),
    "update": _nd_op(_nd("set"), "ResourceScatterNdUpdate"),
}


def texts_scattered(closure: Closure, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """What `scatter_update` and `scatter_nd_update` make of texts, which the host holds, or a step
    of it is given.

    Raises: InvalidArgumentError for other updates, and where shapes do not fit.
    """
    by_rows = closure is SCATTER["update"]
    if not by_rows and closure is not SCATTER_ND["update"]:
        raise not_allowed(x.dtype, "numbers", closure.name)
    if closure.op.check is not None:
        closure.op.check((x._aval, indices._aval, updates._aval))
    if any(each._is_symbolic() for each in (x, indices, updates)):
        if not by_rows:
            return operators.call("texts_put", x, indices, updates)
        shape = (*indices._aval.shape, *x._aval.shape[1:])
        return operators.call("rows_of_texts_put", x, indices, updates, shape)
    places, array = np.asarray(indices._value()), np.array(x._value())
    array[places if by_rows else tuple(np.moveaxis(places, -1, 0))] = updates._value()
    return concrete(array, x._aval)


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

"""`tf.linalg.experimental.conjugate_gradient`: solutions by products alone."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.dtypes import int32
from ...function.control_flow import while_loop
from ...ops.casting import cast
from ...ops.comparison import logical_and
from ...ops.creation import zeros
from ...ops.declare import Number
from ...ops.elementwise import abs as absolute, conj
from ...ops.joining import concat
from ...ops.norms import norm
from ...ops.reductions import reduce_any, reduce_sum
from ...ops.repeating import broadcast_to
from ...ops.shapes import broadcast_dynamic_shape, expand_dims, shape
from ...values.convert import convert
from ...values.tensor import Tensor


class CGState(NamedTuple):
    """Where the iteration stands: how many steps, and for each vector the solution, what is left of
    the right-hand side, the direction of the next step, and the inner product of what is left."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def _dot(x: Any, y: Any) -> Any:
    return reduce_sum(conj(x) * y, axis=-1)


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: Number = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """The vectors x [..., n] with A x = `rhs` [..., n], by the method of conjugate gradients.

    Args:
      operator: a LinearOperator A, promised to be self-adjoint and positive definite.
      preconditioner: a LinearOperator that is about the inverse of A, likewise.
      x: where to begin; default zeros.
      tol: what may be left of the right-hand side, as a part of its length.
      max_iter: how many steps there are at most.
    Returns: the `CGState` at the end: i, x, r, p and gamma.
    Raises: ValueError for an operator without these promises.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
    >>> state = tf.linalg.experimental.conjugate_gradient(operator, tf.constant([1.0, 4.0]))
    >>> [round(float(v), 4) for v in state.x], int(state.i)
    ([1.0, 2.0], 2)
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = convert(rhs)
    batch = broadcast_dynamic_shape(shape(rhs)[:-1], operator.batch_shape_tensor())
    if preconditioner is not None:
        batch = broadcast_dynamic_shape(batch, preconditioner.batch_shape_tensor())
    whole = concat([batch, shape(rhs)[-1:]], 0)
    left = broadcast_to(rhs, whole)
    real = rhs.dtype.real_dtype
    least = cast(tol, real) * absolute(norm(left, axis=-1))
    if x is None:
        x = zeros(whole, rhs.dtype)
    else:
        x = broadcast_to(convert(x), whole)
        left = rhs - operator.matvec(x)
    direction = _applied(preconditioner, left)
    state = CGState(convert(0, int32), x, left, direction, _dot(left, direction))

    def goes_on(state: CGState) -> Any:
        far = reduce_any(absolute(norm(state.r, axis=-1)) > least)
        return logical_and(state.i < max_iter, far)

    def step(state: CGState) -> tuple[CGState]:
        image = operator.matvec(state.p)
        length = expand_dims(state.gamma / _dot(state.p, image), -1)
        left = state.r - length * image
        better = _applied(preconditioner, left)
        gamma = _dot(left, better)
        direction = better + expand_dims(gamma / state.gamma, -1) * state.p
        return (CGState(state.i + 1, state.x + length * state.p, left, direction, gamma),)

    (found,) = while_loop(goes_on, step, [state])
    return found


def _applied(preconditioner: Any, x: Any) -> Any:
    return x if preconditioner is None else preconditioner.matvec(x)

"""Comparison, logic, and the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..composites.ragged import RaggedTensor
from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import broadcast
from ..core.errors import InvalidArgumentError
from ..core.native import native_calls
from ..core.op import Op
from ..values import operators
from ..values.dispatch import CompositeOperand, elementwise
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arithmetic import text_on_host
from .checks import REAL, check_arithmetic, check_bool
from .declare import (
    TextOperands,
    binary,
    check_broadcast,
    check_same_dtype,
    matching,
    name_ops,
    op,
    unary,
)


def _comparison(function: Callable[..., Any], doc: str, kernel: str) -> Callable[..., Tensor]:
    return binary(function, doc, kernel=kernel, dtypes=REAL, differentiable=False)


less = _comparison(jnp.less, "Where x < y.", "Less")
less_equal = _comparison(jnp.less_equal, "Where x <= y.", "LessEqual")
greater = _comparison(jnp.greater, "Where x > y.", "Greater")
greater_equal = _comparison(jnp.greater_equal, "Where x >= y.", "GreaterEqual")


def _fits(x: Any, y: Any) -> bool:
    return broadcast([x.shape, y.shape]) is not None


def _check_loosely(kernel: str) -> Callable[..., None]:
    """As `check_arithmetic`, without the shapes."""

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        check_same_dtype(avals, kernel)
        if avals[0].dtype is dtypes.string:
            raise TextOperands

    return check


_ANY = "float integer complex bool"
_EQUAL, _NOT_EQUAL = (
    Op(
        function,
        kernel,
        differentiable=False,
        check=check_arithmetic(kernel, _ANY),
        broadcasts=True,
    ).bind()
    for function, kernel in ((jnp.equal, "Equal"), (jnp.not_equal, "NotEqual"))
)


def _compared(avals: tuple[Aval, ...]) -> Aval:
    """One bool for shapes that do not broadcast."""
    return Aval.of(broadcast([aval.shape for aval in avals]) or (), dtypes.bool)


_IS_EQUAL = Op(
    lambda x, y: jnp.equal(x, y) if _fits(x, y) else jnp.zeros((), bool),
    "Equal",
    differentiable=False,
    check=_check_loosely("Equal"),
    shapes=_compared,
).bind()
_IS_NOT_EQUAL = Op(
    lambda x, y: jnp.not_equal(x, y) if _fits(x, y) else jnp.ones((), bool),
    "NotEqual",
    differentiable=False,
    check=_check_loosely("NotEqual"),
    shapes=_compared,
).bind()


@native_calls("op", _EQUAL, 2, retry=TextOperands)
def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x equals y, strings too.

    Raises: InvalidArgumentError if the dtypes differ or the shapes do not broadcast.

    >>> import tape_compat as tf
    >>> tf.equal(["a", "b"], "a").numpy().tolist()
    [True, False]
    """
    return _compare(_EQUAL, np.equal, x, y)


@native_calls("op", _NOT_EQUAL, 2, retry=TextOperands)
def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x differs from y, strings too.

    Raises: InvalidArgumentError if the dtypes differ or the shapes do not broadcast.

    >>> import tape_compat as tf
    >>> tf.not_equal([1, 2], 2).numpy().tolist()
    [True, False]
    """
    return _compare(_NOT_EQUAL, np.not_equal, x, y)


def _compare(closure: Any, on_host: Callable[..., Any], x: Any, y: Any) -> Any:
    if x.__class__ is not Tensor or y.__class__ is not Tensor:
        try:
            x, y = matching((x, y))
        except CompositeOperand:
            try:
                found = elementwise(equal if closure.op.name == "Equal" else not_equal, x, y)
            except (InvalidArgumentError, TypeError, ValueError):
                if closure in (_IS_EQUAL, _IS_NOT_EQUAL):  # what does not fit is another thing
                    return closure is _IS_NOT_EQUAL
                raise
            if found is NotImplemented:
                raise
            return found
    try:
        return apply(closure, (x, y))
    except TextOperands:
        if not _fits(x._aval, y._aval):
            if closure.op.name == "Equal" and closure is _IS_EQUAL:
                return concrete(np.array(False))
            if closure is _IS_NOT_EQUAL:
                return concrete(np.array(True))
            check_broadcast(x._aval, y._aval, closure.op.name)
        return text_on_host(on_host, x, y)


@native_calls("op", _IS_EQUAL, 2, retry=TextOperands)
def _equals(x: Any, y: Any) -> Any:
    """The operator ==: False, not an error, if the shapes do not fit; y may be None."""
    if y is None and isinstance(x, (Tensor, RaggedTensor)):
        return False
    return _compare(_IS_EQUAL, np.equal, x, y)


@native_calls("op", _IS_NOT_EQUAL, 2, retry=TextOperands)
def _differs(x: Any, y: Any) -> Any:
    """The operator !=: True, not an error, if the shapes do not fit; y may be None."""
    if y is None and isinstance(x, (Tensor, RaggedTensor)):
        return True
    return _compare(_IS_NOT_EQUAL, np.not_equal, x, y)


@op(
    arrays=2,
    kernel="LogicalAnd",
    differentiable=False,
    check=check_bool("LogicalAnd"),
    only=dtypes.bool,
)
def logical_and(x, y, name=None):
    """Where both are true."""
    return jnp.logical_and(x, y)


@op(
    arrays=2,
    kernel="LogicalOr",
    differentiable=False,
    check=check_bool("LogicalOr"),
    only=dtypes.bool,
)
def logical_or(x, y, name=None):
    """Where one is true."""
    return jnp.logical_or(x, y)


@op(
    arrays=2,
    kernel="LogicalOr",
    differentiable=False,
    check=check_bool("LogicalOr"),
    only=dtypes.bool,
)
def logical_xor(x, y, name="LogicalXor"):
    """Where exactly one is true."""
    return jnp.logical_xor(x, y)


@op(
    arrays=1,
    kernel="LogicalNot",
    differentiable=False,
    check=check_bool("LogicalNot"),
    only=dtypes.bool,
)
def logical_not(x, name=None):
    """Where x is false."""
    return jnp.logical_not(x)


def _bitwise(function: Callable[..., Any], doc: str, kernel: str) -> Callable[..., Tensor]:
    return binary(function, doc, kernel=kernel, dtypes="integer", differentiable=False)


bitwise_and = _bitwise(jnp.bitwise_and, "Bits set in both.", "BitwiseAnd")
bitwise_or = _bitwise(jnp.bitwise_or, "Bits set in one.", "BitwiseOr")
bitwise_xor = _bitwise(jnp.bitwise_xor, "Bits set in exactly one.", "BitwiseXor")


def _within_width(shift: Callable[..., Any]) -> Callable[..., Any]:
    """A shift by the nearest number of bits from 0 to one less than there are, as TensorFlow's
    kernels take it."""

    def shifted(x, y):
        most = jnp.iinfo(y.dtype).bits - 1
        return shift(x, lax.clamp(jnp.zeros((), y.dtype), y, jnp.asarray(most, y.dtype)))

    return shifted


left_shift = _bitwise(
    _within_width(jnp.left_shift), "Bits of x moved up by y, by all but one at most.", "LeftShift"
)
right_shift = _bitwise(
    _within_width(jnp.right_shift), "Bits of x moved down by y, keeping the sign.", "RightShift"
)
invert = unary(
    jnp.bitwise_not, "Bits flipped.", kernel="Invert", dtypes="integer", differentiable=False
)
_BITS = "integer bool"


def _check_bits(bitwise: str, logical: str) -> Callable[..., None]:
    """The checks of an operator that is a bitwise op of integers and a logical one of bools."""
    of_bools = check_arithmetic(logical, "bool")
    of_bits = check_arithmetic(bitwise, "integer")

    def check(avals: tuple[Aval, ...]) -> None:
        (of_bools if avals[0].dtype is dtypes.bool else of_bits)(avals)

    return check


def _operator(function: Callable[..., Any], bitwise: str, logical: str) -> Callable[..., Tensor]:
    return binary(
        function, "", kernel=bitwise, check=_check_bits(bitwise, logical), differentiable=False
    )


_AND = _operator(jnp.bitwise_and, "BitwiseAnd", "LogicalAnd")
_OR = _operator(jnp.bitwise_or, "BitwiseOr", "LogicalOr")
_XOR = _operator(jnp.bitwise_xor, "BitwiseXor", "LogicalOr")
_INVERT = unary(jnp.bitwise_not, "", kernel="Invert", dtypes=_BITS, differentiable=False)


operators.define(
    **{"and": _AND, "or": _OR, "xor": _XOR},
    lt=less,
    le=less_equal,
    gt=greater,
    ge=greater_equal,
    eq=_equals,
    ne=_differs,
    invert=_INVERT,
)
name_ops(globals())

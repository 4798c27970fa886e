"""Arithmetic of two tensors: sums, products, quotients, powers, extremes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dimensions, dtypes
from ..core.avals import Aval
from ..core.dimensions import broadcast
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values import operators
from ..values.composite import CompositeTensor
from ..values.convert import convert
from ..values.host_steps import SAME, by_host
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from . import angles, rules
from .arguments import sketched
from .checks import INEXACT, NUMBER, REAL, refuse_unsigned
from .declare import allowed, binary, check_broadcast, check_same_dtype, matching, name_ops

subtract = binary(jnp.subtract, "x - y.", kernel="Sub", dtypes=NUMBER, of_sizes=operator.sub)
multiply = binary(jnp.multiply, "x * y.", kernel="Mul", dtypes=NUMBER, of_sizes=operator.mul)


@by_host(SAME)
def text_on_host(function: Callable[..., Any], *tensors: Tensor) -> Tensor:
    """A NumPy function of string tensors."""
    sketch = sketched(*tensors)
    shape = broadcast([x._aval.shape for x in tensors])
    if sketch is not None and shape is not None:
        return sketch.tensor(shape, dtypes.string if function is np.add else dtypes.bool)
    result = function(*(np.asarray(x._value(), object) for x in tensors))
    if function is np.add:
        return convert(np.asarray(result, object))
    return concrete(np.asarray(result).astype(bool))


def _own_dtypes(pair: Sequence[Any]) -> Sequence[Tensor]:
    """Operands as `matching` makes them; what does not fit keeps its own dtype, and the error is
    TensorFlow's for two tensors of different dtypes. A NumPy array on the left keeps its own too:
    only an operator's left operand adopts the dtype of the right one."""
    if isinstance(pair[0], (np.ndarray, np.generic)):
        return matching((convert(pair[0]), pair[1]))
    try:
        return matching(pair)
    except TypeError:
        return [convert(x) for x in pair]


add = binary(
    jnp.add,
    """x + y. Strings are joined.

    Raises: InvalidArgumentError if the dtypes differ or the shapes do not broadcast.

    >>> import tape_compat as tf
    >>> tf.add([1, 2], 3).numpy().tolist()
    [4, 5]
    """,
    kernel="AddV2",
    dtypes=NUMBER,
    operands=_own_dtypes,
    text=lambda x, y: text_on_host(np.add, x, y),
    of_sizes=operator.add,
)


def _truediv(x: Any, y: Any) -> Any:
    if jnp.issubdtype(x.dtype, jnp.integer):
        dtype = jnp.float32 if x.dtype.itemsize <= 2 else jnp.float64
        x, y = x.astype(dtype), y.astype(dtype)
    return rules.divide(x, y)


def _check_division(avals: tuple[Aval, ...]) -> None:
    """The errors of TensorFlow's divisions, which are Python's kind."""
    x, y = avals
    if x.dtype is not y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    if x.dtype.name not in allowed(NUMBER):
        raise TypeError(
            f"Invalid dtype {x.dtype!r} in __truediv__. Expected one of "
            f"{{{', '.join(f'tf.{name}' for name in sorted(allowed(NUMBER)))}}}."
        )
    check_broadcast(x, y, "RealDiv")


def _nonzero(row: Callable[..., Tensor], kernel: str) -> Callable[..., Tensor]:
    """An integer division that refuses a divisor known to hold a zero: a constant on the host.

    A divisor that the device computes is not looked at; the result of a division by 0 is then
    undefined, as in TensorFlow on a GPU.
    """

    def call(x: Any, y: Any, name: str | None = None) -> Tensor:
        value = y._array if y.__class__ is Tensor else y
        if isinstance(value, (int, np.ndarray)) and np.asarray(value).dtype.kind in "iu":
            if not np.all(value) and convert(x).dtype.is_integer:
                raise invalid("Integer division by zero", kernel)
        return row(x, y)

    call.op = row.op  # type: ignore[attr-defined]
    call.__doc__ = row.__doc__
    return call


def _floordiv(x: Any, y: Any) -> Any:
    if jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.floor_divide(x, y)
    return jnp.floor(x / y)


def divided_no_nan(x: Any, y: Any) -> Any:
    """x / y, 0 where y is 0; of integers a float."""
    if jnp.issubdtype(x.dtype, jnp.integer):
        dtype = jnp.float32 if x.dtype.itemsize <= 2 else jnp.float64
        x, y = x.astype(dtype), y.astype(dtype)
    return rules.divide_no_nan(x, y)


def _truncatediv(x: Any, y: Any) -> Any:
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.trunc(x / y)
    return lax.div(*jnp.broadcast_arrays(x, y))


truediv = binary(
    _truediv,
    "x / y. Integers give float64 (float32 if of 8 or 16 bits).",
    kernel="RealDiv",
    operands=_own_dtypes,
    check=_check_division,
)
divide = truediv
floordiv = _nonzero(
    binary(
        _floordiv,
        "x / y, rounded down.",
        kernel="FloorDiv",
        dtypes=REAL,
        differentiable=None,
        of_sizes=operator.floordiv,
    ),
    "FloorDiv",
)
floormod = _nonzero(
    binary(
        rules.floormod,
        "x - floordiv(x, y) * y: has the sign of y.",
        kernel="FloorMod",
        dtypes=REAL,
        of_sizes=operator.mod,
    ),
    "FloorMod",
)
mod = floormod
truncatediv = binary(
    _truncatediv,
    "x / y, rounded towards 0.",
    kernel="TruncateDiv",
    dtypes=REAL,
    differentiable=None,
)
truncatemod = binary(
    jnp.fmod,
    "Remainder of truncatediv: has the sign of x.",
    kernel="TruncateMod",
    dtypes="float index",
)
divide_no_nan = binary(
    divided_no_nan,
    "x / y, and 0 where y is 0.",
    kernel="DivNoNan",
    operands=_own_dtypes,
    check=_check_division,
)
multiply_no_nan = binary(
    rules.multiply_no_nan,
    "x * y, and 0 where y is 0, even if x is infinite.",
    kernel="MulNoNan",
    dtypes=INEXACT,
)
xdivy = binary(rules.xdivy, "x / y, and 0 where x is 0.", kernel="Xdivy", dtypes=INEXACT)
xlogy = binary(rules.xlogy, "x * log(y), and 0 where x is 0.", kernel="Xlogy", dtypes=INEXACT)
xlog1py = binary(
    rules.xlog1py, "x * log1p(y), and 0 where x is 0.", kernel="Xlog1py", dtypes=INEXACT
)
maximum = binary(
    rules.maximum,
    "Larger of x and y.",
    kernel="Maximum",
    dtypes=REAL,
    of_sizes=np.frompyfunc(dimensions.exact_maximum, 2, 1),
)
minimum = binary(
    rules.minimum,
    "Smaller of x and y.",
    kernel="Minimum",
    dtypes=REAL,
    of_sizes=np.frompyfunc(dimensions.exact_minimum, 2, 1),
)
squared_difference = binary(
    rules.squared_difference,
    "(x - y)**2, of complex numbers |x - y|**2.",
    kernel="SquaredDifference",
    dtypes="float complex index",
)
atan2 = binary(
    angles.atan2,
    "Angle of the point (x, y), in radians.",
    kernel="Atan2",
    dtypes="float",
    kernels=True,
    parameters=("y", "x"),
)
nextafter = binary(
    rules.nextafter,
    "Next number after x1 towards x2.",
    kernel="NextAfter",
    dtypes="full",
    parameters=("x1", "x2"),
)
_POW = binary(refuse_unsigned(rules.pow, "Pow"), "", kernel="Pow", dtypes=NUMBER)
_NEGATIVE_POWER = "Integers to negative integer powers are not allowed"


def _power_of_constant(x: Any, exponent: float) -> Any:
    if jnp.issubdtype(x.dtype, jnp.integer) and exponent < 0:
        raise TypeError(_NEGATIVE_POWER)
    return rules.power(x, exponent)


_POWER = Op(refuse_unsigned(_power_of_constant, "Pow"), "Pow")

#: Exponents worth a program of their own. All others are inputs, so that they may change freely.
CONSTANT_EXPONENTS = frozenset((*range(-4, 9), -1.5, -0.5, 0.5, 1.5, 2.5))


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power y.

    The gradient by y is 0 where x <= 0. A small Python number as `y` becomes part of the program.
    Raises: InvalidArgumentError if the dtypes differ, or for integers to a negative constant.

    >>> import tape_compat as tf
    >>> tf.pow(tf.constant([1.0, 2.0]), 3).numpy().tolist()
    [1.0, 8.0]
    """
    kind = y.__class__
    if (kind is int or kind is float) and y in CONSTANT_EXPONENTS:
        if x.__class__ is not Tensor:
            if isinstance(x, CompositeTensor) and not hasattr(x, "_as_tensor"):
                composite: Any = x
                return _POW(composite, y)
            x = convert(x)
        if kind is int or x._aval.trainable:
            if y == int(y):
                y = int(y)
            return apply(_POWER.bind(exponent=y), (x,))
    elif kind is Tensor and y._array.__class__ is np.ndarray and y._aval.np_dtype.kind == "i":
        if (y._array < 0).any() and (x.__class__ is int or convert(x).dtype is y.dtype):
            raise invalid(_NEGATIVE_POWER, "Pow")
    return _POW(x, y)


pow.op = _POW.op  # type: ignore[attr-defined]


def _times(x: Any, y: Any) -> Any:
    if x.dtype != bool and y.dtype != bool:
        return jnp.multiply(x, y)
    return jnp.logical_and(*(jnp.real(z).astype(np.int32) != 0 for z in (x, y)))


def _check_times(avals: tuple[Aval, ...]) -> None:
    if not any(aval.dtype is dtypes.bool for aval in avals):
        check_same_dtype(avals, "Mul")
    for aval in avals:
        if aval.dtype.name not in _FACTORS:
            raise not_allowed(aval.dtype, _FACTORS, "Mul")
    check_broadcast(avals[0], avals[1], "Mul")


def _factors(values: Sequence[Any]) -> list[Tensor]:
    """A bool tensor takes numbers of any dtype."""
    return [convert(x) for x in values] if _is_bool(values[0]) else matching(values)


def _is_bool(x: Any) -> bool:
    return (x.__class__ is Tensor or hasattr(x, "_as_tensor")) and x.dtype is dtypes.bool


_FACTORS = allowed("float integer complex bool")
#: The operator * of a bool and any number is a bool: whether neither is 0, rounded towards 0.
#: tf.multiply refuses bools. Source: TF tensor_math_operator_overrides.py, _mul_dispatch_factory.
_TIMES = binary(
    _times, "", kernel="Mul", operands=_factors, check=_check_times, of_sizes=operator.mul
)


operators.define(
    add=add,
    sub=subtract,
    mul=_TIMES,
    truediv=truediv,
    floordiv=floordiv,
    mod=floormod,
    pow=pow,
)
name_ops(globals())

"""`tf.math` and `tf.bitwise`: elementwise functions, reductions, scans, segments."""

from __future__ import annotations

import math as _math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from jax import lax
from jax.nn import log_sigmoid as _log_sigmoid
from jax.nn import log_softmax as _log_softmax
from jax.nn import softmax as _softmax
from jax.nn import softplus as _softplus

from .autodiff import rules
from .core import dtypes, operators
from .core.avals import Aval
from .core.bounds import dropped, refuse_segments
from .core.convert import convert
from .core.declare import (
    TextOperands,
    allowed,
    binary,
    check_broadcast,
    check_same_dtype,
    invalid,
    matching,
    name_ops,
    op,
    static,
    tf_dtype_name,
    unary,
)
from .core.dispatch import apply, apply1, apply2
from .core.dtypes import DType
from .core.indexed_slices import IndexedSlices
from .core.op import Op
from .core.tensor import Tensor, concrete

_INEXACT = "float complex"
_REAL = "float integer"
_NUMBER = "float integer complex"
_UNSIGNED = frozenset(("uint8", "uint16", "uint32", "uint64"))
_LISTED = ("bfloat16", "half", "float", "double", "int8", "int16", "int32", "int64")


# -- checks ----------------------------------------------------------------------------------------


def _signed(function: Callable[..., Any], kernel: str, complex_too: bool = True) -> Any:
    """`function`, refusing the dtypes that have no sign."""
    names = ", ".join(_LISTED + (("complex64", "complex128") if complex_too else ()))

    def signed(x: Any, *others: Any, **attributes: Any) -> Any:
        if x.dtype.name in _UNSIGNED or x.dtype == bool:
            raise TypeError(
                f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values: "
                f"{names}\n\t; NodeDef: {{{{node {kernel}}}}}"
            )
        return function(x, *others, **attributes)

    return signed


def _check_bool(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        for i, known in enumerate(avals):
            if known.dtype is not dtypes.bool:
                raise invalid(
                    f"cannot compute {kernel} as input #{i}(zero-based) was expected to be a bool "
                    f"tensor but is a {tf_dtype_name(known.dtype)} tensor",
                    kernel,
                )

    return check


def _check_axes(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], axis: Any = None, **_: Any) -> None:
        rank = len(avals[0].shape)
        seen = set()
        for i in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
            if not isinstance(i, (int, str)):
                raise TypeError(f"Cannot convert {i!r} to EagerTensor of dtype int32")
            if isinstance(i, str):
                raise invalid(
                    "Value for attr 'Tidx' of string is not in the list of allowed values: int32, "
                    f"int64\n\t; NodeDef: {{{{node {kernel}}}}}",
                    kernel,
                )
            if not -rank <= i < rank:
                raise invalid(
                    f"Invalid reduction dimension ({i} for input with {rank} dimension(s)", kernel
                )
            if i % rank in seen:
                raise invalid(
                    f"Invalid reduction arguments: Axes contains duplicate dimension: {i % rank}",
                    kernel,
                )
            seen.add(i % rank)

    return check


def _check_scan(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], axis: int = 0, **_: Any) -> None:
        rank = len(avals[0].shape)
        if not -rank <= axis < rank:
            raise invalid(
                f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}", kernel
            )

    return check


# -- arithmetic ------------------------------------------------------------------------------------

subtract = binary(jnp.subtract, "x - y.", kernel="Sub", dtypes=_NUMBER)
multiply = binary(jnp.multiply, "x * y.", kernel="Mul", dtypes=_NUMBER)


def _check_arithmetic(kernel: str, kinds: str) -> Callable[..., None]:
    names = allowed(kinds)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        check_same_dtype(avals, kernel)
        if avals[0].dtype is dtypes.string:
            raise TextOperands
        if avals[0].dtype.name not in names:
            raise invalid(
                f"Value for attr 'T' of {tf_dtype_name(avals[0].dtype)} is not in the list of "
                f"allowed values: {', '.join(sorted(names))}\n\t; NodeDef: {{{{node {kernel}}}}}",
                kernel,
            )
        check_broadcast(avals[0], avals[1], kernel)

    return check


def _on_host(function: Callable[..., Any], *tensors: Tensor) -> Tensor:
    """A NumPy function of string tensors."""
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
    dtypes=_NUMBER,
    operands=_own_dtypes,
    text=lambda x, y: _on_host(np.add, x, y),
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
    if x.dtype.name not in allowed(_NUMBER):
        raise TypeError(
            f"Invalid dtype {x.dtype!r} in __truediv__. Expected one of "
            f"{{{', '.join(f'tf.{name}' for name in sorted(allowed(_NUMBER)))}}}."
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


def _divide_no_nan(x: Any, y: Any) -> Any:
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
        _floordiv, "x / y, rounded down.", kernel="FloorDiv", dtypes=_REAL, differentiable=False
    ),
    "FloorDiv",
)
floormod = _nonzero(
    binary(
        rules.floormod,
        "x - floordiv(x, y) * y: has the sign of y.",
        kernel="FloorMod",
        dtypes=_REAL,
    ),
    "FloorMod",
)
mod = floormod
truncatediv = binary(
    _truncatediv,
    "x / y, rounded towards 0.",
    kernel="TruncateDiv",
    dtypes=_REAL,
    differentiable=False,
)
truncatemod = binary(
    jnp.fmod, "Remainder of truncatediv: has the sign of x.", kernel="TruncateMod", dtypes=_REAL
)
divide_no_nan = binary(
    _divide_no_nan,
    "x / y, and 0 where y is 0.",
    kernel="DivNoNan",
    operands=_own_dtypes,
    check=_check_division,
)
multiply_no_nan = binary(
    rules.multiply_no_nan,
    "x * y, and 0 where y is 0, even if x is infinite.",
    kernel="MulNoNan",
    dtypes=_INEXACT,
)
xdivy = binary(rules.xdivy, "x / y, and 0 where x is 0.", kernel="Xdivy", dtypes=_INEXACT)
xlogy = binary(rules.xlogy, "x * log(y), and 0 where x is 0.", kernel="Xlogy", dtypes=_INEXACT)
xlog1py = binary(
    rules.xlog1py, "x * log1p(y), and 0 where x is 0.", kernel="Xlog1py", dtypes=_INEXACT
)
maximum = binary(rules.maximum, "Larger of x and y.", kernel="Maximum", dtypes=_REAL)
minimum = binary(rules.minimum, "Smaller of x and y.", kernel="Minimum", dtypes=_REAL)
squared_difference = binary(
    lambda x, y: jnp.square(x - y), "(x - y)**2.", kernel="SquaredDifference", dtypes=_NUMBER
)
atan2 = binary(
    jnp.arctan2, "Angle of the point (x, y), in radians.", kernel="Atan2", dtypes="float"
)
nextafter = binary(
    jnp.nextafter, "Next number after x towards y.", kernel="NextAfter", differentiable=False
)

_POW = binary(_signed(rules.pow, "Pow"), "", kernel="Pow", dtypes=_NUMBER)
_NEGATIVE_POWER = "Integers to negative integer powers are not allowed"


def _power_of_constant(x: Any, exponent: float) -> Any:
    if jnp.issubdtype(x.dtype, jnp.integer) and exponent < 0:
        raise TypeError(_NEGATIVE_POWER)
    return rules.power(x, exponent)


_POWER = Op(_signed(_power_of_constant, "Pow"), "Pow")

#: Exponents worth a program of their own. All others are inputs, so that they may change freely.
_CONSTANT_EXPONENTS = frozenset((*range(-4, 9), -1.5, -0.5, 0.5, 1.5, 2.5))


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power y.

    The gradient by y is 0 where x <= 0. A small Python number as `y` becomes part of the program.
    Raises: InvalidArgumentError if the dtypes differ, or for integers to a negative constant.

    >>> import tape_compat as tf
    >>> tf.pow(tf.constant([1.0, 2.0]), 3).numpy().tolist()
    [1.0, 8.0]
    """
    kind = y.__class__
    if (kind is int or kind is float) and y in _CONSTANT_EXPONENTS:
        if x.__class__ is not Tensor:
            x = convert(x)
        if kind is int or x._aval.trainable:
            if y == int(y):
                y = int(y)
            return apply1(_POWER.bind(exponent=y), x)
    elif kind is Tensor and y._array.__class__ is np.ndarray and y._aval.np_dtype.kind == "i":
        if (y._array < 0).any() and convert(x).dtype is y.dtype:
            raise invalid(_NEGATIVE_POWER, "Pow")
    return _POW(x, y)


pow.op = _POW.op  # type: ignore[attr-defined]


# -- one argument ----------------------------------------------------------------------------------

negative = unary(_signed(jnp.negative, "Neg"), "-x.", kernel="Neg", dtypes=_NUMBER)
abs = unary(
    _signed(rules.abs, "Abs", complex_too=False),
    "Absolute value; of complex x, a real number.",
    kernel="Abs",
    dtypes=_NUMBER,
)
sign = unary(
    _signed(rules.sign, "Sign"), "-1, 0 or 1; x / |x| if complex.", kernel="Sign", dtypes=_NUMBER
)
square = unary(lax.square, "x * x.", kernel="Square", dtypes=_NUMBER)
sqrt = unary(rules.sqrt, "Square root.", kernel="Sqrt", dtypes=_INEXACT)
rsqrt = unary(rules.rsqrt, "1 / sqrt(x).", kernel="Rsqrt", dtypes=_INEXACT)
exp = unary(lax.exp, "e to the power x.", kernel="Exp", dtypes=_INEXACT)
expm1 = unary(lax.expm1, "exp(x) - 1, exact near 0.", kernel="Expm1", dtypes=_INEXACT)
log = unary(lax.log, "Natural logarithm.", kernel="Log", dtypes=_INEXACT)
log1p = unary(lax.log1p, "log(1 + x), exact near 0.", kernel="Log1p", dtypes=_INEXACT)
sin = unary(lax.sin, "Sine of x, in radians.", kernel="Sin", dtypes=_INEXACT)
cos = unary(lax.cos, "Cosine of x, in radians.", kernel="Cos", dtypes=_INEXACT)
tan = unary(lax.tan, "Tangent of x, in radians.", kernel="Tan", dtypes=_INEXACT)
asin = unary(lax.asin, "Inverse sine, in radians.", kernel="Asin", dtypes=_INEXACT)
acos = unary(lax.acos, "Inverse cosine, in radians.", kernel="Acos", dtypes=_INEXACT)
atan = unary(rules.atan, "Inverse tangent, in radians.", kernel="Atan", dtypes=_INEXACT)
sinh = unary(lax.sinh, "Hyperbolic sine.", kernel="Sinh", dtypes=_INEXACT)
cosh = unary(lax.cosh, "Hyperbolic cosine.", kernel="Cosh", dtypes=_INEXACT)
tanh = unary(lax.tanh, "Hyperbolic tangent.", kernel="Tanh", dtypes=_INEXACT)
asinh = unary(rules.asinh, "Inverse hyperbolic sine.", kernel="Asinh", dtypes=_INEXACT)
acosh = unary(rules.acosh, "Inverse hyperbolic cosine.", kernel="Acosh", dtypes=_INEXACT)
atanh = unary(lax.atanh, "Inverse hyperbolic tangent.", kernel="Atanh", dtypes=_INEXACT)
sigmoid = unary(lax.logistic, "1 / (1 + exp(-x)).", kernel="Sigmoid", dtypes=_INEXACT)
log_sigmoid = unary(_log_sigmoid, "log(sigmoid(x)).", kernel="Softplus", dtypes="float")
erf = unary(lax.erf, "Gauss error function.", kernel="Erf", dtypes="float")
erfc = unary(lax.erfc, "1 - erf(x), exact for large x.", kernel="Erfc", dtypes="float")
erfinv = unary(lax.erf_inv, "Inverse of erf.", kernel="Erfinv", dtypes="float")
erfcinv = unary(
    lambda x: -rules.ndtri(x / 2) / _math.sqrt(2.0),
    "Inverse of erfc.",
    kernel="Ndtri",
    dtypes="float",
)
ndtri = unary(rules.ndtri, "Quantile of the normal distribution.", kernel="Ndtri", dtypes="float")
lgamma = unary(lax.lgamma, "log(|gamma(x)|).", kernel="Lgamma", dtypes="float")
digamma = unary(lax.digamma, "Derivative of lgamma.", kernel="Digamma", dtypes="float")
bessel_i0 = unary(rules.bessel_i0, "Bessel function I0.", kernel="BesselI0", dtypes="float")
bessel_i0e = unary(special.i0e, "exp(-|x|) I0(x).", kernel="BesselI0e", dtypes="float")
bessel_i1 = unary(rules.bessel_i1, "Bessel function I1.", kernel="BesselI1", dtypes="float")
bessel_i1e = unary(special.i1e, "exp(-|x|) I1(x).", kernel="BesselI1e", dtypes="float")
reciprocal = unary(lambda x: 1 / x, "1 / x.", kernel="Reciprocal", dtypes=_INEXACT)
reciprocal_no_nan = unary(
    lambda x: rules.divide_no_nan(jnp.ones_like(x), x),
    "1 / x, and 0 where x is 0.",
    kernel="DivNoNan",
    dtypes=_INEXACT,
)

floor = unary(jnp.floor, "Rounded down.", kernel="Floor", dtypes="float", differentiable=False)
ceil = unary(jnp.ceil, "Rounded up.", kernel="Ceil", dtypes="float", differentiable=False)
rint = unary(
    jnp.rint, "Nearest integer, halves to even.", kernel="Rint", dtypes="float",
    differentiable=False,
)  # fmt: skip
round = unary(
    lambda x: jnp.rint(x) if jnp.issubdtype(x.dtype, jnp.floating) else x,
    "Nearest integer, halves to even.",
    kernel="Round",
    dtypes=_REAL,
    differentiable=False,
)
is_nan = unary(jnp.isnan, "Where NaN.", kernel="IsNan", dtypes="float", differentiable=False)
is_inf = unary(jnp.isinf, "Where infinite.", kernel="IsInf", dtypes="float", differentiable=False)
is_finite = unary(
    jnp.isfinite, "Where finite.", kernel="IsFinite", dtypes="float", differentiable=False
)

real = unary(jnp.real, "Real part.", kernel="Real", dtypes=_NUMBER)
conj = unary(jnp.conj, "Complex conjugate; real x stays.", kernel="Conj", dtypes=_NUMBER)
_IMAG = unary(jnp.imag, "", kernel="Imag", dtypes="complex")
_IMAG_OF_REAL = unary(jnp.zeros_like, "", kernel="ZerosLike", differentiable=False)
_ANGLE = unary(jnp.angle, "", kernel="Angle", dtypes="complex")
_ANGLE_OF_REAL = unary(
    lambda x: jnp.where(x < 0, jnp.asarray(_math.pi, x.dtype), 0),
    "",
    kernel="Angle",
    dtypes="float",
    differentiable=False,
)


def imag(input: Any, name: str | None = None) -> Tensor:
    """Imaginary part; zeros without a gradient if `input` is real.

    >>> import tape_compat as tf
    >>> float(tf.math.imag(1.0 + 2.0j))
    2.0
    """
    x = convert(input)
    return (_IMAG if x.dtype.is_complex else _IMAG_OF_REAL)(x)


def angle(input: Any, name: str | None = None) -> Tensor:
    """Argument, in radians; 0 or pi without a gradient if `input` is real.

    >>> import tape_compat as tf
    >>> tf.math.angle(2.0j).numpy().round(4).item()
    1.5708
    """
    x = convert(input)
    return (_ANGLE if x.dtype.is_complex else _ANGLE_OF_REAL)(x)


@op(arrays=1, kernel="Softplus", dtypes="float")
def softplus(features, name=None):
    """log(1 + exp(x)).

    >>> import tape_compat as tf
    >>> float(tf.math.softplus(100.0))
    100.0
    """
    return _softplus(features)


def _broadcast_complex(real: Any, imag: Any) -> Any:
    return lax.complex(*jnp.broadcast_arrays(real, imag))


_MAKE_COMPLEX = Op(
    _broadcast_complex,
    "Complex",
    check=lambda avals: check_broadcast(avals[0], avals[1], "Complex"),
).bind()


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i imag: float32 gives complex64, float64 gives complex128.

    Raises: TypeError for other dtypes, or if the two differ.

    >>> import tape_compat as tf
    >>> tf.complex(1.0, 2.0).numpy().item()
    (1+2j)
    """
    real, imag = convert(real), convert(imag)
    if real.dtype is not imag.dtype or real.dtype.name not in ("float32", "float64"):
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {real.dtype.name} "
            f"{imag.dtype.name}. They must be consistent, and one of [tf.float32, tf.float64]"
        )
    return apply(_MAKE_COMPLEX, (real, imag))


# -- softmax ---------------------------------------------------------------------------------------


def _check_softmax(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], axis: int | None = None, **_: Any) -> None:
        rank = len(avals[0].shape)
        if rank == 0:
            raise invalid("logits must have >= 1 dimension, got []", kernel)
        if axis is not None and not -rank <= axis < rank:
            raise invalid(
                f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
                f"dimensions in the input. Received: dim={axis}",
                kernel,
            )

    return check


@op(arrays=1, kernel="Softmax", dtypes="float", check=_check_softmax("Softmax"))
def softmax(logits, axis=None, name=None):
    """exp(x) / sum(exp(x)) along `axis` (default: the last).

    Raises: InvalidArgumentError for a scalar or an axis out of range.

    >>> import tape_compat as tf
    >>> tf.nn.softmax([0.0, 0.0]).numpy().tolist()
    [0.5, 0.5]
    """
    return _softmax(logits, -1 if axis is None else axis)


@op(arrays=1, kernel="LogSoftmax", dtypes="float", check=_check_softmax("LogSoftmax"))
def log_softmax(logits, axis=None, name=None):
    """log(softmax(x)) along `axis` (default: the last), exact for small probabilities.

    Raises: InvalidArgumentError for a scalar or an axis out of range.

    >>> import tape_compat as tf
    >>> tf.nn.log_softmax([0.0, -1000.0]).numpy().tolist()
    [0.0, -1000.0]
    """
    return _log_softmax(logits, -1 if axis is None else axis)


softsign = unary(rules.softsign, "x / (1 + |x|).", kernel="Softsign", dtypes="float")


# -- comparison and logic --------------------------------------------------------------------------


def _comparison(function: Callable[..., Any], doc: str, kernel: str) -> Callable[..., Tensor]:
    return binary(function, doc, kernel=kernel, dtypes=_REAL, differentiable=False)


less = _comparison(jnp.less, "Where x < y.", "Less")
less_equal = _comparison(jnp.less_equal, "Where x <= y.", "LessEqual")
greater = _comparison(jnp.greater, "Where x > y.", "Greater")
greater_equal = _comparison(jnp.greater_equal, "Where x >= y.", "GreaterEqual")


def _fits(x: Any, y: Any) -> bool:
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


def _check_loosely(kernel: str) -> Callable[..., None]:
    """As `_check_arithmetic`, without the shapes."""

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        check_same_dtype(avals, kernel)
        if avals[0].dtype is dtypes.string:
            raise TextOperands

    return check


_ANY = "float integer complex bool"
_EQUAL = Op(jnp.equal, "Equal", differentiable=False, check=_check_arithmetic("Equal", _ANY)).bind()
_NOT_EQUAL = Op(
    jnp.not_equal, "NotEqual", differentiable=False, check=_check_arithmetic("NotEqual", _ANY)
).bind()
_IS_EQUAL = Op(
    lambda x, y: jnp.equal(x, y) if _fits(x, y) else jnp.zeros((), bool),
    "Equal",
    differentiable=False,
    check=_check_loosely("Equal"),
).bind()
_IS_NOT_EQUAL = Op(
    lambda x, y: jnp.not_equal(x, y) if _fits(x, y) else jnp.ones((), bool),
    "NotEqual",
    differentiable=False,
    check=_check_loosely("NotEqual"),
).bind()


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x equals y, strings too.

    Raises: InvalidArgumentError if the dtypes differ or the shapes do not broadcast.

    >>> import tape_compat as tf
    >>> tf.equal(["a", "b"], "a").numpy().tolist()
    [True, False]
    """
    return _compare(_EQUAL, np.equal, x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x differs from y, strings too.

    Raises: InvalidArgumentError if the dtypes differ or the shapes do not broadcast.

    >>> import tape_compat as tf
    >>> tf.not_equal([1, 2], 2).numpy().tolist()
    [True, False]
    """
    return _compare(_NOT_EQUAL, np.not_equal, x, y)


def _compare(closure: Any, on_host: Callable[..., Any], x: Any, y: Any) -> Tensor:
    if x.__class__ is not Tensor or y.__class__ is not Tensor:
        x, y = matching((x, y))
    try:
        return apply2(closure, x, y)
    except TextOperands:
        if not _fits(x._aval, y._aval):
            if closure.op.name == "Equal" and closure is _IS_EQUAL:
                return concrete(np.array(False))
            if closure is _IS_NOT_EQUAL:
                return concrete(np.array(True))
            check_broadcast(x._aval, y._aval, closure.op.name)
        return _on_host(on_host, x, y)


def _equals(x: Any, y: Any) -> Any:
    """The operator ==: False, not an error, if the shapes do not fit; y may be None."""
    if y is None and x.__class__ is Tensor:
        return False
    return _compare(_IS_EQUAL, np.equal, x, y)


def _differs(x: Any, y: Any) -> Any:
    """The operator !=: True, not an error, if the shapes do not fit; y may be None."""
    if y is None and x.__class__ is Tensor:
        return True
    return _compare(_IS_NOT_EQUAL, np.not_equal, x, y)


@op(arrays=2, kernel="LogicalAnd", differentiable=False, check=_check_bool("LogicalAnd"))
def logical_and(x, y, name=None):
    """Where both are true."""
    return jnp.logical_and(x, y)


@op(arrays=2, kernel="LogicalOr", differentiable=False, check=_check_bool("LogicalOr"))
def logical_or(x, y, name=None):
    """Where one is true."""
    return jnp.logical_or(x, y)


@op(arrays=2, kernel="LogicalOr", differentiable=False, check=_check_bool("LogicalOr"))
def logical_xor(x, y, name="LogicalXor"):
    """Where exactly one is true."""
    return jnp.logical_xor(x, y)


@op(arrays=1, kernel="LogicalNot", differentiable=False, check=_check_bool("LogicalNot"))
def logical_not(x, name=None):
    """Where x is false."""
    return jnp.logical_not(x)


def _bitwise(function: Callable[..., Any], doc: str, kernel: str) -> Callable[..., Tensor]:
    return binary(function, doc, kernel=kernel, dtypes="integer", differentiable=False)


bitwise_and = _bitwise(jnp.bitwise_and, "Bits set in both.", "BitwiseAnd")
bitwise_or = _bitwise(jnp.bitwise_or, "Bits set in one.", "BitwiseOr")
bitwise_xor = _bitwise(jnp.bitwise_xor, "Bits set in exactly one.", "BitwiseXor")
left_shift = _bitwise(jnp.left_shift, "Bits of x moved up by y.", "LeftShift")
right_shift = _bitwise(
    jnp.right_shift, "Bits of x moved down by y, keeping the sign.", "RightShift"
)
invert = unary(
    jnp.bitwise_not, "Bits flipped.", kernel="Invert", dtypes="integer", differentiable=False
)

_BITS = "integer bool"


def _check_bits(bitwise: str, logical: str) -> Callable[..., None]:
    """The checks of an operator that is a bitwise op of integers and a logical one of bools."""
    of_bools = _check_arithmetic(logical, "bool")
    of_bits = _check_arithmetic(bitwise, "integer")

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
#: The operator * is a conjunction of bools, tf.multiply refuses them.
_TIMES = binary(jnp.multiply, "", kernel="Mul", dtypes="float integer complex bool")
_INVERT = unary(jnp.bitwise_not, "", kernel="Invert", dtypes=_BITS, differentiable=False)


# -- reductions ------------------------------------------------------------------------------------


@op(arrays=1, kernel="Sum", dtypes=_NUMBER, check=_check_axes("Sum"))
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """Sum over `axis` (an int or several), all axes if None. Integers keep their dtype.

    Raises: InvalidArgumentError if an axis is out of range or named twice.

    >>> import tape_compat as tf
    >>> tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy().tolist()
    [4.0, 6.0]
    """
    return jnp.sum(input_tensor, axis=axis, keepdims=bool(keepdims), dtype=input_tensor.dtype)


@op(arrays=1, kernel="Mean", dtypes=_NUMBER, check=_check_axes("Mean"))
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """Mean over `axis`, all axes if None. Integers give integers.

    >>> import tape_compat as tf
    >>> float(tf.reduce_mean([1.0, 2.0, 6.0])), int(tf.reduce_mean([1, 2]))
    (3.0, 1)
    """
    return _mean(input_tensor, axis, bool(keepdims))


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.mean(x, axis=axis, keepdims=keepdims)
    count = _math.prod(x.shape[i] for i in _axes(axis, x.ndim))
    wide = jnp.sum(x, axis=axis, keepdims=keepdims, dtype=_wide(x.dtype))
    return lax.div(wide, jnp.full_like(wide, max(count, 1))).astype(x.dtype)


def _wide(dtype: Any) -> Any:
    return jnp.uint64 if jnp.issubdtype(dtype, jnp.unsignedinteger) else jnp.int64


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(i % rank for i in (axis if isinstance(axis, tuple) else (axis,)))


@op(arrays=1, kernel="Max", dtypes=_REAL, check=_check_axes("Max"))
def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """Largest over `axis`, all axes if None. Ties share the gradient."""
    return rules.extreme(input_tensor, axis, bool(keepdims), largest=True)


@op(arrays=1, kernel="Min", dtypes=_REAL, check=_check_axes("Min"))
def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """Smallest over `axis`, all axes if None. Ties share the gradient."""
    return rules.extreme(input_tensor, axis, bool(keepdims), largest=False)


@op(arrays=1, kernel="Prod", dtypes=_NUMBER, check=_check_axes("Prod"))
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """Product over `axis`, all axes if None."""
    return jnp.prod(input_tensor, axis=axis, keepdims=bool(keepdims), dtype=input_tensor.dtype)


def _check_both(*checks: Callable[..., None]) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], **attributes: Any) -> None:
        for each in checks:
            each(avals, **attributes)

    return check


@op(
    arrays=1,
    kernel="Any",
    differentiable=False,
    check=_check_both(_check_bool("Any"), _check_axes("Any")),
)
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether one is true over `axis`, all axes if None."""
    return jnp.any(input_tensor, axis=axis, keepdims=bool(keepdims))


@op(
    arrays=1,
    kernel="All",
    differentiable=False,
    check=_check_both(_check_bool("All"), _check_axes("All")),
)
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all are true over `axis`, all axes if None."""
    return jnp.all(input_tensor, axis=axis, keepdims=bool(keepdims))


def _log_sum_exp(x: Any, axis: Any, keepdims: bool) -> Any:
    top = jnp.max(x, axis=axis, keepdims=True, initial=-jnp.inf)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))
    result = jnp.log(jnp.sum(jnp.exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdims else jnp.squeeze(result, _axes(axis, x.ndim))


@op(arrays=1, kernel="IsFinite", dtypes="float", check=_check_axes("Max"))
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) over `axis`, all axes if None, without overflow."""
    return _log_sum_exp(input_tensor, axis, bool(keepdims))


def _variance(x: Any, axis: Any, keepdims: bool) -> Any:
    centred = x - jnp.mean(x, axis=axis, keepdims=True)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return jnp.mean(jnp.real(centred * jnp.conj(centred)), axis=axis, keepdims=keepdims)
    return jnp.mean(lax.square(centred), axis=axis, keepdims=keepdims)


_VARIANCE = Op(_variance, "Mean", check=_check_axes("Mean"))
_STD = Op(
    lambda x, axis, keepdims: rules.sqrt(_variance(x, axis, keepdims)),
    "Mean",
    check=_check_axes("Mean"),
)


def _spread(of: Op, x: Any, axis: Any, keepdims: Any) -> Tensor:
    x = convert(x)
    if not x.dtype.trainable:
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype!s}.")
    return apply(of.bind(axis=static(axis), keepdims=bool(keepdims)), (x,))


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Mean squared distance from the mean over `axis`, all axes if None; real.

    Raises: TypeError for integers.

    >>> import tape_compat as tf
    >>> float(tf.math.reduce_variance([1.0, 3.0]))
    1.0
    """
    return _spread(_VARIANCE, input_tensor, axis, keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Square root of `reduce_variance`.

    Raises: TypeError for integers.

    >>> import tape_compat as tf
    >>> float(tf.math.reduce_std([1.0, 3.0]))
    1.0
    """
    return _spread(_STD, input_tensor, axis, keepdims)


@op(arrays=1, kernel="EuclideanNorm", dtypes=_NUMBER, check=_check_axes("EuclideanNorm"))
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """sqrt(sum(|x|**2)) over `axis`, all axes if None, of the dtype of x. NaN gradient at 0."""
    x, keepdims = input_tensor, bool(keepdims)
    if jnp.issubdtype(x.dtype, jnp.integer):
        total = jnp.sum(lax.square(x.astype(jnp.float64)), axis=axis, keepdims=keepdims)
        return jnp.sqrt(total).astype(x.dtype)
    return jnp.sqrt(jnp.sum(x * jnp.conj(x), axis=axis, keepdims=keepdims))


def _check_arg(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], axis: int, output_type: DType) -> None:
        shape = avals[0].shape
        rank = len(shape)
        if output_type.name not in ("int16", "uint16", "int32", "int64"):
            raise invalid(
                f"Value for attr 'output_type' of {tf_dtype_name(output_type)} is not in the list "
                "of allowed values: int16, uint16, int32, int64",
                kernel,
            )
        if not -rank <= axis < rank:
            raise invalid(
                f"Expected dimension in the range [{-rank}, {rank}), but got {axis}", kernel
            )
        if shape[axis] == 0:
            listed = "[" + ",".join(map(str, shape)) + "]"
            raise invalid(f"Reduction axis {axis} is empty in shape {listed}", kernel)

    return check


def _where_extreme(function: Callable[..., Any], x: Any, axis: int, output_type: DType) -> Any:
    if jnp.issubdtype(x.dtype, jnp.floating):  # NaN is never chosen
        x = jnp.where(jnp.isnan(x), -jnp.inf if function is jnp.argmax else jnp.inf, x)
    return function(x, axis=axis).astype(output_type.np_dtype)


_ARGMAX = Op(
    lambda x, axis, output_type: _where_extreme(jnp.argmax, x, axis, output_type),
    "ArgMax",
    differentiable=False,
    check=_check_arg("ArgMax"),
)
_ARGMIN = Op(
    lambda x, axis, output_type: _where_extreme(jnp.argmin, x, axis, output_type),
    "ArgMin",
    differentiable=False,
    check=_check_arg("ArgMin"),
)


def _arg(of: Op, x: Any, axis: Any, output_type: Any) -> Tensor:
    if axis.__class__ is not int:
        axis = 0 if axis is None else static(axis)
    if output_type.__class__ is not DType:
        output_type = dtypes.as_dtype(output_type)
    closure = of.bind(axis=axis, output_type=output_type)
    return apply1(closure, x if x.__class__ is Tensor else convert(x))


def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Index of the largest along `axis` (0 if None), the first of equal ones.

    Raises: InvalidArgumentError if `axis` is out of range or empty.

    >>> import tape_compat as tf
    >>> tf.argmax([[1, 5, 2], [7, 0, 7]], axis=1).numpy().tolist()
    [1, 0]
    """
    return _arg(_ARGMAX, input, axis, output_type)


def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Index of the smallest along `axis` (0 if None), the first of equal ones.

    Raises: InvalidArgumentError if `axis` is out of range or empty.

    >>> import tape_compat as tf
    >>> int(tf.argmin([3, 1, 2]))
    1
    """
    return _arg(_ARGMIN, input, axis, output_type)


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """How many are not zero (not empty, for strings) over `axis`, all axes if None.

    >>> import tape_compat as tf
    >>> int(tf.math.count_nonzero([1.0, 0.0, 2.0]))
    2
    """
    x = convert(input)
    if x.dtype is dtypes.string:
        x = not_equal(x, "")
    closure = _COUNT_NONZERO.bind(
        axis=static(axis), keepdims=bool(keepdims), dtype=dtypes.as_dtype(dtype)
    )
    return apply(closure, (x,))


_COUNT_NONZERO = Op(
    lambda x, axis, keepdims, dtype: jnp.sum(
        x != 0, axis=axis, keepdims=keepdims, dtype=dtype.np_dtype
    ),
    "Sum",
    differentiable=False,
    check=_check_axes("Sum"),
)


# -- scans -----------------------------------------------------------------------------------------


def _scanned(
    function: Callable[..., Any], x: Any, axis: int, exclusive: bool, reverse: bool, identity: Any
) -> Any:
    """`function` along `axis`; exclusive: without the element itself; reverse: from the end."""
    if reverse:
        x = jnp.flip(x, axis)
    if exclusive and x.shape[axis]:
        first = jnp.full_like(lax.slice_in_dim(x, 0, 1, axis=axis), identity)
        x = jnp.concatenate([first, lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)], axis)
    out = function(x, axis=axis)
    return jnp.flip(out, axis) if reverse else out


@op(arrays=1, kernel="Cumsum", dtypes=_NUMBER, check=_check_scan("Cumsum"))
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sum along `axis`; exclusive: of those before; reverse: from the end.

    >>> import tape_compat as tf
    >>> tf.cumsum([1, 2, 3], exclusive=True).numpy().tolist()
    [0, 1, 3]
    """
    return _scanned(
        lambda x, axis: jnp.cumsum(x, axis, dtype=x.dtype), x, axis, exclusive, reverse, 0
    )


@op(arrays=1, kernel="Cumprod", dtypes=_NUMBER, check=_check_scan("Cumprod"))
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running product along `axis`; exclusive: of those before; reverse: from the end.

    >>> import tape_compat as tf
    >>> tf.math.cumprod([1, 2, 3]).numpy().tolist()
    [1, 2, 6]
    """
    return _scanned(
        lambda x, axis: jnp.cumprod(x, axis, dtype=x.dtype), x, axis, exclusive, reverse, 1
    )


@op(
    arrays=1, kernel="CumulativeLogsumexp", dtypes="float", check=_check_scan("CumulativeLogsumexp")
)
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running log(sum(exp(x))) along `axis`; of nothing it is -inf."""
    return _scanned(
        lambda x, axis: lax.cumlogsumexp(x, axis % x.ndim), x, axis, exclusive, reverse, -jnp.inf
    )


# -- sums of lists, polynomials --------------------------------------------------------------------


def _check_add_n(avals: tuple[Aval, ...]) -> None:
    check_same_dtype(avals, "AddN")
    for i, known in enumerate(avals):
        if known.shape != avals[0].shape:
            first, other = ("[" + ",".join(map(str, a.shape)) + "]" for a in (avals[0], known))
            raise invalid(
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {first} != input {i}: {other}",
                "AddN",
            )


def _sum_of(*arrays: Any) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


_ADD_N = Op(_sum_of, "AddN", check=_check_add_n).bind()


def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Sum of tensors of one shape; IndexedSlices are taken as dense tensors.

    Raises: ValueError if there are none; InvalidArgumentError if shapes or dtypes differ.

    >>> import tape_compat as tf
    >>> tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist()
    [9, 12]
    """
    message = (
        "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
        "shape."
    )
    if not hasattr(inputs, "__iter__"):
        raise ValueError(message)
    tensors = matching(list(inputs))
    if not tensors:
        raise ValueError(message)
    if len(tensors) == 1:
        return apply(_SAME, (tensors[0],))
    return apply(_ADD_N, tuple(tensors))


_SAME = Op(lambda x: x, "Identity").bind()


def accumulate_n(
    inputs: Sequence[Any], shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The same as `add_n`, with a shape and a dtype to check against.

    Raises: ValueError if shapes or dtypes differ.

    >>> import tape_compat as tf
    >>> float(tf.math.accumulate_n([1.0, 2.0, 3.0]))
    6.0
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices")
    tensors = matching(inputs)
    dtype = dtypes.as_dtype(tensor_dtype) if tensor_dtype is not None else tensors[0].dtype
    wanted = tensors[0].shape if shape is None else shape
    for x in tensors:
        if x.dtype is not dtype or not x.shape.is_compatible_with(wanted):
            raise ValueError("inputs must be a list of Tensors with the same dtype and shape")
    return add_n(tensors)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """`x` times a scalar; IndexedSlices give IndexedSlices.

    Raises: ValueError if `scalar` has a shape other than ().

    >>> import tape_compat as tf
    >>> tf.math.scalar_mul(2.0, tf.constant([1.0, 2.0])).numpy().tolist()
    [2.0, 4.0]
    """
    sparse = isinstance(x, IndexedSlices)
    if not sparse:
        scalar, x = matching((scalar, x))
    scalar = convert(scalar, hint=x.dtype)
    if scalar._aval.shape != ():
        raise ValueError(
            f"The input scalar must be a 0-D value. Received shape {scalar._aval.shape}."
        )
    if sparse:
        return IndexedSlices(multiply(scalar, x.values), x.indices, x.dense_shape)
    return multiply(scalar, x)


def _polynomial(*arrays: Any) -> Any:
    *coefficients, x = arrays
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = coefficient + value * x
    return value


_POLYVAL = Op(_polynomial, "Polyval", check=lambda avals: check_same_dtype(avals, "Mul")).bind()


def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """Polynomial at x; coefficients from the highest power down, by Horner's rule.

    Raises: ValueError if `coeffs` is not a list.

    >>> import tape_compat as tf
    >>> float(tf.math.polyval([1.0, 2.0, 3.0], 2.0))
    11.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert(x)
    if not coeffs:
        return multiply(x, 0)
    return apply(_POLYVAL, (*(convert(c, x.dtype) for c in coeffs), x))


@op(arrays=1, kernel="Mul", dtypes=_INEXACT)
def _l2_normalize(x, axis=None, epsilon=1e-12):
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        total = jnp.sum(jnp.real(x) ** 2 + jnp.imag(x) ** 2, axis=axis, keepdims=True)
    else:
        total = jnp.sum(lax.square(x), axis=axis, keepdims=True)
    floor_ = jnp.asarray(epsilon, total.dtype)
    return x * rules.rsqrt(rules.maximum(total, floor_)).astype(x.dtype)


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """x / sqrt(max(sum(x**2), epsilon)), the sum over `axis`, all axes if None.

    Raises: ValueError if both `axis` and its old name `dim` are given.

    >>> import tape_compat as tf
    >>> tf.math.l2_normalize([3.0, 4.0]).numpy().round(6).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'.")
        axis = dim
    return _l2_normalize(x, axis=axis, epsilon=epsilon)


# -- largest ---------------------------------------------------------------------------------------

TopKV2 = namedtuple("TopKV2", ["values", "indices"])


def _check_top_k(avals: tuple[Aval, ...], k: int, **_: Any) -> None:
    shape = avals[0].shape
    if not shape:
        raise invalid("input must be >= 1-D, got shape []", "TopKV2")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}", "TopKV2")
    if shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {shape[-1]}, needed {k}", "TopKV2")


def _top_k(x: Any, k: int, index_type: DType) -> tuple[Any, Any]:
    values, indices = lax.top_k(x, k)
    return values, indices.astype(index_type.np_dtype)


_TOP_K = Op(_top_k, "TopKV2", check=_check_top_k)


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest along the last axis, largest first, and where they stand.

    `sorted=False` promises no order; ours are sorted then too.
    Raises: InvalidArgumentError if the last axis has fewer than `k`.

    >>> import tape_compat as tf
    >>> values, indices = tf.math.top_k([1.0, 3.0, 2.0], k=2)
    >>> values.numpy().tolist(), indices.numpy().tolist()
    ([3.0, 2.0], [1, 2])
    """
    closure = _TOP_K.bind(k=static(k), index_type=dtypes.as_dtype(index_type))
    return TopKV2(*apply(closure, (convert(input),)))


@op(arrays=2, kernel="InTopKV2", same_dtype=False, differentiable=False)
def _in_top_k(targets, predictions, k=1):
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    at = jnp.clip(targets, 0, max(classes - 1, 0))[:, None]
    target = jnp.take_along_axis(predictions, at, axis=1)
    larger = jnp.sum(predictions > target, axis=1)
    finite = jnp.all(jnp.isfinite(predictions) | (predictions < target), axis=1)
    return inside & finite & jnp.isfinite(target[:, 0]) & (larger < k)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether `targets` [n] are among the `k` largest of each row of `predictions` [n, classes].

    Classes as large as the k-th count as well. Targets out of range are not.

    >>> import tape_compat as tf
    >>> tf.math.in_top_k([0, 1], [[1.0, 2.0], [3.0, 4.0]], k=1).numpy().tolist()
    [False, True]
    """
    return _in_top_k(targets, predictions, k=k)


# -- counting --------------------------------------------------------------------------------------


def _counts(values: Any, *weights: Any, size: int, dtype: Any, binary: bool) -> Any:
    """Counts of each row of values [rows, n]."""
    rows = jnp.arange(values.shape[0])[:, None]
    zeros = jnp.zeros((values.shape[0], size), dtype)
    if binary:
        return zeros.at[rows, values].set(jnp.ones((), dtype), mode="drop")
    given = weights[0] if weights else jnp.ones((), dtype)
    return zeros.at[rows, values].add(given, mode="drop")


def _bincount(*arrays: Any, size: int, dtype: DType, binary: bool, by_row: bool) -> Any:
    shape = arrays[0].shape
    rows = shape[0] if by_row and len(shape) == 2 else 1
    flat = [a.reshape(rows, -1) for a in arrays]
    out = _counts(*flat, size=size, dtype=dtype.np_dtype, binary=binary)
    return out if by_row and len(shape) == 2 else out[0]


_BINCOUNT = Op(_bincount, "DenseBincount")


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each of 0, 1, ... occurs in `arr`, or the sum of its weights.

    The length of the result is the largest value plus one, at least `minlength` and at most
    `maxlength`; it depends on values, so they are computed now. axis=-1 counts each row.
    Raises: InvalidArgumentError for negative values.

    >>> import tape_compat as tf
    >>> tf.math.bincount([1, 1, 3]).numpy().tolist()
    [0, 2, 0, 1]
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently "
                         "supported.")  # fmt: skip
    arr = convert(arr)
    values = np.asarray(arr._value())
    if values.size and values.min() < 0:
        raise invalid("Input arr must be non-negative!", "DenseBincount")
    size = int(values.max()) + 1 if values.size else 0
    if minlength is not None:
        size = max(size, int(minlength))
    if maxlength is not None:
        size = min(size, int(maxlength))
    inputs = (arr,)
    if weights is not None and not binary_output:
        weights = convert(weights)
        inputs, dtype = (arr, weights), weights.dtype
    closure = _BINCOUNT.bind(
        size=size, dtype=dtypes.as_dtype(dtype), binary=bool(binary_output), by_row=axis == -1
    )
    return apply(closure, inputs)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Counts [classes, classes]: row = label, column = prediction.

    >>> import tape_compat as tf
    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy().tolist()
    [[1, 0], [1, 1]]
    """
    labels, predictions = convert(labels), convert(predictions)
    given = [np.asarray(t._value()) for t in (labels, predictions)]
    for what, values in zip(("labels", "predictions"), given, strict=True):
        if values.size and values.min() < 0:
            raise invalid(f"`{what}` contains negative values.", "Assert")
    if num_classes is None:
        num_classes = max((int(v.max()) + 1 for v in given if v.size), default=0)
    num_classes = int(num_classes)
    for what, values in zip(("labels", "predictions"), given, strict=True):
        if values.size and values.max() >= num_classes:
            raise invalid(f"`{what}` out of bound", "Assert")
    inputs = [labels, predictions]
    if weights is not None:
        inputs.append(convert(weights, dtypes.as_dtype(dtype)))
    closure = _CONFUSION.bind(classes=num_classes, dtype=dtypes.as_dtype(dtype))
    return apply(closure, tuple(inputs))


def _confusion(labels: Any, predictions: Any, *weights: Any, classes: int, dtype: DType) -> Any:
    given = weights[0].reshape(-1) if weights else jnp.ones((), dtype.np_dtype)
    zeros = jnp.zeros((classes, classes), dtype.np_dtype)
    return zeros.at[labels.reshape(-1), predictions.reshape(-1)].add(given)


_CONFUSION = Op(_confusion, "ScatterNd")


# -- segments --------------------------------------------------------------------------------------


def _check_unsorted(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        data, ids = (a.shape for a in avals)
        if data[: len(ids)] != ids:
            shown = ["[" + ",".join(map(str, s)) + "]" for s in (data, ids)]
            raise invalid(
                f"data.shape = {shown[0]} does not start with segment_ids.shape = {shown[1]}",
                kernel,
            )

    return check


def _flat_segments(data: Any, ids: Any, segments: int) -> tuple[Any, Any]:
    """Data [n, ...] and ids [n]; what lies outside has the id `segments`, which is dropped."""
    rest = data.shape[ids.ndim :]
    flat = ids.reshape(-1)
    return data.reshape(flat.size, *rest), dropped(flat, segments)


def _segment_sum(data: Any, ids: Any, segments: int) -> Any:
    data, ids = _flat_segments(data, ids, segments)
    return jnp.zeros((segments, *data.shape[1:]), data.dtype).at[ids].add(data, mode="drop")


def _segment_prod(data: Any, ids: Any, segments: int) -> Any:
    data, ids = _flat_segments(data, ids, segments)
    return rules.segment_product(data, ids, segments)


def _segment_extreme(data: Any, ids: Any, segments: int, largest: bool) -> Any:
    data, ids = _flat_segments(data, ids, segments)
    return rules.segment_extreme(data, ids, segments, largest)


def _segment_max(data: Any, ids: Any, segments: int) -> Any:
    return _segment_extreme(data, ids, segments, True)


def _segment_min(data: Any, ids: Any, segments: int) -> Any:
    return _segment_extreme(data, ids, segments, False)


def _segment_counts(data: Any, ids: Any, segments: int, inner: int) -> Any:
    count = _segment_sum(jnp.ones(ids.shape, data.dtype), ids, segments)
    return jnp.maximum(count, 1).reshape((segments,) + (1,) * inner)


def _segment_mean(data: Any, ids: Any, segments: int) -> Any:
    total = _segment_sum(data, ids, segments)
    return total / _segment_counts(data, ids, segments, data.ndim - ids.ndim)


def _segment_sqrt_n(data: Any, ids: Any, segments: int) -> Any:
    total = _segment_sum(data, ids, segments)
    return total / jnp.sqrt(_segment_counts(data, ids, segments, data.ndim - ids.ndim))


def _where_present(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with 0 for segments that have no element."""

    def filled(data: Any, ids: Any, segments: int) -> Any:
        count = jnp.zeros(segments, jnp.int32).at[ids].add(1, mode="drop")
        shape = (segments,) + (1,) * (data.ndim - 1)
        return jnp.where(count.reshape(shape) > 0, function(data, ids, segments), 0)

    return filled


def _unsorted(function: Callable[..., Any], doc: str, kernel: str) -> Callable[..., Tensor]:
    declared = Op(function, kernel, check=_check_unsorted(kernel))

    def call(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        closure = declared.bind(segments=static(num_segments))
        ids = convert(segment_ids)
        refuse_segments(ids, closure.attributes["segments"], kernel)
        return apply(closure, (convert(data), ids))

    call.op = declared  # type: ignore[attr-defined]
    call.__doc__ = f"{doc} of the elements of each segment. Negative ids are left out."
    return call


def _sorted_segments(function: Callable[..., Any], doc: str, kernel: str) -> Callable[..., Tensor]:
    declared = Op(function, kernel)

    def call(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        data, segment_ids = convert(data), convert(segment_ids)
        ids = np.asarray(segment_ids._value())
        if ids.ndim != 1:
            raise invalid("segment_ids should be a vector.", kernel)
        if not data._aval.shape or ids.size != data._aval.shape[0]:
            raise invalid("segment_ids should be the same size as dimension 0 of input.", kernel)
        if (ids.size and ids[0] < 0) or np.any(np.diff(ids) < 0):
            raise invalid("segment ids are not increasing", kernel)
        closure = declared.bind(segments=int(ids[-1]) + 1 if ids.size else 0)
        return apply(closure, (data, segment_ids))

    call.op = declared  # type: ignore[attr-defined]
    call.__doc__ = (
        f"{doc} of the elements of each segment. The ids must not decrease; the last one says how "
        "many segments there are, so they are computed now."
    )
    return call


unsorted_segment_sum = _unsorted(_segment_sum, "Sum", "UnsortedSegmentSum")
unsorted_segment_prod = _unsorted(_segment_prod, "Product", "UnsortedSegmentProd")
unsorted_segment_max = _unsorted(_segment_max, "Largest", "UnsortedSegmentMax")
unsorted_segment_min = _unsorted(_segment_min, "Smallest", "UnsortedSegmentMin")
unsorted_segment_mean = _unsorted(_segment_mean, "Mean", "UnsortedSegmentSum")
unsorted_segment_sqrt_n = _unsorted(_segment_sqrt_n, "Sum / sqrt(n)", "UnsortedSegmentSum")
segment_sum = _sorted_segments(_segment_sum, "Sum", "SegmentSum")
segment_prod = _sorted_segments(_segment_prod, "Product", "SegmentProd")
segment_max = _sorted_segments(_where_present(_segment_max), "Largest", "SegmentMax")
segment_min = _sorted_segments(_where_present(_segment_min), "Smallest", "SegmentMin")
segment_mean = _sorted_segments(_segment_mean, "Mean", "SegmentMean")


# -- others ----------------------------------------------------------------------------------------


@op(arrays=1, kernel="InvertPermutation", dtypes="integer", differentiable=False)
def invert_permutation(x, name=None):
    """y with y[x[i]] = i, of a permutation x [n].

    >>> import tape_compat as tf
    >>> tf.math.invert_permutation([2, 0, 1]).numpy().tolist()
    [1, 2, 0]
    """
    return jnp.zeros_like(x).at[x].set(jnp.arange(x.shape[0], dtype=x.dtype))


@op(arrays=1, kernel="Mean", differentiable=False)
def zero_fraction(value, name=None):
    """Share of zeros, a float32; NaN of nothing.

    >>> import tape_compat as tf
    >>> float(tf.math.zero_fraction([0, 1, 0, 0]))
    0.75
    """
    return jnp.mean((value == 0).astype(jnp.float32))


@op(arrays=1, kernel="All", dtypes=_REAL, differentiable=False)
def is_non_decreasing(x, name=None):
    """Whether no element of the flattened x is smaller than the one before."""
    x = x.reshape(-1)
    return jnp.all(x[1:] >= x[:-1])


@op(arrays=1, kernel="All", dtypes=_REAL, differentiable=False)
def is_strictly_increasing(x, name=None):
    """Whether each element of the flattened x is larger than the one before."""
    x = x.reshape(-1)
    return jnp.all(x[1:] > x[:-1])


@op(arrays=1, kernel="Lgamma", dtypes="float")
def lbeta(x, name=None):
    """log |Beta(x)| over the last axis.

    >>> import tape_compat as tf
    >>> tf.math.lbeta([1.0, 2.0]).numpy().round(2).tolist()
    -0.6899999976158142
    """
    return jnp.sum(lax.lgamma(x), -1) - lax.lgamma(jnp.sum(x, -1))


igamma = binary(
    special.gammainc, "Lower regularized incomplete gamma P(a, x).", kernel="Igamma", dtypes="float"
)
igammac = binary(
    special.gammaincc,
    "Upper regularized incomplete gamma Q(a, x).",
    kernel="Igammac",
    dtypes="float",
)
zeta = binary(special.zeta, "Hurwitz zeta function of x and q.", kernel="Zeta", dtypes="float")
polygamma = binary(
    lambda a, x: special.polygamma(a.astype(jnp.int32), x),
    "Derivative number `a` of digamma at x.",
    kernel="Polygamma",
    dtypes="float",
)

name_ops(globals())

operators.define(
    **{
        "add": add,
        "sub": subtract,
        "mul": _TIMES,
        "truediv": truediv,
        "floordiv": floordiv,
        "mod": floormod,
        "pow": pow,
        "and": _AND,
        "or": _OR,
        "xor": _XOR,
        "lt": less,
        "le": less_equal,
        "gt": greater,
        "ge": greater_equal,
        "eq": _equals,
        "ne": _differs,
        "neg": negative,
        "abs": abs,
        "invert": _INVERT,
    }
)

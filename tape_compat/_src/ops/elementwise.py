"""Functions of each element: powers, trigonometry, special functions, rounding, softmax."""

from __future__ import annotations

import math as _math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as special
from jax import lax
from jax.nn import (
    log_sigmoid as _log_sigmoid,
    log_softmax as _log_softmax,
    softmax as _softmax,
    softplus as _softplus,
)

from ..core.avals import Aval
from ..core.op import Op
from ..core.refuse import invalid
from ..values import operators
from ..values.convert import convert
from ..values.dispatch import maps_composites
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor
from . import angles, complexes, rules, special_pairs
from .checks import INEXACT, NUMBER, REAL, refuse_unsigned
from .declare import binary, check_broadcast, name_ops, op, unary


def _negative_slices(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """IndexedSlices stay such."""
    slices = cotangents[0]
    return [-slices] if isinstance(slices, IndexedSlices) else None


negative = unary(
    refuse_unsigned(jnp.negative, "Neg"),
    "-x.",
    kernel="Neg",
    dtypes=NUMBER,
    of_sizes=operator.neg,
    sparse=_negative_slices,
)
abs = unary(
    refuse_unsigned(rules.abs, "Abs", complex_too=False),
    "Absolute value; of complex x, a real number.",
    kernel="Abs",
    dtypes=NUMBER,
)
sign = unary(
    refuse_unsigned(rules.sign, "Sign"),
    "-1, 0 or 1; x / |x| if complex.",
    kernel="Sign",
    dtypes=NUMBER,
)
square = unary(lax.square, "x * x.", kernel="Square", dtypes=NUMBER)
sqrt = unary(rules.sqrt, "Square root.", kernel="Sqrt", dtypes=INEXACT)
rsqrt = unary(rules.rsqrt, "1 / sqrt(x).", kernel="Rsqrt", dtypes=INEXACT)
exp = unary(complexes.exp, "e to the power x.", kernel="Exp", dtypes=INEXACT, kernels=True)
expm1 = unary(rules.expm1, "exp(x) - 1, exact near 0.", kernel="Expm1", dtypes=INEXACT)
log = unary(complexes.log, "Natural logarithm.", kernel="Log", dtypes=INEXACT, kernels=True)
log1p = unary(lax.log1p, "log(1 + x), exact near 0.", kernel="Log1p", dtypes=INEXACT)
_angle = partial(unary, dtypes=INEXACT, kernels=True)
sin = _angle(angles.sin, "Sine of x, in radians.", kernel="Sin")
cos = _angle(angles.cos, "Cosine of x, in radians.", kernel="Cos")
tan = _angle(angles.tan, "Tangent of x, in radians.", kernel="Tan")
asin = _angle(angles.asin, "Inverse sine, in radians.", kernel="Asin")
acos = _angle(angles.acos, "Inverse cosine, in radians.", kernel="Acos")
atan = _angle(angles.atan, "Inverse tangent, in radians.", kernel="Atan")
sinh = unary(complexes.sinh, "Hyperbolic sine.", kernel="Sinh", dtypes=INEXACT)
cosh = unary(complexes.cosh, "Hyperbolic cosine.", kernel="Cosh", dtypes=INEXACT)
tanh = unary(lax.tanh, "Hyperbolic tangent.", kernel="Tanh", dtypes=INEXACT)
asinh = unary(rules.asinh, "Inverse hyperbolic sine.", kernel="Asinh", dtypes=INEXACT)
acosh = unary(rules.acosh, "Inverse hyperbolic cosine.", kernel="Acosh", dtypes=INEXACT)
atanh = unary(lax.atanh, "Inverse hyperbolic tangent.", kernel="Atanh", dtypes=INEXACT)
sigmoid = unary(lax.logistic, "1 / (1 + exp(-x)).", kernel="Sigmoid", dtypes=INEXACT)
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
lgamma = unary(special_pairs.lgamma, "log(|gamma(x)|).", kernel="Lgamma", dtypes="float")
digamma = unary(special_pairs.digamma, "Derivative of lgamma.", kernel="Digamma", dtypes="float")
bessel_i0 = unary(rules.bessel_i0, "Bessel function I0.", kernel="BesselI0", dtypes="float")
bessel_i0e = unary(special.i0e, "exp(-|x|) I0(x).", kernel="BesselI0e", dtypes="float")
bessel_i1 = unary(rules.bessel_i1, "Bessel function I1.", kernel="BesselI1", dtypes="float")
bessel_i1e = unary(rules.bessel_i1e, "exp(-|x|) I1(x).", kernel="BesselI1e", dtypes="float")
reciprocal = unary(rules.reciprocal, "1 / x.", kernel="Reciprocal", dtypes=INEXACT)
reciprocal_no_nan = unary(
    lambda x: rules.divide_no_nan(jnp.ones_like(x), x),
    "1 / x, and 0 where x is 0.",
    kernel="DivNoNan",
    dtypes=INEXACT,
)
floor = unary(jnp.floor, "Rounded down.", kernel="Floor", dtypes="float", differentiable=None)
ceil = unary(jnp.ceil, "Rounded up.", kernel="Ceil", dtypes="float", differentiable=None)
rint = unary(
    jnp.rint, "Nearest integer, halves to even.", kernel="Rint", dtypes="float",
    differentiable=None,
)  # fmt: skip
round = unary(
    lambda x: jnp.rint(x) if jnp.issubdtype(x.dtype, jnp.floating) else x,
    "Nearest integer, halves to even.",
    kernel="Round",
    dtypes=REAL,
    differentiable=None,
)
is_nan = unary(jnp.isnan, "Where NaN.", kernel="IsNan", dtypes="float", differentiable=False)
is_inf = unary(jnp.isinf, "Where infinite.", kernel="IsInf", dtypes="float", differentiable=False)
is_finite = unary(
    jnp.isfinite, "Where finite.", kernel="IsFinite", dtypes="float", differentiable=False
)
real = unary(jnp.real, "Real part.", kernel="Real", dtypes=NUMBER, parameter="input")
conj = unary(jnp.conj, "Complex conjugate; real x stays.", kernel="Conj", dtypes=NUMBER)
_IMAG = unary(jnp.imag, "", kernel="Imag", dtypes="complex")
_IMAG_OF_REAL = unary(jnp.zeros_like, "", kernel="ZerosLike", differentiable=None)
_ANGLE = unary(
    lambda x: angles.atan2(jnp.imag(x), jnp.real(x)),
    "",
    kernel="Angle",
    dtypes="complex",
    kernels=True,
)
_ANGLE_OF_REAL = unary(
    lambda x: jnp.where(x < 0, jnp.asarray(_math.pi, x.dtype), 0),
    "",
    kernel="Angle",
    dtypes="float",
    differentiable=None,
)


@maps_composites
def imag(input: Any, name: str | None = None) -> Tensor:
    """Imaginary part; zeros without a gradient if `input` is real.

    >>> import tape_compat as tf
    >>> float(tf.math.imag(1.0 + 2.0j))
    2.0
    """
    x = convert(input)
    return (_IMAG if x.dtype.is_complex else _IMAG_OF_REAL)(x)


@maps_composites
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


@maps_composites
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


def _check_softmax(kernel: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], axis: float | None = None, **_: Any) -> None:
        rank = len(avals[0].shape)
        if rank == 0:
            raise invalid("logits must have >= 1 dimension, got []", kernel)
        if axis is not None and not -rank <= axis < rank:
            raise invalid(
                f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
                f"dimensions in the input. Received: dim={axis}",
                kernel,
            )
        if axis is not None and axis != int(axis):
            raise invalid(f"Requires start <= limit when delta > 0: {axis + 1}/{axis}", "Range")

    return check


@op(arrays=1, kernel="Softmax", dtypes="float", check=_check_softmax("Softmax"))
def softmax(logits, axis=None, name=None):
    """exp(x) / sum(exp(x)) along `axis` (default: the last).

    Raises: InvalidArgumentError for a scalar or an axis out of range.

    >>> import tape_compat as tf
    >>> tf.nn.softmax([0.0, 0.0]).numpy().tolist()
    [0.5, 0.5]
    """
    return _softmax(logits, -1 if axis is None else int(axis))


@op(arrays=1, kernel="LogSoftmax", dtypes="float", check=_check_softmax("LogSoftmax"))
def log_softmax(logits, axis=None, name=None):
    """log(softmax(x)) along `axis` (default: the last), exact for small probabilities.

    Raises: InvalidArgumentError for a scalar or an axis out of range.

    >>> import tape_compat as tf
    >>> tf.nn.log_softmax([0.0, -1000.0]).numpy().tolist()
    [0.0, -1000.0]
    """
    return _log_softmax(logits, -1 if axis is None else int(axis))


softsign = unary(
    rules.softsign, "x / (1 + |x|).", kernel="Softsign", dtypes="float", parameter="features"
)


@op(arrays=1, kernel="Lgamma", dtypes="float")
def lbeta(x, name=None):
    """log |Beta(x)| over the last axis.

    >>> import tape_compat as tf
    >>> tf.math.lbeta([1.0, 2.0]).numpy().round(2).tolist()
    -0.6899999976158142
    """
    return jnp.sum(special_pairs.lgamma(x), -1) - special_pairs.lgamma(jnp.sum(x, -1))


_pair = partial(binary, dtypes="float", kernels=True)
_of_order = partial(_pair, parameters=("a", "x"))
igamma = _of_order(
    special_pairs.igamma, "Lower regularized incomplete gamma P(a, x).", kernel="Igamma"
)
igammac = _of_order(
    special_pairs.igammac, "Upper regularized incomplete gamma Q(a, x).", kernel="Igammac"
)
zeta = _pair(
    special_pairs.zeta,
    "Hurwitz zeta function of x and q.",
    kernel="Zeta",
    parameters=("x", "q"),
)
polygamma = _of_order(
    special_pairs.polygamma, "Derivative number `a` of digamma at x.", kernel="Polygamma"
)


operators.define(neg=negative, abs=abs)
name_ops(globals())

"""Functions of the elements of one array."""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from ...values.tensor import Tensor
from .. import elementwise as _of
from ..casting import cast
from ..comparison import equal, invert, less, logical_not
from ..creation import fill, ones_like
from ..elementwise import imag as _imag
from ..selection import where
from ..shapes import identity, shape
from .arrays import as_array, as_inexact, is_inexact
from .declare import name_rows, of_one

abs = of_one(_of.abs, "Absolute value; of complex x, a real number.")
absolute = of_one(_of.abs, "The same as `abs`.")
fabs = of_one(_of.abs, "Absolute value; integers stay such.")
negative = of_one(_of.negative, "-x.")
positive = of_one(identity, "x.")
square = of_one(_of.square, "x * x.")
reciprocal = of_one(_of.reciprocal, "1 / x, of floats and complex numbers.")
conj = of_one(_of.conj, "Complex conjugate; real x stays.")
conjugate = of_one(_of.conj, "The same as `conj`.")
sqrt = of_one(_of.sqrt, "Square root.", inexact=True)
exp = of_one(_of.exp, "e to the power x.", inexact=True)
expm1 = of_one(_of.expm1, "exp(x) - 1, exact near 0.", inexact=True)
exp2 = of_one(lambda x: 2**x, "2 to the power x.", inexact=True)
log = of_one(_of.log, "Natural logarithm.", inexact=True)
log1p = of_one(_of.log1p, "log(1 + x), exact near 0.", inexact=True)
log2 = of_one(lambda x: log(x) / np.log(2), "Logarithm to the base 2.", inexact=True)
log10 = of_one(lambda x: log(x) / np.log(10), "Logarithm to the base 10.", inexact=True)
sin = of_one(_of.sin, "Sine of x, in radians.", inexact=True)
cos = of_one(_of.cos, "Cosine of x, in radians.", inexact=True)
tan = of_one(_of.tan, "Tangent of x, in radians.", inexact=True)
sinh = of_one(_of.sinh, "Hyperbolic sine.", inexact=True)
cosh = of_one(_of.cosh, "Hyperbolic cosine.", inexact=True)
tanh = of_one(_of.tanh, "Hyperbolic tangent.", inexact=True)
arcsin = of_one(_of.asin, "Inverse sine, in radians.", inexact=True)
arccos = of_one(_of.acos, "Inverse cosine, in radians.", inexact=True)
arctan = of_one(_of.atan, "Inverse tangent, in radians.", inexact=True)
arcsinh = of_one(_of.asinh, "Inverse hyperbolic sine.", inexact=True)
arccosh = of_one(_of.acosh, "Inverse hyperbolic cosine.", inexact=True)
arctanh = of_one(_of.atanh, "Inverse hyperbolic tangent.", inexact=True)
deg2rad = of_one(lambda x: x * (np.pi / 180.0), "Degrees as radians.", inexact=True)
rad2deg = of_one(lambda x: x * (180.0 / np.pi), "Radians as degrees.", inexact=True)
floor = of_one(_of.floor, "Rounded down.", inexact=True)
ceil = of_one(_of.ceil, "Rounded up.", inexact=True)
fix = of_one(lambda x: where(x < 0, _of.ceil(x), _of.floor(x)), "Rounded towards 0.", inexact=True)
isnan = of_one(_of.is_nan, "Where NaN.", inexact=True)
isfinite = of_one(_of.is_finite, "Where finite.", inexact=True)


def _cube_root(x: Tensor) -> Tensor:
    root = _of.abs(x) ** (1.0 / 3)
    return where(x < 0, -root, root)


def _sinc(x: Tensor) -> Tensor:
    turned = x * np.pi
    return where(equal(x, 0), ones_like(x), _of.sin(turned) / turned)


def _negative_sign(x: Tensor) -> Tensor:
    return fill(shape(x), False) if x.dtype.is_bool else less(x, cast(0, x.dtype))


def _flipped(x: Tensor) -> Tensor:
    return logical_not(x) if x.dtype.is_bool else invert(x)


cbrt = of_one(_cube_root, "Cube root.", inexact=True)
sinc = of_one(_sinc, "sin(pi x) / (pi x), and 1 at 0.", inexact=True)
signbit = of_one(_negative_sign, "Where x < 0.")
bitwise_not = of_one(_flipped, "Bits flipped; of bools, not x.")
iscomplex = of_one(lambda x: _imag(x) != 0, "Where the imaginary part is not 0.")
isreal = of_one(lambda x: _imag(x) == 0, "Where the imaginary part is 0.")


def real(val: Any) -> Tensor:
    """Real part."""
    return _of.real(as_array(val))


def imag(val: Any) -> Tensor:
    """Imaginary part; zeros of real numbers."""
    return _imag(as_array(val))


def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Tensor:
    """-1, 0 or 1; x / |x| if complex.

    Raises: ValueError for `out`, `where` and other options of NumPy's.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.sign([-3.0, 0.0]).numpy().tolist()
    [-1.0, 0.0]
    """
    if out:
        raise ValueError("tf.numpy doesnt support setting out.")
    if where:
        raise ValueError("tf.numpy doesnt support setting where.")
    if kwargs:
        raise ValueError(f"tf.numpy doesnt support setting {kwargs.keys()}")
    return _of.sign(as_array(x))


def around(a: Any, decimals: int = 0) -> Tensor:
    """`a` rounded to so many decimals, halves to even. Integers stay such.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.around([1.25, 3.5]).numpy().tolist()
    [1.0, 4.0]
    """
    a = as_array(a)
    if not is_inexact(a) and decimals >= 0:
        return a
    x = as_inexact(a)
    scale = cast(10.0 ** _math.fabs(decimals), x.dtype)
    if decimals < 0:
        return cast(_of.round(x / scale) * scale, a.dtype)
    return cast(_of.round(x * scale) / scale, a.dtype)


def round(a: Any, decimals: int = 0) -> Tensor:
    """The same as `around`."""
    return around(a, decimals)


def angle(z: Any, deg: bool = False) -> Tensor:
    """The argument of complex numbers, in radians or degrees; 0 or pi (float32) of real ones.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.angle([1j, -1.0], deg=True).numpy().tolist()
    [90.0, 180.0]
    """
    x = as_inexact(z)
    y = where(x < 0, np.pi, 0) if x.dtype.is_floating else _of.angle(x)
    return rad2deg(y) if deg else y


def isinf(x: Any) -> Any:
    """Where floats are infinite; False for other dtypes.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.isinf(tf.constant([1.0, float("inf")])).numpy().tolist()
    [False, True]
    """
    x = as_array(x)
    return _of.is_inf(x) if x.dtype.is_floating else False


def isneginf(x: Any) -> Any:
    """Where floats are -inf; False for other dtypes.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.isneginf([1.0, float("-inf")]).numpy().tolist()
    [False, True]
    """
    x = as_array(x)
    return equal(x, -np.inf) if x.dtype.is_floating else False


def isposinf(x: Any) -> Any:
    """Where floats are inf; False for other dtypes.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.isposinf([1.0, float("inf")]).numpy().tolist()
    [False, True]
    """
    x = as_array(x)
    return equal(x, np.inf) if x.dtype.is_floating else False


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of `x` is complex.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.iscomplexobj([1j])
    True
    """
    return as_array(x).dtype.is_complex


def isrealobj(x: Any) -> bool:
    """Whether the dtype of `x` is not complex.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.isrealobj([1j])
    False
    """
    return not iscomplexobj(x)


name_rows(globals())

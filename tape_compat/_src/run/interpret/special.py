"""Special functions that NumPy lacks, element by element in C, or by Python's `math`.

SciPy has them all, but importing `scipy.special` takes 100 to 200 ms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.native import KERNELS
from .rule import Function

OF_EACH: Any = getattr(KERNELS, "of_each", None)
_BY_KERNEL = frozenset(map(np.dtype, ("float32", "float64")))


def mapped(function: Function) -> Function:
    """A function of Python floats, over an array."""

    def over(x: Any) -> Any:
        flat = map(function, np.ravel(x).tolist())
        return np.fromiter(flat, x.dtype, count=x.size).reshape(x.shape)

    return over


def _by_kernel(number: int, function: Function) -> Function:
    """The same by the function of this number in C."""
    by_python = mapped(function)

    def over(x: Any) -> Any:
        if x.dtype not in _BY_KERNEL:
            return by_python(x)
        found = np.empty(x.shape, x.dtype)
        OF_EACH(number, np.ascontiguousarray(x), found)
        return found

    return by_python if OF_EACH is None else over


def log_gamma(x: float) -> float:
    """Logarithm of the absolute value of Gamma; infinite at its poles and out of range."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


#: Polynomials of Giles, Approximating the erfinv function (2012), in single precision, highest
#: power first: where w = -log(1 - x^2) is below 5, of w - 2.5; elsewhere of sqrt(w) - 3.
_CENTRAL = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    found = np.float32(coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * x + np.float32(coefficient)
    return found


def inverse_error(x: Any) -> Any:
    """The inverse of erf in float32, as XLA has it."""
    w = -np.log1p(-x * x)
    found = _polynomial(_CENTRAL, w - np.float32(2.5))
    tail = w >= 5
    if np.any(tail):
        found = np.where(tail, _polynomial(_TAIL, np.sqrt(w) - np.float32(3)), found)
    return np.where(np.abs(x) == 1, x * np.float32(np.inf), found * x)


SPECIAL: dict[str, Function] = {
    "erf": _by_kernel(0, math.erf),
    "erfc": _by_kernel(1, math.erfc),
    "lgamma": _by_kernel(2, log_gamma),
}

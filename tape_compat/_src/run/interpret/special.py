"""Special functions that NumPy lacks, by Python's `math`, element by element, or by series.

SciPy has them all, but importing `scipy.special` takes 100 to 200 ms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .rule import Function


def _mapped(function: Function) -> Function:
    """A function of Python floats, over an array."""

    def over(x: Any) -> Any:
        flat = map(function, np.ravel(x).tolist())
        return np.fromiter(flat, x.dtype, count=x.size).reshape(x.shape)

    return over


def _lgamma(x: float) -> float:
    """Logarithm of the absolute value of Gamma; infinite at its poles and out of range."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def _asymptotic(x: Any) -> Any:
    """The logarithmic derivative of Gamma for x of 6 and more; Abramowitz and Stegun, 6.3.18."""
    z = 1.0 / (x * x)
    series = 1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12)))
    return np.log(x) - 0.5 / x - z * (1 / 12 - z * (1 / 120 - z * series))


def _digamma(x: Any) -> Any:
    """By psi(x) = psi(x + 1) - 1 / x up to 6, and for negative x by reflection."""
    dtype, x = x.dtype, np.asarray(x, np.float64)
    positive = np.where(x <= 0, 1.0 - x, x)
    below = np.zeros_like(x)
    for _ in range(6):
        small = positive < 6
        below = below + np.where(small, 1.0 / positive, 0.0)
        positive = np.where(small, positive + 1.0, positive)
    found = _asymptotic(positive) - below
    angle = np.pi * (x - np.rint(x))
    reflected = np.where(x == np.floor(x), np.nan, found - np.pi / np.tan(angle))
    return np.where(x <= 0, reflected, found).astype(dtype)


def _inverse_error(x: float) -> float:
    """By Newton's method with Halley's correction, from a first guess of Winitzki's."""
    if not abs(x) < 1.0:
        return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan
    if x == 0.0:
        return x
    size = abs(x)
    log = math.log1p(-size * size)
    a = 2 / (math.pi * 0.147) + log / 2
    y = math.sqrt(math.sqrt(a * a - log / 0.147) - a)
    for _ in range(3):
        error = (1.0 - size - math.erfc(y)) if size > 0.5 else math.erf(y) - size
        step = error / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        y -= step / (1 + y * step)
    return math.copysign(y, x)


SPECIAL: dict[str, Function] = {
    "erf": _mapped(math.erf),
    "erfc": _mapped(math.erfc),
    "erf_inv": _mapped(_inverse_error),
    "lgamma": _mapped(_lgamma),
    "digamma": _digamma,
}

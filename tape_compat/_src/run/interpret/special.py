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


def _first_guess(size: Any) -> Any:
    """The inverse of erf in [0, 1) to two or three digits, by Winitzki's formula."""
    log = np.log1p(-size * size)
    half = 2 / (np.pi * 0.147) + log / 2
    return np.sqrt(np.maximum(np.sqrt(half * half - log / 0.147) - half, 0.0))


def _inverse_error(x: Any) -> Any:
    """By Halley's method; from 1/2 on with what is left to 1, which is exact."""
    dtype, x = x.dtype, np.asarray(x, np.float64)
    size = np.where(np.abs(x) < 1, np.abs(x), 0.0)
    y = _first_guess(size)
    for _ in range(3):
        error = np.where(size < 0.5, _error(y) - size, (1.0 - size) - _rest(y))
        step = error / (2 / math.sqrt(math.pi) * np.exp(-y * y))
        y = y - step / (1 + y * step)
    beyond = np.where(np.abs(x) == 1, np.inf, np.nan)
    return np.copysign(np.where(np.abs(x) < 1, y, beyond), x).astype(dtype)


_error, _rest = _mapped(math.erf), _mapped(math.erfc)

SPECIAL: dict[str, Function] = {
    "erf": _error,
    "erfc": _rest,
    "erf_inv": _inverse_error,
    "lgamma": _mapped(_lgamma),
    "digamma": _digamma,
}

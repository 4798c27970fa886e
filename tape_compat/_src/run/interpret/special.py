"""Special functions that NumPy lacks, element by element in C, or by series.

SciPy has them all, but importing `scipy.special` takes 100 to 200 ms.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np
from jax import lax

from ...core.native import KERNELS
from ...core.x64 import in_x64
from .rule import Function

OF_EACH: Any = getattr(KERNELS, "of_each", None)
OF_SETS: Any = getattr(KERNELS, "of_sets", None)


def _by_kernel(number: int) -> Function:
    """The function of this number in C."""

    def over(x: Any) -> Any:
        found = np.empty(x.shape, x.dtype)
        OF_EACH(number, np.ascontiguousarray(x), found)
        return found

    return over


def _of_sets(number: int, by_xla: Any, ordinary: Function) -> Function:
    """The function of pairs, or of three numbers, that has this number in C, where these are
    ordinary ones. At the ends it has TensorFlow's values, and XLA its own."""

    def over(*arrays: Any) -> Any:
        sets = np.stack(np.broadcast_arrays(*arrays))
        found = np.empty(sets.shape[1:], sets.dtype)
        OF_SETS(number, sets, found)
        inside = ordinary(*sets) & np.isfinite(sets).all(axis=0)
        if not inside.all():
            found[~inside] = _in_groups(by_xla, sets[:, ~inside])
        return found

    return over


#: How many sets are computed at a time by XLA, so that one program is enough.
_GROUP = 64


def _in_groups(function: Any, sets: Any) -> Any:
    """A function of JAX's of sets of numbers, however many there are."""
    function, count = jax.jit(function), sets.shape[1]
    whole = np.ones((len(sets), -(-count // _GROUP) * _GROUP), sets.dtype)
    whole[:, :count] = sets
    groups = [in_x64(function, *whole[:, i : i + _GROUP]) for i in range(0, count, _GROUP)]
    return np.concatenate([np.asarray(group) for group in groups])[:count]


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


def _inverse_error_single(x: Any) -> Any:
    """In float32, as XLA has it."""
    w = -np.log1p(-x * x)
    found = _polynomial(_CENTRAL, w - np.float32(2.5))
    tail = w >= 5
    if np.any(tail):
        found = np.where(tail, _polynomial(_TAIL, np.sqrt(w) - np.float32(3)), found)
    return np.where(np.abs(x) == 1, x * np.float32(np.inf), found * x)


def _inverse_error(x: Any) -> Any:
    """By Halley's method; from 1/2 on with what is left to 1, which is exact."""
    if x.dtype == np.float32:
        return _inverse_error_single(x)
    dtype, x = x.dtype, np.asarray(x, np.float64)
    size = np.where(np.abs(x) < 1, np.abs(x), 0.0)
    y = _first_guess(size)
    for _ in range(3):
        error = np.where(size < 0.5, _error(y) - size, (1.0 - size) - _rest(y))
        step = error / (2 / math.sqrt(math.pi) * np.exp(-y * y))
        y = y - step / (1 + y * step)
    beyond = np.where(np.abs(x) == 1, np.inf, np.nan)
    return np.copysign(np.where(np.abs(x) < 1, y, beyond), x).astype(dtype)


_error, _rest = _by_kernel(0), _by_kernel(1)

#: Their numbers in C.
_EACH = {"erf": 0, "erfc": 1, "lgamma": 2, "bessel_i0e": 3, "bessel_i1e": 4}


def _of_gamma(a: Any, x: Any) -> Any:
    return (a > 0) & (x >= 0)


#: With what XLA has, and where it and C have the same.
_SETS: dict[str, tuple[int, Any, Function]] = {
    "igamma": (0, lax.igamma, _of_gamma),
    "igammac": (1, lax.igammac, _of_gamma),
    "igamma_grad_a": (2, lax.igamma_grad_a, _of_gamma),
    "zeta": (3, lax.zeta, lambda x, q: (x > 1) & (q > 0)),
    "regularized_incomplete_beta": (
        5,
        lax.betainc,
        lambda a, b, x: (a > 0) & (b > 0) & (x >= 0) & (x <= 1),
    ),
}

SPECIAL: dict[str, Function] = {"digamma": _digamma}
if OF_EACH is not None:  # else XLA does them
    SPECIAL |= {name: _by_kernel(number) for name, number in _EACH.items()}
    SPECIAL |= {name: _of_sets(*row) for name, row in _SETS.items()}
    SPECIAL["erf_inv"] = _inverse_error

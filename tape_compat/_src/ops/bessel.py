"""Bessel functions of order 0 and 1: J, Y and K."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from . import angles, bessel_series as series
from .declare import name_ops, unary
from .rules import rule


def _sum(coefficients: Sequence[float], t: Any) -> Any:
    """A sum of Chebyshev polynomials, by Clenshaw's recurrence."""
    last, before = jnp.zeros_like(t), jnp.zeros_like(t)
    for c in reversed(coefficients[1:]):
        last, before = 2 * t * last - before + c, last
    return t * last - before + coefficients[0]


def _in_32_bits(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function whose 16-bit arguments are computed with in 32 bits."""

    def computed(x: Any) -> Any:
        short = jnp.finfo(x.dtype).bits < 32
        return function(x.astype(jnp.float32)).astype(x.dtype) if short else function(x)

    return computed


def _where(near: Any, x: Any, below: Any, above: Any, edge: float) -> Any:
    """`below(x)` where `near`, else `above(x)`; each is given numbers that it is made for."""
    low, high = jnp.where(near, x, edge), jnp.where(near, edge, x)
    return jnp.where(near, below(low), above(high))


def _wave(p: Sequence[float], q: Sequence[float], x: Any, turn: float) -> tuple[Any, Any]:
    """J and Y for x above 8: an amplitude, and cosine and sine of an angle."""
    t = 2 * (8 / x) ** 2 - 1
    height, width = _sum(p, t), _sum(q, t) / x
    cosine, sine = angles.cos(x - turn), angles.sin(x - turn)
    scale = jnp.sqrt(2 / (np.pi * x))
    return scale * (height * cosine - width * sine), scale * (height * sine + width * cosine)


def _j0(x: Any) -> Any:
    x = jnp.abs(x)
    return _where(
        x <= 8,
        x,
        lambda x: _sum(series.J0_SMALL, 2 * (x / 8) ** 2 - 1),
        lambda x: _wave(series.P0, series.Q0, x, np.pi / 4)[0],
        8.0,
    )


def _j1(x: Any) -> Any:
    size = jnp.abs(x)
    found = _where(
        size <= 8,
        size,
        lambda x: x * _sum(series.J1_SMALL, 2 * (x / 8) ** 2 - 1),
        lambda x: _wave(series.P1, series.Q1, x, 3 * np.pi / 4)[0],
        8.0,
    )
    return jnp.sign(x) * found


def _positive(function: Callable[[Any], Any], at_zero: float) -> Callable[[Any], Any]:
    """A function of positive numbers, with its value at 0 below as well, as in TensorFlow."""

    def computed(x: Any) -> Any:
        found = function(jnp.where(x > 0, x, 1))
        return jnp.where(x > 0, found, jnp.where(x <= 0, at_zero, jnp.nan))

    return _in_32_bits(computed)


def _y0(x: Any) -> Any:
    return _where(
        x <= 8,
        x,
        lambda x: _sum(series.Y0_SMALL, 2 * (x / 8) ** 2 - 1) + 2 / np.pi * jnp.log(x) * _j0(x),
        lambda x: _wave(series.P0, series.Q0, x, np.pi / 4)[1],
        8.0,
    )


def _y1(x: Any) -> Any:
    return _where(
        x <= 8,
        x,
        lambda x: (
            x * _sum(series.Y1_SMALL, 2 * (x / 8) ** 2 - 1)
            + 2 / np.pi * (jnp.log(x) * _j1(x) - 1 / x)
        ),
        lambda x: _wave(series.P1, series.Q1, x, 3 * np.pi / 4)[1],
        8.0,
    )


def _k0_small(x: Any) -> Any:
    return _sum(series.K0_SMALL, 2 * (x / 2) ** 2 - 1) - jnp.log(x) * special.i0(x)


def _k1_small(x: Any) -> Any:
    smooth = x * _sum(series.K1_SMALL, 2 * (x / 2) ** 2 - 1)
    return smooth + jnp.log(x) * special.i1(x) + 1 / x


def _k(small: Callable[[Any], Any], large: Sequence[float], scaled: bool) -> Callable[[Any], Any]:
    """A modified Bessel function K, or exp(x) K(x)."""

    def below(x: Any) -> Any:
        return small(x) * jnp.exp(x) if scaled else small(x)

    def above(x: Any) -> Any:
        found = _sum(large, 4 / x - 1) / jnp.sqrt(x)
        return found if scaled else found * jnp.exp(-x)

    return _positive(lambda x: _where(x <= 2, x, below, above, 2.0), np.inf)


_J0_OF = rule(_in_32_bits(_j0), lambda dx, y, x: -dx * _J1_OF(x))
_J1_OF = rule(
    _in_32_bits(_j1),
    lambda dx, y, x: dx * jnp.where(x == 0, 0.5, _J0_OF(x) - y / jnp.where(x == 0, 1, x)),
)
_Y0_OF = rule(_positive(_y0, -np.inf), lambda dx, y, x: -dx * _Y1_OF(x))
_Y1_OF = rule(_positive(_y1, -np.inf), lambda dx, y, x: dx * (_Y0_OF(x) - y / x))
_K0_OF = rule(_k(_k0_small, series.K0_LARGE, False), lambda dx, y, x: -dx * _K1_OF(x))
_K1_OF = rule(_k(_k1_small, series.K1_LARGE, False), lambda dx, y, x: -dx * (_K0_OF(x) + y / x))
_K0E_OF = rule(_k(_k0_small, series.K0_LARGE, True), lambda dx, y, x: dx * (y - _K1E_OF(x)))
_K1E_OF = rule(
    _k(_k1_small, series.K1_LARGE, True), lambda dx, y, x: dx * (y * (1 - 1 / x) - _K0E_OF(x))
)

_wave_like = partial(unary, dtypes="float", kernels=True)
bessel_j0 = _wave_like(_J0_OF, "Bessel function J0.", kernel="BesselJ0")
bessel_j1 = _wave_like(_J1_OF, "Bessel function J1.", kernel="BesselJ1")
bessel_y0 = _wave_like(_Y0_OF, "Bessel function Y0 of positive x.", kernel="BesselY0")
bessel_y1 = _wave_like(_Y1_OF, "Bessel function Y1 of positive x.", kernel="BesselY1")
bessel_k0 = unary(_K0_OF, "Bessel function K0 of positive x.", kernel="BesselK0", dtypes="float")
bessel_k1 = unary(_K1_OF, "Bessel function K1 of positive x.", kernel="BesselK1", dtypes="float")
bessel_k0e = unary(_K0E_OF, "exp(x) K0(x) of positive x.", kernel="BesselK0e", dtypes="float")
bessel_k1e = unary(_K1E_OF, "exp(x) K1(x) of positive x.", kernel="BesselK1e", dtypes="float")

name_ops(globals())

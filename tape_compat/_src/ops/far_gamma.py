"""Incomplete gamma functions of large orders, where XLA's sums have too many terms, or never end: a
term of the series is the one before times x / (a + n), which is 1 where a + 1 is rounded to a.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

#: An `a` from which they are for.
FAR = 1e6


class _Terms(NamedTuple):
    """The terms of DLMF 8.12.3 near x = a; elsewhere the functions are 0 or 1.

    near: what the error function is of. scale: a density. rest: what stands beside that. by_a: the
    derivative of the lower function, by that scale.
    """

    near: Any
    scale: Any
    rest: Any
    by_a: Any


def _terms(a: Any, x: Any) -> _Terms:
    m = (x - a) / a
    small = jnp.abs(m) < 0.1
    least = jnp.where(small, m, 0)
    series = jnp.zeros_like(m)
    for n in range(19, 1, -1):
        series = 1 / n - least * series
    logarithm = lax.log1p(m)
    other = jnp.where(small, 1, m)
    half = jnp.where(small, series, (other - jnp.where(small, 1, logarithm)) / (other * other))
    root = jnp.sqrt(2 * half)
    eta = m * root
    power = a * (m * m * half)
    scale = jnp.exp(-power) / jnp.sqrt(2 * math.pi * a)
    rest = -1 / 3 + eta * (1 / 12 + eta * (-2 / 135 + eta * (1 / 864 + eta / 2835)))
    rest = rest + (-1 / 540 - eta / 288) / a
    slope = 1 / 12 + eta * (-4 / 135 + eta * (3 / 864 + eta * (4 / 2835)))
    ratio = jnp.where(m == 0, 1, logarithm / jnp.where(m == 0, 1, eta))
    by_a = -(ratio + rest * (logarithm - 0.5 / a) - slope / (root * a))
    return _Terms(jnp.sign(m) * jnp.sqrt(power), scale, rest, by_a)


def _apart(by_xla: Any, far: Any) -> Any:
    """What XLA has, but of large `a`."""

    def function(a: Any, x: Any) -> Any:
        large = (a > FAR) & (a < jnp.inf) & (x > 0) & (x < jnp.inf)
        a_far, x_far = jnp.where(large, a, 2 * FAR), jnp.where(large, x, 2 * FAR)
        near = by_xla(jnp.where(large, 1, a), jnp.where(large, 1, x))
        return jnp.where(large, far(a_far, x_far), near).astype(x.dtype)

    return function


def _lower(a: Any, x: Any) -> Any:
    terms = _terms(a, x)
    return lax.erfc(-terms.near) / 2 - terms.scale * terms.rest


def _upper(a: Any, x: Any) -> Any:
    terms = _terms(a, x)
    return lax.erfc(terms.near) / 2 + terms.scale * terms.rest


def _lower_by_a(a: Any, x: Any) -> Any:
    terms = _terms(a, x)
    return terms.scale * terms.by_a


def _draw_by_a(a: Any, x: Any) -> Any:
    """How a draw x moves with `a`: the derivative of the lower function by `a`, by its density."""
    return -_terms(a, x).by_a * (x / a) * (1 + 1 / (12 * a))


igamma = _apart(lax.igamma, _lower)
igammac = _apart(lax.igammac, _upper)
igamma_grad_a = _apart(lax.igamma_grad_a, _lower_by_a)
random_gamma_grad = _apart(lax.random_gamma_grad, _draw_by_a)

"""Special functions: integrals that have no closed form, the incomplete beta function."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from ..core.avals import Aval
from ..core.dtypes import float32, float64
from ..core.refuse import invalid, not_allowed, shown
from . import special_pairs
from .declare import name_ops, op, unary
from .rules import rule

#: Distance of the nodes of the sum for Dawson's integral, and how many are taken on each side.
_STEP, _NODES = 0.2, 16
#: Below it the sum cancels, and so many terms of the series are exact.
_SMALL, _TERMS = 0.1, 7
#: Above it the series in 1 / x is exact (DLMF 7.12.1), and distances to nodes have no digits left.
_LARGE = 200


def _dawsn(x: Any) -> Any:
    """Dawson's integral. Source: Rybicki 1989, a sum of exponentials at the odd multiples of a step
    around x, whose error is exp(-(pi / (2 * step))**2); series where x is small or large."""
    dtype = x.dtype
    x = x.astype(jnp.promote_types(dtype, jnp.float32))
    size = jnp.abs(x)
    near = 2 * jnp.round(size / (2 * _STEP))  # the even multiple next to x
    rest = size - near * _STEP
    total = jnp.zeros_like(size)
    for k in range(1 - 2 * _NODES, 2 * _NODES, 2):
        total += jnp.exp(-lax.square(rest - k * _STEP)) / (near + k)
    square = lax.square(x)
    series = jnp.ones_like(square)
    for odd in range(2 * _TERMS + 1, 1, -2):
        series = 1 + square * -2 / odd * series
    found = jnp.where(size < _SMALL, size * series, total / math.sqrt(math.pi))
    part = 0.5 / square
    far = 0.5 / size * (1 + part * (1 + part * (3 + part * 15)))
    found = jnp.where(size > _LARGE, far, found)
    return jnp.copysign(found, x).astype(dtype)


def _spence_slope(x: Any) -> Any:
    return jnp.where(x == 1, -1, lax.log(x) / jnp.where(x == 1, 1, 1 - x)).astype(x.dtype)


def _angle(x: Any) -> Any:
    return jnp.asarray(math.pi / 2, x.dtype) * lax.square(x)


#: JAX derives what it computes these by. Source: TF math_grad.py.
_spence = rule(special.spence, lambda dx, y, x: dx * _spence_slope(x))


def _expint_of(x: Any) -> Any:
    """JAX's loop for negative numbers does not end for those next to 0, as -1e-8 in float64."""
    found = special.expi(jnp.where(x < 0, jnp.ones((), x.dtype), x))
    return jnp.where(x < 0, jnp.nan, jnp.where(x == 0, -jnp.inf, found))


_expint = rule(
    _expint_of,
    lambda dx, y, x: dx * lax.exp(x) / x,
)
_fresnel_sin = rule(lambda x: special.fresnel(x)[0], lambda dx, y, x: dx * lax.sin(_angle(x)))
_fresnel_cos = rule(lambda x: special.fresnel(x)[1], lambda dx, y, x: dx * lax.cos(_angle(x)))

dawsn = unary(
    rule(_dawsn, lambda dx, y, x: dx * (1 - 2 * x * y)),
    "Dawson's integral exp(-x**2) * integral of exp(t**2) from 0 to x.",
    kernel="Dawsn",
    dtypes="float",
)
expint = unary(
    _expint,
    "Exponential integral: of exp(t) / t from -inf to x; NaN for negative x.",
    kernel="Expint",
    dtypes="float",
)
fresnel_cos = unary(
    _fresnel_cos,
    "Fresnel's integral of cos(pi t**2 / 2) from 0 to x.",
    kernel="FresnelCos",
    dtypes="float",
)
fresnel_sin = unary(
    _fresnel_sin,
    "Fresnel's integral of sin(pi t**2 / 2) from 0 to x.",
    kernel="FresnelSin",
    dtypes="float",
)
spence = unary(
    _spence,
    "Spence's integral of log(t) / (1 - t) from 1 to x, the dilogarithm of 1 - x.",
    kernel="Spence",
    dtypes="float",
)


def _check_betainc(avals: tuple[Aval, ...]) -> None:
    """Each is a scalar or has the shape of the others."""
    if avals[0].dtype not in (float32, float64):
        raise not_allowed(avals[0].dtype, "float, double", "Betainc")
    a, b, x = [aval.shape for aval in avals]
    for one, other, names in ((a, b, "a and b"), (a, x, "a and x"), (b, x, "b and x")):
        if one and other and one != other:
            raise invalid(
                f"Shapes of {names} are inconsistent: {shown(one)} vs. {shown(other)}", "Betainc"
            )


@op(kernel="Betainc", check=_check_betainc, kernels=True)
def betainc(a, b, x, name=None):
    """Regularized incomplete beta function I_x(a, b), for a and b above 0 and x in [0, 1].

    `a`, `b` and `x` have one shape, or are scalars. Only `x` has a gradient.

    >>> import tape_compat as tf
    >>> tf.math.betainc(1.0, 2.0, 0.5).numpy().round(4).tolist()
    0.75
    """
    return special_pairs.betainc(a, b, x)


name_ops(globals())

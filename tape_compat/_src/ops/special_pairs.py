"""Incomplete gamma and beta functions, zeta, polygamma: on processors by a kernel of our own.

XLA takes all numbers through as many rounds as the worst of them, by programs that take a second to
compile; `native/special.c` takes each by itself. Values at the ends are TensorFlow's in both forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from ..core import kernels
from ..core.kernels import PROGRAMS, WIDTH
from .rules import rule

_TARGET = "tape_compat_special"


def available() -> bool:
    """Whether this processor, and XLA as it is installed, take the kernel."""
    return WIDTH > 0 and kernels.available(
        "Special functions are left to XLA", **{_TARGET: "SPECIAL"}
    )


def _fit(shape: tuple[Any, ...]) -> bool:
    """Whether arrays are for the kernel, in the program that is traced."""
    return PROGRAMS.own and all(isinstance(n, int) for n in shape) and available()


_call = partial(kernels.call_function, _TARGET)


def _function(number: int, by_xla: Callable[..., Any], *partials: Any) -> Callable[..., Any]:
    """`by_xla`, by the kernel's function of this number where it fits, with these derivatives."""

    def of_arrays(*arrays: Any) -> Any:
        if not _fit(arrays[0].shape):
            return by_xla(*arrays)
        return lax.platform_dependent(*arrays, cpu=partial(_call, number), default=by_xla)

    ruled = rule(of_arrays, *partials)

    def function(*arrays: Any) -> Any:
        return ruled(*jnp.broadcast_arrays(*arrays))

    return function


def _no_second(dx: Any, z: Any, a: Any, x: Any) -> Any:
    raise NotImplementedError("Incomplete gamma functions have no second derivative by `a`.")


def _density(a: Any, x: Any) -> Any:
    return lax.exp((a - 1) * lax.log(x) - x - lax.lgamma(a))


#: An `a` from which XLA's sums of incomplete gamma functions have too many terms, or never end:
#: a term is the one before times x / (a + n), which is 1 where a + 1 is rounded to a.
FAR = 1e6


class _Terms(NamedTuple):
    """The terms of DLMF 8.12.3 near x = a; elsewhere the functions are 0 or 1.

    So x is taken for half or twice `a` where it lies outside of these.

    near: what the error function is of. scale: a density. rest: what stands beside that. by_a: the
    derivative of the lower function, by that scale.
    """

    near: Any
    scale: Any
    rest: Any
    by_a: Any


def _terms(a: Any, x: Any) -> _Terms:
    m = jnp.clip((x - a) / a, -0.5, 1)
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


def _by_a(by_xla: Any, far: Any) -> Any:
    """The same of a derivative by `a`, with TensorFlow's ends."""
    of_any = _apart(by_xla, far)

    def function(a: Any, x: Any) -> Any:
        found = jnp.where(jnp.isinf(a) | jnp.isinf(x), 0, of_any(a, x))
        found = jnp.where((a > 0) & (x > 0), found, jnp.nan)
        return jnp.where(x == 0, 0, found).astype(x.dtype)

    return function


_igamma_of_any = _apart(lax.igamma, _lower)
_igammac_of_any = _apart(lax.igammac, _upper)
_grad_a_of_any = _by_a(lax.igamma_grad_a, _lower_by_a)


def _igamma(a: Any, x: Any) -> Any:
    found = jnp.where((a == jnp.inf) & (x > 0), 0, _igamma_of_any(a, x))
    return jnp.where(x == 0, 0, jnp.where(a > 0, found, jnp.nan)).astype(x.dtype)


def _igammac(a: Any, x: Any) -> Any:
    found = jnp.where((a == jnp.inf) & (x >= 0) & (x < jnp.inf), 1, _igammac_of_any(a, x))
    found = jnp.where((a == jnp.inf) & (x == jnp.inf), 0, found)
    return jnp.where(a > 0, found, jnp.nan).astype(x.dtype)


def _igamma_grad_a(a: Any, x: Any) -> Any:
    """XLA's series loses as many digits as `a` has zeros: DLMF 8.8.5 takes the next `a` instead."""
    small = (a > 0) & (a < 0.1) & (x > 0) & (x <= 1)
    after = jnp.where(small, a + 1, a)
    step = lax.exp(a * lax.log(x) - x - lax.lgamma(after)) * (lax.log(x) - lax.digamma(after))
    return _grad_a_of_any(after, x) + jnp.where(small, step, 0)


#: The derivative of `igamma` by a.
igamma_grad_a = _function(
    2,
    _igamma_grad_a,
    _no_second,
    lambda dx, z, a, x: dx * (_density(a, x) * (lax.log(x) - lax.digamma(a))),
)

#: Lower and upper regularized incomplete gamma functions of a and x.
igamma = _function(
    0,
    _igamma,
    lambda da, z, a, x: da * igamma_grad_a(a, x),
    lambda dx, z, a, x: dx * _density(a, x),
)
igammac = _function(
    1,
    _igammac,
    lambda da, z, a, x: -(da * igamma_grad_a(a, x)),
    lambda dx, z, a, x: -(dx * _density(a, x)),
)

#: How a draw x of shape a moves with it.
random_gamma_grad = _function(6, _by_a(lax.random_gamma_grad, _draw_by_a), _no_second, _no_second)


def _zeta_by_reflection(x: Any, q: Any, left: Any) -> Any:
    """Of q, or for whole x where `left`, between poles. Source: DLMF 5.15.6, of the sum over all
    whole numbers, which has a period of 1: XLA starts a few terms behind q, before the poles."""
    behind = jnp.ceil(q) - q
    places = jnp.stack([jnp.where(left, behind, q), 1 - behind, 1 - q])
    near, other, far = lax.zeta(jnp.broadcast_to(x, places.shape), jnp.where(left, places, q))
    sign = jnp.where(jnp.mod(x, 2) == 0, 1, -1)
    both = jnp.where(jnp.isinf(near) & (behind <= 0.5), 0, other) + sign * near
    return jnp.where(left, both - sign * far, near)


def _zeta(x: Any, q: Any) -> Any:
    pole = (q <= 0) & (q == jnp.floor(q))
    far = jnp.where(q == 1, 1, jnp.where((q > 1) & ~pole, 0, jnp.inf))
    found = jnp.where(q == jnp.inf, 0, _zeta_by_reflection(x, q, (q < 0) & ~pole))
    found = jnp.where((q < 0) & (x != jnp.floor(x)), jnp.nan, found)
    found = jnp.where(jnp.isinf(x), far, found)
    found = jnp.where((x > 1) & ~jnp.isnan(q), found, jnp.nan)
    return jnp.where(x == 1, jnp.inf, found).astype(x.dtype)


#: Hurwitz' zeta function of x and q. As in TensorFlow it has no derivative by x.
zeta = _function(3, _zeta, None, lambda dq, z, x, q: dq * (-x * zeta(x + 1, q)))


def _polygamma_of_order(order: Any, x: Any) -> Any:
    size = lax.exp(lax.lgamma(order + 1)) * _zeta(order + 1, x)
    found = jnp.where(jnp.mod(order + 1, 2) == 1, -size, size)
    return jnp.where(order == jnp.floor(order), found, jnp.nan).astype(x.dtype)


_polygamma = _function(4, _polygamma_of_order, None, lambda dx, z, n, x: dx * polygamma(n + 1, x))


def _polygamma_or_digamma(order: Any, x: Any) -> Any:
    high = _polygamma(jnp.where(order > 0, order, 1), x)
    return jnp.where(order > 0, high, jnp.where(order == 0, digamma(x), jnp.nan))


_polygamma_of_any = rule(_polygamma_or_digamma, None, lambda dx, z, n, x: dx * polygamma(n + 1, x))


def polygamma(order: Any, x: Any) -> Any:
    """Derivative number `order` of digamma: digamma for 0, NaN if it is negative or no integer."""
    return _polygamma_of_any(*jnp.broadcast_arrays(order, x))


#: JAX's derivative of digamma is NaN at infinity.
digamma = rule(lax.digamma, lambda dx, y, x: dx * _polygamma(jnp.ones_like(x), x))
lgamma = rule(lax.lgamma, lambda dx, y, x: dx * digamma(x))


def _betainc(a: Any, b: Any, x: Any) -> Any:
    found = jnp.where(jnp.isinf(a) | jnp.isinf(b), jnp.nan, special.betainc(a, b, x))
    found = jnp.where(x == 0, 0, jnp.where(x == 1, 1, found))
    return jnp.where((a <= 0) | (b <= 0), jnp.nan, found).astype(x.dtype)


def _beta_density(dx: Any, y: Any, a: Any, b: Any, x: Any) -> Any:
    """Derivative by x. Source: TF math_grad.py, _BetaincGrad."""
    log_beta = lax.lgamma(a) + lax.lgamma(b) - lax.lgamma(a + b)
    return dx * lax.exp(special.xlog1py(b - 1, -x) + special.xlogy(a - 1, x) - log_beta)


#: The regularized incomplete beta function. As in TensorFlow it has no derivative but by x.
betainc = _function(5, _betainc, None, None, _beta_density)

"""Sine and its like, of large arrays on processors by a kernel of this library's own.

XLA calls the C library for each number; `native/angles.c` takes them in vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core import kernels
from ..core.kernels import PROGRAMS, WIDTH
from . import rules

_TARGET = "tape_compat_angles"

#: Fewer are left to XLA, which has one loop for them and what is around them: the kernel takes 64
#: as quickly, 4,096 in 0.2 to 0.6 of the time, a million in 0.02 to 0.06 (JAX 0.10).
LEAST = 512

#: Of the short ones it takes the nearest float32, and rounds again.
_DTYPES = ("float64", "float32", "float16", "bfloat16")


def available() -> bool:
    """Whether this processor, and XLA as it is installed, take the kernel."""
    return WIDTH > 0 and kernels.available("Angles are left to XLA", **{_TARGET: "ANGLES"})


def fit(arrays: tuple[Any, ...]) -> bool:
    """Whether arrays are for the kernel, in the program that is traced."""
    if not PROGRAMS.own or arrays[0].dtype.name not in _DTYPES:
        return False
    shape = lax.broadcast_shapes(*[x.shape for x in arrays])
    known = all(isinstance(n, int) for n in shape)
    return known and bool(math.prod(shape) >= LEAST) and available()


_call = partial(kernels.call_function, _TARGET)


def _function(number: int, by_xla: Callable[..., Any], *partials: Any) -> Callable[..., Any]:
    """`by_xla`, by the kernel's function of this number where it fits, with these derivatives."""

    def by_platform(*arrays: Any) -> Any:
        return lax.platform_dependent(*arrays, cpu=partial(_call, number), default=by_xla)

    quick = rules.rule(by_platform, *partials)

    def function(*arrays: Any) -> Any:
        if not fit(arrays):
            return by_xla(*arrays)
        return quick(*jnp.broadcast_arrays(*arrays))

    return function


def _of_square(x: Any) -> Any:
    return lax.rsqrt(1 - lax.square(x))


#: Functions of angles in radians, and their inverses.
sin = _function(0, lax.sin, lambda dx, y, x: dx * cos(x))
cos = _function(1, lax.cos, lambda dx, y, x: -(dx * sin(x)))
tan = _function(2, lax.tan, lambda dx, y, x: dx * (1 + lax.square(y)))
asin = _function(3, lax.asin, lambda dx, y, x: dx * _of_square(x))
acos = _function(4, lax.acos, lambda dx, y, x: -(dx * _of_square(x)))
atan = _function(5, rules.atan, lambda dx, y, x: dx * (1 / (1 + x * x)))

#: The angle of the point (x, y).
atan2 = _function(
    6,
    jnp.arctan2,
    lambda dy, z, y, x: dy * (x / (lax.square(y) + lax.square(x))),
    lambda dx, z, y, x: dx * (-y / (lax.square(y) + lax.square(x))),
)

"""Exponentials of matrices. Source: Higham, The scaling and squaring method for the matrix
exponential revisited (2005)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

#: Matrices are halved until their norm is below this, and then at most SQUARINGS times squared: by
#: Padé's approximants of the orders 13 and 7, whose errors are below a rounding so.
_LARGEST = {"float64": 5.371920351148152, "float32": 3.925724783138660}
SQUARINGS = 16

#: b(0), b(1), ... of the numerator; those of the denominator have another sign by turns.
_OF_13 = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_OF_7 = (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1)


def _approximant(a: Any, precise: bool) -> Any:
    """Padé's, of small matrices."""
    one = jnp.eye(a.shape[-1], dtype=a.dtype)
    b = [jnp.asarray(n, a.dtype) for n in (_OF_13 if precise else _OF_7)]
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one
    even = b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    if precise:
        odd += a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2)
        even += a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2)
    odd = a @ odd
    return jnp.linalg.solve(even - odd, even + odd)


def _of_many(a: Any) -> Any:
    """JAX takes matrices of a batch through the approximants of all orders and all squarings."""
    real = jnp.finfo(a.dtype).dtype
    norm = jnp.max(jnp.sum(jnp.abs(a), -2), -1, initial=0)
    _, exponent = jnp.frexp(lax.stop_gradient(norm) / _LARGEST[real.name])
    times = jnp.clip(exponent, 0, SQUARINGS + 1)
    scale = jnp.ldexp(jnp.ones_like(norm), -times)[..., None, None]
    found = _approximant(a * scale, real.name == "float64")

    def square(found: Any, i: Any) -> tuple[Any, None]:
        def squared(x: Any) -> Any:
            return jnp.where((i < times)[..., None, None], x @ x, x)

        return lax.cond(jnp.any(i < times), squared, lambda x: x, found), None

    found, _ = lax.scan(square, found, jnp.arange(SQUARINGS))
    return jnp.where((times > SQUARINGS)[..., None, None], jnp.nan, found)


def exponential(a: Any) -> Any:
    """exp(a) of matrices [..., n, n]; NaN where more than SQUARINGS would be needed."""
    if a.ndim == 2 or jnp.finfo(a.dtype).dtype.name not in _LARGEST:
        return jax.scipy.linalg.expm(a)
    return _of_many(a)

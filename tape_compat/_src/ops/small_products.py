"""Products of many rows by a very small matrix, as rotations of points, on processors.

XLA calls Eigen, which is made for large ones: 300,000 rows by 3 x 3 took 4 to 12 ms of float32 and
20 of float64, and take 0.6 and 0.8, also where the row is that of a cotangent.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.kernels import PROGRAMS
from .rules import rule

#: Rows and columns of the matrix: of more Eigen is as quick.
MOST = 3

#: Fewer rows are as quick by Eigen.
LEAST_ROWS = 4096


def _fit(a: Any, b: Any) -> bool:
    """Whether these are for sums, in the program that is traced."""
    if not PROGRAMS.own or b.ndim != 2 or a.ndim < 2 or a.dtype not in (jnp.float32, jnp.float64):
        return False
    if not all(isinstance(n, int) for n in (*a.shape, *b.shape)):
        return False
    return 0 < min(b.shape) and max(b.shape) <= MOST and math.prod(a.shape[:-1]) >= LEAST_ROWS


def _by_columns(a: Any, b: Any) -> Any:
    columns = [a[..., i] for i in range(len(b))]
    sums = [
        reduce(jnp.add, [column * b[i, j] for i, column in enumerate(columns)])
        for j in range(b.shape[1])
    ]
    return jnp.stack(sums, -1)


def _of_many(a: Any, b: Any) -> Any:
    return lax.platform_dependent(a, b, cpu=_by_columns, default=jnp.matmul)


_product = rule(
    _of_many, lambda da, y, a, b: _of_many(da, b), lambda db, y, a, b: jnp.matmul(a, db)
)


def product(a: Any, b: Any) -> Any:
    """`jnp.matmul(a, b)` of arrays of one dtype."""
    return _product(a, b) if _fit(a, b) else jnp.matmul(a, b)

"""Rows of an array, each as an array of its own, so many at a time.

XLA takes time in the square of the outputs of a program: 1,000 rows at once took 15 s to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import limits


def rows_of(array: Any, axis: int, numbers: Sequence[int]) -> tuple[Any, ...]:
    """The rows with these numbers along an axis."""
    size = min(limits.ROWS_AT_ONCE, array.shape[axis])
    last = array.shape[axis] - size
    taken: dict[int, Any] = {}
    for block in sorted({n // size for n in numbers}):
        start = min(block * size, last)
        taken.update(enumerate(_block(array, np.int32(start), axis, size), start))
    return tuple([taken[n] for n in numbers])


@partial(jax.jit, static_argnums=(2, 3))
def _block(array: Any, start: Any, axis: int, size: int) -> tuple[Any, ...]:
    rows = jax.lax.dynamic_slice_in_dim(array, start, size, axis)
    return tuple(jnp.moveaxis(rows, axis, 0))

"""Rows of an array, each as an array of its own, so many at a time.

XLA takes time in the square of the outputs of a program: 1,000 rows at once took 15 s to compile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

#: So many rows are taken by one call.
BLOCK = 64


def blocks(numbers: Iterable[int], count: int) -> dict[int, int]:
    """Where the blocks begin that hold these of `count` rows: by the number of the block."""
    last = max(count - BLOCK, 0)
    return {block: min(block * BLOCK, last) for block in sorted({n // BLOCK for n in numbers})}


def rows_of(array: Any, axis: int, numbers: Sequence[int]) -> tuple[Any, ...]:
    """The rows with these numbers along an axis."""
    taken: dict[int, Any] = {}
    count = array.shape[axis]
    for start in blocks(numbers, count).values():
        taken.update(enumerate(_block(array, np.int32(start), axis, min(BLOCK, count)), start))
    return tuple([taken[n] for n in numbers])


@partial(jax.jit, static_argnums=(2, 3))
def _block(array: Any, start: Any, axis: int, size: int) -> tuple[Any, ...]:
    rows = jax.lax.dynamic_slice_in_dim(array, start, size, axis)
    return tuple(jnp.moveaxis(rows, axis, 0))

"""Stacks of rows that a record has as arrays of their own, and such arrays out of stacks.

A loop over a thousand small arrays costs what it costs to hand them to a program one by one, 2 us
each, and to take its results. On the host a row is copied into a stack and out of it in 0.1 us.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.rows import rows_of
from ...core.x64 import in_x64
from .. import policy


def padded(array: np.ndarray, length: int) -> np.ndarray:
    """The array, its last element repeated."""
    return np.concatenate([array, np.repeat(array[-1:], length - len(array))])


def stacked(arrays: Sequence[Any], capacity: int) -> Any:
    """The arrays as one stack, the last one repeated up to the capacity: up to a multiple of
    `policy.STACK_ROWS` if it is more than that."""
    size = min(capacity, policy.STACK_ROWS)
    room = -(-capacity // size) * size
    rows = [*arrays, *[arrays[-1]] * (room - len(arrays))]
    if all(issubclass(kind, (np.ndarray, np.generic)) for kind in set(map(type, arrays))):
        return _joined(rows)
    chunks = [in_x64(_STACK, *rows[at : at + size]) for at in range(0, len(arrays), size)]
    chunks += chunks[-1:] * (room // size - len(chunks))
    if len(chunks) == 1:
        return chunks[0]
    if jax.default_backend() == "cpu":  # a copy, of which nothing is compiled
        return np.concatenate([np.asarray(chunk) for chunk in chunks])
    return in_x64(_CONCATENATE, *chunks)


def _joined(rows: list[Any]) -> np.ndarray:
    """Arrays of the host as one. A third of the time of `np.stack` where they are as they lie in
    memory, which Python's protocol of buffers tells of most."""
    try:
        data = b"".join(rows)
    except TypeError:
        return np.stack(rows)
    return np.frombuffer(data, rows[0].dtype).reshape((len(rows), *rows[0].shape))


def rows_first(array: Any, axis: int, capacity: int) -> Any:
    """An array with this axis first, and rows added there up to the capacity."""
    if array.__class__ is not np.ndarray:
        if jax.default_backend() != "cpu":
            return in_x64(_ROWS_FIRST, array, axis, capacity)
        array = np.asarray(array)  # the same memory
    if not axis and len(array) == capacity:
        return array
    rows = np.empty((capacity, *array.shape[:axis], *array.shape[axis + 1 :]), array.dtype)
    rows[: array.shape[axis]] = np.moveaxis(array, axis, 0)
    rows[array.shape[axis] :] = 0
    return rows


def taken(stack: Any, numbers: np.ndarray) -> Sequence[Any]:
    """The rows with these numbers, as arrays of their own. On the host few bytes of them share one
    block of memory."""
    if jax.default_backend() != "cpu" or stack.nbytes > policy.SMALL_ROW * len(stack):
        return in_x64(rows_of, stack, 0, numbers.tolist())
    rows = list(np.asarray(stack).take(numbers, 0))  # of the same memory
    if len(rows) * rows[0].nbytes > policy.SHARED_BYTES:
        return [row.copy() for row in rows]
    return rows


_STACK = jax.jit(lambda *rows: jnp.stack(rows))
_CONCATENATE = jax.jit(lambda *chunks: jnp.concatenate(chunks))


@partial(jax.jit, static_argnums=(1, 2))
def _ROWS_FIRST(array: Any, axis: int, capacity: int) -> Any:
    rows = jnp.moveaxis(array, axis, 0)
    return jnp.pad(rows, [(0, capacity - len(rows)), *[(0, 0)] * (rows.ndim - 1)])

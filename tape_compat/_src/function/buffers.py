"""Buffers of TensorArrays in functions that are being recorded, and ops on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..autodiff.reverse import filled
from ..core.avals import Aval
from ..core.op import Op
from ..values.capture import SymbolicProgram, within
from ..values.tensor import Tensor


class Room:
    """Where the buffer of a TensorArray will be that nothing has been written to.

    It is made when the shape of the first element is known, in the function that the array is from.
    """

    __slots__ = ("_make", "program", "tensor")

    def __init__(self, program: SymbolicProgram, make: Callable[[Aval], Tensor]):
        self.program, self._make = program, make
        self.tensor: Tensor | None = None

    def buffer(self, aval: Aval) -> Tensor:
        """The buffer, made of this shape and dtype if there is none."""
        if self.tensor is None:
            with within(self.program):
                self.tensor = self._make(aval)
        return self.tensor


def zeros(aval: Aval) -> Tensor:
    """A buffer that holds nothing."""
    return filled(aval, 0)


def _row(buffer: Any, i: Any) -> Any:
    if not buffer.shape[0]:  # in a loop that makes no iteration
        return jnp.zeros(buffer.shape[1:], buffer.dtype)
    return jax.lax.dynamic_index_in_dim(buffer, i, 0, False)


def _with_row(buffer: Any, i: Any, row: Any) -> Any:
    return jax.lax.dynamic_update_index_in_dim(buffer, row, i, 0) if buffer.shape[0] else buffer


#: Row `i` of a buffer, and a buffer with another row `i`. No row of none is zeros.
GET = Op(_row, "TensorListGetItem")
SET = Op(_with_row, "TensorListSetItem", shapes=lambda avals: avals[0])
#: A buffer with rows after its own.
GROW = Op(
    lambda buffer, rows: jnp.concatenate(
        [buffer, jnp.zeros((rows, *buffer.shape[1:]), buffer.dtype)]
    ),
    "TensorListResize",
    shapes=lambda avals, rows: Aval.of(
        (avals[0].shape[0] + rows, *avals[0].shape[1:]), avals[0].dtype
    ),
)
#: The first rows of a buffer.
FIRST = Op(
    lambda buffer, rows: buffer[:rows],
    "TensorListStack",
    shapes=lambda avals, rows: Aval.of((rows, *avals[0].shape[1:]), avals[0].dtype),
)
#: Rows of a buffer by number, and a buffer with these rows replaced.
GATHER = Op(lambda buffer, indices: buffer[indices], "TensorListGather")
SCATTER = Op(
    lambda buffer, indices, rows: buffer.at[indices].set(rows), "TensorListScatterIntoExistingList"
)

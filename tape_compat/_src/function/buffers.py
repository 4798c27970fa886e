"""Buffers of TensorArrays in functions that are being recorded, and ops on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..autodiff.reverse import filled
from ..core.avals import Aval
from ..core.dimensions import Shape, Size
from ..core.dtypes import string
from ..core.op import Op
from ..ops import creation
from ..ops.arguments import is_text, move_text
from ..ops.joining import concat
from ..values.capture import SymbolicProgram, within
from ..values.record import apply
from ..values.tensor import Tensor


class Room:
    """Where the buffer of a TensorArray will be that nothing has been written to.

    It is made when the shape of the first element is known, in the function that the array is from.
    """

    __slots__ = ("_made", "_make", "program")

    def __init__(self, program: SymbolicProgram, make: Callable[[Aval], Tensor]):
        self.program, self._make = program, make
        #: By shape and dtype: a loop may be recorded twice, with room and without.
        self._made: dict[Aval, Tensor] = {}

    def buffer(self, aval: Aval) -> Tensor:
        """The buffer, made of this shape and dtype if there is none."""
        if aval not in self._made:
            with within(self.program):
                self._made[aval] = self._make(aval)
        return self._made[aval]


def zeros(aval: Aval) -> Tensor:
    """A buffer that holds nothing."""
    return of_no_text(aval.shape) if aval.dtype is string else filled(aval, 0)


def of_no_text(shape: Shape) -> Tensor:
    """Empty texts."""
    return creation.zeros(list(shape), string)


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


# ---------------------------------------------------------------------------------------------
# Numbers are moved in a program, texts by the host.


def _moving(op: Op) -> Callable[..., Tensor]:
    """An op as a function of a buffer, a place in it, and values for that."""

    def move(buffer: Tensor, *rest: Tensor) -> Tensor:  # steps of the host are known by it
        *values, place = rest
        return apply(op.bind(), (buffer, place, *values))

    def moved(buffer: Tensor, place: Tensor, *values: Tensor) -> Tensor:
        if is_text(buffer):
            return move_text(move, buffer, *values, by=(place,))
        return move(buffer, *values, place)

    return moved


#: Row `i` of a buffer, a buffer with another row `i`, rows by number, and a buffer with other rows.
row, with_row, rows_at, with_rows = map(_moving, (GET, SET, GATHER, SCATTER))


def grown(buffer: Tensor, rows: Size) -> Tensor:
    """A buffer with so many rows after its own."""
    if is_text(buffer):
        return concat([buffer, of_no_text((rows, *buffer._aval.shape[1:]))], 0)
    return apply(GROW.bind(rows=rows), (buffer,))

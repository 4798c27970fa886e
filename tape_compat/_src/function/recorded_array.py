"""The TensorArray of functions that are being recorded: a buffer, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import errors
from ..core.avals import Aval
from ..core.dimensions import Size, differ, less, maximum
from ..core.dtypes import DType, int32
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..ops.arguments import as_size
from ..ops.creation import zeros
from ..ops.shapes import identity, reshape
from ..values.convert import convert
from ..values.record import apply
from ..values.sizes import integer, sizes_of
from ..values.tensor import Tensor
from . import buffers
from .buffers import Room

#: Room for as many elements as an array needs, which the host makes.
UNBOUNDED: Any = object()


class UnknownLength(errors.NeedsValue):
    """How large an array becomes is not known."""


@dataclass(slots=True, eq=False)
class RecordedArray:
    """A buffer [room, ...] of which the first `length` rows are elements.

    It is a value: methods that change it give another one. Before anything is written, `buffer` is
    None and `room` knows where it will be.

    in_loop: whether it is one that grows and goes through the iterations of a loop: then its length
    is not known. by_host: whether the host does that loop: then a write tells how large it becomes.
    capacity: how many elements it may then have, None if nothing is known.
    """

    dtype: DType
    dynamic_size: bool | None
    infer_shape: bool
    length: Size = 0
    in_loop: bool = False
    by_host: bool = False
    capacity: Size | None = None
    buffer: Tensor | None = None
    _room: Room | None = None
    #: Shared by all arrays that come from one.
    _shape: list[TensorShape] = field(default_factory=lambda: [TensorShape(None)])

    @staticmethod
    def empty(
        dtype: DType,
        size: Any,
        dynamic_size: bool | None,
        clear_after_read: bool,
        infer_shape: bool,
        element_shape: TensorShape,
    ) -> RecordedArray:
        """An array that holds nothing."""
        if size is None:
            raise ValueError("Argument `size` must be provided if argument `flow` is not provided.")
        length = as_size(size)
        array = RecordedArray(dtype, dynamic_size, infer_shape, length)
        array._shape = [element_shape]
        array._room = Room(LOCAL.state.capture, buffers.zeros)
        if element_shape.is_fully_defined() and not dynamic_size:
            array.buffer = array._room.buffer(array._aval())
        return array

    def _aval(self, element: tuple[int, ...] | None = None) -> Aval:
        """The aval of a buffer of such elements; of those known to be."""
        shape: Any = self.element_shape.as_list() if element is None else element
        return Aval.of((self.length, *shape), self.dtype)

    def through_iterations(self, most: Any) -> RecordedArray:
        """It as a variable of a loop of so many iterations, each of which may add an element."""
        if not self.dynamic_size:
            return self
        if most is UNBOUNDED:
            size = LOCAL.state.capture.sketch.size()
            return replace(self, in_loop=False, by_host=True, capacity=None, length=size)
        array = replace(self, in_loop=True, by_host=False, capacity=None)
        grown = self.in_loop or self.by_host
        if most is not None and self.buffer is None and not grown:
            array.length = array.capacity = self.length + most
        return array

    def first_rows(self, length: Size) -> RecordedArray:
        """Its first elements."""
        if self.buffer is None or length == self.length:
            return self
        return self.with_buffer(apply(buffers.FIRST.bind(rows=length), (self.buffer,)))

    def with_buffer(self, buffer: Tensor) -> RecordedArray:
        """The same kind of array, with these elements."""
        return replace(self, buffer=buffer, length=buffer._aval.shape[0])

    def buffer_of(self, aval: Aval) -> Tensor:
        """The buffer, made of this shape if there is none."""
        if self.buffer is not None:
            return self.buffer
        assert self._room is not None
        return self._room.buffer(aval)

    def buffer_like(self, buffer: Tensor) -> Tensor:
        """The buffer; if there is none, one of elements like those of another."""
        return self.buffer_of(self._aval(buffer._aval.shape[1:]))

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._shape[0]

    @property
    def flow(self) -> Tensor:
        """The buffer; without meaning."""
        return convert(0.0) if self.buffer is None else self.buffer

    def identity(self) -> RecordedArray:
        """The same elements."""
        return self if self.buffer is None else self.with_buffer(identity(self.buffer))

    def _check(self, value: Tensor, element: tuple[Size, ...]) -> None:
        """Refuse elements of another dtype or shape."""
        shape = Aval.of(element, value.dtype).tensor_shape
        if value.dtype is not self.dtype:
            what = f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype"
            raise errors.refusal(f"{what} {value.dtype.name} ")
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self.infer_shape:
            self._shape[0] = self.element_shape.merge_with(shape)
        if self.buffer is not None and self.buffer._aval.shape[1:] != element:
            raise errors.NeedsValue(
                "The elements of a TensorArray in a function are of one shape: "
                f"{self.buffer._aval.shape[1:]}, not {element} (at {errors.user_location()})."
            )

    def read(self, index: Any) -> Tensor:
        """One element."""
        self._refuse_index(index, "access element", self.length)
        return buffers.row(self._all("read"), convert(index, hint=int32))

    def _refuse_index(self, index: Any, what: str, end: Size) -> None:
        place = integer(index)
        if place is not None and (less(place, 0) or less(end, place + 1)):
            raise errors.refusal(f"Trying to {what} {place} in a list with {self.length} elements.")

    def _all(self, what: str) -> Tensor:
        """The buffer; zeros if nothing was written."""
        if self.buffer is not None:
            return self.buffer
        if not self.element_shape.is_fully_defined():
            raise _invalid(self._undefined(what))
        return self.buffer_of(self._aval())

    def _undefined(self, what: str) -> str:
        """TensorFlow's words where the shape of zeros is not known."""
        if self.length == 0 and what == "stack":
            why = "Tried to stack elements of an empty list with non-fully-defined element_shape"
        elif self.length == 0 and what == "concat":
            why = (
                "All except the first dimension must be fully defined when concating an empty "
                "tensor list. element_shape"
            )
        else:
            why = (
                f"Trying to {what} an uninitialized element of a TensorArray when element_shape is "
                "not fully defined"
            )
        return f"{why}: {self.element_shape}"

    def write(self, index: Any, value: Any) -> RecordedArray:
        """With another element."""
        value = convert(value, hint=self.dtype)
        self._check(value, value._aval.shape)
        place = self._place(index)
        array = self
        if self.by_host:
            array = self.with_buffer(self.buffer_of(self._aval(value._aval.shape)))
        if self.dynamic_size and (place is None or not less(place, self.length)):
            array = array._grown(place)
        array._refuse_index(index, "modify element", array.length)
        buffer = array.buffer_of(array._aval(value._aval.shape))
        return array.with_buffer(buffers.with_row(buffer, convert(index, hint=int32), value))

    def _place(self, index: Any) -> Size | None:
        """Where an element goes, if that is known when it is needed."""
        place = integer(index)
        if place is None and self.by_host:
            place = sizes_of(convert(index, hint=int32))[()]
        return place

    def _grown(self, place: Size | None) -> RecordedArray:
        if self.capacity is not None and (place is None or less(place, self.capacity)):
            return self
        if place is None or self.in_loop:
            raise self.unknown_length()
        return self.resized(maximum(place + 1, self.length))

    def resized(self, length: Size) -> RecordedArray:
        """With room for so many elements."""
        if self.buffer is not None:
            more = length - self.length
            return self.with_buffer(buffers.grown(self.buffer, more))
        return replace(self, length=length, _room=Room(LOCAL.state.capture, buffers.zeros))

    def stack(self) -> Tensor:
        """All elements as one tensor."""
        if self.in_loop:
            raise self.unknown_length()
        return identity(self._all("stack"))

    def gather(self, indices: Any) -> Tensor:
        """Some elements as one tensor."""
        buffer, indices = self._all("gather"), convert(indices, hint=int32)
        for place in _extremes(indices):
            if place < 0 or less(self.length, place + 1):
                raise _invalid(
                    # The words are TensorFlow's.
                    f"Index {place} out o range; list only has {self.length} elements."
                )
        return buffers.rows_at(buffer, indices)

    def concat(self) -> Tensor:
        """All elements in a row."""
        rest = self.element_shape[1:]
        if self.length == 0 and self.element_shape.rank and rest.is_fully_defined():
            return zeros([0, *rest], self.dtype)
        buffer = self._all("concat")
        shape = buffer._aval.shape
        if len(shape) == 1:
            raise errors.refusal(
                "Concat saw a scalar shape at index 0 but requires at least vectors."
            )
        return reshape(buffer, [shape[0] * shape[1], *shape[2:]])

    def unstack(self, value: Any) -> RecordedArray:
        """The rows of a tensor as elements."""
        value = _of_rows(convert(value, hint=self.dtype))
        array = replace(self, buffer=None)
        array._check(value, value._aval.shape[1:])
        return array.with_buffer(identity(value))

    def scatter(self, indices: Any, value: Any) -> RecordedArray:
        """With some elements as the rows of a tensor."""
        value, indices = _of_rows(convert(value, hint=self.dtype)), convert(indices, hint=int32)
        self._check(value, value._aval.shape[1:])
        count, given = indices._aval.tensor_shape.num_elements(), value._aval.shape[0]
        if count is not None and differ(count, given):
            raise _invalid(
                f"Expected len(indices) == tensor.shape[0], but saw: {count} vs. {given}"
            )
        array = self
        for place in _extremes(indices):
            if self.dynamic_size and not less(place, array.length):
                array = array.resized(place + 1)
            array._refuse_index(place, "modify element", array.length)
        buffer = array.buffer_of(array._aval(value._aval.shape[1:]))
        return array.with_buffer(buffers.with_rows(buffer, indices, value))

    def split(self, value: Any, lengths: Any) -> RecordedArray:
        """Parts of a tensor as elements."""
        value, lengths = _of_rows(convert(value, hint=self.dtype)), convert(lengths)
        if len(lengths._aval.shape) != 1:
            raise _invalid(
                f"Expected lengths to be a vector, received shape: {list(lengths._aval.shape)}"
            )
        used = None if lengths._is_symbolic() else int(np.sum(np.asarray(lengths)))
        if used is not None and differ(used, value._aval.shape[0]):
            raise _invalid(
                f"Unused values in tensor. Length of tensor: {value._aval.shape[0]} Values used: "
                f"{used}"
            )
        if lengths._is_symbolic() or len(set(np.asarray(lengths).ravel().tolist())) > 1:
            raise errors.NeedsValue(
                "The parts that a tensor is split into are to be of one length, known when a "
                f"function is recorded (at {errors.user_location()})."
            )
        count, length = lengths._aval.size, int(np.asarray(lengths).ravel()[0])
        rest = value._aval.shape[1:]
        array = replace(self, buffer=None)
        array._check(value, (length, *rest))
        return array.with_buffer(reshape(value, [count, length, *rest]))

    def size(self) -> Tensor:
        """The number of elements."""
        if self.in_loop:
            raise self.unknown_length()
        return convert(self.length)

    def unknown_length(self) -> UnknownLength:
        """The error for an array that grows nobody knows how far."""
        return UnknownLength(
            "How large a TensorArray becomes is to be known when a function is recorded (at "
            f"{errors.user_location()})."
        )

    def close(self) -> None:
        """Nothing to do."""


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.refusal(f"{message} (at {errors.user_location()})")


def _of_rows(value: Tensor) -> Tensor:
    """A tensor, if it has rows."""
    if not value._aval.shape:
        raise _invalid("Tensor must be at least a vector, but saw shape: []")
    return value


def _extremes(indices: Tensor) -> list[int]:
    """The least and the greatest of indices that are known."""
    if indices._is_symbolic() or 0 in indices._aval.shape:
        return []
    found = np.asarray(indices)
    return [int(found.min()), int(found.max())]

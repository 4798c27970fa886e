"""The TensorArray of eager code: a Python list; and that of functions whose Python runs."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..core import errors
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..ops.creation import zeros
from ..ops.joining import concat, split, stack, unstack
from ..values.convert import convert
from ..values.tensor import Tensor


class EagerArray:
    """A list of tensors that its methods change."""

    def __init__(
        self,
        dtype: DType,
        size: Any,
        dynamic_size: bool | None,
        clear_after_read: bool,
        infer_shape: bool,
        element_shape: TensorShape,
    ):
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
            )
        self.dtype = dtype
        self.dynamic_size = bool(dynamic_size)
        self.infer_shape = infer_shape
        self.element_shape = element_shape
        self._clear_after_read = clear_after_read
        self._elements: list[Tensor | None] = [None] * int(size)
        #: The elements that were cleared by a read.
        self._cleared: set[int] = set()

    @property
    def flow(self) -> Tensor:
        """Without meaning."""
        return convert(0)

    def holding(self, rows: Tensor) -> EagerArray:
        """It with the rows of a tensor as elements."""
        self._elements = list(unstack(rows))
        return self

    def holds_nothing(self) -> bool:
        """Whether no element is there."""
        return all(element is None for element in self._elements)

    def identity(self) -> EagerArray:
        """Itself."""
        return self

    def read(self, index: Any) -> Tensor:
        """One element."""
        index = int(index)
        if index < 0:
            raise _out_of_range(f"Reading from negative indices (index {index}) is not allowed.")
        if index >= len(self._elements):
            raise _out_of_range(
                f"Tried to read from index {index} but array size is: {len(self._elements)} "
            )
        tensor = self._elements[index]
        if tensor is None:
            if index in self._cleared:
                raise errors.refusal(
                    f"Could not read index {index} twice because it was cleared after a previous "
                    "read (perhaps try setting clear_after_read = false?)"
                )
            tensor = self._or_zeros(index)
        if self._clear_after_read:
            self._elements[index] = None
            self._cleared.add(index)
        return tensor

    def write(self, index: Any, value: Any) -> EagerArray:
        """Set one element."""
        index = int(index)
        if index < 0:
            raise _out_of_range(f"Writing to negative indices (index {index}) is not allowed.")
        size = len(self._elements)
        if index >= size:
            if not self.dynamic_size:
                raise _out_of_range(
                    f"Tried to write to index {index} but array is not resizeable and size is: "
                    f"{size} "
                )
        value = convert(value, hint=self.dtype)
        if value.dtype is not self.dtype:
            raise errors.refusal(
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name} "
            )
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})"
            )
        array = self._to_change()
        array._elements += [None] * (index - size + 1)
        array._elements[index] = value
        array._infer(value.shape)
        return array

    def _to_change(self) -> EagerArray:
        """What the next change is made to."""
        return self

    def _infer(self, shape: TensorShape) -> None:
        """Note the shape of an element."""
        if self.infer_shape:
            self.element_shape = self.element_shape.merge_with(shape)

    def _or_zeros(self, index: int) -> Tensor:
        found = self._elements[index]
        if found is None:
            found = self._elements[index] = zeros(self._shape(), self.dtype)
        return found

    def _shape(self) -> TensorShape:
        """That of an element which was not written."""
        return self.element_shape

    def _all(self) -> list[Tensor]:
        return [self._or_zeros(i) for i in range(len(self._elements))]

    def stack(self) -> Tensor:
        """All elements as one tensor."""
        if not self._elements and self.element_shape.is_fully_defined():
            return zeros([0, *self.element_shape.as_list()], self.dtype)
        elements = self._all()
        return stack(elements) if elements else convert([], self.dtype)

    def gather(self, indices: Any) -> Tensor:
        """Some elements as one tensor."""
        return stack([self._or_zeros(int(i)) for i in np.asarray(convert(indices))])

    def concat(self) -> Tensor:
        """All elements in a row."""
        elements = self._all()
        scalar = next((i for i, x in enumerate(elements) if not x._aval.shape), None)
        if scalar is not None:
            raise errors.refusal(
                f"Concat saw a scalar shape at index {scalar} but requires at least vectors."
            )
        return concat(elements, 0)

    def unstack(self, value: Any) -> EagerArray:
        """Take the rows of a tensor as elements."""
        rows = unstack(value)
        size = len(self._elements)
        if len(rows) > size and not self.dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {size} "
            )
        array = self._to_change()
        array._elements = list(rows)
        return array

    def scatter(self, indices: Any, value: Any) -> EagerArray:
        """Set some elements to the rows of a tensor."""
        array = self
        for index, row in zip(np.asarray(convert(indices)), unstack(value)):
            array = array.write(index, row)
        return array

    def split(self, value: Any, lengths: Any) -> EagerArray:
        """Take parts of a tensor as elements."""
        value = convert(value, hint=self.dtype)
        lengths = np.asarray(convert(lengths))
        shape = list(value._aval.shape)
        if lengths.ndim != 1:
            raise errors.refusal(
                f"Expected lengths to be a vector, received shape: {list(lengths.shape)} "
            )
        if not shape:
            raise errors.refusal(
                f"Expected value to be at least a vector, but received shape: {shape} "
            )
        total = int(lengths.sum())
        if total != shape[0]:
            raise errors.refusal(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{total} and value's shape is: {shape} "
            )
        if not self.dynamic_size and len(lengths) != len(self._elements):
            raise errors.refusal(
                "TensorArray's size is not equal to the size of lengths "
                f"({len(self._elements)} vs. {len(lengths)}), and the TensorArray is not marked "
                "as dynamically resizeable."
            )
        array = self._to_change()
        array._elements = list(split(value, lengths.tolist()))
        return array

    def size(self) -> Tensor:
        """The number of elements."""
        return convert(len(self._elements))

    def close(self) -> None:
        """Forget the elements."""
        self._elements.clear()


class PythonArray(EagerArray):
    """That of a function whose Python runs at each call. As in a graph it is a value: a change
    gives another one. Elements may differ in shape, for a graph knows what they have in common."""

    def _to_change(self) -> EagerArray:
        array = copy(self)
        array._elements = list(self._elements)
        return array

    def _infer(self, shape: TensorShape) -> None:
        pass

    def _shape(self) -> TensorShape:
        written = next((x for x in self._elements if x is not None), None)
        return self.element_shape if written is None else written.shape


def _out_of_range(message: str) -> errors.OutOfRangeError:
    return errors.OutOfRangeError(None, None, message)

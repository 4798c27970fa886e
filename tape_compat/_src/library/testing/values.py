"""What tests read of tensors: NumPy arrays, and the parts of composite tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...composites.ragged import RaggedTensor
from ...composites.sparse import SparseTensor
from ...ops.ragged_creation import constant
from ...values import nest
from ...values.indexed_slices import IndexedSlices


class SparseTensorValue(NamedTuple):
    """The arrays of a SparseTensor."""

    indices: Any
    values: Any
    dense_shape: Any


class IndexedSlicesValue(NamedTuple):
    """The arrays of IndexedSlices."""

    values: Any
    indices: Any
    dense_shape: Any


class RaggedTensorValue(NamedTuple):
    """The arrays of a RaggedTensor: `values` is another where several axes are ragged.

    >>> import numpy as np
    >>> import tape_compat as tf
    >>> tf.compat.v1.ragged.RaggedTensorValue(np.arange(3), np.array([0, 2, 3])).to_list()
    [[0, 1], [2]]
    """

    values: Any
    row_splits: Any

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """Where the rows of all ragged axes begin, and the last end."""
        inner = self.values
        below = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self.row_splits, *below)

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, None for those that differ by row."""
        return (len(self.row_splits) - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """The rows as lists."""
        inner = self.values
        flat = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        return [flat[begin:end] for begin, end in zip(self.row_splits, self.row_splits[1:])]


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """The arrays of a RaggedTensor of nested lists; an array of a list of numbers, or of a number.

    Args: as of `tf.ragged.constant`, but numbers have the dtype that NumPy gives them.
    Raises: ValueError if the numbers are not all at one depth.

    >>> import tape_compat as tf
    >>> tf.compat.v1.ragged.constant_value([[1, 2], []]).row_splits.tolist()
    [0, 2, 2]
    """
    leaves = nest.flatten(pylist)
    kind = np.array(leaves).dtype if dtype is None and leaves else dtype
    found = constant(pylist, kind, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)
    return _evaluated(found) if isinstance(found, RaggedTensor) else np.asarray(found.numpy())


def evaluated(tensors: Any) -> Any:
    """A nest of tensors with NumPy arrays in their places.

    Raises: ValueError for a leaf that is neither a tensor, None nor a function that gives such.
    """
    return nest.map_structure(_evaluated, tensors)


def _evaluated(tensor: Any) -> Any:
    if tensor is None:
        return None
    if callable(tensor):
        return evaluated(tensor())
    if isinstance(tensor, SparseTensor):
        parts = (tensor.indices, tensor.values, tensor.dense_shape)
        return SparseTensorValue(*(part.numpy() for part in parts))
    if isinstance(tensor, RaggedTensor):
        return RaggedTensorValue(_evaluated(tensor.values), tensor.row_splits.numpy())
    if isinstance(tensor, IndexedSlices):
        parts = (tensor.values, tensor.indices, tensor.dense_shape)
        return IndexedSlicesValue(*(_evaluated(part) for part in parts))
    if not hasattr(tensor, "numpy"):
        raise ValueError(f"Unsupported type {type(tensor).__name__!r}.")
    return tensor.numpy()


def as_array(value: Any) -> np.ndarray:
    """A tensor, array, number or list of these as a NumPy array; texts as objects of bytes."""
    array = plain_array(value)
    return with_bytes(array) if array.dtype.kind in "US" else array


def has_bytes(array: np.ndarray) -> bool:
    """Whether there are bytes among the elements."""
    return array.dtype.kind == "S" or (
        array.dtype.kind == "O" and any(isinstance(x, bytes) for x in array.flat)
    )


def with_bytes(texts: np.ndarray) -> np.ndarray:
    """An array of objects with bytes in place of texts."""
    found = np.empty(texts.size, object)
    found[:] = [x.encode() if isinstance(x, str) else x for x in texts.flat]
    return found.reshape(texts.shape)


def plain_array(value: Any) -> np.ndarray:
    """A tensor, array, number or list of these as a NumPy array."""
    if hasattr(value, "numpy") or isinstance(value, (SparseTensor, IndexedSlices)):
        value = _evaluated(value)
    if isinstance(value, (list, tuple)):
        value = [as_array(part) if _has_tensors(part) else part for part in value]
    try:
        return np.asarray(value)
    except ValueError:  # lists of several lengths
        return np.array(value, object)


def _has_tensors(value: Any) -> bool:
    return hasattr(value, "numpy") or (
        isinstance(value, (list, tuple)) and any(map(_has_tensors, value))
    )


def ragged_list(value: Any) -> Any:
    """A RaggedTensor, or anything that is compared with one, as lists."""
    if isinstance(value, RaggedTensor):
        return value.to_list()
    if isinstance(value, (list, tuple)):
        return [ragged_list(part) for part in value]
    array = as_array(value)
    return array.tolist()

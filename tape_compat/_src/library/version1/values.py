"""The values that a Session of TensorFlow 1 gave: arrays in the place of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np


class RaggedTensorValue:
    """What a ragged tensor is made of, as arrays.

    Args:
      values: the rows one after the other; an array or another RaggedTensorValue.
      row_splits: where each row begins, and the last ends; an array of int32 or int64.
    Raises: TypeError or ValueError for other row splits.
    """

    def __init__(self, values: Any, row_splits: Any):
        if not (isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.ndim == 1):
            raise TypeError(f"row_splits must be a 1D array of int32 or int64. Got {row_splits!r}.")
        if row_splits.dtype not in (np.int64, np.int32):
            raise TypeError(f"row_splits must be of int32 or int64. Got {row_splits.dtype}.")
        self.values, self.row_splits = values, row_splits

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged axes."""
        inner = self.values
        below = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self.row_splits, *below)

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, None for those that differ by row."""
        return (self.row_splits.shape[0] - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """The rows as lists.

        >>> import numpy as np
        >>> import tape_compat as tf
        >>> tf.compat.v1.ragged.RaggedTensorValue(np.arange(3), np.array([0, 2, 3])).to_list()
        [[0, 1], [2]]
        """
        inner = self.values
        flat = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        ends = self.row_splits
        return [flat[begin:end] for begin, end in zip(ends, ends[1:])]

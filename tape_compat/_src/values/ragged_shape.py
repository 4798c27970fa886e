"""DynamicRaggedShape: what `tf.shape` gives of a ragged tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType, as_dtype, int64
from .ragged import RaggedTensor
from .row_partition import RowPartition, host
from .tensor import Tensor, concrete


class DynamicRaggedShape:
    """The shape of a tensor with the lengths of its ragged rows.

    Args:
      row_partitions: of each axis after the first that is ragged, outermost first.
      inner_shape: the shape of the innermost values, whose first size is that of them all.
      dtype: of the sizes that it gives; default that of the partitions.

    >>> import tape_compat as tf
    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    def __init__(
        self, row_partitions: Sequence[RowPartition], inner_shape: Any, dtype: Any = None
    ) -> None:
        self._partitions = tuple(row_partitions)
        self._inner = tuple(inner_shape)
        own = self._partitions[0].dtype if self._partitions else int64
        self._dtype = own if dtype is None else as_dtype(dtype)

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a RaggedTensor or a Tensor; its sizes are of the dtype of the rows' splits,
        or of another one."""
        if isinstance(t, RaggedTensor):
            return cls(t._partitions, t.flat_values._aval.shape, dtype)
        return cls((), t.shape, dtype)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions, outermost first."""
        return self._partitions

    @property
    def num_row_partitions(self) -> int:
        """How many axes are ragged."""
        return len(self._partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the innermost values."""
        return concrete(np.array(self._inner, self.dtype.np_dtype))

    @property
    def inner_rank(self) -> int:
        """How many axes the innermost values have."""
        return len(self._inner)

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self._partitions) + len(self._inner)

    @property
    def dtype(self) -> DType:
        """int32 or int64."""
        return self._dtype

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """For each axis its size; a tuple of lengths, or None, for a ragged one."""
        sizes: list[Any] = [self._partitions[0].static_nrows] if self._partitions else []
        for partition in self._partitions:
            if partition.is_uniform():
                sizes.append(partition.static_uniform_row_length)
            else:
                lengths = np.diff(host(partition.row_splits())).tolist()
                sizes.append(tuple(lengths) if ragged_lengths else None)
        return sizes + list(self._inner[1 if self._partitions else 0 :])

    def is_uniform(self, axis: int) -> bool:
        """Whether the rows along an axis have one length."""
        return not isinstance(self.static_lengths()[axis], tuple)

    def __getitem__(self, index: int) -> Tensor:
        size = self.static_lengths()[index]
        if isinstance(size, tuple):
            raise ValueError(f"Index {index} is not uniform")
        return concrete(np.array(size, self.dtype.np_dtype))

    def __repr__(self) -> str:
        sizes = [str(n) for n in self.static_lengths()]
        return (
            f"<DynamicRaggedShape lengths=[{', '.join(sizes)}] "
            f"num_row_partitions={self.num_row_partitions}>"
        )

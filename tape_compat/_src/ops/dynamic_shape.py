"""DynamicRaggedShape: what `tf.shape` gives of a ragged tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor
from ..composites.row_partition import RowPartition, host
from ..core.dtypes import DType, as_dtype, int32, int64
from ..values.convert import convert
from ..values.tensor import Tensor, concrete


class DynamicRaggedShape:
    """The shape of a tensor with the lengths of its ragged rows.

    Args:
      row_partitions: of each axis after the first that is ragged, outermost first.
      inner_shape: the shape of the innermost values, whose first size is that of them all.
      dtype: of the sizes that it gives; default that of the partitions.
    Raises: TypeError for what are no partitions; ValueError for another dtype than int32 and int64.

    >>> import tape_compat as tf
    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    def __init__(
        self, row_partitions: Sequence[RowPartition], inner_shape: Any, dtype: Any = None
    ) -> None:
        self._partitions = tuple(row_partitions)
        for each in self._partitions:
            if not isinstance(each, RowPartition):
                raise TypeError(f"row_partitions contains {each} which is not a RowPartition")
        self._inner = tuple(inner_shape)
        if self._partitions and not self._inner:
            raise IndexError("inner_shape has no axis, and there are rows")
        own = self._partitions[0].dtype if self._partitions else int64
        self._dtype = own if dtype is None else as_dtype(dtype)
        if self._dtype not in (int32, int64):
            raise ValueError(f"Illegal dtype: {self._dtype}")

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a RaggedTensor or a Tensor; its sizes are of the dtype of the rows' splits,
        int32 if there are none, or of another one."""
        if isinstance(t, RaggedTensor):
            return cls(t._partitions, t.flat_values._aval.shape, dtype)
        return cls((), convert(t)._aval.shape, int32 if dtype is None else dtype)

    @classmethod
    def from_lengths(
        cls,
        lengths: Sequence[int | Sequence[int]],
        num_row_partitions: int | None = None,
        dtype: Any = int64,
    ) -> DynamicRaggedShape:
        """The shape with these sizes: a number for an axis of one size, a tuple for a ragged one.

        Args:
          num_row_partitions: how many axes are rows; by default as many as it takes.
        Raises: ValueError for lengths that do not fit.

        >>> import tape_compat as tf
        >>> tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2), 3])
        <DynamicRaggedShape lengths=[2, (1, 2), 3] num_row_partitions=1>
        """
        count = _partition_count(lengths, num_row_partitions)
        kind, partitions = as_dtype(dtype), []
        size: Any = lengths[0] if lengths else 1
        for length in lengths[1 : count + 1]:
            if isinstance(length, int):
                made = RowPartition.from_uniform_row_length(length, size * length, size, dtype=kind)
                size = size * length
            else:
                if len(length) != size:
                    raise ValueError("Shape not consistent.")
                made = RowPartition.from_row_lengths(list(length), dtype=kind)
                size = sum(length)
            partitions.append(made)
        inner = [size, *lengths[count + 1 :]] if lengths else []
        return cls(partitions, inner, kind)

    @classmethod
    def from_row_partitions(
        cls, row_partitions: Sequence[RowPartition], dtype: Any = None
    ) -> DynamicRaggedShape:
        """The shape of scalars in these rows. Raises ValueError if there are none.

        >>> import tape_compat as tf
        >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 1])
        >>> tf.experimental.DynamicRaggedShape.from_row_partitions([rows])
        <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
        """
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, [int(host(row_partitions[-1].nvals()))], dtype)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions, outermost first."""
        return tuple([each.with_row_splits_dtype(self._dtype) for each in self._partitions])

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

    def with_dtype(self, dtype: Any) -> DynamicRaggedShape:
        """The same with sizes of int32 or int64."""
        return DynamicRaggedShape(self._partitions, self._inner, dtype)

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
        """Whether the rows along an axis have one length.

        Raises: TypeError for what is no integer; IndexError for an axis that is not there.
        """
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise IndexError("Negative axis values are not supported")
        if axis >= self.rank:
            raise IndexError(f"Expected axis={axis} < rank={self.rank}")
        return not isinstance(self.static_lengths()[axis], tuple)

    def around(self, flat: Any) -> Any:
        """A tensor of this shape with these innermost values."""
        for partition in reversed(self.row_partitions):
            flat = RaggedTensor(flat, partition, internal=True)
        return flat

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        if not isinstance(index, int):
            raise TypeError("Argument is not an int or a slice")
        place = index + self.rank if index < 0 else index
        if not 0 <= place < self.rank:
            raise IndexError(f"Expected axis={place} < rank={self.rank}")
        size = self.static_lengths()[place]
        if isinstance(size, tuple):
            raise ValueError(f"Index {index} is not uniform")
        return concrete(np.array(size, self.dtype.np_dtype))

    def _part(self, index: slice) -> DynamicRaggedShape:
        """The shape of some of the axes."""
        if index.step not in (None, 1):
            raise IndexError("Cannot stride through a shape")
        start, stop, _ = index.indices(self.rank)
        rows = len(self._partitions)
        if stop <= start:
            return DynamicRaggedShape((), (), self._dtype)
        if start:
            sizes = self.static_lengths()[:stop]
            if any(isinstance(size, tuple) for size in sizes):
                raise ValueError("All relevant dimensions must be uniform")
            return DynamicRaggedShape((), sizes[start:], self._dtype)
        if stop > rows:
            return DynamicRaggedShape(self._partitions, self._inner[: stop - rows], self._dtype)
        if stop == 1:
            return DynamicRaggedShape((), self.static_lengths()[:1], self._dtype)
        return DynamicRaggedShape.from_row_partitions(self._partitions[: stop - 1], self._dtype)

    def _compared(self, other: object, equal: bool) -> Any:
        """Whether another shape is the same, or not; a tensor where the numbers of axes are."""
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        forms = [(len(s._partitions), len(s._inner), s._dtype) for s in (self, other)]
        if forms[0] != forms[1]:
            return not equal
        same = self._inner == other._inner and all(
            np.array_equal(host(a.row_splits()), host(b.row_splits()))
            for a, b in zip(self._partitions, other._partitions, strict=True)
        )
        return concrete(np.array(same is equal))

    def __eq__(self, other: object) -> Any:
        return self._compared(other, True)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, False)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = [str(n) for n in self.static_lengths()]
        return (
            f"<DynamicRaggedShape lengths=[{', '.join(sizes)}] "
            f"num_row_partitions={self.num_row_partitions}>"
        )


def _partition_count(lengths: Any, given: Any) -> int:
    """How many of some axes are rows. Raises ValueError for what cannot be."""
    if not isinstance(lengths, (list, tuple)):
        raise ValueError("lengths should be a list")
    for x in lengths:
        tuple_of_ints = isinstance(x, (list, tuple)) and all(isinstance(n, int) for n in x)
        if not isinstance(x, int) and not tuple_of_ints:
            raise ValueError(f"element of lengths should be int or tuple of ints: instead {x!r}")
    least = max([i for i, x in enumerate(lengths) if not isinstance(x, int)], default=0)
    if given is None:
        return least
    if not isinstance(given, int):
        raise ValueError("num_row_partitions should be an int or None")
    if not lengths and given:
        raise ValueError("num_row_partitions==0 for a scalar shape")
    if given < 0:
        raise ValueError(f"num_row_partitions={given} should be nonnegative")
    if lengths and given >= len(lengths):
        raise ValueError(
            "num_row_partitions should be less than `len(lengths)` if shape is not scalar."
        )
    if given < least:
        raise ValueError(f"num_row_partitions should be at least {least}")
    return given

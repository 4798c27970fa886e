"""Features of examples that become ragged and sparse tensors by the values of several keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...composites.ragged import RaggedTensor
from ...composites.row_partition import RowPartition
from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...ops.sparse_layout import reorder
from ..structure import value_of
from .contents import invalid

#: Gives the values of a key of each example, None where it is missing, from the key and the dtype.
Read = Callable[[str, DType], list[Sequence[Any] | None]]


class RowSplits(NamedTuple):
    """A partition by where rows begin, and the last ends: the values of a key."""

    key: str


class RowLengths(NamedTuple):
    """A partition by how long rows are: the values of a key."""

    key: str


class RowStarts(NamedTuple):
    """A partition by where rows begin: the values of a key."""

    key: str


class RowLimits(NamedTuple):
    """A partition by where rows end: the values of a key."""

    key: str


class ValueRowIds(NamedTuple):
    """A partition by which row each value is in: the values of a key."""

    key: str


class UniformRowLength(NamedTuple):
    """A partition into rows of one length."""

    length: int


_PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: Any


class RaggedFeature(_RaggedFields):
    """A feature that becomes a RaggedTensor: its values, parted by the values of other keys.

    partitions: from the outermost, `RowSplits("key")`, `RowLengths`, `RowStarts`, `RowLimits`,
    `ValueRowIds`, all below this class, or `UniformRowLength(length)`.

    Raises: ValueError for another dtype than those of features; TypeError for other partitions.

    >>> import tape_compat as tf
    >>> tf.io.RaggedFeature(tf.int64).row_splits_dtype
    tf.int32
    """

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Any = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> RaggedFeature:
        kind, splits = as_dtype(dtype), as_dtype(row_splits_dtype)
        if kind not in (dtypes.float32, dtypes.int64, dtypes.string):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {kind!r}")
        if splits not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {splits!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("Argument `partitions` must be a list or tuple")
        for partition in partitions:
            if not isinstance(partition, _PARTITIONS):
                raise TypeError(
                    f"Argument `partitions` cannot be cast to any of the partition types in "
                    f"{_PARTITIONS}; got {partition!r}"
                )
        return super().__new__(cls, kind, value_key, tuple(partitions), splits, validate)


class SparseFeature(NamedTuple):
    """A feature that becomes a SparseTensor: values at the indices that other keys hold.

    index_key, size: a key and the size of its axis, or lists of them.

    >>> import tape_compat as tf
    >>> tf.io.SparseFeature("index", "value", tf.float32, size=4).already_sorted
    False
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


def check_keys(features: Any) -> None:
    """Raise ValueError for a key that is to be read as two kinds of feature."""
    dense, sparse_keys, ragged_keys = set(), set(), set()
    for name, feature in features.items():
        if isinstance(feature, RaggedFeature):
            keyed = [p.key for p in feature.partitions if not isinstance(p, UniformRowLength)]
            ragged_keys.update([feature.value_key or name, *keyed])
        elif isinstance(feature, SparseFeature):
            several = isinstance(feature.index_key, (list, tuple))
            keys = feature.index_key if several else [feature.index_key]
            sparse_keys.update([*keys, feature.value_key])
        else:
            (dense if hasattr(feature, "shape") else sparse_keys).add(name)
    kinds = {"dense": dense, "sparse": sparse_keys, "ragged": ragged_keys}
    for one, other in (("dense", "sparse"), ("dense", "ragged"), ("ragged", "sparse")):
        both = kinds[one] & kinds[other]
        if both:
            raise ValueError(
                f"{one.capitalize()} and {other} keys must not intersect; "
                f"{one}_keys: {sorted(kinds[one])}, {other}_keys: {sorted(kinds[other])}, "
                f"intersection: {both}"
            )


def flat_array(values: Sequence[Any], dtype: DType) -> np.ndarray:
    """Values of a feature as an array with one axis."""
    array = np.empty(len(values), dtype.np_dtype)
    array[:] = values
    return array


# ---------------------------------------------------------------------------------------------


def ragged(key: str, feature: RaggedFeature, read: Read, single: bool) -> Any:
    """The tensor of a RaggedFeature. single: whether there is one example, without a first axis."""
    dtype, splits = as_dtype(feature.dtype), as_dtype(feature.row_splits_dtype)
    found = _given(read(feature.value_key or key, dtype))
    sizes = [len(values) for values in found]
    tensor: Any = value_of(flat_array([x for each in found for x in each], dtype))
    for partition in reversed(feature.partitions):
        if isinstance(partition, UniformRowLength):
            sizes = [_rows_of(partition.length, size, key) for size in sizes]
            tensor = _cut(tensor, partition.length, sum(sizes))
            continue
        held = _given(read(partition.key, dtypes.int64))
        lengths = [_lengths(partition, *pair) for pair in zip(held, sizes)]
        tensor = rows_of_lengths(
            tensor, [x for each in lengths for x in each], splits, feature.validate
        )
        sizes = [len(each) for each in lengths]
    return tensor if single else rows_of_lengths(tensor, sizes, splits, feature.validate)


def outlined(feature: RaggedFeature, sizes: tuple[Any, ...], sketch: Any) -> Any:
    """What stands for the tensor of a RaggedFeature of so many examples; of one if there is no
    size."""
    tensor: Any = sketch.tensor((None,), feature.dtype)
    for partition in reversed(feature.partitions):
        rows = sketch.size()
        if not isinstance(partition, UniformRowLength):
            tensor = _outlined_rows(tensor, rows, feature, sketch)
        elif isinstance(tensor, RaggedTensor):
            tensor = RaggedTensor.from_uniform_row_length(tensor, partition.length, nrows=rows)
        else:
            shape = (rows, partition.length, *tensor._aval.shape[1:])
            tensor = sketch.tensor(shape, feature.dtype)
    return _outlined_rows(tensor, sizes[0], feature, sketch) if sizes else tensor


def _outlined_rows(tensor: Any, rows: Any, feature: RaggedFeature, sketch: Any) -> RaggedTensor:
    splits = sketch.tensor((rows + 1,), feature.row_splits_dtype)
    return RaggedTensor.from_row_splits(tensor, splits, validate=False)


def _given(found: list[Sequence[Any] | None]) -> list[Sequence[Any]]:
    return [() if values is None else values for values in found]


def rows_of_lengths(tensor: Any, lengths: Any, splits: DType, validate: bool) -> RaggedTensor:
    """A ragged tensor of the rows of a tensor."""
    rows = value_of(np.asarray(lengths, splits.np_dtype))
    return RaggedTensor.from_row_lengths(tensor, rows, validate=validate)


def _rows_of(length: int, size: int, key: str) -> int:
    """How many rows of a length there are in so many values."""
    if size % length if length else size:
        raise invalid(f"Key: {key}. {size} values do not make rows of {length}.", "ParseExampleV2")
    return size // length if length else 0


def _cut(tensor: Any, length: int, rows: int) -> Any:
    """Rows of one length: a tensor of one axis more, ragged within if it was so before."""
    if isinstance(tensor, RaggedTensor):
        return RaggedTensor.from_uniform_row_length(tensor, length, nrows=rows)
    array = tensor.numpy()
    return value_of(array.reshape(rows, length, *array.shape[1:]))


def _lengths(partition: Any, held: Sequence[int], size: int) -> list[int]:
    """How long rows are, from what a partition holds of one example with so many values."""
    values = np.asarray(held, np.int64)
    if isinstance(partition, RowLengths):
        return values.tolist()
    if isinstance(partition, ValueRowIds):
        return RowPartition.from_value_rowids(values).row_lengths().numpy().tolist()
    if isinstance(partition, RowStarts):
        return np.diff(np.append(values, size)).tolist()
    if isinstance(partition, RowLimits):
        return np.diff(values, prepend=0).tolist()
    return np.diff(values).tolist()


def sparse(feature: SparseFeature, read: Read, single: bool) -> SparseTensor:
    """The tensor of a SparseFeature. single: whether there is one example, without a first axis."""
    for name in ("index_key", "value_key", "dtype", "size"):
        if not getattr(feature, name):
            raise ValueError(f"Missing {name} for SparseFeature {feature}.")
    several = isinstance(feature.index_key, (list, tuple))
    keys = feature.index_key if several else [feature.index_key]
    sizes = [*feature.size] if isinstance(feature.size, (list, tuple)) else [feature.size]
    if len(keys) != len(sizes):
        raise ValueError(
            f"Argument `size` must have as many sizes as `index_key` has keys; got {feature}."
        )
    dtype = as_dtype(feature.dtype)
    values = _given(read(feature.value_key, dtype))
    columns = [_given(read(key, dtypes.int64)) for key in keys]
    for column in columns:
        for indices, held in zip(column, values):
            if len(indices) != len(held):
                raise ValueError(f"Dimensions {len(indices)} and {len(held)} are not compatible")
    first = [[i for i, held in enumerate(values) for _ in held]]
    parts = [[x for each in column for x in each] for column in columns]
    places = np.array(parts if single else first + parts, np.int64).T
    shape = sizes if single else [len(values), *sizes]
    flat = value_of(flat_array([x for held in values for x in held], dtype))
    made = SparseTensor(places.reshape(-1, len(shape)), flat, shape)
    return made if feature.already_sorted else reorder(made)

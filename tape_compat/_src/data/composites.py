"""Rows of ragged and sparse tensors: taken one by one, and put together again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..composites.extension_type import BatchableExtensionType
from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.row_partition import splits_of_lengths
from ..composites.sparse import SparseTensor
from ..core import errors
from ..core.dtypes import DType
from ..values.composite import CompositeTensor, TypeSpec
from .specs import Datasets, DatasetSpec
from .structure import array_of, leaf_of, value_of


def row_count(leaf: Any) -> int | None:
    """How many rows a leaf has, if that is known."""
    if isinstance(leaf, BatchableExtensionType):
        parts = type(leaf).__batch_encoder__.encode(leaf._type_spec, leaf, 1)
        known = [size for size in map(row_count, parts) if size is not None]
        return known[0] if known else None
    return leaf.size if isinstance(leaf, Datasets) else leaf.shape[0]


class Column:
    """The rows of a leaf: `column[i]` is one as a leaf. size: how many there are."""

    size: int

    @staticmethod
    def of(leaf: Any) -> Column:
        """The rows of a leaf that has a value."""
        if isinstance(leaf, RaggedTensor):
            return _RaggedColumn(leaf)
        if isinstance(leaf, BatchableExtensionType):
            return _EncodedColumn(leaf)
        if isinstance(leaf, Datasets):
            return _DatasetsColumn(leaf)
        return _SparseColumn(leaf) if isinstance(leaf, SparseTensor) else _ArrayColumn(leaf)

    def __getitem__(self, i: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.__getitem__")

    def part(self) -> Any:
        """All rows: an array, or a list."""
        return [self[i] for i in range(self.size)]

    def take(self, numbers: range | np.ndarray, place: int) -> Any:
        """Several rows, stacked. `place`: of the leaf, which an error names."""
        return stack_leaf(tuple([self[i] for i in numbers]), place)


class _ArrayColumn(Column):
    def __init__(self, leaf: Any):
        self._array = array_of(leaf)
        self.size = self._array.shape[0] if self._array.ndim else -1

    def __getitem__(self, i: int) -> Any:
        return self._array[i, ...]

    def part(self) -> Any:
        return self._array

    def take(self, numbers: range | np.ndarray, place: int) -> Any:
        return self._array[np.asarray(numbers)]


class _RaggedColumn(Column):
    def __init__(self, leaf: RaggedTensor):
        self._flat, *self._splits = [array_of(x) for x in leaf._type_spec._to_components(leaf)]
        self._spec: Any = leaf._type_spec._unbatch()
        self._stacked: Any = leaf._type_spec._unbatch()._batch(None)
        self.size = len(self._splits[0]) - 1

    def __getitem__(self, i: int) -> Any:
        first, *inner = self._splits
        begin, end = first[i], first[i + 1]
        found = []
        for splits in inner:
            rows = splits[begin : end + 1]
            found.append(rows - rows[0])
            begin, end = rows[0], rows[-1]
        flat = self._flat[begin:end]
        return self._spec._from_components([flat, *found]) if found else flat

    def take(self, numbers: range | np.ndarray, place: int) -> Any:
        index, found = np.asarray(numbers), []
        for splits in self._splits:
            starts = splits[index]
            lengths = splits[index + 1] - starts
            found.append(splits_of_lengths(lengths, splits.dtype))
            index = _spans(starts, lengths)
        return self._stacked._from_components([self._flat[index], *found])


class _SparseColumn(Column):
    def __init__(self, leaf: SparseTensor):
        indices, self._values = array_of(leaf.indices), array_of(leaf.values)
        self._shape = array_of(leaf.dense_shape)
        order = np.argsort(indices[:, 0], kind="stable")
        self._indices, self._values = indices[order], self._values[order]
        self.size = int(self._shape[0])
        self._starts = np.searchsorted(self._indices[:, 0], np.arange(self.size + 1))

    def __getitem__(self, i: int) -> Any:
        row = slice(self._starts[i], self._starts[i + 1])
        return SparseTensor(self._indices[row, 1:], self._values[row], self._shape[1:])

    def take(self, numbers: range | np.ndarray, place: int) -> Any:
        chosen = np.asarray(numbers)
        starts, ends = self._starts[chosen], self._starts[chosen + 1]
        index = _spans(starts, ends - starts)
        indices = self._indices[index]
        indices[:, 0] = np.repeat(np.arange(len(starts)), ends - starts)
        return SparseTensor(indices, self._values[index], [len(starts), *self._shape[1:].tolist()])


def _spans(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """starts[0], starts[0] + 1, ... (lengths[0] numbers), then the same for the next."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + lengths, lengths)


class _DatasetsColumn(Column):
    def __init__(self, leaf: Datasets):
        self.size, self._datasets = leaf.size, leaf

    def __getitem__(self, i: int) -> Any:
        return self._datasets.row(i)


class _EncodedColumn(Column):
    """Of extension types: the columns of their encodings."""

    def __init__(self, leaf: BatchableExtensionType):
        spec = leaf._type_spec
        self._encoder = type(leaf).__batch_encoder__
        self._columns = list(map(Column.of, self._encoder.encode(spec, leaf, 1)))
        self._spec = spec._unbatch()
        self.size = self._columns[0].size if self._columns else -1

    def __getitem__(self, i: int) -> Any:
        rows = [value_of(column[i]) for column in self._columns]
        return self._encoder.decode(self._spec, rows)


# ---------------------------------------------------------------------------------------------
# Stacking.


def stack_leaf(column: tuple[Any, ...], place: int) -> Any:
    """The array of the values of one leaf."""
    first = column[0]
    if first is None:
        return None
    if isinstance(first, CompositeTensor):
        return stacked_composites(column, place)
    if isinstance(getattr(first, "_type_spec", None), DatasetSpec):
        return Datasets.stacked(column)
    if not hasattr(first, "dtype") or not hasattr(first, "shape"):
        raise NotImplementedError(f"A batch of {type(first).__name__} is not supported.")
    arrays = list(map(array_of, column))
    shape = arrays[0].shape
    for i, array in enumerate(arrays):
        if array.shape != shape:
            raise differ(place, shape, i, array.shape)
    out = np.empty((len(arrays), *shape), arrays[0].dtype)
    for i, array in enumerate(arrays):
        out[i, ...] = array
    return out


def stacked_parts(arrays: Sequence[np.ndarray], ragged_rank: int, splits: DType) -> list[Any]:
    """The flat values and the splits of tensors of different sizes in their first `ragged_rank`
    dimensions, along a new first one."""
    lengths = []
    for place in range(ragged_rank):
        counts = [math.prod(x.shape[:place]) for x in arrays]
        lengths.append(np.repeat([x.shape[place] for x in arrays], counts))
    flat = [x.reshape(-1, *x.shape[ragged_rank:]) for x in arrays]
    rows = [splits_of_lengths(each, splits.np_dtype) for each in lengths]
    return [np.concatenate(flat), *rows]


def stacked_rows(column: Sequence[Any], spec: RaggedTensorSpec) -> RaggedTensor:
    """Ragged tensors of a spec along a new first dimension; arrays if it has no ragged one."""
    kind = spec.row_splits_dtype
    if not spec.ragged_rank:
        arrays = [array_of(x) for x in column]
        splits = splits_of_lengths([len(x) for x in arrays], kind.np_dtype)
        return spec._batch(None)._from_components([np.concatenate(arrays), splits])
    parts = [spec._to_components(leaf_of(leaf)) for leaf in column]
    flats, *levels = [[array_of(x) for x in level] for level in zip(*parts, strict=True)]
    counts = [len(splits) - 1 for splits in levels[0]]
    rows = [np.cumsum([0, *counts])]
    for level in levels:
        ends = np.cumsum([0, *[splits[-1] for splits in level]])
        moved = [splits[1:] + end for splits, end in zip(level, ends)]
        rows.append(np.concatenate([[0], *moved]))
    batched: Any = spec._batch(None)
    splits = [each.astype(kind.np_dtype) for each in rows]
    return batched._from_components([np.concatenate(flats), *splits])


def stacked_sparse(column: Sequence[SparseTensor], place: int) -> SparseTensor:
    """Sparse tensors along a new first axis."""
    shapes = [array_of(sparse.dense_shape).tolist() for sparse in column]
    for i, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]):
            raise differ(place, shapes[0], i, shape)
    indices = [array_of(sparse.indices) for sparse in column]
    rows = np.repeat(np.arange(len(column)), [len(each) for each in indices])
    return SparseTensor(
        np.concatenate([rows[:, None], np.concatenate(indices)], axis=1),
        np.concatenate([array_of(sparse.values) for sparse in column]),
        [len(column), *np.max(shapes, axis=0).tolist()],
    )


def sparse_rows(arrays: Sequence[np.ndarray], shape: Sequence[int | None]) -> SparseTensor:
    """Tensors of different sizes as rows of a sparse one. `shape`: of a row; None stands for the
    largest size there is.

    Raises: InvalidArgumentError for another rank; DataLossError for a tensor that is larger.
    """
    wanted = [-1 if size is None else size for size in shape]
    text = ",".join(["?" if size < 0 else str(size) for size in wanted])
    sizes = [max(size, 0) for size in wanted]
    for array in arrays:
        found = ",".join(map(str, array.shape))
        if array.ndim != len(wanted):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input element had shape ([{found}]) that is incompatible with the row shape "
                f"([{text}]). [Op:IteratorGetNext]",
            )
        for axis, size in enumerate(array.shape):
            if 0 <= wanted[axis] < size:
                raise errors.DataLossError(
                    None,
                    None,
                    f"Input element had shape ([{found}]) that is larger than the row shape "
                    f"([{text}]). [Op:IteratorGetNext]",
                )
            sizes[axis] = max(sizes[axis], size)
    indices = [
        np.argwhere(np.ones((1, *array.shape), bool)) + [[i] + [0] * array.ndim]
        for i, array in enumerate(arrays)
    ]
    values = np.concatenate([array.reshape(-1) for array in arrays])
    return SparseTensor(np.concatenate(indices).astype(np.int64), values, [len(arrays), *sizes])


def stacked_composites(column: Sequence[Any], place: int) -> Any:
    """Ragged or sparse tensors along a new first axis."""
    first = column[0]
    if isinstance(first, SparseTensor):
        return stacked_sparse(column, place)
    if isinstance(first, RaggedTensor):
        spec = first._type_spec
        common = spec.most_specific_common_supertype([x._type_spec for x in column[1:]])
        if common is None:
            raise differ(place, list(first.shape), 1, list(column[1].shape))
        return stacked_rows(column, common)
    if isinstance(first, BatchableExtensionType):
        return _stacked_encodings(column, place)
    raise NotImplementedError(f"A batch of {type(first).__name__} is not supported.")


def _stacked_encodings(column: Sequence[BatchableExtensionType], place: int) -> Any:
    spec, encoder = column[0]._type_spec, type(column[0]).__batch_encoder__
    for i, value in enumerate(column):
        if value._type_spec != spec:
            spec = spec.most_specific_common_supertype([value._type_spec])
            if spec is None:
                raise ValueError(
                    f"Cannot batch {column[0]!r} and {value!r}, elements 0 and {i}: they differ in "
                    "more than the sizes of their tensors."
                )
    encodings = zip(*[encoder.encode(x._type_spec, x) for x in column], strict=True)
    parts = [value_of(stack_leaf(parts, place)) for parts in encodings]
    return encoder.decode(spec._batch(len(column)), parts)


def has_ragged_rows(specs: Sequence[TypeSpec]) -> bool:
    """Whether values of specs become ragged when they are stacked."""
    return any(isinstance(spec, RaggedTensorSpec) for spec in specs)


def differ(place: int, first: Sequence[Any], number: int, other: Sequence[Any]) -> Exception:
    """The error for tensors that do not fit in one batch."""
    return errors.InvalidArgumentError(
        None,
        None,
        f"Cannot batch tensors with different shapes in component {place}. First element "
        f"had shape {list(first)} and element {number} had shape {list(other)}.",
    )

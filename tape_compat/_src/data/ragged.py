"""Batches of tensors of different shapes as ragged or as sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..composites.ragged import RaggedTensorSpec
from ..composites.sparse import SparseTensorSpec
from ..core.dtypes import DType
from ..values.composite import TypeSpec
from ..values.spec import TensorSpec
from .batching import Batch
from .composites import sparse_rows, stack_leaf, stacked_parts, stacked_rows
from .pipeline import Pipeline, Rows, Stream
from .structure import array_of, map_leaves, pack


class RaggedBatch(Batch):
    """Consecutive elements, stacked; tensors whose spec leaves sizes open become ragged."""

    def __init__(self, source: Pipeline, size: int, drop_remainder: bool, splits: DType):
        super().__init__(source, size, drop_remainder)
        self._splits = splits

    def _spec(self) -> Any:
        size = self._static_size()
        return map_leaves(lambda spec: self._batched(spec, size), self.inputs[0].spec)

    def _batched(self, spec: TypeSpec, size: int | None) -> TypeSpec:
        rank = _ragged_rank(spec)
        if not rank or not isinstance(spec, TensorSpec):
            return spec._batch(size)
        return RaggedTensorSpec([size, *spec.shape], spec.dtype, rank, self._splits)

    def _rows(self, source: Stream) -> Rows | None:
        found = source.elements(self.batch_size)
        if not found:
            return None
        specs = self.inputs[0].layout.specs
        columns: list[Any] = []
        for place, (column, spec) in enumerate(zip(zip(*found), specs, strict=True)):
            rank = _ragged_rank(spec)
            if isinstance(spec, RaggedTensorSpec):
                columns.append(stacked_rows(column, spec))
            elif rank:
                parts = stacked_parts(list(map(array_of, column)), rank, self._splits)
                columns.append(self._batched(spec, None)._from_components(parts))  # type: ignore[attr-defined]
            else:
                columns.append(stack_leaf(column, place))
        return len(found), tuple(columns)


def _ragged_rank(spec: TypeSpec) -> int:
    """How many dimensions of a batch of a spec are ragged."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        return 0
    return max([i + 1 for i, size in enumerate(spec.shape) if size is None], default=0)


class SparseBatch(Batch):
    """Consecutive elements as rows of one sparse tensor. row_shape: the shape of a row."""

    name = "DenseToSparseBatchDataset"

    def __init__(self, source: Pipeline, size: int, row_shape: Sequence[int | None]):
        super().__init__(source, size, False)
        self._row_shape = list(row_shape)
        specs = source.layout.specs
        if len(specs) != 1 or not isinstance(specs[0], TensorSpec):
            kinds = pack(source.spec, [getattr(spec, "dtype", spec) for spec in specs])
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset whose elements have a single "
                f"component, but the given dataset has the following component types: {kinds}."
            )
        self._dtype = specs[0].dtype

    def _spec(self) -> Any:
        return SparseTensorSpec([None, *self._row_shape], self._dtype)

    def _rows(self, source: Stream) -> Rows | None:
        found = source.elements(self.batch_size)
        if not found:
            return None
        return len(found), (sparse_rows([array_of(x) for (x,) in found], self._row_shape),)

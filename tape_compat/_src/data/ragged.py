"""Batches of tensors of different shapes as ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..values.composite import TypeSpec
from ..values.ragged import RaggedTensor, RaggedTensorSpec
from ..values.spec import TensorSpec
from .batching import Batch, batched_spec, taken_elements
from .pipeline import Pipeline, Rows, Stream, stack_leaf
from .structure import Layout, array_of, map_leaves


def stacked_ragged(arrays: Sequence[np.ndarray], ragged_rank: int, splits: DType) -> RaggedTensor:
    """Tensors of different sizes in their first `ragged_rank` dimensions along a new first one."""
    lengths = []
    for place in range(ragged_rank):
        counts = [int(np.prod(x.shape[:place], dtype=np.int64)) for x in arrays]
        lengths.append(np.repeat([x.shape[place] for x in arrays], counts))
    flat = [x.reshape(-1, *x.shape[ragged_rank:]) for x in arrays]
    rows = [np.concatenate([[0], np.cumsum(each)]).astype(splits.np_dtype) for each in lengths]
    return RaggedTensor.from_nested_row_splits(np.concatenate(flat), rows, validate=False)


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
            return batched_spec(spec, size)
        return RaggedTensorSpec([size, *spec.shape], spec.dtype, rank, self._splits)

    def _rows(self, source: Stream) -> Rows | None:
        found = taken_elements(source, self._size)
        if not found:
            return None
        ranks = map(_ragged_rank, Layout(self.inputs[0].spec).specs)
        columns = []
        for place, (column, rank) in enumerate(zip(zip(*found), ranks, strict=True)):
            if rank:
                columns.append(stacked_ragged(list(map(array_of, column)), rank, self._splits))
            else:
                columns.append(stack_leaf(column, place))
        return len(found), tuple(columns)


def _ragged_rank(spec: TypeSpec) -> int:
    """How many dimensions of a batch of a spec are ragged."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        return 0
    return max([i + 1 for i, size in enumerate(spec.shape) if size is None], default=0)

"""`tf.map_fn` over the rows of ragged and sparse tensors: a loop of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.sparse import SparseTensor, SparseTensorSpec, known_dense_shape
from ..core.dtypes import as_dtype
from ..core.errors import NeedsValue
from ..core.refuse import invalid
from ..ops import joining, ragged_rows
from ..ops.creation import zeros
from ..ops.sparse_layout import concat, expand_dims, made, positions, taken
from ..values import nest
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor


def has_rows(structure: Any) -> bool:
    """Whether a ragged or sparse tensor, or a spec of one, is in a structure."""
    kinds = (RaggedTensor, RaggedTensorSpec, SparseTensor, SparseTensorSpec)
    return any(isinstance(x, kinds) for x in nest.flatten(structure))


class _SparseRows:
    """The rows of a sparse tensor, each a sparse tensor."""

    def __init__(self, sparse: SparseTensor) -> None:
        self._sparse = sparse
        self._positions = positions(sparse)
        self._shape = known_dense_shape(sparse)
        self.dtype = sparse.dtype
        self.shape = self._shape[1:]

    def __len__(self) -> int:
        return self._shape[0]

    def __getitem__(self, i: int) -> SparseTensor:
        keep = np.flatnonzero(self._positions[:, 0] == i)
        return made(self._positions[keep, 1:], taken(self._sparse.values, keep), self._shape[1:])


def _rows(x: Any) -> Any:
    if isinstance(x, SparseTensor):
        return _SparseRows(x)
    return x if isinstance(x, RaggedTensor) else convert(x)


def _count(rows: Any) -> int:
    """How many there are. Raises: NeedsValue if that is not known."""
    if isinstance(rows, RaggedTensor):
        return int(rows.nrows())
    if isinstance(rows, Tensor) and rows.shape.rank and rows.shape[0] is None:
        raise NeedsValue("How many rows tf.map_fn takes is not known")
    return len(rows)


def map_ragged(fn: Callable[[Any], Any], elems: Any, signature: Any) -> Any:
    """`fn` of each row of a nest, stacked as `signature` says, by default as `elems` is.

    Raises: ValueError if the numbers of rows differ; InvalidArgumentError for results that are no
      rows of a ragged tensor where one is to be made.
    """
    leaves = [_rows(x) for x in nest.flatten(elems)]
    counts = list(map(_count, leaves))
    for count in counts[1:]:
        if count != counts[0]:
            raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
    like = elems if signature is None else signature
    results: list[list[Any]] = []
    for i in range(counts[0]):
        found = fn(nest.pack_sequence_as(elems, [x[i] for x in leaves]))
        nest.assert_same_structure(like, found)
        results.append(nest.flatten(found))
    specs = leaves if signature is None else nest.flatten(signature)
    stacked = [_stacked([row[k] for row in results], spec) for k, spec in enumerate(specs)]
    return nest.pack_sequence_as(like, stacked)


def _sparse_rows(rows: list[Any], spec: Any) -> SparseTensor:
    """A sparse tensor of sparse rows, as large as the largest."""
    if rows:
        return concat(0, [expand_dims(row, 0) for row in rows], expand_nonconcat_dims=True)
    sizes = [0, *[size or 0 for size in spec.shape]]
    return made(np.zeros((0, len(sizes)), np.int64), zeros([0], spec.dtype), tuple(sizes))


def _no_rows(spec: RaggedTensorSpec) -> RaggedTensor:
    """A ragged tensor of no rows, of which each were as `spec` says."""
    levels = spec.ragged_rank + 1
    known = spec.shape.as_list() if spec.shape.rank is not None else []
    inner = [size or 0 for size in known[levels:]]
    empty = ragged_rows.Rows(
        [np.zeros(1, np.int64)] * levels, [None] * levels, zeros([0, *inner], spec.dtype)
    )
    return ragged_rows.ragged(empty, spec.row_splits_dtype)


def _stacked(rows: list[Any], spec: Any) -> Any:
    if isinstance(spec, (_SparseRows, SparseTensorSpec)):
        return _sparse_rows(rows, spec)
    if not isinstance(spec, (RaggedTensor, RaggedTensorSpec)):
        dtype = spec.dtype if hasattr(spec, "dtype") else as_dtype(spec)
        if rows:
            return joining.stack([convert(row, dtype) for row in rows])
        sizes = spec.shape.as_list() if isinstance(spec, TensorSpec) else []
        return zeros([0, *sizes], dtype)
    if isinstance(spec, RaggedTensor):
        spec = RaggedTensorSpec(None, spec.dtype, spec.ragged_rank - 1, spec.row_splits.dtype)
    if not rows:
        return _no_rows(spec)
    rows = [row if isinstance(row, RaggedTensor) else convert(row) for row in rows]
    for row in rows:
        check_row(row, spec)
        if not len(row.shape):
            raise invalid(
                "Ragged values must have rank >= 1; encoded scalar element at index 0 has values "
                f"{row}",
                "RaggedTensorFromVariant",
            )
    found = ragged_rows.of_rows(rows, spec.ragged_rank)
    return found.with_row_splits_dtype(spec.row_splits_dtype)


def check_row(row: Any, spec: RaggedTensorSpec) -> None:
    """Refuse a result of `map_fn` that `spec` does not describe."""
    ragged = isinstance(row, RaggedTensor)
    given = row._type_spec if ragged else TensorSpec(row.shape, row.dtype)
    rank, splits = (row.ragged_rank, row.row_splits.dtype) if ragged else (0, spec.row_splits_dtype)
    kind = row.dtype, rank, splits
    if kind == (spec.dtype, spec.ragged_rank, spec.row_splits_dtype):
        if spec.shape.is_compatible_with(row.shape):
            return
    raise ValueError(
        f"Error in map_fn:\n  Expected `fn` to return a:\n    {spec}\n  But it returned a:\n"
        f"    {given}\n    (value={row!s})\n  To fix, update the `fn_output_signature` (or "
        "`dtype`) argument to `map_fn`."
    )

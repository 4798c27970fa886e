"""Kernels that count the values of sparse and ragged tensors, or cross them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...composites.ragged import RaggedTensor
from ...composites.sparse import SparseTensor
from ...core.dtypes import DType
from ...core.refuse import invalid
from ...ops import casting, creation, crosses, gather_scatter, segments, shapes, sparse_arithmetic
from ...ops.arguments import known_value
from ...values.convert import convert
from ...values.tensor import Tensor, concrete
from .registry import kernel
from .sparse_kernels import parts_of

# -- counts ---------------------------------------------------------------------------------------


def _by_row(rows: np.ndarray, count: int, values: Any, size: Any, weights: Any, once: bool) -> Any:
    """Counts [rows, size] of values, each of a row; of those from `size` on there are none."""
    length, numbers = int(known_value(size)), known_value(values)
    if length < 0:
        raise invalid(f"size ({length}) must be non-negative", "Bincount")
    if (numbers < 0).any():
        raise invalid("Input arr must be non-negative!", "Bincount")
    kept = np.flatnonzero(numbers < length)
    places = convert(rows[kept] * length + numbers[kept].astype(np.int64))
    if once or not weights._aval.size:
        given = creation.ones([len(kept)], weights.dtype)
    else:
        given = gather_scatter.gather(shapes.reshape(weights, [-1]), kept)
    found = segments.unsorted_segment_sum(given, places, count * length)
    if once:
        found = casting.cast(found > 0, weights.dtype)
    return shapes.reshape(found, [count, length])


@kernel("RaggedBincount")
def _ragged_bincount(
    splits: Any, values: Any, size: Any, weights: Any, *, binary_output: bool
) -> Tensor:
    lengths = np.diff(known_value(splits))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    found: Tensor = _by_row(rows, len(lengths), values, size, weights, binary_output)
    return found


@kernel("SparseBincount")
def _sparse_bincount(
    indices: Any, values: Any, shape: Any, size: Any, weights: Any, *, binary_output: bool
) -> Tensor:
    sizes, rows = known_value(shape), known_value(indices)[:, 0]
    if len(sizes) > 1:
        found: Tensor = _by_row(rows, int(sizes[0]), values, size, weights, binary_output)
        return found
    whole: Tensor = _by_row(np.zeros_like(rows), 1, values, size, weights, binary_output)[0]
    return whole


def _sparse_counts(
    values: Any, weights: Any, kind: DType, axis: int, least: int, most: int, once: bool
) -> Sequence[Tensor]:
    given = None if least < 0 else least, None if most < 0 else most
    found = sparse_arithmetic.bincount(values, weights, axis, *given, once)
    return found.indices, casting.cast(found.values, kind), found.dense_shape


@kernel("DenseCountSparseOutput")
def _dense_counts(
    x: Any, weights: Any, *, binary_output: bool, minlength: int, maxlength: int
) -> Sequence[Tensor]:
    given = weights if weights._aval.size else None
    rest = (weights.dtype, -1 if len(x._aval.shape) > 1 else 0)
    return _sparse_counts(x, given, *rest, minlength, maxlength, binary_output)


@kernel("RaggedCountSparseOutput")
def _ragged_counts(
    splits: Any,
    values: Any,
    weights: Any,
    *,
    binary_output: bool,
    minlength: int,
    maxlength: int,
) -> Sequence[Tensor]:
    rows = RaggedTensor.from_row_splits(values, splits)
    given = RaggedTensor.from_row_splits(weights, splits) if weights._aval.size else None
    rest = (weights.dtype, -1, minlength, maxlength, binary_output)
    return _sparse_counts(rows, given, *rest)


@kernel("SparseCountSparseOutput")
def _counts_of_sparse(
    indices: Any,
    values: Any,
    shape: Any,
    weights: Any,
    *,
    binary_output: bool,
    minlength: int,
    maxlength: int,
) -> Sequence[Tensor]:
    given = SparseTensor(indices, weights, shape) if weights._aval.size else None
    axis = -1 if len(known_value(shape)) > 1 else 0
    rest = (weights.dtype, axis, minlength, maxlength, binary_output)
    return _sparse_counts(SparseTensor(indices, values, shape), given, *rest)


# -- crosses --------------------------------------------------------------------------------------


def _mixed(inputs: Sequence[Any], count: int) -> list[Any]:
    """The sparse tensors of `count` indices, values and shapes, and the dense ones behind them."""
    indices, values, sizes = [inputs[i * count : (i + 1) * count] for i in range(3)]
    parts = zip(indices, values, sizes, strict=True)
    return [*(SparseTensor(*each) for each in parts), *inputs[3 * count :]]


@kernel("SparseCross")
def _crossed(
    *inputs: Any, N: int, hashed_output: bool, num_buckets: int, hash_key: int
) -> Sequence[Tensor]:
    given = _mixed(inputs, N)
    if hashed_output:
        return parts_of(crosses.sparse_cross_hashed(given, num_buckets, hash_key))
    return parts_of(crosses.sparse_cross(given))


@kernel("SparseCrossV2")
def _crossed_with(*inputs: Any, N: int) -> Sequence[Tensor]:
    *given, between = inputs
    text = known_value(between).item().decode()
    return parts_of(crosses.sparse_cross(_mixed(given, N), separator=text))


@kernel("RaggedCross")
def _ragged_cross(
    *inputs: Any,
    Nsparse: int,
    ragged_values_types: Sequence[DType],
    input_order: str,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_row_splits_type: DType,
) -> Sequence[Tensor]:
    """input_order: which inputs come one after the other: 'R' ragged, 'D' dense, 'S' sparse."""
    count = len(ragged_values_types)
    pairs = zip(inputs[:count], inputs[count : 2 * count], strict=True)
    ragged = iter([RaggedTensor.from_row_splits(*pair) for pair in pairs])
    mixed = _mixed(inputs[2 * count :], Nsparse)
    sources = {"R": ragged, "S": iter(mixed[:Nsparse]), "D": iter(mixed[Nsparse:])}
    given = [next(sources[kind]) for kind in input_order]
    if hashed_output:
        found = crosses.ragged_cross_hashed(given, num_buckets, hash_key)
    else:
        found = crosses.ragged_cross(given)
    splits = found.row_splits.numpy().astype(out_row_splits_type.np_dtype)
    return found.values, concrete(splits)

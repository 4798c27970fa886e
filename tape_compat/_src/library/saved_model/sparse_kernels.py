"""Kernels of sparse tensors, each given as indices, values and a shape, of sets and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autodiff.custom import stop_gradient
from ...composites.ragged import RaggedTensor
from ...composites.sparse import SparseTensor
from ...core.dtypes import DType, int64
from ...data.io import serialized_sparse
from ...ops import (
    arithmetic,
    casting,
    creation,
    ctc_decoders,
    ctc_losses,
    edit_distances,
    gather_scatter,
    joining,
    plain_kernels,
    ragged_creation,
    segments,
    sets,
    shapes,
    sparse_arithmetic,
    sparse_layout,
    sparse_segments,
)
from ...ops.arguments import known_value, sketched
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from .gradient_kernels import pulled
from .registry import KERNELS, Kernel, calling, kernel

KERNELS |= {
    "RaggedFillEmptyRows": calling(plain_kernels.ragged_fill_empty_rows),
}


def _sparse(indices: Any, values: Any, shape: Any) -> SparseTensor:
    return SparseTensor(casting.cast(indices, int64), values, casting.cast(shape, int64))


def parts_of(found: SparseTensor) -> tuple[Tensor, Tensor, Tensor]:
    """The indices, values and shape of a sparse tensor."""
    return found.indices, found.values, found.dense_shape


# -- layout ---------------------------------------------------------------------------------------


@kernel("SparseReorder")
def _reorder(indices: Any, values: Any, shape: Any) -> Sequence[Tensor]:
    return parts_of(sparse_layout.reorder(_sparse(indices, values, shape)))[:2]


@kernel("SparseReshape")
def _reshape(indices: Any, shape: Any, new: Any) -> Sequence[Tensor]:
    values = creation.zeros(shapes.shape(indices)[:1])
    found = sparse_layout.reshape(_sparse(indices, values, shape), new)
    return found.indices, found.dense_shape


@kernel("SparseSlice")
def _slice(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Sequence[Tensor]:
    return parts_of(sparse_layout.slice(_sparse(indices, values, shape), start, size))


@kernel("SparseConcat")
def _concat(*inputs: Any, concat_dim: int) -> Sequence[Tensor]:
    count = len(inputs) // 3
    parts = [_sparse(*inputs[i::count]) for i in range(count)]
    return parts_of(sparse_layout.concat(concat_dim, parts))


@kernel("SparseSplit")
def _split(axis: Any, indices: Any, values: Any, shape: Any, *, num_split: int) -> list[Tensor]:
    found = sparse_layout.split(_sparse(indices, values, shape), num_split, axis)
    return [part for parts in zip(*map(parts_of, found), strict=True) for part in parts]


@kernel("SparseFillEmptyRows")
def _fill(indices: Any, values: Any, shape: Any, default: Any) -> Sequence[Tensor]:
    found, empty = sparse_layout.fill_empty_rows(_sparse(indices, values, shape), default)
    rows = [known_value(x)[:, 0] for x in (indices, found.indices)]
    places = np.flatnonzero(~known_value(empty)[rows[1]])
    order = np.argsort(rows[0], kind="stable")
    back = np.empty(len(order), np.int64)
    back[order] = places
    return found.indices, found.values, empty, concrete(back)


@kernel("RaggedFillEmptyRowsGrad", "SparseFillEmptyRowsGrad")
def _fill_back(places: Any, gradient: Any) -> Sequence[Tensor]:
    kept = gather_scatter.gather(gradient, places)
    return kept, _total(gradient) - _total(kept)


def _total(x: Any) -> Tensor:
    zeros = creation.zeros(shapes.shape(x), "int32")
    return segments.unsorted_segment_sum(x, zeros, 1)[0]


# -- arithmetic -----------------------------------------------------------------------------------


@kernel("SparseAdd")
def _add(*inputs: Any) -> Sequence[Tensor]:
    found = sparse_arithmetic.add(_sparse(*inputs[:3]), _sparse(*inputs[3:6]), inputs[6])
    return parts_of(found)


@kernel("SparseAddGrad")
def _add_back(gradient: Any, one: Any, other: Any, of_sum: Any) -> Sequence[Tensor]:
    return _taken(gradient, of_sum, one), _taken(gradient, of_sum, other)


@kernel("SparseSliceGrad")
def _slice_back(gradient: Any, indices: Any, start: Any, of_slice: Any) -> Tensor:
    return _taken(gradient, of_slice + start, indices)


def _taken(values: Any, indices: Any, wanted: Any) -> Tensor:
    """The values that stand at the indices wanted; 0 where none stands."""
    places = {tuple(index): i for i, index in enumerate(known_value(indices).tolist())}
    found = [places.get(tuple(index), len(places)) for index in known_value(wanted).tolist()]
    padded = joining.concat([values, creation.zeros([1], values.dtype)], 0)
    return gather_scatter.gather(padded, np.array(found, np.int64))


@kernel("SparseTensorDenseAdd")
def _add_dense(indices: Any, values: Any, shape: Any, dense: Any) -> Tensor:
    found: Tensor = sparse_arithmetic.add(_sparse(indices, values, shape), dense)
    return found


@kernel("SparseTensorDenseMatMul")
def _matmul(*inputs: Any, adjoint_a: bool, adjoint_b: bool) -> Tensor:
    *parts, dense = inputs
    return sparse_arithmetic.sparse_dense_matmul(_sparse(*parts), dense, adjoint_a, adjoint_b)


@kernel("SparseSoftmax")
def _softmax(indices: Any, values: Any, shape: Any) -> Tensor:
    return sparse_arithmetic.softmax(_sparse(indices, values, shape)).values


@kernel("SparseDenseCwiseMul")
def _multiply(indices: Any, values: Any, shape: Any, dense: Any) -> Tensor:
    return values * _beside(indices, shape, dense)


@kernel("SparseDenseCwiseDiv")
def _divide(indices: Any, values: Any, shape: Any, dense: Any) -> Tensor:
    divided = arithmetic.truncatediv if values.dtype.is_integer else arithmetic.divide
    return divided(values, _beside(indices, shape, dense))


@kernel("SparseDenseCwiseAdd")
def _sum(indices: Any, values: Any, shape: Any, dense: Any) -> Tensor:
    return values + _beside(indices, shape, dense)


def _beside(indices: Any, shape: Any, dense: Any) -> Tensor:
    """The elements of a dense tensor, broadcast, where a sparse one has its own."""
    rank, sizes = len(dense._aval.shape), dense._aval.shape
    places = indices[:, indices._aval.shape[1] - rank :]
    kept = np.array([size != 1 for size in sizes], np.int64)
    return gather_scatter.gather_nd(dense, places * kept)


def _pairwise(function: Kernel) -> Kernel:
    def call(*inputs: Any) -> Sequence[Tensor]:
        return parts_of(function(_sparse(*inputs[:3]), _sparse(*inputs[3:])))[:2]

    return call


def _reduced(function: Kernel) -> Kernel:
    def call(indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Tensor:
        found: Tensor = function(
            _sparse(indices, values, shape), known_value(axes).ravel().tolist(), keep_dims
        )
        return found

    return call


def _reduced_to_sparse(function: Kernel) -> Kernel:
    def call(
        indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool
    ) -> Sequence[Tensor]:
        sparse, along = _sparse(indices, values, shape), known_value(axes).ravel().tolist()
        return parts_of(function(sparse, along, keep_dims, output_is_sparse=True))

    return call


KERNELS |= {
    "SparseReduceMax": _reduced(sparse_arithmetic.reduce_max),
    "SparseReduceMaxSparse": _reduced_to_sparse(sparse_arithmetic.reduce_max),
    "SparseReduceSum": _reduced(sparse_arithmetic.reduce_sum),
    "SparseReduceSumSparse": _reduced_to_sparse(sparse_arithmetic.reduce_sum),
    "SparseSparseMaximum": _pairwise(sparse_arithmetic.maximum),
    "SparseSparseMinimum": _pairwise(sparse_arithmetic.minimum),
}


KERNELS |= {
    "SparseSegmentMean": calling(sparse_segments.segment_mean),
    "SparseSegmentMeanWithNumSegments": calling(sparse_segments.segment_mean),
    "SparseSegmentSqrtN": calling(sparse_segments.segment_sqrt_n),
    "SparseSegmentSqrtNWithNumSegments": calling(sparse_segments.segment_sqrt_n),
    "SparseSegmentSum": calling(sparse_segments.segment_sum),
    "SparseSegmentSumWithNumSegments": calling(sparse_segments.segment_sum),
}


def _segments_back(kind: str) -> Kernel:
    def back(gradient: Any, indices: Any, ids: Any, size: Any) -> Sequence[Tensor]:
        """The rows that have a gradient, and which they are."""
        used, places = np.unique(known_value(indices), return_inverse=True)
        rows = concrete(places.astype(np.int32))
        found: Tensor = KERNELS[f"{kind}Grad"](gradient, rows, ids, convert(len(used)))
        return found, concrete(used)

    return back


KERNELS |= {
    f"{kind}GradV2": _segments_back(kind)
    for kind in ("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
}

# -- messages ---------------------------------------------------------------------------------


@kernel("SerializeSparse")
def _serialize(*parts: Any, out_type: DType) -> Tensor:
    return serialized_sparse.serialize_sparse(_sparse(*parts), out_type)


@kernel("SerializeManySparse")
def _serialize_many(*parts: Any, out_type: DType) -> Tensor:
    return serialized_sparse.serialize_many_sparse(_sparse(*parts), out_type)


@kernel("DeserializeManySparse")
def _deserialize_many(messages: Any, *, dtype: DType) -> Sequence[Tensor]:
    return parts_of(serialized_sparse.deserialize_many_sparse(messages, dtype))


@kernel("DeserializeSparse")
def _deserialize(messages: Any, *, dtype: DType) -> Sequence[Tensor]:
    indices, values, shape = _deserialize_many(messages, dtype=dtype)
    if len(messages._aval.shape) > 1:
        return indices, values, shape
    return indices[:, 1:], values, shape[1:]


# -- sets and sequences ---------------------------------------------------------------------------

_SETS: dict[str, Kernel] = {
    "a-b": sets.difference,
    "b-a": lambda a, b, validate_indices: sets.difference(a, b, False, validate_indices),
    "intersection": sets.intersection,
    "union": sets.union,
}


def _of_sets(one: Any, other: Any, operation: str, validate: bool) -> Sequence[Tensor]:
    return parts_of(_SETS[operation](one, other, validate_indices=validate))


@kernel("DenseToDenseSetOperation")
def _dense_sets(
    one: Any, other: Any, *, set_operation: str, validate_indices: bool
) -> Sequence[Tensor]:
    return _of_sets(one, other, set_operation, validate_indices)


@kernel("DenseToSparseSetOperation")
def _dense_and_sparse_sets(
    one: Any, *inputs: Any, set_operation: str, validate_indices: bool
) -> Sequence[Tensor]:
    return _of_sets(one, _sparse(*inputs), set_operation, validate_indices)


@kernel("SparseToSparseSetOperation")
def _sparse_sets(*inputs: Any, set_operation: str, validate_indices: bool) -> Sequence[Tensor]:
    one, other = _sparse(*inputs[:3]), _sparse(*inputs[3:])
    return _of_sets(one, other, set_operation, validate_indices)


@kernel("SetSize")
def _set_size(indices: Any, values: Any, shape: Any, *, validate_indices: bool) -> Tensor:
    return sets.size(_sparse(indices, values, shape), validate_indices)


@kernel("EditDistance")
def _distance(*inputs: Any, normalize: bool) -> Tensor:
    one, other = _sparse(*inputs[:3]), _sparse(*inputs[3:])
    return edit_distances.edit_distance(one, other, normalize)


@kernel("CTCLoss")
def _ctc_loss(
    x: Any,
    indices: Any,
    labels: Any,
    lengths: Any,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> Sequence[Tensor]:
    """The loss, and its gradient by x [time, batch, classes]."""
    places = known_value(indices)
    longest = places[:, 1].max(initial=0) + 1 if len(places) else 0
    of_batch = _sparse(indices, labels, convert([x._aval.shape[1], int(longest)]))
    rest = preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs

    def loss(x: Any) -> Tensor:
        return ctc_losses.ctc_loss_v1(of_batch, x, lengths, *rest)

    found = loss(x)
    return found, stop_gradient(pulled(loss, x, creation.ones_like(found)))


@kernel("CTCGreedyDecoder")
def _greedy(x: Any, lengths: Any, *, merge_repeated: bool, blank_index: int) -> Sequence[Tensor]:
    (found,), cost = ctc_decoders.ctc_greedy_decoder(x, lengths, merge_repeated, blank_index)
    return *parts_of(found), cost


@kernel("CTCBeamSearchDecoder")
def _beams(
    x: Any, lengths: Any, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> Sequence[Tensor]:
    found, scores = ctc_decoders.ctc_beam_search_decoder_v1(
        x, lengths, beam_width, top_paths, merge_repeated
    )
    return *[part for parts in zip(*map(parts_of, found), strict=True) for part in parts], scores


@kernel("RaggedGather")
def _ragged_rows(*inputs: Any) -> Sequence[Tensor]:
    *splits, values, indices = inputs
    rows = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    found = gather_scatter.gather(rows, indices)
    return *found.nested_row_splits, found.flat_values


@kernel("RaggedRange")
def _ranges(starts: Any, limits: Any, deltas: Any, *, Tsplits: Any) -> Sequence[Tensor]:
    return _ragged_range(convert(starts), convert(limits), convert(deltas), Tsplits)


@by_host()
def _ragged_range(starts: Tensor, limits: Tensor, deltas: Tensor, kind: Any) -> Sequence[Tensor]:
    sketch = sketched(starts, limits, deltas)
    if sketch is not None:
        rows = [x._aval.shape[0] for x in (starts, limits, deltas) if x._aval.shape] or [1]
        return sketch.tensor([rows[0] + 1], kind), sketch.tensor([None], starts.dtype)
    found = ragged_creation.ragged_range(starts, limits, deltas, row_splits_dtype=kind)
    return found.row_splits, found.flat_values


@kernel("RaggedTensorToSparse")
def _ragged_to_sparse(*inputs: Any) -> Sequence[Tensor]:
    *splits, values = inputs
    found = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    return parts_of(found.to_sparse())

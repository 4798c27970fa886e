"""Kernels of arrays: arithmetic, reductions, matrices, shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autodiff.custom import stop_gradient
from ...core.dtypes import DType, int32, int64
from ...core.refuse import invalid
from ...ops import (
    activations,
    arithmetic,
    casting,
    clipping,
    comparison,
    counting,
    creation,
    decompositions,
    diagonals,
    elementwise,
    gather_scatter,
    joining,
    losses,
    normalization,
    ordering,
    products,
    reductions,
    repeating,
    segments,
    selection,
    shapes,
    slicing,
    solvers,
    special,
    sums,
)
from ...ops.arguments import is_text, known_value
from ...ops.unique_slices import unique_slices
from ...values.convert import convert
from ...values.tensor import Tensor
from .registry import KERNELS, Kernel, kernel, moving


def _sparse_to_dense(indices: Any, shape: Any, values: Any, default: Any) -> Tensor:
    places, given = convert(indices), convert(values)
    if len(places._aval.shape) < 2:
        places = shapes.reshape(places, [-1, 1])
    if not given._aval.shape:
        given = creation.fill([places.shape[0]], given)
    return gather_scatter.tensor_scatter_nd_update(creation.fill(shape, default), places, given)


#: Those that take the inputs of the node and no attribute.
_PLAIN: dict[str, Kernel] = {
    "Abs": elementwise.abs,
    "Acos": elementwise.acos,
    "Acosh": elementwise.acosh,
    "Add": arithmetic.add,
    "AddV2": arithmetic.add,
    "Angle": elementwise.angle,
    "Asin": elementwise.asin,
    "Asinh": elementwise.asinh,
    "Atan": elementwise.atan,
    "Atan2": arithmetic.atan2,
    "Atanh": elementwise.atanh,
    "Betainc": special.betainc,
    "BitwiseAnd": comparison.bitwise_and,
    "BitwiseOr": comparison.bitwise_or,
    "BitwiseXor": comparison.bitwise_xor,
    "BroadcastTo": repeating.broadcast_to,
    "Ceil": elementwise.ceil,
    "Cholesky": solvers.cholesky,
    "ClipByValue": clipping.clip_by_value,
    "Complex": elementwise.complex,
    "ComplexAbs": elementwise.abs,
    "Conj": elementwise.conj,
    "Cos": elementwise.cos,
    "Cosh": elementwise.cosh,
    "Cross": products.cross,
    "Diag": diagonals.tensor_diag,
    "DiagPart": diagonals.tensor_diag_part,
    "Digamma": elementwise.digamma,
    "Div": arithmetic.divide,
    "DivNoNan": arithmetic.divide_no_nan,
    "Elu": activations.elu,
    "Equal": comparison.equal,
    "Erf": elementwise.erf,
    "Erfc": elementwise.erfc,
    "Erfinv": elementwise.erfinv,
    "Exp": elementwise.exp,
    "ExpandDims": shapes.expand_dims,
    "Expm1": elementwise.expm1,
    "Fill": creation.fill,
    "Floor": elementwise.floor,
    "FloorDiv": arithmetic.floordiv,
    "FloorMod": arithmetic.floormod,
    "GatherNd": gather_scatter.gather_nd,
    "Greater": comparison.greater,
    "GreaterEqual": comparison.greater_equal,
    "Igamma": elementwise.igamma,
    "Igammac": elementwise.igammac,
    "Imag": elementwise.imag,
    "Inv": elementwise.reciprocal,
    "Invert": comparison.invert,
    "InvertPermutation": counting.invert_permutation,
    "IsFinite": elementwise.is_finite,
    "IsInf": elementwise.is_inf,
    "IsNan": elementwise.is_nan,
    "L2Loss": losses.l2_loss,
    "LeftShift": comparison.left_shift,
    "Less": comparison.less,
    "LessEqual": comparison.less_equal,
    "Lgamma": elementwise.lgamma,
    "LinSpace": creation.linspace,
    "Log": elementwise.log,
    "Log1p": elementwise.log1p,
    "LogSoftmax": elementwise.log_softmax,
    "LogicalAnd": comparison.logical_and,
    "LogicalNot": comparison.logical_not,
    "LogicalOr": comparison.logical_or,
    "MatrixBandPart": diagonals.band_part,
    "MatrixDeterminant": solvers.det,
    "MatrixDiag": diagonals.diag,
    "MatrixDiagPart": diagonals.diag_part,
    "MatrixSetDiag": diagonals.set_diag,
    "Maximum": arithmetic.maximum,
    "Minimum": arithmetic.minimum,
    "Mod": arithmetic.truncatemod,
    "Mul": arithmetic.multiply,
    "MulNoNan": arithmetic.multiply_no_nan,
    "Ndtri": elementwise.ndtri,
    "Neg": elementwise.negative,
    "NextAfter": arithmetic.nextafter,
    "NotEqual": comparison.not_equal,
    "OnesLike": creation.ones_like,
    "Pad": joining.pad,
    "Polygamma": elementwise.polygamma,
    "Pow": arithmetic.pow,
    "PreventGradient": shapes.identity,
    "Range": creation.range,
    "Rank": shapes.rank,
    "Real": elementwise.real,
    "RealDiv": arithmetic.divide,
    "Reciprocal": elementwise.reciprocal,
    "Relu": activations.relu,
    "Relu6": activations.relu6,
    "Reshape": shapes.reshape,
    "ReverseV2": ordering.reverse,
    "RightShift": comparison.right_shift,
    "Rint": elementwise.rint,
    "Roll": ordering.roll,
    "Round": elementwise.round,
    "Rsqrt": elementwise.rsqrt,
    "SegmentMax": segments.segment_max,
    "SegmentMin": segments.segment_min,
    "SegmentProd": segments.segment_prod,
    "SegmentSum": segments.segment_sum,
    "Selu": activations.selu,
    "Sigmoid": elementwise.sigmoid,
    "Sign": elementwise.sign,
    "Sin": elementwise.sin,
    "Sinh": elementwise.sinh,
    "Slice": slicing.slice,
    "Softmax": elementwise.softmax,
    "Softplus": elementwise.softplus,
    "Softsign": elementwise.softsign,
    "Sqrt": elementwise.sqrt,
    "SparseToDense": moving(2, 3)(_sparse_to_dense),
    "Square": elementwise.square,
    "SquaredDifference": arithmetic.squared_difference,
    "StopGradient": lambda x: x if is_text(x) else stop_gradient(x),
    "Sub": arithmetic.subtract,
    "Tan": elementwise.tan,
    "Tanh": elementwise.tanh,
    "TensorScatterAdd": gather_scatter.tensor_scatter_nd_add,
    "TensorScatterMax": gather_scatter.tensor_scatter_nd_max,
    "TensorScatterMin": gather_scatter.tensor_scatter_nd_min,
    "TensorScatterSub": gather_scatter.tensor_scatter_nd_sub,
    "TensorScatterUpdate": moving(0, 2)(gather_scatter.tensor_scatter_nd_update),
    "Tile": repeating.tile,
    "Transpose": shapes.transpose,
    "TruncateDiv": arithmetic.truncatediv,
    "TruncateMod": arithmetic.truncatemod,
    "UnsortedSegmentMax": segments.unsorted_segment_max,
    "UnsortedSegmentMin": segments.unsorted_segment_min,
    "UnsortedSegmentProd": segments.unsorted_segment_prod,
    "UnsortedSegmentSum": segments.unsorted_segment_sum,
    "Where": selection.where,
    "Xdivy": arithmetic.xdivy,
    "Xlog1py": arithmetic.xlog1py,
    "Xlogy": arithmetic.xlogy,
    "ZerosLike": creation.zeros_like,
    "Zeta": elementwise.zeta,
}


def inputs_only(kernel: Kernel) -> Kernel:
    return lambda *inputs: kernel(*inputs)


KERNELS.update({name: inputs_only(plain) for name, plain in _PLAIN.items()})

# -- elementwise ----------------------------------------------------------------------------------


@kernel("Identity", "Snapshot")
def _identity(x: Any) -> Any:
    return x


@kernel("IdentityN")
def _identities(*inputs: Any) -> list[Any]:
    return list(inputs)


@kernel("ShapeN")
def _shapes(*inputs: Any, out_type: DType = int32) -> list[Any]:
    return [shapes.shape(x, out_type) for x in inputs]


@kernel("Cast")
def _cast(x: Any, *, DstT: DType) -> Tensor:
    return casting.cast(x, DstT)


@kernel("Bitcast")
def _bitcast(x: Any, *, type: DType) -> Tensor:
    return casting.bitcast(x, type)


@kernel("LeakyRelu")
def _leaky_relu(x: Any, *, alpha: float = 0.2) -> Tensor:
    return activations.leaky_relu(x, alpha)


@kernel("AddN", "AccumulateNV2")
def _add_n(*inputs: Any) -> Any:
    return sums.add_n(list(inputs))


@kernel("BiasAdd", "BiasAddV1")
def _bias_add(x: Any, bias: Any, *, data_format: str = "NHWC") -> Tensor:
    return normalization.bias_add(x, bias, data_format)


@kernel("Select")
def _select(condition: Any, x: Any, y: Any) -> Tensor:
    rank = len(x._aval.shape)
    if len(condition._aval.shape) == 1 and rank > 1:
        condition = shapes.reshape(condition, [-1] + [1] * (rank - 1))
    return selection.where(condition, x, y)


@kernel("SelectV2")
def _select_v2(condition: Any, x: Any, y: Any) -> Tensor:
    return selection.where(condition, x, y)


# -- reductions -----------------------------------------------------------------------------------


def _reduction(reduce: Kernel) -> Kernel:
    def reduced(x: Any, axis: Any, *, keep_dims: bool = False) -> Tensor:
        return reduce(x, axis, keep_dims)

    return reduced


KERNELS |= {
    "All": _reduction(reductions.reduce_all),
    "Any": _reduction(reductions.reduce_any),
    "EuclideanNorm": _reduction(reductions.reduce_euclidean_norm),
    "Max": _reduction(reductions.reduce_max),
    "Mean": _reduction(reductions.reduce_mean),
    "Min": _reduction(reductions.reduce_min),
    "Prod": _reduction(reductions.reduce_prod),
    "Sum": _reduction(reductions.reduce_sum),
}


@kernel("ArgMax")
def _argmax(x: Any, axis: Any, *, output_type: DType = int64) -> Tensor:
    return reductions.argmax(x, axis, output_type)


@kernel("ArgMin")
def _argmin(x: Any, axis: Any, *, output_type: DType = int64) -> Tensor:
    return reductions.argmin(x, axis, output_type)


@kernel("Cumsum")
def _cumsum(x: Any, axis: Any, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    return reductions.cumsum(x, axis, exclusive, reverse)


@kernel("Cumprod")
def _cumprod(x: Any, axis: Any, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    return reductions.cumprod(x, axis, exclusive, reverse)


# -- matrices -------------------------------------------------------------------------------------


@kernel("MatMul")
def _matmul(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    return products.matmul(a, b, transpose_a, transpose_b)


@kernel("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(a: Any, b: Any, *, adj_x: bool = False, adj_y: bool = False) -> Tensor:
    return products.matmul(a, b, False, False, adj_x, adj_y)


@kernel("BatchMatMulV3")
def _batch_matmul_of(
    a: Any, b: Any, *, Tout: DType, adj_x: bool = False, adj_y: bool = False
) -> Tensor:
    return products.matmul(a, b, adjoint_a=adj_x, adjoint_b=adj_y, output_type=Tout)


@kernel("Einsum")
def _einsum(*inputs: Any, equation: str) -> Tensor:
    return products.einsum(equation, *inputs)


@kernel("ConjugateTranspose")
def _conjugate_transpose(x: Any, permutation: Any) -> Tensor:
    return shapes.transpose(x, permutation, conjugate=True)


@kernel("MatrixInverse")
def _inverse(x: Any, *, adjoint: bool = False) -> Tensor:
    return solvers.inv(x, adjoint)


@kernel("MatrixSolve")
def _solve(matrix: Any, rhs: Any, *, adjoint: bool = False) -> Tensor:
    return solvers.solve(matrix, rhs, adjoint)


@kernel("MatrixTriangularSolve")
def _triangular_solve(
    matrix: Any, rhs: Any, *, lower: bool = True, adjoint: bool = False
) -> Tensor:
    return solvers.triangular_solve(matrix, rhs, lower, adjoint)


@kernel("MatrixDiagV2", "MatrixDiagV3")
def _diag(
    diagonal: Any, k: Any, rows: Any, cols: Any, padding: Any, *, align: str = "RIGHT_LEFT"
) -> Tensor:
    return diagonals.diag(
        diagonal,
        k=_span(k),
        num_rows=_number(rows),
        num_cols=_number(cols),
        padding_value=_number(padding),
        align=align,
    )


@kernel("MatrixDiagPartV2", "MatrixDiagPartV3")
def _diag_part(x: Any, k: Any, padding: Any, *, align: str = "RIGHT_LEFT") -> Tensor:
    return diagonals.diag_part(x, k=_span(k), padding_value=_number(padding), align=align)


@kernel("MatrixSetDiagV2", "MatrixSetDiagV3")
def _set_diag(x: Any, diagonal: Any, k: Any, *, align: str = "RIGHT_LEFT") -> Tensor:
    return diagonals.set_diag(x, diagonal, k=_span(k), align=align)


def _span(k: Any) -> Any:
    found = known_value(k).tolist()
    return tuple(found) if isinstance(found, list) and len(found) > 1 else np.ravel(found).item()


def _number(x: Any) -> Any:
    return known_value(x).item()


@kernel("Qr")
def _qr(x: Any, *, full_matrices: bool = False) -> Sequence[Tensor]:
    return decompositions.qr(x, full_matrices)


@kernel("Svd")
def _svd(x: Any, *, full_matrices: bool = False, compute_uv: bool = True) -> Sequence[Tensor]:
    if not compute_uv:
        values = casting.cast(decompositions.svd(x, full_matrices, False), x.dtype)
        return values, creation.zeros([0], x.dtype), creation.zeros([0], x.dtype)
    values, left, right = decompositions.svd(x, full_matrices)
    return casting.cast(values, x.dtype), left, right


@kernel("SelfAdjointEigV2")
def _eigh(x: Any) -> Sequence[Tensor]:
    values, vectors = decompositions.eigh(x)
    return casting.cast(values, x.dtype), vectors


# -- shapes and elements --------------------------------------------------------------------------


@kernel("Shape")
def _shape(x: Any, *, out_type: DType = int32) -> Tensor:
    return shapes.shape(x, out_type)


@kernel("Size")
def _size(x: Any, *, out_type: DType = int32) -> Tensor:
    return shapes.size(x, out_type)


@kernel("EnsureShape")
def _ensure_shape(x: Any, *, shape: Any) -> Tensor:
    return shapes.ensure_shape(x, shape)


@kernel("Squeeze")
def _squeeze(x: Any, *, squeeze_dims: Sequence[int] = ()) -> Tensor:
    return shapes.squeeze(x, list(squeeze_dims) or None)


@kernel("Concat")
def _concat_first(axis: Any, *values: Any) -> Tensor:
    return joining.concat(list(values), axis)


@kernel("ConcatV2")
def _concat(*values: Any) -> Tensor:
    return joining.concat(list(values[:-1]), values[-1])


@kernel("Pack")
def _pack(*values: Any, axis: int = 0) -> Tensor:
    return joining.stack(list(values), axis)


@kernel("Unpack")
def _unpack(x: Any, *, num: int, axis: int = 0) -> list[Tensor]:
    return joining.unstack(x, num, axis)


@kernel("Split")
def _split(axis: Any, x: Any, *, num_split: int) -> list[Tensor]:
    return joining.split(x, num_split, int(known_value(axis)))


@kernel("SplitV")
def _split_sizes(x: Any, sizes: Any, axis: Any) -> list[Tensor]:
    return joining.split(x, sizes, int(known_value(axis)))


@kernel("PadV2")
@moving(0, 2)
def _pad(x: Any, paddings: Any, value: Any) -> Tensor:
    return joining.pad(x, paddings, constant_values=value)


@kernel("MirrorPad")
def _mirror_pad(x: Any, paddings: Any, *, mode: str) -> Tensor:
    return joining.pad(x, paddings, mode)


@kernel("StridedSlice")
def _strided_slice(
    x: Any,
    begin: Any,
    end: Any,
    strides: Any,
    *,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return slicing.strided_slice(x, begin, end, strides, *masks)


@kernel("Gather")
def _gather(x: Any, indices: Any, *, batch_dims: int = 0) -> Tensor:
    return gather_scatter.gather(x, indices, batch_dims=batch_dims)


@kernel("GatherV2")
def _gather_axis(x: Any, indices: Any, axis: Any, *, batch_dims: int = 0) -> Tensor:
    found = int(known_value(axis))
    return gather_scatter.gather(x, indices, axis=found, batch_dims=batch_dims)


@kernel("OneHot")
@moving(2, 3)
def _one_hot(indices: Any, depth: Any, on: Any, off: Any, *, axis: int = -1) -> Tensor:
    return creation.one_hot(indices, depth, on, off, axis, on.dtype)


@kernel("ReverseSequence")
@moving(0)
def _reverse_sequence(x: Any, lengths: Any, *, seq_dim: int, batch_dim: int = 0) -> Tensor:
    return ordering.reverse_sequence(x, lengths, seq_dim, batch_dim)


@kernel("SegmentMean")
def _segment_mean(x: Any, ids: Any) -> Tensor:
    return casting.cast(segments.segment_mean(x, ids), x.dtype)


@kernel("ScatterNd")
def _scatter(indices: Any, updates: Any, shape: Any) -> Tensor:
    if not is_text(updates):
        return gather_scatter.scatter_nd(indices, updates, shape)
    found: Tensor = KERNELS["TensorScatterUpdate"](creation.fill(shape, ""), indices, updates)
    return found


@kernel("LowerBound")
def _lower_bound(have: Any, values: Any, *, out_type: DType = int32) -> Tensor:
    return ordering.searchsorted(have, values, "left", out_type)


@kernel("UpperBound")
def _upper_bound(have: Any, values: Any, *, out_type: DType = int32) -> Tensor:
    return ordering.searchsorted(have, values, "right", out_type)


@kernel("TopKV2")
def _top_k(x: Any, k: Any, *, sorted: bool = True, index_type: DType = int32) -> Any:
    return counting.top_k(x, k, sorted, index_type)


@kernel("InTopKV2")
def _in_top_k(predictions: Any, targets: Any, k: Any) -> Tensor:
    return counting.in_top_k(targets, predictions, k)


@kernel("DenseBincount")
def _bincount(x: Any, size: Any, weights: Any, *, binary_output: bool = False) -> Tensor:
    given = weights if weights._aval.size else None
    axis = -1 if len(x._aval.shape) > 1 else None
    return counting.bincount(
        x, given, size, size, weights.dtype, axis=axis, binary_output=binary_output
    )


@kernel("Unique")
def _unique(x: Any, *, out_idx: DType = int32) -> Any:
    return selection.unique(x, out_idx)


@kernel("UniqueWithCounts")
def _unique_with_counts(x: Any, *, out_idx: DType = int32) -> Any:
    return selection.unique_with_counts(x, out_idx)


@kernel("UniqueV2")
def _unique_slices(x: Any, axis: Any, *, out_idx: DType = int32) -> Any:
    return unique_slices(x, axis, out_idx, "UniqueV2")[:2]


@kernel("UniqueWithCountsV2")
def _unique_slices_with_counts(x: Any, axis: Any, *, out_idx: DType = int32) -> Any:
    return unique_slices(x, axis, out_idx, "UniqueWithCountsV2")


@kernel("DynamicPartition")
def _dynamic_partition(x: Any, partitions: Any, *, num_partitions: int) -> list[Tensor]:
    return selection.dynamic_partition(x, partitions, num_partitions)


@kernel("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(*inputs: Any) -> Tensor:
    half = len(inputs) // 2
    return selection.dynamic_stitch(list(inputs[:half]), list(inputs[half:]))


@kernel("BroadcastArgs")
def _broadcast_args(x: Any, y: Any) -> Tensor:
    return shapes.broadcast_dynamic_shape(x, y)


# -- what a graph holds ---------------------------------------------------------------------------


@kernel("Const")
def _const(*, value: Any) -> Tensor:
    return convert(value)


@kernel("PlaceholderWithDefault")
def _with_default(x: Any) -> Any:
    return x


@kernel("Placeholder")
def _placeholder() -> Any:
    raise invalid("You must feed a value for placeholder tensor", "Placeholder")

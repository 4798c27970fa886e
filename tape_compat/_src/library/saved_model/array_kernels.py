"""Kernels of arrays: arithmetic, reductions, matrices, shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ...autodiff.custom import custom_gradient, stop_gradient
from ...core.dtypes import DType
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
from ...ops.arguments import is_text, known_value, value_if_known
from ...ops.sparse_layout import check_order
from ...ops.unique_slices import unique_slices
from ...values.convert import convert
from ...values.tensor import Tensor
from .registry import KERNELS, MASKS, Kernel, calling, kernel, moving


def prevent_gradient(input: Any, message: str | bytes = "", name: str | None = None) -> Tensor:
    """A tensor as it is, whose derivative is an error: LookupError with a message."""
    reason = message if isinstance(message, bytes) else message.encode()

    @custom_gradient
    def through(x: Any) -> Any:
        def refuse(*_: Any) -> NoReturn:
            raise LookupError(f"Gradient explicitly disabled. Reason: {reason!r}")

        return shapes.identity(x), refuse

    return through(convert(input))


@kernel("PreventGradient")
def _prevent_gradient(x: Any, *, message: str | bytes = "") -> Tensor:
    return prevent_gradient(x, message)


@kernel("SparseToDense")
@moving(2, 3)
def _sparse_to_dense(
    indices: Any, shape: Any, values: Any, default: Any, *, validate_indices: bool
) -> Tensor:
    places, given = convert(indices), convert(values)
    if len(places._aval.shape) < 2:
        places = shapes.reshape(places, [-1, 1])
    known = value_if_known(places) if validate_indices else None
    if known is not None:
        check_order(known, known_value(shape).tolist(), "SparseToDense")
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
    "BiasAddV1": normalization.bias_add,
    "BitwiseAnd": comparison.bitwise_and,
    "BitwiseOr": comparison.bitwise_or,
    "BitwiseXor": comparison.bitwise_xor,
    "BroadcastArgs": shapes.broadcast_dynamic_shape,
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
    "Gather": gather_scatter.gather,
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
    "SelectV2": selection.where,
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


KERNELS.update({name: calling(plain) for name, plain in _PLAIN.items()})

#: Those that also take attributes, which stand behind the inputs.
KERNELS |= {
    "All": calling(reductions.reduce_all, "keep_dims"),
    "Any": calling(reductions.reduce_any, "keep_dims"),
    "ArgMax": calling(reductions.argmax, "output_type"),
    "ArgMin": calling(reductions.argmin, "output_type"),
    "BiasAdd": calling(normalization.bias_add, "data_format"),
    "Bitcast": calling(casting.bitcast, "type"),
    "Cast": calling(casting.cast, "DstT"),
    "Cumprod": calling(reductions.cumprod, "exclusive reverse"),
    "Cumsum": calling(reductions.cumsum, "exclusive reverse"),
    "DynamicPartition": calling(selection.dynamic_partition, "num_partitions"),
    "EnsureShape": calling(shapes.ensure_shape, "shape"),
    "EuclideanNorm": calling(reductions.reduce_euclidean_norm, "keep_dims"),
    "LeakyRelu": calling(activations.leaky_relu, "alpha"),
    "MatMul": calling(products.matmul, "transpose_a transpose_b"),
    "MatrixInverse": calling(solvers.inv, "adjoint"),
    "MatrixSolve": calling(solvers.solve, "adjoint"),
    "MatrixTriangularSolve": calling(solvers.triangular_solve, "lower adjoint"),
    "Max": calling(reductions.reduce_max, "keep_dims"),
    "Mean": calling(reductions.reduce_mean, "keep_dims"),
    "Min": calling(reductions.reduce_min, "keep_dims"),
    "MirrorPad": calling(joining.pad, "mode"),
    "Prod": calling(reductions.reduce_prod, "keep_dims"),
    "Qr": calling(decompositions.qr, "full_matrices"),
    "ReverseSequence": moving(0)(calling(ordering.reverse_sequence, "seq_dim batch_dim")),
    "Shape": calling(shapes.shape, "out_type"),
    "Size": calling(shapes.size, "out_type"),
    "StridedSlice": calling(slicing.strided_slice, MASKS),
    "Sum": calling(reductions.reduce_sum, "keep_dims"),
    "TopKV2": calling(counting.top_k, "sorted index_type"),
    "Unique": calling(selection.unique, "out_idx"),
    "UniqueWithCounts": calling(selection.unique_with_counts, "out_idx"),
    "Unpack": calling(joining.unstack, "num axis"),
}

# -- elementwise ----------------------------------------------------------------------------------


@kernel("Identity", "PlaceholderWithDefault", "Snapshot")
def _identity(x: Any) -> Any:
    return x


@kernel("IdentityN")
def _identities(*inputs: Any) -> list[Any]:
    return list(inputs)


@kernel("ShapeN")
def _shapes(*inputs: Any, out_type: DType) -> list[Any]:
    return [shapes.shape(x, out_type) for x in inputs]


@kernel("AddN", "AccumulateNV2")
def _add_n(*inputs: Any) -> Any:
    return sums.add_n(list(inputs))


@kernel("Select")
def _select(condition: Any, x: Any, y: Any) -> Tensor:
    rank = len(x._aval.shape)
    if len(condition._aval.shape) == 1 and rank > 1:
        condition = shapes.reshape(condition, [-1] + [1] * (rank - 1))
    return selection.where(condition, x, y)


# -- matrices -------------------------------------------------------------------------------------


@kernel("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(a: Any, b: Any, *, adj_x: bool, adj_y: bool) -> Tensor:
    return products.matmul(a, b, False, False, adj_x, adj_y)


@kernel("BatchMatMulV3")
def _batch_matmul_of(a: Any, b: Any, *, Tout: DType, adj_x: bool, adj_y: bool) -> Tensor:
    return products.matmul(a, b, adjoint_a=adj_x, adjoint_b=adj_y, output_type=Tout)


@kernel("Einsum")
def _einsum(*inputs: Any, equation: str) -> Tensor:
    return products.einsum(equation, *inputs)


@kernel("ConjugateTranspose")
def _conjugate_transpose(x: Any, permutation: Any) -> Tensor:
    return shapes.transpose(x, permutation, conjugate=True)


@kernel("MatrixDiagV2", "MatrixDiagV3")
def _diag(
    diagonal: Any, k: Any, rows: Any, cols: Any, padding: Any, *, align: str = "LEFT_LEFT"
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
def _diag_part(x: Any, k: Any, padding: Any, *, align: str = "LEFT_LEFT") -> Tensor:
    return diagonals.diag_part(x, k=_span(k), padding_value=_number(padding), align=align)


@kernel("MatrixSetDiagV2", "MatrixSetDiagV3")
def _set_diag(x: Any, diagonal: Any, k: Any, *, align: str = "LEFT_LEFT") -> Tensor:
    return diagonals.set_diag(x, diagonal, k=_span(k), align=align)


def _span(k: Any) -> Any:
    found = known_value(k).tolist()
    return tuple(found) if isinstance(found, list) and len(found) > 1 else np.ravel(found).item()


def _number(x: Any) -> Any:
    return known_value(x).item()


@kernel("Svd")
def _svd(x: Any, *, full_matrices: bool, compute_uv: bool) -> Sequence[Tensor]:
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


@kernel("Squeeze")
def _squeeze(x: Any, *, squeeze_dims: Sequence[int]) -> Tensor:
    return shapes.squeeze(x, list(squeeze_dims) or None)


@kernel("Concat")
def _concat_first(axis: Any, *values: Any) -> Tensor:
    return joining.concat(list(values), axis)


@kernel("ConcatV2")
def _concat(*values: Any) -> Tensor:
    return joining.concat(list(values[:-1]), values[-1])


@kernel("Pack")
def _pack(*values: Any, axis: int) -> Tensor:
    return joining.stack(list(values), axis)


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


@kernel("GatherV2")
def _gather_axis(x: Any, indices: Any, axis: Any, *, batch_dims: int) -> Tensor:
    found = int(known_value(axis))
    return gather_scatter.gather(x, indices, axis=found, batch_dims=batch_dims)


@kernel("OneHot")
@moving(2, 3)
def _one_hot(indices: Any, depth: Any, on: Any, off: Any, *, axis: int) -> Tensor:
    return creation.one_hot(indices, depth, on, off, axis, on.dtype)


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
def _lower_bound(have: Any, values: Any, *, out_type: DType) -> Tensor:
    return ordering.searchsorted(have, values, "left", out_type)


@kernel("UpperBound")
def _upper_bound(have: Any, values: Any, *, out_type: DType) -> Tensor:
    return ordering.searchsorted(have, values, "right", out_type)


@kernel("InTopKV2")
def _in_top_k(predictions: Any, targets: Any, k: Any) -> Tensor:
    return counting.in_top_k(targets, predictions, k)


@kernel("DenseBincount")
def _bincount(x: Any, size: Any, weights: Any, *, binary_output: bool) -> Tensor:
    given = weights if weights._aval.size else None
    axis = -1 if len(x._aval.shape) > 1 else None
    return counting.bincount(
        x, given, size, size, weights.dtype, axis=axis, binary_output=binary_output
    )


@kernel("UniqueV2")
def _unique_slices(x: Any, axis: Any, *, out_idx: DType) -> Any:
    return unique_slices(x, axis, out_idx, "UniqueV2")[:2]


@kernel("UniqueWithCountsV2")
def _unique_slices_with_counts(x: Any, axis: Any, *, out_idx: DType) -> Any:
    return unique_slices(x, axis, out_idx, "UniqueWithCountsV2")


@kernel("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(*inputs: Any) -> Tensor:
    half = len(inputs) // 2
    return selection.dynamic_stitch(list(inputs[:half]), list(inputs[half:]))


# -- what a graph holds ---------------------------------------------------------------------------


@kernel("Const")
def _const(*, value: Any) -> Tensor:
    return convert(value)


@kernel("Placeholder")
def _placeholder() -> Any:
    raise invalid("You must feed a value for placeholder tensor", "Placeholder")

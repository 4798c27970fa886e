"""Kernels of special functions, of matrices, of quantized numbers and of data formats."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, float32, float64, int32, int64, uint8
from ...core.refuse import invalid
from ...diagnostics.assertions import check_numerics
from ...ops import (
    bessel,
    casting,
    comparison,
    counting,
    creation,
    decompositions,
    elementwise,
    gather_scatter,
    histograms,
    isotonic,
    joining,
    morphology,
    ordering,
    plain_kernels,
    pooling,
    products,
    quantization,
    reductions,
    repeating,
    segments,
    selection,
    shapes,
    slicing,
    solvers,
    special,
    tridiagonal,
)
from ...ops.arguments import known_value
from ...values.convert import convert
from ...values.tensor import Tensor, concrete
from .array_kernels import inputs_only
from .registry import KERNELS, Kernel, kernel, moving

_PLAIN: dict[str, Kernel] = {
    "BesselI0": elementwise.bessel_i0,
    "BesselI0e": elementwise.bessel_i0e,
    "BesselI1": elementwise.bessel_i1,
    "BesselI1e": elementwise.bessel_i1e,
    "BesselJ0": bessel.bessel_j0,
    "BesselJ1": bessel.bessel_j1,
    "BesselK0": bessel.bessel_k0,
    "BesselK0e": bessel.bessel_k0e,
    "BesselK1": bessel.bessel_k1,
    "BesselK1e": bessel.bessel_k1e,
    "BesselY0": bessel.bessel_y0,
    "BesselY1": bessel.bessel_y1,
    "Dawsn": special.dawsn,
    "DeepCopy": shapes.identity,
    "Expint": special.expint,
    "FresnelCos": special.fresnel_cos,
    "FresnelSin": special.fresnel_sin,
    "GuaranteeConst": shapes.identity,
    "LogMatrixDeterminant": solvers.slogdet,
    "MatrixExponential": decompositions.expm,
    "MatrixLogarithm": decompositions.logm,
    "MatrixSquareRoot": decompositions.sqrtm,
    "ScatterNdNonAliasingAdd": gather_scatter.tensor_scatter_nd_add,
    "Spence": special.spence,
    "UnravelIndex": selection.unravel_index,
}
KERNELS |= {name: inputs_only(plain) for name, plain in _PLAIN.items()}


@kernel("ApproximateEqual")
def _near(x: Any, y: Any, *, tolerance: float = 1e-5) -> Tensor:
    return elementwise.abs(x - y) < tolerance


@kernel("CheckNumerics", "CheckNumericsV2")
def _checked(x: Any, *, message: str) -> Tensor:
    return check_numerics(x, message)


@kernel("CumulativeLogsumexp")
def _running(x: Any, axis: Any, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    return reductions.cumulative_logsumexp(x, axis, exclusive, reverse)


@kernel("PopulationCount")
def _ones_in(x: Any) -> Tensor:
    """How many bits are set."""
    width = x.dtype.size * 8
    places = creation.range(width)
    bits = comparison.right_shift(x[..., None], casting.cast(places, x.dtype))
    one = casting.cast(1, x.dtype)
    return casting.cast(
        reductions.reduce_sum(casting.cast(comparison.bitwise_and(bits, one), int32), -1), uint8
    )


@kernel("ToBool")
def _true(x: Any) -> Tensor:
    """Whether a number is not 0, or an array has elements."""
    if x._aval.shape:
        return shapes.size(x) > 0
    return x if x.dtype.is_bool else comparison.not_equal(x, creation.zeros_like(x))


@kernel("Timestamp")
def _now() -> Tensor:
    return convert(time.time(), float64)


# -- counts and elements --------------------------------------------------------------------------


@kernel("Bincount")
def _bincount(x: Any, size: Any, weights: Any) -> Tensor:
    flat = [shapes.reshape(part, [-1]) for part in (x, weights)]
    found: Tensor = KERNELS["DenseBincount"](flat[0], size, flat[1])
    return found


@kernel("HistogramFixedWidth")
def _histogram(x: Any, ends: Any, bins: Any, *, dtype: DType = int32) -> Tensor:
    return histograms.histogram_fixed_width(x, ends, bins, dtype)


@kernel("InTopK")
def _in_top_k(predictions: Any, targets: Any, *, k: int) -> Tensor:
    return counting.in_top_k(targets, predictions, k)


@kernel("ApproxTopK")
def _approximate_top_k(
    x: Any,
    *,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> Any:
    rest = (recall_target, is_max_k, reduction_input_size_override, aggregate_to_topk)
    return plain_kernels.approx_top_k(x, k, reduction_dimension, *rest)


@kernel("NthElement")
def _nth(x: Any, n: Any, *, reverse: bool = False) -> Tensor:
    order = ordering.sort(x, direction="DESCENDING" if reverse else "ASCENDING")
    return gather_scatter.gather(order, n, axis=-1)


@kernel("ListDiff")
def _left(x: Any, y: Any, *, out_idx: DType = int32) -> Sequence[Tensor]:
    """The values of x that y has not, and where they are."""
    others = set(known_value(y).tolist())
    values = known_value(x)
    places = np.array([i for i, one in enumerate(values.tolist()) if one not in others], int)
    kept = convert(values[places]) if values.dtype == object else concrete(values[places])
    return kept, concrete(places.astype(out_idx.np_dtype))


@kernel("ConcatOffset")
def _offsets(axis: Any, *shapes_of: Any) -> Sequence[Tensor]:
    """Where each of several arrays begins in all of them one after the other."""
    place, found, start = int(known_value(axis)), [], 0
    for shape in map(known_value, shapes_of):
        offset = np.zeros_like(shape)
        offset[place] = start
        start += int(shape[place])
        found.append(concrete(offset))
    return found


@kernel("Empty")
def _empty(shape: Any, *, dtype: DType) -> Tensor:
    return creation.zeros(shape, dtype)


@kernel("ParallelConcat")
def _rows(*values: Any) -> Tensor:
    return joining.concat(list(values), 0)


@kernel("Reverse")
def _reversed(x: Any, which: Any) -> Tensor:
    return ordering.reverse(x, np.flatnonzero(known_value(which)).tolist())


@kernel("InplaceUpdate")
@moving(0, 2)
def _updated(x: Any, rows: Any, values: Any) -> Tensor:
    places = shapes.reshape(rows, [-1, 1])
    return gather_scatter.tensor_scatter_nd_update(x, places, values)


@kernel("InplaceAdd")
def _added(x: Any, rows: Any, values: Any) -> Tensor:
    return gather_scatter.tensor_scatter_nd_add(x, shapes.reshape(rows, [-1, 1]), values)


@kernel("InplaceSub")
def _subtracted(x: Any, rows: Any, values: Any) -> Tensor:
    return gather_scatter.tensor_scatter_nd_sub(x, shapes.reshape(rows, [-1, 1]), values)


@kernel("TensorStridedSliceUpdate")
@moving(0, 4)
def _slice_updated(
    x: Any,
    begin: Any,
    end: Any,
    strides: Any,
    value: Any,
    *,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    size = shapes.size(x)
    places = shapes.reshape(creation.range(size), shapes.shape(x))
    chosen = slicing.strided_slice(places, begin, end, strides, *masks)
    given = shapes.reshape(repeating.broadcast_to(value, shapes.shape(chosen)), [-1])
    flat = gather_scatter.tensor_scatter_nd_update(
        shapes.reshape(x, [-1]), shapes.reshape(chosen, [-1, 1]), given
    )
    return shapes.reshape(flat, shapes.shape(x))


def _segments(reduce: Kernel) -> Kernel:
    return lambda x, ids, count: reduce(x, ids, count)


KERNELS |= {
    "SegmentMaxV2": _segments(segments.unsorted_segment_max),
    "SegmentMinV2": _segments(segments.unsorted_segment_min),
    "SegmentProdV2": _segments(segments.unsorted_segment_prod),
    "SegmentSumV2": _segments(segments.unsorted_segment_sum),
}

# -- matrices -------------------------------------------------------------------------------------


@kernel("Eig")
def _eig(x: Any, *, Tout: DType, compute_v: bool = True) -> Sequence[Tensor]:
    if compute_v:
        return [casting.cast(part, Tout) for part in decompositions.eig(x)]
    return casting.cast(decompositions.eigvals(x), Tout), creation.zeros([0], Tout)


@kernel("Lu")
def _lu(x: Any, *, output_idx_type: DType = int32) -> Sequence[Tensor]:
    return decompositions.lu(x, output_idx_type)


@kernel("MatrixSolveLs")
def _least_squares(matrix: Any, rhs: Any, weight: Any, *, fast: bool = True) -> Tensor:
    return solvers.lstsq(matrix, rhs, known_value(weight).item(), fast)


@kernel("BandedTriangularSolve")
def _banded(matrix: Any, rhs: Any, *, lower: bool = True, adjoint: bool = False) -> Tensor:
    return tridiagonal.banded_triangular_solve(matrix, rhs, lower, adjoint)


@kernel("TridiagonalMatMul")
def _three_diagonals(upper: Any, main: Any, lower: Any, rhs: Any) -> Tensor:
    rows = [x[..., 0, :] for x in (upper, main, lower)]
    return tridiagonal.tridiagonal_matmul(rows, rhs, "sequence")


@kernel("TridiagonalSolve")
def _three_solved(
    diagonals: Any, rhs: Any, *, partial_pivoting: bool = True, perturb_singular: bool = False
) -> Tensor:
    return tridiagonal.tridiagonal_solve(
        diagonals,
        rhs,
        partial_pivoting=partial_pivoting,
        perturb_singular=perturb_singular,
    )


@kernel("SparseMatMul")
def _matmul(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    one, other = casting.cast(a, float32), casting.cast(b, float32)
    return products.matmul(one, other, transpose_a, transpose_b)


# -- layers ---------------------------------------------------------------------------------------


@kernel("Dilation2D")
def _dilated(x: Any, filters: Any, *, strides: Any, rates: Any, padding: str) -> Tensor:
    return morphology.dilation2d(x, filters, list(strides), padding, "NHWC", list(rates))


@kernel("MaxPoolV2")
def _pool(x: Any, ksize: Any, strides: Any, *, padding: str, data_format: str = "NHWC") -> Tensor:
    size, step = [known_value(each).tolist() for each in (ksize, strides)]
    return pooling.max_pool2d(x, size, step, padding, data_format)


@kernel("MaxPoolWithArgmax")
def _pool_with_places(
    x: Any,
    *,
    Targmax: DType = int64,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    include_batch_in_index: bool = False,
) -> Any:
    return pooling.max_pool_with_argmax(
        x, list(ksize), list(strides), padding, "NHWC", Targmax, include_batch_in_index
    )


@kernel("IsotonicRegression")
def _isotonic(x: Any, *, output_dtype: DType = float32) -> Sequence[Tensor]:
    values, numbers = isotonic.isotonic_regression(casting.cast(x, output_dtype))
    return values, numbers


@kernel("DataFormatDimMap")
def _axis_mapped(x: Any, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """Axes of one format as axes of another."""
    places = np.array([dst_format.index(axis) for axis in src_format], x.dtype.np_dtype)
    rank = len(src_format)
    return gather_scatter.gather(concrete(places), (x + rank) % rank)


@kernel("DataFormatVecPermute")
def _permuted(x: Any, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Tensor:
    """Sizes, or pairs, in the order that another format has."""
    count = x._aval.shape[0]
    if count == len(src_format) - 2:
        src_format, dst_format = [
            "".join(axis for axis in text if axis in "DHW") for text in (src_format, dst_format)
        ]
    elif count != len(src_format):
        raise invalid(f"1D input must be of size 2, 3, 4, or 5, but got {count}", "DataFormat")
    return gather_scatter.gather(x, [src_format.index(axis) for axis in dst_format])


# -- quantized numbers ----------------------------------------------------------------------------


@kernel("FakeQuantWithMinMaxArgs")
def _fake(
    x: Any, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False
) -> Tensor:
    return quantization.fake_quant_with_min_max_args(x, min, max, num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxArgsGradient")
def _fake_gradient(
    gradient: Any,
    x: Any,
    *,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
) -> Tensor:
    rest = (min, max, num_bits, narrow_range)
    return quantization.fake_quant_with_min_max_args_gradient(gradient, x, *rest)


def _faked(function: Kernel) -> Kernel:
    def call(*inputs: Any, num_bits: int = 8, narrow_range: bool = False) -> Any:
        return function(*inputs, num_bits, narrow_range)

    return call


KERNELS |= {
    "FakeQuantWithMinMaxVars": _faked(quantization.fake_quant_with_min_max_vars),
    "FakeQuantWithMinMaxVarsGradient": _faked(quantization.fake_quant_with_min_max_vars_gradient),
    "FakeQuantWithMinMaxVarsPerChannel": _faked(
        quantization.fake_quant_with_min_max_vars_per_channel
    ),
    "FakeQuantWithMinMaxVarsPerChannelGradient": _faked(
        quantization.fake_quant_with_min_max_vars_per_channel_gradient
    ),
}


def _there_and_back(function: Kernel) -> Kernel:
    def call(
        x: Any,
        low: Any,
        high: Any,
        *,
        signed_input: bool = True,
        num_bits: int = 8,
        range_given: bool = False,
        round_mode: str = "HALF_TO_EVEN",
        narrow_range: bool = False,
        axis: int = -1,
    ) -> Tensor:
        found: Tensor = function(
            *(x, low, high, signed_input, num_bits, range_given, round_mode),
            narrow_range=narrow_range,
            axis=None if axis < 0 else axis,
        )
        return found

    return call


KERNELS |= {
    "QuantizeAndDequantizeV2": _there_and_back(quantization.quantize_and_dequantize),
    "QuantizeAndDequantizeV4": _there_and_back(quantization.quantize_and_dequantize_v2),
}


@kernel("QuantizeAndDequantizeV3")
def _there_and_back_by_input(
    x: Any,
    low: Any,
    high: Any,
    bits: Any,
    *,
    signed_input: bool = True,
    range_given: bool = True,
    narrow_range: bool = False,
    axis: int = -1,
) -> Tensor:
    found: Tensor = KERNELS["QuantizeAndDequantizeV2"](
        *(x, low, high),
        signed_input=signed_input,
        num_bits=int(known_value(bits)),
        range_given=range_given,
        narrow_range=narrow_range,
        axis=axis,
    )
    return found

"""Kernels of special functions, of matrices, of quantized numbers and of data formats."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, float32, float64, int32, uint8
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
from ...ops.arguments import known_value, sketched
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from .nodes import Node, node_kernel
from .registry import KERNELS, MASKS, Kernel, calling, kernel, moving

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
    "SegmentMaxV2": segments.unsorted_segment_max,
    "SegmentMinV2": segments.unsorted_segment_min,
    "SegmentProdV2": segments.unsorted_segment_prod,
    "SegmentSumV2": segments.unsorted_segment_sum,
    "Spence": special.spence,
    "UnravelIndex": selection.unravel_index,
}
KERNELS |= {name: calling(plain) for name, plain in _PLAIN.items()}

#: Those that also take attributes, which stand behind the inputs.
KERNELS |= {
    "ApproxTopK": calling(
        plain_kernels.approx_top_k,
        "k reduction_dimension recall_target is_max_k "
        "reduction_input_size_override aggregate_to_topk",
    ),
    "BandedTriangularSolve": calling(tridiagonal.banded_triangular_solve, "lower adjoint"),
    "CheckNumerics": calling(check_numerics, "message"),
    "CheckNumericsV2": calling(check_numerics, "message"),
    "CumulativeLogsumexp": calling(reductions.cumulative_logsumexp, "exclusive reverse"),
    "FakeQuantWithMinMaxArgs": calling(
        quantization.fake_quant_with_min_max_args, "min max num_bits narrow_range"
    ),
    "FakeQuantWithMinMaxArgsGradient": calling(
        quantization.fake_quant_with_min_max_args_gradient, "min max num_bits narrow_range"
    ),
    "FakeQuantWithMinMaxVars": calling(
        quantization.fake_quant_with_min_max_vars, "num_bits narrow_range"
    ),
    "FakeQuantWithMinMaxVarsGradient": calling(
        quantization.fake_quant_with_min_max_vars_gradient, "num_bits narrow_range"
    ),
    "FakeQuantWithMinMaxVarsPerChannel": calling(
        quantization.fake_quant_with_min_max_vars_per_channel, "num_bits narrow_range"
    ),
    "FakeQuantWithMinMaxVarsPerChannelGradient": calling(
        quantization.fake_quant_with_min_max_vars_per_channel_gradient, "num_bits narrow_range"
    ),
    "HistogramFixedWidth": calling(histograms.histogram_fixed_width, "dtype"),
    "Lu": calling(decompositions.lu, "output_idx_type"),
}


@kernel("ApproximateEqual")
def _near(x: Any, y: Any, *, tolerance: float) -> Tensor:
    return elementwise.abs(x - y) < tolerance


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
    found: Tensor = KERNELS["DenseBincount"](flat[0], size, flat[1], binary_output=False)
    return found


@kernel("InTopK")
def _in_top_k(predictions: Any, targets: Any, *, k: int) -> Tensor:
    return counting.in_top_k(targets, predictions, k)


@kernel("NthElement")
def _nth(x: Any, n: Any, *, reverse: bool) -> Tensor:
    order = ordering.sort(x, direction="DESCENDING" if reverse else "ASCENDING")
    return gather_scatter.gather(order, n, axis=-1)


@kernel("ListDiff")
@by_host()
def _left(x: Any, y: Any, *, out_idx: DType) -> Sequence[Tensor]:
    """The values of x that y has not, and where they are."""
    for name, vector in (("x", x), ("y", y)):
        if len(vector._aval.shape) != 1:
            raise invalid(f"{name} should be a 1D vector.", "ListDiff")
    sketch = sketched(x, y)
    if sketch is not None:
        count = (sketch.size(),)
        return sketch.tensor(count, x.dtype), sketch.tensor(count, out_idx)
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


def _slice_updated(x: Any, begin: Any, end: Any, strides: Any, value: Any, *masks: Any) -> Tensor:
    size = shapes.size(x)
    places = shapes.reshape(creation.range(size), shapes.shape(x))
    chosen = slicing.strided_slice(places, begin, end, strides, *masks)
    given = shapes.reshape(repeating.broadcast_to(value, shapes.shape(chosen)), [-1])
    flat = gather_scatter.tensor_scatter_nd_update(
        shapes.reshape(x, [-1]), shapes.reshape(chosen, [-1, 1]), given
    )
    return shapes.reshape(flat, shapes.shape(x))


KERNELS["TensorStridedSliceUpdate"] = moving(0, 4)(calling(_slice_updated, MASKS))


@node_kernel("ResourceStridedSliceAssign")
def _assign_slice(node: Node) -> None:
    variable, *given = node.inputs
    masks = [node.attribute(name, 0) for name in MASKS.split()]
    variable.assign(_slice_updated(variable.read_value(), *given, *masks))


# -- matrices -------------------------------------------------------------------------------------


@kernel("Eig")
def _eig(x: Any, *, Tout: DType, compute_v: bool) -> Sequence[Tensor]:
    if compute_v:
        return [casting.cast(part, Tout) for part in decompositions.eig(x)]
    return casting.cast(decompositions.eigvals(x), Tout), creation.zeros([0], Tout)


@kernel("MatrixSolveLs")
def _least_squares(matrix: Any, rhs: Any, weight: Any, *, fast: bool) -> Tensor:
    return solvers.lstsq(matrix, rhs, known_value(weight).item(), fast)


@kernel("TridiagonalMatMul")
def _three_diagonals(upper: Any, main: Any, lower: Any, rhs: Any) -> Tensor:
    rows = [x[..., 0, :] for x in (upper, main, lower)]
    return tridiagonal.tridiagonal_matmul(rows, rhs, "sequence")


@kernel("TridiagonalSolve")
def _three_solved(
    diagonals: Any, rhs: Any, *, partial_pivoting: bool, perturb_singular: bool
) -> Tensor:
    return tridiagonal.tridiagonal_solve(
        diagonals,
        rhs,
        partial_pivoting=partial_pivoting,
        perturb_singular=perturb_singular,
    )


@kernel("SparseMatMul")
def _matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Tensor:
    one, other = casting.cast(a, float32), casting.cast(b, float32)
    return products.matmul(one, other, transpose_a, transpose_b)


# -- layers ---------------------------------------------------------------------------------------


@kernel("MaxPoolV2")
def _pool(x: Any, ksize: Any, strides: Any, *, padding: str, data_format: str) -> Tensor:
    size, step = [known_value(each).tolist() for each in (ksize, strides)]
    return pooling.max_pool2d(x, size, step, padding, data_format)


def _pool_with_places(
    x: Any, size: Any, step: Any, padding: str, kind: DType, batches: bool
) -> Any:
    return pooling.max_pool_with_argmax(x, size, step, padding, "NHWC", kind, batches)


KERNELS["MaxPoolWithArgmax"] = calling(
    _pool_with_places, "ksize strides padding Targmax include_batch_in_index"
)


@kernel("IsotonicRegression")
def _isotonic(x: Any, *, output_dtype: DType) -> Sequence[Tensor]:
    values, numbers = isotonic.isotonic_regression(casting.cast(x, output_dtype))
    return values, numbers


@kernel("DataFormatDimMap")
def _axis_mapped(x: Any, *, src_format: str, dst_format: str) -> Tensor:
    """Axes of one format as axes of another."""
    places = np.array([dst_format.index(axis) for axis in src_format], x.dtype.np_dtype)
    rank = len(src_format)
    return gather_scatter.gather(concrete(places), (x + rank) % rank)


@kernel("DataFormatVecPermute")
def _permuted(x: Any, *, src_format: str, dst_format: str) -> Tensor:
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


def _there_and_back(function: Kernel) -> Kernel:
    def call(x: Any, low: Any, high: Any, *given: Any) -> Tensor:
        *rest, narrow, axis = given
        found: Tensor = function(
            x, low, high, *rest, narrow_range=narrow, axis=None if axis < 0 else axis
        )
        return found

    return call


_V2 = _there_and_back(quantization.quantize_and_dequantize)
_V4 = _there_and_back(quantization.quantize_and_dequantize_v2)
_ROUNDED = "signed_input num_bits range_given round_mode narrow_range axis"


def _there_and_back_by_input(
    x: Any, low: Any, high: Any, bits: Any, signed: bool, given: bool, *rest: Any
) -> Tensor:
    numbers = (signed, int(known_value(bits)), given, "HALF_TO_EVEN")
    found: Tensor = _V2(x, low, high, *numbers, *rest)
    return found


KERNELS |= {
    "QuantizeAndDequantizeV2": calling(_V2, _ROUNDED),
    "QuantizeAndDequantizeV3": calling(
        _there_and_back_by_input, "signed_input range_given narrow_range axis"
    ),
    "QuantizeAndDequantizeV4": calling(_V4, _ROUNDED),
}

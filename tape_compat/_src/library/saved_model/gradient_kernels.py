"""Kernels that TensorFlow differentiates other kernels with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...autodiff.custom import stop_gradient
from ...autodiff.reverse import dense
from ...autodiff.tape import GradientTape
from ...core.dimensions import Size, is_unknown
from ...core.dtypes import DType, float32, float64
from ...core.refuse import invalid
from ...ops import (
    casting,
    convolutions,
    creation,
    depthwise,
    elementwise,
    joining,
    kernel_derivatives,
    normalization,
    pooling,
    products,
    reductions,
    segments,
    selection,
    shapes,
    slicing,
    solvers,
    sparse_segments,
)
from ...ops.arguments import dims, known_value
from ...ops.arithmetic import multiply_no_nan
from ...ops.images.boxes import crop_and_resize
from ...ops.images.resize_corners import resized
from ...values.tensor import Tensor, concrete
from .layer_kernels import CONVOLUTION, DILATION, LOCAL_RESPONSE, POOL, dilated
from .registry import KERNELS, MASKS, Kernel, calling, explicit, kernel


def pulled(function: Callable[[Tensor], Tensor], x: Tensor, gradient: Any) -> Tensor:
    """The gradient of a function by x, where it gives an output with this gradient."""
    if not (x.dtype.is_floating or x.dtype.is_complex):  # which has no derivatives of its own
        wide = [casting.cast(each, float64) for each in (x, gradient)]
        return casting.cast(pulled(function, *wide), x.dtype)
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = function(x)
    found = tape.gradient(y, x, gradient, unconnected_gradients="zero")
    return dense(found)


def pulled_at_zeros(
    function: Callable[[Tensor], Tensor], shape: Any, gradient: Tensor, dtype: DType | None = None
) -> Tensor:
    """The same of a linear function of an array of this shape, which is the same everywhere."""
    return pulled(function, creation.zeros(shape, dtype or gradient.dtype), gradient)


# -- elementwise ----------------------------------------------------------------------------------

#: The slope and the bound of `selu`: its scale, and that times its alpha.
_SELU = (1.0507009873554805, 1.7580993408473766)


@kernel("ReluGrad")
def _relu(gradients: Any, features: Any) -> Tensor:
    return selection.where(features > 0, gradients, creation.zeros_like(gradients))


@kernel("Relu6Grad")
def _relu6(gradients: Any, features: Any) -> Tensor:
    inside = (features > 0) & (features < 6)
    return selection.where(inside, gradients, creation.zeros_like(gradients))


@kernel("LeakyReluGrad")
def _leaky_relu(gradients: Any, features: Any, *, alpha: float) -> Tensor:
    return selection.where(features > 0, gradients, gradients * alpha)


@kernel("EluGrad")
def _elu(gradients: Any, outputs: Any) -> Tensor:
    return selection.where(outputs < 0, gradients * (outputs + 1), gradients)


@kernel("SeluGrad")
def _selu(gradients: Any, outputs: Any) -> Tensor:
    scale, bound = _SELU
    return selection.where(outputs < 0, gradients * (outputs + bound), gradients * scale)


@kernel("SoftplusGrad")
def _softplus(gradients: Any, features: Any) -> Tensor:
    return gradients * elementwise.sigmoid(features)


@kernel("SoftsignGrad")
def _softsign(gradients: Any, features: Any) -> Tensor:
    return gradients / elementwise.square(elementwise.abs(features) + 1)


@kernel("SigmoidGrad")
def _sigmoid(y: Any, dy: Any) -> Tensor:
    return dy * y * (1 - y)


@kernel("TanhGrad")
def _tanh(y: Any, dy: Any) -> Tensor:
    return dy * (1 - elementwise.square(y))


@kernel("SqrtGrad")
def _sqrt(y: Any, dy: Any) -> Tensor:
    return multiply_no_nan(0.5 / elementwise.conj(y), dy)


@kernel("RsqrtGrad")
def _rsqrt(y: Any, dy: Any) -> Tensor:
    kept = elementwise.conj(y)
    return multiply_no_nan(-0.5 * kept * kept * kept, dy)


@kernel("InvGrad", "ReciprocalGrad")
def _reciprocal(y: Any, dy: Any) -> Tensor:
    return multiply_no_nan(-elementwise.square(elementwise.conj(y)), dy)


KERNELS |= {
    "IgammaGradA": lambda a, x: kernel_derivatives.igamma_grad_a(a, x),
    "RandomGammaGrad": lambda a, x: kernel_derivatives.random_gamma_grad(a, x),
}

# -- shapes ---------------------------------------------------------------------------------------


@kernel("BroadcastGradientArgs")
def _broadcast_axes(one: Any, other: Any) -> Sequence[Tensor]:
    """The axes to sum the gradients of two arrays over that were broadcast; none where unknown
    sizes are equal, whatever they are."""
    sizes = [list(dims(x)) for x in (one, other)]
    rank = max(map(len, sizes))
    full = [[1] * (rank - len(s)) + s for s in sizes]
    axes: tuple[list[int], list[int]] = ([], [])
    for i, (n, m) in enumerate(zip(*full, strict=True)):
        if n == m == 1 or not _equal(n, m):
            if 1 not in (n, m):
                _refuse_sizes(one, other)
            for place, size in enumerate((n, m)):
                if size == 1:
                    axes[place].append(i)
    kind = one.dtype.np_dtype
    return [concrete(np.array(found, kind)) for found in axes]


def _equal(n: Size, m: Size) -> bool:
    """Whether two sizes are certainly equal."""
    return not is_unknown([n - m]) and n == m


def _refuse_sizes(one: Any, other: Any) -> None:
    """Raises: InvalidArgumentError for shapes that do not fit; NeedsValue if that is not known."""
    sizes = [known_value(x).tolist() for x in (one, other)]
    raise invalid(f"Incompatible shapes: {sizes[0]} vs. {sizes[1]}", "BroadcastGradientArgs")


def _sliced(shape: Any, begin: Any, end: Any, strides: Any, gradient: Any, *masks: Any) -> Tensor:
    return pulled_at_zeros(
        lambda x: slicing.strided_slice(x, begin, end, strides, *masks), shape, gradient
    )


KERNELS["StridedSliceGrad"] = calling(_sliced, MASKS)


@kernel("MirrorPadGrad")
def _mirror_pad(gradient: Any, paddings: Any, *, mode: str) -> Tensor:
    shape = shapes.shape(gradient, paddings.dtype) - reductions.reduce_sum(paddings, 1)
    return pulled_at_zeros(lambda x: joining.pad(x, paddings, mode), shape, gradient)


# -- layers ---------------------------------------------------------------------------------------


@kernel("BiasAddGrad")
def _bias(gradient: Any, *, data_format: str) -> Tensor:
    rank = len(gradient._aval.shape)
    channels = 1 if data_format.startswith("NC") else rank - 1
    return reductions.reduce_sum(gradient, [axis for axis in range(rank) if axis != channels])


def _by_filters(convolve: Kernel) -> Kernel:
    return lambda x, sizes, gradient, *rest: pulled_at_zeros(
        lambda filters: convolve(x, filters, *rest), sizes, gradient
    )


def _averages(pool: Kernel) -> Kernel:
    return lambda shape, gradient, *rest: pulled_at_zeros(lambda x: pool(x, *rest), shape, gradient)


def _largest(function: Kernel) -> Kernel:
    return lambda x, _, gradient, *rest: pulled(lambda x: function(x, *rest), x, gradient)


def _by_input(function: Kernel) -> Kernel:
    """The gradient of a function of `x` and the next input."""
    return lambda x, other, gradient, *rest: pulled(
        lambda x: function(x, other, *rest), x, gradient
    )


def _dilation_filters(x: Any, filters: Any, gradient: Any, *rest: Any) -> Tensor:
    return pulled(lambda f: dilated(x, f, *rest), filters, gradient)


KERNELS |= {
    "AvgPoolGrad": calling(_averages(pooling.avg_pool2d), POOL),
    "AvgPool3DGrad": calling(_averages(pooling.avg_pool3d), POOL),
    "Conv2DBackpropFilter": explicit(calling(_by_filters(convolutions.conv2d), CONVOLUTION)),
    "Conv3DBackpropFilterV2": calling(_by_filters(convolutions.conv3d), CONVOLUTION),
    "DepthwiseConv2dNativeBackpropFilter": explicit(
        calling(depthwise.depthwise_conv2d_backprop_filter, CONVOLUTION)
    ),
    "DepthwiseConv2dNativeBackpropInput": explicit(
        calling(depthwise.depthwise_conv2d_backprop_input, CONVOLUTION)
    ),
    "Dilation2DBackpropFilter": calling(_dilation_filters, DILATION),
    "Dilation2DBackpropInput": calling(_by_input(dilated), DILATION),
    "MaxPoolGrad": explicit(calling(_largest(pooling.max_pool2d), POOL)),
    "MaxPool3DGrad": calling(_largest(pooling.max_pool3d), POOL),
}


def sizes_by_inputs(of: str) -> Kernel:
    """The kernel of this name, which takes its windows and strides as inputs."""

    def back(
        x: Any,
        y: Any,
        gradient: Any,
        ksize: Any,
        strides: Any,
        *,
        padding: str,
        data_format: str,
    ) -> Tensor:
        sizes = {"ksize": known_value(ksize).tolist(), "strides": known_value(strides).tolist()}
        found: Tensor = KERNELS[of](
            x, y, gradient, padding=padding, data_format=data_format, **sizes
        )
        return found

    return back


KERNELS |= {"MaxPoolGradV2": sizes_by_inputs("MaxPoolGrad")}


def _local_response(gradient: Any, x: Any, _: Any, *rest: Any) -> Tensor:
    return pulled(lambda x: normalization.local_response_normalization(x, *rest), x, gradient)


KERNELS["LRNGrad"] = calling(_local_response, LOCAL_RESPONSE)


@kernel("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm(
    gradient: Any,
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    *_: Any,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> Sequence[Tensor]:
    rank = len(x._aval.shape)
    channels = 1 if data_format.startswith("NC") else rank - 1
    axes = [axis for axis in range(rank) if axis != channels]
    form = [1] * rank
    form[channels] = -1
    wide, slope = casting.cast(x, float32), casting.cast(gradient, float32)
    mean, variance = stop_gradient(mean), stop_gradient(variance)
    if is_training:  # they are x's own, which counts where this is differentiated again
        own = normalization.moments(wide, axes)
        mean, variance = [
            kept + (of_x - stop_gradient(of_x))
            for kept, of_x in zip((mean, variance), own, strict=True)
        ]
    at, steep = [shapes.reshape(p, form) for p in (mean, elementwise.rsqrt(variance + epsilon))]
    apart = (wide - at) * steep
    by_scale = reductions.reduce_sum(slope * apart, axes)
    by_offset = reductions.reduce_sum(slope, axes)
    if is_training:
        count = casting.cast(shapes.size(x) // shapes.shape(x)[channels], float32)
        level, tilt = [shapes.reshape(p / count, form) for p in (by_offset, by_scale)]
        slope = slope - level - apart * tilt
    found = slope * steep * shapes.reshape(scale, form)
    return (
        casting.cast(found, x.dtype),
        by_scale,
        by_offset,
        creation.zeros([0]),
        creation.zeros([0]),
    )


# -- images ---------------------------------------------------------------------------------------


def _resizing(method: str) -> Kernel:
    def back(gradient: Any, x: Any, *, align_corners: bool, half_pixel_centers: bool) -> Tensor:
        size = shapes.shape(gradient)[1:3]
        found = pulled_at_zeros(
            lambda x: resized(x, size, method, align_corners, half_pixel_centers),
            shapes.shape(x),
            gradient,
        )
        return casting.cast(found, x.dtype)

    return back


KERNELS |= {
    "ResizeBicubicGrad": _resizing("bicubic"),
    "ResizeBilinearGrad": _resizing("bilinear"),
}


@kernel("ResizeNearestNeighborGrad")
def _resize_nearest(
    gradient: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Tensor:
    now = shapes.shape(gradient)
    shape = joining.concat([now[:1], size, now[3:]], 0)
    return pulled_at_zeros(
        lambda x: resized(x, now[1:3], "nearest", align_corners, half_pixel_centers),
        shape,
        gradient,
    )


@kernel("CropAndResizeGradImage")
def _crop_image(
    gradient: Any, boxes: Any, places: Any, shape: Any, *, T: DType, method: str
) -> Tensor:
    size = shapes.shape(gradient)[1:3]
    found = pulled_at_zeros(
        lambda x: crop_and_resize(x, boxes, places, size, method), shape, gradient
    )
    return casting.cast(found, T)


@kernel("CropAndResizeGradBoxes")
def _crop_boxes(gradient: Any, x: Any, boxes: Any, places: Any, *, method: str) -> Tensor:
    size = shapes.shape(gradient)[1:3]
    return pulled(lambda boxes: crop_and_resize(x, boxes, places, size, method), boxes, gradient)


# -- matrices and segments ------------------------------------------------------------------------


@kernel("CholeskyGrad")
def _cholesky(factor: Any, gradient: Any) -> Tensor:
    square = products.matmul(factor, factor, adjoint_b=True)
    return pulled(solvers.cholesky, square, gradient)


def _segmented(reduce: Kernel) -> Kernel:
    def back(gradient: Any, indices: Any, segments: Any, size: Any) -> Tensor:
        shape = joining.concat([shapes.reshape(size, [1]), shapes.shape(gradient)[1:]], 0)
        count = shapes.shape(gradient)[0]
        return pulled_at_zeros(
            lambda x: reduce(x, indices, segments, num_segments=count), shape, gradient
        )

    return back


KERNELS |= {
    "SparseSegmentMeanGrad": _segmented(sparse_segments.segment_mean),
    "SparseSegmentSqrtNGrad": _segmented(sparse_segments.segment_sqrt_n),
    "SparseSegmentSumGrad": _segmented(sparse_segments.segment_sum),
}


@kernel("MaxPoolGradWithArgmax")
def _largest_by_places(
    x: Any, gradient: Any, places: Any, *, include_batch_in_index: bool
) -> Tensor:
    size = shapes.size(x)
    flat = shapes.reshape(places, [-1])
    if not include_batch_in_index:
        count = shapes.shape(places)[0]
        each = casting.cast(size // count, places.dtype)
        starts = casting.cast(creation.range(count), places.dtype) * each
        form = [-1] + [1] * (len(places._aval.shape) - 1)
        flat = shapes.reshape(places + shapes.reshape(starts, form), [-1])
    found = segments.unsorted_segment_sum(shapes.reshape(gradient, [-1]), flat, size)
    return shapes.reshape(found, shapes.shape(x))

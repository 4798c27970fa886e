"""Kernels of layers, of images and of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autodiff.custom import stop_gradient
from ...ops import (
    blocks,
    casting,
    convolutions,
    creation,
    depthwise,
    elementwise,
    fractional_pooling,
    joining,
    losses,
    morphology,
    normalization,
    plain_kernels,
    pooling,
    shapes,
)
from ...ops.fused_normalization import fused_batch_norm
from ...ops.images.resize_corners import resized
from ...values.tensor import Tensor
from .registry import KERNELS, Kernel, calling, explicit, kernel, moving

#: The attributes of convolutions, of pools and of others.
CONVOLUTION = "strides padding data_format dilations"
POOL = "ksize strides padding data_format"
DILATION = "strides rates padding"
LOCAL_RESPONSE = "depth_radius bias alpha beta"

KERNELS |= {
    "AvgPool": calling(pooling.avg_pool2d, POOL),
    "AvgPool3D": calling(pooling.avg_pool3d, POOL),
    "BatchToSpaceND": calling(blocks.batch_to_space),
    "Conv": calling(
        plain_kernels.conv,
        "strides padding explicit_paddings data_format dilations batch_dims groups",
    ),
    "DepthToSpace": moving(0)(calling(blocks.depth_to_space, "block_size data_format")),
    "LRN": calling(normalization.local_response_normalization, LOCAL_RESPONSE),
    "MaxPool": explicit(calling(pooling.max_pool2d, POOL)),
    "MaxPool3D": calling(pooling.max_pool3d, POOL),
    "SpaceToBatchND": calling(blocks.space_to_batch),
    "SpaceToDepth": moving(0)(calling(blocks.space_to_depth, "block_size data_format")),
}

# -- layers ---------------------------------------------------------------------------------------


def _depthwise(x: Any, filters: Any, strides: Any, pads: Any, form: str, rates: Any) -> Tensor:
    rates = rates[1:3] if form == "NHWC" else rates[2:]
    return depthwise.depthwise_conv2d(x, filters, strides, pads, form, rates)


def dilated(x: Any, filters: Any, strides: Any, rates: Any, padding: str) -> Tensor:
    """Images where the largest sums with the filters are, in windows with holes."""
    return morphology.dilation2d(x, filters, strides, padding, "NHWC", rates)


def _transposed(transpose: Kernel) -> Kernel:
    return lambda shape, filters, x, *rest: transpose(x, filters, shape, *rest)


KERNELS |= {
    "Conv2D": explicit(calling(convolutions.conv2d, CONVOLUTION)),
    "Conv2DBackpropInput": explicit(
        calling(_transposed(convolutions.conv2d_transpose), CONVOLUTION)
    ),
    "Conv3D": calling(convolutions.conv3d, CONVOLUTION),
    "Conv3DBackpropInputV2": calling(_transposed(convolutions.conv3d_transpose), CONVOLUTION),
    "DepthwiseConv2dNative": explicit(calling(_depthwise, CONVOLUTION)),
    "Dilation2D": calling(dilated, DILATION),
}


def _batch_norm(*given: Any) -> Sequence[Tensor]:
    y, *others = fused_batch_norm(*given)
    return y, *map(stop_gradient, others)


kernel("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")(
    calling(_batch_norm, "epsilon exponential_avg_factor data_format is_training")
)


@kernel("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(logits: Any, labels: Any) -> Sequence[Tensor]:
    loss = losses.softmax_cross_entropy_with_logits(labels, logits)
    return loss, elementwise.softmax(logits) - stop_gradient(labels)


@kernel("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(logits: Any, labels: Any) -> Sequence[Tensor]:
    loss = losses.sparse_softmax_cross_entropy_with_logits(labels, logits)
    hot = creation.one_hot(labels, shapes.shape(logits)[-1], dtype=logits.dtype)
    return loss, elementwise.softmax(logits) - hot


def _resizing(method: str) -> Kernel:
    def call(x: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Tensor:
        return resized(x, size, method, align_corners, half_pixel_centers)

    return call


@kernel("ResizeArea")
def _resize_area(x: Any, size: Any, *, align_corners: bool) -> Tensor:
    return resized(x, size, "area", align_corners, False)


KERNELS |= {
    "ResizeBicubic": _resizing("bicubic"),
    "ResizeBilinear": _resizing("bilinear"),
    "ResizeNearestNeighbor": _resizing("nearest"),
}


def _fractional(pool: Kernel) -> Kernel:
    def call(
        x: Any,
        *,
        pooling_ratio: Sequence[float],
        pseudo_random: bool,
        overlapping: bool,
        seed: int,
        seed2: int,
    ) -> Sequence[Tensor]:
        found: Sequence[Tensor] = pool(
            x, list(pooling_ratio), pseudo_random, overlapping, seed or seed2
        )
        return found

    return call


KERNELS |= {
    "FractionalAvgPool": _fractional(fractional_pooling.fractional_avg_pool),
    "FractionalMaxPool": _fractional(fractional_pooling.fractional_max_pool),
}


@kernel("FusedPadConv2D")
def _padded_convolution(
    x: Any, paddings: Any, filters: Any, *, mode: str, strides: Sequence[int], padding: str
) -> Tensor:
    return convolutions.conv2d(joining.pad(x, paddings, mode), filters, list(strides), padding)


@kernel("FusedResizeAndPadConv2D")
def _resized_convolution(
    x: Any,
    size: Any,
    *inputs: Any,
    resize_align_corners: bool,
    mode: str,
    strides: Sequence[int],
    padding: str,
) -> Tensor:
    found = casting.cast(resized(x, size, "bilinear", resize_align_corners, False), x.dtype)
    return _padded_convolution(found, *inputs, mode=mode, strides=strides, padding=padding)


@kernel("BatchToSpace")
def _square_batch_to_space(x: Any, crops: Any, *, block_size: int) -> Tensor:
    return blocks.batch_to_space(x, [block_size, block_size], crops)


@kernel("SpaceToBatch")
def _square_space_to_batch(x: Any, paddings: Any, *, block_size: int) -> Tensor:
    return blocks.space_to_batch(x, [block_size, block_size], paddings)

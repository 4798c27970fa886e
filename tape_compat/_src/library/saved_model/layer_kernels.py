"""Kernels of layers, of images and of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autodiff.custom import stop_gradient
from ...core.dtypes import float32
from ...core.refuse import invalid
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
    normalization,
    plain_kernels,
    pooling,
    shapes,
)
from ...ops.arguments import dims
from ...ops.fused_normalization import fused_batch_norm
from ...ops.images.resize import resize
from ...ops.images.resize_corners import resize_by_corners
from ...values.convert import convert
from ...values.tensor import Tensor
from .registry import KERNELS, Kernel, kernel, moving

# -- layers ---------------------------------------------------------------------------------------


def explicit_padding(padding: str, explicit: Sequence[int]) -> Any:
    """What convolutions take: the name, or pairs for each axis."""
    if padding != "EXPLICIT":
        return padding
    return [list(explicit[i : i + 2]) for i in range(0, len(explicit), 2)]


@kernel("Conv2D")
def _conv2d(
    x: Any,
    filters: Any,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Tensor:
    pads = explicit_padding(padding, explicit_paddings)
    return convolutions.conv2d(x, filters, list(strides), pads, data_format, list(dilations))


@kernel("Conv3D")
def _conv3d(
    x: Any,
    filters: Any,
    *,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Tensor:
    return convolutions.conv3d(x, filters, list(strides), padding, data_format, list(dilations))


@kernel("DepthwiseConv2dNative")
def _depthwise_conv2d(
    x: Any,
    filters: Any,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Tensor:
    pads = explicit_padding(padding, explicit_paddings)
    rates = list(dilations[1:3] if data_format == "NHWC" else dilations[2:])
    return depthwise.depthwise_conv2d(x, filters, list(strides), pads, data_format, rates)


@kernel("Conv2DBackpropInput")
def _conv2d_transpose(
    shape: Any,
    filters: Any,
    x: Any,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Tensor:
    pads = explicit_padding(padding, explicit_paddings)
    return convolutions.conv2d_transpose(
        x, filters, shape, list(strides), pads, data_format, list(dilations)
    )


@kernel("Conv3DBackpropInputV2")
def _conv3d_transpose(
    shape: Any,
    filters: Any,
    x: Any,
    *,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Tensor:
    return convolutions.conv3d_transpose(
        x, filters, shape, list(strides), padding, data_format, list(dilations)
    )


def _pool(pool: Kernel, default: str) -> Kernel:
    def pooled(
        x: Any,
        *,
        ksize: Sequence[int],
        strides: Sequence[int],
        padding: str,
        explicit_paddings: Sequence[int] = (),
        data_format: str = default,
    ) -> Tensor:
        pads = explicit_padding(padding, explicit_paddings)
        return pool(x, list(ksize), list(strides), pads, data_format)

    return pooled


KERNELS |= {
    "AvgPool": _pool(pooling.avg_pool2d, "NHWC"),
    "AvgPool3D": _pool(pooling.avg_pool3d, "NDHWC"),
    "MaxPool": _pool(pooling.max_pool2d, "NHWC"),
    "MaxPool3D": _pool(pooling.max_pool3d, "NDHWC"),
}


@kernel("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> Sequence[Tensor]:
    y, *others = fused_batch_norm(
        *(x, scale, offset, mean, variance),
        epsilon,
        exponential_avg_factor,
        data_format,
        is_training,
    )
    return y, *map(stop_gradient, others)


@kernel("LRN")
def _local_response(
    x: Any, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Tensor:
    return normalization.local_response_normalization(x, depth_radius, bias, alpha, beta)


@kernel("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(logits: Any, labels: Any) -> Sequence[Tensor]:
    loss = losses.softmax_cross_entropy_with_logits(labels, logits)
    return loss, elementwise.softmax(logits) - stop_gradient(labels)


@kernel("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(logits: Any, labels: Any) -> Sequence[Tensor]:
    loss = losses.sparse_softmax_cross_entropy_with_logits(labels, logits)
    hot = creation.one_hot(labels, shapes.shape(logits)[-1], dtype=logits.dtype)
    return loss, elementwise.softmax(logits) - hot


@kernel("DepthToSpace")
@moving(0)
def _depth_to_space(x: Any, *, block_size: int, data_format: str = "NHWC") -> Tensor:
    return blocks.depth_to_space(x, block_size, data_format)


@kernel("SpaceToDepth")
@moving(0)
def _space_to_depth(x: Any, *, block_size: int, data_format: str = "NHWC") -> Tensor:
    return blocks.space_to_depth(x, block_size, data_format)


@kernel("BatchToSpaceND")
def _batch_to_space(x: Any, block: Any, crops: Any) -> Tensor:
    return blocks.batch_to_space(x, block, crops)


@kernel("SpaceToBatchND")
def _space_to_batch(x: Any, block: Any, paddings: Any) -> Tensor:
    return blocks.space_to_batch(x, block, paddings)


def resized(x: Any, size: Any, method: str, align_corners: bool, centers: bool) -> Tensor:
    """Images of another size. centers: whether pixels are where their centers are."""
    if align_corners and centers:
        text = "If half_pixel_centers is True, align_corners must be False."
        raise invalid(text, "Resize")
    if not (centers or (method == "area" and not align_corners)):
        return resize_by_corners(convert(x), tuple(dims(size)), method, align_corners)
    found = resize(x, size, method)
    return found if method == "nearest" else casting.cast(found, float32)


def _resizing(method: str) -> Kernel:
    def call(
        x: Any, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> Tensor:
        return resized(x, size, method, align_corners, half_pixel_centers)

    return call


@kernel("ResizeArea")
def _resize_area(x: Any, size: Any, *, align_corners: bool = False) -> Tensor:
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
        pseudo_random: bool = False,
        overlapping: bool = False,
        seed: int = 0,
        seed2: int = 0,
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
    resize_align_corners: bool = False,
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


@kernel("Conv")
def _conv(
    x: Any,
    filters: Any,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Sequence[int] = (),
    batch_dims: int = 1,
    groups: int = 1,
) -> Tensor:
    rest = (explicit_paddings, data_format, dilations, batch_dims, groups)
    return plain_kernels.conv(x, filters, strides, padding, *rest)

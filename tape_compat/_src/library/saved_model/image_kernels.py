"""Kernels of images: colours, cutting out, boxes and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import DType, int32, uint8
from ...ops import shapes
from ...ops.arguments import known_value
from ...ops.images import (
    adjustments,
    boxes,
    colors,
    drawing,
    files,
    jpeg,
    patches,
    resize,
    suppression,
    suppression_padded,
    suppression_scores,
)
from ...ops.images.projective import project
from ...values.tensor import Tensor
from .array_kernels import inputs_only
from .gradient_kernels import pulled_at_zeros
from .registry import KERNELS, kernel

KERNELS |= {
    "DrawBoundingBoxes": lambda x, corners: drawing.draw_bounding_boxes(x, corners, None),
    "AdjustContrastv2": inputs_only(adjustments.adjust_contrast),
    "AdjustHue": inputs_only(adjustments.adjust_hue),
    "AdjustSaturation": inputs_only(adjustments.adjust_saturation),
    "DecodeGif": inputs_only(files.decode_gif),
    "DrawBoundingBoxesV2": inputs_only(drawing.draw_bounding_boxes),
    "EncodeJpegVariableQuality": lambda x, quality: files.encode_jpeg(
        x, quality=int(known_value(quality))
    ),
    "HSVToRGB": inputs_only(colors.hsv_to_rgb),
    "RGBToHSV": inputs_only(colors.rgb_to_hsv),
}

# -- seen and cut out -----------------------------------------------------------------------------


@kernel("ImageProjectiveTransformV3")
def _projected(
    images: Any,
    transforms: Any,
    shape: Any,
    fill: Any,
    *,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Tensor:
    return project(images, transforms, shape, fill, interpolation, fill_mode)


@kernel("ImageProjectiveTransformV2")
def _projected_on_zeros(
    images: Any, transforms: Any, shape: Any, *, interpolation: str, fill_mode: str = "CONSTANT"
) -> Tensor:
    return project(images, transforms, shape, 0.0, interpolation, fill_mode)


@kernel("CropAndResize")
def _cropped(
    x: Any,
    corners: Any,
    places: Any,
    size: Any,
    *,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    return boxes.crop_and_resize(x, corners, places, size, method, extrapolation_value)


@kernel("ExtractImagePatches")
def _patches(
    x: Any,
    *,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> Tensor:
    return patches.extract_patches(x, list(ksizes), list(strides), list(rates), padding)


@kernel("ExtractVolumePatches")
def _volume_patches(
    x: Any, *, ksizes: Sequence[int], strides: Sequence[int], padding: str
) -> Tensor:
    return patches.extract_volume_patches(x, list(ksizes), list(strides), padding)


@kernel("ExtractGlimpse")
def _glimpse_around(
    x: Any,
    size: Any,
    offsets: Any,
    *,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
) -> Tensor:
    noise = noise if uniform_noise else "gaussian"
    return drawing.extract_glimpse_around(x, size, offsets, centered, normalized, noise)


@kernel("ExtractGlimpseV2")
def _glimpse(
    x: Any,
    size: Any,
    offsets: Any,
    *,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
) -> Tensor:
    return drawing.extract_glimpse(x, size, offsets, centered, normalized, noise)


# -- boxes ----------------------------------------------------------------------------------------


@kernel("NonMaxSuppression")
def _suppressed(corners: Any, scores: Any, most: Any, *, iou_threshold: float = 0.5) -> Tensor:
    return boxes.non_max_suppression(corners, scores, most, iou_threshold)


@kernel("NonMaxSuppressionV2")
def _suppressed_over(corners: Any, scores: Any, most: Any, share: Any) -> Tensor:
    return boxes.non_max_suppression(corners, scores, most, _number(share))


@kernel("NonMaxSuppressionV3")
def _suppressed_of(corners: Any, scores: Any, most: Any, share: Any, least: Any) -> Tensor:
    return boxes.non_max_suppression(corners, scores, most, _number(share), _number(least))


@kernel("NonMaxSuppressionV4")
def _suppressed_and_padded(
    corners: Any,
    scores: Any,
    most: Any,
    share: Any,
    least: Any,
    *,
    pad_to_max_output_size: bool = False,
) -> Sequence[Tensor]:
    return suppression_padded.non_max_suppression_padded(
        corners, scores, most, _number(share), _number(least), pad_to_max_output_size
    )


@kernel("NonMaxSuppressionV5")
def _suppressed_with_scores(
    corners: Any,
    scores: Any,
    most: Any,
    share: Any,
    least: Any,
    sigma: Any,
    *,
    pad_to_max_output_size: bool = False,
) -> Sequence[Tensor]:
    if pad_to_max_output_size:
        raise NotImplementedError("NonMaxSuppressionV5 with pad_to_max_output_size=True")
    places, found = suppression_scores.non_max_suppression_with_scores(
        corners, scores, most, _number(share), _number(least), _number(sigma)
    )
    return places, found, shapes.size(places)


@kernel("NonMaxSuppressionWithOverlaps")
def _suppressed_by(overlaps: Any, scores: Any, most: Any, share: Any, least: Any) -> Tensor:
    return suppression_scores.non_max_suppression_overlaps(
        overlaps, scores, most, _number(share), _number(least)
    )


@kernel("CombinedNonMaxSuppression")
def _suppressed_by_class(
    corners: Any,
    scores: Any,
    most: Any,
    total: Any,
    share: Any,
    least: Any,
    *,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
) -> Sequence[Tensor]:
    rest = (_number(share), _number(least), pad_per_class, clip_boxes)
    return suppression.combined_non_max_suppression(corners, scores, most, total, *rest)


def _number(x: Any) -> Any:
    return known_value(x).item()


# -- files ----------------------------------------------------------------------------------------


@kernel("DecodeBmp")
def _decode_bmp(contents: Any, *, channels: int = 0) -> Tensor:
    return files.decode_bmp(contents, channels)


@kernel("DecodePng")
def _decode_png(contents: Any, *, channels: int = 0, dtype: DType = uint8) -> Tensor:
    return files.decode_png(contents, channels, dtype)


@kernel("DecodeJpeg")
def _decode_jpeg(
    contents: Any,
    *,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
) -> Tensor:
    rest = (ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return files.decode_jpeg(contents, channels, *rest)


@kernel("DecodeAndCropJpeg")
def _decode_part(
    contents: Any,
    window: Any,
    *,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
) -> Tensor:
    rest = (ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return jpeg.decode_and_crop_jpeg(contents, window, channels, *rest)


@kernel("DecodeImage")
def _decode_image(
    contents: Any, *, channels: int = 0, dtype: DType = uint8, expand_animations: bool = True
) -> Tensor:
    return files.decode_image(contents, channels, dtype, expand_animations=expand_animations)


@kernel("EncodePng")
def _encode_png(x: Any, *, compression: int = -1) -> Tensor:
    return files.encode_png(x, compression)


@kernel("EncodeJpeg")
def _encode_jpeg(
    x: Any,
    *,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
) -> Tensor:
    density = (density_unit, x_density, y_density)
    rest = (progressive, optimize_size, chroma_downsampling, *density, xmp_metadata)
    return files.encode_jpeg(x, format, quality, *rest)


@kernel("ExtractJpegShape")
def _jpeg_shape(contents: Any, *, output_type: DType = int32) -> Tensor:
    return jpeg.extract_jpeg_shape(contents, output_type)


@kernel("ScaleAndTranslate")
def _scaled(
    x: Any,
    size: Any,
    scale: Any,
    translation: Any,
    *,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Tensor:
    method = {"triangle": "bilinear", "keyscubic": "bicubic"}.get(kernel_type, kernel_type)
    sizes, scales, moves = [known_value(each).tolist() for each in (size, scale, translation)]
    return resize.scale_and_translate(x, sizes, scales, moves, method, antialias)


@kernel("ScaleAndTranslateGrad")
def _scaled_back(
    gradient: Any,
    x: Any,
    scale: Any,
    translation: Any,
    *,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Tensor:
    options = {"kernel_type": kernel_type, "antialias": antialias}
    size = shapes.shape(gradient)[1:3]
    return pulled_at_zeros(
        lambda x: _scaled(x, size, scale, translation, **options), shapes.shape(x), gradient
    )


@kernel("DecodeWebP")
def _decode_webp(contents: Any, *, channels: int = 0, dtype: DType = uint8) -> Tensor:
    return files.decode_webp(contents, channels, dtype)

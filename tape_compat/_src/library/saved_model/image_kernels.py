"""Kernels of images: colours, cutting out, boxes and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import DType
from ...ops import joining, shapes
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
from .gradient_kernels import pulled_at_zeros
from .registry import KERNELS, calling, kernel

#: The attributes of decoded JPEG files.
_JPEG = "channels ratio fancy_upscaling try_recover_truncated acceptable_fraction dct_method"

KERNELS |= {
    "CropAndResize": calling(boxes.crop_and_resize, "method extrapolation_value"),
    "DecodeAndCropJpeg": calling(
        jpeg.decode_and_crop_jpeg,
        _JPEG,
    ),
    "DecodeBmp": calling(files.decode_bmp, "channels"),
    "DecodeJpeg": calling(
        files.decode_jpeg,
        _JPEG,
    ),
    "DecodePng": calling(files.decode_png, "channels dtype"),
    "DecodeWebP": calling(files.decode_webp, "channels dtype"),
    "EncodeJpeg": calling(
        files.encode_jpeg,
        "format quality progressive optimize_size chroma_downsampling "
        "density_unit x_density y_density xmp_metadata",
    ),
    "EncodePng": calling(files.encode_png, "compression"),
    "ExtractGlimpseV2": calling(drawing.extract_glimpse, "centered normalized noise"),
    "ExtractImagePatches": calling(patches.extract_patches, "ksizes strides rates padding"),
    "ExtractJpegShape": calling(jpeg.extract_jpeg_shape, "output_type"),
    "ExtractVolumePatches": calling(patches.extract_volume_patches, "ksizes strides padding"),
    "ImageProjectiveTransformV3": calling(project, "interpolation fill_mode"),
    "NonMaxSuppression": calling(boxes.non_max_suppression, "iou_threshold"),
}

KERNELS |= {
    "DrawBoundingBoxes": lambda x, corners: drawing.draw_bounding_boxes(x, corners, None),
    "AdjustContrastv2": calling(adjustments.adjust_contrast),
    "AdjustHue": calling(adjustments.adjust_hue),
    "AdjustSaturation": calling(adjustments.adjust_saturation),
    "DecodeGif": calling(files.decode_gif),
    "DrawBoundingBoxesV2": calling(drawing.draw_bounding_boxes),
    "EncodeJpegVariableQuality": lambda x, quality: files.encode_jpeg(
        x, quality=int(known_value(quality))
    ),
    "HSVToRGB": calling(colors.hsv_to_rgb),
    "RGBToHSV": calling(colors.rgb_to_hsv),
}

# -- seen and cut out -----------------------------------------------------------------------------


@kernel("ImageProjectiveTransformV2")
def _projected_on_zeros(
    images: Any, transforms: Any, shape: Any, *, interpolation: str, fill_mode: str
) -> Tensor:
    return project(images, transforms, shape, 0.0, interpolation, fill_mode)


def _glimpse_around(
    x: Any, size: Any, offsets: Any, centered: bool, normalized: bool, uniform: bool, noise: str
) -> Tensor:
    noise = noise if uniform else "gaussian"
    return drawing.extract_glimpse_around(x, size, offsets, centered, normalized, noise)


KERNELS["ExtractGlimpse"] = calling(_glimpse_around, "centered normalized uniform_noise noise")


# -- boxes ----------------------------------------------------------------------------------------


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
    pad_to_max_output_size: bool,
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
    pad_to_max_output_size: bool,
) -> Sequence[Tensor]:
    places, found = suppression_scores.non_max_suppression_with_scores(
        corners, scores, most, _number(share), _number(least), _number(sigma)
    )
    count = shapes.size(places)
    if pad_to_max_output_size:
        rest = [[0, most - count]]
        places, found = joining.pad(places, rest), joining.pad(found, rest)
    return places, found, count


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
    pad_per_class: bool,
    clip_boxes: bool,
) -> Sequence[Tensor]:
    rest = (_number(share), _number(least), pad_per_class, clip_boxes)
    return suppression.combined_non_max_suppression(corners, scores, most, total, *rest)


def _number(x: Any) -> Any:
    return known_value(x).item()


# -- files ----------------------------------------------------------------------------------------


@kernel("DecodeImage")
def _decode_image(contents: Any, *, channels: int, dtype: DType, expand_animations: bool) -> Tensor:
    return files.decode_image(contents, channels, dtype, expand_animations=expand_animations)


@kernel("ScaleAndTranslate")
def _scaled(
    x: Any,
    size: Any,
    scale: Any,
    translation: Any,
    *,
    kernel_type: str,
    antialias: bool,
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
    kernel_type: str,
    antialias: bool,
) -> Tensor:
    options = {"kernel_type": kernel_type, "antialias": antialias}
    size = shapes.shape(gradient)[1:3]
    return pulled_at_zeros(
        lambda x: _scaled(x, size, scale, translation, **options), shapes.shape(x), gradient
    )

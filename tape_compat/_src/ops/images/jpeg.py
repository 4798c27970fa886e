"""JPEG files in parts, and images as they look after JPEG."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...core.refuse import check_dtype_of, invalid, not_allowed, shown
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from ..arguments import known_value, sketched
from ..random_stateful import uniform
from ..random_stateless import stateless_uniform
from .colors import convert_image_dtype
from .files import decode_jpeg, encode_jpeg, header, kind_of

_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


@by_host()
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A part of the image of a JPEG file, uint8 [height, width, c].

    Args:
      crop_window: int32 [4]: y, x, height, width.
      channels: 1 for gray, 3 for colors; 0 for what the file has.
      ratio: 1, 2, 4 or 8; the part is one of the image whose sides are divided by it.
    Raises: InvalidArgumentError for a part that is not inside of the image;
      NotImplementedError for options of a decoder.

    >>> import tape_compat as tf
    >>> file = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
    >>> tf.io.decode_and_crop_jpeg(file, [1, 2, 3, 4]).shape
    TensorShape([3, 4, 3])
    """
    kernel = "DecodeAndCropJpeg"
    sketch = sketched(contents, crop_window)
    if sketch is not None:
        return sketch.tensor([None, None, channels or None], dtypes.uint8)
    kind = kind_of(contents, kernel)
    if kind not in ("JPEG", None):
        raise invalid(f"{kernel} operation can run on JPEG only, but detected {kind}.", kernel)
    if channels not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}", kernel)
    window = known_value(crop_window)
    if window.ndim != 1:
        raise invalid(f"crop_window must be 1-D, got shape {shown(window.shape)}", kernel)
    if len(window) != 4:
        raise invalid(f"crop_size must have four elements {shown(window.shape)}", kernel)
    options = (ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    pixels = decode_jpeg(contents, channels, *options).numpy()
    top, left, height, width = window.tolist()
    inside = top + height <= pixels.shape[0] and left + width <= pixels.shape[1]
    if min(top, left) < 0 or min(height, width) <= 0 or not inside:
        raise invalid("jpeg::Uncompress failed. Invalid JPEG data or crop window.", kernel)
    return concrete(np.ascontiguousarray(pixels[top : top + height, left : left + width]))


@by_host()
def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Height, width and channels of the image of a JPEG file, without decoding it; [3].

    Args:
      output_type: int32 or int64.
    Raises: InvalidArgumentError for what is no JPEG file.

    >>> import tape_compat as tf
    >>> file = tf.io.encode_jpeg(tf.zeros([6, 8, 3], tf.uint8))
    >>> tf.io.extract_jpeg_shape(file).numpy().tolist()
    [6, 8, 3]
    """
    kernel, dtype = "ExtractJpegShape", as_dtype(output_type)
    if dtype.name not in ("int32", "int64"):
        raise not_allowed(dtype, "int32, int64", kernel, "output_type")
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor([3], dtype)
    given = known_value(contents)
    if given.shape:
        raise invalid(f"contents must be scalar, got shape {shown(given.shape)}", kernel)
    if kind_of(contents, kernel) != "JPEG":
        raise invalid(f"Invalid JPEG data, size {len(given.item())}", kernel)
    return concrete(np.asarray(header(contents, kernel), dtype.np_dtype))


@by_host()
def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """An image [h, w, 1 or 3] as it looks once it was a JPEG file; of the same dtype.

    It runs on the host. Pixels may differ by a little from TensorFlow's, as `decode_jpeg` does.

    Args:
      image: integers, or floats in [0, 1].
      jpeg_quality: in [0, 100].
    Raises: InvalidArgumentError for another shape or quality; ImportError without Pillow.

    >>> import tape_compat as tf
    >>> tf.image.adjust_jpeg_quality(tf.zeros([8, 8, 3]), 50).dtype
    tf.float32
    """
    x, kernel = convert(image), "EncodeJpegVariableQuality"
    quality = jpeg_quality
    if not isinstance(quality, Tensor):
        quality = convert(quality, "int32")
    check_dtype_of(quality._aval, 1, dtypes.int32, kernel)
    shape = x._aval.shape
    if len(shape) != 3:
        raise invalid(f"image must be 3-dimensional{shown(shape)}", kernel)
    if dct_method not in _METHODS:
        listed = ", ".join(map(repr, _METHODS))
        raise invalid(f"dct_method must be one of {{{listed}}}", "DecodeJpeg")
    sketch = sketched(x, quality)
    if sketch is not None:
        return sketch.tensor(shape, x.dtype)
    number = int(known_value(quality))
    if not 0 <= number <= 100:
        raise invalid(f"quality must be in [0,100], got {number}", kernel)
    if shape[-1] not in (1, 3):
        raise invalid(f"image must have 1 or 3 channels, got {shown(shape)}", kernel)
    file = encode_jpeg(convert_image_dtype(x, dtypes.uint8, saturate=True), quality=number)
    decoded = decode_jpeg(file, shape[-1], dct_method=dct_method)
    return convert_image_dtype(decoded, x.dtype, saturate=True)


def _check_range(low: Any, high: Any) -> None:
    if low < 0 or high < 0 or low > 100 or high > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if low >= high:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None
) -> Tensor:
    """`adjust_jpeg_quality` of a quality of [min_jpeg_quality, max_jpeg_quality).

    Raises: ValueError unless 0 <= min_jpeg_quality < max_jpeg_quality <= 100.
    """
    _check_range(min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, dtypes.int32, seed)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> Tensor:
    """`random_jpeg_quality`, the same for the same `seed` [2]."""
    _check_range(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtypes.int32)
    return adjust_jpeg_quality(image, quality)

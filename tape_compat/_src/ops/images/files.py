"""Images in files: PNG, JPEG, BMP, GIF, WebP, read and written by Pillow."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.avals import Aval
from ...core.dtypes import DType, as_dtype
from ...core.refuse import check_dtype_of, invalid, not_allowed, shown
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from ..arguments import known_value, sketched
from . import deep_png
from .colors import convert_image_dtype

_STARTS = {
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (deep_png.START,),
    "GIF": (b"GIF87a", b"GIF89a"),
    "BMP": (b"BM",),
    "WebP": (b"RIFF",),
}
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
#: Gray of red, green and blue as libpng has it, in 2**15ths.
_GRAY = np.array([[9797], [19234], [3737]], np.int32)


def _pillow() -> Any:
    """Pillow's module `Image`.

    Raises: ImportError, saying how to install it.
    """
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(
            "tf.image reads and writes files by Pillow, which is not installed: pip install pillow"
        ) from error


def _content(contents: Any, kernel: str) -> bytes:
    value = known_value(contents)
    if value.shape != ():
        raise invalid(f"`contents` must be scalar but got shape{shown(value.shape)}", kernel)
    found = value.item()
    return found.encode() if isinstance(found, str) else bytes(found)


def _kind(content: bytes) -> str | None:
    return next((k for k, starts in _STARTS.items() if content.startswith(starts)), None)


def kind_of(contents: Any, kernel: str) -> str | None:
    """The format of a file, by its first bytes; None if it is of no known one."""
    return _kind(_content(contents, kernel))


def header(contents: Any, kernel: str) -> tuple[int, int, int]:
    """Height, width and channels of the image of a file, which is not decoded."""
    with _readable("JPEG", kernel):
        image = _pillow().open(io.BytesIO(_content(contents, kernel)))
    return image.height, image.width, len(image.getbands())


def _opened(contents: Any, kernel: str, ratio: int = 1) -> tuple[Any, str]:
    """An image of Pillow, of a PNG file of 16 bits its pixels, and the format. The sides of JPEG's
    are divided by `ratio`."""
    content = _content(contents, kernel)
    if not content:
        raise invalid("Input is empty.", kernel)
    kind = _kind(content)
    if kind is None:
        raise invalid(
            "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.", kernel
        )
    _check_format(kind, kernel)
    with _readable(kind, kernel):
        if kind == "PNG" and deep_png.is_deep(content):
            return deep_png.read(content, _pillow().open), kind
        image = _pillow().open(io.BytesIO(content))
        if kind == "JPEG" and ratio != 1:
            _reduce(image, ratio)
        image.load()
    return image, kind


def _reduce(image: Any, ratio: int) -> None:
    """Let the decoder of a JPEG file make the image smaller."""
    width, height = image.size
    if min(width, height) < ratio:
        raise NotImplementedError(
            f"tf.image.decode_jpeg: ratio={ratio} of an image of {height} x {width}"
        )
    image.draft(None, (width // ratio, height // ratio))


def _check_format(kind: str, kernel: str) -> None:
    """Refuse BMP files to decoders of others, and other files to that of BMP files."""
    if (kind == "BMP") == (kernel == "DecodeBmp") or kernel == "DecodeImage":
        return
    which, used = ("a wrong", f" Op used: {kernel}") if kind == "BMP" else ("DecodeBmp", "")
    raise invalid(
        f"Trying to decode {kind} format using {which} op. Use `decode_{kind.lower()}` or "
        f"`decode_image` instead.{used}",
        kernel,
    )


@contextlib.contextmanager
def _readable(kind: str, kernel: str) -> Iterator[None]:
    """Raises TensorFlow's error for a file that Pillow cannot read."""
    try:
        yield
    except (OSError, SyntaxError, EOFError, *deep_png.DAMAGED) as error:
        raise invalid(f"Invalid {kind} data: {error}", kernel) from error


def _pixels(image: Any, channels: int, kernel: str) -> np.ndarray:
    """Pixels [h, w, channels]; with channels 0, as many as the file has."""
    if channels not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}", kernel)
    if isinstance(image, np.ndarray):
        return _deep_pixels(image, channels)
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode not in ("L", "LA", "RGB", "RGBA"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    if channels == 1 and image.mode in ("RGB", "RGBA"):
        return (np.asarray(image)[..., :3].astype(np.int32) @ _GRAY >> 15).astype(np.uint8)
    if channels and image.mode != _MODES[channels]:
        image = image.convert(_MODES[channels])
    found = np.asarray(image)
    return found if found.ndim == 3 else found[..., None]


def _deep_pixels(pixels: np.ndarray, channels: int) -> np.ndarray:
    """Pixels of 16 bits, of as many channels; those of a file of 2 are gray and transparency."""
    found = pixels.shape[2]
    if channels in (0, found):
        return pixels
    whole = np.full((*pixels.shape[:2], 1), 0xFFFF, np.uint16)
    alpha = pixels[..., -1:] if found in (2, 4) else whole
    colors = pixels[..., : found - 1] if found in (2, 4) else pixels
    if channels == 1 and colors.shape[2] == 3:
        colors = (colors.astype(np.int64) @ _GRAY + 2**14 >> 15).astype(np.uint16)
    if channels > 1:
        colors = np.broadcast_to(colors, (*pixels.shape[:2], 3))
    return np.concatenate([colors, alpha], 2) if channels == 4 else np.ascontiguousarray(colors)


def _typed(pixels: np.ndarray, dtype: DType, kernel: str) -> Tensor:
    """Pixels of 8 or 16 bits as a tensor of `dtype`."""
    if dtype is dtypes.uint16:
        wide = pixels if pixels.dtype == np.uint16 else pixels.astype(np.uint16) * np.uint16(257)
        return concrete(wide)
    if pixels.dtype == np.uint16 and dtype is dtypes.uint8:
        pixels = (pixels >> 8).astype(np.uint8)
    tensor = concrete(np.ascontiguousarray(pixels))
    return tensor if dtype is dtypes.uint8 else convert_image_dtype(tensor, dtype)


@by_host()
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The image of a file: [h, w, c], or the frames of a GIF or WebP [frames, h, w, c].

    Args:
      channels: 1 for gray, 3 for colors, 4 for colors and transparency; 0 for what the file has.
      dtype: uint8, uint16 or a floating one; floats are in [0, 1].
      expand_animations: whether to give all the frames, not the first as [h, w, c].
    Raises: InvalidArgumentError for what is no image; ImportError without Pillow.
    """
    kernel, kind = "DecodeImage", as_dtype(dtype)
    if kind.name not in ("uint8", "uint16", "float32"):
        raise not_allowed(kind, "uint8, uint16, float", kernel, "dtype")
    sketch = None if expand_animations else sketched(contents)
    if sketch is not None:  # of animations not even the number of axes is known
        return sketch.tensor([None, None, channels or None], kind)
    image, form = _opened(contents, kernel)
    if form == "WebP":
        return _of_webp(image, channels or 0, kind, expand_animations, kernel)
    if form != "GIF":
        return _typed(_pixels(image, channels or 0, kernel), kind, kernel)
    if channels in (1, 4):
        raise invalid("channels must be 0 or 3 for GIF", kernel)
    frames = _frames(image)
    return _typed(frames if expand_animations else frames[0], kind, kernel)


def _of_webp(image: Any, channels: int, dtype: DType, every_frame: bool, kernel: str) -> Tensor:
    """The frames of a WebP file, or the first."""
    if channels not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}", kernel)
    if channels == 1:
        raise invalid("WebP only supports 3 or 4 channels", kernel)
    if dtype is not dtypes.uint8:
        raise invalid("WebP only supports uint8 for dtype", kernel)
    if channels not in (0, len(image.getbands())):
        raise invalid("Number of channels requested does not match input", kernel)
    frames = _frames(image, image.mode, "WebP", kernel)
    return _typed(frames if every_frame else frames[0], dtype, kernel)


@by_host()
def decode_webp(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The frames of a WebP file, uint8 [frames, h, w, channels]. Needs Pillow.

    channels: 3, or 4 for colors and transparency, of which the file must be; 0 for what it has.
    Raises: InvalidArgumentError for another file, other channels, or another dtype than uint8.
    """
    kernel, kind = "DecodeWebP", as_dtype(dtype)
    if kind is not dtypes.uint8:
        raise not_allowed(kind, "uint8", kernel, "dtype")
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor([None, None, None, channels or None], kind)
    image, form = _opened(contents, kernel)
    if form == "WebP":
        return _of_webp(image, channels, kind, True, kernel)
    if form == "GIF":
        return _typed(_frames(image), kind, kernel)
    return _typed(_pixels(image, channels, kernel), kind, kernel)


def _frames(
    image: Any, mode: str = "RGB", form: str = "GIF", kernel: str = "DecodeGif"
) -> np.ndarray:
    found = []
    with _readable(form, kernel):
        for i in range(getattr(image, "n_frames", 1)):
            image.seek(i)
            found.append(np.asarray(image.convert(mode)))
    return np.stack(found)


@by_host()
def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The image [h, w, c] of a PNG file, uint8 or uint16; other formats are read as well.

    >>> import tape_compat as tf
    >>> x = tf.constant([[[1, 2, 3]]], tf.uint8)
    >>> tf.image.decode_png(tf.image.encode_png(x)).numpy().tolist()
    [[[1, 2, 3]]]
    """
    kind = as_dtype(dtype)
    if kind.name not in ("uint8", "uint16"):
        raise not_allowed(kind, "uint8, uint16", "DecodePng", "dtype")
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor([None, None, channels or None], kind)
    image, form = _opened(contents, "DecodePng")
    if form == "GIF":
        return _single(image, "DecodePng")
    return _typed(_pixels(image, channels, "DecodePng"), kind, "DecodePng")


def _single(image: Any, kernel: str) -> Tensor:
    frames = _frames(image)
    if len(frames) > 1:
        raise invalid(f"Got {len(frames)} frames, but animated gifs can only be decoded by "
                      "tf.io.decode_gif or tf.io.decode_image", kernel)  # fmt: skip
    return concrete(frames[0])


@by_host()
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The image [h, w, c] of a JPEG file, uint8; other formats are read as well.

    Pixels may differ by a little from TensorFlow's, whose inverse transform is a quicker one.
    `ratio`: 1, 2, 4 or 8; height and width are divided by it, rounded up.
    Raises: InvalidArgumentError for another `ratio`; NotImplementedError for options of a decoder,
      and for images with fewer pixels than `ratio` in a row or column.
    """
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}", "DecodeJpeg")
    _only_default("decode_jpeg", fancy_upscaling=(fancy_upscaling, True))
    _only_default("decode_jpeg", try_recover_truncated=(try_recover_truncated, False))
    _only_default("decode_jpeg", acceptable_fraction=(acceptable_fraction, 1))
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor([None, None, channels or None], dtypes.uint8)
    image, form = _opened(contents, "DecodeJpeg", ratio)
    if form == "GIF":
        return _single(image, "DecodeJpeg")
    return _typed(_pixels(image, channels, "DecodeJpeg"), dtypes.uint8, "DecodeJpeg")


def _only_default(function: str, **options: tuple[Any, Any]) -> None:
    for option, (given, default) in options.items():
        if given != default:
            raise NotImplementedError(f"tf.image.{function}: {option}={given!r}")


@by_host()
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The image [h, w, c] of a BMP file, uint8."""
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor([None, None, channels or None], dtypes.uint8)
    image, _ = _opened(contents, "DecodeBmp")
    return _typed(_pixels(image, channels, "DecodeBmp"), dtypes.uint8, "DecodeBmp")


@by_host()
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """All frames of a GIF file, uint8 [frames, h, w, 3]; another file is one frame."""
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor([None, None, None, 3], dtypes.uint8)
    image, form = _opened(contents, "DecodeGif")
    if form != "GIF":
        return _typed(_pixels(image, 3, "DecodeGif")[None], dtypes.uint8, "DecodeGif")
    return concrete(_frames(image))


@by_host()
def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a file begins as JPEG files do."""
    sketch = sketched(contents)
    if sketch is not None:
        return sketch.tensor((), dtypes.bool)
    return concrete(np.asarray(_content(contents, "Substr").startswith(_STARTS["JPEG"])))


def _text(content: bytes) -> Tensor:
    return concrete(np.asarray(content, object), Aval.of((), dtypes.string))


def _checked(image: Any, allowed: tuple[int, ...], kernel: str) -> np.ndarray:
    """The pixels of an image that can be written."""
    pixels = known_value(image)
    if pixels.dtype not in (np.uint8, np.uint16):
        raise not_allowed(dtypes.from_numpy(pixels.dtype), "uint8, uint16", kernel)
    if kernel == "EncodePng" and pixels.ndim < 3:
        raise invalid(f"images must be at least rank 3{shown(pixels.shape)}", kernel)
    if pixels.ndim != 3:
        raise invalid(f"image must be 3-dimensional{shown(pixels.shape)}", kernel)
    if pixels.shape[2] not in allowed:
        raise invalid(_wrong_channels(pixels.shape, kernel), kernel)
    if not pixels.size:
        what = " at the following flattened batch indices: 0" if kernel == "EncodePng" else ""
        raise errors.InternalError(
            None,
            None,
            f"{kernel[6:].upper()} encoding failed{what} [Op:{kernel}] (at "
            f"{errors.user_location()})",
        )
    return pixels


def _to_pillow(pixels: np.ndarray) -> Any:
    return _pillow().fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)


def _wrong_channels(shape: tuple[int, ...], kernel: str) -> str:
    if kernel == "EncodePng":
        return f"image must have 1, 2, 3, or 4 channels, got {shape[2]}"
    return f"image must have 1 or 3 channels, got {shown(shape)}"


@by_host()
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The PNG file, a string, of an image [h, w, c] of uint8 or uint16.

    More axes before give as many files. Raises: ImportError without Pillow.
    """
    sketch = sketched(image)
    if sketch is not None:
        return sketch.tensor(image._aval.shape[:-3], dtypes.string)
    pixels = known_value(image)
    if pixels.ndim > 3:
        files = [encode_png(part, compression).numpy() for part in pixels]
        array = np.empty(pixels.shape[:-3], object)
        array[...] = np.asarray(files, object)
        return concrete(array, Aval.of(array.shape, dtypes.string))
    pixels, out = _checked(pixels, (1, 2, 3, 4), "EncodePng"), io.BytesIO()
    if pixels.dtype == np.uint16:
        return _text(deep_png.write(pixels, compression))
    level = {} if compression < 0 else {"compress_level": compression}
    _to_pillow(pixels).save(out, "PNG", **level)
    return _text(out.getvalue())


@by_host()
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """The JPEG file, a string, of an image [h, w, 1 or 3] of uint8.

    Raises: NotImplementedError for metadata and densities in centimetres; ImportError without
    Pillow.
    """
    _only_default("encode_jpeg", xmp_metadata=(xmp_metadata, ""), density_unit=(density_unit, "in"))
    if format not in ("", "grayscale", "rgb"):
        raise not_allowed(f'"{format}"', '"", "grayscale", "rgb"', "EncodeJpeg", "format")
    sketch = sketched(image)
    if sketch is not None:
        return sketch.tensor((), dtypes.string)
    if isinstance(image, Tensor):
        check_dtype_of(image._aval, 0, dtypes.uint8, "EncodeJpeg")
    else:
        image = np.asarray(image).astype(np.uint8)
    opened, out = _to_pillow(_checked(image, (1, 3), "EncodeJpeg")), io.BytesIO()
    opened.save(
        out,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0,
        dpi=(x_density, y_density),
    )
    return _text(out.getvalue())

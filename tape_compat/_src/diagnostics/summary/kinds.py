"""Summaries of numbers, images, histograms, text and sound, as TensorBoard has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.refuse import tf_dtype_name
from ...data.structure import array_of
from ...ops.casting import cast
from ...ops.images.colors import convert_image_dtype
from ...ops.images.files import encode_png
from ...ops.signals.sound import encode_wav
from ...values.convert import convert
from ...values.tensor import Tensor, concrete
from ..assertions import assert_non_negative, assert_rank, assert_scalar, assert_type
from .protos import SummaryMetadata
from .record import Prepared, checked_step, emit, message_of, summary_scope, write

#: Buckets of a histogram.
_BUCKETS = 30
#: What tells TensorBoard that sound is WAV.
_WAV = b"\x10\x0b"


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> bytes:
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    made = SummaryMetadata(plugin_data=data, summary_description=description)
    return made.SerializeToString()


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a number.

    Args:
      name: of the summary; its tag has the name scopes around it before it.
      data: a real scalar, which is written as float32.
      step: int64 scalar; None for that of `tf.summary.experimental.set_step`.
      description: text for TensorBoard.
    Returns: whether it was written: bool scalar Tensor.
    Raises: ValueError if it is no scalar, or without a step.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.summary.create_file_writer(folder).as_default():
    ...         _ = tf.summary.scalar("loss", 0.5, step=3)
    ...     (file,) = tf.io.gfile.glob(folder + "/*")
    ...     _, event = tf.compat.v1.train.summary_iterator(file)
    >>> value = event.summary.value[0]
    >>> event.step, value.tag, tf.make_ndarray(value.tensor).item()
    (3, 'loss', 0.5)
    """
    metadata = _metadata("scalars", description)
    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        assert_scalar(data)
        return write(tag, cast(data, dtypes.float32), step, metadata)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write text.

    Args:
      data: string tensor; TensorBoard shows a vector or matrix as a table.
      name, step, description: as for `tf.summary.scalar`.
    Returns: whether it was written: bool scalar Tensor.
    Raises: TypeError for another dtype, ValueError without a step.

    >>> import tape_compat as tf
    >>> tf.summary.text("note", "warm-up is over", step=100)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    metadata = _metadata("text", description)
    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        assert_type(data, dtypes.string)
        return write(tag, data, step, metadata)


def _written(
    name: str,
    kind: str,
    step: Any,
    metadata: bytes,
    prepare: Callable[[], tuple[list[Tensor], Callable[..., np.ndarray], Any]],
) -> Tensor:
    """Write a tensor that a function makes of the arrays of others; `prepare` gives the tensors,
    the function and the dtype, and is called if it is to be written."""
    with summary_scope(name, kind) as (tag, _):
        if step is not None:
            checked_step(step)

        def prepared() -> Prepared:
            tensors, make, dtype = prepare()
            return tensors, lambda *arrays: message_of(tag.encode(), make(*arrays), dtype, metadata)

        return emit(step, prepared)


def histogram(
    name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None
) -> Tensor:
    """Write a histogram of all elements: float64 [buckets, 3], of which a row holds where a bucket
    begins, where it ends and how many elements are in it.

    Args:
      data: a tensor of numbers of any shape.
      buckets: int32 scalar; 30 by default. With equal elements all are in the last one.
      name, step, description: as for `tf.summary.scalar`.
    Returns: whether it was written: bool scalar Tensor.
    Raises: ValueError without a step.

    >>> import tape_compat as tf
    >>> tf.summary.histogram("weights", tf.range(100), step=0)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    tensor = convert(data)

    def prepare() -> tuple[list[Tensor], Callable[..., np.ndarray], Any]:
        count = convert(_BUCKETS if buckets is None else buckets)
        assert_scalar(count)
        assert_type(count, dtypes.int32)
        if tensor.dtype is dtypes.string:
            raise errors.UnimplementedError(None, None, "Cast string to double is not supported")
        return [tensor, count], lambda array, n: _buckets(array, max(int(n), 0)), dtypes.float64

    return _written(name, "histogram_summary", step, _metadata("histograms", description), prepare)


def _buckets(array: np.ndarray, count: int) -> np.ndarray:
    """The buckets [count, 3] of all elements."""
    values = np.real(array.ravel()).astype(np.float64)
    if not values.size or not count:
        return np.zeros((count, 3))
    least, most = values.min(), values.max()
    found = np.zeros((count, 3))
    if least == most:
        found[:, :2] = most
        found[-1, 2] = values.size
        return found
    with np.errstate(invalid="ignore", over="ignore"):
        places = np.floor((values - least) / ((most - least) / count))
        edges = np.linspace(least, most, count + 1)
    places = np.minimum(places[np.isfinite(places)], count - 1).astype(np.int64)
    edges[0], edges[-1] = least, most
    found[:, 0], found[:, 1] = edges[:-1], edges[1:]
    found[:, 2] = np.bincount(places, minlength=count)
    return found


def image(
    name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Tensor:
    """Write images, as PNG.

    Args:
      data: [k, h, w, c] of 1 to 4 channels, floats in [0, 1] or uint8; others are converted by
        `tf.image.convert_image_dtype`.
      max_outputs: how many of them; the others are left out.
      name, step, description: as for `tf.summary.scalar`.
    Returns: whether they were written: bool scalar Tensor.
    Raises: ValueError for another rank or without a step; ImportError without Pillow.

    >>> import tape_compat as tf
    >>> tf.summary.image("noise", tf.random.uniform([2, 8, 8, 1]), step=0)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """

    def prepare() -> tuple[list[Tensor], Callable[..., np.ndarray], Any]:
        images = _first(data, 4, max_outputs)
        pixels = convert_image_dtype(images, dtypes.uint8, saturate=True)
        return [pixels, convert(max_outputs)], _pngs, dtypes.string

    return _written(name, "image_summary", step, _metadata("images", description), prepare)


def _first(data: Any, rank: int, count: Any) -> Tensor:
    """The first items of a tensor, or all where their number is not known."""
    tensor = convert(data)
    assert_rank(tensor, rank)
    assert_non_negative(count)
    known = isinstance(count, int) and tensor.shape[0] is not None
    return tensor[:count] if known else tensor


def _pngs(images: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Width, height, and the files."""
    _, height, width, _ = images.shape
    files = [array_of(encode_png(concrete(image))).item() for image in images[: int(count)]]
    return _texts([str(width).encode(), str(height).encode(), *files])


def _texts(values: list[bytes]) -> np.ndarray:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Write sound, as WAV of 16 bits.

    Args:
      data: float32 [k, t, c], in [-1, 1]: clips of so many samples and channels.
      sample_rate: int32 scalar, samples in a second.
      max_outputs: how many clips; the others are left out.
      encoding: None or "wav".
      name, step, description: as for `tf.summary.scalar`.
    Returns: whether it was written: bool scalar Tensor.
    Raises: ValueError for another encoding or rank, or without a step.

    >>> import tape_compat as tf
    >>> tf.summary.audio("tone", tf.zeros([1, 100, 1]), 8000, step=0)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")

    def prepare() -> tuple[list[Tensor], Callable[..., np.ndarray], Any]:
        clips = _first(data, 3, max_outputs)
        if clips.dtype is not dtypes.float32:
            raise errors.InvalidArgumentError(
                None,
                None,
                "cannot compute EncodeWav as input #0(zero-based) was expected to be a float "
                f"tensor but is a {tf_dtype_name(clips.dtype)} tensor [Op:EncodeWav]",
            )
        return [clips, convert(max_outputs), convert(sample_rate)], _wavs, dtypes.string

    metadata = _metadata("audio", description, _WAV)
    return _written(name, "audio_summary", step, metadata, prepare)


def _wavs(clips: np.ndarray, count: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Rows of a file and its label, which is empty."""
    kept = clips[: int(count)]
    found = _texts([b""] * (2 * len(kept))).reshape(len(kept), 2)
    for i, clip in enumerate(kept):
        found[i, 0] = array_of(encode_wav(concrete(clip), concrete(rate))).item()
    return found

"""Sound in files: WAV of 16 bits."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes
from ...core.avals import Aval
from ...core.refuse import invalid, shown, wrong_dtype
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from ..arguments import known_value, sketched


class DecodeWav(NamedTuple):
    """The samples float32 [n, channels] of a file, and how many there are in a second."""

    audio: Tensor
    sample_rate: Tensor


class _Reader:
    """The parts of a file, one after the other."""

    def __init__(self, content: bytes):
        self.content, self.place = content, 0

    def take(self, count: int, what: str = "string") -> bytes:
        if self.place + count > len(self.content):
            raise invalid(f"Data too short when trying to read {what}", "DecodeWav")
        self.place += count
        return self.content[self.place - count : self.place]

    def number(self, form: str) -> int:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(form), "number"))[0]

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise invalid(
                f"Header mismatch: Expected {text.decode()} but found {found.decode('latin-1')}",
                "DecodeWav",
            )


def _samples(content: bytes) -> tuple[np.ndarray, int]:
    reader = _Reader(content)
    reader.expect(b"RIFF")
    reader.number("I")
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    size = reader.number("I")
    if size not in (16, 18):
        raise invalid(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}",
                      "DecodeWav")  # fmt: skip
    form, channels = reader.number("H"), reader.number("H")
    rate, _, _, bits = (reader.number(f) for f in "IIHH")
    reader.take(size - 16)
    if form != 1:
        raise invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{form}", "DecodeWav")
    if bits != 16:
        raise invalid("Can only read 16-bit WAV files, but received " + str(bits), "DecodeWav")
    while reader.place < len(content):
        kind, length = reader.take(4), reader.number("I")
        chunk = reader.take(length, "data")
        if kind == b"data":
            values = np.frombuffer(chunk[: length // (2 * channels) * 2 * channels], "<i2")
            return values.reshape(-1, channels), rate
    raise invalid("No data in WAV file", "DecodeWav")


@by_host()
def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The samples of a WAV file of 16 bits, in [-1, 1), and their rate.

    Args:
      desired_channels: so many; the last one of the file is repeated. -1: those of the file.
      desired_samples: so many; zeros are added. -1: those of the file.
    Raises: InvalidArgumentError for another file.

    >>> import tape_compat as tf
    >>> tf.audio.decode_wav(tf.audio.encode_wav([[0.5], [-1.0]], 8000)).audio.numpy().tolist()
    [[0.5], [-1.0]]
    """
    sketch = sketched(contents)
    if sketch is not None:
        shape = [desired_samples, desired_channels]
        audio = sketch.tensor([None if n < 0 else n for n in shape], dtypes.float32)
        return DecodeWav(audio, sketch.tensor((), dtypes.int32))
    known = known_value(contents)
    if known.ndim:
        raise invalid(f"contents must be scalar, got shape {shown(known.shape)}", "DecodeWav")
    found, rate = _samples(known.item())
    for value, what in ((desired_channels, "channels"), (desired_samples, "samples")):
        if value < -1:
            raise invalid(f"desired_{what} must be >= -1, got {value}", "DecodeWav")
    if desired_channels >= 0:
        last = found.shape[1] - 1
        found = found[:, [min(i, last) for i in range(desired_channels)]]
    if desired_samples >= 0:
        found = np.pad(found[:desired_samples], [(0, max(desired_samples - len(found), 0)), (0, 0)])
    audio = found.astype(np.float32) / np.float32(32768)
    return DecodeWav(concrete(audio), concrete(np.asarray(rate, np.int32)))


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """The WAV file of 16 bits, a string, of float32 samples [n, channels] in [-1, 1].

    Raises: InvalidArgumentError for another shape or rate, and for a tensor of another dtype.
    """
    if isinstance(audio, Tensor) and audio.dtype is not dtypes.float32:
        raise wrong_dtype(audio.dtype, 0, dtypes.float32, "EncodeWav")
    samples, rate = known_value(audio).astype(np.float32), known_value(sample_rate)
    if samples.ndim != 2:
        raise invalid(f"audio must be 2-dimensional{shown(samples.shape)}", "EncodeWav")
    if rate.ndim:
        raise invalid(
            f"Input sample_rate should be a scalar tensor, got {shown(rate.shape)} instead.",
            "EncodeWav",
        )
    if not 0 < int(rate) < 2**32:
        raise invalid(f"sample_rate must be in (0, 2^32), got: {int(rate)}", "EncodeWav")
    if not samples.shape[1]:
        raise invalid("audio is null", "EncodeWav")
    scaled = samples * np.float32(32768)
    whole = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    data = np.clip(whole, -32768, 32767).astype("<i2").tobytes()
    channels = samples.shape[1]
    head = struct.pack("<IHHIIHH", 16, 1, channels, int(rate), int(rate) * 2 * channels,
                       2 * channels, 16)  # fmt: skip
    body = b"WAVEfmt " + head + b"data" + struct.pack("<I", len(data)) + data
    content = b"RIFF" + struct.pack("<I", len(body)) + body
    return concrete(np.asarray(content, object), Aval.of((), dtypes.string))

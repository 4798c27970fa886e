"""PNG files of 16 bits a channel, of which Pillow keeps 8 where there are several channels.

The filters of PNG work on each byte of a pixel for itself: the upper bytes of all channels are a
file of 8 bits, and so are the lower ones. Source: PNG specification (third edition), sections 7
to 9.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

#: What reading a damaged file raises: of its header, its lines and its data.
DAMAGED = (struct.error, KeyError, ValueError, zlib.error)

START = b"\x89PNG\r\n\x1a\n"
#: Channels by the type of color.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
#: First column and row, and steps, of the seven parts of an interlaced image.
_PARTS = (
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
)


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The kinds and data of the chunks of a file."""
    place = len(START)
    while place + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, place)
        yield kind, content[place + 8 : place + 8 + size]
        place += size + 12


def _written(chunks: list[tuple[bytes, bytes]]) -> bytes:
    """A file of these chunks."""
    parts = [START]
    for kind, data in chunks:
        parts += [struct.pack(">I", len(data)), kind, data]
        parts.append(struct.pack(">I", zlib.crc32(kind + data)))
    return b"".join(parts)


def _header(width: int, height: int, bits: int, color: int, interlaced: int = 0) -> bytes:
    return struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlaced)


def is_deep(content: bytes) -> bool:
    """Whether a PNG file has 16 bits a channel."""
    return content[12:16] == b"IHDR" and content[24:25] == b"\x10"


def read(content: bytes, open_image: Any) -> np.ndarray:
    """The pixels [h, w, c] of such a file, uint16. open_image: reads one of 8 bits.

    Raises: one of DAMAGED for a damaged file.
    """
    found = list(_chunks(content))
    width, height, _, color, _, _, interlaced = struct.unpack(">IIBBBBB", found[0][1])
    data = zlib.decompress(b"".join(part for kind, part in found if kind == b"IDAT"))
    upper, lower = _halves(data, width, height, _CHANNELS[color], interlaced)
    header = _header(width, height, 8, color, interlaced)
    high, low = [
        np.asarray(open_image(io.BytesIO(_written(_of_bytes(header, lines)))), np.uint16)
        for lines in (upper, lower)
    ]
    return (high << 8 | low).reshape(height, width, -1)


def _of_bytes(header: bytes, lines: bytes) -> list[tuple[bytes, bytes]]:
    """The chunks of a file with these lines, which are not packed."""
    return [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 0)), (b"IEND", b"")]


def _halves(
    data: bytes, width: int, height: int, channels: int, interlaced: int
) -> tuple[bytes, bytes]:
    """Filtered lines of the upper bytes and of the lower ones."""
    bytes_ = np.frombuffer(data, np.uint8)
    halves: tuple[list[bytes], list[bytes]] = ([], [])
    place = 0
    for x, y, step_x, step_y in _PARTS if interlaced else ((0, 0, 1, 1),):
        columns, rows = -(-(width - x) // step_x), -(-(height - y) // step_y)
        if columns <= 0 or rows <= 0:
            continue
        size = 1 + 2 * channels * columns
        lines = bytes_[place : place + rows * size].reshape(rows, size)
        place += rows * size
        for half, first in zip(halves, (1, 2)):
            half.append(np.concatenate([lines[:, :1], lines[:, first::2]], 1).tobytes())
    return b"".join(halves[0]), b"".join(halves[1])


def write(pixels: np.ndarray, level: int) -> bytes:
    """The file of pixels [h, w, c] of uint16; level: of compression, -1 for the usual one."""
    height, width, channels = pixels.shape
    lines = pixels.astype(">u2").reshape(height, -1).view(np.uint8)
    data = np.concatenate([np.zeros((height, 1), np.uint8), lines], 1).tobytes()
    color = next(kind for kind, count in _CHANNELS.items() if count == channels)
    header = _header(width, height, 16, color)
    return _written([(b"IHDR", header), (b"IDAT", zlib.compress(data, level)), (b"IEND", b"")])

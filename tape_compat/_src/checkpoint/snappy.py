"""Snappy, which old checkpoints have the blocks of their index in: reading only.

Source: google/snappy, format_description.txt.
"""

from __future__ import annotations

from ..data.io.wire import read_varint


def decompressed(data: bytes) -> bytes:
    """The bytes that were compressed. Raises ValueError for what is not Snappy.

    >>> decompressed(bytes([6, 4]) + b"ab" + bytes([1, 2]))
    b'ababab'
    """
    size, at = read_varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            count = tag >> 2
            if count >= 60:
                width = count - 59
                count = int.from_bytes(data[at : at + width], "little")
                at += width
            out += data[at : at + count + 1]
            at += count + 1
            continue
        width = (1, 2, 4)[(tag & 3) - 1]
        back = int.from_bytes(data[at : at + width], "little")
        at += width
        count = (tag >> 2) + 1
        if width == 1:
            back |= tag >> 5 << 8
            count = (tag >> 2 & 7) + 4
        if not 0 < back <= len(out):
            raise ValueError("a copy from before the beginning")
        for _ in range(count):
            out.append(out[-back])
    if len(out) != size:
        raise ValueError("the size differs")
    return bytes(out)

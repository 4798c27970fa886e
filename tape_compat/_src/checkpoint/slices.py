"""The names in an index of the parts of a value that was saved in parts.

They are a zero, the name, the number of dimensions, and start and length in each, in a code whose
order as bytes is that of the values.
Source: TensorFlow, ordered_code.cc and saved_tensor_slice_util.cc.
"""

from __future__ import annotations

#: Start and length in each dimension; a length of None is all of it.
Extents = tuple[tuple[int, int | None], ...]


def slice_of(extents: Extents) -> tuple[slice, ...]:
    """The part of an array."""
    return tuple(slice(s, None if n is None else s + n) for s, n in extents)


def slice_key(name: str, extents: Extents) -> bytes:
    """The key of a part.

    >>> slice_key("b", ((2, 2), (0, None)))
    b'\\x00b\\x00\\x01\\x01\\x02\\x82\\x82\\x80\\x7f'
    """
    text = name.encode().replace(b"\0", b"\0\xff").replace(b"\xff", b"\xff\0")
    found = _plain(0) + text + b"\0\x01" + _plain(len(extents))
    for start, length in extents:
        found += _with_sign(start) + _with_sign(-1 if length is None else length)
    return found


def _plain(number: int) -> bytes:
    """A count of bytes, and the bytes, the greatest first."""
    width = -(-number.bit_length() // 8)
    return bytes([width]) + number.to_bytes(width, "big")


def _with_sign(number: int) -> bytes:
    """As many leading ones as there are bytes, then the number; its complement if negative."""
    size = number if number >= 0 else ~number
    width = next(w for w in range(1, 11) if size >> (7 * w - 1) == 0)
    code = (((1 << width) - 1) << (8 * width - width)) | size
    if number < 0:
        code ^= (1 << (8 * width)) - 1
    return code.to_bytes(width, "big")

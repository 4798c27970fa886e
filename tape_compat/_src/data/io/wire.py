"""The wire format of protocol buffers: fields as numbers, kinds and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

#: Kinds of fields on the wire.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MASK = (1 << 64) - 1


def varint(number: int) -> bytes:
    """An integer, as many bytes as it needs; a negative one is that of 64 bits.

    >>> varint(300), len(varint(-1))
    (b'\\xac\\x02', 10)
    """
    number &= _MASK
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def varints(numbers: Iterable[int]) -> bytes:
    """Integers, one after the other."""
    return b"".join([_SMALL[n] if 0 <= n < 128 else varint(n) for n in numbers])


_SMALL = [bytes([n]) for n in range(128)]


def field(number: int, data: bytes) -> bytes:
    """A field of bytes: text, a message, or packed numbers."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """A field of an integer."""
    return varint(number << 3 | VARINT) + varint(value)


def fixed_field(number: int, kind: int, data: bytes) -> bytes:
    """A field of 4 or 8 bytes: kind FIXED32 or FIXED64."""
    return varint(number << 3 | kind) + data


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The integer at a place, not negative, and the place after it."""
    first = data[at]
    if first < 128:
        return first, at + 1
    found, shift = first & 127, 7
    while True:
        at += 1
        byte = data[at]
        found |= (byte & 127) << shift
        if byte < 128:
            return found & _MASK, at + 1
        shift += 7
        if shift > 63:
            raise ValueError("an integer has more than 64 bits")


def signed(number: int) -> int:
    """An integer of 64 bits with its sign."""
    return number - (1 << 64) if number >> 63 else number


def read_varints(data: bytes | memoryview) -> list[int]:
    """All integers, with their signs.

    >>> read_varints(varints([1, 300, -2]))
    [1, 300, -2]
    """
    array = np.frombuffer(data, np.uint8)
    if not (array > 127).any():
        return array.tolist()
    found, at = [], 0
    try:
        while at < len(data):
            number, at = read_varint(data, at)
            found.append(signed(number))
    except IndexError:
        raise ValueError("the message ends within a field") from None
    return found


def parts(data: bytes | memoryview, number: int) -> Iterator[memoryview]:
    """The bytes of the fields of a number.

    Raises: ValueError for what is no message, or if one is an integer.

    >>> [bytes(part) for part in parts(field(1, b"a") + field(2, b"b") + field(1, b"c"), 1)]
    [b'a', b'c']
    """
    for found, kind, part in fields(data):
        if found == number:
            if kind == VARINT:
                raise ValueError("an integer stands where a message is wanted")
            yield part  # type: ignore[misc]


def fields(data: bytes | memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """The fields of a message: number, kind, and an integer or the bytes.

    Raises: ValueError for what is no message.
    """
    view, at = memoryview(data), 0
    end = len(view)
    try:
        while at < end:
            key, at = read_varint(view, at)
            kind = key & 7
            if kind == VARINT:
                value, at = read_varint(view, at)
                yield key >> 3, kind, value
                continue
            if kind == BYTES:
                size, at = read_varint(view, at)
            elif kind in (FIXED32, FIXED64):
                size = 4 if kind == FIXED32 else 8
            else:
                raise ValueError(f"there is no kind {kind} of fields")
            if not key >> 3 or at + size > end:
                raise ValueError("a field ends after the message")
            yield key >> 3, kind, view[at : at + size]
            at += size
    except IndexError:
        raise ValueError("the message ends within a field") from None

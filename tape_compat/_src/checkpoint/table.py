"""Sorted tables in a file: blocks of keys and values, as LevelDB lays them out.

A block is entries `shared, unshared, size of value` (varints), the unshared end of the key, and the
value; then the places of the entries that share nothing, and their number. After each block stand
its kind of compression and a checksum. The last block lists the others by a key that is not less
than any of theirs, and the end of the file says where it is.
Source: LevelDB, doc/table_format.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from ..core import errors
from ..data.io.records import crc32c, masked
from ..data.io.wire import read_varint, varint
from .snappy import decompressed

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
#: After so many entries one shares nothing with that before.
_INTERVAL = 16
#: A block ends once it holds so many bytes.
_BLOCK = 1 << 18
_PLAIN, _SNAPPY = 0, 1


class _Block:
    """A block that is being written."""

    def __init__(self, interval: int = _INTERVAL):
        self._interval, self._count = interval, 0
        self._last = b""
        self._starts: list[int] = []
        self.data = bytearray()

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count % self._interval:
            while shared < min(len(key), len(self._last)) and key[shared] == self._last[shared]:
                shared += 1
        else:
            self._starts.append(len(self.data))
        head = varint(shared) + varint(len(key) - shared) + varint(len(value))
        self.data += head + key[shared:] + value
        self._last, self._count = key, self._count + 1

    def done(self) -> bytes:
        starts = self._starts or [0]
        return bytes(self.data) + struct.pack(f"<{len(starts) + 1}I", *starts, len(starts))


def table_of(rows: dict[bytes, bytes]) -> bytes:
    """The bytes of a file that holds these keys and values.

    >>> read_table(table_of({b"b": b"2", b"a": b"1"}), "f")
    {b'a': b'1', b'b': b'2'}
    """
    out, index, block, last = bytearray(), _Block(1), _Block(), b""

    def put(data: bytes) -> bytes:
        place = varint(len(out)) + varint(len(data))
        framed = data + bytes([_PLAIN])
        out.extend(framed + struct.pack("<I", masked(crc32c(framed))))
        return place

    for last in sorted(rows):
        block.add(last, rows[last])
        if len(block.data) >= _BLOCK:
            index.add(last, put(block.done()))
            block = _Block()
    if block.data:
        index.add(last, put(block.done()))
    places = put(_Block().done()) + put(index.done())
    return bytes(out) + places.ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC)


def read_table(data: bytes, path: str) -> dict[bytes, bytes]:
    """The keys and values of a file. Raises DataLossError if it is damaged."""
    if len(data) < _FOOTER:
        raise _damaged("file is too short to be an sstable")
    if struct.unpack("<Q", data[-8:])[0] != _MAGIC:
        raise _damaged("not an sstable (bad magic number)")
    try:
        at = len(data) - _FOOTER
        for _ in range(2):  # the place of the block of further facts, which is empty
            _, at = read_varint(data, at)
        start, at = read_varint(data, at)
        size, _ = read_varint(data, at)
        found: dict[bytes, bytes] = {}
        for _, place in _entries(_read_block(data, start, size, path)):
            start, at = read_varint(place, 0)
            found.update(_entries(_read_block(data, start, read_varint(place, at)[0], path)))
        return found
    except (IndexError, ValueError, struct.error):
        raise _unreadable(path, "bad entry in block") from None


def _read_block(data: bytes, start: int, size: int, path: str) -> bytes:
    framed = data[start : start + size + 1]
    check = data[start + size + 1 : start + size + 5]
    if len(check) < 4:
        raise _unreadable(path, "truncated block read")
    if masked(crc32c(framed)) != struct.unpack("<I", check)[0]:
        raise _unreadable(path, "block checksum mismatch")
    if framed[-1] == _SNAPPY:
        return decompressed(framed[:-1])
    if framed[-1] != _PLAIN:
        raise _unreadable(path, "bad block type")
    return framed[:-1]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    count = struct.unpack("<I", block[-4:])[0]
    at, end, key = 0, len(block) - 4 * (count + 1), b""
    while at < end:
        shared, at = read_varint(block, at)
        unshared, at = read_varint(block, at)
        size, at = read_varint(block, at)
        if at + unshared + size > end or shared > len(key):
            raise ValueError("an entry ends after its block")
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        yield key, block[at : at + size]
        at += size


def _damaged(message: str) -> Any:
    return errors.DataLossError(None, None, message)


def _unreadable(path: str, reason: str) -> Any:
    return _damaged(
        f"Unable to read file ({path}). Perhaps the file is corrupt or was produced by a newer "
        f"version of TensorFlow with format changes (failed to seek to header entry): {reason}"
    )

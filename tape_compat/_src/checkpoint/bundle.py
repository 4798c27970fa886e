"""Tensors in files: an index, which is a sorted table, and the bytes of the values.

`prefix.index` has an entry for each name: dtype, shape, which file of values, where in it, how many
bytes, their checksum. `prefix.data-00000-of-00001` has the bytes, one value after the other.
Source: TensorFlow, tensor_bundle.proto and tensor_bundle.h.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.paths import local_path
from ..data.io import wire
from ..data.io.records import crc32c, file_error, masked
from .slices import Extents, slice_key, slice_of
from .table import read_table, table_of

_HEADER = b""
_VERSION = 1


class Entry(NamedTuple):
    """Where a value is."""

    dtype: DType
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    checksum: int = 0
    #: The parts that a value was saved in; then each part is an entry of its own.
    slices: tuple[Extents, ...] = ()


# -- writing -------------------------------------------------------------------------------------


def write_bundle(prefix: str, tensors: Mapping[str, np.ndarray]) -> None:
    """Write arrays to `prefix.index` and `prefix.data-00000-of-00001`.

    Both are written under other names first, so that there is either all of it or nothing new.
    Raises: NotFoundError or another OpError if the files cannot be written.
    """
    prefix = local_path(prefix)
    data, index = f"{prefix}.data-00000-of-00001", f"{prefix}.index"
    mark = f".tempstate{secrets.randbits(64)}"
    try:
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        with open(data + mark, "wb") as file:
            rows = {_HEADER: _header()}
            for name in sorted(tensors):
                rows[name.encode()] = _entry(file, tensors[name])
        with open(index + mark, "wb") as file:
            file.write(table_of(rows))
        os.replace(data + mark, data)
        os.replace(index + mark, index)
    except OSError as error:
        raise file_error(error, str(error.filename or prefix)) from None
    finally:
        for path in (data + mark, index + mark):
            with contextlib.suppress(OSError):
                os.remove(path)


def _header() -> bytes:
    return wire.number_field(1, 1) + wire.field(3, wire.number_field(1, _VERSION))


def _entry(file: Any, array: np.ndarray) -> bytes:
    """Write the bytes of an array. Gives what the index says of it."""
    dtype = dtypes.as_dtype(array.dtype)
    start = file.tell()
    if dtype is dtypes.string:
        checksum = _write_texts(file, array)
    else:
        data: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        file.write(data)
        checksum = crc32c(data)
    sizes = b"".join(wire.field(2, wire.number_field(1, n) if n else b"") for n in array.shape)
    message = wire.number_field(1, dtype.as_datatype_enum) + wire.field(2, sizes)
    if start:
        message += wire.number_field(4, start)
    if file.tell() - start:
        message += wire.number_field(5, file.tell() - start)
    return message + bytes([6 << 3 | wire.FIXED32]) + struct.pack("<I", masked(checksum))


def _write_texts(file: Any, array: np.ndarray) -> int:
    """Lengths, a checksum of them, and the texts. Gives the checksum of all."""
    texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.reshape(-1).tolist()]
    lengths = [len(text) for text in texts]
    words = _words(lengths)
    check = struct.pack("<I", masked(crc32c(words)))
    body = b"".join(texts)
    file.write(wire.varints(lengths) + check + body)
    return crc32c(words + check + body)


def _words(lengths: list[int]) -> bytes:
    """Lengths as they are checksummed."""
    return b"".join(struct.pack("<I" if n < 1 << 32 else "<Q", n) for n in lengths)


# -- reading -------------------------------------------------------------------------------------


class Bundle:
    """What `write_bundle`, or TensorFlow, wrote.

    Raises: NotFoundError if there is no such index; DataLossError if it is damaged.
    """

    def __init__(self, prefix: str):
        self.prefix = prefix
        prefix = local_path(prefix)
        path = f"{prefix}.index"
        try:
            with open(path, "rb") as file:
                rows = read_table(file.read(), path)
        except FileNotFoundError:
            raise _missing(prefix) from None
        except OSError as error:
            raise file_error(error, path) from None
        self._shards = _shards(rows.pop(_HEADER, b""), path)
        self._rows = rows
        #: The entries by their names, without those of parts.
        self.entries = {
            key.decode(): _parsed(row) for key, row in rows.items() if not key.startswith(b"\0")
        }

    def read(self, names: list[str]) -> dict[str, np.ndarray]:
        """Values by their names. Raises NotFoundError for a name that is not there; DataLossError
        or OutOfRangeError for damaged values."""
        with contextlib.ExitStack() as files:
            shards: dict[int, Any] = {}

            def shard(number: int) -> Any:
                if number not in shards:
                    path = f"{local_path(self.prefix)}.data-{number:05d}-of-{self._shards:05d}"
                    try:
                        shards[number] = files.enter_context(open(path, "rb"))
                    except OSError as error:
                        raise file_error(error, path) from None
                return shards[number]

            return {name: self._value(name, shard) for name in names}

    def _value(self, name: str, shard: Any) -> np.ndarray:
        entry = self.entries.get(name)
        if entry is None:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        if not entry.slices:
            return _read(entry, shard(entry.shard), name)
        whole = np.zeros(entry.shape, entry.dtype.np_dtype)
        for extents in entry.slices:
            part = _parsed(self._rows[slice_key(name, extents)])
            whole[slice_of(extents)] = _read(part, shard(part.shard), name)
        return whole


def _missing(prefix: str) -> Exception:
    if os.path.isfile(prefix):
        return NotImplementedError(
            f"{prefix} is a checkpoint of version 1, one file. Those of version 2, an index and "
            "files of values, are read here; TensorFlow 1.0 and later write them by default."
        )
    return errors.NotFoundError(
        None,
        None,
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{prefix}",
    )


def _shards(header: bytes, path: str) -> int:
    found = {number: value for number, _, value in wire.fields(header)}
    if found.get(2):
        raise NotImplementedError(f"{path}: a checkpoint with its bytes in big-endian order")
    if not header:
        raise errors.DataLossError(None, None, f"{path} has no header")
    return int(found.get(1, 0))  # type: ignore[call-overload]


def _parsed(row: bytes) -> Entry:
    """What the index says of a value."""
    numbers = {1: 0, 3: 0, 4: 0, 5: 0}
    shape: tuple[int, ...] = ()
    checksum, slices = 0, []
    for number, _, value in wire.fields(row):
        if isinstance(value, int):
            numbers[number] = value
        elif number == 2:
            shape = tuple(_size(part) for n, _, part in wire.fields(value) if n == 2)
        elif number == 6:
            checksum = struct.unpack("<I", value)[0]
        elif number == 7:
            slices.append(tuple(_extents(value)))
    try:
        dtype = DType(numbers[1])
    except TypeError as error:
        raise NotImplementedError(f"A value of a checkpoint: {error}") from None
    return Entry(dtype, shape, numbers[3], numbers[4], numbers[5], checksum, tuple(slices))


def _size(dimension: Any) -> int:
    return next((wire.signed(value) for n, _, value in wire.fields(dimension) if n == 1), 0)  # type: ignore[arg-type]


def _extents(message: Any) -> Iterator[tuple[int, int | None]]:
    """Start and length in each dimension; None for all of it."""
    for number, _, extent in wire.fields(message):
        if number == 1:
            found = {n: value for n, _, value in wire.fields(extent)}  # type: ignore[arg-type]
            yield int(found.get(1, 0)), found.get(2)  # type: ignore[call-overload,misc]


def _read(entry: Entry, file: Any, name: str) -> np.ndarray:
    file.seek(entry.offset)
    data = file.read(entry.size)
    if len(data) < entry.size:
        raise errors.OutOfRangeError(None, None, "Read less bytes than requested")
    if entry.dtype is dtypes.string:
        return _texts(entry, data)
    if not entry.dtype.is_numpy_compatible:
        raise NotImplementedError(
            f"{name} has dtype {entry.dtype.name}: an object of TensorFlow's runtime, such as the "
            "position of an iterator, which only TensorFlow can read"
        )
    if masked(crc32c(data)) != entry.checksum:
        raise errors.DataLossError(
            None,
            None,
            f"TensorBundle at {file.name.rpartition('.data-')[0]} shard {entry.shard} "
            f"({entry.size} bytes): Checksum does not match: stored {entry.checksum} vs. "
            f"calculated on the restored bytes {masked(crc32c(data))}",
        )
    return np.frombuffer(data, entry.dtype.np_dtype).reshape(entry.shape)


def _texts(entry: Entry, data: bytes) -> np.ndarray:
    lengths, at = [], 0
    for _ in range(int(np.prod(entry.shape, dtype=np.int64))):
        length, at = wire.read_varint(data, at)
        lengths.append(length)
    words, check = _words(lengths), data[at : at + 4]
    expected = struct.unpack("<I", check)[0]
    if masked(crc32c(words)) != expected:
        raise errors.DataLossError(
            None,
            None,
            f"The length checksum does not match: expected {expected} but actual is "
            f"{masked(crc32c(words))}",
        )
    if masked(crc32c(words + data[at:])) != entry.checksum:
        raise errors.DataLossError(
            None, None, f"The string checksum does not match: expected {entry.checksum}"
        )
    at += 4
    found = np.empty(len(lengths), object)
    for i, length in enumerate(lengths):
        found[i] = data[at : at + length]
        at += length
    return found.reshape(entry.shape)


def files_of(prefix: str) -> list[str]:
    """The files of a checkpoint."""
    return [f"{prefix}.index", *glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????")]

"""TFRecord files: records with their lengths and checksums."""

from __future__ import annotations

import contextlib
import errno
import gzip
import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import IO, Any

import numpy as np

from ...core import errors
from ...core.native import FASTPATH, native
from ...core.paths import local_path

_POLYNOMIAL = 0x82F63B78
#: How many bytes the checksums of several records take in one step.
_WIDTH = 64
#: Records of more bytes are worked out in so many rows.
_LARGE, _ROWS = 1 << 23, 1 << 12
#: How many bytes are read from a file at once.
_BLOCK = 1 << 20


@cache
def _table() -> list[int]:
    """What each byte does to a CRC-32C."""
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        found.append(byte)
    return found


def _advanced(state: int, count: int) -> int:
    """The state of a checksum after so many zero bytes."""
    table = _table()
    for _ in range(count):
        state = table[state & 255] ^ state >> 8
    return state


@cache
def _jumps() -> list[list[int]]:
    """For each byte of a state what it becomes after `_WIDTH` zero bytes."""
    return [[_advanced(byte << shift, _WIDTH) for byte in range(256)] for shift in (0, 8, 16, 24)]


@native
def crc32c(data: bytes | memoryview) -> int:
    """The CRC-32C (Castagnoli) of some bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    if len(data) > _LARGE:
        return _crc32c_of_large(data)
    if len(data) > 256:
        return _side_by_side([data])[0]
    state, table = 0xFFFFFFFF, _table()
    for byte in bytes(data):
        state = table[(state ^ byte) & 255] ^ state >> 8
    return state ^ 0xFFFFFFFF


@cache
def _table_of_pairs() -> np.ndarray:
    """What two bytes at once do to a CRC-32C."""
    table = np.array(_table(), np.uint32)
    low = np.tile(table, 256)
    return table[(low ^ np.repeat(np.arange(256, dtype=np.uint32), 256)) & 255] ^ low >> 8


def _crc32c_of_large(data: bytes | memoryview) -> int:
    """The same, in rows side by side, which are joined two by two."""
    width = 2 * -(-len(data) // (2 * _ROWS))
    flat = np.zeros(width * _ROWS, np.uint8)
    start = len(flat) - len(data)  # zeros before the first byte change nothing
    flat[start:] = np.frombuffer(data, np.uint8)
    flat[start : start + 4] ^= 255  # which stands for the first state
    rows, table = flat.view("<u2").reshape(_ROWS, -1), _table_of_pairs()
    states = np.zeros(_ROWS, np.uint32)
    for column in range(width // 2):
        states = table[(states ^ rows[:, column]) & 0xFFFF] ^ states >> 16
    # What a row that follows does to the state before it, bit by bit.
    further = [_moved_by(1 << bit, width) for bit in range(32)]
    while len(states) > 1:
        states = _through(further, states[::2]) ^ states[1::2]
        further = _through(further, np.array(further, np.uint32)).tolist()
    return int(states[0]) ^ 0xFFFFFFFF


def _through(matrix: Sequence[int], states: np.ndarray) -> np.ndarray:
    """States times a matrix of bits, given as what becomes of each bit."""
    found = np.zeros_like(states)
    for bit, column in enumerate(matrix):
        found ^= (states >> bit & 1) * np.uint32(column)
    return found


def _moved_by(state: int, count: int) -> int:
    """The state of a checksum after so many zero bytes, by squaring."""
    step = np.array([_advanced(1 << bit, 1) for bit in range(32)], np.uint32)
    found = np.array([state], np.uint32)
    while count:
        if count & 1:
            found = _through(step.tolist(), found)
        step, count = _through(step.tolist(), step), count >> 1
    return int(found[0])


def crc32c_of_all(records: Sequence[bytes | memoryview]) -> list[int]:
    """The CRC-32C of several records.

    >>> crc32c_of_all([b"a" * 300, b"123456789"])[1] == crc32c(b"123456789")
    True
    """
    if FASTPATH is not None or not records or max(map(len, records)) <= 64:
        return [crc32c(record) for record in records]
    return _side_by_side(records)


def _side_by_side(records: Sequence[bytes | memoryview]) -> list[int]:
    """The same by NumPy, for all pieces of equal size at once."""
    counts = [max(1, -(-len(record) // _WIDTH)) for record in records]
    rows = np.zeros((sum(counts), _WIDTH), np.uint8)
    flat, at = rows.reshape(-1), 0
    for record, count in zip(records, counts):
        end = at + count * _WIDTH
        start = end - len(record)  # zeros before the first byte change nothing
        flat[start:end] = np.frombuffer(record, np.uint8)
        if len(record) >= 4:
            flat[start : start + 4] ^= 255  # which stands for the first state
        at = end
    table = np.array(_table(), np.uint32)
    states = np.zeros(len(rows), np.uint32)
    for column in np.ascontiguousarray(rows.T):
        states = table[(states ^ column) & 255] ^ (states >> np.uint32(8))
    return _joined(records, counts, states.tolist())


def _joined(
    records: Sequence[bytes | memoryview], counts: Sequence[int], states: list[int]
) -> list[int]:
    """The checksums of records from those of their pieces."""
    first, second, third, fourth = _jumps()
    found, at = [], 0
    for record, count in zip(records, counts):
        if len(record) < 4:
            found.append(crc32c(record))
        else:
            state = 0
            for piece in states[at : at + count]:
                state = (
                    first[state & 255]
                    ^ second[state >> 8 & 255]
                    ^ third[state >> 16 & 255]
                    ^ fourth[state >> 24]
                    ^ piece
                )
            found.append(state ^ 0xFFFFFFFF)
        at += count
    return found


def masked(checksum: int) -> int:
    """A checksum as it stands in files."""
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record_of(data: bytes) -> bytes:
    """The bytes of a record in a file."""
    head = struct.pack("<Q", len(data))
    return b"".join(
        [
            head,
            struct.pack("<I", masked(crc32c(head))),
            data,
            struct.pack("<I", masked(crc32c(data))),
        ]
    )


def opened(path: str, kind: str) -> IO[bytes]:
    """A file to read. Raises NotFoundError, or what else keeps it from being read."""
    path = local_path(path)
    try:
        if kind == "GZIP":
            return gzip.open(path)  # type: ignore[return-value]
        return _Inflated(open(path, "rb")) if kind == "ZLIB" else open(path, "rb")  # type: ignore[return-value]
    except OSError as error:
        raise file_error(error, path) from None


class _Inflated:
    """A file that zlib has compressed, to read."""

    def __init__(self, file: IO[bytes]):
        self._file, self._zlib = file, zlib.decompressobj()
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._held) < size:
            block = self._file.read(_BLOCK)
            if not block:
                self._held += self._zlib.flush()
                break
            self._held += self._zlib.decompress(block)
        size = len(self._held) if size < 0 else size
        found, self._held = self._held[:size], self._held[size:]
        return found

    def close(self) -> None:
        self._file.close()


@contextlib.contextmanager
def data_loss(path: str) -> Iterator[None]:
    """Raises DataLossError where a file cannot be decompressed."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise errors.DataLossError(
            None, None, f"inflate() failed: {path} is damaged, or compressed otherwise: {error}"
        ) from None


#: TensorFlow's errors, and what the operating system says for each.
_NUMBERS = {
    errors.AbortedError: "EDEADLK ESTALE",
    errors.AlreadyExistsError: "EEXIST",
    errors.DeadlineExceededError: "ETIMEDOUT",
    errors.FailedPreconditionError: "EBADF EBUSY EISDIR ENOTDIR ENOTEMPTY EPIPE ETXTBSY",
    errors.InvalidArgumentError: "E2BIG EDOM EFAULT EILSEQ EINVAL ENAMETOOLONG ENOTTY ESPIPE",
    errors.NotFoundError: "ENODEV ENOENT ENXIO ESRCH",
    errors.OutOfRangeError: "EFBIG EOVERFLOW ERANGE",
    errors.PermissionDeniedError: "EACCES EPERM EROFS",
    errors.ResourceExhaustedError: "EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENOMEM ENOSPC",
    errors.UnavailableError: "EAGAIN EINTR ENOLCK",
    errors.UnimplementedError: "ENOSYS ENOTSUP EXDEV",
}
_KINDS = {name: kind for kind, names in _NUMBERS.items() for name in names.split()}


def file_error(error: OSError, path: str) -> errors.OpError:
    """TensorFlow's error for one of the file system."""
    kind = _KINDS.get(errno.errorcode.get(error.errno or 0, ""), errors.UnknownError)
    return kind(None, None, f"{path}; {error.strerror or error}")


def read_records(path: str, kind: str = "") -> Iterator[bytes]:
    """The records of a file. Raises DataLossError where it is damaged."""
    file = opened(path, kind)
    held, offset = b"", 0
    try:
        while True:
            block = _read(file, path)
            held += block
            records, used, damaged = _whole_records(held)
            yield from records
            held, offset = held[used:], offset + used
            if damaged:
                raise errors.DataLossError(None, None, f"corrupted record at {offset} in {path}")
            if not block:
                if len(held) >= 12:
                    raise errors.DataLossError(
                        None, None, f"truncated record at {offset} in {path}"
                    )
                return
    finally:
        file.close()


def _read(file: IO[bytes], path: str) -> bytes:
    try:
        return file.read(_BLOCK)
    except (OSError, EOFError, zlib.error) as error:
        raise errors.DataLossError(None, None, f"{path} is damaged: {error}") from None


def _whole_records(data: bytes) -> tuple[list[bytes], int, bool]:
    """The records that are there to their ends, how many bytes they take, and whether the next one
    is damaged."""
    records, checksums, ends, at, damaged = [], [], [0], 0, False
    while len(data) - at >= 12:
        length, check = struct.unpack_from("<QI", data, at)
        damaged = masked(crc32c(data[at : at + 8])) != check
        end = at + 16 + length
        if damaged or end > len(data):
            break
        records.append(data[at + 12 : end - 4])
        checksums.append(struct.unpack_from("<I", data, end - 4)[0])
        ends.append(at := end)
    for i, (found, check) in enumerate(zip(crc32c_of_all(records), checksums)):
        if masked(found) != check:
            return records[:i], ends[i], True
    return records, at, damaged


class TFRecordOptions:
    """How records are written: `compression_type` is "GZIP", "ZLIB" or "".

    Args:
      compression_level: from 0, fast, to 9, small.
      flush_mode, input_buffer_size, output_buffer_size, window_bits, compression_method, mem_level,
        compression_strategy: of zlib; another than None raises NotImplementedError.
    Raises: ValueError for another compression.

    >>> import tape_compat as tf
    >>> tf.io.TFRecordOptions("GZIP").compression_type
    'GZIP'
    """

    compression_type_map = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: int | None = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ):
        self.get_compression_type_string(compression_type)
        given = (flush_mode, input_buffer_size, output_buffer_size, window_bits)
        given += (compression_method, mem_level, compression_strategy)
        if any(value is not None for value in given):
            raise NotImplementedError("TFRecordOptions: settings of zlib but `compression_level`.")
        self.compression_type = compression_type
        self.compression_level = compression_level

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression of options, or of one's name. Raises ValueError for another."""
        kind = options.compression_type if isinstance(options, TFRecordOptions) else options
        kind = "" if kind is None else cls.compression_type_map.get(kind, kind)
        if kind not in ("", "GZIP", "ZLIB"):
            raise ValueError(f'Not a valid compression_type: "{kind}"')
        return kind


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file, one after the other.

    Args:
      options: TFRecordOptions, or the name of a compression.
    Raises: NotFoundError if there is none, DataLossError where it is damaged.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     with tf.io.TFRecordWriter(file.name) as writer:
    ...         writer.write(b"one")
    ...     list(tf.compat.v1.io.tf_record_iterator(file.name))
    [b'one']
    """
    path = path.decode() if isinstance(path, bytes) else str(path)
    return read_records(path, TFRecordOptions.get_compression_type_string(options))


class TFRecordWriter:
    """A file that records are written to.

    Args:
      path: of the file, which is made anew.
      options: TFRecordOptions, or the name of a compression.
    Raises: NotFoundError if there is no such folder.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.io.TFRecordWriter(folder + "/a") as writer:
    ...         writer.write(b"one")
    ...         writer.write(b"two")
    ...     list(tf.data.TFRecordDataset(folder + "/a").as_numpy_iterator())
    [b'one', b'two']
    """

    def __init__(self, path: Any, options: Any = None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        kind = TFRecordOptions.get_compression_type_string(options)
        level = 6 if options.compression_level is None else options.compression_level
        self._path = local_path(str(path.decode() if isinstance(path, bytes) else path))
        with self._told():
            self._file: Any = open(self._path, "wb")
        self._deflate = None
        if kind:
            self._deflate = zlib.compressobj(level, wbits=31 if kind == "GZIP" else 15)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Raises errors of the file system as TensorFlow's."""
        try:
            yield
        except OSError as error:
            raise file_error(error, self._path) from None

    def write(self, record: bytes) -> None:
        """Write a record, bytes or a text.

        Raises: TypeError for something else; FailedPreconditionError after `close`.
        """
        if not isinstance(record, (bytes, bytearray, str)):
            raise TypeError(
                "write(): incompatible function arguments. A record is bytes or a text, not "
                f"{record!r}."
            )
        if self._file is None:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        data = record_of(record.encode() if isinstance(record, str) else bytes(record))
        with self._told():
            self._file.write(data if self._deflate is None else self._deflate.compress(data))

    def flush(self) -> None:
        """Let others see what was written."""
        if self._file is not None:
            with self._told():
                if self._deflate is not None:
                    self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
                self._file.flush()

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            with self._told():
                if self._deflate is not None:
                    file.write(self._deflate.flush())
                file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

"""Datasets of what files hold: lines, records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from ...core import dtypes, errors
from ...values.spec import TensorSpec
from ..dataset import Dataset
from ..pipeline import AUTOTUNE, UNKNOWN, Draws, Pipeline, Stream, StreamOf, refused
from ..sources import integer
from ..structure import Element, array_of
from .contents import compression_kind
from .records import data_loss, opened, read_records

#: Gives what a file holds, one by one.
Reader = Callable[[str], Iterator[bytes]]


class FileParts(Pipeline):
    """What the files hold that a pipeline names: of one after the other, or of several by turns."""

    def __init__(self, names: Pipeline, read: Reader, name: str, reads: int = 1):
        super().__init__(names)
        self._read, self.name, self._reads = read, name, reads

    def _spec(self) -> Any:
        return TensorSpec((), dtypes.string)

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        names = self.inputs[0].open(draws.of(0))
        opened: list[Iterator[bytes] | None] = [None] * self._reads
        place, ended = 0, False

        def open_next() -> None:
            nonlocal ended
            try:
                path = array_of(names.step()[0]).ravel()[0]
            except StopIteration:
                ended = True
            else:
                opened[place] = self._read(path.decode())

        def step() -> Element:
            nonlocal place
            while True:
                if opened[place] is None and not ended:
                    open_next()
                parts = opened[place]
                found = None if parts is None else next(parts, None)
                if found is None:
                    opened[place] = None
                    if ended and not any(opened):
                        raise StopIteration
                if found is None and self._reads == 1:
                    continue
                place = (place + 1) % self._reads
                if found is not None:
                    return (text_leaf(found),)

        return StreamOf(step)


def text_leaf(text: bytes) -> np.ndarray:
    """A text as a leaf."""
    array = np.empty((), object)
    array[()] = text
    return array


def _names(filenames: Any) -> Pipeline:
    """The pipeline of the names of files."""
    if not isinstance(filenames, Dataset):
        if hasattr(filenames, "__fspath__"):
            filenames = filenames.__fspath__()
        elif isinstance(filenames, (list, tuple)):
            filenames = [
                getattr(name, "__fspath__", lambda name=name: name)() for name in filenames
            ]
        if isinstance(filenames, (list, tuple)) and not filenames:
            filenames = np.empty(0, object)
        filenames = Dataset.from_tensors(filenames)
        for _ in range(filenames.element_spec.shape.rank):
            filenames = filenames.unbatch()
    elif filenames.element_spec.shape.rank not in (0, None):
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. "
            f"scalars), not {filenames.element_spec}."
        )
    spec = filenames.element_spec
    if spec.dtype is not dtypes.string:
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got `{spec.dtype!r}` "
            "elements."
        )
    return filenames._pipeline


class _OfFiles(Dataset):
    """A dataset of what files hold."""

    def __init__(self, filenames: Any, read: Reader, name: str, parallel: Any):
        reads = 1 if parallel is None else integer(parallel, "num_parallel_reads")
        reads = 1 if reads == AUTOTUNE else reads
        if reads < 1:
            raise refused("`cycle_length` must be > 0")
        super().__init__(FileParts(_names(filenames), read, name, reads))

    def __repr__(self) -> str:
        return f"<{self._pipeline.name} element_spec={self.element_spec!r}>"


class TextLineDataset(_OfFiles):
    """The lines of files, without their ends and carriage returns: string scalars.

    Args:
      filenames: string tensor, or a dataset of string scalars.
      compression_type: "", "GZIP" or "ZLIB".
      num_parallel_reads: of how many files the next ones are given by turns; one by default, and
        with AUTOTUNE.
      buffer_size: changes nothing.
    Raises: TypeError for names that are no strings; going through it, NotFoundError.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     tf.io.write_file(file.name, "one\\ntwo\\n")
    ...     list(tf.data.TextLineDataset(file.name).as_numpy_iterator())
    [b'one', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ):
        kind = compression_kind(compression_type)
        read = lambda path: _lines(path, kind)  # noqa: E731
        super().__init__(filenames, read, "TextLineDatasetV2", num_parallel_reads)


def _lines(path: str, kind: str) -> Iterator[bytes]:
    file = opened(path, kind)
    held = b""
    try:
        while block := _read(file, path, 1 << 16):
            *lines, held = (held + block).split(b"\n")
            for line in lines:
                yield line.replace(b"\r", b"")
        if held:
            yield held.replace(b"\r", b"")
    finally:
        file.close()


def _read(file: IO[bytes], path: str, size: int) -> bytes:
    with data_loss(path):
        return file.read(size)


class TFRecordDataset(_OfFiles):
    """The records of TFRecord files: string scalars.

    Args:
      filenames: string tensor, or a dataset of string scalars.
      compression_type: "", "GZIP" or "ZLIB".
      num_parallel_reads: of how many files the next ones are given by turns; one by default, and
        with AUTOTUNE.
      buffer_size: changes nothing.
    Raises: TypeError for names that are no strings; going through it, NotFoundError, and
      DataLossError where a file is damaged.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     with tf.io.TFRecordWriter(file.name) as writer:
    ...         writer.write(b"a record")
    ...     list(tf.data.TFRecordDataset([file.name]).as_numpy_iterator())
    [b'a record']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ):
        kind = compression_kind(compression_type)
        read = lambda path: read_records(path, kind)  # noqa: E731
        super().__init__(filenames, read, "TFRecordDatasetV2", num_parallel_reads)


class FixedLengthRecordDataset(_OfFiles):
    """Pieces of equal length of files: string scalars.

    Args:
      filenames: string tensor, or a dataset of string scalars.
      record_bytes: the length. header_bytes, footer_bytes: how much is left out at the ends.
      compression_type: "", "GZIP" or "ZLIB".
      num_parallel_reads: of how many files the next ones are given by turns; one by default, and
        with AUTOTUNE.
      buffer_size: changes nothing.
    Raises: InvalidArgumentError for numbers of bytes that cannot be; going through it,
      NotFoundError, and InvalidArgumentError for a file of another length.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     tf.io.write_file(file.name, b"Haabb")
    ...     list(tf.data.FixedLengthRecordDataset(file.name, 2, 1).as_numpy_iterator())
    [b'aa', b'bb']
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ):
        size = integer(record_bytes, "record_bytes")
        head = integer(header_bytes or 0, "header_bytes")
        foot = integer(footer_bytes or 0, "footer_bytes")
        kind = compression_kind(compression_type)
        if size <= 0:
            raise refused("`record_bytes` must be > 0")
        if head < 0 or foot < 0:
            raise refused(f"`{'header' if head < 0 else 'footer'}_bytes` must be >= 0")
        read = lambda path: _pieces(path, kind, size, head, foot)  # noqa: E731
        super().__init__(filenames, read, "FixedLengthRecordDatasetV2", num_parallel_reads)


def _pieces(path: str, kind: str, size: int, head: int, foot: int) -> Iterator[bytes]:
    file = opened(path, kind)
    try:
        data = _read(file, path, -1)
    finally:
        file.close()
    length = len(data) - head - foot
    if length < 0 or length % size:
        raise (errors.DataLossError if kind else errors.InvalidArgumentError)(
            None,
            None,
            f"Excluding the header ({head} bytes) and footer ({foot} bytes), input file "
            f'"{path}" has body length {length} bytes, which is not an exact multiple of the '
            f"record length ({size} bytes).",
        )
    for at in range(head, head + length, size):
        yield data[at : at + size]

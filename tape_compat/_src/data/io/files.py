"""Datasets of what files hold: lines, records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from ...core import dtypes, errors
from ...values.spec import TensorSpec
from ..dataset import Dataset
from ..pipeline import UNKNOWN, Draws, Pipeline, Stream, StreamOf
from ..sources import integer
from ..structure import Element, array_of
from .contents import compression_kind
from .records import data_loss, opened, read_records

#: Gives what a file holds, one by one.
Reader = Callable[[str], Iterator[bytes]]


class FileParts(Pipeline):
    """What the files hold that a pipeline names."""

    def __init__(self, names: Pipeline, read: Reader, name: str):
        super().__init__(names)
        self._read, self.name = read, name

    def _spec(self) -> Any:
        return TensorSpec((), dtypes.string)

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        names = self.inputs[0].open(draws.of(0))
        parts: Iterator[bytes] = iter(())

        def step() -> Element:
            nonlocal parts
            while True:
                found = next(parts, None)
                if found is not None:
                    return (text_leaf(found),)
                for path in array_of(names.step()[0]).ravel()[:1]:
                    parts = self._read(path.decode())

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
        dataset = Dataset.from_tensors(filenames)
        rank = dataset.element_spec.shape.rank
        filenames = dataset if rank == 0 else dataset.unbatch()
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

    def __init__(self, filenames: Any, read: Reader, name: str):
        super().__init__(FileParts(_names(filenames), read, name))

    def __repr__(self) -> str:
        return f"<{self._pipeline.name} element_spec={self.element_spec!r}>"


class TextLineDataset(_OfFiles):
    """The lines of files, without their ends: string scalars.

    Args:
      filenames: string tensor, or a dataset of string scalars.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size, num_parallel_reads: change nothing.
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
        super().__init__(filenames, lambda path: _lines(path, kind), "TextLineDatasetV2")


def _lines(path: str, kind: str) -> Iterator[bytes]:
    file = opened(path, kind)
    held = b""
    try:
        while block := _read(file, path, 1 << 16):
            *lines, held = (held + block).split(b"\n")
            for line in lines:
                yield line[:-1] if line.endswith(b"\r") else line
        if held:
            yield held
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
      buffer_size, num_parallel_reads: change nothing.
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
        super().__init__(filenames, lambda path: read_records(path, kind), "TFRecordDatasetV2")


class FixedLengthRecordDataset(_OfFiles):
    """Pieces of equal length of files: string scalars.

    Args:
      filenames: string tensor, or a dataset of string scalars.
      record_bytes: the length. header_bytes, footer_bytes: how much is left out at the ends.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size, num_parallel_reads: change nothing.
    Raises: going through it, NotFoundError, and InvalidArgumentError for a file of another length.

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
        super().__init__(
            filenames,
            lambda path: _pieces(path, kind, size, head, foot),
            "FixedLengthRecordDatasetV2",
        )


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

"""`tf.io.gfile`: files and folders."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...core import errors
from ...core.paths import local_path, scheme_of
from .contents import globbed
from .records import file_error


def _name(path: Any) -> str:
    found = os.fspath(path) if hasattr(path, "__fspath__") else path
    if not isinstance(found, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {found!r}")
    return found.decode() if isinstance(found, bytes) else str(found)


def _path(path: Any) -> str:
    return local_path(_name(path))


def exists(path: Any) -> bool:
    """Whether there is a file or folder.

    >>> import tape_compat as tf
    >>> tf.io.gfile.exists("/"), tf.io.gfile.exists("/there/is/none")
    (True, False)
    """
    return os.path.exists(_path(path))


def isdir(path: Any) -> bool:
    """Whether there is a folder.

    >>> import tape_compat as tf
    >>> tf.io.gfile.isdir("/")
    True
    """
    return os.path.isdir(_path(path))


def listdir(path: Any) -> list[str]:
    """The names in a folder. Raises NotFoundError if there is none.

    >>> import tape_compat as tf
    >>> tf.io.gfile.listdir("/there/is/none")
    Traceback (most recent call last):
    tape_compat.errors.NotFoundError: Could not find directory /there/is/none
    """
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return os.listdir(_path(path))


def glob(pattern: Any) -> list[str]:
    """The files that match a pattern, or one of a list of patterns.

    >>> import tape_compat as tf
    >>> tf.io.gfile.glob("/there/is/no/*")
    []
    """
    if isinstance(pattern, (str, bytes, os.PathLike)):
        return globbed(_name(pattern))
    return [path for each in pattern for path in globbed(_name(each))]


def join(path: Any, *paths: Any) -> Any:
    """Parts of a path, joined.

    >>> import tape_compat as tf
    >>> tf.io.gfile.join("a", "b", "c")
    'a/b/c'
    """
    return os.path.join(path, *paths)


def makedirs(path: Any) -> None:
    """Make a folder and those around it, where they are missing.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.gfile.makedirs(folder + "/a/b")
    ...     tf.io.gfile.isdir(folder + "/a/b")
    True
    """
    _tried(path, lambda: os.makedirs(_path(path) or os.curdir, exist_ok=True))


def mkdir(path: Any) -> None:
    """Make a folder, where it is missing. Raises NotFoundError if that around it is missing.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.gfile.mkdir(folder + "/a")
    ...     tf.io.gfile.listdir(folder)
    ['a']
    """
    if _path(path) and not isdir(path):
        _tried(path, lambda: os.mkdir(_path(path)))


def remove(path: Any) -> None:
    """Delete a file. Raises NotFoundError if there is none.

    >>> import tape_compat as tf
    >>> tf.io.gfile.remove("/there/is/none")
    Traceback (most recent call last):
    tape_compat.errors.NotFoundError: /there/is/none; No such file or directory
    """
    _tried(path, lambda: os.remove(_path(path)))


def rmtree(path: Any) -> None:
    """Delete a folder and all in it, or a file. Raises NotFoundError if there is none.

    >>> import tape_compat as tf
    >>> tf.io.gfile.rmtree("/there/is/none")
    Traceback (most recent call last):
    tape_compat.errors.NotFoundError: /there/is/none not found
    """
    if not exists(path):
        raise errors.NotFoundError(None, None, f"{_path(path)} not found")
    delete = shutil.rmtree if isdir(path) else os.remove
    _tried(path, lambda: delete(_path(path)))


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file. Raises AlreadyExistsError where there is one, unless it may be overwritten.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.write_file(folder + "/a", b"x")
    ...     tf.io.gfile.copy(folder + "/a", folder + "/b")
    ...     sorted(tf.io.gfile.listdir(folder))
    ['a', 'b']
    """
    if not exists(src):
        raise errors.NotFoundError(None, None, f"{_path(src)}; No such file or directory")
    _refuse_existing(dst, overwrite)
    if isdir(src):
        raise errors.InvalidArgumentError(None, None, f"{_path(dst)}; Invalid argument")
    _tried(dst, lambda: shutil.copyfile(_path(src), _path(dst)))


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file or folder another name. Raises AlreadyExistsError where there is one, unless it
    may be overwritten.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.write_file(folder + "/a", b"x")
    ...     tf.io.gfile.rename(folder + "/a", folder + "/b")
    ...     tf.io.gfile.listdir(folder)
    ['b']
    """
    _refuse_existing(dst, overwrite)
    _tried(src, lambda: os.replace(_path(src), _path(dst)))


def _refuse_existing(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {_path(path)}")


def _tried(path: Any, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except OSError as error:
        raise file_error(error, _path(path)) from None


class FileStatistics(NamedTuple):
    """Length in bytes, time of the last change in nanoseconds, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: Any) -> FileStatistics:
    """`length`, `mtime_nsec` and `is_directory` of a file. Raises NotFoundError if there is none.

    >>> import tape_compat as tf
    >>> tf.io.gfile.stat("/").is_directory
    True
    """
    found = _tried(path, lambda: os.stat(_path(path)))
    return FileStatistics(found.st_size, found.st_mtime_ns, isdir(path))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder and those in it: triples of its path, the folders in it, and the files in it.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.io.gfile.makedirs(folder + "/a")
    ...     [(folders, files) for _, folders, files in tf.io.gfile.walk(folder)]
    [(['a'], []), ([], [])]
    """

    def failed(error: OSError) -> None:
        if onerror is not None:
            onerror(file_error(error, error.filename))

    scheme = scheme_of(_name(top))
    for folder, folders, files in os.walk(_path(top), topdown, failed):
        yield scheme + folder, folders, files


def get_registered_schemes() -> list[str]:
    """The prefixes of paths of the file systems that there are.

    >>> import tape_compat as tf
    >>> tf.io.gfile.get_registered_schemes()
    ['', 'file']
    """
    return ["", "file"]


_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file to read or write, of text or, with "b" in `mode`, of bytes.

    It is opened when it is first used. Raises InvalidArgumentError for another mode.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.io.gfile.GFile(folder + "/a", "w") as file:
    ...         _ = file.write("one\\ntwo\\n")
    ...     with tf.io.gfile.GFile(folder + "/a") as file:
    ...         list(file)
    ['one\\n', 'two\\n']
    """

    def __init__(self, name: Any, mode: str = "r"):
        self._name, self._mode = name, mode
        self._kind = mode.replace("b", "")
        self._binary = "b" in mode
        if self._kind not in _MODES:
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._read: io.BufferedIOBase | None = None
        self._written: io.BufferedIOBase | None = None

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    @property
    def _reads(self) -> bool:
        """Whether it may be read."""
        return self._kind == "r" or "+" in self._kind

    def _reader(self) -> Any:
        if not self._reads:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._read is None:
            path = _path(self._name)
            self._read = _tried(path, lambda: open(path, "rb"))
        return self._read

    def _writer(self) -> Any:
        """The file to write: a new one but where it is appended to."""
        if self._kind == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._written is None:
            path, way = _path(self._name), "ab" if "a" in self._kind else "wb"
            self._written = _tried(path, lambda: open(path, way))
        return self._written

    def _shown(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def size(self) -> int:
        """How many bytes the file has."""
        return stat(self._name).length

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that are left: a str, or bytes with "b" in the mode."""
        return self._shown(self._reader().read(n))

    def readline(self) -> Any:
        """The next line without carriage returns, empty at the end."""
        return self._shown(self._reader().readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return list(self)

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """The next line. Raises StopIteration at the end."""
        return self.__next__()

    def write(self, file_content: Any) -> None:
        """Write a str or bytes."""
        data = file_content.encode() if isinstance(file_content, str) else file_content
        file = self._writer()
        _tried(self._name, lambda: file.write(data))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place: from the beginning, from here (1) or from the end (2)."""
        place = position if offset is None else offset
        if place is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        file = self._reader()
        try:
            file.seek(place, whence)
        except (OSError, ValueError):
            raise errors.InvalidArgumentError(
                None, None, f"Seeking to a negative position: {place}"
            ) from None

    def tell(self) -> int:
        """The place in the file."""
        return (self._reader() if self._reads else self._writer()).tell()

    def seekable(self) -> bool:
        """Whether `seek` works: it does."""
        return True

    def flush(self) -> None:
        """Let others see what was written."""
        if self._written is not None:
            _tried(self._name, self._written.flush)

    def close(self) -> None:
        """Close the file; one that nothing was written to is not made."""
        opened = [file for file in (self._read, self._written) if file is not None]
        self._read = self._written = None
        for file in opened:
            _tried(self._name, file.close)

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

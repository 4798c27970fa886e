"""Files of `tf.test.TestCase`, and what a test writes to a stream."""

from __future__ import annotations

import os
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """The folder of this process, which is removed at its end."""
    return tempfile.TemporaryDirectory(prefix="tf_test_", ignore_cleanup_errors=True)


def get_temp_dir() -> str:
    """A folder for the tests of this process, which is removed at its end."""
    return _folder().name


class _Place:
    """A path, by itself or as `full_path`."""

    def __init__(self, full_path: str):
        self.full_path = full_path

    def __fspath__(self) -> str:
        return self.full_path


class _File(_Place):
    """A file of a test."""

    def open_text(self, mode: str = "rt", encoding: str = "utf8", errors: str = "strict") -> Any:
        """The file, open for texts; with a mode for writing what was in it is gone."""
        return open(self.full_path, mode, encoding=encoding, errors=errors)

    def open_bytes(self, mode: str = "rb") -> Any:
        """The file, open for bytes."""
        return open(self.full_path, mode)

    def read_text(self, encoding: str = "utf8", errors: str = "strict") -> str:
        with self.open_text(encoding=encoding, errors=errors) as file:
            return file.read()

    def read_bytes(self) -> bytes:
        with self.open_bytes() as file:
            return file.read()

    def write_text(
        self, text: str, mode: str = "w", encoding: str = "utf8", errors: str = "strict"
    ) -> None:
        with self.open_text(mode, encoding, errors) as file:
            file.write(text)

    def write_bytes(self, data: bytes, mode: str = "wb") -> None:
        with self.open_bytes(mode) as file:
            file.write(data)


class _Directory(_Place):
    """A folder of a test."""

    def create_file(
        self,
        file_path: str | None = None,
        content: Any = None,
        mode: str = "w",
        encoding: str = "utf8",
        errors: str = "strict",
    ) -> _File:
        """A file below, of a given path or of a name of its own. content: text or bytes."""
        if file_path is None:
            handle, path = tempfile.mkstemp(dir=self.full_path)
            os.close(handle)
        else:
            path = os.path.join(self.full_path, file_path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
        file = _File(path)
        if isinstance(content, bytes):
            file.write_bytes(content, mode if "b" in mode else f"{mode}b")
        else:
            file.write_text(content or "", mode, encoding, errors)
        return file

    def mkdir(self, dir_path: str | None = None) -> _Directory:
        """A folder below, of a given path or of a name of its own."""
        if dir_path is None:
            return _Directory(tempfile.mkdtemp(dir=self.full_path))
        path = os.path.join(self.full_path, dir_path)
        os.makedirs(path, exist_ok=True)
        return _Directory(path)


class _Captured:
    """What was written to a stream."""

    def __init__(self, path: str):
        self._path = path

    def contents(self) -> str:
        """The text so far."""
        with open(self._path) as file:
            return file.read()


class Files(unittest.TestCase):
    """A test's folders and files. They are removed when the process ends."""

    __test__ = False

    def get_temp_dir(self) -> str:
        """A folder for this test; it is removed when the process ends."""
        if not hasattr(self, "_temp_dir"):
            self._temp_dir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._temp_dir

    def create_tempdir(self, name: str | None = None, cleanup: Any = None) -> _Directory:
        """A folder of a given or its own name, in that of the test: a path, as `full_path` too.

        cleanup: it is removed at the end of the process in any case.
        """
        return _Directory(self.get_temp_dir()).mkdir(name)

    def create_tempfile(
        self,
        file_path: str | None = None,
        content: Any = None,
        mode: str = "w",
        encoding: str = "utf8",
        errors: str = "strict",
        cleanup: Any = None,
    ) -> _File:
        """A file in the folder of the test, with a content, which is text or bytes.

        cleanup: as of `create_tempdir`.
        """
        folder = _Directory(self.get_temp_dir())
        return folder.create_file(file_path, content, mode, encoding, errors)

    def enter_context(self, manager: AbstractContextManager[T]) -> T:
        """What a context gives, which is left when the test has run."""
        return self.enterContext(manager)

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[_Captured]:
        """A block whose writes to a stream that has a file descriptor go to what it gives, where
        `contents()` has them."""
        stream.flush()
        descriptor = stream.fileno()
        handle, path = tempfile.mkstemp(dir=self.get_temp_dir())
        before = os.dup(descriptor)
        os.dup2(handle, descriptor)
        try:
            yield _Captured(path)
        finally:
            stream.flush()
            os.dup2(before, descriptor)
            os.close(before)
            os.close(handle)

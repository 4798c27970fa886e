"""Event files: a queue of events, and the file that they go to."""

from __future__ import annotations

import atexit
import itertools
import os
import socket
import struct
import threading
import time
import weakref
from typing import Any

from ...core import errors
from ...core.paths import local_path
from ...data.io import wire
from ...data.io.records import file_error, record_of

#: What stands in the first record of a file.
VERSION = b"brain.Event:2"
_WRITER = b"tensorflow.core.util.events_writer"
_NUMBERS = itertools.count()
#: Files that may have events in their queues.
_OPEN: weakref.WeakSet[EventFile] = weakref.WeakSet()

# Fields of an Event.
STEP, FILE_VERSION, GRAPH_DEF, SUMMARY, SOURCE = 2, 3, 4, 5, 10


class EventFile:
    """A file of events in a folder, made with the folder.

    Events are kept until there are more than `max_queue`, or the last were written `flush_millis`
    ago. What is kept is written at the end of the process, and when the file is no longer used.

    Raises: NotFoundError, PermissionDeniedError if it cannot be made.
    """

    def __init__(self, folder: str, max_queue: int, flush_millis: int, suffix: str):
        self._max_queue, self._seconds = max_queue, flush_millis / 1000
        self._queue: list[bytes] = []
        folder = local_path(folder)
        self._lock = threading.RLock()
        now = time.time()
        name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}"
        self._path = os.path.join(folder, f"{name}.{next(_NUMBERS)}.{suffix.removeprefix('.')}")
        try:
            os.makedirs(folder, exist_ok=True)
            self._file: Any = open(self._path, "ab", buffering=0)
        except OSError as error:
            raise file_error(error, folder) from None
        # The file is closed and its queue written without this object, once that is gone.
        self._closing = weakref.finalize(self, _close, self._file, self._queue)
        self._closing.atexit = False
        self._flushed = now
        _OPEN.add(self)
        version = wire.field(FILE_VERSION, VERSION) + wire.field(SOURCE, wire.field(1, _WRITER))
        self._queue.append(_event(int(now), 0, version))
        self.flush()

    def add(self, step: int, what: bytes) -> None:
        """Add an event: the time, the step and what it says, a field of an `Event`.

        Raises: NotFoundError after `close`.
        """
        with self._lock:
            if self._file is None:
                message = f"Resource {self._path} does not exist. [Op:WriteSummary]"
                raise errors.NotFoundError(None, None, message)
            self._queue.append(_event(time.time(), step, what))
            if len(self._queue) > self._max_queue or time.time() - self._flushed > self._seconds:
                self.flush()

    def flush(self) -> None:
        """Write what is kept."""
        with self._lock:
            if self._file is not None:
                _write(self._file, self._queue)
                self._flushed = time.time()

    def close(self) -> None:
        """Write what is kept, and close the file."""
        with self._lock:
            self._closing()
            self._file = None

    def forget(self) -> None:
        """Leave what is kept to the process that this one was forked from."""
        self._lock = threading.RLock()
        self._queue.clear()


def _event(seconds: float, step: int, what: bytes) -> bytes:
    head = wire.fixed_field(1, wire.FIXED64, struct.pack("<d", seconds))
    return head + (wire.number_field(STEP, step) if step else b"") + what


def _write(file: Any, queue: list[bytes]) -> None:
    data = memoryview(b"".join(map(record_of, queue)))
    queue.clear()
    while data:
        data = data[file.write(data) :]


def _close(file: Any, queue: list[bytes]) -> None:
    _write(file, queue)
    file.close()


def _at_exit() -> None:
    for file in list(_OPEN):
        file.flush()


def _in_child() -> None:
    for file in list(_OPEN):
        file.forget()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

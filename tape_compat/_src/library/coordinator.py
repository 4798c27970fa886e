"""`tf.train.Coordinator`: tells several threads when to stop."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.errors import OutOfRangeError

#: How long `join` waits before it looks again whether one has asked to stop, in seconds.
_PAUSE = 0.1


class Coordinator:
    """Threads ask it whether to stop; the first exception that ends one is raised by `join`.

    Args:
      clean_stop_exception_types: a tuple of classes of exceptions that mean a usual end, by
        default (tf.errors.OutOfRangeError,).

    >>> import threading
    >>> import tape_compat as tf
    >>> coordinator, done = tf.train.Coordinator(), []
    >>> def work():
    ...     while not coordinator.should_stop():
    ...         done.append(1)
    ...         coordinator.request_stop()
    >>> thread = threading.Thread(target=work)
    >>> thread.start()
    >>> coordinator.join([thread])
    >>> done
    [1]
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None):
        self._clean = clean_stop_exception_types or (OutOfRangeError,)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._joined = False
        self._found: BaseException | None = None
        self._threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has returned or raised."""
        return self._joined

    def should_stop(self) -> bool:
        """Whether one has asked to stop."""
        return self._stopping.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until one asks to stop, `timeout` seconds at most. Returns whether one has."""
        return self._stopping.wait(timeout)

    def clear_stop(self) -> None:
        """Begin anew, without an exception."""
        with self._lock:
            self._joined, self._found = False, None
            self._stopping.clear()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop.

        Args:
          ex: an exception, or what `sys.exc_info()` gave, that `join` is to raise. Of several
            counts the first. After `join` it is raised here.
        """
        raised = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if self._joined and raised is not None:
                raise raised
            if raised is not None and not isinstance(raised, self._clean):
                if not self._stopping.is_set():
                    self._found = raised
            self._stopping.set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context whose exceptions are given to `request_stop` and go no further."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def register_thread(self, thread: threading.Thread) -> None:
        """Let `join` wait for a thread too."""
        with self._lock:
            self._threads.add(thread)

    def raise_requested_exception(self) -> None:
        """Raise the exception that was given to `request_stop`, if there is one."""
        with self._lock:
            if self._found is not None:
                raise self._found

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for threads to end.

        Args:
          threads: beside those that were registered.
          stop_grace_period_secs: how long they may take once one has asked to stop.
          ignore_live_threads: whether those that take longer are let be.
        Raises: the exception that was given to `request_stop`; RuntimeError if threads are alive.
        """
        with self._lock:
            waited = self._threads | set(threads or ())
        for thread in waited:
            while thread.is_alive() and not self.should_stop():
                thread.join(_PAUSE)
        until = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(until - time.monotonic(), 0))
        alive = [thread.name for thread in waited if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._threads = set()
            if self._found is not None:
                raise self._found
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")

"""A function of several elements at a time, in threads, with its results in order."""

from __future__ import annotations

import os
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .pipeline import AUTOTUNE, Stream
from .structure import Element

#: Threads pay off for functions that take at least so many seconds, most of them waiting.
WORTH = 5e-4
#: How many elements are made one by one before threads are thought of.
TRIED = 3


def workers(num_parallel_calls: int) -> int:
    """How many threads to use."""
    return max(4, os.cpu_count() or 1) if num_parallel_calls == AUTOTUNE else num_parallel_calls


def refuse_fork(process: int) -> None:
    """Refuse to go on in another process than the one whose threads make elements."""
    if process != os.getpid():
        raise RuntimeError(
            "This process was forked from the one in which this iterator began: the threads that "
            "make its elements are not here. Begin another one by iter(dataset)."
        )


def _shut_down(pool: ThreadPoolExecutor, process: int) -> None:
    if process == os.getpid():
        pool.shutdown(wait=False, cancel_futures=True)


class ParallelStream(Stream):
    """Results of a function of an element and its number: in threads if it takes long."""

    __slots__ = (
        "_ended",
        "_function",
        "_index",
        "_pending",
        "_pool",
        "_process",
        "_source",
        "_spent",
        "_workers",
    )

    def __init__(self, source: Stream, function: Callable[[Element, int], Element], count: int):
        self._source, self._function, self._workers = source, function, workers(count)
        self._index, self._spent, self._ended = 0, 0.0, False
        self._pending: deque[Future[Element]] = deque()
        self._pool: Any = None
        super().__init__(self._alone)

    def _alone(self) -> Element:
        """The next result, made in this thread."""
        element = self._source.step()
        index, self._index = self._index, self._index + 1
        began = time.perf_counter()
        try:
            return self._function(element, index)
        finally:
            if index:  # the first one may compile, or read what is slow once
                self._spent += time.perf_counter() - began
            if index == TRIED:
                self._decide()

    def _decide(self) -> None:
        if self._spent / TRIED < WORTH or self._workers < 2:
            return
        self._pool = ThreadPoolExecutor(self._workers, "tape_compat.map")
        self._process = os.getpid()
        weakref.finalize(self, _shut_down, self._pool, self._process)
        self.step = self._ahead

    def _ahead(self) -> Element:
        """The next result, while threads make those after it."""
        refuse_fork(self._process)
        pending = self._pending
        while not self._ended and len(pending) < self._workers:
            pending.append(self._submitted())
        if not pending:
            raise StopIteration
        return pending.popleft().result()

    def _submitted(self) -> Future[Element]:
        try:
            element = self._source.step()
        except StopIteration:
            self._ended = True
            made: Future[Element] = Future()
            made.set_exception(StopIteration())
            return made
        except Exception as error:
            made = Future()
            made.set_exception(error)
            return made
        index, self._index = self._index, self._index + 1
        return self._pool.submit(self._function, element, index)

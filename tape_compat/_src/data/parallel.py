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

#: Threads are tried for functions that take at least so many seconds: to hand over an element
#: costs a sixth of it.
WORTH = 3e-4
#: How many elements are made one by one before threads are thought of.
TRIED = 3
#: After how many elements it is seen whether threads made them sooner, and by how much they must:
#: those that hold the interpreter's lock wait for each other.
CHECKED, GAIN = 24, 1.2


def workers(num_parallel_calls: int, waits: bool) -> int:
    """How many threads to use. waits: whether the function waits most of the time."""
    if num_parallel_calls != AUTOTUNE:
        return num_parallel_calls
    return max(4 if waits else 1, os.cpu_count() or 1)


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


def _timed(
    taken: list[float], function: Callable[[Element, int], Element], element: Element, index: int
) -> Element:
    """The result, and how long it took, which threads do not tell the stream itself: it may end
    before them."""
    began = time.perf_counter()
    try:
        return function(element, index)
    finally:
        if len(taken) < CHECKED:
            taken.append(time.perf_counter() - began)


class ParallelStream(Stream):
    """Results of a function of an element and its number: in threads if it takes long, and if
    these make elements sooner."""

    __slots__ = (
        "_checked",
        "_count",
        "_ended",
        "_function",
        "_index",
        "_pending",
        "_pool",
        "_process",
        "_source",
        "_spent",
        "_taken",
        "_threads",
        "_worked",
        "_workers",
    )

    def __init__(self, source: Stream, function: Callable[[Element, int], Element], count: int):
        self._source, self._function, self._count = source, function, count
        self._index, self._spent, self._worked, self._ended = 0, 0.0, 0.0, False
        self._workers, self._checked = 1, False
        #: What elements took in threads.
        self._taken: list[float] = []
        self._pending: deque[Future[Element]] = deque()
        self._pool: Any = None
        #: Whether threads make the next result.
        self._threads = False

    def step(self) -> Element:
        return self._ahead() if self._threads else self._alone()

    def _alone(self) -> Element:
        """The next result, made in this thread."""
        element = self._source.step()
        index, self._index = self._index, self._index + 1
        began, worked = time.perf_counter(), time.thread_time()
        try:
            return self._function(element, index)
        finally:
            if 0 < index <= TRIED:  # the first one may compile, or read what is slow once
                self._spent += time.perf_counter() - began
                self._worked += time.thread_time() - worked
            if index == TRIED:
                self._decide()

    def _decide(self) -> None:
        self._workers = workers(self._count, self._worked < self._spent / 2)
        if self._spent / TRIED < WORTH or self._workers < 2:
            return
        self._pool = ThreadPoolExecutor(self._workers, "tape_compat.map")
        self._process = os.getpid()
        weakref.finalize(self, _shut_down, self._pool, self._process)
        self._threads = True

    def _ahead(self) -> Element:
        """The next result, while threads make those after it."""
        refuse_fork(self._process)
        pending = self._pending
        if not self._checked and len(self._taken) >= CHECKED:
            self._checked = True
            if not self._gains():
                self._workers = 0
                self._pool.shutdown(wait=False)
        while not self._ended and len(pending) < self._workers:
            pending.append(self._submitted())
        if pending:
            return pending.popleft().result()
        if self._ended:
            raise StopIteration
        self._threads = False
        return self._alone()

    def _gains(self) -> bool:
        """Whether threads make elements sooner than one after the other."""
        alone, together = self._spent / TRIED, sum(self._taken) / len(self._taken)
        return alone * self._workers > GAIN * together

    def _submitted(self) -> Future[Element]:
        try:
            element = self._source.step()
        except StopIteration:
            self._ended = True
            self._pool.shutdown(wait=False)  # when what was begun is done
            made: Future[Element] = Future()
            made.set_exception(StopIteration())
            return made
        except Exception as error:
            made = Future()
            made.set_exception(error)
            return made
        index, self._index = self._index, self._index + 1
        return self._pool.submit(_timed, self._taken, self._function, element, index)

"""Elements made ahead of their use, in a thread of their own."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from .options import DEBUGGING
from .parallel import refuse_fork
from .pipeline import AUTOTUNE, Draws, Pipeline, SameRows, Stream
from .structure import Element, nbytes_of

#: How many elements are made ahead where the number is left to us, of small ones and of others.
AHEAD, AHEAD_OF_LARGE = 8, 4
#: How many bytes a small element takes at most.
SMALL = 1 << 20

#: Where the number is left to us, elements are made as they are asked for while that takes no
#: longer: to hand over an element and to share the interpreter's lock with a thread cost a step of
#: `fit` 0.1 ms. What each takes beyond it is added up, at most so much of one, for it may be the
#: system that kept it waiting, and less what others took less; a thread makes them from when the
#: sum is that of DEAR. Short waits are for the interpreter's lock, for which a thread waits too.
QUICK_SECONDS = 100e-6
SHORT_WAIT_SECONDS = 1e-3
MOST_OF_ONE = 20 * QUICK_SECONDS
DEAR = 30 * QUICK_SECONDS
#: After so many quick elements, one in a few is timed.
MANY_QUICK, ONE_IN = 32, 8


class _Queue:
    """What the thread and its stream share. Neither holds the other.

    The thread takes a place for each element it makes. Places come back several at a time, so that
    it is woken for several elements.
    """

    def __init__(self, room: int):
        self._places: SimpleQueue[None] = SimpleQueue()
        #: Elements and errors; None at the end.
        self._items: SimpleQueue[tuple[bool, Any] | None] = SimpleQueue()
        self._at_once = max(1, room // 2)
        self._taken = 0
        self.closed = False
        self._process = os.getpid()
        self._free(room)

    def _free(self, places: int) -> None:
        for _ in range(places):
            self._places.put(None)

    def close(self) -> None:
        """Let the thread end."""
        if self._process == os.getpid():  # where there is such a thread
            self.closed = True
            self._free(1)
            self.end()

    def wanted(self) -> bool:
        """Wait for a place. False if nobody wants more."""
        self._places.get()
        return not self.closed

    def put(self, item: tuple[bool, Any]) -> None:
        """Add what was made."""
        self._items.put(item)

    def get(self) -> tuple[bool, Any]:
        refuse_fork(self._process)
        item = self._items.get()
        if item is None or self.closed:
            self.end()  # which it stays for who asks again
            raise StopIteration
        self._taken += 1
        if self._taken == self._at_once:
            self._taken = 0
            self._free(self._at_once)
        return item

    def end(self) -> None:
        """No more comes."""
        self._items.put(None)


_QUEUES: weakref.WeakSet[_Queue] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for queue in list(_QUEUES):
        queue.close()


def _work(source: Stream, queue: _Queue) -> None:
    """What the thread does."""
    try:
        while queue.wanted():
            try:
                item = True, source.step()
            except StopIteration:
                break
            except Exception as error:
                item = False, error
            queue.put(item)
            del item
    except BaseException as error:
        queue.put((False, error))
    finally:
        queue.end()


class PrefetchStream(Stream):
    """A stream whose elements a thread makes; the thread ends with it."""

    __slots__ = ("_queue", "_source")

    def __init__(self, source: Stream, room: int):
        #: None once the thread has begun.
        self._source: Stream | None = source
        self._queue = _Queue(room)

    def skip(self, count: int) -> int:
        return super().skip(count) if self._source is None else self._source.skip(count)

    def step(self) -> Element:
        if self._source is not None:
            self._start()
        fine, found = self._queue.get()
        if not fine:
            raise found
        return found

    def _start(self) -> None:
        queue = self._queue
        _QUEUES.add(queue)
        weakref.finalize(self, queue.close)
        thread = threading.Thread(
            target=_work, args=(self._source, queue), name="tape_compat.prefetch", daemon=True
        )
        self._source = None
        thread.start()


class TriedStream(Stream):
    """A stream whose elements are made as they are asked for, and by a thread once they are dear.

    became_dear: called then.
    """

    __slots__ = ("_became_dear", "_begun", "_beyond", "_quick", "_room", "_source")

    def __init__(self, source: Stream, room: int, became_dear: Callable[[], None]):
        self._source, self._room, self._became_dear = source, room, became_dear
        self._begun, self._beyond = False, 0.0
        #: How many quick ones came one after the other.
        self._quick = 0

    def skip(self, count: int) -> int:
        return self._source.skip(count)

    def step(self) -> Element:
        source = self._source
        if self._begun and self._beyond <= DEAR:
            if self._quick > MANY_QUICK and self._quick % ONE_IN:
                self._quick += 1
                return source.step()
            return self._timed(source)
        self._begun = True  # what is done for the first one need not be for the others
        return source.step()

    def _timed(self, source: Stream) -> Element:
        began, worked = time.perf_counter(), time.thread_time()
        element = source.step()
        worked, took = time.thread_time() - worked, time.perf_counter() - began
        beyond = max(worked, took - SHORT_WAIT_SECONDS) - QUICK_SECONDS
        self._beyond = max(0.0, self._beyond + min(beyond, MOST_OF_ONE))
        self._quick = 0 if self._beyond else self._quick + 1
        if self._beyond > DEAR:
            self._source = PrefetchStream(source, self._room)
            self._became_dear()
        return element


class Prefetch(SameRows):
    """The elements, made ahead of their use."""

    name = "PrefetchDataset"

    def __init__(self, source: Pipeline, buffer: int):
        super().__init__(source)
        self._buffer = 0 if DEBUGGING.on else buffer
        self._dear = buffer != AUTOTUNE

    def _open(self, draws: Draws) -> Stream:
        source = self.inputs[0].open(draws.of(0))
        if self._buffer == 0 or 0 <= self.inputs[0].size() <= 1:
            return source  # nothing comes while one is used
        if self._dear:
            return PrefetchStream(source, self._room())
        return TriedStream(source, self._room(), self._become_dear)

    def _become_dear(self) -> None:
        self._dear = True

    def _room(self) -> int:
        """How many elements are made ahead."""
        if self._buffer != AUTOTUNE:
            return self._buffer
        if not self.spec_is_known():
            return AHEAD_OF_LARGE
        size = nbytes_of(self.layout.specs)
        return AHEAD_OF_LARGE if size is None or size > SMALL else AHEAD

    def chunks(self) -> Any:
        return self.inputs[0].chunks()

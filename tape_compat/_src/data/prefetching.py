"""Elements made ahead of their use, in a thread of their own."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from .options import DEBUGGING
from .parallel import refuse_fork
from .pipeline import AUTOTUNE, Pipeline, SameRows, Stream
from .structure import Element

#: How many elements are made ahead where the number is left to us.
AHEAD = 4


class _Queue:
    """What the thread and its stream share. Neither holds the other."""

    def __init__(self, room: int):
        self.room = room
        self.items: deque[tuple[bool, Any]] = deque()
        self.changed = threading.Condition()
        self.closed = self.ended = False
        self._process = os.getpid()

    def close(self) -> None:
        """Let the thread end."""
        if self._process != os.getpid():  # where there is no such thread
            return
        with self.changed:
            self.closed = True
            self.items.clear()
            self.changed.notify_all()

    def put(self, item: tuple[bool, Any]) -> bool:
        """Add what was made when there is room. False if nobody wants more."""
        with self.changed:
            while len(self.items) >= self.room and not self.closed:
                self.changed.wait()
            if self.closed:
                return False
            self.items.append(item)
            self.changed.notify_all()
            return True

    def get(self) -> tuple[bool, Any]:
        refuse_fork(self._process)
        with self.changed:
            while not self.items:
                if self.closed or self.ended:
                    raise StopIteration
                self.changed.wait()
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def end(self) -> None:
        """No more comes."""
        with self.changed:
            self.ended = True
            self.changed.notify_all()


_QUEUES: weakref.WeakSet[_Queue] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for queue in list(_QUEUES):
        queue.close()


def _work(begin: Callable[[], Stream], queue: _Queue) -> None:
    """What the thread does."""
    try:
        source = begin()
        while not queue.closed:
            try:
                item = True, source.step()
            except StopIteration:
                break
            except Exception as error:
                item = False, error
            if not queue.put(item):
                break
            del item
    except BaseException as error:
        queue.put((False, error))
    finally:
        queue.end()


class PrefetchStream(Stream):
    """A stream whose elements a thread makes; the thread ends with it."""

    __slots__ = ("_begin", "_queue")

    def __init__(self, begin: Callable[[], Stream], room: int):
        self._begin: Callable[[], Stream] | None = begin
        self._queue = _Queue(room)
        super().__init__(self._start)

    def skip(self, count: int) -> int:
        begin = self._begin
        if begin is None:  # the thread has begun
            return super().skip(count)

        source = begin()
        self._begin = lambda: source
        return source.skip(count)

    def _start(self) -> Element:
        queue = self._queue
        _QUEUES.add(queue)
        weakref.finalize(self, queue.close)
        thread = threading.Thread(
            target=_work, args=(self._begin, queue), name="tape_compat.prefetch", daemon=True
        )
        self._begin = None
        thread.start()

        def step() -> Element:
            fine, found = queue.get()
            if not fine:
                raise found
            return found

        self.step = step
        return step()


class Prefetch(SameRows):
    """The elements, made ahead of their use."""

    name = "PrefetchDataset"

    def __init__(self, source: Pipeline, buffer: int):
        super().__init__(source)
        self._buffer = AHEAD if buffer == AUTOTUNE else buffer
        if DEBUGGING.on:
            self._buffer = 0

    def _open(self) -> Stream:
        source = self.inputs[0]
        if self._buffer == 0:
            return source.open()
        return PrefetchStream(source.open, self._buffer)

    def chunks(self) -> Any:
        return self.inputs[0].chunks()

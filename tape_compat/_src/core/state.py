"""The only global state beside the counters: what each thread is recording.

A thread has one pending `Program`, a stack of recorders (tapes and accumulators) and a mode.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .native import native, provide


class Recorder:
    """What is told of the ops of a thread while it is among its recorders. This one does nothing.

    ids: identities of the tensors that it tracks.
    """

    ids: Any = frozenset()

    def record(
        self, call: Any, inputs: tuple[Any, ...], outputs: tuple[Any, ...], node: Any
    ) -> None:
        """Called for every differentiable op with an input that it tracks; may be for others."""

    def variable_accessed(self, variable: Any) -> None:
        """Called for every read of a variable."""

    def variables_since(self) -> dict[int, int]:
        """The variables that it tracks; see `autodiff.missed`."""
        return {}

    def escaped(self, tensor: Any) -> None:
        """Called for every value that Python, NumPy or JAX takes."""


@native
class ThreadState:
    """What one thread has under way. `deferring` is true while ops are to be recorded.

    recorders: tapes and accumulators, see `Recorder`.
    programs: how many it has begun. previous: where the last one began; ran_now: how many ops have
    run at once since then.
    """

    __slots__ = (
        "capture",
        "deferring",
        "device",
        "origin",
        "previous",
        "program",
        "programs",
        "ran_now",
        "recorders",
    )

    def __init__(self) -> None:
        self.program: Any = None
        self.recorders: tuple[Any, ...] = ()
        self.capture: Any = None
        self.deferring = False
        self.origin: Any = None
        self.device: Any = None
        self.previous: Any = None
        self.ran_now = self.programs = 0

    @property
    def program_number(self) -> int:
        """The number of the program that is pending, or that the next op begins."""
        return self.programs + (self.program is None)

    def set_recorders(self, recorders: tuple[Any, ...]) -> None:
        self.recorders = recorders
        self.deferring = bool(recorders) or self.capture is not None


class _Local(threading.local):
    """run: of a function by its Python, whose random numbers are those of that; see
    `ops/random_keys.py`."""

    def __init__(self) -> None:
        self.state = ThreadState()
        self.run: Any = None


LOCAL = _Local()


class _Mode:
    """immediate: whether ops run at their call. python: whether functions run their Python at each
    call. checks: what looks at the closure, inputs and outputs of each op that runs at its call."""

    __slots__ = ("checks", "immediate", "python")


MODE = _Mode()
MODE.python = False
MODE.checks = None
#: Whether ops run at their call from the start.
IMMEDIATE = os.environ.get("TAPE_COMPAT_IMMEDIATE", "0").lower() not in ("", "0", "false")
MODE.immediate = IMMEDIATE

# Another library may put its own thread-local objects in the place of Python's.
provide(local=LOCAL, own_local=isinstance(LOCAL, _thread._local), mode=MODE)


def immediate() -> bool:
    """Whether every op runs at its call, in all threads."""
    return MODE.immediate


@contextlib.contextmanager
def changed(owner: Any, **values: Any) -> Iterator[None]:
    """A context in which attributes of an object are these."""
    before = {name: getattr(owner, name) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def seen_by(recorders: tuple[Any, ...], function: Callable[..., Any], *args: Any) -> Any:
    """Call a function whose ops are told to these recorders only, and deferred as they would be."""
    state = LOCAL.state
    before = state.recorders
    state.recorders = recorders
    try:
        return function(*args)
    finally:
        state.recorders = before


@contextlib.contextmanager
def paused(recorders_left: tuple[Any, ...] = ()) -> Iterator[None]:
    """Suspend the recorders of this thread, but for those given."""
    state = LOCAL.state
    before = state.recorders
    state.set_recorders(recorders_left)
    try:
        yield
    finally:
        state.set_recorders(before)


@contextlib.contextmanager
def suspended() -> Iterator[None]:
    """`paused` around code of the user's, which may enter recorders and stop those paused."""
    state = LOCAL.state
    before = state.recorders
    state.set_recorders(())
    try:
        yield
    finally:
        entered = [r for r in state.recorders if all(r is not known for known in before)]
        left = [r for r in before if getattr(r, "_recording", True)]
        state.set_recorders((*left, *entered))

"""Programs compiled as a whole."""

from __future__ import annotations

import logging
import operator
import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import jax
import numpy as np

from ..core.avals import matched
from ..core.call import flattened
from ..core.host import return_freed_memory
from ..core.native import native
from ..core.program import Node, Program, Runner
from ..core.steps import Steps, leaf_layout, needed, slot_avals, zero_leaves
from ..core.x64 import in_x64
from . import large_pages
from .donation import Care, donating, run_on_zeros
from .large_pages import Room

LOGGER = logging.getLogger("tape_compat")


@native
class WholeProgram(Runner):
    """A program compiled as a whole, when first called.

    It takes the array leaves, then one vector of scalars for each dtype in `packs`. Its results are
    the live outputs.
    """

    __slots__ = ("_packed", "call", "care", "packs")
    unpack_results = None

    def __init__(
        self,
        node: Node,
        key: tuple,
        donate: tuple[int, ...],
        care: Care,
        room: Room | None = None,
    ):
        super().__init__(node, key)
        self.care = care
        live = key[0]
        path = node.path()
        arrays, scalars = leaf_layout(path)
        self.packs = list(scalars)
        #: For each dtype: the bytes, the numbers, and from the second time on the vector.
        self._packed: list[tuple[bytes, list[Any], jax.Array | None] | None]
        self._packed = [None] * len(self.packs)
        position = {slot: i for i, slot in enumerate(arrays)}
        self.donate = tuple(position[slot] for slot in donate)
        packed = [slot for slots in scalars.values() for slot in slots]
        steps = flattened(Steps.numbered(needed(path, live), [*arrays, *packed], live))
        lengths = [len(slots) for slots in scalars.values()]

        def program(*leaves: Any) -> tuple[Any, ...]:
            vectors = leaves[len(arrays) :]
            numbers = [v[i] for v, n in zip(vectors, lengths, strict=True) for i in range(n)]
            if room is None or not large_pages.available():
                return steps.replay(*leaves[: len(arrays)], *numbers)
            leaves = large_pages.asking(room, leaves)
            return large_pages.keeping(room, steps.replay(*leaves[: len(arrays)], *numbers))

        self.call: Callable[..., tuple[Any, ...]] = donating(program, self.donate)

    def arguments(self, arrays: list[Any], scalars: dict[np.dtype, list[Any]]) -> list[Any]:
        """What the compiled program takes, of the leaves of the record: `arrays`, longer."""
        for i, dtype in enumerate(self.packs):
            arrays.append(self._pack(i, dtype, scalars[dtype]))
        return arrays

    def _pack(self, i: int, dtype: np.dtype, values: list[Any]) -> Any:
        """The scalars of one dtype as a vector, kept on the device while they do not change."""
        vector = np.array(values, dtype)
        content = vector.tobytes()
        before = self._packed[i]
        if before is None or before[0] != content:
            self._packed[i] = (content, values, None)
            return vector
        on_device = before[2]
        if on_device is None:
            on_device = in_x64(jax.device_put, vector)
        self._packed[i] = (content, values, on_device)
        return on_device

    def compile(self) -> None:
        """Compile it now, by a run on zeros."""
        arrays, scalars = zero_leaves(self.node.path())
        vectors = [np.array(numbers, dtype) for dtype, numbers in scalars.items()]
        run_on_zeros(self.call, [*arrays, *vectors], self.donate)


class _Program(Protocol):
    def compile(self) -> None: ...


Compiled = TypeVar("Compiled", bound=_Program)


class Compiling(Generic[Compiled]):
    """A program that another thread compiles, once no other is being compiled there.

    runs: how often it has been run so far; see `Beside`.
    """

    def __init__(self, program: Compiled):
        self.runs = 0
        self._program: Compiled | None = program
        self._ended = threading.Event()
        BESIDE.add(self)

    def compile(self) -> None:
        """Compile it in this thread."""
        compiled = None
        try:
            assert self._program is not None
            self._program.compile()
            return_freed_memory()
            compiled = self._program
        except Exception as error:
            LOGGER.warning("A step could not be compiled in another thread: %s", error)
        finally:
            self._program = compiled
            self._ended.set()

    def result(self) -> Compiled | None:
        """The program, once it is compiled, by this thread if none has begun; None if that
        failed."""
        if BESIDE.take(self):
            self.compile()
        self._ended.wait()
        return self._program


class Beside:
    """What another thread compiles, one program after the other, of those that wait the one that
    has been run most often: more threads would take the processors from what they compile for. It
    is no daemon: XLA is not to be left midway, so a process that ends meanwhile ends when that
    compile does; what waits then is compiled by who asks for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Compiling[Any]] = []
        self._working = False

    def add(self, compiling: Compiling[Any]) -> None:
        """Let it wait for its turn."""
        with self._lock:
            self._waiting.append(compiling)
            begins, self._working = not self._working, True
        if begins:
            threading.Thread(target=self._work, name="tape_compat compile").start()

    def take(self, compiling: Compiling[Any]) -> bool:
        """Let it wait no more; False if it has had its turn."""
        with self._lock:
            waits = compiling in self._waiting
            if waits:
                self._waiting.remove(compiling)
            return waits

    def _next(self) -> Compiling[Any] | None:
        with self._lock:
            if self._waiting and threading.main_thread().is_alive():
                found = max(self._waiting, key=operator.attrgetter("runs"))
                self._waiting.remove(found)
                return found
            self._working = False
            return None

    def _work(self) -> None:
        while (compiling := self._next()) is not None:
            compiling.compile()


BESIDE = Beside()


def donations(program: Program, node: Node, live: tuple[int, ...]) -> tuple[int, ...]:
    """Leaves of overwritten variables, each matched with a live output of its shape and dtype.

    They are in the order in which the variables were overwritten, as the outputs are: a variable's
    new value takes its own old buffer.
    """
    path = node.path()
    avals = slot_avals(path)
    arrays = set(leaf_layout(path)[0])
    overwritten = [slot for slot in dict.fromkeys(program.donatable) if slot in arrays]
    room = [avals[slot] for slot in set(live)]
    return matched([(slot, avals[slot]) for slot in overwritten], room)

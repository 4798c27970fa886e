"""Runs a program in pieces: its repeated stretches each by one compiled call, the rest op by op.

A Python loop records the same ops again and again. A program that is not worth compiling as a whole
(its length is another one each time, say) consists of pieces that are: eight turns of the loop, or
four, or one. Two stretches are the same piece if they are the same closures, wired alike inside,
with inputs of the same avals in the same order of first use; where those inputs come from, and how
often the loop runs, does not matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.avals import Aval
from ..core.caches import Cache
from ..core.counters import COUNTERS
from ..core.op import Closure
from ..core.program import Node, Runner
from ..core.steps import Steps, leaf_layout, needed, slot_avals
from ..core.x64 import in_x64
from . import policy
from .loops.find import Repeat, find_loops


class Piece:
    """Steps that are compiled together.

    waits: whether it runs op by op the first time, in case it does not come again.
    """

    __slots__ = ("_call", "_steps", "waits")

    def __init__(self, steps: Steps):
        self._steps = steps
        self.waits = True
        self._call: Any = None

    def run(self, *arrays: Any) -> Sequence[Any]:
        call = self._call
        if call is None:
            if self.waits:
                self.waits = False
                return self._steps.interpret(Closure.run_on, arrays)
            call = self._call = jax.jit(self._steps.replay)
            COUNTERS.piece_compiles += 1
        COUNTERS.dispatches += 1
        return call(*arrays)


_PIECES: Cache[tuple[Steps, tuple[Aval, ...]], Piece] = Cache("pieces", policy.MAX_PIECES)


class Call(NamedTuple):
    """One call of a program in pieces: what runs, the slots it reads and fills, and those not read
    again."""

    runs: Closure | Piece
    inputs: tuple[int, ...]
    outputs: Sequence[int]
    drops: tuple[int, ...]


class PiecewiseProgram(Runner):
    """How one program runs in pieces. Made once for a program and its live outputs.

    loops: whether loops are most of it. Then, and if it is too long to be compiled as a whole, what
    stands between them makes pieces too, compiled at first sight if `eager`, else at the second;
    otherwise that runs op by op.
    """

    __slots__ = ("arrays", "end", "live", "loops", "parts", "scalars")

    def __init__(self, node: Node, live: tuple[int, ...], eager: bool):
        super().__init__(node, (live, ()))
        self.live = live
        path = node.path()
        self.end = node.end
        self.arrays, self.scalars = leaf_layout(path)
        steps, avals = needed(path, live), slot_avals(path)
        length = policy.piece_length(len(steps))
        stretches = cuts([(s.closure, *(avals[i] for i in s.inputs)) for s in steps], length)
        turns = sum(stop - start for start, stop, loops in stretches if loops)
        parts = shortened(stretches, length)
        self.loops = turns > max(policy.LOOPS_SHARE * len(steps), policy.LOOPS_LEAST) and len(
            parts
        ) * policy.LOOPS_PIECE <= len(steps)
        if not self.loops and len(steps) <= policy.MAX_WHOLE:
            parts = shortened(stretches, 1)
        self.parts = _parts(steps, parts, avals, live, eager)

    def run(self, arrays: Iterable[Any], scalars: dict[np.dtype, list[Any]]) -> list[Any]:
        """Run on the leaves; gives the live outputs. Arrays go after their last use."""
        env: list[Any] = [None] * self.end
        for slot, array in zip(self.arrays, arrays, strict=True):
            env[slot] = array
        for dtype, where in self.scalars.items():
            for slot, value in zip(where, scalars[dtype], strict=True):
                env[slot] = np.array(value, dtype)
        return in_x64(self._run, env)

    def _run(self, env: list[Any]) -> list[Any]:
        for runs, inputs, outputs, drops in self.parts:
            for slot, array in zip(outputs, runs.run(*[env[i] for i in inputs]), strict=True):
                env[slot] = array
            for slot in drops:
                env[slot] = None
        return [env[slot] for slot in self.live]


def _parts(
    steps: Sequence[Node],
    stretches: Iterable[Stretch],
    avals: dict[int, Aval],
    live: Iterable[int],
    eager: bool,
) -> list[Call]:
    #: Where each slot is read last; beyond the end if it is live.
    last: dict[int, int] = {}
    for i, step in enumerate(steps):
        for slot in step.inputs:
            last[slot] = i
    for slot in live:
        last[slot] = len(steps)
    parts: list[Call] = []
    for start, stop, loops in stretches:
        stretch = steps[start:stop]
        read = dict.fromkeys(slot for step in stretch for slot in step.inputs)
        made = [slot for step in stretch for slot in range(step.first, step.end)]
        drops = [slot for slot in read if last[slot] < stop]
        if len(stretch) == 1:
            drops += [slot for slot in made if slot not in last]
            parts.append(Call(stretch[0].closure, stretch[0].inputs, made, tuple(drops)))
            continue
        inside = set(made)
        inputs = tuple(slot for slot in read if slot not in inside)
        outputs = [slot for slot in made if last.get(slot, -1) >= stop]
        own = Steps.numbered(stretch, inputs, outputs)
        kinds = tuple([avals[slot] for slot in inputs])
        piece = _PIECES.find((own, kinds), partial(Piece, own))
        if loops or eager:
            piece.waits = False
        drops = [slot for slot in drops if slot not in inside]
        parts.append(Call(piece, inputs, outputs, tuple(drops)))
    return parts


# ---------------------------------------------------------------------------------------------
# Where it is cut.

#: Where a stretch begins and ends, and whether it is turns of a loop.
Stretch = tuple[int, int, bool]


def cuts(tokens: Sequence[Hashable], length: int) -> list[Stretch]:
    """Cut a sequence into turns of the loops found in it, as many at a time as `length` allows, and
    what lies between."""
    stretches: list[Stretch] = []
    rest = 0
    for loop in find_loops(tokens, length):
        if rest < loop.start:
            stretches.append((rest, loop.start, False))
        stretches += _turns(loop, length)
        rest = loop.stop
    if rest < len(tokens):
        stretches.append((rest, len(tokens), False))
    return stretches


def shortened(stretches: Iterable[Stretch], length: int) -> list[Stretch]:
    """The stretches between loops cut to at most `length`."""
    cut: list[Stretch] = []
    for start, stop, loops in stretches:
        if loops:
            cut.append((start, stop, loops))
        else:
            cut += [(a, min(a + length, stop), loops) for a in range(start, stop, length)]
    return cut


def _turns(loop: Repeat, length: int) -> list[Stretch]:
    """Cut a loop into powers of two of turns, the largest first: few pieces serve all lengths."""
    start, period, _ = loop
    turns = 1
    while 2 * turns * period <= length:
        turns *= 2
    pieces: list[Stretch] = []
    while start < loop.stop:
        while turns > 1 and start + turns * period > loop.stop:
            turns //= 2
        pieces.append((start, start + turns * period, True))
        start += turns * period
    return pieces

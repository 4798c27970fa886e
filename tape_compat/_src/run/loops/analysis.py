"""What the iterations of the loops in a record read.

Every output of an instruction has an id: they are counted in the order of the instructions, so that
those of a loop are a block with a row for each iteration. A leaf has the negative id `~slot`. What
the iterations of a loop read in one place is a column of ids, and is one of these:

- inside: an output of the same iteration, the same one in each;
- an invariant: the same id in each iteration;
- a carry: an output of the iteration before, or of one a few iterations before, and in the first
  iterations something from before the loop;
- a stream: in each iteration another thing from before the loop. If these are outputs of an earlier
  loop, that loop saves them in a stack; otherwise they are put into one.

Where a loop is none of this at its ends, an iteration there is taken out of it; where it still is
not, it is left as the single instructions that were recorded.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...core.avals import Aval
from ...core.op import Closure
from ...core.program import Node
from ...core.steps import Step
from .. import policy
from .find import Repeat

Ids = np.ndarray


@dataclass(frozen=True, slots=True)
class SavedOutputs:
    """The stack of what an output of a loop was in each iteration."""

    loop: int
    output: int


@dataclass(frozen=True, slots=True)
class PackedInputs:
    """The stack that holds what the iterations of a loop read in one place."""

    loop: int
    ids: tuple[int, ...]


class Row(NamedTuple):
    """One row of an array leaf along an axis."""

    slot: int
    axis: int
    number: int


@dataclass(frozen=True, slots=True)
class SequenceLeaf:
    """The stack that is an array leaf, of which only rows are read."""

    slot: int
    axis: int


class Read(NamedTuple):
    """A stream: a stack, and its rows unless they are the numbers of the iterations. If there is no
    stack: numbers."""

    stack: SavedOutputs | PackedInputs | SequenceLeaf | None
    rows: tuple[int, ...] | None


@dataclass(slots=True)
class LoopSummary:
    """A loop of the program, and what the rest of the program wants of it.

    base: id of its first output. outputs: how many an iteration has. closures: what the body runs.
    columns: what these read, in order, `widths` of them each: a kind and a number, or an output and
    how many iterations ago. starts: what stands for an output of so many iterations ago in the
    first iteration.

    finals: the outputs of which the last iteration's is read after the loop. rows: of which those
    of other iterations are. saves: of which all iterations' are to be kept.
    """

    loop: Repeat
    base: int
    outputs: int
    closures: list[Closure] = field(default_factory=list)
    columns: list[tuple[str, Any]] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    invariants: list[int] = field(default_factory=list)
    starts: dict[tuple[int, int], int] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    finals: dict[int, None] = field(default_factory=dict)
    rows: dict[int, set[int]] = field(default_factory=dict)
    saves: dict[int, None] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.base + self.outputs * self.loop.iterations

    def holds(self, ids: Ids) -> Any:
        return (ids >= self.base) & (ids < self.end)


def rows_of_leaves(
    arrays: Iterable[int],
    steps: Sequence[Step | Node],
    avals: dict[int, Aval],
    kept: Container[int],
) -> dict[int, Row]:
    """The slots that are rows of array leaves of which nothing but rows along one axis is read.

    arrays: the slots of the array leaves. kept: slots that must stay as they are, such as live
    outputs.
    """
    readers: dict[int, list[Step | Node]] = {slot: [] for slot in arrays}
    for step in steps:
        for slot in step.inputs:
            if slot in readers:
                readers[slot].append(step)
    rows: dict[int, Row] = {}
    for slot, nodes in readers.items():
        if slot in kept or avals[slot].nbytes > policy.LARGEST_SEQUENCE:
            continue
        found: dict[int, Row] = {}
        for node in nodes:
            read = _rows_read(node, avals[slot].shape)
            if read is None or any(i in kept for i in range(node.first, node.end)):
                break
            axis, numbers = read
            for out, number in zip(range(node.first, node.end), numbers, strict=True):
                found[out] = Row(slot, axis, number)
        else:
            if (
                len(found) >= policy.LEAST_ITERATIONS
                and len({row.axis for row in found.values()}) == 1
            ):
                rows.update(found)
    return rows


def _rows_read(node: Step | Node, shape: tuple[int, ...]) -> tuple[int, Sequence[int]] | None:
    if node.closure.op.rows is None or len(node.inputs) != 1:
        return None
    return node.closure.op.rows(shape, **node.closure.attributes)


#: How many of its first and last iterations a loop is tried without.
_WITHOUT = sorted(
    ((a, b) for a in range(4) for b in range(4)), key=lambda ends: (sum(ends), ends[1])
)


class Analysis:
    def __init__(
        self,
        arrays: Sequence[int],
        scalars: dict[np.dtype, list[int]],
        steps: Sequence[Step | Node],
        avals: dict[int, Aval],
        live: Sequence[int],
        donatable: Iterable[int],
        rows: dict[int, Row],
    ):
        self.rows = rows
        self.steps, self.avals, self.live = steps, avals, live
        self.donatable = set(donatable)
        self.array_place = {slot: i for i, slot in enumerate(arrays)}
        self.scalar_place = {
            slot: (dtype, i) for dtype, slots in scalars.items() for i, slot in enumerate(slots)
        }
        #: Slot -> id, and id -> slot for outputs.
        self.ids = ~np.arange(len(avals))
        self.slots: list[int] = []
        for step in steps:
            for slot in range(step.first, step.end):
                self.ids[slot] = len(self.slots)
                self.slots.append(slot)
        self.loops: list[LoopSummary] = []
        #: Id -> the stack made for a loop that holds it, and its row there.
        self.homes: dict[int, tuple[PackedInputs, int]] = {}

    def aval(self, i: int) -> Aval:
        return self.avals[~i if i < 0 else self.slots[i]]

    def iteration_of(self, i: int) -> tuple[int, int, int] | None:
        """The loop, the iteration and the output of an id; None outside loops."""
        for number, summary in enumerate(self.loops):
            if summary.base <= i < summary.end:
                return number, *divmod(int(i) - summary.base, summary.outputs)
        return None

    @property
    def layered(self) -> bool:
        """Whether iterations read variables that are overwritten, each its own: layers, not
        time."""
        return any(
            ~i in self.donatable
            for summary in self.loops
            for read in summary.reads
            if isinstance(read.stack, PackedInputs)
            for i in read.stack.ids
        )

    # -- loops

    def add(self, loop: Repeat) -> None:
        """Take a loop up, without some of its first and last iterations if that makes it
        possible."""
        for first, last in _WITHOUT:
            iterations = loop.iterations - first - last
            if iterations < policy.LEAST_ITERATIONS:
                return
            summary = self._summary(
                Repeat(loop.start + first * loop.period, loop.period, iterations)
            )
            if summary is not None:
                for read in summary.reads:
                    if isinstance(read.stack, PackedInputs) and read.rows is None:
                        for row, i in enumerate(read.stack.ids):
                            self.homes.setdefault(i, (read.stack, row))
                    elif isinstance(read.stack, SavedOutputs):
                        self.loops[read.stack.loop].saves[read.stack.output] = None
                self.loops.append(summary)
                return

    def _summary(self, loop: Repeat) -> LoopSummary | None:
        """What each column of a loop is; None if one of them is nothing of what it may be."""
        steps = self.steps[loop.start : loop.stop]
        base = int(self.ids[steps[0].first])
        outputs = int(self.ids[steps[loop.period - 1].end - 1]) + 1 - base
        summary = LoopSummary(loop, base, outputs)
        read = [slot for step in steps for slot in step.inputs]
        table = self.ids[np.array(read, np.int64)].reshape(loop.iterations, -1)
        apart = table - (base + outputs * np.arange(loop.iterations))[:, None]
        before = np.all(table < base, axis=0)
        same = (table == table[0]).all(0) & before
        inside = (apart == apart[0]).all(0) & (apart[0] >= 0)
        ago = _iterations_ago(apart, table < base, outputs)
        invariants: dict[int, int] = {}
        reads: dict[bytes, int] = {}
        for c in range(table.shape[1]):
            first = int(table[0, c])
            if same[c]:
                summary.columns.append(("invariant", invariants.setdefault(first, len(invariants))))
            elif inside[c]:
                summary.columns.append(("output", int(apart[0, c])))
            elif ago[c]:
                distance = int(ago[c])
                output = int(apart[distance, c]) + distance * outputs
                for d in range(1, distance + 1):
                    start = int(table[distance - d, c])
                    if summary.starts.setdefault((output, d), start) != start:
                        return None
                summary.columns.append(("carry", (output, distance)))
            elif before[c]:
                column = np.ascontiguousarray(table[:, c])
                known = reads.get(column.tobytes())
                if known is None:
                    stream = self._stream(column)
                    if stream is None:
                        return None
                    known = reads[column.tobytes()] = len(summary.reads)
                    summary.reads.append(stream)
                summary.columns.append(("stream", known))
            else:
                return None
        summary.invariants = list(invariants)
        self._generalize(summary, steps)
        return summary

    def _generalize(self, summary: LoopSummary, steps: Sequence[Step | Node]) -> None:
        """Give the body its closures: more general ones where those of the iterations differ, which
        read in what they differ."""
        known: dict[tuple[int, ...], int] = {}
        columns = iter(summary.columns)
        summary.columns = []
        for k in range(summary.loop.period):
            step = steps[k]
            closures = [s.closure for s in steps[k :: summary.loop.period]]
            read = [next(columns) for _ in step.inputs]
            dynamic = step.closure.dynamic_form
            if dynamic is None or all(c is step.closure for c in closures):
                summary.closures.append(step.closure)
            else:
                added = []
                for numbers in zip(*(c.dynamic_form.numbers for c in closures), strict=True):  # type: ignore[union-attr]
                    if numbers not in known:
                        known[numbers] = len(summary.reads)
                        summary.reads.append(Read(None, numbers))
                    added.append(("stream", known[numbers]))
                place = dynamic.place if dynamic.place >= 0 else len(read)
                read[place:place] = added
                summary.closures.append(dynamic.closure)
            summary.columns += read
            summary.widths.append(len(read))

    def _stream(self, column: Ids) -> Read | None:
        """What holds the things that the iterations read in one place."""
        held_by: list[Any] = [earlier.holds(column) for earlier in self.loops]
        number = max(range(len(held_by)), key=lambda n: held_by[n].sum(), default=0)
        if held_by and (held := held_by[number]).any():
            earlier = self.loops[number]
            iterations, outputs = np.divmod(column - earlier.base, earlier.outputs)
            output = int(outputs[held][0])
            if (outputs[held] != output).any():
                return None
            if (column[~held] != earlier.starts.get((output, 1))).any():
                return None
            return Read(
                SavedOutputs(number, output), tuple(np.where(held, iterations + 1, 0).tolist())
            )
        ids = tuple(column.tolist())
        rows = [self.rows.get(~i) for i in ids]
        first = rows[0]
        if first is not None and None not in rows and len({row[:2] for row in rows if row}) == 1:
            leaf = SequenceLeaf(first.slot, first.axis)
            return Read(leaf, tuple(row.number for row in rows if row))
        homes = [self.homes.get(i) for i in ids]
        if None not in homes and len({home[0] for home in homes if home}) == 1:
            return Read(homes[0][0], tuple(home[1] for home in homes if home))  # type: ignore[index]
        leaves = sum(~i in self.array_place for i in ids)
        if leaves and self.aval(ids[0]).nbytes * len(ids) > policy.LARGEST_BUNDLE:
            return None
        return Read(PackedInputs(len(self.loops), ids), None)

    # -- the template

    def requests(self) -> set[tuple[int, int]]:
        """Note which outputs of loops are read outside; gives those that are given as stacks,
        because many of their iterations are alive."""
        alive: dict[tuple[int, int], set[int]] = {}
        for slot in self.live:
            found = self.iteration_of(self.ids[slot])
            if found is not None:
                number, iteration, output = found
                alive.setdefault((number, output), set()).add(iteration)
        buffered = {
            which for which, iterations in alive.items() if len(iterations) > policy.FEW_ROWS
        }
        for number, output in buffered:
            self.loops[number].saves[output] = None
        rest = 0
        for summary in self.loops:
            self._request_inputs(rest, summary.loop.start)
            rest = summary.loop.stop
            self._request(summary.invariants)
            self._request(summary.starts.values())
            for read in summary.reads:
                if isinstance(read.stack, PackedInputs) and read.rows is None:
                    self._request(read.stack.ids)
        self._request_inputs(rest, len(self.steps))
        for (number, output), iterations in alive.items():
            if (number, output) not in buffered:
                summary = self.loops[number]
                self._request(
                    summary.base + iteration * summary.outputs + output for iteration in iterations
                )
        return buffered

    def _request_inputs(self, start: int, stop: int) -> None:
        for step in self.steps[start:stop]:
            self._request(self.ids[slot] for slot in step.inputs)

    def _request(self, ids: Iterable[int]) -> None:
        for i in ids:
            found = self.iteration_of(i)
            if found is None:
                continue
            number, iteration, output = found
            summary = self.loops[number]
            if iteration == summary.loop.iterations - 1:
                summary.finals[output] = None
            else:
                summary.rows.setdefault(output, set()).add(iteration)
                summary.saves[output] = None


def _iterations_ago(apart: Ids, before: np.ndarray, outputs: int) -> Ids:
    """For each column that is an output of an earlier iteration: how many iterations ago it was
    made; else 0.

    apart: ids, less the first id of their iteration. before: whether they are from before the loop.
    """
    ago = np.zeros(apart.shape[1], np.int64)
    for d in range(1, min(policy.FARTHEST_CARRY, len(apart) - 1) + 1):
        made = apart[d] + d * outputs
        there = (apart[d:] == apart[d]).all(0) & (made >= 0) & (made < outputs)
        ago[there & before[:d].all(0) & (ago == 0)] = d
    return ago

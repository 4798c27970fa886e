"""Writes a record whose loops run as loops: its template, and where the arguments come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.avals import Aval, matched
from ...core.call import Call, without_calls
from ...core.forwards import forwards
from ...core.op import Closure
from ...core.program import Node, Runner
from ...core.steps import Step, Steps, leaf_layout, needed, slot_avals, zero_leaves
from ...core.x64 import in_x64
from .. import policy
from ..donation import Care, run_on_zeros
from .analysis import (
    Analysis,
    LoopSummary,
    PackedInputs,
    SavedOutputs,
    SequenceLeaf,
    rows_of_leaves,
)
from .find import find_loops
from .rows import padded, rows_first, stacked, taken
from .template import (
    Bundle,
    Carry,
    Given,
    Load,
    Loop,
    Pack,
    Save,
    Scalars,
    Segment,
    Stream,
    Template,
    Unpack,
)


class LoopProgram(Runner):
    """A record as a template with its arguments.

    counts: how often each loop runs, then how many rows the leaves have of which rows are read.
    loops: how many loops there are. unpack_results: makes the live outputs, in order, of what the
    compiled template gives; None if that is what it gives. compiled: the template compiled, once
    chosen. better_whole: whether each iteration has variables of its own, which take longer to copy
    into stacks and out of them than to hand over one by one. runs: how often it ran then.
    """

    def __init__(
        self,
        node: Node,
        key: tuple,
        template: Template,
        counts: tuple[int, ...],
        donate: tuple[int, ...],
        recipe: _Recipe,
        layered: bool,
    ):
        super().__init__(node, key, donate)
        self.template, self.counts = template, counts
        self._recipe = recipe
        #: The numbers of the loops, and the scalars of each dtype: capacities, content, and the
        #: vector, on the device once it came again.
        self._vectors: dict[Any, tuple[tuple[int, ...], bytes, Any]] = {}
        self.compiled: Any = None
        self.better_whole, self.runs = layered and _dear_rows(template), 0
        self.loops = sum(isinstance(s, Loop) for s in template.segments)
        self._rows, self._order = _order(recipe.places, len(template.outputs))

    call: Any = forwards("compiled.call")
    care: Care = forwards("compiled.care")

    @property
    def unpack_results(self) -> Any:
        return self._unpacked if self.template.buffers else None

    def arguments(self, arrays: list[Any], scalars: dict[np.dtype, list[Any]]) -> list[Any]:
        """What the compiled template takes, of the leaves of the record."""
        capacities = self.compiled.capacities
        given = [arrays[i] for i in self._recipe.leaves]
        for loop, places, axis in self._recipe.bundles:
            if isinstance(places, int):
                given.append(rows_first(arrays[places], axis, capacities[loop]))
            else:
                given.append(stacked([arrays[i] for i in places], capacities[loop]))
        for dtype, single, streams in self._recipe.scalars:
            vector = np.array(scalars[dtype], dtype)
            parts = [(loop, vector[at]) for loop, at in ((None, single), *streams)]
            given.append(self._vector(dtype, capacities, parts, vector.tobytes()))
        given.append(self._vector(None, capacities, self._recipe.numbers, b""))
        return given

    def compile(self) -> None:
        """Compile what was chosen now, by a run on zeros."""
        zeros = self.arguments(*zero_leaves(self.node.path()))
        run_on_zeros(self.call, zeros, self.donate)

    def _vector(
        self,
        kind: Any,
        capacities: tuple[int, ...],
        parts: Sequence[tuple[int | None, np.ndarray]],
        content: bytes,
    ) -> Any:
        """The parts, each repeated up to the capacity of its loop, as a vector that is kept on the
        device while the content that they are made of stays the same."""
        before = self._vectors.get(kind)
        if before is not None and before[:2] == (capacities, content):
            if isinstance(before[2], np.ndarray):
                before = (capacities, content, in_x64(jax.device_put, before[2]))
                self._vectors[kind] = before
            return before[2]
        vector = np.concatenate(
            [part if n is None else padded(part, capacities[n]) for n, part in parts]
        )
        self._vectors[kind] = capacities, content, vector
        return vector

    def _unpacked(self, results: Sequence[Any]) -> Sequence[Any]:
        """The live outputs in order, some of them rows of stacks."""
        first = len(self.template.outputs)
        found = list(results[:first])
        for buffer, numbers in enumerate(self._rows, first):
            found += taken(results[buffer], numbers)
        return [found[i] for i in self._order]


def _dear_rows(template: Template) -> bool:
    """Whether what an iteration has of its own is not copied in little time."""
    saved = {
        save.stack: save.aval.nbytes
        for segment in template.segments
        if isinstance(segment, Loop)
        for save in segment.saves
    }
    rows = [bundle.aval.nbytes for bundle in template.bundles if not bundle.whole]
    rows += [saved[stack] for stack in template.buffers]
    return jax.default_backend() != "cpu" or max(rows, default=0) > policy.SMALL_LAYER


def _order(
    places: Sequence[tuple[int | None, int]], outputs: int
) -> tuple[list[np.ndarray], list[int]]:
    """Of each stack the rows that are alive, the first of which is what was before the loop; and
    the live outputs in order, numbered as outputs and then these rows."""
    rows: dict[int, list[int]] = {}
    for buffer, iteration in places:
        if buffer is not None:
            rows.setdefault(buffer, []).append(iteration + 1)
    lengths = [len(rows[buffer]) for buffer in range(len(rows))]
    ends = [outputs + sum(lengths[:buffer]) for buffer in range(len(lengths))]
    order = []
    for buffer, place in places:
        if buffer is None:
            order.append(place)
        else:
            order.append(ends[buffer])
            ends[buffer] += 1
    return [np.array(rows[buffer]) for buffer in range(len(rows))], order


class _Recipe(NamedTuple):
    """Where the arguments come from: places among the leaves of the record."""

    leaves: list[int]
    bundles: list[tuple[int, list[int] | int, int]]
    scalars: list[tuple[np.dtype, np.ndarray, list[tuple[int, np.ndarray]]]]
    numbers: list[tuple[int | None, np.ndarray]]
    places: list[tuple[int | None, int]]


def loop_program(
    node: Node, key: tuple, live: tuple[int, ...], donatable: Iterable[int]
) -> LoopProgram | None:
    """The program as a template, or None if loops are not most of it."""
    path = node.path()
    steps: Sequence[Step | Node] = needed(path, live)
    avals = slot_avals(path)
    if any(isinstance(step.closure, Call) for step in steps):
        steps, live, avals = without_calls(steps, live, avals)
    if len(steps) < policy.LOOPS_LEAST:
        return None
    arrays, scalars = leaf_layout(path)
    rows = rows_of_leaves(arrays, steps, avals, {*live, *donatable})
    steps = [s for s in steps if s.first not in rows]
    tokens = [(_kind(s.closure), *(avals[i] for i in s.inputs)) for s in steps]
    loops = find_loops(tokens, policy.LONGEST_ITERATION, policy.LEAST_ITERATIONS)
    if sum(loop.stop - loop.start for loop in loops) < policy.LOOPS_SHARE * len(steps):
        return None
    analysis = Analysis(arrays, scalars, steps, avals, live, donatable, rows)
    for loop in loops:
        analysis.add(loop)
    if analysis.layered and len(steps) <= policy.MAX_LAYERS:
        return None
    single = len(steps) - sum(f.loop.stop - f.loop.start for f in analysis.loops)
    dear = policy.compile_seconds(single) > policy.DEAR_COMPILE_SECONDS
    if dear or single > (1 - policy.LOOPS_SHARE) * len(steps):
        return None
    return _Writer(analysis).written(node, key)


def _kind(closure: Closure) -> Closure:
    """What the iterations of a loop must have in common."""
    dynamic = closure.dynamic_form
    return closure if dynamic is None else dynamic.closure


class _Writer:
    """Writes the template: gives values and stacks their numbers."""

    def __init__(self, analysis: Analysis):
        self.analysis = analysis
        self.buffered = analysis.requests()
        self.segments: list[Segment] = []
        self.values: dict[int, int] = {}  # by id
        self.count = 0
        self.stacks: dict[SavedOutputs | PackedInputs | SequenceLeaf, int] = {}
        self.leaves: list[tuple[int, int]] = []  # values and slots
        self.bundles: list[tuple[Bundle, list[int] | SequenceLeaf]] = []
        self.counts = [summary.loop.iterations for summary in analysis.loops]
        #: By dtype: (value, place) of single scalars, (stack, loop, places) of those of loops.
        self.singles: defaultdict[np.dtype, list[tuple[int, int]]] = defaultdict(list)
        self.streams: defaultdict[np.dtype, list[tuple[int, int, np.ndarray]]] = defaultdict(list)
        self.numbers: list[tuple[int | None, np.ndarray]] = []

    def new(self, i: int) -> int:
        self.values[i] = self.count
        self.count += 1
        return self.count - 1

    def value(self, i: int) -> int:
        """The number of a value, which is new if it is a leaf not read before."""
        i = int(i)
        found = self.values.get(i)
        if found is not None:
            return found
        assert i < 0, "an output is read before it is made"
        slot, number = ~i, self.new(i)
        if slot in self.analysis.rows:
            row = self.analysis.rows[slot]
            self.number(None, [row.number])
            self.segments.append(Load(number, self.stack(SequenceLeaf(row.slot, row.axis))))
            return number
        if slot in self.analysis.array_place:
            self.leaves.append((number, slot))
        else:
            dtype, place = self.analysis.scalar_place[slot]
            self.singles[dtype].append((number, place))
        return number

    def stack(self, which: SavedOutputs | PackedInputs | SequenceLeaf) -> int:
        found = self.stacks.get(which)
        if found is None:
            found = self.stacks[which] = len(self.stacks)
            if isinstance(which, SequenceLeaf):
                aval = self.analysis.avals[which.slot]
                shape = aval.shape[: which.axis] + aval.shape[which.axis + 1 :]
                row = Aval.of(shape, aval.dtype)
                self.bundles.append((Bundle(found, len(self.counts), row, True), which))
                self.counts.append(aval.shape[which.axis])
        return found

    def number(self, loop: int | None, numbers: Sequence[int]) -> None:
        self.numbers.append((loop, np.array(numbers, np.int32)))

    def single(self, steps: Iterable[Step | Node]) -> None:
        ids = self.analysis.ids
        for step in steps:
            inputs = tuple([self.value(ids[slot]) for slot in step.inputs])
            closure, dynamic = step.closure, step.closure.dynamic_form
            if dynamic is not None and dynamic.costs_nothing and max(dynamic.numbers) > 0:
                # It may be the length of the loop that is read here.
                closure, place = dynamic.closure, dynamic.place % (len(inputs) + 1)
                inputs = (*inputs[:place], *map(self.given, dynamic.numbers), *inputs[place:])
            first = self.count
            for slot in range(step.first, step.end):
                self.new(int(ids[slot]))
            self.segments.append(Step(closure, inputs, first, self.count))

    def given(self, number: int) -> int:
        """A value that is a number of the argument."""
        self.number(None, [number])
        self.segments.append(Given(self.count))
        self.count += 1
        return self.count - 1

    def iterations(self, number: int, summary: LoopSummary) -> None:
        def start_of(output: int, ago: int) -> tuple[int | None, Aval]:
            start = summary.starts.get((output, ago))
            aval = self.analysis.aval(summary.base + output)
            return None if start is None else self.value(start), aval

        streams = []
        made = []
        for read in summary.reads:
            if isinstance(read.stack, PackedInputs) and read.rows is None:
                made.append(read.stack)
            stack = None if read.stack is None else self.stack(read.stack)
            streams.append(Stream(stack, read.rows is not None))
        for stack in made:
            self._make(number, stack)
        invariants = tuple(map(self.value, summary.invariants))
        # What is read of earlier iterations, then what is only wanted of the last one.
        carried: list[tuple[int, int]] = list(summary.starts)
        carried += [(q, 1) for q in sorted(summary.finals) if (q, 1) not in summary.starts]
        place = {which: len(invariants) + i for i, which in enumerate(carried)}
        streams_from = len(invariants) + len(carried)
        outputs_from = streams_from + len(streams)
        carries, given = [], []
        for output, ago in carried:
            carries.append(Carry(*start_of(output, ago)))
            given.append(outputs_from + output if ago == 1 else place[output, ago - 1])
        saves = []
        for output in sorted(summary.saves):
            stack = self.stack(SavedOutputs(number, output))
            saves.append(Save(stack, *start_of(output, 1)))
            given.append(outputs_from + output)
        local = {
            "invariant": lambda i: i,
            "carry": place.__getitem__,
            "stream": lambda i: streams_from + i,
            "output": lambda i: outputs_from + i,
        }
        steps = self._body(summary, [local[kind](i) for kind, i in summary.columns], outputs_from)
        body = Steps(outputs_from, steps, tuple(given))
        first = self.count
        for output, ago in carried:
            if ago == 1:
                self.values[
                    summary.base + (summary.loop.iterations - 1) * summary.outputs + output
                ] = self.count
            self.count += 1
        self.number(None, [summary.loop.iterations])
        for read in summary.reads:
            if read.rows is not None:
                self.number(number, read.rows)
        self.segments.append(
            Loop(number, body, invariants, tuple(carries), tuple(streams), tuple(saves), first)
        )
        self._load(number, summary)

    def _body(self, summary: LoopSummary, read: list[int], first: int) -> tuple[Step, ...]:
        """The instructions of an iteration; their outputs are numbered from `first` on."""
        numbers = iter(read)
        body = []
        start = summary.loop.start
        steps = self.analysis.steps[start : start + summary.loop.period]
        for step, closure, width in zip(steps, summary.closures, summary.widths, strict=True):
            inputs = tuple([next(numbers) for _ in range(width)])
            end = first + step.end - step.first
            body.append(Step(closure, inputs, first, end))
            first = end
        return tuple(body)

    def _make(self, number: int, made: PackedInputs) -> None:
        """A stack of leaves, of scalars, or of what was computed before."""
        analysis, stack = self.analysis, self.stack(made)
        slots = [~i for i in made.ids]
        if all(slot in analysis.array_place for slot in slots):
            self.bundles.append((Bundle(stack, number, analysis.aval(made.ids[0])), slots))
        elif all(slot in analysis.scalar_place for slot in slots):
            dtype = analysis.scalar_place[slots[0]][0]
            places = np.array([analysis.scalar_place[slot][1] for slot in slots])
            self.streams[dtype].append((stack, number, places))
        else:
            self.segments.append(Pack(stack, tuple(map(self.value, made.ids))))

    def _load(self, number: int, summary: LoopSummary) -> None:
        """Take out of what a loop saved what is read outside loops."""
        for output in sorted(summary.rows):
            stack = self.stack(SavedOutputs(number, output))
            ids = {t: summary.base + t * summary.outputs + output for t in summary.rows[output]}
            if len(ids) > policy.FEW_ROWS:
                last = max(ids)
                self.segments.append(Unpack(self.count, stack, last + 1))
                for iteration in range(last + 1):
                    i = ids.get(iteration)
                    if i is None or i in self.values:
                        self.count += 1
                    else:
                        self.new(i)
                continue
            for iteration in sorted(ids):
                self.number(None, [iteration + 1])
                self.segments.append(Load(self.new(ids[iteration]), stack))

    def written(self, node: Node, key: tuple) -> LoopProgram:
        analysis = self.analysis
        rest = 0
        for number, summary in enumerate(analysis.loops):
            self.single(analysis.steps[rest : summary.loop.start])
            self.iterations(number, summary)
            rest = summary.loop.stop
        self.single(analysis.steps[rest:])
        outputs, buffers, places = self._outputs()
        scalars, scalar_places = [], []
        for dtype in dict.fromkeys([*self.singles, *self.streams]):
            singles, streams = self.singles[dtype], self.streams[dtype]
            values = tuple([value for value, _ in singles])
            scalars.append(Scalars(dtype.name, values, tuple([s[:2] for s in streams])))
            single = np.array([place for _, place in singles], np.intp)
            scalar_places.append((dtype, single, [s[1:] for s in streams]))
        template = Template(
            tuple(self.segments),
            tuple([(value, analysis.avals[slot]) for value, slot in self.leaves]),
            tuple([bundle for bundle, _ in self.bundles]),
            tuple(scalars),
            outputs,
            buffers,
        )
        at = analysis.array_place
        bundles: list[tuple[int, list[int] | int, int]] = [
            (bundle.loop, at[which.slot], which.axis)
            if isinstance(which, SequenceLeaf)
            else (bundle.loop, [at[slot] for slot in which], 0)
            for bundle, which in self.bundles
        ]
        leaves = [at[slot] for _, slot in self.leaves]
        recipe = _Recipe(leaves, bundles, scalar_places, self.numbers, places)
        counts, donate = tuple(self.counts), self._donate(places)
        return LoopProgram(node, key, template, counts, donate, recipe, analysis.layered)

    def _outputs(
        self,
    ) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int | None, int]]]:
        """The values and the stacks that the template gives, and for each live output the stack and
        the iteration, or None and which value."""
        outputs: list[int] = []
        buffers: dict[int, int] = {}
        places: list[tuple[int | None, int]] = []
        for slot in self.analysis.live:
            i = self.analysis.ids[slot]
            number, iteration, output = self.analysis.iteration_of(i) or (-1, -1, -1)
            if (number, output) in self.buffered:
                stack = self.stack(SavedOutputs(number, output))
                places.append((buffers.setdefault(stack, len(buffers)), iteration))
                continue
            places.append((None, len(outputs)))
            outputs.append(self.value(i))
        return tuple(outputs), tuple(buffers), places

    def _donate(self, places: list[tuple[int | None, int]]) -> tuple[int, ...]:
        """Leaves of overwritten variables, each matched with an output of its shape and dtype."""
        avals = self.analysis.avals
        room = [
            avals[slot]
            for slot, (buffer, _) in zip(self.analysis.live, places, strict=True)
            if buffer is None
        ]
        slots = enumerate(slot for _, slot in self.leaves)
        donatable = [(i, avals[x]) for i, x in slots if x in self.analysis.donatable]
        return matched(donatable, room)

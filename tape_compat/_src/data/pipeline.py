"""Pipelines, which describe what elements a dataset has, and streams, which give them.

A `Pipeline` is a step over others: it knows the specs and the number of its elements, and `open`
begins a run over them. A `Stream` is one run: `next` gives an element, `rows` several at once,
stacked. Where elements are rows of arrays that are at hand, a pipeline has a `Selection`: it then
says by numbers which rows it gives (`chunks`), so that shuffles move numbers and a batch is one
indexing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..composites.ragged import RaggedTensorSpec
from ..core import errors
from ..core.errors import user_location
from ..values.composite import TypeSpec
from .composites import stack_leaf, stacked_rows
from .structure import Element, Layout, array_of

AUTOTUNE = -1
#: Cardinalities of datasets without an end, and of those whose number of elements is not known.
INFINITE = -1
UNKNOWN = -2

#: Several elements, stacked: how many they are, and for each leaf an array.
Rows = tuple[int, tuple[Any, ...]]
#: Numbers of rows.
Chunk = range | np.ndarray


def refused(message: str) -> errors.InvalidArgumentError:
    """The error for what a dataset cannot do, with the line of the user's."""
    return errors.InvalidArgumentError(None, None, f"{message} (at {user_location()})")


class Stream:
    """One run over a pipeline. After an error of one element the next is given, as in TensorFlow.

    unseen: whether nobody can tell if elements are made earlier than they are asked for. lost: how
    many elements the call of `rows` took that raised last, the one that failed among them. No
    stream holds itself: a run that is let go gives up the data it reads at once.
    """

    __slots__ = ("__weakref__", "lost")
    unseen = False
    lost: int

    def step(self) -> Element:
        """The next element, or StopIteration."""
        raise NotImplementedError(f"{type(self).__name__}.step")

    def skip(self, count: int) -> int:
        """Leave out the next elements, and say how many there were. Where nobody can tell, they are
        not made."""
        for done in range(count):
            try:
                self.step()
            except StopIteration:
                return done
        return count

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        return self.step()

    def elements(self, count: int) -> list[Element]:
        """The next elements: `count`, or fewer at the end."""
        found: list[Element] = []
        try:
            while len(found) < count:
                found.append(self.step())
        except StopIteration:
            pass
        except Exception:
            self.lost = len(found) + 1
            raise
        self.lost = len(found)  # if they cannot be stacked
        return found

    def rows(self, count: int) -> Rows | None:
        """The next elements, stacked: `count`, or fewer at the end. None if there is none."""
        found = self.elements(count)
        return (len(found), stacked(found)) if found else None


class StreamOf(Stream):
    """A stream of what a function gives. leave_out: what `skip` calls, if it is not `step`."""

    __slots__ = ("_leave_out", "step")

    def __init__(
        self, step: Callable[[], Element], leave_out: Callable[[int], int] | None = None
    ) -> None:
        self.step, self._leave_out = step, leave_out

    def skip(self, count: int) -> int:
        return super().skip(count) if self._leave_out is None else self._leave_out(count)


def passed(source: Stream, count: int) -> None:
    """Leave out the next elements of a run, whether they can be made or not."""
    for _ in range(count):
        try:
            source.step()
        except StopIteration:
            return
        except Exception:
            continue


def stacked(elements: list[Element]) -> tuple[Any, ...]:
    """For each leaf the array of its values in all elements.

    Raises: InvalidArgumentError if shapes differ.
    """
    return tuple([stack_leaf(column, place) for place, column in enumerate(zip(*elements))])


def joined_rows(parts: list[Rows]) -> Rows | None:
    """Stacked elements, one part after the other; None if there is none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    columns = zip(*[columns for _, columns in parts])
    joined = [None if c[0] is None else np.concatenate(list(map(array_of, c))) for c in columns]
    return sum(count for count, _ in parts), tuple(joined)


def stacked_by(specs: Sequence[TypeSpec], elements: list[Element]) -> tuple[Any, ...]:
    """`stacked`, where specs say which leaves become ragged."""
    return tuple(
        [
            stacked_rows(column, spec)
            if isinstance(spec, RaggedTensorSpec)
            else stack_leaf(column, place)
            for place, (spec, column) in enumerate(zip(specs, zip(*elements), strict=True))
        ]
    )


class Selection:
    """Rows of arrays that are at hand.

    row: the element of a number. take: the stacked rows of several numbers.
    """

    __slots__ = ("row", "take")

    def __init__(
        self, row: Callable[[int], Element], take: Callable[[Chunk], tuple[Any, ...]]
    ) -> None:
        self.row, self.take = row, take


def join_chunks(parts: list[Chunk]) -> Chunk:
    """Numbers of rows, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.asarray(part, np.int64) for part in parts])


class Numbers:
    """The numbers of rows of a pipeline, in pieces of the size asked for."""

    __slots__ = ("_at", "_chunk", "_chunks")

    def __init__(self, chunks: Iterator[Chunk]):
        self._chunks = chunks
        self._chunk: Chunk = range(0)
        self._at = 0

    def next(self) -> int:
        """The next number. Raises StopIteration at the end."""
        while self._at >= len(self._chunk):
            self._chunk, self._at = next(self._chunks), 0
        self._at += 1
        return self._chunk[self._at - 1]

    def take(self, count: int) -> Chunk | None:
        """The next `count` numbers, fewer at the end; None if there is none."""
        parts: list[Chunk] = []
        while count > 0:
            left = len(self._chunk) - self._at
            if not left:
                found = next(self._chunks, None)
                if found is None:
                    break
                self._chunk, self._at = found, 0
                continue
            size = min(left, count)
            parts.append(self._chunk[self._at : self._at + size])
            self._at += size
            count -= size
        return join_chunks(parts) if parts else None


class Draws:
    """How far the draws of functions have come in one iterator, at one place of its pipelines.

    A pipeline that stands at several places draws at each of them by itself; opened once more at
    its place, as by `repeat`, it goes on. counts: of the function that stands there, if there is
    one, and of those made in its runs.
    """

    __slots__ = ("_parts", "counts")

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}
        self._parts: dict[Any, Draws] = {}

    def of(self, part: Any) -> Draws:
        """Those of an input, by its number, or of another function that stands there."""
        return self._parts.setdefault(part, Draws())


class IndexStream(Stream):
    """A stream over a selection."""

    __slots__ = ("_numbers", "_selection")
    unseen = True

    def __init__(self, selection: Selection, chunks: Iterator[Chunk]):
        self._selection = selection
        self._numbers = Numbers(chunks)

    def step(self) -> Element:
        return self._selection.row(self._numbers.next())

    def rows(self, count: int) -> Rows | None:
        numbers = self._numbers.take(count)
        return None if numbers is None else (len(numbers), self._selection.take(numbers))

    def skip(self, count: int) -> int:
        numbers = self._numbers.take(count)
        return 0 if numbers is None else len(numbers)


class Pipeline:
    """What a dataset gives. A subclass defines `_spec`, `size` and `_open` or `chunks`.

    name: of the class that TensorFlow has for it. inputs: the pipelines that it is made from.
    """

    name = "Dataset"
    #: What stands before that name.
    shown = "_"
    #: The seeds of its runs, if it draws random numbers.
    _seeds: Any = None

    def __init__(self, *inputs: Pipeline):
        self.inputs = inputs

    def of_calls(self, parallel: Any) -> Self:
        """Itself, by the name for `num_parallel_calls`, None where they are not given."""
        if parallel is not None:
            self.name = f"Parallel{self.name}"
        return self

    @cached_property
    def spec(self) -> Any:
        """The specs of the elements."""
        return self._spec()

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.spec)

    def _spec(self) -> Any:
        return self.inputs[0].spec

    def spec_is_known(self) -> bool:
        """Whether the specs are known before a run: not of what cannot be recorded."""
        return all(each.spec_is_known() for each in self.inputs)

    def size(self) -> int:
        """How many elements there are; INFINITE or UNKNOWN."""
        return self.inputs[0].size()

    @cached_property
    def selection(self) -> Selection | None:
        """The rows that it chooses from, if there are such."""
        return self._selection()

    def _selection(self) -> Selection | None:
        return None

    def chunks(self) -> Iterator[Chunk]:
        """The numbers of its rows in its selection, in order."""
        raise NotImplementedError(f"{type(self).__name__}.chunks")

    def open(self, draws: Draws) -> Stream:
        """Begin a run over the elements."""
        if self.selection is not None:
            return IndexStream(self.selection, self.chunks())
        return self._open(draws)

    def _open(self, draws: Draws) -> Stream:
        raise NotImplementedError(f"{type(self).__name__}._open")

    def positions(self) -> list[tuple[int, ...]]:
        """Which seeds its next run takes, and those of its inputs."""
        own = [] if self._seeds is None else [self._seeds.position]
        return own + [found for each in self.inputs for found in each.positions()]

    def put_back(self, positions: Iterator[tuple[int, ...]]) -> None:
        """Let the next run take the seeds that `positions` told."""
        if self._seeds is not None:
            self._seeds.position = next(positions)
        for each in self.inputs:
            each.put_back(positions)


class SameRows(Pipeline):
    """A pipeline over one input that chooses among its rows, if it has such."""

    def _selection(self) -> Selection | None:
        return self.inputs[0].selection

    def chunks(self) -> Iterator[Chunk]:
        # The run of the input begins now, with its random numbers, not with the first element.
        return self.chosen(self.inputs[0].chunks())

    def chosen(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Which of the input's rows it gives, in order."""
        raise NotImplementedError(f"{type(self).__name__}.chosen")

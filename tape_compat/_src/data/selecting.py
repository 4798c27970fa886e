"""Which elements, and in which order: shuffle, repeat, take, skip, shard."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.philox_host import Words, swap
from .pipeline import INFINITE, UNKNOWN, Chunk, Draws, Numbers, Pipeline, SameRows, Stream, StreamOf
from .structure import Element

#: How many elements a shuffle gives at once.
AT_ONCE = 1024


class Seeds:
    """Seeds of the runs over one pipeline: other ones for each, two words of a generator, or always
    those that it is given."""

    def __init__(self, pair: tuple[int, int], again: bool):
        self._pair, self._run, self._again = pair, 0, again

    def words(self) -> Iterator[int]:
        """Random words for the next run."""
        if not self._again:
            return Words(*self._pair).each()
        words = Words(*self._pair, self._run // 2).take(1)
        first = 2 * (self._run % 2)
        self._run += 1
        return Words(*words[first : first + 2].tolist()).each()

    def generator(self) -> np.random.Generator:
        """NumPy's generator for the next run."""
        return np.random.Generator(np.random.SFC64(list(itertools.islice(self.words(), 4))))

    @property
    def position(self) -> tuple[int, int, int]:
        """What tells the seeds of the next run, and of those after it."""
        return *self._pair, self._run

    @position.setter
    def position(self, position: tuple[int, int, int]) -> None:
        key, upper, self._run = position
        self._pair = key, upper


class Shuffle(SameRows):
    """The elements in random order, drawn from a buffer. size None: all of them."""

    name = "ShuffleDataset"

    def __init__(self, source: Pipeline, buffer: int | None, seeds: Seeds):
        super().__init__(source)
        self._buffer, self._seeds = buffer, seeds

    def chunks(self) -> Iterator[Chunk]:
        return self._drawn(self._seeds.words())

    def _drawn(self, words: Iterator[int]) -> Iterator[Chunk]:
        # As in TensorFlow, the run of the input begins with the first element.
        numbers, size = Numbers(self.inputs[0].chunks()), self._buffer
        if size is None:
            size = max(self.inputs[0].size(), 1)
        found = numbers.take(size)
        if found is None:
            return
        held = np.asarray(found).tolist()
        start = 0
        after = numbers.take(AT_ONCE) if len(held) == size else None
        while after is not None:
            out = []
            for new, word in zip(np.asarray(after).tolist(), words):
                place = (start + word % size) % size
                out.append(held[place])
                held[place], held[start] = held[start], new
                start = (start + 1) % size
            yield np.array(out, np.int64)
            after = numbers.take(AT_ONCE)
        order = np.array(held[start:] + held[:start], np.int64)
        swap(order, np.fromiter(words, np.uint32, len(order)))
        yield order

    def _open(self, draws: Draws) -> Stream:
        words = self._seeds.words()
        source: Stream | None = None
        #: The elements, from `start` on in a circle; None where there is none.
        held: list[Element | None] = []
        size = self._buffer or sys.maxsize
        ended = False
        start = count = 0

        def fill() -> None:
            nonlocal ended, count, source
            if source is None:
                source = self.inputs[0].open(draws.of(0))
            while not ended and count < size:
                try:
                    element = source.step()
                except StopIteration:
                    ended = True
                    return
                if len(held) == size:
                    held[(start + count) % size] = element
                else:
                    held.append(element)
                count += 1

        def step() -> Element:
            nonlocal start, count
            fill()
            if not count:
                raise StopIteration
            place = (start + next(words) % count) % len(held)
            found, held[place], held[start] = held[place], held[start], None
            start = (start + 1) % len(held)
            count -= 1
            assert found is not None
            return found

        return StreamOf(step)


class Repeat(SameRows):
    """The elements several times over; without end if count is negative."""

    name = "RepeatDataset"

    def __init__(self, source: Pipeline, count: int):
        super().__init__(source)
        self._count = count

    def size(self) -> int:
        size = self.inputs[0].size()
        if self._count == 0 or size == 0:
            return 0
        if self._count < 0:
            return INFINITE
        return size if size < 0 else size * self._count

    def _times(self) -> Any:
        return itertools.count() if self._count < 0 else range(self._count)

    def chunks(self) -> Iterator[Chunk]:
        # The first run of the input begins at once.
        return self._repeated(self.inputs[0].chunks() if self._count else None)

    def _repeated(self, first: Iterator[Chunk] | None) -> Iterator[Chunk]:
        for _ in self._times():
            empty = True
            for chunk in first or self.inputs[0].chunks():
                empty = empty and not len(chunk)
                yield chunk
            first = None
            if empty and self._count < 0:
                return

    def _open(self, draws: Draws) -> Stream:
        times = iter(self._times())
        current: Stream | None = None
        given = True
        if self._count:
            next(times)
            current, given = self.inputs[0].open(draws.of(0)), False

        def step() -> Element:
            nonlocal current, given
            while True:
                if current is None:
                    if not given and self._count < 0:
                        raise StopIteration
                    next(times)
                    current, given = self.inputs[0].open(draws.of(0)), False
                try:
                    found = current.step()
                    given = True
                    return found
                except StopIteration:
                    current = None

        def leave_out(count: int) -> int:
            nonlocal current, given
            left = count
            while left:
                if current is None:
                    try:
                        step()
                    except StopIteration:
                        break
                    left -= 1
                    continue
                done = current.skip(left)
                given = given or done > 0
                current = current if done == left else None
                left -= done
            return count - left

        return StreamOf(step, leave_out)


class Take(SameRows):
    """The first elements; all if count is negative."""

    name = "TakeDataset"

    def __init__(self, source: Pipeline, count: int):
        super().__init__(source)
        self._count = count

    def size(self) -> int:
        size = self.inputs[0].size()
        if self._count < 0:
            return size
        if size == UNKNOWN:
            return UNKNOWN
        return self._count if size == INFINITE else min(size, self._count)

    def chunks(self) -> Iterator[Chunk]:
        return super().chunks() if self._count else iter(())

    def chosen(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        left = self._count
        if left < 0:
            yield from chunks
        while left > 0:
            chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk[:left]
            left -= len(chunk)

    def _open(self, draws: Draws) -> Stream:
        if not self._count:
            return StreamOf(iter(()).__next__)
        source, left = self.inputs[0].open(draws.of(0)), self._count
        if left < 0:
            return source

        def step() -> Element:
            nonlocal left
            if left <= 0:
                raise StopIteration
            found = source.step()
            left -= 1
            return found

        def leave_out(count: int) -> int:
            nonlocal left
            done = source.skip(min(count, left)) if left > 0 else 0
            left -= done
            return done

        return StreamOf(step, leave_out)


class Skip(SameRows):
    """All but the first elements; none if count is negative."""

    name = "SkipDataset"

    def __init__(self, source: Pipeline, count: int):
        super().__init__(source)
        self._count = count

    def size(self) -> int:
        size = self.inputs[0].size()
        if size < 0:
            return size
        return 0 if self._count < 0 else max(0, size - self._count)

    def chosen(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        left = self._count
        if left < 0:
            return
        for chunk in chunks:
            yield chunk[left:]
            left = max(0, left - len(chunk))

    def _open(self, draws: Draws) -> Stream:
        source, left = self.inputs[0].open(draws.of(0)), self._count

        def step() -> Element:
            nonlocal left
            if left < 0:
                raise StopIteration
            for _ in range(left):  # all of them again after one that cannot be made
                source.step()
            left = 0
            return source.step()

        return StreamOf(step)


class Shard(SameRows):
    """Every `num_shards`-th element, beginning with number `index`."""

    name = "ShardDataset"

    def __init__(self, source: Pipeline, num_shards: int, index: int):
        super().__init__(source)
        self._num_shards, self._index = num_shards, index

    def size(self) -> int:
        size = self.inputs[0].size()
        return size if size < 0 else len(range(self._index, size, self._num_shards))

    def chosen(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        first = self._index
        for chunk in chunks:
            yield chunk[first :: self._num_shards]
            first = (first - len(chunk)) % self._num_shards

    def _open(self, draws: Draws) -> Stream:
        source, skipped = self.inputs[0].open(draws.of(0)), self._index

        def step() -> Element:
            nonlocal skipped
            for _ in range(skipped):
                source.step()
            skipped = 0
            found = source.step()
            skipped = self._num_shards - 1
            return found

        return StreamOf(step)

"""Which elements, and in which order: shuffle, repeat, take, skip, shard."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .pipeline import INFINITE, UNKNOWN, Chunk, Numbers, Pipeline, SameRows, Stream
from .structure import Element

#: How many random numbers a shuffle draws at once.
DRAWS = 1024


class Seeds:
    """Seeds of the runs over one pipeline: another one for each, or always the first."""

    def __init__(self, start: int, again: bool):
        self._start, self._run, self._again = start, 0, again

    def generator(self) -> np.random.Generator:
        """Random numbers for the next run."""
        seed = np.random.SeedSequence([self._start, self._run])
        self._run += self._again
        return np.random.Generator(np.random.SFC64(seed))

    @property
    def position(self) -> tuple[int, int]:
        """What tells the seed of the next run, and of those after it."""
        return self._start, self._run

    @position.setter
    def position(self, position: tuple[int, int]) -> None:
        self._start, self._run = position


class Shuffle(SameRows):
    """The elements in random order, drawn from a buffer. size None: all of them."""

    name = "ShuffleDataset"

    def __init__(self, source: Pipeline, buffer: int | None, seeds: Seeds):
        super().__init__(source)
        self._buffer, self._seeds = buffer, seeds

    def chunks(self) -> Iterator[Chunk]:
        numbers, random = Numbers(self.inputs[0].chunks()), self._seeds.generator()
        buffer = self._buffer
        if buffer is None:
            buffer = max(self.inputs[0].size(), 1)
        found = numbers.take(buffer)
        if found is None:
            return
        after = numbers.take(DRAWS) if len(found) == buffer else None
        if after is None:
            yield random.permutation(np.asarray(found))
            return
        held = np.asarray(found).tolist()
        while after is not None:
            out = []
            for place, new in zip(random.integers(0, buffer, len(after)).tolist(), after):
                out.append(held[place])
                held[place] = int(new)
            yield np.array(out, np.int64)
            after = numbers.take(DRAWS)
        yield random.permutation(np.array(held, np.int64))

    def _open(self) -> Stream:
        source, random = self.inputs[0].open(), self._seeds.generator()
        held: list[Element] = []
        places: list[int] = []
        size = self._buffer
        ended = False

        def fill() -> None:
            nonlocal ended
            while not ended and (size is None or len(held) < size):
                try:
                    held.append(source.step())
                except StopIteration:
                    ended = True

        def step() -> Element:
            fill()
            if not held:
                raise StopIteration
            if ended:
                return _drawn(held, int(random.integers(0, len(held))))
            if not places:
                places.extend(random.integers(0, len(held), DRAWS).tolist())
            return _drawn(held, places.pop())

        return Stream(step)


def _drawn(held: list[Element], place: int) -> Element:
    """Take an element out of those held, the last of which comes to its place."""
    last = held.pop()
    if place == len(held):
        return last
    found, held[place] = held[place], last
    return found


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
        for _ in self._times():
            empty = True
            for chunk in self.inputs[0].chunks():
                empty = empty and not len(chunk)
                yield chunk
            if empty and self._count < 0:
                return

    def _open(self) -> Stream:
        times = iter(self._times())
        current: Stream | None = None
        given = True

        def step() -> Element:
            nonlocal current, given
            while True:
                if current is None:
                    if not given and self._count < 0:
                        raise StopIteration
                    next(times)
                    current, given = self.inputs[0].open(), False
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

        return Stream(step, leave_out)


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
        left = self._count
        if left < 0:
            yield from self.inputs[0].chunks()
            return
        chunks = self.inputs[0].chunks()
        while left > 0:
            chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk[:left]
            left -= len(chunk)

    def _open(self) -> Stream:
        source, left = self.inputs[0].open(), self._count
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

        return Stream(step, leave_out)


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

    def chunks(self) -> Iterator[Chunk]:
        left = self._count
        if left < 0:
            return
        for chunk in self.inputs[0].chunks():
            yield chunk[left:]
            left = max(0, left - len(chunk))

    def _open(self) -> Stream:
        source, left = self.inputs[0].open(), self._count

        def step() -> Element:
            nonlocal left
            if left < 0:
                raise StopIteration
            while left:
                left -= 1
                source.step()
            return source.step()

        return Stream(step)


class Shard(SameRows):
    """Every `num_shards`-th element, beginning with number `index`."""

    name = "ShardDataset"

    def __init__(self, source: Pipeline, num_shards: int, index: int):
        super().__init__(source)
        self._num_shards, self._index = num_shards, index

    def size(self) -> int:
        size = self.inputs[0].size()
        return size if size < 0 else len(range(self._index, size, self._num_shards))

    def chunks(self) -> Iterator[Chunk]:
        first = self._index
        for chunk in self.inputs[0].chunks():
            yield chunk[first :: self._num_shards]
            first = (first - len(chunk)) % self._num_shards

    def _open(self) -> Stream:
        source, skipped = self.inputs[0].open(), self._index

        def step() -> Element:
            nonlocal skipped
            for _ in range(skipped):
                source.step()
            skipped = 0
            found = source.step()
            skipped = self._num_shards - 1
            return found

        return Stream(step)

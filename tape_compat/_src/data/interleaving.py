"""Elements of several datasets by turns: interleave, choose_from_datasets, sample_from_datasets."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..ops.philox_host import stateless_shares
from ..values.spec import TensorSpec
from .combining import common_spec
from .mapping import Applied, FlatMap, opened
from .pipeline import AUTOTUNE, INFINITE, UNKNOWN, Draws, Pipeline, Stream, StreamOf
from .selecting import Seeds
from .structure import Element, array_of

#: How many choices are drawn at once.
_AT_ONCE = 64


class Interleave(FlatMap):
    """Blocks of the datasets that a function gives, several of which are open at a time."""

    name = "InterleaveDataset"

    def __init__(
        self,
        source: Pipeline,
        function: Callable[..., Any],
        cycle_length: int,
        block_length: int,
        title: str,
    ):
        super().__init__(source, function, title)
        self._cycle = (os.cpu_count() or 1) if cycle_length == AUTOTUNE else cycle_length
        self._block = block_length

    def _open(self, draws: Draws) -> Stream:
        source, applied = self.inputs[0].open(draws.of(0)), Applied(self.function, draws)
        cycle: list[Stream | None] = [None] * self._cycle
        place = given = 0
        ended = False

        def advance() -> None:
            nonlocal place, given
            place, given = (place + 1) % len(cycle), 0

        def step() -> Element:
            nonlocal given, ended
            while True:
                stream = cycle[place]
                if stream is None:
                    if ended and not any(cycle):
                        raise StopIteration
                    if ended:
                        advance()
                        continue
                    element = next(source, None)
                    ended = element is None
                    if element is not None:
                        cycle[place] = opened(applied, element)
                    continue
                try:
                    found = stream.step()
                except StopIteration:
                    cycle[place] = None
                    advance()
                    continue
                given += 1
                if given == self._block:
                    advance()
                return found

        return StreamOf(step)


class _Directed(Pipeline):
    """Elements of the inputs, one after the other as `_choices` says."""

    name = "DirectedInterleaveDataset"

    def __init__(self, inputs: list[Pipeline], stop_on_empty: bool):
        super().__init__(*inputs)
        self._stop = stop_on_empty
        self._common = common_spec(inputs)

    def _spec(self) -> Any:
        return self._common

    def _choices(self, draws: Draws) -> Callable[[list[bool]], int]:
        """A function of which inputs have ended, which gives the next input."""
        raise NotImplementedError(f"{type(self).__name__}._choices")

    def _sources(self) -> list[Pipeline]:
        return list(self.inputs)

    def size(self) -> int:
        sizes = [each.size() for each in self._sources()]
        return INFINITE if INFINITE in sizes else UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        sources = [each.open(draws.of(i)) for i, each in enumerate(self._sources())]
        choose = self._choices(draws)
        ended = [False] * len(sources)

        def step() -> Element:
            while not all(ended):
                place = choose(ended)
                if ended[place]:
                    continue
                try:
                    return sources[place].step()
                except StopIteration:
                    ended[place] = True
                    if self._stop:
                        ended[:] = [True] * len(ended)
            raise StopIteration

        return StreamOf(step)


class Choose(_Directed):
    """Elements of the inputs, as a dataset of their numbers says."""

    def __init__(self, inputs: list[Pipeline], choice: Pipeline, stop_on_empty: bool):
        super().__init__(inputs, stop_on_empty)
        self.inputs = (*inputs, choice)

    def _sources(self) -> list[Pipeline]:
        return list(self.inputs[:-1])

    def _choices(self, draws: Draws) -> Callable[[list[bool]], int]:
        numbers, count = self.inputs[-1].open(draws.of(-1)), len(self.inputs) - 1

        def choose(ended: list[bool]) -> int:
            place = int(array_of(numbers.step()[0]))
            if not 0 <= place < count:
                raise errors.InvalidArgumentError(
                    None, None, f"Selector index out of range: {place} >= {count}"
                )
            return place

        return choose


class Sample(_Directed):
    """Elements of the inputs, drawn at random. weights: of each input, or those of each draw."""

    def __init__(
        self,
        inputs: list[Pipeline],
        weights: np.ndarray | Pipeline,
        seeds: Seeds,
        stop_on_empty: bool,
    ):
        super().__init__(inputs, stop_on_empty)
        self._weights, self._seeds = weights, seeds
        self._count = len(inputs)
        if isinstance(weights, Pipeline):
            self.inputs = (*inputs, weights)

    def _sources(self) -> list[Pipeline]:
        return list(self.inputs[: self._count])

    def _choices(self, draws: Draws) -> Callable[[list[bool]], int]:
        if isinstance(self._weights, Pipeline):
            return self._by_each(self._weights.open(draws.of("weights")))
        weights, chosen = self._weights, self._chosen(self._weights)

        def choose(ended: list[bool]) -> int:
            if not weights[~np.array(ended)].any():  # those that are left have no weight
                ended[:] = [True] * len(ended)
                return 0
            return next(place for place in chosen if not ended[place])

        return choose

    def _by_each(self, weights: Stream) -> Callable[[list[bool]], int]:
        """Inputs by the weights of each draw."""
        shares = self._shares()
        count = self._count

        def choose(ended: list[bool]) -> int:
            given = np.maximum(array_of(weights.step()[0]).astype(np.float64), 0.0)
            if given.shape != (count,):
                raise errors.InvalidArgumentError(
                    None, None, f"There are {count} datasets and weights of {given.shape}."
                )
            return _places(given, np.array([next(shares)]))[0]

        return choose

    def _chosen(self, weights: np.ndarray) -> Iterator[int]:
        """Which input comes next, whether it has ended or not."""
        shares = self._shares()
        while True:
            yield from _places(weights, np.array(list(itertools.islice(shares, _AT_ONCE))))

    def _shares(self) -> Iterator[float]:
        """Uniform numbers, of two words each."""
        words = self._seeds.words()
        while True:
            seeds = np.array(list(itertools.islice(words, 2 * _AT_ONCE)))
            yield from stateless_shares(seeds.reshape(-1, 2)).tolist()


def _places(weights: np.ndarray, shares: np.ndarray) -> list[int]:
    """The categories that uniform numbers draw."""
    upto = np.cumsum(weights / weights.max())
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(np.searchsorted(upto, shares * upto[-1], "right"), last).tolist()


def check_choice(spec: Any) -> None:
    """Refuse numbers of datasets that are no int64 scalars."""
    if not (isinstance(spec, TensorSpec) and TensorSpec((), dtypes.int64).is_compatible_with(spec)):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {spec}."
        )

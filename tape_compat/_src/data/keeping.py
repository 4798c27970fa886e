"""Elements kept or left out: cache, unique, ignore_errors, assert_cardinality."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..values.spec import TensorSpec
from .pipeline import INFINITE, UNKNOWN, Chunk, Draws, Pipeline, SameRows, Stream, StreamOf, refused
from .structure import Element, array_of

LOGGER = logging.getLogger("tape_compat")


class Cache(SameRows):
    """The elements, kept in memory from the first run that comes to the last one.

    Where it is not known how many there are, a run has to be told that none is left.
    """

    name, shown = "CacheDataset", ""

    def __init__(self, source: Pipeline):
        super().__init__(source)
        self._elements: list[Element] | None = None
        self._chunks: list[Chunk] | None = None
        #: Where the seeds below it stood before the run that is kept.
        self._kept_from: list[tuple[int, ...]] | None = None

    def positions(self) -> list[tuple[int, ...]]:
        return super().positions() if self._kept_from is None else self._kept_from

    def chunks(self) -> Iterator[Chunk]:
        if self._chunks is not None:
            return iter(self._chunks)
        seeds = super().positions()
        return self._keeping(self.inputs[0].chunks(), seeds)

    def _keeping(self, chunks: Iterator[Chunk], seeds: list[Any]) -> Iterator[Chunk]:
        found: list[Chunk] = []
        left = self.size()
        for chunk in chunks:
            found.append(chunk)
            left -= len(chunk)
            if left == 0:  # the last row apart: it is asked for once all others are taken
                yield chunk[:-1]
                self._chunks, self._kept_from = found, seeds
                yield chunk[-1:]
            else:
                yield chunk
        self._chunks, self._kept_from = found, seeds

    def _open(self, draws: Draws) -> Stream:
        if self._elements is not None:
            return StreamOf(iter(self._elements).__next__)
        seeds = super().positions()
        source = self.inputs[0].open(draws.of(0))
        found: list[Element] = []
        size = self.size()

        def step() -> Element:
            try:
                element = source.step()
            except StopIteration:
                self._elements, self._kept_from = found, seeds
                raise
            found.append(element)
            if len(found) == size:
                self._elements, self._kept_from = found, seeds
            return element

        return StreamOf(step)


class Unique(Pipeline):
    """The elements, each value once."""

    name = "UniqueDataset"

    def __init__(self, source: Pipeline):
        super().__init__(source)
        specs = source.layout.specs
        allowed = (dtypes.int32, dtypes.int64, dtypes.string)
        for spec in specs:
            if not isinstance(spec, TensorSpec) or spec.dtype not in allowed:
                raise TypeError(
                    "`tf.data.Dataset.unique` does not support type "
                    f"{getattr(spec, 'dtype', spec)} -- only `tf.int32`, `tf.int64`, and "
                    "`tf.string` are supported."
                )
        if len(specs) != 1:
            raise refused("UniqueDataset only supports inputs with a single component.")

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        source, seen = self.inputs[0].open(draws.of(0)), set()

        def step() -> Element:
            while True:
                element = source.step()
                array = array_of(element[0])
                key = (array.shape, tuple(array.ravel().tolist()))
                if key not in seen:
                    seen.add(key)
                    return element

        return StreamOf(step)


class IgnoreErrors(Pipeline):
    """The elements that can be made."""

    name = "IgnoreErrorsDataset"

    def __init__(self, source: Pipeline, log_warning: bool):
        super().__init__(source)
        self._log_warning = log_warning

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        source = self.inputs[0].open(draws.of(0))

        def step() -> Element:
            while True:
                try:
                    return source.step()
                except (StopIteration, errors.NeedsPython):
                    raise
                except Exception as error:
                    if self._log_warning:
                        LOGGER.warning("An element was left out: %s", error)

        return StreamOf(step)


class AssertCardinality(SameRows):
    """The elements, of which there must be so many."""

    name = "AssertCardinalityDataset"

    def __init__(self, source: Pipeline, expected: int):
        super().__init__(source)
        self._expected = expected

    def _selection(self) -> None:
        return None

    def size(self) -> int:
        return self._expected

    def _open(self, draws: Draws) -> Stream:
        source, expected, count = self.inputs[0].open(draws.of(0)), self._expected, 0

        def step() -> Element:
            nonlocal count
            try:
                element = source.step()
            except StopIteration:
                if count < expected or expected == INFINITE:
                    raise self._wrong(f"contained only {count} elements") from None
                raise
            count += 1
            if 0 <= expected < count:
                raise self._wrong(f"contained at least {count} elements")
            return element

        return StreamOf(step)

    def _wrong(self, found: str) -> errors.FailedPreconditionError:
        expected = "an infinite number of" if self._expected < 0 else self._expected
        return errors.FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {expected} elements but {found}.",
        )


def at(source: Pipeline, index: int) -> Any:
    """The element of a number."""
    size = source.size()
    if index < 0 or 0 <= size <= index:
        raise errors.OutOfRangeError(
            None, None, f"Index out of range [0, {size}):{index} [Op:GetElementAtIndex]"
        )
    selection, count = source.selection, index
    if selection is not None:
        for chunk in source.chunks():
            if count < len(chunk):
                return source.layout.value(selection.row(int(np.asarray(chunk)[count])))
            count -= len(chunk)
    for i, element in enumerate(source.open(Draws())):
        if i == index:
            return source.layout.value(element)
    raise errors.OutOfRangeError(None, None, f"Index out of range: {index} [Op:GetElementAtIndex]")

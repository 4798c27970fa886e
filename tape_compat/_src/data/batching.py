"""Batches of consecutive elements."""

from __future__ import annotations

from typing import Any

from .pipeline import INFINITE, UNKNOWN, Pipeline, RowStream, Stream
from .structure import Element, map_leaves, with_shape


class Batch(Pipeline):
    """Consecutive elements, stacked; the last ones may be fewer unless they are dropped."""

    name = "BatchDataset"

    def __init__(self, source: Pipeline, size: int, drop_remainder: bool):
        super().__init__(source)
        self._size, self._drop = size, drop_remainder

    def _spec(self) -> Any:
        known = self._drop or self.inputs[0].size() == INFINITE
        size = self._size if known else None
        return map_leaves(
            lambda spec: with_shape(
                spec, lambda shape: [size, *shape] if shape.rank is not None else None
            ),
            self.inputs[0].spec,
        )

    def size(self) -> int:
        size = self.inputs[0].size()
        if size < 0:
            return size
        return size // self._size if self._drop else -(-size // self._size)

    def _open(self) -> Stream:
        source, size, least = self.inputs[0].open(), self._size, 1
        if self._drop:
            least = size

        def step() -> Element:
            rows = source.rows(size)
            if rows is None or rows[0] < least:
                raise StopIteration
            return rows[1]

        return Stream(step)

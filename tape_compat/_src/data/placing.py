"""Elements whose arrays are put somewhere before they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..values.composite import CompositeTensor
from ..values.tensor import concrete
from .pipeline import Draws, Pipeline, Stream, StreamOf
from .structure import array_of


class Placed(Pipeline):
    """The elements of another pipeline, those of their leaves that are arrays of numbers put
    somewhere by a function."""

    name = "DistributedDataset"
    shown = ""

    def __init__(self, source: Pipeline, place: Callable[[Any], Any]):
        super().__init__(source)
        self._place = place

    def _open(self, draws: Draws) -> Stream:
        source, place = self.inputs[0].open(draws.of(0)), self._place

        def leaf(value: Any) -> Any:
            if isinstance(value, CompositeTensor) or not hasattr(value, "dtype"):
                return value
            array = array_of(value)
            return value if array.dtype.kind == "O" else concrete(place(array))

        return StreamOf(lambda: tuple([leaf(value) for value in source.step()]), source.skip)

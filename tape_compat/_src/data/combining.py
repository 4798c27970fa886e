"""Several datasets as one: zip, concatenate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core import errors
from ..values.spec import TensorSpec
from .pipeline import (
    INFINITE,
    UNKNOWN,
    Chunk,
    Draws,
    Pipeline,
    Rows,
    RowStream,
    Selection,
    Stream,
    StreamOf,
)
from .sources import Range, Slices
from .structure import Element, Layout, map_leaves, pack


class Zip(Pipeline):
    """Elements made of one element of each input. structure: of the inputs, by their numbers."""

    name = "ZipDataset"

    def __init__(self, inputs: list[Pipeline], structure: Any):
        super().__init__(*inputs)
        self._structure = structure

    def _spec(self) -> Any:
        return map_leaves(lambda place: self.inputs[place].spec, self._structure)

    def size(self) -> int:
        sizes = [each.size() for each in self.inputs]
        if 0 in sizes:
            return 0
        if UNKNOWN in sizes:
            return UNKNOWN
        return min([size for size in sizes if size != INFINITE], default=INFINITE)

    def _selection(self) -> Selection | None:
        if not all(isinstance(each, (Slices, Range)) for each in self.inputs):
            return None
        found: list[Any] = [each.selection for each in self.inputs]

        def row(i: int) -> Element:
            return tuple([leaf for each in found for leaf in each.row(i)])

        def take(chunk: Chunk) -> tuple[Any, ...]:
            return tuple([leaf for each in found for leaf in each.take(chunk)])

        return Selection(row, take)

    def chunks(self) -> Iterator[Chunk]:
        yield range(self.size())

    def _open(self, draws: Draws) -> Stream:
        sources = [each.open(draws.of(i)) for i, each in enumerate(self.inputs)]

        def step() -> Element:
            return tuple([leaf for source in sources for leaf in source.step()])

        def fetch(count: int) -> Rows | None:
            parts: list[Rows] = []
            for source in sources:
                part = source.rows(count)
                if part is None:
                    return None
                count = part[0]
                parts.append(part)
            leaves = [
                leaf if leaf is None or size == count else leaf[:count]
                for size, columns in parts
                for leaf in columns
            ]
            return count, tuple(leaves)

        def leave_out(count: int) -> int:
            return min(source.skip(count) for source in sources)

        unseen = all(source.unseen for source in sources)
        return RowStream(step, fetch, unseen, leave_out)


class Concatenate(Pipeline):
    """The elements of one input, then those of the other."""

    name = "ConcatenateDataset"

    def __init__(self, one: Pipeline, other: Pipeline):
        super().__init__(one, other)
        if self.spec_is_known():
            _ = self.spec  # which refuses what has nothing in common

    def _spec(self) -> Any:
        return _common(self.inputs[0].spec, self.inputs[1].spec)

    def size(self) -> int:
        one, other = (each.size() for each in self.inputs)
        if INFINITE in (one, other):
            return INFINITE
        return UNKNOWN if UNKNOWN in (one, other) else one + other

    def _open(self, draws: Draws) -> Stream:
        remaining = iter(enumerate(self.inputs))

        def opened() -> Stream:
            place, each = next(remaining)
            return each.open(draws.of(place))

        current: Stream | None = opened()

        def step() -> Element:
            nonlocal current
            while True:
                if current is None:
                    current = opened()
                try:
                    return current.step()
                except StopIteration:
                    current = None

        return StreamOf(step)


def _common(one: Any, other: Any) -> Any:
    """What two specs of elements have in common."""
    ours, theirs = Layout(one).specs, Layout(other).specs
    refusal = TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    if len(ours) != len(theirs):
        raise refusal
    found = []
    for a, b in zip(ours, theirs):
        if isinstance(a, TensorSpec) and isinstance(b, TensorSpec):
            a, b = TensorSpec(a.shape, a.dtype), TensorSpec(b.shape, b.dtype)
        spec = a.most_specific_common_supertype([b])
        if spec is None:
            raise refusal
        found.append(spec)
    return pack(one, found)


def common_spec(pipelines: list[Pipeline]) -> Any:
    """What the specs of several pipelines have in common. Raises TypeError if nothing."""
    found = pipelines[0].spec
    for each in pipelines[1:]:
        found = _common(found, each.spec)
    return found


def known(value: Any) -> Any:
    """A value that a pipeline needs now. Raises NeedsPython where it is symbolic."""
    if getattr(value, "is_symbolic_tensor", False):
        raise errors.NeedsPython(f"{value} is not known while a function is recorded")
    return value

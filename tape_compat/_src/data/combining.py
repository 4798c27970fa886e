"""Several datasets as one: zip, concatenate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..values.spec import TensorSpec
from .batching import row_of, split_columns
from .pipeline import (
    INFINITE,
    UNKNOWN,
    Chunk,
    Draws,
    Pipeline,
    Rows,
    Selection,
    Stream,
    StreamOf,
    passed,
)
from .sources import Range, Slices
from .structure import Element, Layout, children_of, map_leaves, pack


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
        return ZipStream([each.open(draws.of(i)) for i, each in enumerate(self.inputs)])


class ZipStream(Stream):
    """A run over several inputs. Where one of them fails, the others go on with it."""

    __slots__ = ("_held", "_sources", "unseen")

    def __init__(self, sources: list[Stream]):
        self._sources = sources
        self.unseen = all(source.unseen for source in sources)
        #: Of each input elements that were taken and not given, the next one last.
        self._held: list[list[Element]] = [[] for _ in sources]

    def step(self) -> Element:
        leaves: list[Any] = []
        failed: Exception | None = None
        for source, held in zip(self._sources, self._held):
            try:
                leaves += held.pop() if held else source.step()
            except StopIteration:
                if failed is None:
                    raise
                break
            except Exception as error:
                failed = failed or error
        if failed is not None:
            try:
                raise failed
            finally:
                del failed  # or this frame and the error would hold each other
        return tuple(leaves)

    def rows(self, count: int) -> Rows | None:
        if any(self._held):
            return super().rows(count)
        parts: list[Rows] = []
        for source in self._sources:
            try:
                part = source.rows(count)
            except Exception:
                self._align(parts, source.lost)
                raise
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

    def _align(self, parts: list[Rows], lost: int) -> None:
        """Let all inputs go on behind an element that failed."""
        for i, source in enumerate(self._sources):
            if i < len(parts):
                columns, size = split_columns(parts[i][1])
                self._held[i] = [row_of(columns, j) for j in range(size - 1, lost - 1, -1)]
            elif i > len(parts):
                passed(source, lost)
        self.lost = lost

    def skip(self, count: int) -> int:
        if any(self._held):
            return super().skip(count)
        return min(source.skip(count) for source in self._sources)


class Concatenate(Pipeline):
    """The elements of one input, then those of the other."""

    name = "ConcatenateDataset"

    def __init__(self, one: Pipeline, other: Pipeline):
        super().__init__(one, other)
        if self.spec_is_known():
            _ = self.spec  # which refuses what has nothing in common

    def _spec(self) -> Any:
        return common_of(self.inputs[0].spec, self.inputs[1].spec)

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


def common_of(one: Any, other: Any) -> Any:
    """What two specs of elements have in common."""
    ours, theirs = Layout(one).specs, Layout(other).specs
    refusal = TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    if len(ours) != len(theirs) or not _same_keys(one, other):
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


def _same_keys(one: Any, other: Any) -> bool:
    """Whether the dicts in two structures have the same keys."""
    ours, theirs = children_of(one), children_of(other)
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(one, Mapping) != isinstance(other, Mapping) or len(ours) != len(theirs):
        return False
    if isinstance(one, Mapping) and set(one) != set(other):
        return False
    return all(map(_same_keys, ours, theirs))


def common_spec(pipelines: list[Pipeline]) -> Any:
    """What the specs of several pipelines have in common. Raises TypeError if nothing."""
    found = pipelines[0].spec
    for i, each in enumerate(pipelines[1:], 1):
        try:
            found = common_of(found, each.spec)
        except TypeError:
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 "
                f"element_spec={pipelines[0].spec}.\n Dataset {i} element_spec={each.spec}."
            ) from None
    return found

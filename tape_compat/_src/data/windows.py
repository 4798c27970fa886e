"""Elements in groups: window, group_by_window, bucket_by_sequence_length."""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.errors import user_location
from ..core.shapes import TensorShape
from ..values.spec import TensorSpec
from .batching import Padding, padded_spec
from .functions import ElementFunction
from .mapping import Applied, check_dataset, opened
from .pipeline import INFINITE, UNKNOWN, Draws, Pipeline, Stream, StreamOf, stacked
from .specs import CLASSES, DatasetSpec
from .structure import Element, array_of, map_leaves


class Elements(Pipeline):
    """Elements that are there."""

    name = "VariantDataset"

    def __init__(self, elements: Sequence[Element], spec: Any):
        super().__init__()
        self._elements, self._known = elements, spec

    def _spec(self) -> Any:
        return self._known

    def size(self) -> int:
        return len(self._elements)

    def _open(self, draws: Draws) -> Stream:
        return StreamOf(iter(self._elements).__next__)


def dataset_of(elements: Sequence[Element], spec: Any) -> Any:
    """A dataset of elements that are there."""
    return CLASSES["Dataset"](Elements(elements, spec))


class Window(Pipeline):
    """Datasets of consecutive elements, one for each leaf."""

    name = "WindowDataset"

    def __init__(self, source: Pipeline, size: int, shift: int, stride: int, drop: bool):
        super().__init__(source)
        self._size, self._shift, self._stride, self._drop = size, shift, stride, drop

    def _spec(self) -> Any:
        return map_leaves(DatasetSpec, self.inputs[0].spec)

    def size(self) -> int:
        size = self.inputs[0].size()
        if size < 0:
            return size
        if not self._drop:
            return -(-size // self._shift)
        reach = (self._size - 1) * self._stride + 1
        return 0 if size < reach else (size - reach) // self._shift + 1

    def _open(self, draws: Draws) -> Stream:
        source = self.inputs[0].open(draws.of(0))
        specs = self.inputs[0].layout.specs
        reach = (self._size - 1) * self._stride + 1
        #: Elements, and the errors of those that could not be made: a window with one has it.
        held: deque[Element | Exception] = deque()
        ended = False

        def take() -> None:
            nonlocal ended
            try:
                held.append(source.step())
            except StopIteration:
                ended = True
            except errors.NeedsPython:
                raise
            except Exception as error:
                held.append(error)

        def step() -> Element:
            while not ended and len(held) < reach:
                take()
            if not held or (self._drop and len(held) < reach):
                raise StopIteration
            found = list(held)[:: self._stride]
            for _ in range(self._shift):
                if not held and not ended:
                    take()
                if held:
                    held.popleft()
            for each in found:
                if isinstance(each, Exception):
                    raise each
            columns: Any = zip(*found)
            return tuple(
                [dataset_of([(x,) for x in c], s) for c, s in zip(columns, specs, strict=True)]
            )

        return StreamOf(step)


_KEY = TensorSpec((), dtypes.int64)


class GroupByWindow(Pipeline):
    """Elements of one key, in windows; the elements of what a function makes of each window."""

    name = "GroupByWindowDataset"

    def __init__(
        self,
        source: Pipeline,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size_func: Callable[..., Any],
        title: str,
    ):
        super().__init__(source)
        self._windows = _Keyed(source, key_func, window_size_func, title)
        self._reduce = ElementFunction(reduce_func, self._windows, title)
        spec = self._reduce.record().spec
        if spec is not None:
            check_dataset(spec, "reduce_func")

    def _spec(self) -> Any:
        return check_dataset(self._reduce.output_spec(), "reduce_func").element_spec

    def size(self) -> int:
        return INFINITE if self.inputs[0].size() == INFINITE else UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        windows, reduce = self._windows.open(draws), Applied(self._reduce, draws.of("reduce"))
        current: Stream | None = None

        def step() -> Element:
            nonlocal current
            while True:
                if current is None:
                    current = opened(reduce, windows.step())
                try:
                    return current.step()
                except StopIteration:
                    current = None

        return StreamOf(step)


class _Keyed(Pipeline):
    """Pairs of a key and a dataset of elements that have it."""

    def __init__(
        self,
        source: Pipeline,
        key_func: Callable[..., Any],
        window_size_func: Callable[..., Any],
        title: str,
    ):
        super().__init__(source)
        self._key = ElementFunction(key_func, source, title, dtypes.int64)
        self._key.check(lambda spec: check_scalar(spec, "key_func"))
        self._window_size = window_size_func

    def _spec(self) -> Any:
        return (_KEY, DatasetSpec(self.inputs[0].spec))

    def _open(self, draws: Draws) -> Stream:
        source, key_of = self.inputs[0].open(draws.of(0)), Applied(self._key, draws.of("key"))
        groups = Groups(self._window_size)

        def step() -> Element:
            key, elements = groups.next(source, lambda e: int(array_of(key_of(e)[0])))
            return np.array(key, np.int64), dataset_of(elements, self.inputs[0].spec)

        return StreamOf(step)


class Groups:
    """Elements by their keys. window_size: how many of a key make a window."""

    def __init__(self, window_size: Callable[[int], int]):
        self._window_size = window_size
        self._held: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}

    def next(self, source: Stream, key_of: Callable[[Element], int]) -> tuple[int, list[Element]]:
        """The next window that is full; at the end what is left, by the keys."""
        while True:
            try:
                element = source.step()
            except StopIteration:
                if not self._held:
                    raise
                key = min(self._held)
                return key, self._held.pop(key)
            key = key_of(element)
            if key not in self._held:
                size = self._window_size(key)
                if size <= 0:
                    raise errors.InvalidArgumentError(
                        None, None, f"Window size must be greater than zero, but got {size}."
                    )
                self._held[key], self._sizes[key] = [], size
            group = self._held[key]
            group.append(element)
            if len(group) == self._sizes[key]:
                return key, self._held.pop(key)


def check_scalar(spec: Any, what: str) -> None:
    """Refuse a function that does not give an int64 scalar."""
    if not _KEY.is_compatible_with(spec):
        raise ValueError(
            f"Invalid `{what}`. `{what}` must return a single `tf.int64` scalar tensor but its "
            f"return type is {spec}."
        )


class BucketBatch(Pipeline):
    """Batches of elements of similar lengths."""

    name = "GroupByWindowDataset"

    def __init__(
        self,
        source: Pipeline,
        length: Callable[..., Any],
        boundaries: Sequence[int],
        sizes: Sequence[int],
        padding: Padding | None,
        to_boundary: bool,
        drop: bool,
    ):
        super().__init__(source)
        self._length = ElementFunction(length, source, "Dataset.bucket_by_sequence_length()")
        if source.spec_is_known():
            self._length.record()
        self._boundaries, self._sizes = list(boundaries), list(sizes)
        self._padding, self._to_boundary, self._drop = padding, to_boundary, drop

    def _spec(self) -> Any:
        shapes = [s.shape for s in self.inputs[0].layout.specs]
        if self._padding is not None and not self._to_boundary:
            shapes = self._padding.shapes
        elif self._to_boundary:
            shapes = [TensorShape([None] * (s.rank or 0)) for s in shapes]
        return padded_spec(self.inputs[0].spec, shapes, None)

    def size(self) -> int:
        return INFINITE if self.inputs[0].size() == INFINITE else UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        source, length = self.inputs[0].open(draws.of(0)), Applied(self._length, draws)
        groups = Groups(lambda bucket: self._sizes[bucket])

        def key_of(element: Element) -> int:
            return bisect.bisect_right(self._boundaries, array_of(length(element)[0]).item())

        def step() -> Element:
            while True:
                bucket, elements = groups.next(source, key_of)
                if not self._drop or len(elements) == self._sizes[bucket]:
                    return self._stacked(bucket, elements)

        return StreamOf(step)

    def _stacked(self, bucket: int, elements: list[Element]) -> Element:
        if self._padding is None:
            return stacked(elements)
        if not self._to_boundary:
            return self._padding.stacked(elements)
        if bucket == len(self._boundaries):
            raise errors.InvalidArgumentError(
                None,
                None,
                "When pad_to_bucket_boundary=True, elements must have length < "
                f"max(bucket_boundaries). (at {self._length.location})",
            )
        size = self._boundaries[bucket] - 1
        shapes = self._padding.shapes
        filled = [TensorShape([size if n is None else n for n in shape]) for shape in shapes]
        found = Padding.__new__(Padding)
        found.shapes, found.values = filled, self._padding.values
        return found.stacked(elements)


def checked_buckets(boundaries: Any, sizes: Any) -> None:
    """Refuse boundaries and sizes of buckets that do not fit."""
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)="
            f"{len(boundaries)}`."
        )
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"`bucket_boundaries` must ascend (at {user_location()}).")

"""Functions of elements: map, filter, flat_map, take_while."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.shapes import TensorShape
from ..function.python_calls import numpy_function
from ..ops.random_keys import counted
from ..values.spec import TensorSpec
from .functions import ElementFunction
from .options import DEBUGGING
from .parallel import ParallelStream
from .pipeline import UNKNOWN, Draws, Pipeline, Rows, Stream, StreamOf, joined_rows
from .sources import as_op_error
from .specs import CLASSES, DatasetSpec
from .structure import Element, array_of, leaf_of, spec_of

#: For how many elements a function runs at once, at most: what it needs meanwhile is so many times
#: as much.
ROWS = 1024
#: After how many calls it pays to compile a function for several elements at once.
OFTEN = 256


def located(error: Exception, function: ElementFunction, index: int) -> Exception:
    """An error of a function, with the line and the element that it is of."""
    where = f"element {index} of {function.title} at {function.location}"
    if _of_numpy_function(error) and isinstance(error.__cause__, Exception):
        return as_op_error(error.__cause__, where)
    if isinstance(error, errors.OpError):
        if "Error in user-defined function passed to" in error.message:
            return error
        args = (error.error_code,) if type(error) is errors.OpError else ()
        message = f"Error in user-defined function passed to {function.title}, {where}: "
        return type(error)(error.node_def, error.op, f"{message}{error.message}", *args)
    error.add_note(f"This was {where}.")
    return error


def _of_numpy_function(error: Exception) -> bool:
    """Whether an error came out of `tf.numpy_function`, an op in TensorFlow's pipelines."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code is numpy_function.__code__:
            return True
        traceback = traceback.tb_next
    return False


class Applied:
    """A function applied to one element after the other, which counts them."""

    def __init__(self, function: ElementFunction, draws: Draws):
        self.function, self.draws, self.count = function, draws, 0

    def __call__(self, element: Element) -> Element:
        self.count += 1
        return self.numbered(element, self.count - 1)

    def numbered(self, element: Element, index: int) -> Element:
        """The function of the element of a number."""
        try:
            with counted(self.draws.counts):
                return self.function(element)
        except errors.NeedsPython:
            raise
        except Exception as error:
            self.failed(error, index)
            raise

    def failed(self, error: Exception, index: int | None = None) -> None:
        """Raise an error of the function with its place, if it is another error then."""
        index = self.count - 1 if index is None else index
        if isinstance(error, StopIteration):
            raise RuntimeError(f"the function of {self.function.title} raised StopIteration")
        made = located(error, self.function, index)
        if made is not error:
            try:
                raise made from error
            finally:
                del made  # or this frame and the error would hold each other


class Map(Pipeline):
    """A function of each element."""

    name = "MapDataset"

    def __init__(
        self, source: Pipeline, function: Callable[..., Any], title: str, parallel: int = 1
    ):
        super().__init__(source)
        self.function = ElementFunction(function, source, title)
        self._parallel = 1 if DEBUGGING.on else parallel
        self.function.check(lambda spec: None)

    def spec_is_known(self) -> bool:
        return self.function.spec_is_known()

    def _spec(self) -> Any:
        return self.function.output_spec()

    def _open(self, draws: Draws) -> Stream:
        source = self.inputs[0].open(draws.of(0))
        if self._parallel != 1 and not self.function.is_recorded():
            return ParallelStream(source, Applied(self.function, draws).numbered, self._parallel)
        return MapStream(source, self.function, draws)


class _Ahead(Stream):
    """A run that applies a function: for several elements at once where it was called often before
    and nobody can tell when it is called."""

    __slots__ = ("_ahead", "_applied", "_by_rows", "_failed", "_held", "_left", "_source")

    def __init__(self, source: Stream, function: ElementFunction, draws: Draws):
        self._source, self._applied = source, Applied(function, draws)
        self._by_rows: Any = ()
        self._ahead = -1  # not looked for yet
        #: Elements that are made, the next one last.
        self._held: list[Element] = []
        #: Those of the source that could not go at once, the next one last; whether one failed.
        self._left: list[Element] = []
        self._failed = False

    def _several(self) -> int:
        """How many elements to make at once, 0 for one by one."""
        function = self._applied.function
        function.calls += 1
        if function.calls <= OFTEN or not self._source.unseen:
            return 0
        if self._ahead < 0:
            self._ahead = function.ahead() if self._found_rows() else 0
        return self._ahead

    def _found_rows(self) -> bool:
        if self._by_rows == ():
            self._by_rows = self._applied.function.over_rows()
        return self._by_rows is not None

    def _results(self, rows: Rows, size: int) -> Rows | None:
        """What the function gives for stacked elements. None if they cannot go at once, or one of
        them fails: they are left to go one by one."""
        try:
            with counted(self._applied.draws.counts):
                found = self._by_rows(rows, size)
        except Exception:
            self._left = elements_of(rows[1], range(rows[0] - 1, -1, -1))
            self._failed = False
            return None
        self._applied.count += rows[0]
        return found

    def _one_left(self) -> tuple[Element, Element]:
        """One of those that are left, and what the function gives for it. Where none of them fails
        it is done one by one from then on."""
        element = self._left.pop()
        try:
            found = self._applied(element)
        except Exception:
            self._failed = True
            raise
        if not self._left and not self._failed:
            self._by_rows = None
            self._ahead = 0
            self._applied.function.one_by_one()
        return element, found


def elements_of(leaves: Element, places: Iterable[int]) -> list[Element]:
    """Some of the elements that are stacked."""
    columns = [None if x is None else array_of(x) for x in leaves]
    return [tuple([None if x is None else x[i, ...] for x in columns]) for i in places]


class MapStream(_Ahead):
    """A run over a map."""

    __slots__ = ()

    @property
    def unseen(self) -> bool:  # type: ignore[override]
        return self._source.unseen and self._applied.function.is_silent()

    def skip(self, count: int) -> int:
        if self._held or self._left or not self._applied.function.is_silent():
            return super().skip(count)
        done = self._source.skip(count)
        self._applied.count += done
        return done

    def step(self) -> Element:
        if self._left:
            return self._one_left()[1]
        if not self._held:
            several = self._several()
            if not several:
                return self._applied(self._source.step())
            given = self._source.rows(several)
            if given is None:
                raise StopIteration
            rows = self._results(given, several)
            if rows is None:
                return self._one_left()[1]
            self._held = elements_of(rows[1], range(rows[0] - 1, -1, -1))
        return self._held.pop()

    def rows(self, count: int) -> Rows | None:
        if self._held or self._left or not self._found_rows():
            return super().rows(count)
        parts: list[Rows] = []
        asked: Stream = self
        try:
            while count > 0:
                size = min(count, ROWS)
                asked = self._source
                given = asked.rows(size)
                if given is None:
                    break
                rows = self._results(given, size)
                if rows is None:
                    asked = self
                    rows = super().rows(count)
                    assert rows is not None
                    parts.append(rows)
                    break
                parts.append(rows)
                count = count - size if rows[0] == size else 0
        except Exception:
            self.lost = asked.lost + sum(size for size, _ in parts)
            raise
        return joined_rows(parts)


class FilterStream(_Ahead):
    """A run over a filter."""

    __slots__ = ()

    def step(self) -> Element:
        while not self._held:
            if self._left:
                element, found = self._one_left()
                if truth(found):
                    return element
                continue
            several = self._several()
            if not several:
                element = self._source.step()
                if truth(self._applied(element)):
                    return element
                continue
            rows = self._source.rows(several)
            if rows is None:
                raise StopIteration
            found = self._results(rows, several)
            if found is not None:
                fits = np.flatnonzero(array_of(found[1][0]))
                self._held = elements_of(rows[1], fits[::-1].tolist())
        return self._held.pop()


class Filter(Pipeline):
    """The elements of which a predicate is true."""

    name = "FilterDataset"

    def __init__(self, source: Pipeline, predicate: Callable[..., Any], title: str):
        super().__init__(source)
        self.function = ElementFunction(predicate, source, title)
        self.function.check(check_predicate)

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        return FilterStream(self.inputs[0].open(draws.of(0)), self.function, draws)


class TakeWhile(Filter):
    """The elements up to the first of which a predicate is false."""

    name = "TakeWhileDataset"

    def _open(self, draws: Draws) -> Stream:
        source, applied = self.inputs[0].open(draws.of(0)), Applied(self.function, draws)
        ended = False

        def step() -> Element:
            nonlocal ended
            if not ended:
                element = source.step()
                if truth(applied(element)):
                    return element
                ended = True
            raise StopIteration

        return StreamOf(step)


def truth(result: Element) -> bool:
    """What a predicate gave."""
    return bool(array_of(result[0]))


def check_predicate(spec: Any) -> None:
    """Refuse a function that does not give a bool scalar."""
    if not TensorSpec(TensorShape([]), dtypes.bool).is_compatible_with(spec):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
            f"return type is {spec}."
        )


class FlatMap(Pipeline):
    """The elements of the datasets that a function gives for each element."""

    name = "FlatMapDataset"

    def __init__(self, source: Pipeline, function: Callable[..., Any], title: str):
        super().__init__(source)
        self.function = ElementFunction(function, source, title)
        self.function.check(check_dataset)

    def spec_is_known(self) -> bool:
        return self.function.spec_is_known()

    def _spec(self) -> Any:
        return check_dataset(self.function.output_spec()).element_spec

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        source, applied = self.inputs[0].open(draws.of(0)), Applied(self.function, draws)
        current: Stream | None = None

        def step() -> Element:
            nonlocal current
            while True:
                if current is None:
                    current = opened(applied, source.step())
                try:
                    return current.step()
                except StopIteration:
                    current = None

        return StreamOf(step)


def opened(applied: Applied, element: Element) -> Stream:
    """A run over the dataset that a function gives for an element."""
    applied.count += 1
    try:
        with counted(applied.draws.counts):
            result = applied.function.result(element)
        if not isinstance(result, CLASSES["Dataset"]):
            check_dataset(spec_of(leaf_of(result)))
        return result._pipeline.open(applied.draws.of("made"))
    except Exception as error:
        applied.failed(error)
        raise


def check_dataset(spec: Any, what: str = "map_func") -> DatasetSpec:
    """Refuse what is not the spec of a dataset."""
    if isinstance(spec, DatasetSpec):
        return spec
    if what == "map_func":
        raise TypeError(f"The `{what}` argument must return a `Dataset` object. Got {spec!r}.")
    raise TypeError(
        f"Invalid `{what}`. `{what}` must return a single `tf.data.Dataset` object but its return "
        f"type is {spec!r}."
    )

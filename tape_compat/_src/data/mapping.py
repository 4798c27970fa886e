"""Functions of elements: map, filter, flat_map, take_while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes, errors
from ..core.shapes import TensorShape
from ..function.python_calls import numpy_function
from ..values.spec import TensorSpec
from .functions import ElementFunction
from .parallel import ParallelStream
from .pipeline import INFINITE, UNKNOWN, Pipeline, Rows, Stream, joined_rows
from .sources import as_op_error
from .specs import CLASSES, DatasetSpec
from .structure import Element, array_of, leaf_of, spec_of

#: For how many elements a function runs at once, at most: what it needs meanwhile is so many times
#: as much.
ROWS = 1024


def located(error: Exception, function: ElementFunction, index: int) -> Exception:
    """An error of a function, with the line and the element that it is of."""
    where = f"element {index} of {function.title} at {function.location}"
    if isinstance(error, errors.OpError):
        if "Error in user-defined function passed to" in error.message:
            return error
        args = (error.error_code,) if type(error) is errors.OpError else ()
        message = f"Error in user-defined function passed to {function.title}, {where}: "
        return type(error)(error.node_def, error.op, f"{message}{error.message}", *args)
    if _of_numpy_function(error):
        return as_op_error(error)
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

    def __init__(self, function: ElementFunction):
        self.function, self.count = function, 0

    def __call__(self, element: Element) -> Element:
        self.count += 1
        return self.numbered(element, self.count - 1)

    def numbered(self, element: Element, index: int) -> Element:
        """The function of the element of a number."""
        try:
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
            raise made from error


class Map(Pipeline):
    """A function of each element."""

    name = "MapDataset"

    def __init__(
        self, source: Pipeline, function: Callable[..., Any], title: str, parallel: int = 1
    ):
        super().__init__(source)
        self.function, self._parallel = ElementFunction(function, source, title), parallel
        self.function.check(lambda spec: None)

    def spec_is_known(self) -> bool:
        return self.function.spec_is_known()

    def _spec(self) -> Any:
        return self.function.output_spec()

    def _open(self) -> Stream:
        source = self.inputs[0].open()
        if self._parallel != 1 and not self.function.is_recorded():
            return ParallelStream(source, Applied(self.function).numbered, self._parallel)
        return MapStream(source, self.function)


class MapStream(Stream):
    """A run over a map."""

    __slots__ = ("_applied", "_by_rows", "_source")

    def __init__(self, source: Stream, function: ElementFunction):
        self._source, self._applied = source, Applied(function)
        self._by_rows: Any = ()
        super().__init__(self._element)

    def _element(self) -> Element:
        return self._applied(self._source.step())

    def rows(self, count: int) -> Rows | None:
        if self._by_rows == ():
            self._by_rows = self._applied.function.over_rows()
        if self._by_rows is None:
            return super().rows(count)
        parts: list[Rows] = []
        while count > 0:
            size = min(count, ROWS)
            rows = self._source.rows(size)
            if rows is None:
                break
            parts.append(self._by_rows(rows, size))
            self._applied.count += rows[0]
            count = count - size if rows[0] == size else 0
        return joined_rows(parts)


class Filter(Pipeline):
    """The elements of which a predicate is true."""

    name = "FilterDataset"

    def __init__(self, source: Pipeline, predicate: Callable[..., Any], title: str):
        super().__init__(source)
        self.function = ElementFunction(predicate, source, title)
        self.function.check(check_predicate)

    def size(self) -> int:
        size = self.inputs[0].size()
        return size if size in (0, INFINITE) else UNKNOWN

    def _open(self) -> Stream:
        source, applied = self.inputs[0].open(), Applied(self.function)

        def step() -> Element:
            while True:
                element = source.step()
                if truth(applied(element)):
                    return element

        return Stream(step)


class TakeWhile(Filter):
    """The elements up to the first of which a predicate is false."""

    name = "TakeWhileDataset"

    def size(self) -> int:
        return 0 if self.inputs[0].size() == 0 else UNKNOWN

    def _open(self) -> Stream:
        source, applied, ended = self.inputs[0].open(), Applied(self.function), False

        def step() -> Element:
            nonlocal ended
            if not ended:
                element = source.step()
                if truth(applied(element)):
                    return element
                ended = True
            raise StopIteration

        return Stream(step)


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
        size = self.inputs[0].size()
        return 0 if size == 0 else UNKNOWN

    def _open(self) -> Stream:
        source, applied = self.inputs[0].open(), Applied(self.function)
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

        return Stream(step)


def opened(applied: Applied, element: Element) -> Stream:
    """A run over the dataset that a function gives for an element."""
    applied.count += 1
    try:
        result = applied.function.result(element)
        if not isinstance(result, CLASSES["Dataset"]):
            check_dataset(spec_of(leaf_of(result)))
        return result._pipeline.open()
    except Exception as error:
        applied.failed(error)
        raise


def check_dataset(spec: Any, what: str = "map_func") -> DatasetSpec:
    """Refuse what is not the spec of a dataset."""
    if not isinstance(spec, DatasetSpec):
        raise TypeError(f"The `{what}` argument must return a `Dataset` object. Got {spec!r}.")
    return spec

"""Iterators over datasets."""

from __future__ import annotations

import abc
import threading
from collections.abc import Iterator as PythonIterator
from typing import Any

import numpy as np

from ..core import errors
from ..core.errors import user_location
from ..core.state import LOCAL, suspended
from ..values.composite import CompositeTensor, Opaque
from ..values.tensor import Tensor
from .optional import Optional
from .pipeline import Pipeline
from .specs import CLASSES, IteratorSpec, one_of_equal
from .structure import map_leaves


class Iterator(Opaque, abc.ABC):
    """What goes through the elements of a dataset: `iter(dataset)`.

    >>> import tape_compat as tf
    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> isinstance(iterator, tf.data.Iterator), iterator.get_next().numpy().item()
    (True, 0)
    """

    @property
    @abc.abstractmethod
    def element_spec(self) -> Any:
        """The specs of the elements."""

    @abc.abstractmethod
    def get_next(self) -> Any:
        """The next element. Raises OutOfRangeError at the end."""

    @abc.abstractmethod
    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, without a value at the end."""

    @abc.abstractmethod
    def __next__(self) -> Any:
        """The next element."""

    def __iter__(self) -> PythonIterator[Any]:
        return self  # type: ignore[return-value]


def refuse_recording(what: str) -> None:
    """Let the function that is being recorded run as Python: elements are known then."""
    if LOCAL.state.capture is not None:
        raise errors.NeedsPython(
            f"{what} needs the elements of a dataset, which are known when the function runs (at "
            f"{user_location()})."
        )


class OwnedIterator(Iterator):
    """An iterator over the elements of one dataset, from their beginning."""

    def __init__(self, pipeline: Pipeline):
        refuse_recording("An iterator")
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._stream = pipeline.open()
        self._spec: IteratorSpec | None = None

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._pipeline.spec

    @property
    def _type_spec(self) -> IteratorSpec:
        if self._spec is None:
            self._spec = one_of_equal(IteratorSpec(self.element_spec))
        return self._spec

    def _trace_part(self) -> IteratorSpec:
        return self._type_spec

    def __next__(self) -> Any:
        state = LOCAL.state
        if state.deferring:
            refuse_recording("The next element")
            with suspended():
                return self._next()
        return self._next()

    def _next(self) -> Any:
        with self._lock:
            element = self._stream.step()
        return self._pipeline.layout.value(element)

    def get_next(self) -> Any:
        """The next element. Raises OutOfRangeError at the end.

        >>> import tape_compat as tf
        >>> iter(tf.data.Dataset.range(0)).get_next()
        Traceback (most recent call last):
        tape_compat.errors.OutOfRangeError: End of sequence ...
        """
        try:
            return self.__next__()
        except StopIteration:
            raise errors.OutOfRangeError(
                None, None, f"End of sequence [Op:IteratorGetNext] (at {user_location()})"
            ) from None

    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, which has no value at the end."""
        try:
            return Optional.from_value(self.__next__())
        except StopIteration:
            return Optional.empty(self.element_spec)


class NumpyIterator:
    """An iterator that gives NumPy arrays and scalars."""

    def __init__(self, pipeline: Pipeline):
        self._iterator = OwnedIterator(pipeline)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return map_leaves(_numpy, next(self._iterator))

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _numpy(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        array = np.asarray(leaf._value())
        if not array.ndim:
            return array[()]
        array = array.view()
        array.flags.writeable = False
        return array
    if leaf is None or isinstance(leaf, CompositeTensor):
        return leaf
    to_numpy = getattr(leaf, "as_numpy_iterator", None)
    if to_numpy is not None:
        return to_numpy()
    raise TypeError(f"`as_numpy_iterator()` does not support {type(leaf).__name__}.")


CLASSES["Iterator"] = OwnedIterator

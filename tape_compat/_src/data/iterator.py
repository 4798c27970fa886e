"""Iterators over datasets."""

from __future__ import annotations

import abc
import json
import threading
from collections.abc import Iterable, Iterator as PythonIterator
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.sparse import SparseTensorSpec
from ..core import errors
from ..core.errors import user_location
from ..core.state import LOCAL, suspended
from ..function.elements import runs_as_python, took
from ..ops.random_keys import LoopDraws
from ..values.composite import Opaque
from ..values.convert import convert
from ..values.spec import NoneTensorSpec, TensorSpec
from ..values.tensor import Tensor
from ..values.trackable import Trackable
from .optional import Optional
from .pipeline import Draws, Pipeline, refused
from .specs import CLASSES, IteratorSpec, one_of_equal
from .structure import array_of, map_leaves


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


def _ended(error: type[errors.OutOfRangeError]) -> errors.OutOfRangeError:
    return error(None, None, f"End of sequence [Op:IteratorGetNext] (at {user_location()})")


class OwnedIterator(Iterator, Trackable):
    """An iterator over the elements of one dataset, from their beginning.

    Where it stands is a text (`_save`): how many elements it gave, and with which seeds the run
    began. To come back there, `_restore` begins such a run and leaves out so many elements.
    """

    def __init__(self, pipeline: Pipeline, begin: bool = True):
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._stream: Any = None
        #: Which seeds the run began with.
        self._seeds: list[tuple[int, ...]] | None = None
        if begin:
            refuse_recording("An iterator")
            self._seeds = pipeline.positions()
            self._stream = pipeline.open(Draws())
        self._spec: IteratorSpec | None = None
        self._given = 0
        self._draws = LoopDraws()
        #: Whether making an element failed; then none is left out without being made.
        self._failed = False

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
        try:
            with self._lock, self._draws:
                element = self._step()
        except StopIteration:
            if runs_as_python():
                raise _ended(errors.EndOfSequence) from None
            raise
        value = self._pipeline.layout.value(element)
        took(value, self._pipeline.spec)
        return value

    def _step(self) -> Any:
        try:
            element = self._stream.step()
        except (StopIteration, errors.NeedsPython):
            raise
        except Exception:
            self._given, self._failed = self._given + 1, True
            raise
        self._given += 1
        return element

    # -- where it stands ------------------------------------------------------------------------

    def _save(self) -> Tensor:
        """Where it stands, as a string scalar."""
        with self._lock:
            seeds = self._pipeline.positions() if self._seeds is None else self._seeds
            state = {"given": self._given, "failed": self._failed, "seeds": seeds}
        return convert(json.dumps({**state, "elements": repr(self.element_spec)}))

    def _restore(self, state: Any) -> None:
        """Go to where an iterator over such a dataset stood.

        Raises: InvalidArgumentError for the state of another one.
        """
        given, failed, seeds = self._checked(state)
        with self._lock, suspended():
            self._pipeline.put_back(iter(seeds))
            self._stream = self._pipeline.open(Draws())
            self._given, self._failed, self._seeds = 0, failed, seeds
            if not failed:
                self._given = self._stream.skip(given)
            while failed and self._given < given:
                try:
                    self._step()
                except StopIteration:
                    break
                except Exception:  # as when it was made first
                    continue

    def _checked(self, state: Any) -> tuple[int, bool, list[tuple[int, ...]]]:
        """What a state says, if it is one of an iterator over such a dataset."""
        tensor = convert(state)
        try:
            found = json.loads(tensor.numpy())
            given, failed, seeds = found["given"], found["failed"], found["seeds"]
            elements = found["elements"]
        except (ValueError, TypeError, KeyError) as error:
            raise refused(f"{tensor} is no state of an iterator") from error
        if elements != repr(self.element_spec):
            raise refused(
                f"The state is of an iterator over elements of {elements}; this one gives "
                f"{self.element_spec!r}"
            )
        if len(seeds) != len(self._pipeline.positions()):
            raise refused(
                f"The state is of an iterator over a dataset with {len(seeds)} random steps; this "
                f"one has {len(self._pipeline.positions())}"
            )
        return given, failed, [tuple(each) for each in seeds]

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        """What a checkpoint keeps of it."""
        return {"POSITION": self._save()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Take what a checkpoint kept."""
        self._restore(restored_tensors["POSITION"])

    def _refuse_values(self, names: Iterable[str]) -> None:
        """Refuse what a checkpoint of TensorFlow keeps of its iterators."""
        raise NotImplementedError(
            f"The checkpoint has the position of an iterator ({', '.join(names)}) as only "
            "TensorFlow can read it. Leave the iterator out of the Checkpoint that is restored."
        )

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}

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
            raise _ended(errors.OutOfRangeError) from None

    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, which has no value at the end."""
        try:
            return Optional.from_value(self.__next__())
        except StopIteration:
            return Optional.empty(self.element_spec)


class NumpyIterator(Trackable):
    """An iterator that gives NumPy arrays and scalars, of sparse tensors dense arrays, of ragged
    ones arrays of rows. `save` tells where it stands, and `restore` goes there, in this process or
    another one.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(100).shuffle(100).repeat()
    >>> iterator = dataset.as_numpy_iterator()
    >>> _ = [next(iterator) for _ in range(150)]
    >>> state = iterator.save()
    >>> after = next(iterator)
    >>> iterator.restore(state)
    >>> bool(next(iterator) == after)
    True
    """

    def __init__(self, pipeline: Pipeline):
        if pipeline.spec_is_known():
            for spec in pipeline.layout.specs:
                _check_array(spec)
        self._iterator = OwnedIterator(pipeline)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return map_leaves(_numpy, next(self._iterator))

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"

    def save(self) -> Tensor:
        """Where it stands, as a string scalar. The seeds of shuffles are kept; not those of random
        numbers that functions of elements draw."""
        return self._iterator._save()

    def restore(self, state: Any) -> None:
        """Go to where an iterator over such a dataset stood when it was saved. The elements before
        are left out; where that can be seen, as with generators, they are made once more.

        Raises: InvalidArgumentError for the state of an iterator over another one.
        """
        self._iterator._restore(state)

    def next(self) -> Any:
        """The next element."""
        return next(self)

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        return self._iterator._serialize_to_tensors()

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self._iterator._restore_from_tensors(restored_tensors)

    def _refuse_values(self, names: Iterable[str]) -> None:
        self._iterator._refuse_values(names)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}


def _numpy(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        array = np.asarray(leaf._value(), order="C")
        if not array.ndim:
            return array[()]
        array = array.view()
        array.flags.writeable = False
        return array
    if leaf is None:
        return None
    _check_array(leaf._type_spec)
    return leaf.numpy() if isinstance(leaf, RaggedTensor) else _dense(leaf)


def _dense(sparse: Any) -> np.ndarray:
    """The array of a sparse tensor."""
    values, indices = array_of(sparse.values), array_of(sparse.indices)
    empty = b"" if values.dtype == object else 0
    dense = np.full(array_of(sparse.dense_shape), empty, values.dtype)
    dense[tuple(indices.T)] = values
    return dense


def _check_array(spec: Any) -> None:
    """Refuse what there is no array of."""
    if not isinstance(spec, (TensorSpec, RaggedTensorSpec, SparseTensorSpec, NoneTensorSpec)):
        raise TypeError(
            "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce "
            f"values of {spec!r}"
        )


CLASSES["Iterator"] = OwnedIterator

"""Specs of what elements of datasets hold beside tensors, and arrays of datasets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.caches import register
from ..core.shapes import as_shape
from ..values.composite import Opaque, TypeSpec, batched_shape

#: The classes that the specs describe, by name, and functions that make one of which only the specs
#: of the elements are known: `dataset.py` and `iterator.py` put theirs here.
CLASSES: dict[str, Any] = {}


class DatasetSpec(TypeSpec):
    """What is known of a Dataset beforehand: the specs of its elements.

    Args:
      element_spec: a nest of specs.
      dataset_shape: the shape of a tensor of datasets, as TensorShape takes it.

    >>> import tape_compat as tf
    >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = as_shape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """`tf.data.Dataset`, or the class of arrays of such."""
        return Datasets if self._dataset_shape.rank else CLASSES["Dataset"]

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    def _stand_in(self) -> Any:
        """A Dataset of which this is all that is known, or an array of such."""
        if self._dataset_shape.rank:
            return Datasets(self)
        return CLASSES["Dataset of specs"](self._element_spec)

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        return DatasetSpec(self._element_spec, batched_shape(self._dataset_shape, batch_size))

    def _unbatch(self) -> DatasetSpec:
        if self._dataset_shape.rank == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a Dataset, or one of another spec, fits this spec."""
        return super().is_compatible_with(_spec_of(spec_or_value, DatasetSpec))

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a Dataset."""
        return DatasetSpec(value.element_spec)


class Datasets(Opaque):
    """Datasets in an array, as batches of elements that are datasets have them. `Dataset.unbatch`
    gives its rows. array: of objects, None where only the spec is known."""

    def __init__(self, spec: DatasetSpec, array: np.ndarray | None = None):
        self._type_spec, self.array = spec, array

    @staticmethod
    def stacked(values: Sequence[Any]) -> Datasets:
        """Datasets, or arrays of one shape of such, along a new first axis."""
        spec = values[0]._type_spec
        parts = [value.array if isinstance(value, Datasets) else value for value in values]
        shape = spec._serialize()[1]
        array = np.empty([len(parts), *shape], object)
        for i, part in enumerate(parts):
            array[i] = part
        return Datasets(spec._batch(len(parts)), array)

    @property
    def size(self) -> int:
        """How many rows there are."""
        assert self.array is not None
        return len(self.array)

    def row(self, i: int) -> Any:
        """One of the rows: a dataset, or an array with an axis less."""
        assert self.array is not None
        found = self.array[i]
        return Datasets(self._type_spec._unbatch(), found) if self.array.ndim > 1 else found

    def _trace_part(self) -> DatasetSpec:
        return self._type_spec

    def __repr__(self) -> str:
        return f"<Datasets {self._type_spec!r}>"


class IteratorSpec(TypeSpec):
    """What is known of an iterator beforehand: the specs of the elements it gives.

    >>> import tape_compat as tf
    >>> tf.data.IteratorSpec(tf.TensorSpec([], tf.int64)).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """

    __slots__ = ("_element_spec", "_hash")

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return other is self or super().__eq__(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """The class of iterators."""
        return CLASSES["Iterator"]

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def _stand_in(self) -> Any:
        """An iterator of which this is all that is known."""
        return CLASSES["Iterator of specs"](self._element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an iterator, or one of another spec, fits this spec."""
        return super().is_compatible_with(_spec_of(spec_or_value, IteratorSpec))

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """The spec of an iterator."""
        return IteratorSpec(value.element_spec)


@lru_cache(maxsize=256)
def one_of_equal(spec: IteratorSpec) -> IteratorSpec:
    """The same object for equal specs, which are compared at each call of a function."""
    return spec


register("specs of iterators", one_of_equal.cache_clear, lambda: one_of_equal.cache_info().currsize)


def _spec_of(value: Any, kind: type) -> Any:
    """The spec of a value that has one of this kind."""
    spec = None if isinstance(value, TypeSpec) else getattr(value, "_type_spec", None)
    return spec if isinstance(spec, kind) else value

"""Tables that do not change after they were made."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...composites.ragged import RaggedTensor
from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...ops import arithmetic, casting, comparison, gather_scatter, ordering, selection
from ...ops.arguments import known_value, sketched
from ...ops.creation import fill
from ...ops.hashing import fingerprint64
from ...ops.shapes import reshape, shape
from ...ops.strings import as_string
from ...values.convert import convert
from ...values.host_steps import SAME, by_host
from ...values.tensor import Tensor, concrete
from ...values.trackable import Trackable
from .entries import Entries, as_array
from .resources import TrackableResource


def _values_of(keys: Any) -> Tensor:
    if isinstance(keys, SparseTensor):
        return keys.values
    if isinstance(keys, RaggedTensor):
        return keys.flat_values
    return keys


def _like(keys: Any, values: Tensor) -> Any:
    """Values in the form of the keys."""
    if isinstance(keys, SparseTensor):
        return keys.with_values(values)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(values)
    return values


class StaticHashTable(TrackableResource):
    """A table filled by an initializer, with a value for keys that it does not have.

    Args:
      initializer: `tf.lookup.KeyValueTensorInitializer`, `TextFileInitializer`, or another.
      default_value: scalar.

    Attributes:
      origin: the table that it has the keys and values of, with another default value; itself.

    >>> import tape_compat as tf
    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(init, default_value=-1)
    >>> table.lookup(tf.constant(["b", "z"])).numpy().tolist()
    [2, -1]
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__()
        self._initializer = initializer
        self._name = name
        self.origin = self
        value_dtype = as_dtype(initializer.value_dtype)
        self._default_value = convert(default_value, value_dtype)
        self._default_value.shape.assert_has_rank(0)
        default = as_array(self._default_value, value_dtype)
        self._entries = Entries(as_dtype(initializer.key_dtype), value_dtype, default)
        initializer.initialize(self)

    def _create_resource(self) -> Any:
        """It is what it holds."""
        return self

    def _fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        self._entries.put_once(keys, values)

    @property
    def name(self) -> str | None:
        """The name that it was given."""
        return self._name

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._entries.key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._entries.value_dtype

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are missing."""
        return self._default_value

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are, int64."""
        return self._entries.size()

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and all values."""
        return self._entries.export()

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, a Tensor, SparseTensor or RaggedTensor, in its form.

        Raises: TypeError if they are of another dtype.
        """
        if keys.dtype is not self.key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype!s}, received: {keys.dtype!s}"
            )
        values = convert(_values_of(keys))
        if values._is_symbolic() and dtypes.string not in (self.key_dtype, self.value_dtype):
            return _like(keys, self._searched(values))
        return _like(keys, self._found(values))

    @by_host(SAME)
    def _found(self, keys: Tensor) -> Tensor:
        sketch = sketched(keys)
        if sketch is not None:
            return sketch.tensor(keys._aval.shape, self.value_dtype)
        return self._entries.find(known_value(keys))

    def _searched(self, keys: Tensor) -> Tensor:
        """The values of numbers that are not known yet."""
        default = self._default_value
        have, found = (np.asarray(x._value()) for x in self._entries.export())
        if not have.size:
            return fill(shape(keys), default)
        order = np.argsort(have)
        sorted_keys = concrete(have[order])
        flat = reshape(keys, [-1])
        place = ordering.searchsorted(sorted_keys, flat)
        place = arithmetic.minimum(place, concrete(np.array(have.size - 1, np.int32)))
        there = comparison.equal(gather_scatter.gather(sorted_keys, place), flat)
        values = gather_scatter.gather(concrete(found[order]), place)
        return reshape(selection.where(there, values, default), shape(keys))

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)


def _lookup_dtype(initializer: Any, wanted: Any) -> DType:
    """The dtype of keys that are looked up in a vocabulary. Raises TypeError for one that does not
    go with the vocabulary's."""
    given = as_dtype(initializer.key_dtype)
    found = given if wanted is None else as_dtype(wanted)
    if given not in (dtypes.int64, dtypes.string):
        raise TypeError(
            f"Invalid `key_dtype`, expected one of ({dtypes.int64!r}, {dtypes.string!r}), but got "
            f"{given!r}."
        )
    if given.is_integer != found.is_integer:
        kind = "integer" if found.is_integer else "non-integer"
        raise TypeError(f"Invalid `key_dtype`, expected {kind} but got {given!r}.")
    if as_dtype(initializer.value_dtype) is not dtypes.int64:
        raise TypeError(
            f"Invalid `value_dtype`, expected {dtypes.int64!s} but got {initializer.value_dtype!s}."
        )
    return found


class StaticVocabularyTable(Trackable):
    """A table of int64 numbers from 0 on, with `num_oov_buckets` more, by a hash, for other keys.

    Args:
      initializer: of string or integer keys and int64 values; None if there are no known keys.
      lookup_key_dtype: of the keys that are looked up; default that of the initializer. Without
        known keys they are strings.
    Raises: ValueError if there are no buckets; TypeError for other dtypes.

    >>> import tape_compat as tf
    >>> init = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64))
    >>> tf.lookup.StaticVocabularyTable(init, 1).lookup(tf.constant(["a", "b"])).numpy().tolist()
    [0, 1]
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._buckets = num_oov_buckets
        self._name = name
        self._table: StaticHashTable | None = None
        self._key_dtype = dtypes.string
        if initializer is not None:
            self._key_dtype = _lookup_dtype(initializer, lookup_key_dtype)
            self._table = StaticHashTable(initializer, -1)

    @property
    def name(self) -> str | None:
        """The name that it was given."""
        return self._name

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """A SavedModel keeps the table of the known keys; checkpoints keep nothing."""
        found = super()._trackable_children(save_type, **kwargs)
        if save_type == "savedmodel" and self._table is not None:
            found["_table"] = self._table
        return found

    @property
    def known(self) -> StaticHashTable | None:
        """The table of the keys that are known."""
        return self._table

    @property
    def oov_buckets(self) -> int:
        """How many numbers there are for other keys."""
        return self._buckets

    @property
    def value_dtype(self) -> DType:
        """int64."""
        return dtypes.int64

    def size(self, name: str | None = None) -> Tensor:
        """How many different values there are, those of the buckets too, int64."""
        known = 0 if self._table is None else int(self._table.size())
        return concrete(np.array(known + self._buckets, np.int64))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, a Tensor, SparseTensor or RaggedTensor, in its form.

        Raises: TypeError if they are of another dtype.
        """
        if keys.dtype is not self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype!s}, received: {keys.dtype!s}"
            )
        return _like(keys, self._found(convert(_values_of(keys))))

    @by_host(SAME)
    def _found(self, given: Tensor) -> Tensor:
        sketch = sketched(given)
        if sketch is not None:
            return sketch.tensor(given._aval.shape, dtypes.int64)
        texts = known_value(given if given.dtype is dtypes.string else as_string(given))
        known = 0 if self._table is None else int(self._table.size())
        hashed = [known + fingerprint64(text) % self._buckets for text in texts.ravel().tolist()]
        found = np.array(hashed, np.int64).reshape(texts.shape)
        if self._table is not None:
            own = casting.cast(given, self._table.key_dtype)
            values = np.asarray(self._table.lookup(own)._value())
            found = np.where(values >= 0, values, found)
        return concrete(found)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

"""Tables that keys are put into and taken out of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.errors import NeedsValue, user_location
from ...core.refuse import invalid, shown
from ...core.state import LOCAL
from ...ops.arguments import known_value, sketching
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor
from ...values.trackable import Trackable
from .buckets import in_buckets
from .entries import Entries, as_array


def _at_each_call(what: str) -> None:
    """Refuse to be recorded: what a table holds is known at each call only."""
    if LOCAL.state.capture is not None:
        raise NeedsValue(f"{what} of a table that changes needs its state (at {user_location()})")


def _named(value: Any, dtype: DType, name: str) -> Tensor:
    """A tensor of a dtype. An error names the argument."""
    try:
        return convert(value, dtype)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class MutableHashTable(Trackable):
    """A table whose keys and values may change.

    Args:
      key_dtype: string, int32 or int64.
      default_value: the value of keys that are missing; its shape is that of each value.

    >>> import tape_compat as tf
    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(tf.constant(["a"]), tf.constant([5], tf.int64))
    >>> table.lookup(tf.constant(["a", "b"])).numpy().tolist()
    [5, -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        kind = as_dtype(value_dtype)
        self._default_value = convert(default_value, kind)
        default = as_array(self._default_value, kind)
        self._entries = Entries(as_dtype(key_dtype), kind, default, self._key_shape)
        self._name = name
        self._checkpoint = checkpoint

    #: The shape of each key.
    _key_shape: tuple[int, ...] = ()
    #: What the names of its values in checkpoints begin with.
    _saveable_name = "table"

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        keys, values = self._entries.export()
        return {"-keys": keys, "-values": values}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Take what a checkpoint kept, instead of what there is."""
        self.fill_with(restored_tensors["-keys"], restored_tensors["-values"])

    def fill_with(self, keys: Any, values: Any) -> None:
        """Have these instead of what there is."""
        self._refill(as_array(keys, self.key_dtype), as_array(values, self.value_dtype))

    def _refill(self, keys: np.ndarray, values: np.ndarray) -> None:
        before = dict(self._entries.values)
        self._entries.values.clear()
        try:
            self._entries.put(keys, values)
        except Exception:
            self._entries.values.update(before)
            raise

    @property
    def name(self) -> str:
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
        return self._counted()

    @by_host(effect=True)
    def _counted(self) -> Tensor:
        sketch = sketching()
        if sketch is not None:
            return sketch.tensor((), dtypes.int64)
        _at_each_call("size()")
        return self._entries.size()

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and all values."""
        return self._exported()

    @by_host(effect=True)
    def _exported(self) -> tuple[Tensor, Tensor]:
        sketch = sketching()
        if sketch is not None:
            count, value_shape = sketch.size(), self._entries.default.shape
            keys = sketch.tensor((count, *self._key_shape), self.key_dtype)
            return keys, sketch.tensor((count, *value_shape), self.value_dtype)
        _at_each_call("export()")
        return self._entries.export()

    def lookup(
        self, keys: Any, dynamic_default_values: Any = None, name: str | None = None
    ) -> Tensor:
        """The values of keys.

        Args: `dynamic_default_values`: the values of those that are missing, for each key.
        Raises: ValueError if they are of another dtype.
        """
        others = dynamic_default_values
        if others is not None:
            others = _named(others, self.value_dtype, "default_value")
        return self._looked_up(_named(keys, self.key_dtype, "keys"), others)

    @by_host(effect=True)
    def _looked_up(self, keys: Tensor, others: Tensor | None) -> Tensor:
        sketch = sketching()
        if sketch is not None:
            have = keys._aval.shape
            shape = have[: len(have) - len(self._key_shape)]
            return sketch.tensor((*shape, *self._entries.default.shape), self.value_dtype)
        _at_each_call("lookup()")
        defaults = None if others is None else as_array(others, self.value_dtype)
        return self._entries.find(self._keys(keys), defaults)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Set the values of keys.

        Raises: ValueError for other dtypes; InvalidArgumentError for shapes that do not fit.
        """
        given = _named(keys, self.key_dtype, "keys"), _named(values, self.value_dtype, "values")
        self._put(*given)

    @by_host(effect=True)
    def _put(self, keys: Tensor, values: Tensor) -> None:
        sketch = sketching()
        if sketch is not None:
            sketch.used = True
            return
        _at_each_call("insert()")
        self._entries.put(self._keys(keys), as_array(values, self.value_dtype))

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Take keys out; those that are missing do not matter."""
        if getattr(keys, "dtype", self.key_dtype) is not self.key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype!s}, received: {keys.dtype!s}"
            )
        self._taken_out(_named(keys, self.key_dtype, "keys"))

    @by_host(effect=True)
    def _taken_out(self, keys: Tensor) -> None:
        sketch = sketching()
        if sketch is not None:
            sketch.used = True
            return
        _at_each_call("remove()")
        for key in self._entries.names(self._keys(keys)):
            self._entries.values.pop(key, None)

    def _keys(self, keys: Tensor) -> np.ndarray:
        return as_array(keys, self.key_dtype)

    def __getitem__(self, keys: Any) -> Tensor:
        return self.lookup(keys)


class DenseHashTable(MutableHashTable):
    """A `MutableHashTable` that keeps two keys for itself.

    Args:
      empty_key, deleted_key: two different keys that are never used, scalars or vectors, as all
        keys are.
      initial_num_buckets: has no effect on results.
    Raises: InvalidArgumentError if these two are equal, or for a number of buckets that is no power
      of 2 from 4 on.

    >>> import tape_compat as tf
    >>> table = tf.lookup.experimental.DenseHashTable(
    ...     tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1
    ... )
    >>> table.insert(tf.constant([7], tf.int64), tf.constant([5], tf.int64))
    >>> table.lookup(tf.constant([7], tf.int64)).numpy().tolist()
    [5]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        buckets = 4 if initial_num_buckets is None else initial_num_buckets
        if buckets < 4 or buckets & (buckets - 1):
            raise invalid(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets}",
                "MutableDenseHashTableV2",
            )
        kind = as_dtype(key_dtype)
        self._reserved = convert(empty_key, kind), convert(deleted_key, kind)
        empty, deleted = map(known_value, self._reserved)
        self._key_shape = _key_shape(empty, deleted)
        super().__init__(kind, value_dtype, default_value, name, checkpoint)
        self._empty, self._deleted = map(self._entries.names, (empty, deleted))
        if self._empty == self._deleted:
            raise invalid("Empty and deleted keys cannot be equal", "MutableDenseHashTableV2")

    @property
    def reserved_keys(self) -> tuple[Tensor, Tensor]:
        """The two keys that are never used: that of what is empty, and of what was taken out."""
        return self._reserved

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it: all buckets."""
        keys, values = (part._value() for part in self._entries.export())
        buckets = in_buckets(self._entries.names(keys), *self._empty)
        width = self._entries.default.size
        flat, nothing = values.reshape(len(keys), width), np.zeros(width, values.dtype)
        rows = [nothing if at is None else flat[at] for _, at in buckets]
        all_keys = np.empty((len(buckets), *(self._key_shape or (1,))), keys.dtype)
        for i, (key, _) in enumerate(buckets):
            all_keys[i] = key
        return {"-keys": all_keys, "-values": np.stack(rows)}

    def _refill(self, keys: np.ndarray, values: np.ndarray) -> None:
        names, reserved = self._entries.names(keys), (*self._empty, *self._deleted)
        taken = [at for at, key in enumerate(names) if key not in reserved]
        shape = (len(names), *self._entries.default.shape)
        rows = keys.reshape(len(names), *self._key_shape)
        super()._refill(rows[taken], values.reshape(shape)[taken])

    def _keys(self, keys: Tensor) -> np.ndarray:
        found, shape = super()._keys(keys), self._key_shape
        if found.shape[found.ndim - len(shape) :] != shape:
            raise invalid(
                f"Input key shape {shown(found.shape)} must end with the table's key shape "
                f"{shown(shape)}",
                "LookupTable",
            )
        names = self._entries.names(found)
        for what, key in (("empty_key", self._empty), ("deleted_key", self._deleted)):
            if key[0] in names:
                raise invalid(f"Using the {what} as a table key is not allowed", "LookupTable")
        return found

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> None:
        """The same as `insert`."""
        self.insert(keys, values)

    def erase(self, keys: Any, name: str | None = None) -> None:
        """The same as `remove`."""
        self.remove(keys)


def _key_shape(empty: np.ndarray, deleted: np.ndarray) -> tuple[int, ...]:
    """The shape of keys: that of both which are never used. Refuses others than () and vectors."""
    if empty.ndim > 1:
        raise invalid(
            f"Empty key must be a scalar or a vector, got shape {shown(empty.shape)}",
            "MutableDenseHashTableV2",
        )
    if empty.shape != deleted.shape:
        raise invalid(
            f"Empty and deleted keys must have same shape, got shapes: {shown(empty.shape)} and "
            f"{shown(deleted.shape)}",
            "MutableDenseHashTableV2",
        )
    return empty.shape

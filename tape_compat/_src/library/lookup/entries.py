"""Entries: the keys and values of a table, on the host."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.errors import FailedPreconditionError, NotFoundError, user_location
from ...core.refuse import invalid, shown
from ...ops.arguments import known_value
from ...ops.strings import as_strings
from ...values.convert import convert
from ...values.tensor import Tensor, concrete

#: What keys and values may be.
_KEYS = ("string", "int32", "int64")


def check_key_dtype(dtype: DType) -> None:
    """Refuse keys that no table takes."""
    if dtype.name not in _KEYS:
        raise NotFoundError(
            None,
            None,
            f"Could not find device for node: HashTableV2 with keys of {dtype.name}; they must be "
            f"{', '.join(_KEYS)} (at {user_location()})",
        )


def tensor_of(array: np.ndarray, dtype: DType) -> Tensor:
    """An array of the host as a tensor of a dtype."""
    if dtype is dtypes.string:
        return as_strings(array)
    return concrete(np.array(array, dtype.np_dtype))


def as_array(value: Any, dtype: DType) -> np.ndarray:
    """A value that must be known, as an array of a dtype."""
    array = known_value(convert(value, dtype))
    return np.asarray(array, object if dtype is dtypes.string else dtype.np_dtype)


class Entries:
    """Keys and values, each of a shape; `default` stands for the value of a key that is missing.
    key_shape: () or that of vectors, which are tuples here."""

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        default: np.ndarray,
        key_shape: tuple[int, ...] = (),
    ) -> None:
        check_key_dtype(key_dtype)
        self.key_dtype, self.key_shape = key_dtype, key_shape
        self.value_dtype = value_dtype
        self.default = default
        #: A scalar default is an element, others are arrays.
        self._missing = default if default.ndim else default[()]
        self.values: dict[Any, Any] = {}

    def names(self, keys: np.ndarray) -> list[Any]:
        """The keys of an array one by one, as the entries have them."""
        if self.key_shape:
            return list(map(tuple, keys.reshape(-1, *self.key_shape).tolist()))
        return keys.ravel().tolist()

    def _shape(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of an array of keys, without that of each."""
        return keys.shape[: keys.ndim - len(self.key_shape)]

    def find(self, keys: np.ndarray, defaults: np.ndarray | None = None) -> Tensor:
        """The values of keys, which have any shape before their own."""
        found, shape = self.values, self._shape(keys)
        flat = self.names(keys)
        if defaults is None:
            rows: Sequence[Any] = list(map(found.get, flat, itertools.repeat(self._missing)))
        else:
            full = np.broadcast_to(defaults, (*shape, *self.default.shape))
            others = full.reshape((-1, *self.default.shape))
            rows = [found.get(key, other) for key, other in zip(flat, others)]
        return tensor_of(self._array(rows, shape), self.value_dtype)

    def _array(self, rows: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
        kind = object if self.value_dtype is dtypes.string else self.value_dtype.np_dtype
        if not self.default.ndim:
            return np.fromiter(rows, kind, len(rows)).reshape(shape)
        out = np.empty((len(rows), *self.default.shape), kind)
        for i, row in enumerate(rows):
            out[i] = row
        return out.reshape((*shape, *self.default.shape))

    def put(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Set the values of keys. Raises InvalidArgumentError if the shapes do not fit."""
        wanted = (*self._shape(keys), *self.default.shape)
        if values.shape != wanted:
            raise invalid(
                f"Expected shape {shown(wanted)} for value, got {shown(values.shape)}",
                "LookupTableInsertV2",
            )
        rows = values.reshape((-1, *self.default.shape))
        for key, row in zip(self.names(keys), rows):
            self.values[key] = row

    def put_once(self, keys: np.ndarray, values: np.ndarray) -> None:
        """`put` that refuses another value for a key with FailedPreconditionError."""
        before = dict(self.values)
        for key, value in zip(keys.ravel().tolist(), values.ravel().tolist()):
            if before.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    None,
                    None,
                    f"HashTable has different value for same key. Key {_shown(key)} has "
                    f"{_shown(before[key])} and trying to add value {_shown(value)} "
                    f"[Op:LookupTableImportV2] (at {user_location()})",
                )
        self.put(keys, values)

    def export(self) -> tuple[Tensor, Tensor]:
        """All keys and all values."""
        kind = object if self.key_dtype is dtypes.string else self.key_dtype.np_dtype
        keys = np.empty((len(self.values), *self.key_shape), kind)
        for i, key in enumerate(self.values):
            keys[i] = key
        values = self._array(list(self.values.values()), (len(self.values),))
        return tensor_of(keys, self.key_dtype), tensor_of(values, self.value_dtype)

    def size(self) -> Tensor:
        """How many keys there are, int64."""
        return concrete(np.array(len(self.values), np.int64))


def _shown(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)

"""What a table is filled with when it is made: tensors, a file, a dataset."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.errors import NotFoundError, user_location
from ...core.paths import local_path
from ...core.refuse import invalid, shown
from ...ops.arguments import known_value
from ...values.convert import convert
from ...values.tensor import Tensor
from .entries import as_array


class TableInitializerBase:
    """The base of initializers: `initialize(table)` fills a table."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    def initialize(self, table: Any) -> None:
        """Fill a table."""
        raise NotImplementedError(f"{type(self).__name__}.initialize")


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values of two tensors, or lists, of one shape.

    Args:
      key_dtype, value_dtype: of `keys` and `values`, where these are no tensors.
    Raises: TypeError if they are of other dtypes.

    >>> import tape_compat as tf
    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], value_dtype=tf.int64)
    >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b", "c"])).numpy().tolist()
    [2, -1]
    """

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self._keys = _tensor(keys, key_dtype)
        self._values = _tensor(values, value_dtype)
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> None:
        """Fill a table. Raises FailedPreconditionError for a key with two values."""
        keys, values = known_value(self._keys), known_value(self._values)
        if keys.shape != values.shape:
            raise invalid(
                f"Expected shape {shown(keys.shape)} for value, got {shown(values.shape)}",
                "LookupTableImportV2",
            )
        table._fill(keys, values)


def _tensor(value: Any, dtype: Any) -> Tensor:
    return convert(value, None if dtype is None else as_dtype(dtype))


class TextFileIndex:
    """What of a line of a file is a key or value, beside the columns from 0 on.

    >>> import tape_compat as tf
    >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Keys and values of the lines of a text file.

    Args:
      key_index, value_index: a column from 0 on, or one of `tf.lookup.TextFileIndex`.
      vocab_size: how many lines are read; all by default.
      delimiter: what stands between columns.
      value_index_offset: added to line numbers that are values.
    Raises: ValueError for indices and dtypes that do not go together.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if isinstance(filename, str) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        key_dtype, value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, index, dtype in (
            ("key", key_index, key_dtype),
            ("value", value_index, value_dtype),
        ):
            if index < -2:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
                raise ValueError(
                    f"`{what}_dtype` must be int64 for `{what}_index` -1, received: {dtype!s}"
                )
            if index == TextFileIndex.WHOLE_LINE and what == "key":
                if not (dtype.is_integer or dtype is dtypes.string):
                    raise ValueError(
                        "`key_dtype` should be either integer or string for `key_index` -2, "
                        f"received: {dtype!s}"
                    )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
        if not isinstance(self._filename, (str, bytes)):
            self._filename = convert(self._filename, dtypes.string)
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._offset = value_index_offset
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table: Any) -> None:
        """Fill a table. Raises NotFoundError without the file, InvalidArgumentError for lines that
        are too short."""
        name = self._filename
        if isinstance(name, Tensor):
            name = name.numpy()
        path = name.decode() if isinstance(name, bytes) else str(name)
        lines = _lines(path)
        if self._vocab_size is not None:
            if len(lines) < self._vocab_size:
                raise invalid(
                    f"Invalid vocab_size in {path}: expected {self._vocab_size} but got "
                    f"{len(lines)}",
                    "InitializeTableFromTextFileV2",
                )
            lines = lines[: self._vocab_size]
        keys = [self._part(line, i, self._key_index, 0, path) for i, line in enumerate(lines)]
        values = [
            self._part(line, i, self._value_index, self._offset, path)
            for i, line in enumerate(lines)
        ]
        table._fill(_column(keys, self._key_dtype), _column(values, self._value_dtype))

    def _part(self, line: bytes, number: int, index: int, offset: int, path: str) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return number + offset
        if index == TextFileIndex.WHOLE_LINE:
            return line
        columns = line.split(self._delimiter.encode())
        most = max(self._key_index, self._value_index) + 1
        if len(columns) < most:
            raise invalid(
                f"Invalid number of columns in {path} line {number} "
                f"({line.decode('utf-8', 'replace')}) : expected at least {most} got "
                f"{len(columns)}",
                "InitializeTableFromTextFileV2",
            )
        return columns[index]


def _lines(path: str) -> list[bytes]:
    try:
        with open(local_path(path), "rb") as file:
            text = file.read()
    except FileNotFoundError:
        raise NotFoundError(
            None, None, f"{path}; No such file or directory (at {user_location()})"
        ) from None
    lines = text.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line[:-1] if line.endswith(b"\r") else line for line in lines]


def _column(items: list[Any], dtype: DType) -> np.ndarray:
    if dtype is dtypes.string:
        out = np.empty(len(items), object)
        out[:] = items
        return out
    try:
        kind = float if dtype.is_floating else int
        return np.array([kind(item) for item in items], dtype.np_dtype)
    except ValueError as error:
        raise invalid(f"A column is not a valid {dtype.name}: {error}", "Initialize") from None


class DatasetInitializer(TableInitializerBase):
    """Keys and values of a dataset of pairs.

    Raises: ValueError if its elements are no pairs.

    >>> import tape_compat as tf
    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), 0)
    >>> table.lookup(tf.constant("b")).numpy()
    np.int32(2)
    """

    def __init__(self, dataset: Any) -> None:
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise ValueError("element_spec of the dataset must be a pair of tensor specs.")
        self.dataset = dataset
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table: Any) -> None:
        """Fill a table."""
        for key, value in self.dataset:
            keys, values = as_array(key, self._key_dtype), as_array(value, self._value_dtype)
            table._fill(keys.ravel(), values.ravel())

"""Datasets of the rows that a query of a database gives."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...values.spec import TensorSpec
from ..dataset import Dataset
from ..pipeline import UNKNOWN, Draws, Pipeline, Stream, StreamOf, refused
from ..structure import Element, flatten, map_leaves
from .contents import text

_TYPES = (
    *(dtypes.string, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8),
    *(dtypes.uint16, dtypes.bool, dtypes.float64),
)


class SqlRows(Pipeline):
    """The rows that a query gives."""

    name, shown = "SqlDatasetV2", ""

    def __init__(self, path: str, query: str, types: Any):
        super().__init__()
        self._path, self._query, self._types = path, query, types

    def _spec(self) -> Any:
        return map_leaves(lambda kind: TensorSpec((), kind), self._types)

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        kinds = flatten(self._types)
        run: list[Any] = []

        def step() -> Element:
            if not run:
                run.append(self._rows(len(kinds)))
            try:
                row = next(run[0])
            except sqlite3.Error as error:
                raise errors.UnknownError(None, None, f"The query failed: {error}") from None
            return tuple([_leaf(value, kind) for value, kind in zip(row, kinds, strict=True)])

        return StreamOf(step)

    def _rows(self, count: int) -> Iterator[tuple[Any, ...]]:
        """The rows, of so many columns each."""
        with contextlib.closing(sqlite3.connect(self._path, check_same_thread=False)) as connection:
            connection.text_factory = bytes
            yield from self._cursor(connection, count)

    def _cursor(self, connection: sqlite3.Connection, count: int) -> sqlite3.Cursor:
        try:
            cursor = connection.execute(self._query)
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 1)
            message = f"Prepare() failed: [{code}] {error}: {self._query} [Op:IteratorGetNext]"
            raise errors.UnknownError(None, None, message) from None
        found = len(cursor.description or ())
        if found != count:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The number of columns in query ({found}) must match the number of elements in "
                f"output_types ({count}). [Op:IteratorGetNext]",
            )
        return cursor


def _leaf(value: Any, kind: DType) -> np.ndarray:
    """A value of a database as a leaf; none is 0 or the empty text."""
    if kind is dtypes.string:
        array = np.empty((), object)
        if not isinstance(value, bytes):
            value = b"" if value is None else str(value).encode()
        array[()] = value
        return array
    try:
        number = float(value or 0) if kind is dtypes.float64 else int(value or 0)
    except ValueError:
        number = 0
    return np.array(number).astype(kind.np_dtype)


class SqlDataset(Dataset):
    """The rows that a query of an SQLite database gives: scalars in the structure of the dtypes.

    Args:
      driver_name: "sqlite". data_source_name: the path of the database.
      query: in SQL.
      output_types: nest of the dtypes of the columns.
    Raises: InvalidArgumentError for another driver or dtype, and going through it, for another
      number of columns; UnknownError if the query fails.

    >>> import tape_compat as tf
    >>> dataset = tf.data.experimental.SqlDataset(
    ...     "sqlite", ":memory:", "select 1, 'a'", (tf.int32, tf.string)
    ... )
    >>> list(dataset.as_numpy_iterator())
    [(np.int32(1), b'a')]
    """

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any):
        driver = text(driver_name, "driver_name", "SqlDataset").decode()
        if driver != "sqlite":
            raise refused(
                f"The database type, {driver}, is not supported by SqlDataset. The set of "
                "supported databases is: {'sqlite'}."
            )
        types = map_leaves(as_dtype, output_types)
        if any(kind not in _TYPES for kind in flatten(types)):
            names = ", ".join(f"DT_{x.name.upper()}" for x in _TYPES).replace("FLOAT64", "DOUBLE")
            raise refused(f"Each element of `output_types_` must be one of: {names} ")
        path = text(data_source_name, "data_source_name", "SqlDataset").decode()
        super().__init__(SqlRows(path, text(query, "query", "SqlDataset").decode(), types))

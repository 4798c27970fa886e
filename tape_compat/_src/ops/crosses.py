"""Crosses of features: every combination of one element of each input, row by row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.hashing import fingerprint64, fingerprint_cat64
from ..values.ragged import RaggedTensor
from ..values.row_partition import RowPartition, host, splits_of_lengths
from ..values.sparse import SparseTensor, known_dense_shape
from ..values.tensor import Tensor, concrete
from .arguments import as_int, as_tensor, known_value
from .sparse_layout import made, positions
from .strings import as_strings

#: What hashes begin with.
HASH_KEY = 0xDECAFCAFFE


def _rows(x: Any, kernel: str) -> list[list[Any]]:
    """The elements of each row: numbers or bytes."""
    if isinstance(x, SparseTensor):
        items = known_value(x.values).tolist()
        rows: list[list[Any]] = [[] for _ in range(known_dense_shape(x)[0])]
        for place, item in zip(positions(x)[:, 0].tolist(), items):
            rows[place].append(item)
        return rows
    if isinstance(x, RaggedTensor):
        items, splits = known_value(x.values).tolist(), host(x.row_splits)
        return [items[a:b] for a, b in zip(splits, splits[1:])]
    array = known_value(as_tensor(x))
    if array.ndim != 2:
        raise ValueError(f"{kernel}: inputs must have rank 2, not {array.ndim}")
    return array.tolist()


def _combined(
    inputs: Sequence[Any], one: Callable[[Sequence[Any]], Any], kernel: str
) -> list[list[Any]]:
    """What `one` makes of each combination, by row."""
    columns = [_rows(x, kernel) for x in inputs]
    if len({len(rows) for rows in columns}) > 1:
        raise ValueError(f"{kernel}: inputs must have the same number of rows")
    return [[one(pair) for pair in itertools.product(*parts)] for parts in zip(*columns)]


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _joining(separator: str) -> Callable[[Sequence[Any]], bytes]:
    between = separator.encode()
    return lambda parts: between.join(map(_bytes, parts))


def _hashing(num_buckets: Any, hash_key: Any) -> Callable[[Sequence[Any]], int]:
    buckets = as_int(num_buckets) or 2**63 - 1
    key = HASH_KEY if not hash_key else int(hash_key)

    def hashed(parts: Sequence[Any]) -> int:
        found = key
        for part in parts:
            number = fingerprint64(part) if isinstance(part, bytes) else int(part) % 2**64
            found = fingerprint_cat64(found, number)
        return found % buckets

    return hashed


def _flat(rows: list[list[Any]], dtype: Any) -> Tensor:
    items = [x for row in rows for x in row]
    if dtype is not dtypes.string:
        return concrete(np.array(items, np.int64))
    array = np.empty(len(items), object)
    array[:] = items
    return as_strings(array)


def _sparse(rows: list[list[Any]], dtype: Any) -> SparseTensor:
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    longest = max(map(len, rows), default=0)
    places = np.array(indices, np.int64).reshape(-1, 2)
    return made(places, _flat(rows, dtype), (len(rows), longest))


def _sparse_first(inputs: Any) -> list[Any]:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    for x in inputs:
        if not isinstance(x, (SparseTensor, Tensor)):
            raise TypeError("All inputs must be SparseTensors")
    return sorted(inputs, key=lambda x: not isinstance(x, SparseTensor))


def sparse_cross(inputs: Any, name: str | None = None, separator: str | None = None) -> Any:
    """Every combination of elements of the rows of the inputs, joined by '_X_' or `separator`.

    Args: `inputs`: a list of SparseTensors and Tensors of rank 2; the sparse ones come first.
    Raises: TypeError for other inputs.

    >>> import tape_compat as tf
    >>> tf.sparse.cross([tf.constant([["a"]]), tf.constant([["b", "c"]])]).values.numpy().tolist()
    [b'a_X_b', b'a_X_c']
    """
    between = _joining("_X_" if separator is None else separator)
    rows = _combined(_sparse_first(inputs), between, "SparseCross")
    return _sparse(rows, dtypes.string)


def sparse_cross_hashed(
    inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None
) -> Any:
    """A hash of every combination of elements of the rows of the inputs.

    Args: as in `tf.sparse.cross`; `num_buckets`: how many values there are, 0 for 2**63 - 1.

    >>> import tape_compat as tf
    >>> x = tf.sparse.cross_hashed([tf.constant([["a"]]), tf.constant([["c"]])], num_buckets=1000)
    >>> x.values.numpy().tolist()
    [566]
    """
    hashed = _hashing(num_buckets, hash_key)
    return _sparse(_combined(_sparse_first(inputs), hashed, "SparseCross"), dtypes.int64)


def _ragged(inputs: Any, rows: list[list[Any]], dtype: Any) -> RaggedTensor:
    splits = splits_of_lengths([len(row) for row in rows])
    return RaggedTensor(_flat(rows, dtype), RowPartition(concrete(splits)), internal=True)


def ragged_cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Every combination of elements of the rows of the inputs, joined by '_X_'.

    >>> import tape_compat as tf
    >>> tf.ragged.cross([tf.ragged.constant([["a"]]), tf.ragged.constant([["b", "c"]])])
    <tf.RaggedTensor [[b'a_X_b', b'a_X_c']]>
    """
    return _ragged(inputs, _combined(inputs, _joining("_X_"), "RaggedCross"), dtypes.string)


def ragged_cross_hashed(
    inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None
) -> RaggedTensor:
    """A hash of every combination of elements of the rows of the inputs.

    >>> import tape_compat as tf
    >>> pair = [tf.ragged.constant([["a"]]), tf.ragged.constant([["c", "d"]])]
    >>> tf.ragged.cross_hashed(pair, num_buckets=1000)
    <tf.RaggedTensor [[566, 182]]>
    """
    hashed = _hashing(num_buckets, hash_key)
    return _ragged(inputs, _combined(inputs, hashed, "RaggedCross"), dtypes.int64)

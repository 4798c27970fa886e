"""Crosses of features: every combination of one element of each input, row by row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor
from ..composites.row_partition import RowPartition, host, splits_of_lengths
from ..composites.sparse import SparseTensor, known_dense_shape
from ..core import dtypes
from ..core.dimensions import differ, is_symbolic
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.tensor import Tensor, concrete
from . import casting
from .arguments import as_int, as_tensor, known_value, sketched
from .creation import range as range_of
from .hashing import fingerprint64, fingerprint_cat64
from .joining import meshgrid, stack
from .shapes import reshape
from .sparse_layout import of_rows, positions
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
    return known_value(as_tensor(x)).tolist()


def _check_rows(columns: Sequence[list[Any]], inputs: Sequence[Any], kernel: str) -> None:
    """Refuse inputs of different numbers of rows."""
    wanted = len(columns[0]) if columns else 0
    for i, rows in enumerate(columns):
        if len(rows) == wanted:
            continue
        if kernel == "RaggedCross":
            raise invalid("inputs must all have the same batch dimension size.", kernel)
        sparse = sum(isinstance(x, SparseTensor) for x in inputs)
        at = f"tensor {i}" if i < sparse else f"dense tensor {i - sparse}"
        raise invalid(f"Expected batch size {wanted} got {len(rows)} at {at}", kernel)


def _combined(
    inputs: Sequence[Any], one: Callable[[Sequence[Any]], Any], kernel: str
) -> list[list[Any]]:
    """What `one` makes of each combination, by row."""
    columns = [_rows(x, kernel) for x in inputs]
    _check_rows(columns, inputs, kernel)
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


@by_host()
def crossed(
    inputs: Sequence[Any], separator: str | None, num_buckets: int, hash_key: int
) -> Tensor:
    """Every combination of elements of the rows of dense inputs: strings if there is a separator,
    else hashes, [rows, combinations].

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.crosses import crossed
    >>> crossed([tf.constant([["a"]]), tf.constant([["b", "c"]])], "-", 0, 0).numpy().tolist()
    [[b'a-b', b'a-c']]
    """
    dtype = dtypes.int64 if separator is None else dtypes.string
    columns = math.prod(x._aval.shape[1] for x in inputs)
    sketch = sketched(*inputs)
    if sketch is not None:
        return sketch.tensor([inputs[0]._aval.shape[0], columns], dtype)
    one = _hashing(num_buckets, hash_key) if separator is None else _joining(separator)
    rows = _combined(inputs, one, _kernel(separator))
    return reshape(_flat(rows, dtype), [len(rows), columns])


@by_host()
def crossed_rows(
    indices: list[Tensor],
    values: list[Tensor],
    shapes: list[Tensor],
    dense: list[Tensor],
    separator: str | None,
    num_buckets: int,
    hash_key: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Combinations of the rows of sparse inputs, by their parts, and of dense ones, as the parts of
    a sparse tensor: its places, its values and its shape.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.crosses import crossed_rows
    >>> x, y = tf.sparse.from_dense([["a"]]), tf.constant([["b", "c"]])
    >>> crossed_rows([x.indices], [x.values], [x.dense_shape], [y], "-", 0, 0)[1].numpy().tolist()
    [b'a-b', b'a-c']
    """
    dtype = dtypes.int64 if separator is None else dtypes.string
    sketch = sketched(*indices, *values, *shapes, *dense)
    if sketch is not None:
        return sketch.sparse_parts(dtype)
    given = [*map(SparseTensor, indices, values, shapes), *dense]
    one = _hashing(num_buckets, hash_key) if separator is None else _joining(separator)
    rows = _combined(given, one, _kernel(separator))
    whole = of_rows(rows, _flat(rows, dtype))
    return whole.indices, whole.values, whole.dense_shape


def _cross(inputs: Any, separator: str | None, num_buckets: Any, hash_key: Any) -> SparseTensor:
    """Combinations of the rows of sparse and dense inputs."""
    given = _in_order(inputs, _kernel(separator))
    if _of_unknown_values(given):
        table = crossed(given, separator, as_int(num_buckets), int(hash_key or 0))
        sizes = table._aval.shape
        ends = [convert(size, dtypes.int64) for size in sizes]
        places = [reshape(x, [-1]) for x in meshgrid(*map(range_of, ends), indexing="ij")]
        return SparseTensor(stack(places, 1), reshape(table, [-1]), convert(ends))
    sparse = [x for x in given if isinstance(x, SparseTensor)]
    parts = ([x.indices for x in sparse], [x.values for x in sparse])
    shapes = [x.dense_shape for x in sparse]
    how = (separator, as_int(num_buckets), int(hash_key or 0))
    return SparseTensor(*crossed_rows(*parts, shapes, given[len(sparse) :], *how))


def _kernel(separator: str | None) -> str:
    return "SparseCross" if separator is None else "SparseCrossV2"


def _of_unknown_values(inputs: Sequence[Any]) -> bool:
    """Whether inputs are matrices of which only the sizes are known, as while a function is
    recorded, so that the number of combinations is one size times a number."""
    return (
        all(isinstance(x, Tensor) and len(x._aval.shape) == 2 for x in inputs)
        and sum(is_symbolic(x._aval.shape[1]) for x in inputs) <= 1
        and any(x._is_symbolic() for x in inputs)
        and not any(differ(inputs[0]._aval.shape[0], x._aval.shape[0]) for x in inputs)
    )


def _in_order(inputs: Any, kernel: str) -> list[Any]:
    """The inputs, sparse ones first, of texts and integers."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    for x in inputs:
        if not isinstance(x, (SparseTensor, Tensor)):
            raise TypeError("All inputs must be SparseTensors")
    dense = [x for x in inputs if isinstance(x, Tensor)]
    for i, x in enumerate(dense):
        if len(x._aval.shape) != 2:
            raise invalid(
                f"Dense inputs should be a matrix but received shape {shown(x._aval.shape)} "
                f"at position {i}",
                kernel,
            )
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    for i, x in enumerate(sparse):
        if x.shape.rank not in (None, 2):
            raise invalid(
                f"Expected D2 of index to be 2 got {x.shape.rank} at position {i}", kernel
            )
    return [x if x.dtype is dtypes.string else casting.cast(x, dtypes.int64)
            for x in (*sparse, *dense)]  # fmt: skip


def sparse_cross(inputs: Any, name: str | None = None, separator: str | None = None) -> Any:
    """Every combination of elements of the rows of the inputs, joined by '_X_' or `separator`.

    Args: `inputs`: a list of SparseTensors and Tensors of rank 2; the sparse ones come first.
    Raises: TypeError for other inputs.

    >>> import tape_compat as tf
    >>> tf.sparse.cross([tf.constant([["a"]]), tf.constant([["b", "c"]])]).values.numpy().tolist()
    [b'a_X_b', b'a_X_c']
    """
    return _cross(inputs, "_X_" if separator is None else separator, 0, None)


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
    return _cross(inputs, None, num_buckets, hash_key)


def _check_ragged(inputs: Any) -> None:
    """Refuse inputs of `tf.ragged.cross` that are no rows of texts or integers."""
    what = "tf.ragged.cross only supports inputs with rank=2"
    given = [x if isinstance(x, (SparseTensor, RaggedTensor)) else as_tensor(x) for x in inputs]
    for i, x in enumerate(given):
        if isinstance(x, RaggedTensor) and x.ragged_rank > 1:
            raise ValueError(what)
        if not (x.dtype.is_integer or x.dtype is dtypes.string):
            raise ValueError(f"Unexpected dtype for inputs[{i}]: {x.dtype}")
    if any(x.shape.rank != 2 for x in given):
        raise invalid(f"{what}.", "RaggedCross")


def _ragged(inputs: Any, rows: list[list[Any]], dtype: Any) -> RaggedTensor:
    splits = splits_of_lengths([len(row) for row in rows])
    return RaggedTensor(_flat(rows, dtype), RowPartition(concrete(splits)), internal=True)


def ragged_cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Every combination of elements of the rows of the inputs, joined by '_X_'.

    >>> import tape_compat as tf
    >>> tf.ragged.cross([tf.ragged.constant([["a"]]), tf.ragged.constant([["b", "c"]])])
    <tf.RaggedTensor [[b'a_X_b', b'a_X_c']]>
    """
    _check_ragged(inputs)
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
    _check_ragged(inputs)
    hashed = _hashing(num_buckets, hash_key)
    return _ragged(inputs, _combined(inputs, hashed, "RaggedCross"), dtypes.int64)

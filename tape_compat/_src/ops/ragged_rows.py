"""Ragged tensors: which elements go where.

A movement of rows is worked out on the host, on splits; then the innermost values are gathered
once, which is what tapes see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..composites.ragged import RaggedTensor, splits_dtype
from ..composites.row_partition import RowPartition, host, splits_of_lengths
from ..core.dimensions import is_unknown
from ..core.dtypes import int32, int64
from ..core.errors import NeedsValue, user_location
from ..core.refuse import invalid, wrong_dtype
from ..values import operators
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from .arguments import as_int, known_value
from .joining import concat as join, stack as stack_dense
from .ragged_places import (
    are_unknown,
    clipped,
    joined,
    places_of_rows,
    row,
    rows_between,
    sliced,
    spans,
)
from .repeating import tile as tile_dense
from .shapes import expand_dims as expand_dense, reshape
from .sparse_layout import taken


class Rows(NamedTuple):
    """The form of a ragged tensor on the host.

    splits: of each ragged axis, outermost first. uniform: the length of the rows along each axis
    that was made with one. flat: the innermost values.
    """

    splits: list[np.ndarray]
    uniform: list[int | None]
    flat: Tensor

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.splits[0]) - 1 if self.splits else self.flat._aval.shape[0]


def rows_of(value: Any, rank: int = 0) -> Rows:
    """The form of a RaggedTensor, or of a Tensor; at least `rank` axes after the first as rows."""
    if isinstance(value, RaggedTensor):
        partitions = value._partitions
        splits = [host(p._splits).astype(np.int64) for p in partitions]
        rows = Rows(splits, [p._uniform for p in partitions], value.flat_values)
    else:
        rows = Rows([], [], convert(value))
    while len(rows.splits) < rank:
        rows = _cut_inner(rows)
    return rows


def _cut_inner(rows: Rows) -> Rows:
    """The first inner axis as rows of one length."""
    count, length, *inner = rows.flat._aval.shape
    if is_unknown((count, length)):
        raise NeedsValue(
            f"the rows of {rows.flat!s} as those of a ragged tensor (at {user_location()}) are "
            "known only when the function that is being recorded is called."
        )
    splits = np.arange(count + 1, dtype=np.int64) * length
    flat = reshape(rows.flat, [count * length, *inner])
    return Rows([*rows.splits, splits], [*rows.uniform, length], flat)


def ragged(rows: Rows, dtype: Any = int64) -> Any:
    """The tensor of a form: a Tensor if no axis is ragged."""
    found: Any = rows.flat
    for splits, length in zip(reversed(rows.splits), reversed(rows.uniform)):
        partition = RowPartition(concrete(splits.astype(dtype.np_dtype)), length)
        found = RaggedTensor(found, partition, internal=True)
    return found


def select(rows: Rows, index: np.ndarray, level: int = 0) -> Rows:
    """The rows at `index`, in this order. level: of which axis they are rows; the splits of that
    axis and above are not looked at, and are missing in the answer."""
    splits = []
    for old in rows.splits[level:]:
        starts = old[index]
        lengths = old[index + 1] - starts
        splits.append(splits_of_lengths(lengths))
        index = spans(starts, lengths)
    return Rows(splits, rows.uniform[level:], taken(rows.flat, index))


def under(rows: Rows, level: int, splits: np.ndarray, inner: Rows, length: int | None) -> Rows:
    """Rows with the axis `level` cut by `splits`, and `inner` for what is in it."""
    return Rows(
        [*rows.splits[:level], splits, *inner.splits],
        [*rows.uniform[:level], length, *inner.uniform],
        inner.flat,
    )


# ---------------------------------------------------------------------------------------------
# r[...]


def getitem(x: RaggedTensor, key: Any) -> Any:
    """The part of a ragged tensor that a Python index names."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    if sum(key is not None and not _is_dots(key) for key in keys) > len(x.shape):
        raise IndexError("Too many indices for RaggedTensor")
    return _item(x, _without_dots(keys, x))


def _is_dots(key: Any) -> bool:
    return key is Ellipsis


def _without_dots(keys: list[Any], x: Any) -> list[Any]:
    dots = [i for i, key in enumerate(keys) if _is_dots(key)]
    if not dots:
        return keys
    at = dots[0]
    given = sum(key is not None and not _is_dots(key) for key in keys)
    missing = max(len(x.shape) - given, 0)
    rest = [key for key in keys[at + 1 :] if not _is_dots(key)]
    return [*keys[:at], *[slice(None)] * missing, *rest]


def _item(x: Any, keys: list[Any]) -> Any:
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return convert(x)[tuple(keys)]
    first, *rest = keys
    if first is None:
        found = _item(x, rest)
        count = found.shape[0] if isinstance(found, RaggedTensor) else None
        if isinstance(found, RaggedTensor):
            return RaggedTensor.from_uniform_row_length(found, count, 1)
        return expand_dense(found, 0)
    if isinstance(first, slice):
        if first != slice(None) and are_unknown(x) and first.step is None:
            x = rows_between(x, first.start, first.stop)
        elif first != slice(None):
            rows = rows_of(x)
            index = np.arange(rows.height)[_outer_slice(first)]
            x = ragged(select(rows, index), splits_dtype(x))
        return _inner(x, rest)
    _check_index(first)
    if are_unknown(x) or (isinstance(first, Tensor) and first._is_symbolic()):
        last = isinstance(first, (int, np.integer)) and first < 0
        return _item(row(x, x.nrows() + first if last else first), rest)
    place = _as_index(first)
    rows = rows_of(x)
    at = place + rows.height if place < 0 else place
    if not 0 <= at < rows.height:
        raise IndexError(f"Row key {place} out of bounds")
    start, stop = rows.splits[0][at], rows.splits[0][at + 1]
    inner = select(rows, np.arange(start, stop), 1)
    return _item(ragged(inner, splits_dtype(x)), rest)


def _as_index(key: Any) -> int:
    _check_index(key)
    return as_int(key)


def _check_index(key: Any) -> None:
    scalar = isinstance(key, Tensor) and key._aval.shape == () and key.dtype.is_integer
    if scalar or (isinstance(key, (int, np.integer)) and not isinstance(key, bool)):
        return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {key!r}"
    )


def _outer_slice(key: slice) -> slice:
    """A slice of rows with the values of its bounds."""
    parts = [None if p is None else _as_index(p) for p in (key.start, key.stop, key.step)]
    if parts[2] == 0:
        raise invalid("strides[0] must be non-zero", "StridedSlice")
    return slice(*parts)


def _known_slice(key: slice) -> slice:
    """A slice of each row with the values of its bounds."""
    parts = []
    for part, what in ((key.start, "offsets"), (key.stop, "offsets"), (key.step, "strides")):
        try:
            parts.append(None if part is None else _as_index(part))
        except NeedsValue:  # a TypeError, too
            raise
        except TypeError:
            raise TypeError(f"slice {what} must be integers or None, not {part!r}") from None
    if parts[2] == 0:
        raise invalid("Requires delta != 0", "RaggedRange")
    return slice(*parts)


def _inner(x: Any, keys: list[Any]) -> Any:
    """Keys for the axes after the first."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return convert(x)[(slice(None), *keys)]
    first, *rest = keys
    if isinstance(first, slice) and not rest and x.ragged_rank == 1 and are_unknown(x):
        return sliced(x, _known_slice(first))
    if first is None:
        count = x._partition.static_nrows
        wrapped = RaggedTensor.from_uniform_row_length(x, 1, count)
        return wrapped.with_values(_inner(x, rest))
    rows = rows_of(x)
    splits = rows.splits[0]
    if isinstance(first, slice):
        starts, lengths, step = clipped(_known_slice(first), splits)
        index = spans(starts, lengths, step)
        inner = _inner(ragged(select(rows, index, 1), splits_dtype(x)), rest)
        partition = RowPartition(
            concrete(splits_of_lengths(lengths).astype(x._partition.dtype.np_dtype)),
            _one_length(lengths) if rows.uniform[0] is not None else None,
        )
        return RaggedTensor(inner, partition, internal=True)
    if rows.uniform[0] is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    place = _as_index(first)
    length = rows.uniform[0]
    at = place + length if place < 0 else place
    if not 0 <= at < length:
        raise invalid(f"slice index {place} of dimension 0 out of bounds.", "StridedSlice")
    found = ragged(select(rows, splits[:-1] + at, 1), splits_dtype(x))
    return _inner(found, rest)


def _one_length(lengths: np.ndarray) -> int:
    return int(lengths[0]) if len(lengths) else 0


operators.define(ragged_getitem=getitem)


# ---------------------------------------------------------------------------------------------
# Joins and repetitions.


def axis_of(axis: Any, rank: int, what: str = "axis") -> int:
    """An axis from 0 on. Raises ValueError if there is none such."""
    place = as_int(axis)
    if not -rank <= place < rank:
        raise ValueError(f"{what}={place} out of bounds: expected {-rank}<={what}<{rank}")
    return place % rank


def _same_flat(values: Sequence[Tensor], axis: int = 0) -> Tensor:
    dtypes = {v.dtype for v in values}
    if len(dtypes) > 1:
        raise wrong_dtype(values[1].dtype, 1, values[0].dtype, "ConcatV2")
    return join(list(values), axis)


def end_to_end(parts: Sequence[Rows]) -> Rows:
    """Forms one after the other along the first axis."""
    if len(parts) == 1:
        return parts[0]
    splits, uniform = [], []
    for level in range(len(parts[0].splits)):
        lengths = np.concatenate([np.diff(p.splits[level]) for p in parts])
        splits.append(splits_of_lengths(lengths))
        same = {p.uniform[level] for p in parts}
        uniform.append(same.pop() if len(same) == 1 else None)
    return Rows(splits, uniform, _same_flat([p.flat for p in parts]))


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Ragged tensors, and others of their rank, end to end along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    given = _matched(values)
    rank = len(given[0].shape)
    along = axis_of(axis, rank)
    if len(given) == 1:
        return given[0]
    if along < 2 and are_unknown(*given):
        found = joined(given, along)
        if found is not None:
            return found
    depth = max(len(rows_of(x).splits) for x in given)
    parts = [rows_of(x, depth) for x in given]
    return _of_any_lengths(_joined(parts, along), splits_dtype(*given))


def _of_any_lengths(rows: Rows, dtype: Any) -> Any:
    """The tensor of a form that no row lengths are stated of."""
    return ragged(Rows(rows.splits, [None] * len(rows.splits), rows.flat), dtype)


def _matched(values: Sequence[Any]) -> list[Any]:
    """Ragged tensors as they are, others as tensors of their dtype, all of one rank."""
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    first = next((x for x in values if isinstance(x, (RaggedTensor, Tensor))), None)
    hint = None if first is None else first.dtype
    given = [x if isinstance(x, RaggedTensor) else convert(x, hint=hint) for x in values]
    rank = len(given[0].shape)
    for x in given:
        if len(x.shape) != rank:
            raise ValueError(f"Shape {x.shape} must have rank {rank}")
    splits_dtype(*given)
    return given


def _joined(parts: Sequence[Rows], along: int) -> Rows:
    if not along:
        return end_to_end(parts)
    if not parts[0].splits:  # no axis from here on is ragged
        return Rows([], [], _same_flat([p.flat for p in parts], along))
    counts = [p.height for p in parts]
    if len(set(counts)) > 1:
        raise invalid(
            "Input tensors have incompatible shapes.\nCondition x == y did not hold.\n"
            f"x: {counts[0]}, y: {counts[1]}",
            "Assert",
        )
    if along > 1:  # the first axis stays; join what it holds, row by row
        splits = parts[0].splits[0]
        for p in parts[1:]:
            if not np.array_equal(p.splits[0], splits):
                raise invalid(
                    "Inputs must have identical ragged splits\nCondition x == y did not hold.",
                    "Assert",
                )
        inner = [Rows(p.splits[1:], p.uniform[1:], p.flat) for p in parts]
        found = _joined(inner, along - 1)
        return Rows([splits, *found.splits], [parts[0].uniform[0], *found.uniform], found.flat)
    whole = end_to_end(parts)
    index, total = places_of_rows([p.splits[0] for p in parts], int64)
    return under(whole, 0, total, select(whole, index, 1), None)


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Ragged tensors, and others of their rank, as rows along a new axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    given = _matched(values)
    rank = len(given[0].shape)
    along = axis_of(axis, rank + 1)
    dense = not any(isinstance(x, RaggedTensor) for x in given)
    if dense and (not rank or 0 < along >= rank - 1):
        return stack_dense(given, along)
    depth = max(rank > 1, *[len(rows_of(x).splits) for x in given])
    if along == 0:
        return of_rows(given, depth)
    parts = [rows_of(x, depth) for x in given]
    dtype = splits_dtype(*given)
    found = concat([expand_dims(ragged(p, dtype), along) for p in parts], along)
    return found if len(given) > 1 else _of_any_lengths(rows_of(found), dtype)


def of_rows(values: Sequence[Any], depth: int) -> RaggedTensor:
    """A ragged tensor of these rows, of one rank. depth: how many of their axes after the first are
    cut as well, at least."""
    parts = [rows_of(x, depth) for x in values]
    whole = end_to_end(parts)
    form = under(whole, 0, splits_of_lengths([p.height for p in parts]), whole, None)
    return _of_any_lengths(form, splits_dtype(*values) if depth else int32)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """With a new axis of size 1."""
    if not isinstance(input, RaggedTensor):
        return expand_dense(input, axis)
    along = axis_of(axis, len(input.shape) + 1)
    if along == 0:
        return RaggedTensor.from_uniform_row_length(input, input._partition.static_nrows, 1)
    if along == 1:
        return RaggedTensor.from_uniform_row_length(input, 1, input._partition.static_nrows)
    values = input.values
    if isinstance(values, RaggedTensor):
        return input.with_values(expand_dims(values, along - 1))
    return input.with_values(expand_dense(values, along - 1))


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeated along each axis."""
    times = known_value(multiples)
    if len(times) != len(input.shape):
        raise ValueError(f"Shape ({len(times)},) and ({len(input.shape)},) are incompatible")
    depth = input.ragged_rank
    found: Any = input
    for axis, n in enumerate(times[: depth + 1].tolist()):
        if n != 1:
            found = concat([found] * n, axis) if n else _none(found, axis)
    inner = [1, *times[depth + 1 :].tolist()]
    if any(n != 1 for n in inner):
        found = found.with_flat_values(tile_dense(found.flat_values, inner))
    return found


def _none(x: RaggedTensor, axis: int) -> RaggedTensor:
    key = [slice(None)] * axis + [slice(0, 0)]
    return getitem(x, tuple(key))


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """In the other direction along some axes."""
    found = tensor
    for each in np.atleast_1d(known_value(axis)).tolist():
        along = axis_of(each, len(tensor.shape))
        key = [slice(None)] * along + [slice(None, None, -1)]
        found = getitem(found, tuple(key))
    return found


def gather_rows(params: Any, index: np.ndarray) -> Any:
    """The rows at places of the host, which must be there."""
    rows = rows_of(params)
    outside = (index < 0) | (index >= rows.height)
    if outside.any():
        i = int(np.flatnonzero(outside)[0])
        raise invalid(f"indices[{i}] = {index[i]} is not in [0, {rows.height})", "RaggedGather")
    return ragged(select(rows, index), splits_dtype(params))

"""Places of values in rows, worked out on the host; and ragged tensors whose rows are known only
when the function that is being recorded is called.

Of these the host works out places and where rows end in steps; ops that tapes follow move values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..composites.ragged import RaggedTensor, splits_dtype
from ..composites.row_partition import RowPartition, host, splits_of_lengths
from ..core.dimensions import Size
from ..core.dtypes import int64
from ..core.op import Op
from ..values import operators
from ..values.bounds import not_empty, scattered
from ..values.convert import convert
from ..values.effects import require
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arguments import as_size, sketched
from .arithmetic import maximum
from .casting import cast
from .comparison import not_equal
from .creation import range as range_op
from .gather_scatter import gather
from .joining import concat as join
from .reductions import cumsum, reduce_all, reduce_any, reduce_max, reduce_sum
from .selection import boolean_mask, where
from .shapes import reshape, shape


def spans(starts: np.ndarray, lengths: np.ndarray, step: Any = 1) -> np.ndarray:
    """starts[0], starts[0] + step, ... (lengths[0] numbers), then the same for the next."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total, dtype=np.int64) - np.repeat(ends - lengths, lengths)
    return np.repeat(starts, lengths) + within * step


def clipped(key: slice, splits: Any, numpy: Any = np) -> tuple[Any, Any, int]:
    """Where a slice of each row begins, how long it is, and its step. numpy: what computes it."""
    step = 1 if key.step is None else key.step
    size = numpy.diff(splits)
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def bound(value: int | None, default: Any) -> Any:
        if value is None:
            return numpy.broadcast_to(default, size.shape)
        return numpy.clip(numpy.where(value < 0, value + size, value), low, high)

    begin = bound(key.start, 0 if step > 0 else size - 1)
    end = bound(key.stop, size if step > 0 else -1)
    lengths = (
        numpy.maximum(0, -((begin - end) // step))
        if step > 0
        else numpy.maximum(0, -((end - begin) // -step))
    )
    return splits[:-1] + begin, lengths.astype(numpy.int64), step


# -- rows that are not known ----------------------------------------------------------------------


def are_unknown(*values: Any) -> bool:
    """Whether the rows of one of some ragged tensors are not known."""
    return any(
        isinstance(x, RaggedTensor) and any(p._splits._is_symbolic() for p in x._partitions)
        for x in values
    )


def rows_of_values(ends: Any, count: Size) -> Any:
    """How many rows end before each of so many values, or there."""
    marks = scattered(jnp.zeros(count, jnp.int64).at[ends], "add", 1)
    return lax.slice_in_dim(jnp.cumsum(not_empty(marks, (0,))), 0, count)


_ROW_IDS = Op(rows_of_values, "SegmentIdsFromRowSplits", differentiable=False)


def row_ids(x: RaggedTensor) -> Tensor:
    """The innermost row of each value, int64."""
    return ids_of_splits(x._partitions[-1]._splits, x.flat_values._aval.shape[0])


def outer_row_ids(x: RaggedTensor) -> Tensor:
    """The outermost row of each of what the outermost rows are of, int64."""
    first, *others = x._partitions
    below = others[0]._splits if others else None
    count = x.flat_values._aval.shape[0] if below is None else below._aval.shape[0] - 1
    return ids_of_splits(first._splits, count)


def ids_of_splits(splits: Tensor, count: Size) -> Tensor:
    """The row of each of so many values, int64."""
    return apply(_ROW_IDS.bind(count=count), (splits[1:],))


def masked(data: Tensor, mask: Tensor, kind: Any) -> RaggedTensor:
    """The elements of rows where a mask [rows, columns] is true."""
    counts = cumsum(reduce_sum(cast(mask, kind), 1))
    splits = join([np.zeros(1, kind.np_dtype), counts], 0)
    return RaggedTensor(boolean_mask(data, mask), RowPartition(splits), internal=True)


def of_tensor(tensor: Tensor, lengths: Any, padding: Any, kind: Any) -> RaggedTensor:
    """The rows of a tensor, cut to lengths [rows] or behind the last element that is no padding."""
    _, width, *inner = tensor._aval.shape
    sizes = shape(tensor, kind)
    if lengths is None and padding is None:
        splits = range_op(sizes[0] + 1) * sizes[1]
        uniform = width if isinstance(width, int) else None
        flat = reshape(tensor, [-1, *inner])
        return RaggedTensor(flat, RowPartition(splits, uniform), internal=True)
    places = range_op(sizes[1])
    if padding is not None:
        real = not_equal(tensor, convert(padding, tensor.dtype))
        real = reduce_any(real, list(range(2, len(tensor.shape)))) if inner else real
        lengths = reduce_max(where(real, places + 1, cast(0, kind)), 1)
    return masked(tensor, places < cast(lengths, kind)[:, None], kind)


# -- slices ---------------------------------------------------------------------------------------


def sliced(x: RaggedTensor, key: slice) -> RaggedTensor:
    """A slice of each row of a tensor with one ragged axis."""
    index, splits = _places_of_slice(x.row_splits, key.start, key.stop, key.step)
    return RaggedTensor(gather(x.values, index), RowPartition(splits), internal=True)


@by_host()
def _places_of_slice(splits: Tensor, start: Any, stop: Any, step: Any) -> tuple[Tensor, Tensor]:
    sketch = sketched(splits)
    if sketch is not None:
        return sketch.tensor([None], int64), sketch.tensor(splits._aval.shape, splits.dtype)
    starts, lengths, by = clipped(slice(start, stop, step), host(splits).astype(np.int64))
    ends = splits_of_lengths(lengths).astype(splits.dtype.np_dtype)
    return concrete(spans(starts, lengths, by)), concrete(ends)


# -- joins ----------------------------------------------------------------------------------------


def joined(values: Sequence[Any], axis: int) -> RaggedTensor | None:
    """Tensors with one ragged axis, and others with as many axes, end to end along the first axis
    or row by row; None for deeper ones."""
    if any(x.ragged_rank > 1 for x in values if isinstance(x, RaggedTensor)):
        return None
    kind = splits_dtype(*values)
    first = next(x.row_splits for x in values if isinstance(x, RaggedTensor))
    flats, splits = zip(*[_flat(x, kind, first if axis else None) for x in values], strict=True)
    flat = join(list(flats), 0)
    if axis:
        index, ends = _places_of_rows(list(splits))
        return RaggedTensor(gather(flat, index), RowPartition(ends), internal=True)
    found, *others = splits
    for each in others:
        found = join([found, each[1:] + found[-1]], 0)
    return RaggedTensor(flat, RowPartition(found), internal=True)


def _flat(x: Any, kind: Any, like: Tensor | None) -> tuple[Tensor, Tensor]:
    """The values of rows, and where these end. like: the ends of as many rows, if there are any."""
    if isinstance(x, RaggedTensor):
        return x.values, x.row_splits
    sizes = shape(x, kind)
    count = sizes[0] + 1 if like is None else shape(like, kind)[0]
    return reshape(x, [-1, *x._aval.shape[2:]]), range_op(count) * sizes[1]


@by_host()
def _places_of_rows(splits: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Where the values of several tensors, end to end, are as one row after the other, each of its
    parts in all of them."""
    sketch = sketched(*splits)
    if sketch is not None:
        first = splits[0]
        return sketch.tensor([None], int64), sketch.tensor(first._aval.shape, first.dtype)
    known = [host(each).astype(np.int64) for each in splits]
    return tuple(map(concrete, places_of_rows(known, splits[0].dtype)))  # type: ignore[return-value]


def places_of_rows(splits: Sequence[np.ndarray], kind: Any) -> tuple[np.ndarray, np.ndarray]:
    """See `_places_of_rows`: on the host."""
    lengths = np.stack([np.diff(each) for each in splits], 1)
    offsets = splits_of_lengths([int(each[-1]) for each in splits])[:-1]
    starts = np.stack([each[:-1] for each in splits], 1) + offsets
    ends = splits_of_lengths(lengths.sum(1)).astype(kind.np_dtype)
    return spans(starts.ravel(), lengths.ravel()), ends


# -- where rows end, of what they are made of ---------------------------------------------------


def _of_lengths(lengths: Tensor, validate: bool) -> Tensor:
    if validate:
        _require(reduce_all(lengths >= 0), lengths, "from_row_lengths", "x >= 0")
    return _after_none(cumsum(lengths))


def _of_limits(limits: Tensor, validate: bool) -> Tensor:
    splits = _after_none(limits)
    if validate:
        _require(_rise(splits), splits, "from_row_limits", "x >= 0")
    return splits


def _of_starts(starts: Tensor, nvals: Any, validate: bool) -> Tensor:
    splits = join([starts, cast([nvals], starts.dtype)], 0)
    if validate:
        _require(reduce_all(starts[:1] == 0) & _rise(splits), splits, "from_row_starts", "x >= 0")
    return splits


def _splits_of_ids(ids: Any, count: Size) -> Any:
    counts = scattered(jnp.zeros(count + 1, ids.dtype).at[ids + 1], "add", 1)
    return jnp.cumsum(counts, dtype=ids.dtype)


_ROW_SPLITS = Op(_splits_of_ids, "SegmentIdsToRowSplits", differentiable=False)


def _of_ids(ids: Tensor, nrows: Any, validate: bool) -> Tensor:
    last = reduce_max(join([cast([-1], ids.dtype), ids[-1:]], 0))  # -1 if no row has a value
    count = last + 1 if nrows is None else cast(nrows, ids.dtype)
    if validate:
        fits = _rise(_after_none(ids)) & (last < count)
        _require(fits, ids, "from_value_rowids", "x >= 0")
    return apply(_ROW_SPLITS.bind(count=as_size(count)), (ids,))


def _after_none(numbers: Tensor) -> Tensor:
    return join([cast([0], numbers.dtype), numbers], 0)


def _rise(numbers: Tensor) -> Tensor:
    return reduce_all(numbers[1:] >= numbers[:-1])


def _require(ok: Tensor, numbers: Tensor, what: str, condition: str) -> None:
    """Let a call raise InvalidArgumentError unless numbers are as they must be."""
    text = f"Arguments to {what} do not form a valid RowPartition.\nCondition {condition}"
    require(ok, [numbers], lambda _, x: f"{text} did not hold: {x.tolist()}")


def _require_count(splits: Tensor, values: Any) -> None:
    """Let a call raise unless there are as many values as rows have."""
    count = cast(_rows_in(values), splits.dtype)
    _require(splits[-1] == count, splits[-1:], "_from_row_partition", "x == y")


def _count(splits: Tensor) -> Tensor:
    return shape(splits, splits.dtype)[0] - 1


def _rows_in(x: Any) -> Tensor:
    return x.nrows() if isinstance(x, RaggedTensor) else shape(x, int64)[0]


def _ids(splits: Tensor) -> Tensor:
    return cast(ids_of_splits(splits, as_size(splits[-1])), splits.dtype)


def _offsets(splits: Tensor) -> Tensor:
    return range_op(splits[-1]) - gather(splits, _ids(splits))


def row(x: Any, place: Any) -> Any:
    """A row of a tensor, ragged or not, by its place."""
    if not isinstance(x, RaggedTensor):
        return convert(x)[place]
    splits = x.row_splits
    return _between(x.values, splits[place], splits[place + 1])


#: A bound of a slice, counted from the end if it is negative, within what there is.
_BOUND = Op(
    lambda place, count: jnp.clip(jnp.where(place < 0, place + count, place), 0, count),
    "ClipByValue",
    differentiable=False,
)


def rows_between(x: RaggedTensor, start: Any, stop: Any) -> Any:
    """The rows x[start:stop] of a ragged tensor."""
    count = x.nrows()

    def bound(place: Any, default: Any) -> Tensor:
        if place is None:
            return cast(default, count.dtype)
        return apply(_BOUND.bind(), (cast(place, count.dtype), count))

    first = bound(start, 0)
    return _between(x, first, maximum(first, bound(stop, count)))


def _between(x: Any, start: Tensor, end: Tensor) -> Any:
    """The rows from one place to another."""
    if not isinstance(x, RaggedTensor):
        return x[start:end]
    splits = x.row_splits[start : end + 1]
    values = _between(x.values, splits[0], splits[-1])
    return RaggedTensor(values, RowPartition(splits - splits[0]), internal=True)


operators.define(
    row_splits_of_lengths=_of_lengths,
    row_splits_of_limits=_of_limits,
    row_splits_of_starts=_of_starts,
    row_splits_of_ids=_of_ids,
    row_count=_count,
    require_row_count=_require_count,
    count_of_rows=_rows_in,
    row_ids=_ids,
    row_offsets=_offsets,
)

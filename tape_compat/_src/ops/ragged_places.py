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
from ..values.bounds import not_empty, scattered
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arguments import sketched
from .casting import cast
from .comparison import not_equal
from .creation import range as range_op
from .gather_scatter import gather
from .joining import concat as join
from .reductions import cumsum, reduce_any, reduce_max, reduce_sum
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
    return _row_ids(x._partitions[-1], x.flat_values._aval.shape[0])


def outer_row_ids(x: RaggedTensor) -> Tensor:
    """The outermost row of each of what the outermost rows are of, int64."""
    first, *others = x._partitions
    below = others[0]._splits if others else None
    count = x.flat_values._aval.shape[0] if below is None else below._aval.shape[0] - 1
    return _row_ids(first, count)


def _row_ids(partition: Any, count: Size) -> Tensor:
    return apply(_ROW_IDS.bind(count=count), (partition._splits[1:],))


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

"""What plain ops do with the values of ragged tensors: running sums, chosen elements, parts.

The forms of ops that keep the rows as they are, or that look at single elements, beside those of
`ragged_maps`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, splits_dtype
from ..composites.row_partition import RowPartition, host, splits_of_lengths
from ..core import dtypes
from ..core.errors import InvalidArgumentError, user_location
from ..core.refuse import invalid, shown
from ..values import dispatch
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from . import (
    arithmetic,
    casting,
    creation,
    elementwise,
    gather_scatter,
    joining,
    reductions,
    segments,
    selection,
    shapes,
    sums,
)
from .arguments import as_int, known_value
from .ragged_creation import boolean_mask
from .ragged_maps import mean_of, same_form, with_axes
from .ragged_rows import (
    Rows,
    axis_of,
    expand_dims,
    ragged,
    rows_of,
    select,
    spans,
    tile,
)

# ---------------------------------------------------------------------------------------------
# Along the rows.


def _along_rows(x: RaggedTensor, axis: Any, name: str) -> int:
    """An axis that is the innermost ragged one (0) or within the values (1 and more)."""
    along = axis_of(axis, len(x.shape)) - x.ragged_rank
    if along < 0:
        raise NotImplementedError(f"tf.{name} along an outer axis of a ragged tensor")
    return along


def _cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Any:
    along = axis_of(axis, len(x.shape)) - x.ragged_rank
    if along < 0:
        total = reductions.cumsum(x.to_tensor(), axis, exclusive, reverse)
        return RaggedTensor.from_tensor(total, x.nested_row_lengths())
    if along:
        return x.with_flat_values(reductions.cumsum(x.flat_values, along, exclusive, reverse))
    rows, places = _padded_places(x)
    flat = x.flat_values
    zero = creation.zeros_like(flat[:1]) if flat._aval.shape[0] else flat
    if not flat._aval.shape[0]:
        return x
    padded = gather_scatter.gather(joining.concat([flat, zero], 0), concrete(rows))
    total = reductions.cumsum(padded, 1, exclusive, reverse)
    return x.with_flat_values(gather_scatter.gather_nd(total, concrete(places)))


def _padded_places(x: RaggedTensor) -> tuple[np.ndarray, np.ndarray]:
    """For each innermost row the places of its values, filled up with their number; and where each
    value then stands."""
    splits = rows_of(x).splits[-1]
    lengths = np.diff(splits)
    row = np.repeat(np.arange(len(lengths)), lengths)
    column = np.arange(splits[-1]) - splits[:-1][row]
    table = np.full((len(lengths), int(lengths.max(initial=0))), splits[-1], np.int64)
    table[row, column] = np.arange(splits[-1])
    return table, np.stack([row, column], 1)


def _reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    if axis is None:
        found = reductions.reduce_logsumexp(input_tensor.flat_values)
        return with_axes(found, range(len(input_tensor.shape))) if keepdims else found
    given = np.atleast_1d(known_value(axis)).tolist()
    if len(given) != 1:
        raise NotImplementedError("tf.reduce_logsumexp of a ragged tensor over several axes")
    along = _along_rows(input_tensor, given[0], "reduce_logsumexp")
    flat = input_tensor.flat_values
    if along:
        return input_tensor.with_flat_values(reductions.reduce_logsumexp(flat, along, keepdims))
    rows = rows_of(input_tensor)
    lengths = np.diff(rows.splits[-1])
    ids, count = concrete(np.repeat(np.arange(len(lengths)), lengths)), len(lengths)
    top = segments.unsorted_segment_max(flat, ids, count)
    # An empty row has the lowest number for its maximum: exp of 0 differences sums to 0.
    powers = elementwise.exp(arithmetic.subtract(flat, gather_scatter.gather(top, ids)))
    sums_of_rows = segments.unsorted_segment_sum(powers, ids, count)
    total = arithmetic.add(elementwise.log(sums_of_rows), top)
    found = ragged(Rows(rows.splits[:-1], rows.uniform[:-1], total), splits_dtype(input_tensor))
    return expand_dims(found, input_tensor.ragged_rank) if keepdims else found


def _moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    mean = mean_of(x, axes, True)
    deviation = arithmetic.squared_difference(x, mean)
    found = mean if keepdims else mean_of(x, axes)
    return found, mean_of(deviation, axes, keepdims)


def _batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: Any = None,
) -> Any:
    factor = elementwise.rsqrt(arithmetic.add(variance, variance_epsilon))
    if scale is not None:
        factor = arithmetic.multiply(factor, scale)
    shift = arithmetic.multiply(mean, factor)
    found = arithmetic.subtract(arithmetic.multiply(x, factor), shift)
    return found if offset is None else arithmetic.add(found, offset)


# ---------------------------------------------------------------------------------------------
# Elements and parts.


def _gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    if as_int(batch_dims) or bad_indices_policy not in ("", "DEFAULT", "ERROR"):
        raise NotImplementedError("tf.gather_nd of ragged tensors with batch_dims or a policy")
    if isinstance(indices, RaggedTensor):
        if len(indices.flat_values.shape) < 2:
            raise ValueError("The innermost dimension of indices may not be ragged")
        found = gather_scatter.gather_nd(params, indices.flat_values)
        return _in_rows_of(indices, found)
    known = known_value(convert(indices, hint=dtypes.int64)).astype(np.int64)
    if not known.ndim:
        raise ValueError("indices.rank must be at least 1.")
    *outer, depth = known.shape
    if not depth:
        return _repeated(params, outer)
    found = _elements(params, known.reshape(-1, depth))
    if len(outer) == 1:
        return found
    if isinstance(found, Tensor):
        return shapes.reshape(found, [*outer, *found._aval.shape[1:]])
    inner = rows_of(found)
    heights = np.cumprod([1, *outer])[1:-1]
    splits = [np.arange(n + 1) * m for n, m in zip(heights, outer[1:])]
    if not outer:
        return found[0]
    whole = Rows([*splits, *inner.splits], [*outer[1:], *inner.uniform], inner.flat)
    return ragged(whole, splits_dtype(params))


def _repeated(params: RaggedTensor, outer: list[int]) -> Any:
    """All of `params` at each place of some outer axes."""
    for _ in outer:
        params = expand_dims(params, 0)
    return tile(params, [*outer, *[1] * (len(params.shape) - len(outer))]) if outer else params


def _in_rows_of(like: RaggedTensor, values: Any) -> Any:
    """Values, which may be ragged themselves, in the rows of another."""
    for partition in reversed(like._partitions):
        values = RaggedTensor(values, partition, internal=True)
    return values


def _elements(params: RaggedTensor, index: np.ndarray) -> Any:
    """The elements or rows at full indices [n, k]."""
    rows = rows_of(params)
    depth = index.shape[1]
    at = _within(index[:, 0], np.zeros(len(index), np.int64), np.full(len(index), rows.height))
    for level, splits in enumerate(rows.splits[: depth - 1]):
        at = _within(index[:, level + 1], splits[at], splits[at + 1])
    level = min(depth - 1, len(rows.splits))
    found = select(rows, at, level)
    if depth - 1 <= len(rows.splits):
        return ragged(found, splits_dtype(params))
    rest = np.concatenate([np.arange(len(index))[:, None], index[:, level + 1 :]], 1)
    return gather_scatter.gather_nd(found.flat, concrete(rest))


def _within(place: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Places in rows as places of values. Raises InvalidArgumentError for one outside its row."""
    bad = (place < 0) | (place >= end - start)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise InvalidArgumentError(
            None,
            None,
            f"indices[{i}] = {place[i]} is not in [0, {(end - start)[i]}) (at {user_location()})",
        )
    return start + place


def _dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    if isinstance(partitions, RaggedTensor):
        if not (isinstance(data, RaggedTensor) and same_form(data, partitions)):
            raise ValueError(f"Shapes {partitions.shape} and {data.shape} are incompatible")
        return selection.dynamic_partition(data.flat_values, partitions.flat_values, num_partitions)
    known = known_value(partitions)
    bad = np.flatnonzero((known < 0) | (known >= num_partitions))
    if bad.size:
        i = int(bad[0])
        raise InvalidArgumentError(
            None,
            None,
            f"partitions[{i}] = {known[i]} is not in [0, {num_partitions}) (at {user_location()})",
        )
    return [boolean_mask(data, known == i) for i in range(num_partitions)]


def _add_n(inputs: Any, name: str | None = None) -> Any:
    first = next(x for x in inputs if isinstance(x, RaggedTensor))
    others = [x for x in inputs if not (isinstance(x, RaggedTensor) and same_form(x, first))]
    if others:
        raise InvalidArgumentError(
            None,
            None,
            "Inputs to operation AddN of type AddN must have the same size and shape. "
            f"(at {user_location()})",
        )
    return first.with_flat_values(sums.add_n([x.flat_values for x in inputs]))


def _of_values(op: Callable[..., Any]) -> Callable[..., Any]:
    """The form of an op whose first argument alone is a tensor."""

    def form(input: Any, *args: Any, **kwargs: Any) -> Any:
        return input.with_flat_values(op(input.flat_values, *args, **kwargs))

    return form


def _of_segments(op: Callable[..., Any]) -> Callable[..., Any]:
    """The form of a reduction over segments: of rows, which meet place by place, or of elements, by
    an id for each."""

    def form(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        if isinstance(segment_ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError("segment_ids.shape must be a prefix of data.shape")
            if not np.array_equal(host(segment_ids.row_splits), host(data.row_splits)):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"segment_ids.shape must be a prefix of data.shape (at {user_location()})",
                )
            return op(data.values, segment_ids.values, num_segments)
        splits, ids, count = host(data.row_splits), known_value(segment_ids), as_int(num_segments)
        if ids.shape != (len(splits) - 1,):
            raise invalid(
                f"data.shape = [{len(splits) - 1}] does not start with segment_ids.shape = "
                f"{shown(ids.shape)}",
                "UnsortedSegmentMax",
            )
        outside = np.flatnonzero((ids < 0) | (ids >= count))
        if outside.size:
            i = int(outside[0])
            raise invalid(f"indices[{i}] = {ids[i]} is not in [0, {count + 1})", "GatherV2")
        lengths, longest = np.diff(splits), np.zeros(count, splits.dtype)
        np.maximum.at(longest, ids, lengths)
        ends = splits_of_lengths(longest, splits.dtype)
        places = spans(ends[:-1][ids], lengths)
        values = op(data.values, concrete(places), int(ends[-1]))
        return RaggedTensor(values, RowPartition(concrete(ends)), internal=True)

    return form


_segment_sum = _of_segments(segments.unsorted_segment_sum)


def _segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """NaN for segments without elements."""
    total, count = _total_and_count(data, segment_ids, num_segments)
    return arithmetic.divide(total, count)


def _segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """NaN for segments without elements."""
    total, count = _total_and_count(data, segment_ids, num_segments)
    return arithmetic.divide(total, elementwise.sqrt(count))


def _total_and_count(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    if not isinstance(data, RaggedTensor):
        raise ValueError("segment_ids.shape must be a prefix of data.shape")
    ones = data.with_flat_values(creation.ones_like(data.flat_values))
    both = [_segment_sum(x, segment_ids, num_segments) for x in (data, ones)]
    return both[0], both[1]


dispatch.define(
    RaggedTensor,
    add_n=_add_n,
    batch_normalization=_batch_normalization,
    bitcast=_of_values(casting.bitcast),
    cumsum=_cumsum,
    dynamic_partition=_dynamic_partition,
    gather_nd=_gather_nd,
    moments=_moments,
    reduce_logsumexp=_reduce_logsumexp,
    saturate_cast=_of_values(casting.saturate_cast),
    unsorted_segment_max=_of_segments(segments.unsorted_segment_max),
    unsorted_segment_mean=_segment_mean,
    unsorted_segment_min=_of_segments(segments.unsorted_segment_min),
    unsorted_segment_prod=_of_segments(segments.unsorted_segment_prod),
    unsorted_segment_sqrt_n=_segment_sqrt_n,
    unsorted_segment_sum=_segment_sum,
)

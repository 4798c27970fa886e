"""`tf.gather` of ragged tensors, and by ragged indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, splits_dtype
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.tensor import concrete
from . import gather_scatter
from .arguments import as_int, known_value
from .ragged_rows import (
    Rows,
    axis_of,
    end_to_end,
    gather_rows,
    getitem,
    ragged,
    rows_of,
)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """The elements of `params` at `indices`, along an axis, of each batch by itself.

    Raises: ValueError for axes that are not there or whose batches differ; InvalidArgumentError for
    an index outside of its row.
    """
    params = params if isinstance(params, RaggedTensor) else convert(params)
    if not isinstance(indices, RaggedTensor):
        indices = convert(indices)
    splits_dtype(params, indices)
    rank, batch = len(indices.shape), as_int(batch_dims)
    batch = batch if batch == rank else axis_of(batch, rank, "batch_dims")
    if batch >= len(params.shape):
        raise ValueError("batch_dims must be less than rank(params)")
    along = batch if axis is None else axis_of(axis, len(params.shape))
    if along < batch:
        raise ValueError("axis must be greater than or equal to batch_dims")
    outer = params.shape[:batch]
    if not outer.is_compatible_with(indices.shape[:batch]):
        raise ValueError(
            f"batch shape from indices {indices.shape[:batch]} does not match params shape "
            f"{params.shape}"
        )
    return _gathered(params, indices, along, batch)


def _gathered(params: Any, indices: Any, axis: int, batch: int) -> Any:
    """The same with axes from 0 on. What is dense stays so."""
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return gather_scatter.gather(params, indices, axis=axis, batch_dims=batch)
    if axis == 0:
        return _of_rows(params, indices)
    if axis == 1:
        return _within_rows(params, indices, batch)
    if batch > 1:
        _check_batches(params, indices)
        params, inner = _as_rows(params), _as_rows(indices).values
    elif batch == 1:
        # Each row's own indices, once for each of the elements that the row has.
        params = _as_rows(params)
        lengths = np.diff(rows_of(params).splits[0])
        inner = gather_rows(indices, np.repeat(np.arange(len(lengths)), lengths))
    else:
        params, inner = _as_rows(params), indices
    return params.with_values(
        _gathered(params.values, inner, axis - 1, max(batch - 1, min(batch, 1)))
    )


def _as_rows(x: Any) -> RaggedTensor:
    """A tensor whose second axis is one of rows."""
    return x if isinstance(x, RaggedTensor) else ragged(rows_of(x, 1))


def _check_batches(params: Any, indices: Any) -> None:
    """Refuse batches of which only one is of rows that may have any lengths."""
    for x, y, kinds in (
        (params, indices, ("indices", "params")),
        (indices, params, ("params", "indices")),
    ):
        if not isinstance(x, RaggedTensor) and y.uniform_row_length is None:
            raise ValueError(
                f"batch shape from indices does not match params shape: ragged {kinds[0]} "
                f"dimension corresponds to uniform {kinds[1]} dimension"
            )


def _of_rows(params: Any, indices: Any) -> Any:
    """Rows of `params`, at indices of any rank."""
    if not isinstance(params, RaggedTensor):
        return indices.with_flat_values(gather_scatter.gather(params, indices.flat_values))
    if not len(indices.shape):
        return getitem(gather_rows(params, known_value(indices).astype(np.int64).reshape(1)), 0)
    form = rows_of(indices, len(indices.shape) - 1)
    found = gather_rows(params, known_value(form.flat).astype(np.int64))
    inner = rows_of(found)
    splits = [*form.splits, *inner.splits]
    # TensorFlow forgets that rows had one length, but for those of ragged indices.
    kept = rows_of(indices).uniform
    whole = Rows(splits, [*kept, *[None] * (len(splits) - len(kept))], inner.flat)
    return ragged(whole, splits_dtype(params, indices))


def _within_rows(params: Any, indices: Any, batch: int) -> Any:
    """Elements of each row of `params`: at its own indices if `batch` is 1, else at all of them."""
    rows = rows_of(params, 1)
    starts, lengths = rows.splits[0][:-1], np.diff(rows.splits[0])
    places = indices if batch else _for_each(indices, len(starts))
    form = rows_of(places)
    owner = np.arange(form.height)
    if len(owner) != len(starts):
        raise ValueError(
            f"batch shape from indices ({len(owner)},) does not match params shape {params.shape}"
        )
    for splits in form.splits:
        owner = np.repeat(owner, np.diff(splits))
    numbers = known_value(form.flat).astype(np.int64)
    owner = owner.reshape(-1, *[1] * (numbers.ndim - 1))
    outside = np.argwhere((numbers < 0) | (numbers >= lengths[owner]))
    if len(outside):
        at = tuple(outside[0])
        place, length = ",".join(map(str, at)), lengths[owner.ravel()[at[0]]]
        raise invalid(f"indices[{place}] = {numbers[at]} is not in [0, {length})", "RaggedGather")
    found = (numbers + starts[owner]).astype(form.flat.dtype.np_dtype)
    moved = ragged(Rows(form.splits, form.uniform, concrete(found)))
    values = params.values if isinstance(params, RaggedTensor) else rows.flat
    return _gathered(values, moved, 0, 0)


def _for_each(indices: Any, count: int) -> Any:
    """The same indices in each of so many rows."""
    if not isinstance(indices, RaggedTensor):
        numbers = known_value(indices)
        return concrete(np.broadcast_to(numbers, (count, *numbers.shape)))
    form = rows_of(indices)
    none = Rows([splits[:1] for splits in form.splits], form.uniform, form.flat[:0])
    joined = end_to_end([form] * count) if count else none
    outer = np.arange(count + 1, dtype=np.int64) * form.height
    return ragged(Rows([outer, *joined.splits], [form.height, *joined.uniform], joined.flat))

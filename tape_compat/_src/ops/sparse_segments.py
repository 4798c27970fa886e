"""Segments of rows that are picked by indices: `tf.sparse.segment_sum` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.refuse import invalid
from ..values.tensor import Tensor
from .arguments import as_int, as_tensor, known_value
from .gather_scatter import gather
from .segments import unsorted_segment_mean, unsorted_segment_sqrt_n, unsorted_segment_sum
from .sparse_layout import take_rows


def _segments(
    reduce: Callable[..., Tensor],
    kernel: str,
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any,
    sparse_gradient: bool,
) -> Tensor:
    data, indices, ids = as_tensor(data), as_tensor(indices), as_tensor(segment_ids)
    places, segments = known_value(indices), known_value(ids)
    rows = data._aval.shape[0]
    if places.shape != segments.shape or places.ndim != 1:
        raise invalid("segment_ids and indices should have same size.", kernel)
    if (np.diff(segments) < 0).any():
        raise invalid("segment ids are not increasing", kernel)
    bad = np.flatnonzero((places < 0) | (places >= rows))
    if bad.size:
        i = int(bad[0])
        raise invalid(f"Bad: indices[{i}] == {places[i]} out of range [0, {rows})", kernel)
    last = int(segments[-1]) + 1 if segments.size else 0
    count = last if num_segments is None else as_int(num_segments)
    if segments.size and (segments[0] < 0 or last > count):
        raise invalid("segment ids must be < num_segments", kernel)
    picked = gather(data, indices) if sparse_gradient else take_rows(data, indices)
    return reduce(picked, ids, count)


def segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Sums of the rows at `indices`, by segments.

    Args:
      data: [rows, ...]. indices: [n]. segment_ids: [n], not decreasing. Both must be known.
      num_segments: how many rows the result has, by default as many as the last id says.
      sparse_gradient: whether the gradient by `data` is IndexedSlices.
    Raises: InvalidArgumentError for ids that decrease, or indices outside.

    >>> import tape_compat as tf
    >>> tf.sparse.segment_sum([[1.0], [2.0], [3.0]], [0, 2, 1], [0, 0, 1]).numpy().tolist()
    [[4.0], [2.0]]
    """
    args = (data, indices, segment_ids, num_segments, sparse_gradient)
    return _segments(unsorted_segment_sum, "SparseSegmentSum", *args)


def segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Means of the rows at `indices`, by segments. See `segment_sum`.

    >>> import tape_compat as tf
    >>> tf.sparse.segment_mean([[1.0], [2.0], [3.0]], [0, 2, 1], [0, 0, 1]).numpy().tolist()
    [[2.0], [2.0]]
    """
    args = (data, indices, segment_ids, num_segments, sparse_gradient)
    return _segments(unsorted_segment_mean, "SparseSegmentMean", *args)


def segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Sums of the rows at `indices` over the square root of their number. See `segment_sum`.

    >>> import tape_compat as tf
    >>> tf.sparse.segment_sqrt_n([[1.0], [2.0]], [0, 1], [0, 1]).numpy().tolist()
    [[1.0], [2.0]]
    """
    args = (data, indices, segment_ids, num_segments, sparse_gradient)
    return _segments(unsorted_segment_sqrt_n, "SparseSegmentSqrtN", *args)

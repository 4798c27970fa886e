"""Segments of rows that are picked by indices: `tf.sparse.segment_sum` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.tensor import Tensor
from .arguments import as_size, as_tensor, known_value, sketched
from .gather_scatter import gather
from .segments import unsorted_segment_mean, unsorted_segment_sqrt_n, unsorted_segment_sum
from .shapes import host_shape
from .sparse_recorded import take_rows


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
    given = None if num_segments is None else as_size(num_segments)
    rows = host_shape(data._aval.shape[0], dtypes.int64)
    most = None if given is None else host_shape(given, dtypes.int64)
    last = as_size(_how_many_picked_segments(indices, ids, rows, most, kernel))
    picked = gather(data, indices) if sparse_gradient else take_rows(data, indices)
    return reduce(picked, ids, last if given is None else given)


@by_host()
def _how_many_picked_segments(
    indices: Tensor, ids: Tensor, rows: Tensor, most: Tensor | None, kernel: str
) -> Tensor:
    """How many segments the ids name.

    Raises: InvalidArgumentError if they decrease or are more than `most`, or for an index outside.
    """
    sketch = sketched(indices, ids, rows, most)
    if sketch is not None:
        return sketch.tensor((), dtypes.int64)
    places, segments, bound = known_value(indices), known_value(ids), int(known_value(rows))
    if places.shape != segments.shape or places.ndim != 1:
        raise invalid("segment_ids and indices should have same size.", kernel)
    if (np.diff(segments) < 0).any():
        raise invalid("segment ids are not increasing", kernel)
    bad = np.flatnonzero((places < 0) | (places >= bound))
    if bad.size:
        i = int(bad[0])
        raise invalid(f"Bad: indices[{i}] == {places[i]} out of range [0, {bound})", kernel)
    last = int(segments[-1]) + 1 if segments.size else 0
    if segments.size and (segments[0] < 0 or (most is not None and last > known_value(most))):
        raise invalid("segment ids must be < num_segments", kernel)
    return convert(last, dtypes.int64)


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
      data: [rows, ...]. indices: [n]. segment_ids: [n], not decreasing.
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

"""Rows of `ops/segments.py`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .row import Row, distinct


def _segments(function: Callable[..., Any], empty: float) -> Callable[..., Any]:
    def reference(data: Any, ids: Any, num_segments: int | None = None) -> Any:
        count = int(ids.max()) + 1 if num_segments is None else num_segments
        rows = [data[ids == i] for i in range(count)]
        return np.stack(
            [function(r, axis=0) if len(r) else np.full(data.shape[1:], empty) for r in rows]
        )

    return reference


IDS = np.array([0, 0, 2, 2, 2], np.int32)

NO_GAP = np.array([2, 0, 1, 2, 1], np.int32)

ROWS = [
    *(
        Row(op, [distinct(5, 2), IDS], _segments(function, empty))
        for op, function, empty in (
            ("math.segment_sum", np.sum, 0.0),
            ("math.segment_prod", np.prod, 1.0),
            ("math.segment_mean", np.mean, 0.0),
            ("math.segment_max", np.max, 0.0),
            ("math.segment_min", np.min, 0.0),
        )
    ),
    *(
        Row(op, [distinct(5, 2), IDS], _segments(function, empty), {"num_segments": 4})
        for op, function, empty in (
            ("math.unsorted_segment_sum", np.sum, 0.0),
            ("math.unsorted_segment_prod", np.prod, 1.0),
            ("math.unsorted_segment_mean", np.mean, 0.0),
            (
                "math.unsorted_segment_sqrt_n",
                lambda r, axis: r.sum(axis) / np.sqrt(len(r)),
                0.0,
            ),
        )
    ),
    *(
        Row(op, [distinct(5, 2), NO_GAP], _segments(function, 0.0), {"num_segments": 3})
        for op, function in (
            ("math.unsorted_segment_max", np.max),
            ("math.unsorted_segment_min", np.min),
        )
    ),
]

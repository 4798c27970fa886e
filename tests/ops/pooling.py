"""Rows of `ops/pooling.py`."""

from typing import Any

import numpy as np

from .references import np_patches
from .row import INF, NAN, Row, distinct


def _max_pool(x: Any, ksize: int, strides: int, padding: str) -> Any:
    rank = x.ndim - 2
    patches = np_patches(x, [ksize] * rank, strides, padding, fill=-INF)
    return patches.max(tuple(range(rank + 2, 2 * rank + 2)))


def _avg_pool(x: Any, ksize: int, strides: int, padding: str) -> Any:
    rank = x.ndim - 2
    patches = np_patches(x, [ksize] * rank, strides, padding, fill=NAN)
    return np.nanmean(patches, tuple(range(rank + 2, 2 * rank + 2)))


ROWS = [
    *(
        Row(
            op,
            [distinct(1, *sizes, 2)],
            reference,
            options,
            label=label,
            differs="TensorFlow's takes no float64" if op.endswith("3d") else "",
        )
        for op, reference, sizes in (
            ("nn.max_pool", _max_pool, (5, 4)),
            ("nn.avg_pool", _avg_pool, (5, 4)),
            ("nn.max_pool1d", _max_pool, (5,)),
            ("nn.max_pool2d", _max_pool, (5, 4)),
            ("nn.max_pool3d", _max_pool, (3, 2, 2)),
            ("nn.avg_pool1d", _avg_pool, (5,)),
            ("nn.avg_pool2d", _avg_pool, (5, 4)),
            ("nn.avg_pool3d", _avg_pool, (3, 2, 2)),
        )
        for label, options in (
            ("tiles", {"ksize": 2, "strides": 2, "padding": "VALID"}),
            *(
                (("overlap", {"ksize": 2, "strides": 1, "padding": "SAME"}),)
                if op in ("nn.max_pool", "nn.avg_pool")
                else ()
            ),
        )
    ),
    Row(
        "nn.pool",
        [distinct(1, 5, 4, 2)],
        lambda x, window_shape, pooling_type, strides: _max_pool(x, 2, 1, "VALID"),
        {"window_shape": [2, 2], "pooling_type": "MAX", "strides": [1, 1]},
    ),
]

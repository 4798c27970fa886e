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


def _places(x: Any, ksize: int, strides: int) -> Any:
    """Where the values of the pool stand in each image; they differ."""
    values = _max_pool(x, ksize, strides, "SAME")
    found = []
    for image, pool in zip(x, values):
        order = np.argsort(image, None)
        found.append(order[np.searchsorted(image.ravel(), pool, sorter=order)])
    return np.array(found)


ROWS = [
    Row(
        "nn.max_pool",
        [distinct(1, 2, 2, 6), (1, 1, 1, 3), (1, 1, 1, 3), "VALID"],
        lambda x, *_: x.reshape(1, 2, 2, 2, 3).max(-1),
        label="channels",
        differs="TensorFlow has no gradient of it",
    ),
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
    *(
        Row(
            f"nn.{kind}_pool",
            [distinct(1, 5, 4, 2)],
            reference,
            {"ksize": 3, "strides": 2, "padding": "SAME"},
            label="strides",
        )
        for kind, reference in (("max", _max_pool), ("avg", _avg_pool))
    ),
    Row(
        "nn.pool",
        [distinct(1, 5, 4, 2)],
        lambda x, window_shape, pooling_type, strides: _max_pool(x, 2, 1, "VALID"),
        {"window_shape": [2, 2], "pooling_type": "MAX", "strides": [1, 1]},
    ),
    Row(
        "nn.max_pool_with_argmax",
        [distinct(2, 5, 4, 2)],
        lambda x: _max_pool(x, 2, 2, "SAME"),
        program=lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")[0],
        orders=1,
    ),
    *(
        Row(
            "nn.max_pool_with_argmax",
            [distinct(2, 5, 4, 2)],
            lambda x, of=of: of(x),
            program=lambda tf, x, options=options: tf.nn.max_pool_with_argmax(
                x, 3, 2, "SAME", **options
            )[1],
            gradient=False,
            label=label,
        )
        for label, options, of in (
            ("places", {}, lambda x: _places(x, 3, 2)),
            (
                "places in the batch",
                {"include_batch_in_index": True, "output_dtype": "int32"},
                lambda x: _places(x, 3, 2) + np.array([0, 40])[:, None, None, None],
            ),
        )
    ),
]

"""Rows of `ops/clipping.py`."""

from typing import Any

import numpy as np

from .row import POINTS, Row, normal


def _clip_by_norm(x: Any, norm: float, axes: Any = None) -> Any:
    axes = None if axes is None else tuple(axes)
    return x * norm / np.maximum(np.sqrt((x * x).sum(axes, keepdims=True)), norm)


ROWS = [
    Row(
        "clip_by_value",
        [normal(4), -0.5, 0.6],
        np.clip,
        special=tuple((x, -0.5, 0.5) for x in POINTS),
    ),
    Row("clip_by_norm", [normal(2, 3), 1.0], _clip_by_norm),
    Row("clip_by_norm", [normal(2, 3), 1.0], _clip_by_norm, {"axes": [1]}, label="axes"),
    Row(
        "linalg.global_norm",
        [normal(2), normal(3)],
        lambda x, y: np.sqrt(np.sum(x * x) + np.sum(y * y)),
        program=lambda tf, x, y: tf.linalg.global_norm([x, y]),
    ),
    Row(
        "clip_by_global_norm",
        [normal(2), normal(3)],
        lambda x, y: (lambda n: [x / n, y / n, n])(np.sqrt(np.sum(x * x) + np.sum(y * y))),
        program=lambda tf, x, y: tf.clip_by_global_norm([x, y], 1.0),
    ),
]

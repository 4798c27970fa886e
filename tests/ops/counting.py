"""Rows of `ops/counting.py`."""

from typing import Any

import numpy as np

from .row import Row, distinct


def _top_k(x: Any, k: int) -> Any:
    order = np.argsort(-x, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


def _confusion(labels: Any, predictions: Any) -> Any:
    out = np.zeros((3, 3), int)
    np.add.at(out, (labels, predictions), 1)
    return out


ROWS = [
    Row("math.zero_fraction", [np.array([0.0, 1.0])], lambda x: np.mean(x == 0), gradient=False),
    Row("math.top_k", [distinct(2, 4)], _top_k, {"k": 2}),
    Row(
        "math.approx_max_k",
        [distinct(2, 4)],
        _top_k,
        {"k": 2},
        differs="TensorFlow takes no float64",
    ),
    Row(
        "math.approx_min_k",
        [distinct(2, 4)],
        lambda x, k: (np.sort(x)[:, :k], np.argsort(x)[:, :k]),
        {"k": 2},
        differs="TensorFlow has it for TPUs only",
    ),
    Row(
        "math.in_top_k",
        [np.array([0, 1], np.int32), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)],
        lambda t, p, k: p.argmax(1) == t,
        {"k": 1},
        gradient=False,
    ),
    Row("math.bincount", [np.array([1, 1, 3], np.int32)], np.bincount, gradient=False),
    Row(
        "math.confusion_matrix",
        [np.array([0, 1, 2, 1]), np.array([0, 2, 2, 1])],
        _confusion,
        gradient=False,
    ),
    Row("math.invert_permutation", [np.array([2, 0, 1], np.int32)], np.argsort, gradient=False),
    Row("math.is_non_decreasing", [np.array([1.0, 1.0])], lambda x: True, gradient=False),
    Row("math.is_strictly_increasing", [np.array([1.0, 1.0])], lambda x: False, gradient=False),
]

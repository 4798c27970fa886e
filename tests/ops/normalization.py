"""Rows of `ops/normalization.py`."""

from typing import Any

import numpy as np

from .row import Row, normal, uniform


def _moments(x: Any, axes: Any, keepdims: bool = False) -> Any:
    axes = tuple(axes)
    return x.mean(axes, keepdims=keepdims), x.var(axes, keepdims=keepdims)


def _weighted_moments(x: Any, axes: Any, w: Any) -> Any:
    w = np.broadcast_to(w, x.shape)
    mean = np.average(x, tuple(axes), w)
    return mean, np.average(x * x, tuple(axes), w) - mean * mean


#: Public ops without a row, and why.
WITHOUT_ROW = {
    "local_response_normalization": "takes no float64; see tests/parity/cases_nn.py",
    "batch_norm_with_global_normalization": "see tests/parity/cases_windows_nn.py",
    "sufficient_statistics": "gives a None; see tests/parity/cases_nn.py",
}
ROWS = [
    Row("nn.bias_add", [normal(2, 3), normal(3)], np.add),
    Row("nn.moments", [normal(3, 2)], _moments, {"axes": [0]}, orders=1),
    Row("nn.weighted_moments", [normal(3, 2), [0], uniform(1, 3, (3, 1))], _weighted_moments),
    Row(
        "nn.normalize_moments",
        [np.array(4.0), normal(2), uniform(5, 6, (2,)), normal(2)],
        lambda n, m, v, s: (m / n + s, v / n - (m / n) ** 2),
    ),
    Row(
        "nn.batch_normalization",
        [normal(3, 2), normal(2), uniform(0.5, 2, (2,)), normal(2), normal(2), 1e-3],
        lambda x, m, v, o, s, e: (x - m) / np.sqrt(v + e) * s + o,
    ),
]

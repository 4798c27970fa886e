"""Rows of `ops/plain_kernels.py`."""

from typing import Any

import numpy as np

from .row import Row, distinct


def _largest(x: Any, k: int) -> Any:
    order = np.argsort(-x, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


ROWS = [
    Row("realdiv", [distinct(2, 3), distinct(2, 3) + 3.0], np.divide),
    Row(
        "approx_top_k",
        [distinct(2, 4)],
        _largest,
        {"k": 2},
        differs="TensorFlow takes no float64",
    ),
]
WITHOUT_ROW = {
    "conv": "a convolution as those of `ops/convolutions.py`; tests/parity compares it",
    "parallel_stack": "for functions only; tests/parity compares it",
    "ragged_fill_empty_rows": "of integers of 64 bits, by values; tests/parity compares it",
    "ragged_fill_empty_rows_grad": "the same",
}

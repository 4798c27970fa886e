"""Rows of `ops/depthwise.py`."""

from typing import Any

import numpy as np

from .convolutions import IMAGE, np_convolution
from .references import np_patches
from .row import Row, normal


def _depthwise(x: Any, f: Any, strides: Any, padding: str) -> Any:
    patches = np_patches(x, f.shape[:2], strides[1], padding)
    out = np.einsum("nyxcij,ijcm->nyxcm", patches, f)
    return out.reshape(*out.shape[:3], -1)


#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    ("depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input"),
    "see tests/parity/cases_windows_nn.py",
)
ROWS = [
    Row(
        "nn.depthwise_conv2d",
        [IMAGE, normal(2, 2, 2, 2)],
        _depthwise,
        {"strides": [1, 1, 1, 1], "padding": "SAME"},
    ),
    Row(
        "nn.separable_conv2d",
        [IMAGE, normal(2, 2, 2, 2), normal(1, 1, 4, 2)],
        lambda x, d, p, strides, padding: np_convolution(_depthwise(x, d, strides, padding), p),
        {"strides": [1, 1, 1, 1], "padding": "VALID"},
    ),
]

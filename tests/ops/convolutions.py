"""Rows of `ops/convolutions.py`."""

from typing import Any

import numpy as np

from .references import np_patches
from .row import Row, normal


def np_convolution(
    x: Any, f: Any, strides: int = 1, padding: str = "VALID", dilations: int = 1
) -> Any:
    rank = f.ndim - 2
    patches = np_patches(x, f.shape[:rank], strides, padding, dilations)
    taken = tuple(range(rank + 2, 2 * rank + 2)) + (rank + 1,)
    return np.tensordot(patches, f, (taken, tuple(range(rank + 1))))


def _conv_transpose(y: Any, f: Any, shape: Any, strides: int, dilations: int = 1) -> Any:
    out = np.zeros(shape)
    for at in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[at] = 1
        out[at] = np.sum(np_convolution(unit, f, strides, "SAME", dilations) * y)
    return out


IMAGE, FILTER = normal(1, 5, 4, 2), normal(3, 2, 2, 3)

ROWS = [
    *(
        Row(
            "nn.conv2d",
            [IMAGE, FILTER],
            np_convolution,
            options,
            label=" ".join(map(str, options.values())),
            differs=differs,
        )
        for options, differs in (
            ({"strides": 1, "padding": "VALID"}, ""),
            ({"strides": 2, "padding": "SAME"}, ""),
            (
                {"strides": 1, "padding": "SAME", "dilations": 2},
                "TensorFlow has no gradient of dilated convolutions on the CPU",
            ),
        )
    ),
    Row(
        "nn.conv1d",
        [normal(2, 5, 2), normal(2, 2, 3)],
        lambda x, f, stride, padding: np_convolution(x, f, stride, padding),
        {"stride": 2, "padding": "SAME"},
    ),
    Row(
        "nn.conv3d",
        [normal(1, 3, 3, 2, 1), normal(2, 2, 2, 1, 2)],
        lambda x, f, strides, padding: np_convolution(x, f, 1, padding),
        {"strides": [1, 1, 1, 1, 1], "padding": "VALID"},
    ),
    Row(
        "nn.convolution",
        [IMAGE, FILTER],
        np_convolution,
        differs="TensorFlow's default data_format fails",
    ),
    Row(
        "nn.conv1d_transpose",
        [normal(1, 2, 2), normal(2, 1, 2), (1, 4, 1), 2],
        _conv_transpose,
    ),
    Row(
        "nn.conv3d_transpose",
        [normal(1, 1, 2, 1, 2), normal(1, 2, 2, 1, 2), (1, 1, 3, 1, 1), 2],
        _conv_transpose,
        orders=1,
    ),
    Row(
        "nn.conv_transpose",
        [normal(1, 1, 2, 2), normal(2, 2, 1, 2), (1, 2, 3, 1), 2],
        _conv_transpose,
        orders=1,
    ),
    Row(
        "nn.atrous_conv2d",
        [IMAGE, FILTER],
        lambda x, f, rate, padding: np_convolution(x, f, 1, padding, rate),
        {"rate": 2, "padding": "SAME"},
        orders=1,
    ),
    Row(
        "nn.atrous_conv2d_transpose",
        [normal(1, 3, 2, 2), normal(2, 2, 1, 2), (1, 3, 2, 1), 2, "SAME"],
        lambda y, f, shape, rate, padding: _conv_transpose(y, f, shape, 1, rate),
        orders=1,
    ),
    Row(
        "nn.conv2d_transpose",
        [normal(1, 2, 2, 2), normal(2, 2, 1, 2), (1, 4, 3, 1), 2],
        _conv_transpose,
    ),
]

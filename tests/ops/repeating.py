"""Rows of `ops/repeating.py`."""

import numpy as np

from .row import Row
from .samples import X

ROWS = [
    Row(
        "broadcast_to",
        [X[:, :1]],
        lambda x: np.broadcast_to(x, (5, 2, 3)),
        program=lambda tf, x: tf.broadcast_to(x, [5, 2, 3]),
    ),
    Row("tile", [X], lambda x: np.tile(x, (2, 3)), program=lambda tf, x: tf.tile(x, [2, 3])),
    Row(
        "repeat",
        [X],
        lambda x: np.repeat(x, [1, 0, 2], 1),
        program=lambda tf, x: tf.repeat(x, [1, 0, 2], 1),
    ),
    Row(
        "repeat",
        [X],
        lambda x: np.repeat(x, 2),
        program=lambda tf, x: tf.repeat(x, 2),
        label="flat",
    ),
]

"""Rows of `ops/casting.py`."""

import numpy as np

from .row import Row
from .samples import X

ROWS = [
    Row("cast", [X], lambda x: x, program=lambda tf, x: tf.cast(x, tf.float64)),
    Row(
        "cast",
        [X],
        lambda x: x + 0j,
        program=lambda tf, x: tf.cast(x, tf.complex128),
        label="complex",
    ),
    Row(
        "saturate_cast",
        [X * 300],
        lambda x: np.trunc(np.clip(x, -128, 127)),
        orders=0,
        program=lambda tf, x: tf.saturate_cast(x, tf.int8),
    ),
    Row(
        "bitcast",
        [np.array([1, -1], np.int32)],
        lambda x: x.view(np.uint32),
        program=lambda tf, x: tf.bitcast(x, tf.uint32),
        gradient=False,
    ),
]

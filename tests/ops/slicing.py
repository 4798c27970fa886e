"""Rows of `ops/slicing.py`."""

from .row import Row
from .samples import X

ROWS = [
    Row("slice", [X], lambda x: x[:, 1:], program=lambda tf, x: tf.slice(x, [0, 1], [2, -1])),
    Row(
        "slice",
        [X],
        lambda x: x[:1, 1:],
        program=lambda tf, x: tf.slice(x, tf.constant([0, 1]), [1, 2]),
        label="tensor",
    ),
    Row(
        "strided_slice",
        [X],
        lambda x: x[0:2, 2:0:-1],
        program=lambda tf, x: tf.strided_slice(x, [0, 2], [2, 0], [1, -1]),
    ),
]

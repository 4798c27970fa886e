"""Rows of `ops/ordering.py`."""

import numpy as np

from .row import Row
from .samples import V, X

ROWS = [
    Row("reverse", [X], lambda x: x[::-1, ::-1], program=lambda tf, x: tf.reverse(x, [0, -1])),
    Row(
        "reverse_sequence",
        [X],
        lambda x: np.stack([x[0, [1, 0, 2]], x[1, ::-1]]),
        program=lambda tf, x: tf.reverse_sequence(x, [2, 3], 1),
    ),
    Row(
        "roll",
        [X],
        lambda x: np.roll(x, (1, -2), (0, 1)),
        program=lambda tf, x: tf.roll(x, [1, -2], [0, 1]),
    ),
    Row("sort", [X], np.sort),
    Row(
        "sort",
        [X],
        lambda x: -np.sort(-x, 0),
        program=lambda tf, x: tf.sort(x, 0, "DESCENDING"),
        label="descending",
    ),
    Row("argsort", [X], lambda x: np.argsort(x), gradient=False),
    Row(
        "searchsorted",
        [np.sort(V), V],
        lambda x, v: np.searchsorted(x, v, "right"),
        gradient=False,
        program=lambda tf, x, v: tf.searchsorted(x, v, "right"),
    ),
]

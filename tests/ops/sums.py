"""Rows of `ops/sums.py`."""

import numpy as np

from .row import Row, binary, normal

ROWS = [
    Row("math.add_n", [[normal(2), normal(2), normal(2)]], lambda xs: sum(xs)),
    Row("math.accumulate_n", [[normal(2), normal(2)]], lambda xs: sum(xs)),
    binary("math.scalar_mul", np.multiply, np.float64(1.7), normal(3)),
    Row(
        "math.polyval",
        [[np.float64(2.0), np.float64(-1.0)], normal(3)],
        lambda c, x: c[0] * x + c[1],
    ),
    Row("math.l2_normalize", [normal(2, 3)], lambda x: x / np.linalg.norm(x)),
    Row(
        "math.l2_normalize",
        [np.array([[3.0, 4.0], [0.3, 0.4]])],
        lambda x: x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 2.0),
        program=lambda tf, x: tf.math.l2_normalize(x, 1, 4.0),
        label="epsilon",
    ),
]

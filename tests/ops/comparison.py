"""Rows of `ops/comparison.py`."""

import numpy as np

from .references import BOOLS
from .row import Row, binary

BITS = (np.array([12, 7, -8], np.int32), np.array([10, 2, 3], np.int32))

ROWS = [
    *(
        binary(op, reference, gradient=False)
        for op, reference in (
            ("math.less", np.less),
            ("math.less_equal", np.less_equal),
            ("math.greater", np.greater),
            ("math.greater_equal", np.greater_equal),
            ("math.equal", np.equal),
            ("math.not_equal", np.not_equal),
        )
    ),
    binary("math.logical_and", np.logical_and, *BOOLS, gradient=False),
    binary("math.logical_or", np.logical_or, *BOOLS, gradient=False),
    binary("math.logical_xor", np.logical_xor, *BOOLS, gradient=False),
    Row("math.logical_not", [BOOLS[0]], np.logical_not, gradient=False),
    binary("bitwise.bitwise_and", np.bitwise_and, *BITS, gradient=False),
    binary("bitwise.bitwise_or", np.bitwise_or, *BITS, gradient=False),
    binary("bitwise.bitwise_xor", np.bitwise_xor, *BITS, gradient=False),
    binary("bitwise.left_shift", np.left_shift, *BITS, gradient=False),
    binary("bitwise.right_shift", np.right_shift, *BITS, gradient=False),
    Row("bitwise.invert", [BITS[0]], np.invert, gradient=False),
]

"""Rows of `ops/arithmetic.py`."""

import numpy as np
import scipy.special as sp

from .row import FINITE_PAIRS, PAIRS, binary, normal, unary, uniform

ROWS = [
    binary("math.add", np.add, special=PAIRS),
    binary("math.subtract", np.subtract, special=PAIRS),
    binary("math.multiply", np.multiply, special=PAIRS),
    binary("math.truediv", np.divide, special=PAIRS),
    binary("math.divide_no_nan", np.divide, special=PAIRS),
    binary("math.multiply_no_nan", np.multiply, special=PAIRS),
    binary("math.floordiv", np.floor_divide, gradient=False, special=FINITE_PAIRS),
    binary("math.floormod", np.mod, special=FINITE_PAIRS),
    binary("truncatediv", lambda x, y: np.trunc(x / y), gradient=False),
    binary("truncatemod", np.fmod, orders=0),
    binary("math.maximum", np.maximum, special=PAIRS),
    binary("math.minimum", np.minimum, special=PAIRS),
    binary("math.squared_difference", lambda x, y: (x - y) ** 2, special=PAIRS),
    binary("math.atan2", np.arctan2, special=FINITE_PAIRS),
    binary("math.nextafter", np.nextafter),
    binary("math.xdivy", lambda x, y: x / y, special=PAIRS),
    binary("math.xlogy", sp.xlogy, normal(3, 1), uniform(0.2, 3, (1, 4)), special=PAIRS),
    binary("math.xlog1py", sp.xlog1py, normal(3, 1), uniform(-0.5, 3, (1, 4)), special=PAIRS),
    binary("math.pow", np.power, uniform(0.3, 2, (3, 1)), normal(1, 4), special=PAIRS),
    *(
        unary(
            "math.pow", lambda x, y: np.power(x, y), uniform(0.5, 2), options={"y": y}, label=str(y)
        )
        for y in (0, 1, 2, 3, -1, -2, 0.5, 2.0, 1.7)
    ),
]

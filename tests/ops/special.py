"""Rows of `ops/special.py`."""

import scipy.special as sp

from .row import Row, unary, uniform

AWAY = uniform(0.2, 4)

ROWS = [
    unary("math.special.dawsn", sp.dawsn, special=(-9.0, -0.01, 0.0, 0.5, 30.0), orders=1),
    unary("math.special.expint", sp.expi, AWAY, special=(-1.0, 0.5, 2.0, 30.0), orders=1),
    unary("math.special.fresnel_cos", lambda x: sp.fresnel(x)[1], special=(0.0, 0.5), orders=1),
    unary("math.special.fresnel_sin", lambda x: sp.fresnel(x)[0], special=(0.0, 0.5), orders=1),
    unary("math.special.spence", sp.spence, AWAY, special=(-1.0, 0.0, 0.5, 1.0), orders=1),
    Row(
        "math.betainc",
        [uniform(0.1, 0.9)],
        lambda x: sp.betainc(1.5, 0.7, x),
        special=(0.0, 0.25, 1.0),
        program=lambda tf, x: tf.math.betainc(
            tf.constant(1.5, x.dtype), tf.constant(0.7, x.dtype), x
        ),
    ),
]

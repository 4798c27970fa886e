"""Rows of `ops/bessel.py`."""

import numpy as np
import scipy.special

from .row import Row

POSITIVE = np.array([0.2, 0.5, 1.1, 1.9, 2.1, 5.0, 7.9, 8.1, 20.0, 50.0])
BOTH = np.array([-20.0, -5.0, -0.3, 0.2, 0.9, 4.0, 7.9, 8.1, 30.0])
ROWS = [
    *(
        Row(f"math.special.bessel_{name}", [POSITIVE], getattr(scipy.special, name))
        for name in ("y0", "y1", "k0", "k1", "k0e", "k1e")
    ),
    *(
        Row(f"math.special.bessel_{name}", [BOTH], getattr(scipy.special, name))
        for name in ("j0", "j1")
    ),
]

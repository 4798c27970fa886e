"""Rows of `ops/reductions.py`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from .references import BOOLS
from .row import INF, Row, distinct, normal


def _scan(function: Callable[..., Any], identity: float) -> Callable[..., Any]:
    def reference(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
        x = np.moveaxis(x, axis, 0)
        x = x[::-1] if reverse else x
        out = function(x, axis=0)
        if exclusive:
            out = np.concatenate([np.full_like(out[:1], identity), out[:-1]])
        return np.moveaxis(out[::-1] if reverse else out, 0, axis)

    return reference


ROWS = [
    *(
        Row(op, [args], reference, options=options, label=label)
        for op, reference, args in (
            ("math.reduce_sum", np.sum, normal(2, 3)),
            ("math.reduce_mean", np.mean, normal(2, 3)),
            ("math.reduce_max", np.max, distinct(2, 3)),
            ("math.reduce_min", np.min, distinct(2, 3)),
            ("math.reduce_prod", np.prod, normal(2, 3)),
            ("math.reduce_logsumexp", sp.logsumexp, normal(2, 3)),
            ("math.reduce_std", np.std, normal(2, 3)),
            ("math.reduce_variance", np.var, normal(2, 3)),
            (
                "math.reduce_euclidean_norm",
                lambda x, **k: np.sqrt(np.sum(x * x, **k)),
                normal(2, 3),
            ),
        )
        for label, options in (("", {}), ("axis", {"axis": -1, "keepdims": True}))
    ),
    Row("math.reduce_any", [BOOLS[0]], np.any, gradient=False),
    Row("math.reduce_all", [BOOLS[0]], np.all, gradient=False),
    Row("math.argmax", [distinct(3, 4)], np.argmax, {"axis": 1}, gradient=False),
    Row("math.argmin", [distinct(3, 4)], np.argmin, {"axis": 0}, gradient=False),
    Row("math.count_nonzero", [np.array([0.0, 1.0, 2.0])], np.count_nonzero, gradient=False),
    *(
        Row(op, [normal(3, 2)], _scan(function, identity), options=options, label=label)
        for op, function, identity in (
            ("math.cumsum", np.cumsum, 0.0),
            ("math.cumprod", np.cumprod, 1.0),
            ("math.cumulative_logsumexp", np.logaddexp.accumulate, -INF),
        )
        for label, options in (
            ("", {}),
            ("reverse", {"axis": 1, "reverse": True}),
            *((("exclusive", {"exclusive": True}),) if identity != -INF else ()),
        )
    ),
]

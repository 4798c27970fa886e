"""Rows of `ops/elementwise.py`."""

import numpy as np
import scipy.special as sp

from .references import np_softmax
from .row import FINITE, Row, binary, normal, unary, uniform

COMPLEX = normal(3) + 1j * normal(3)

ROWS = [
    unary("math.negative", np.negative),
    unary("math.abs", np.abs),
    unary("math.sign", np.sign),
    unary("math.square", np.square),
    unary("math.sqrt", np.sqrt, uniform(0.2, 4)),
    unary("math.rsqrt", lambda x: x**-0.5, uniform(0.2, 4)),
    unary("math.exp", np.exp),
    unary("math.expm1", np.expm1),
    unary("math.log", np.log, uniform(0.2, 4)),
    unary("math.log1p", np.log1p, uniform(-0.8, 4)),
    unary("math.sin", np.sin),
    unary("math.cos", np.cos),
    unary("math.tan", np.tan, uniform(-1, 1)),
    unary("math.asin", np.arcsin, uniform(-0.9, 0.9)),
    unary("math.acos", np.arccos, uniform(-0.9, 0.9)),
    unary("math.atan", np.arctan),
    unary("math.sinh", np.sinh),
    unary("math.cosh", np.cosh),
    unary("math.tanh", np.tanh),
    unary("math.asinh", np.arcsinh),
    unary("math.acosh", np.arccosh, uniform(1.1, 4)),
    unary("math.atanh", np.arctanh, uniform(-0.9, 0.9)),
    unary("math.sigmoid", sp.expit),
    unary("math.log_sigmoid", sp.log_expit),
    unary("math.softplus", lambda x: np.logaddexp(x, 0)),
    unary(
        "math.softsign",
        lambda x: x / (1 + np.abs(x)),
        special=FINITE,
        differs="TensorFlow has no second derivative of it",
    ),
    unary("math.erf", sp.erf, special=FINITE),
    unary("math.erfc", sp.erfc),
    unary("math.erfinv", sp.erfinv, uniform(-0.8, 0.8), special=FINITE),
    unary("math.erfcinv", sp.erfcinv, uniform(0.3, 1.7), special=()),
    unary("math.ndtri", sp.ndtri, uniform(0.1, 0.9), special=(0.0, 0.5)),
    unary("math.lgamma", sp.gammaln, uniform(0.2, 4), special=(0.5, 1.0, 2.0, 6.0)),
    unary("math.digamma", sp.digamma, uniform(0.2, 4), special=(0.5, 1.0, 2.0), orders=1),
    unary("math.bessel_i0", sp.i0, special=FINITE),
    unary("math.bessel_i0e", sp.i0e, special=FINITE),
    unary("math.bessel_i1", sp.i1, special=(-1.0, 0.5, 2.0), orders=1),
    unary("math.bessel_i1e", sp.i1e, special=(-1.0, 0.5, 2.0), orders=1),
    unary("math.reciprocal", np.reciprocal),
    unary("math.reciprocal_no_nan", np.reciprocal),
    *(
        unary(op, reference, gradient=False)
        for op, reference in (
            ("math.floor", np.floor),
            ("math.ceil", np.ceil),
            ("math.rint", np.rint),
            ("math.round", np.round),
        )
    ),
    *(
        unary(op, reference, gradient=False, special=())
        for op, reference in (
            ("math.is_nan", np.isnan),
            ("math.is_inf", np.isinf),
            ("math.is_finite", np.isfinite),
        )
    ),
    *(
        Row(op, [COMPLEX], reference, orders=0)
        for op, reference in (
            ("math.real", np.real),
            ("math.imag", np.imag),
            ("math.conj", np.conj),
            ("math.angle", np.angle),
        )
    ),
    binary("complex", lambda x, y: x + 1j * y, normal(3), normal(3)),
    Row("math.lbeta", [uniform(0.5, 3)], lambda x: sp.gammaln(x).sum(-1) - sp.gammaln(x.sum(-1))),
    binary("math.igamma", sp.gammainc, uniform(0.5, 2, (3,)), uniform(0.5, 2, (3,)), orders=1),
    binary("math.igammac", sp.gammaincc, uniform(0.5, 2, (3,)), uniform(0.5, 2, (3,)), orders=1),
    binary("math.zeta", sp.zeta, uniform(2, 4, (3,)), uniform(1, 2, (3,)), orders=0),
    binary("math.polygamma", sp.polygamma, np.array([1.0, 2.0]), uniform(1, 2, (2,)), orders=0),
    Row("math.softmax", [normal(2, 3)], np_softmax),
    Row("math.softmax", [normal(2, 3)], np_softmax, {"axis": 0}, label="axis"),
    Row("math.log_softmax", [normal(2, 3)], lambda x: np.log(np_softmax(x))),
]

"""`tf.math`: values, first and second derivatives at ordinary and at special points."""

import numpy as np

from .derivatives import derivatives, points
from .harness import attempt, attempts

INF, NAN = np.inf, np.nan
ORDINARY = [-2.5, -0.3, 0.4, 1.7]
POSITIVE = [0.2, 0.9, 1.7, 4.0]
UNIT = [-0.9, -0.2, 0.3, 0.8]
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0]
LARGE = [1.2, 2.5, 10.0]
ENDS = [0.0, -0.0, INF, -INF, NAN, 1.0, 2.0, 3.0, 7.5, -1.0, -0.5, 1e-30]

# name: (ordinary points, and whether special points are asked for too)
UNARY = {
    "abs": (ORDINARY, True),
    "negative": (ORDINARY, True),
    "sign": (ORDINARY, True),
    "square": (ORDINARY, True),
    "sqrt": (POSITIVE, True),
    "math.rsqrt": (POSITIVE, True),
    "exp": (ORDINARY, True),
    "math.expm1": (ORDINARY, True),
    "math.log": (POSITIVE, True),
    "math.log1p": (UNIT, True),
    "sin": (ORDINARY, True),
    "cos": (ORDINARY, True),
    "tan": (ORDINARY, True),
    "asin": (UNIT, True),
    "acos": (UNIT, True),
    "atan": (ORDINARY, True),
    "sinh": (ORDINARY, True),
    "cosh": (ORDINARY, True),
    "tanh": (ORDINARY, True),
    "asinh": (ORDINARY, True),
    "acosh": (LARGE, True),
    "atanh": (UNIT, True),
    "sigmoid": (ORDINARY, True),
    "math.log_sigmoid": (ORDINARY, True),
    "math.softplus": (ORDINARY, True),
    "math.reciprocal": (ORDINARY, True),
    "math.reciprocal_no_nan": (ORDINARY, True),
    "math.erf": (ORDINARY, True),
    "math.erfc": (ORDINARY, True),
    "math.erfinv": (UNIT, False),
    "math.ndtri": ([0.1, 0.5, 0.8], False),
    "math.lgamma": (POSITIVE, False),
    "math.digamma": (POSITIVE, False),
    "floor": (ORDINARY, True),
    "math.ceil": (ORDINARY, True),
    "round": ([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6], True),
    "math.rint": ([-2.5, -1.5, 0.5, 2.6], False),
    "identity": (ORDINARY, False),
    "math.is_nan": (ORDINARY, True),
    "math.is_inf": (ORDINARY, True),
    "math.is_finite": (ORDINARY, True),
    "math.conj": (ORDINARY, False),
    "math.real": (ORDINARY, False),
    "math.imag": (ORDINARY, False),
    "math.angle": (ORDINARY, False),
}
FIRST_ORDER_ONLY = ("math.erfinv", "math.ndtri", "math.digamma", "math.angle")
COMPLEX_UNARY = (
    "abs negative sign square sqrt math.rsqrt exp math.expm1 math.log math.log1p sin cos tan "
    "sinh cosh tanh math.reciprocal math.conj math.real math.imag math.angle sigmoid "
    "asinh acosh atanh asin acos atan"
).split()
INT_UNARY = "abs negative sign square sqrt exp floor round math.ceil sin identity".split()
HALF_UNARY = (
    "abs square sqrt exp math.log tanh sigmoid math.rsqrt math.log1p math.erf floor".split()
)


def _named(tf, name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _op(name):
    return lambda tf, *inputs: _named(tf, name)(*inputs)


CASES = {}
for _name, (_points, _special) in UNARY.items():
    _order = 1 if _name in FIRST_ORDER_ONLY else 2
    _short = _name.split(".")[-1]
    CASES[_short] = points(_op(_name), _points, order=_order)
    if _special:
        CASES[f"{_short} special"] = points(_op(_name), SPECIAL, order=1)
for _name in COMPLEX_UNARY:
    _z = np.complex64([0.3 + 0.4j, -1.2 + 0.5j])
    CASES[f"{_name.split('.')[-1]} complex"] = points(_op(_name), _z, order=1, words=2)
for _name in INT_UNARY:
    CASES[f"{_name.split('.')[-1]} int"] = points(_op(_name), np.int32([-2, 0, 3]), words=2)
for _name in HALF_UNARY:
    _short = _name.split(".")[-1]

    def _halves(tf, name=_name):
        found = {}
        for dtype in ("float16", "bfloat16", "float64"):
            x = tf.cast([0.5, 0.9, 2.0], dtype)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = _named(tf, name)(x)
            found[dtype] = (y, tape.gradient(y, x))
        return found

    CASES[f"{_short} halves and double"] = _halves

A, B = [-2.0, 0.5, 3.0], [1.5, -0.7, 2.0]
COLUMN, ROW = [[1.5], [-2.0]], [0.5, 2.0, 3.0]
BINARY = (
    "add subtract multiply divide math.floordiv math.floormod maximum minimum pow".split()
    + (
        "math.squared_difference math.divide_no_nan math.multiply_no_nan math.xlogy math.xlog1py "
        "math.xdivy atan2 math.truediv truncatediv"
    ).split()
)
POSITIVE_BASE = ("pow", "math.xlogy", "math.xlog1py")
for _name in BINARY:
    _short = _name.split(".")[-1]
    _a, _b = ([2.0, 0.5, 3.0], [1.5, 0.7, 2.0]) if _name in POSITIVE_BASE else (A, B)
    CASES[f"{_short} pairs"] = points(_op(_name), _a, _b)
    CASES[f"{_short} broadcast"] = points(_op(_name), np.abs(COLUMN).tolist(), ROW)
    CASES[f"{_short} with scalar"] = points(_op(_name), [1.0, 2.0], 3.0)

TIES = ([1.0, 2.0, 3.0, 0.0], [1.0, 3.0, 2.0, -0.0])
CASES |= {
    "maximum ties": points(_op("maximum"), *TIES),
    "minimum ties": points(_op("minimum"), *TIES),
    "maximum nan": points(_op("maximum"), [NAN, 1.0, INF], [1.0, NAN, INF], order=1),
    "minimum nan": points(_op("minimum"), [NAN, 1.0, -INF], [1.0, NAN, -INF], order=1),
    "maximum of itself": points(lambda tf, x: tf.maximum(x, x), [1.0, 2.0]),
    "maximum with zero": points(lambda tf, x: tf.maximum(x, 0.0), [-1.0, 0.0, 1.0]),
    "zero with maximum": points(lambda tf, x: tf.maximum(0.0, x), [-1.0, 0.0, 1.0]),
    "squared_difference ties": points(_op("math.squared_difference"), *TIES),
    "pow base zero": points(_op("pow"), [0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 3.0], order=1),
    "pow base negative": points(_op("pow"), [-2.0, -2.0, -0.5], [2.0, 3.0, 0.0], order=1),
    "pow fractional negative": points(_op("pow"), [-2.0], [0.5], order=1),
    "pow constant exponents": points(
        lambda tf, x: [x**0, x**1, x**2, x**3, x**-1, x**0.5], [0.5, 2.0]
    ),
    "pow constant at zero": points(
        lambda tf, x: [x**0, x**1, x**2, x**3, x**0.0, x**2.0], [0.0], order=1
    ),
    "pow of constant base": points(lambda tf, x: 2.0**x, [-1.0, 0.0, 2.0]),
    "pow of zero base": points(lambda tf, x: 0.0**x, [1.0, 2.0], order=1),
    "division by zero": points(_op("divide"), [1.0, 0.0, -1.0], [0.0, 0.0, 0.0], order=1),
    "divide_no_nan zero": points(_op("math.divide_no_nan"), [1.0, 0.0], [0.0, 0.0]),
    "multiply_no_nan zero": points(_op("math.multiply_no_nan"), [INF, NAN, 2.0], [0.0, 0.0, 3.0]),
    "xlogy zero": points(_op("math.xlogy"), [0.0, 0.0, 1.0], [0.0, 1.0, 0.5], order=1),
    "xdivy zero": points(_op("math.xdivy"), [0.0, 0.0, 1.0], [0.0, 1.0, 0.5], order=1),
    "atan2 quadrants": points(_op("atan2"), [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]),
    "atan2 zero": points(_op("atan2"), [0.0, -0.0, 1.0], [1.0, -1.0, 0.0], order=1),
    "add_n": points(lambda tf, x, y: tf.add_n([x, y, x]), A, B),
    "abs at zero": points(_op("abs"), [0.0, -0.0]),
    "sqrt at zero": points(_op("sqrt"), [0.0, 4.0], order=1),
    "where sqrt": points(
        lambda tf, x: tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x)), [0.0, 4.0], order=1
    ),
    "where log safe": points(
        lambda tf, x: tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0), [0.0, 4.0]
    ),
    "norm at zero": points(lambda tf, x: tf.norm(x), [0.0, 0.0], order=1),
    "floordiv gradient": points(lambda tf, x, y: x // y, [7.0, -7.0], [2.0, 2.0]),
    "floormod gradient": points(lambda tf, x, y: x % y, [7.0, -7.0], [2.0, 2.5]),
    "round plus x": points(lambda tf, x: tf.round(x) + x * x, [0.4, 1.6]),
    "sign times x": points(lambda tf, x: tf.sign(x) * x, [-2.0, 0.0, 3.0]),
    "polyval": points(lambda tf, x: tf.math.polyval([1.0, 2.0, 3.0], x), [0.5, 2.0]),
    "lbeta": points(lambda tf, x: tf.math.lbeta(x), [[1.0, 2.0], [0.5, 0.7]], order=1),
    "igamma": points(_op("math.igamma"), [1.0, 2.0], [0.5, 1.5], order=1),
    "complex build": points(lambda tf, x, y: tf.complex(x, y), [1.0, 2.0], [0.5, -1.0]),
    "complex product": points(
        lambda tf, x, y: x * y, np.complex64([1 + 2j]), np.complex64([0.5 - 1j])
    ),
    "complex quotient": points(
        lambda tf, x, y: x / y, np.complex64([1 + 2j]), np.complex64([0.5 - 1j])
    ),
    "complex power": points(
        lambda tf, x, y: x**y, np.complex64([1 + 2j]), np.complex64([0.5 - 1j]), order=1
    ),
    "real of square": points(lambda tf, z: tf.math.real(z * z), np.complex64([1 + 2j])),
    "abs of complex": points(lambda tf, z: tf.abs(z), np.complex64([3 + 4j, 0]), order=1),
    "squared modulus": points(
        lambda tf, z: tf.math.real(z * tf.math.conj(z)), np.complex64([1 + 2j, -1j])
    ),
    "holomorphic chain": points(
        lambda tf, z: tf.exp(tf.sin(z) * z), np.complex128([0.3 + 0.2j]), order=1
    ),
    "complex to real cast": points(
        lambda tf, z: tf.cast(z, tf.float32), np.complex64([1 + 2j]), order=1
    ),
    "real to complex cast": points(
        lambda tf, x: tf.abs(tf.cast(x, tf.complex64) * (1 + 2j)), [1.5], order=1
    ),
    "scalar everything": points(lambda tf, x: tf.exp(x) * tf.sin(x) / x, 1.3),
    "empty": points(lambda tf, x: tf.exp(x) * 2.0, np.zeros([0, 3], np.float32)),
    "float64 chain": points(
        lambda tf, x: tf.math.log(1 + tf.exp(x)) ** 2, np.float64([0.5, -30.0, 3.0])
    ),
}

MATRIX = [[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]]
CUBE = (np.arange(12).reshape(2, 3, 2) / 4 - 1.1).tolist()
REDUCTIONS = "sum mean max min prod std variance logsumexp euclidean_norm".split()
AXES = {
    "all": {},
    "axis 0": {"axis": 0},
    "axis -1": {"axis": -1},
    "axis list": {"axis": [0, 1]},
    "keepdims": {"axis": 1, "keepdims": True},
    "keepdims all": {"keepdims": True},
    "no axes": {"axis": []},
}
for _name in REDUCTIONS:

    def _reduce(tf, x, name=_name, **settings):
        return _named(tf, f"math.reduce_{name}")(x, **settings)

    for _label, _settings in AXES.items():
        CASES[f"reduce_{_name} {_label}"] = points(
            lambda tf, x, f=_reduce, s=_settings: f(tf, x, **s), MATRIX
        )
    CASES[f"reduce_{_name} cube"] = points(lambda tf, x, f=_reduce: f(tf, x, axis=(0, 2)), CUBE)
    CASES[f"reduce_{_name} ties"] = points(
        lambda tf, x, f=_reduce: f(tf, x, axis=1), [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]], order=1
    )
    CASES[f"reduce_{_name} zeros"] = points(lambda tf, x, f=_reduce: f(tf, x), [0.0, 0.0], order=1)
    CASES[f"reduce_{_name} scalar"] = points(lambda tf, x, f=_reduce: f(tf, x), 2.0, order=1)
    CASES[f"reduce_{_name} special"] = points(
        lambda tf, x, f=_reduce: f(tf, x, axis=1), [[NAN, 1.0], [INF, 1.0], [-INF, 2.0]], order=1
    )
    CASES[f"reduce_{_name} empty"] = points(
        lambda tf, x, f=_reduce: f(tf, x, axis=1), np.zeros([2, 0], np.float32), order=1
    )
    CASES[f"reduce_{_name} int"] = points(
        lambda tf, x, f=_reduce: f(tf, x, axis=0), np.int32([[1, 2], [4, 5]]), words=2
    )
    CASES[f"reduce_{_name} bad axis"] = points(
        lambda tf, x, f=_reduce: f(tf, x, axis=5), MATRIX, words=3
    )

PROD_ZERO = [[0.0, 2.0, 3.0], [0.0, 0.0, 4.0]]
CASES |= {
    "reduce_prod zero": points(lambda tf, x: tf.reduce_prod(x, 1), PROD_ZERO),
    "reduce_any": points(lambda tf, x: tf.reduce_any(x, 1), np.array([[True, False], [False] * 2])),
    "reduce_all": points(lambda tf, x: tf.reduce_all(x, 0), np.array([[True, False], [True] * 2])),
    "reduce_all of floats": points(lambda tf, x: tf.reduce_all(x), [1.0, 0.0], words=0),
    "reduce_sum of bools": points(lambda tf, x: tf.reduce_sum(x), np.array([True]), words=0),
    "reduce_mean int": points(lambda tf, x: tf.reduce_mean(x), np.int32([1, 2, 4])),
    "reduce_mean bool": points(lambda tf, x: tf.reduce_mean(x), np.array([True]), words=0),
    "reduce_max int": points(lambda tf, x: tf.reduce_max(x, 0), np.int64([[1, 5], [3, 2]])),
    "reduce_sum complex": points(lambda tf, x: tf.reduce_sum(x), np.complex64([1 + 2j, 3 - 1j])),
    "reduce_mean complex": points(lambda tf, x: tf.reduce_mean(x), np.complex64([1 + 2j, 3 - 1j])),
    "reduce_sum repeated axis": points(lambda tf, x: tf.reduce_sum(x, [0, 0]), MATRIX, words=3),
    "reduce_sum tensor axis": points(lambda tf, x: tf.reduce_sum(x, tf.constant(1)), MATRIX),
    "reduce_sum numpy axis": points(lambda tf, x: tf.reduce_sum(x, np.array([0, 1])), MATRIX),
    "reduce_sum of list": points(lambda tf, x: tf.reduce_sum([x, x * 2.0]), [1.0, 2.0]),
    "reduce_logsumexp large": points(lambda tf, x: tf.reduce_logsumexp(x), [1000.0, 1000.0, 999.0]),
    "count_nonzero": points(lambda tf, x: tf.math.count_nonzero(x, axis=1), MATRIX),
    "argmax": points(lambda tf, x: tf.argmax(x, axis=1), MATRIX),
    "argmax default axis": points(lambda tf, x: tf.argmax(x), MATRIX),
    "argmax ties": points(lambda tf, x: tf.argmax(x), [1.0, 3.0, 3.0]),
    "argmax int32": points(lambda tf, x: tf.argmax(x, output_type=tf.int32), [1.0, 3.0]),
    "argmax nan": points(lambda tf, x: tf.argmax(x), [1.0, NAN, 3.0]),
    "argmax empty": points(lambda tf, x: tf.argmax(x), np.zeros([0], np.float32), words=3),
    "argmax bad axis": points(lambda tf, x: tf.argmax(x, 3), MATRIX, words=3),
    "argmin": points(lambda tf, x: tf.argmin(x, axis=-1), MATRIX),
    "cumsum": points(lambda tf, x: tf.cumsum(x, axis=1), MATRIX),
    "cumsum exclusive": points(lambda tf, x: tf.cumsum(x, axis=1, exclusive=True), MATRIX),
    "cumsum reverse": points(lambda tf, x: tf.cumsum(x, axis=0, reverse=True), MATRIX),
    "cumsum both": points(lambda tf, x: tf.cumsum(x, axis=1, exclusive=True, reverse=True), MATRIX),
    "cumsum int": points(lambda tf, x: tf.cumsum(x), np.int32([1, 2, 3])),
    "cumsum bad axis": points(lambda tf, x: tf.cumsum(x, 4), MATRIX, words=0),
    "cumprod": points(lambda tf, x: tf.math.cumprod(x, axis=1), MATRIX),
    "cumprod exclusive": points(lambda tf, x: tf.math.cumprod(x, 1, exclusive=True), MATRIX),
    "cumprod reverse": points(lambda tf, x: tf.math.cumprod(x, 1, reverse=True), MATRIX),
    "cumprod zero": points(lambda tf, x: tf.math.cumprod(x), [2.0, 0.0, 3.0], order=1),
    "cumulative_logsumexp": points(lambda tf, x: tf.math.cumulative_logsumexp(x), ORDINARY),
    "segment_sum": points(lambda tf, x: tf.math.segment_sum(x, [0, 0, 1]), ORDINARY[:3]),
    "unsorted_segment_sum": points(
        lambda tf, x: tf.math.unsorted_segment_sum(x, [2, 0, 2], 3), ORDINARY[:3]
    ),
    "bincount": points(lambda tf, x: tf.math.bincount(x), np.int32([1, 3, 3])),
    "top_k": points(lambda tf, x: tuple(tf.math.top_k(x, 2)), MATRIX),
    "top_k ties": points(lambda tf, x: tuple(tf.math.top_k(x, 2)), [1.0, 3.0, 3.0, 3.0]),
    "top_k type": lambda tf: tf.math.top_k(tf.constant([1.0, 2.0])),
    "top_k too large": points(lambda tf, x: tf.math.top_k(x, 9), [1.0, 2.0], words=0),
    "in_top_k": lambda tf: tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.2, 0.8]], 1),
    "l2_normalize": points(lambda tf, x: tf.math.l2_normalize(x, axis=1), MATRIX),
    "l2_normalize zero": points(lambda tf, x: tf.math.l2_normalize(x), [0.0, 0.0], order=1),
    "confusion_matrix": lambda tf: tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]),
    "confusion_matrix weights": lambda tf: [
        tf.math.confusion_matrix([0, 1, 1], [0, 1, 0], weights=tf.constant([1.5, 2.5, 3.5])),
        tf.math.confusion_matrix([0, 1], [0, 1], weights=[1.5, 2.0], dtype=tf.int64),
        tf.math.confusion_matrix([0, 1], [0, 1], weights=[1, 2], dtype=tf.float32),
    ],
    "zero_fraction": lambda tf: tf.math.zero_fraction(tf.constant([0.0, 1.0, 0.0])),
}

MATMULS = {
    "plain": (lambda tf, a, b: tf.matmul(a, b), [2, 3], [3, 2]),
    "transpose_a": (lambda tf, a, b: tf.matmul(a, b, transpose_a=True), [3, 2], [3, 2]),
    "transpose_b": (lambda tf, a, b: tf.matmul(a, b, transpose_b=True), [2, 3], [2, 3]),
    "transpose both": (
        lambda tf, a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        [3, 2],
        [4, 3],
    ),
    "adjoint_a": (lambda tf, a, b: tf.matmul(a, b, adjoint_a=True), [3, 2], [3, 2]),
    "adjoint_b": (lambda tf, a, b: tf.matmul(a, b, adjoint_b=True), [2, 3], [2, 3]),
    "batch": (lambda tf, a, b: tf.matmul(a, b), [2, 2, 3], [2, 3, 1]),
    "batch broadcast": (lambda tf, a, b: tf.matmul(a, b), [2, 2, 3], [3, 1]),
    "batch broadcast both": (lambda tf, a, b: tf.matmul(a, b), [2, 1, 1, 2], [3, 2, 1]),
    "batch transpose_b": (lambda tf, a, b: tf.matmul(a, b, transpose_b=True), [2, 2, 3], [2, 1, 3]),
    "empty inner": (lambda tf, a, b: tf.matmul(a, b), [2, 0], [0, 3]),
    "empty outer": (lambda tf, a, b: tf.matmul(a, b), [0, 2], [2, 3]),
    "matvec": (lambda tf, a, b: tf.linalg.matvec(a, b), [2, 3], [3]),
    "matvec transpose": (lambda tf, a, b: tf.linalg.matvec(a, b, transpose_a=True), [3, 2], [3]),
    "tensordot 1": (lambda tf, a, b: tf.tensordot(a, b, 1), [2, 3], [3, 2]),
    "tensordot 2": (lambda tf, a, b: tf.tensordot(a, b, 2), [2, 3], [2, 3]),
    "tensordot 0": (lambda tf, a, b: tf.tensordot(a, b, 0), [2], [3]),
    "tensordot axes": (lambda tf, a, b: tf.tensordot(a, b, [[1, 0], [0, 2]]), [2, 3], [3, 1, 2]),
    "vector tensordot": (lambda tf, a, b: tf.tensordot(a, b, 1), [3], [3]),
    "einsum matmul": (lambda tf, a, b: tf.einsum("ij,jk->ik", a, b), [2, 3], [3, 2]),
    "einsum implicit": (lambda tf, a, b: tf.einsum("ij,jk", a, b), [2, 3], [3, 2]),
    "einsum outer": (lambda tf, a, b: tf.einsum("i,j->ij", a, b), [2], [3]),
    "einsum inner": (lambda tf, a, b: tf.einsum("ij,ij->", a, b), [2, 3], [2, 3]),
    "einsum batch": (lambda tf, a, b: tf.einsum("bij,bjk->bik", a, b), [2, 1, 3], [2, 3, 2]),
    "einsum ellipsis": (lambda tf, a, b: tf.einsum("...ij,jk->...ik", a, b), [2, 1, 3], [3, 2]),
    "einsum transpose": (lambda tf, a, b: tf.einsum("ij,kj->ki", a, b), [2, 3], [2, 3]),
    "einsum sum": (lambda tf, a, b: tf.einsum("ij,k->i", a, b), [2, 3], [2]),
    "einsum spaces": (lambda tf, a, b: tf.einsum("i j, j k -> i k", a, b), [2, 3], [3, 2]),
}


def _grid(shape, step):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * step + 0.5) * 2).reshape(shape).astype(np.float32)


for _name, (_f, _a, _b) in MATMULS.items():
    CASES[f"matmul {_name}"] = points(_f, _grid(_a, 1.0), _grid(_b, 1.7))
CASES |= {
    "einsum trace": points(lambda tf, x: tf.einsum("ii->", x), [[1.0, 2.0], [3.0, 4.0]]),
    "einsum diagonal": points(lambda tf, x: tf.einsum("ii->i", x), [[1.0, 2.0], [3.0, 4.0]]),
    "einsum reduce": points(lambda tf, x: tf.einsum("ij->j", x), MATRIX),
    "einsum three": points(
        lambda tf, x, y, z: tf.einsum("i,ij,j->", x, y, z), [1.0, 2.0], MATRIX, [1.0, 0.0, 2.0]
    ),
    "matmul complex": points(
        lambda tf, a, b: tf.matmul(a, b, adjoint_a=True),
        np.complex64([[1 + 2j], [3j]]),
        np.complex64([[1 - 1j], [2.0]]),
    ),
    "matmul int": points(lambda tf, a, b: a @ b, np.int32([[1, 2]]), np.int32([[3], [4]])),
    "matmul half": points(lambda tf, a, b: a @ b, np.float16([[1, 2]]), np.float16([[3], [4]])),
    "matmul double": points(lambda tf, a, b: a @ b, np.float64([[1, 2]]), np.float64([[3], [4]])),
    "matmul of itself": points(lambda tf, a: a @ a, [[1.0, 2.0], [3.0, 4.0]]),
    "matmul errors": lambda tf: attempts(
        tf,
        {
            "inner": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
            "vector": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([3])),
            "scalar": lambda tf: tf.matmul(tf.ones([2, 3]), 1.0),
            "batch": lambda tf: tf.matmul(tf.ones([2, 2, 3]), tf.ones([3, 3, 2])),
            "dtypes": lambda tf: tf.matmul(tf.ones([1, 1]), tf.ones([1, 1], tf.float64)),
            "both transpose": lambda tf: tf.matmul(
                tf.ones([1, 1]), tf.ones([1, 1]), transpose_a=True, adjoint_a=True
            ),
            "bool": lambda tf: tf.matmul(tf.constant([[True]]), tf.constant([[True]])),
            "matvec": lambda tf: tf.linalg.matvec(tf.ones([2, 3]), tf.ones([2])),
        },
        words=4,
    ),
    "einsum errors": lambda tf: attempts(
        tf,
        {
            "sizes": lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3])),
            "operands": lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3])),
            "rank": lambda tf: tf.einsum("ijk->i", tf.ones([2, 3])),
            "output": lambda tf: tf.einsum("ij->k", tf.ones([2, 3])),
            "dots": lambda tf: tf.einsum("i...->i", tf.ones([2, 3])),
            "dots of two": lambda tf: tf.einsum("...i,i->i", tf.ones([1, 3]), tf.ones([3])),
            "dots of nothing": lambda tf: tf.einsum("i...->i", tf.ones([2])),
        },
        words=0,
    ),
    "unravel_index": lambda tf: attempts(
        tf,
        {
            "vector": lambda tf: tf.unravel_index([5, 1], [2, 3]),
            "rank 3": lambda tf: tf.unravel_index([7, 23, 0], [2, 3, 4]),
            "negative": lambda tf: tf.unravel_index(-1, [2, 3]),
            "int64": lambda tf: tf.unravel_index(np.int64(5), np.array([2, 3])),
            "beyond": lambda tf: tf.unravel_index(6, [2, 3]),
            "matrix": lambda tf: tf.unravel_index([[5]], [2, 3]),
            "scalar dims": lambda tf: tf.unravel_index([5], 6),
            "float": lambda tf: tf.unravel_index(5.0, [2, 3]),
            "size of zero": lambda tf: tf.unravel_index(1, [0, 3]),
        },
        words=8,
    ),
    "ends of functions of pairs": lambda tf: attempts(
        tf,
        {
            f"{name} {dtype}": lambda tf, name=name, dtype=dtype: getattr(tf.math, name)(
                *[tf.constant(x.ravel(), dtype) for x in np.meshgrid(ENDS, ENDS)]
            )
            for name in ("igamma", "igammac", "zeta", "polygamma")
            for dtype in ("float32", "float64")
        },
    ),
    "betainc": lambda tf: attempts(
        tf,
        {
            "values": lambda tf: tf.math.betainc(
                [0.5, 2.0, -1.0], [2.0, 3.0, 2.0], [0.3, 0.0, 1.0]
            ),
            "scalars": lambda tf: tf.math.betainc([1.0, 2.0], 1.0, 0.5),
            "ends": lambda tf: tf.math.betainc(
                *[
                    tf.constant(x.ravel(), tf.float64)
                    for x in np.meshgrid(ENDS, ENDS, [0.0, -0.0, 1.0, 0.5, -0.1, 1.5, NAN])
                ]
            ),
            "shapes": lambda tf: tf.math.betainc([1.0, 2.0], [1.0], 0.5),
            "integers": lambda tf: tf.math.betainc(1, 2, 3),
        },
        words=8,
    ),
    "logical": lambda tf: attempts(
        tf,
        {
            "and": lambda tf: tf.logical_and([True, False], [True, True]),
            "or": lambda tf: tf.logical_or([True, False], False),
            "xor": lambda tf: tf.math.logical_xor([True, False], [True, True]),
            "not": lambda tf: tf.logical_not([True, False]),
            "and of ints": lambda tf: tf.logical_and(tf.constant([1]), tf.constant([1])),
            "not of floats": lambda tf: tf.logical_not(tf.constant([1.0])),
        },
        words=1,
    ),
    "comparisons": lambda tf: attempts(
        tf,
        {
            "less": lambda tf: tf.less([1, 5], [2, 2]),
            "less_equal": lambda tf: tf.less_equal([1.0, 2.0], 2.0),
            "greater": lambda tf: tf.greater(tf.constant([1, 5]), 2),
            "greater_equal": lambda tf: tf.greater_equal([1, 2], [[1], [2]]),
            "equal": lambda tf: tf.equal("a", ["a", "b"]),
            "not_equal": lambda tf: tf.not_equal([True, False], True),
            "increasing": lambda tf: tf.math.is_strictly_increasing([1, 2, 2]),
        },
    ),
}


def case_functions_take_python_values(tf):
    return attempts(
        tf,
        {
            "add": lambda tf: tf.add(1, 2.5),
            "add ints": lambda tf: tf.add(1, 2),
            "multiply": lambda tf: tf.multiply([1, 2], 3),
            "maximum": lambda tf: tf.maximum(1, 2),
            "divide ints": lambda tf: tf.divide(7, 2),
            "divide lists": lambda tf: tf.divide([7], [2]),
            "truediv": lambda tf: tf.math.truediv(7, 2),
            "pow": lambda tf: tf.pow(2, 3),
            "sqrt of int": lambda tf: tf.sqrt(4),
            "exp of list": lambda tf: tf.exp([0.0, 1.0]),
            "abs": lambda tf: tf.abs(-3),
            "numpy": lambda tf: tf.add(np.float64(1.0), 2),
            "numpy and tensor": lambda tf: tf.add(np.float64([1.0]), tf.constant([2.0])),
            "tensor and numpy": lambda tf: tf.add(tf.constant([2.0]), np.float64([1.0])),
            "mixed": lambda tf: tf.add(tf.constant(1), tf.constant(1.0)),
            "square of bool": lambda tf: tf.square(True),
            "string": lambda tf: tf.add("a", "b"),
        },
        words=2,
    )


def case_same_tensor_twice(tf):
    return derivatives(tf, lambda tf, x: x * x / (x + x), [np.float32([1.0, 2.0])])


def case_names_accepted(tf):
    x = tf.constant([1.0, 2.0])
    return (
        tf.add(x, x, name="a"),
        tf.reduce_sum(x, name="s"),
        tf.matmul([x], [[1.0], [1.0]], name="m"),
    )


def case_complex_to_bool(tf):
    return tf.cast(np.complex64([1j, 1, 0, np.nan]), tf.bool)


def case_ranges_as_axes(tf):
    x = tf.reshape(tf.range(8.0), [2, 2, 2])
    reductions = (tf.reduce_sum, tf.reduce_max, tf.reduce_mean, tf.reduce_logsumexp)
    return {
        "ranges": [f(x, axis=range(*ends)) for f in reductions for ends in ((1, 3), (1, 1))],
        "constants": [tf.constant(range(*ends)) for ends in ((3,), (1, 1))],
        "reversed": tf.reverse(x, range(1, 3)),
        "transposed": tf.transpose(x, range(2, -1, -1)),
    }


def case_argmax_of_many(tf):
    """Equal ones, NaN and infinities, along more than are compared one after the other."""
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=(4, 300)), 1).astype(np.float32)
    x[0, ::7], x[1, ::3], x[2], x[3, 5] = np.nan, np.inf, -np.inf, np.nan
    arrays = [x, x.T[None], np.round(x).astype(np.float16), rng.integers(-9, 9, (300, 3))]
    axes = [1, -2, 1, 0]
    return [
        function(tf.constant(array), axis, dtype)
        for function in (tf.argmax, tf.argmin)
        for array, axis in zip(arrays, axes, strict=True)
        for dtype in (tf.int64, tf.int32)
    ]


def case_confusion_matrices(tf):
    matrix, c = tf.math.confusion_matrix, tf.constant
    calls = {
        "floats": lambda: matrix([0.0, 1.0, 1.0], [1.0, 0.0, 1.0]),
        "cut off": lambda: matrix([1.7, 0.2], [0.9, 1.1]),
        "two dtypes": lambda: matrix([0, 1], c([1.0, 0.0], tf.float64)),
        "bools": lambda: matrix([True, False], [True, True]),
        "bytes": lambda: matrix(c([0, 2], tf.uint8), c([1, 2], tf.uint8), num_classes=4),
        "a column": lambda: matrix(c([[0.0], [1.0]]), c([1, 0]), weights=[2, 3]),
        "weighted": lambda: matrix([0.0, 1.0], [1.0, 1.0], weights=[0.5, 2.0], dtype=tf.float32),
        "recorded": lambda: tf.function(matrix)(c([0.0, 2.0]), c([1.0, 1.0]), num_classes=3),
        "numbers differ": lambda: matrix([0, 1], [0, 1, 1]),
        "one weight": lambda: matrix([0, 1], [1, 1], weights=2),
        "fewer weights": lambda: matrix([0, 1], [1, 1], weights=[2]),
        "texts": lambda: matrix([0, 1], ["a", "b"]),
    }
    return {name: attempt(call) for name, call in calls.items()}


def case_weights_of_counts(tf):
    count = tf.math.bincount
    calls = {
        "fit": lambda: count([0, 1, 1], weights=[1.0, 2.0, 3.0]),
        "of rows": lambda: count([[0, 1], [1, 1]], weights=[[1, 2], [3, 4]], axis=-1),
        "one for all": lambda: count([0, 1, 1], weights=[2.0]),
        "too many": lambda: count([0, 1], weights=[1.0, 2.0, 3.0]),
        "one a row": lambda: count([[0, 1], [1, 1]], weights=[[1], [3]], axis=-1),
        "none": lambda: count([0, 1, 1], weights=tf.ones([0])),
    }
    return {name: attempt(call) for name, call in calls.items()}


def case_axes_and_ids_refused(tf):
    m, unit = tf.math, tf.math.l2_normalize
    x = [[3.0, 4.0]]
    axes = [2, -3, [0, 2], [0, 0], 1.0, "x", 1]
    sums = [m.segment_sum, m.segment_mean, m.segment_max]
    others = [m.unsorted_segment_sum, m.unsorted_segment_mean]
    return (
        [attempt(lambda: unit(x, axis, epsilon)) for axis in axes for epsilon in (1e-12, 1e-3)],
        [attempt(lambda: f([1.0], [0.0])) for f in sums],
        [attempt(lambda: f([1.0], [0.0], 2)) for f in others],
        attempt(lambda: m.segment_sum([1.0], tf.constant([0], tf.int16))),
        m.unsorted_segment_sum([1.0], tf.constant([0], tf.int16), 2),
    )


def case_segment_means_of_integers(tf):
    found = {}
    for dtype in ("int8", "int32", "int64", "uint8"):
        x, ids = tf.constant([3, 4, 5, 6], dtype), tf.constant([0, 0, 2, 2])
        found[dtype] = [
            tf.math.segment_mean(x, ids),
            tf.math.unsorted_segment_mean(x, ids, 3),
            tf.math.unsorted_segment_mean(x, ids - 1, 3),
        ]
    return found, tf.math.segment_mean([-3, -4], [0, 0])


def case_bincount_of_weights_and_one_bit(tf):
    return tf.math.bincount([1, 2], weights=[1.0, 2.0], binary_output=True)


def case_confusion_matrix_of_any_numbers(tf):
    matrix = tf.math.confusion_matrix
    programs = {
        "floats": lambda tf: matrix([0.0, 1.0, 1.0], tf.constant([1.0, 1.9, 0.0])),
        "rounded": lambda tf: matrix([0, 1], tf.round([0.2, 0.9])),
        "bools": lambda tf: matrix([True, False], [True, True]),
        "column of labels": lambda tf: matrix([[0], [1]], [1, 1]),
        "column of predictions": lambda tf: matrix([0, 1], [[1], [1]]),
        "nothing": lambda tf: matrix([], [], 4),
        "lengths": lambda tf: matrix([0, 1, 1], [1, 1]),
        "a number for all": lambda tf: matrix([0, 1, 1], 1),
        "a row for all": lambda tf: matrix([0, 1, 1], [[0, 1, 1]]),
        "numbers": lambda tf: matrix(1, 0),
        "one number": lambda tf: matrix([1], 0),
        "weights": lambda tf: matrix([0, 1], [0, 1], weights=[1.0, 2.0, 3.0]),
        "one weight": lambda tf: matrix([0, 1], [0, 1], weights=2.0),
        "function": lambda tf: tf.function(lambda a, b: matrix(a, b))([0.0, 1.0], [1.0, 1.0]),
    }
    return attempts(tf, programs, words=3)


def case_dtypes_of_histograms_and_largest(tf):
    k = tf.constant([1, 2])
    calls = (
        lambda: tf.histogram_fixed_width(k, tf.constant([0.0, 5.0])),
        lambda: tf.histogram_fixed_width_bins(k, tf.constant([0.0, 5.0])),
        lambda: tf.math.in_top_k([0, 1], tf.ones([2, 2], tf.int32), 1),
        lambda: tf.math.in_top_k([0, 1], tf.ones([2, 2], tf.float64), 1),
        lambda: tf.math.in_top_k([0, 1], [[1, 2], [3, 4]], 1),
    )
    return [attempt(call) for call in calls]


def case_counts_with_axes_and_dtypes_of_other_kinds(tf):
    k = tf.constant([1, 1, 3])
    return [
        tf.math.bincount(k, axis=np.int64(0)),
        tf.math.bincount(k, axis=tf.constant(0)),
        tf.math.bincount(k, dtype=None),
        tf.histogram_fixed_width([0.0, 1.0], [0.0, 2.0], 2, None),
        tf.histogram_fixed_width_bins([0.0, 1.0], [0.0, 2.0], 2, None),
        tf.histogram_fixed_width_bins([np.nan, 1.0], [0.0, 2.0], 2),
    ]


def case_axes_after_ones_that_were_refused(tf):
    """A call that is refused for floats as axes leaves nothing behind for equal integers."""
    x = tf.reshape(tf.range(6.0), [2, 3])
    ops = (tf.reduce_sum, tf.reduce_max, tf.math.count_nonzero, tf.nn.moments)
    for op in ops:
        attempt(op, x, [1.0])
    return [attempt(op, x, axes) for op in ops for axes in ([1], [np.int64(1)], [-1, 0])]


def case_clip_by_norms_that_are_not_positive(tf):
    x, norms = tf.constant([3.0, 4.0]), tf.constant([-1.0, 0.0, 2.0, 9.0])
    found = []
    for norm in norms:
        with tf.GradientTape() as tape:
            tape.watch([x, norm])
            y = tf.clip_by_norm(x, norm)
        found.append((y, tape.gradient(y, [x, norm])))
    return found


def case_bincount_by_rows_of_other_ranks(tf):
    cube = [[[1, 2], [0, 1]]]
    options = ({"axis": -1}, {"axis": -1, "binary_output": True}, {"axis": 0}, {})
    calls = [(x, given) for x in (cube, 3) for given in options]
    return [attempt(lambda x, given: tf.math.bincount(x, **given), *call) for call in calls]


def case_top_k_of_both_zeros(tf):
    """They are equal, and of equal ones the first ones come first."""
    results = []
    for dtype in (np.float16, np.float32, np.float64):
        x = tf.constant(np.round(np.random.default_rng(3).normal(size=(4, 90))), dtype)
        x = x * tf.constant([[-1.0], [1.0], [0.0], [-0.0]], dtype)
        for k in (1, 3, 40, 90):
            with tf.GradientTape() as tape:
                tape.watch(x)
                values, indices = tf.math.top_k(x, k)
            weights = tf.cast(tf.range(1, k + 1), dtype)
            results += [values, indices, tape.gradient(values, x, weights * tf.ones_like(values))]
    return results


def case_bincount_of_no_rows(tf):
    k, weights = tf.zeros([0, 3], tf.int32), tf.zeros([0, 3])
    return [
        tf.math.bincount(k, axis=-1, minlength=4),
        tf.math.bincount(k, axis=-1, minlength=4, weights=weights),
        tf.math.bincount(tf.zeros([3, 0], tf.int32), axis=-1, minlength=2, binary_output=True),
    ]


def case_segment_ids_below_zero(tf):
    names = ("sum", "mean", "max", "min", "prod")
    given = ([-1, 0, 1], [-2, -1, -1], [0, -1, 1])
    return attempts(
        tf,
        {
            f"{name} {ids}": lambda tf, name=name, ids=ids: getattr(tf.math, f"segment_{name}")(
                tf.ones([3, 2]), ids
            )
            for name in names
            for ids in given
        },
    )


def case_expint_next_to_zero(tf):
    """Of negative numbers it is NaN: nothing is computed of them."""
    x = [-1e-8, 2.0, 170.0, -1e-300, -1.5, 0.0, 1e-30, np.inf, -np.inf]
    return [tf.math.special.expint(tf.constant(x, dtype)) for dtype in (tf.float64, tf.float32)]


def case_integers_that_kernels_do_not_take(tf):
    names = ("int8", "uint8", "int16", "uint32", "int32", "int64", "bool")

    def both(function, name):
        x = tf.cast(tf.constant([7, 2]), name)
        return attempt(lambda: function(x, x), words=8)

    return [[both(f, n) for n in names] for f in (tf.math.squared_difference, tf.truncatemod)]


def case_segments_of_dtypes(tf):
    names = ("sum", "prod", "max", "min", "mean", "sqrt_n")
    kinds = ("complex64", "bool", "uint8", "int64")

    def reduced(name, kind):
        x = tf.cast(tf.constant([[1, 0], [0, 1], [1, 1]]), kind)
        sort, unsorted = f"segment_{name}", f"unsorted_segment_{name}"
        return [
            attempt(lambda: getattr(tf.math, sort)(x, [0, 0, 1]), words=8)
            if name != "sqrt_n"
            else 0,
            attempt(lambda: getattr(tf.math, unsorted)(x, [0, 0, 1], 2), words=8),
        ]

    return [reduced(name, kind) for name in names for kind in kinds]


def case_zero_gradients_stay_zero_where_there_is_no_derivative(tf):
    x = tf.constant([-np.inf, -2.0, -0.0, 0.0, 4.0, np.inf, np.nan])
    programs = {
        "sqrt": tf.sqrt,
        "rsqrt": tf.math.rsqrt,
        "reciprocal": tf.math.reciprocal,
        "log": tf.math.log,
        "norm": lambda x: tf.norm(x[2:5, None], axis=1),
        "where": lambda x: tf.where(x > 1.0, tf.sqrt(x) + tf.math.rsqrt(x), 0.0),
        "where reciprocal": lambda x: tf.where(tf.abs(x) > 1.0, tf.math.reciprocal(x), 0.0),
    }

    def gradients(x, number, f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x, tf.fill(tf.shape(y), tf.cast(number, x.dtype)))

    found = {}
    for name, f in programs.items():
        for number in (0.0, 1.0, -3.0):
            found[name, number] = gradients(x, number, f)
            found[name, number, "function"] = tf.function(gradients)(x, number, f)
            half = gradients(tf.cast(x, tf.float16), number, f) if "where" not in name else None
            found[name, number, "half"] = half
    z = tf.constant([0.0, complex(np.nan, 1.0), 1.0 + 1.0j], tf.complex64)
    for name in ("sqrt", "reciprocal"):
        found[name, "complex"] = gradients(z, 0.0, programs[name])
    return {str(key): value for key, value in found.items()}


def case_gamma_at_infinity(tf):
    """Derivatives of lgamma up to the third, there and at ordinary places."""
    x = tf.constant([INF, 1.0, -2.5, 100.0, -9.75, -300.25], tf.float64)
    lists = []
    for function in (tf.math.digamma, tf.math.lgamma):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            first = tape.gradient(y, x)
        lists.append((y, first, outer.gradient(first, x)))
    return lists


def case_rsqrt_of_complex_at_zero(tf):
    """A zero gradient stays one."""
    z = tf.constant([1 + 1j, 0j, -2 + 0.5j])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.where([True, False, True], tf.math.rsqrt(z), z)
    return tape.gradient(y, z)


def case_second_of_complex_abs_at_zero(tf):
    z = tf.constant([0j, 1 + 2j, -3j])
    with tf.GradientTape() as outer:
        outer.watch(z)
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = tf.abs(z) * 3.0
        slope = tape.gradient(y, z)
    return y, slope, outer.gradient(slope, z)


def case_arguments_by_name(tf):
    r = tf.ragged.constant([[1.0, -2.0], [3.0]])
    table = {
        "atan2": lambda tf: [tf.math.atan2(y=1.0, x=-0.5), tf.math.atan2(1.0, x=-0.5)],
        "nextafter": lambda tf: tf.math.nextafter(x1=1.0, x2=2.0),
        "igamma": lambda tf: [tf.math.igamma(a=2.0, x=3.0), tf.math.igammac(a=2.0, x=3.0)],
        "orders": lambda tf: [tf.math.zeta(x=2.0, q=3.0), tf.math.polygamma(a=1.0, x=3.0)],
        "one": lambda tf: [
            tf.nn.softsign(features=r).values,
            tf.math.real(input=tf.constant([1 + 2j])),
        ],
        "scatter": lambda tf: tf.scatter_nd([[5]], [1.0], [3], "IGNORE", "name"),
        "nested": lambda tf: tf.nest.is_nested(seq=[1]),
        "array": lambda tf: tf.experimental.numpy.real(val=[1 + 2j]),
        "texts": lambda tf: tf.io.decode_json_example(json_examples=["{}"]),
        "lower": lambda tf: tf.strings.lower(encoding="utf-8", input="A"),
    }
    return attempts(tf, table)


def case_segments_of_infinities_and_means_of_no_complex_numbers(tf):
    inf, m = float("inf"), tf.math
    x = tf.constant([[-inf, inf], [-inf, 1.0], [inf, inf]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        extremes = [m.segment_max(x, [0, 0, 2]), m.segment_min(x, [0, 0, 2])]
    slopes = [tape.gradient(y, x) for y in extremes]
    none = [tf.zeros([2, 0], d) for d in ("complex64", "complex128", "float32", "int32")]
    means = [[tf.reduce_mean(z), tf.reduce_mean(z, 1), tf.reduce_mean(z, 0)] for z in none]
    return extremes, slopes, means, tf.reduce_mean(tf.constant([1 + 2j, 3 - 1j]))


def case_what_kernels_do_not_take(tf):
    """Dtypes, numbers and policies that would give a result of no use."""
    c, m = tf.constant, tf.math
    z, b, x = c([1 + 2j, 3j]), c([True, False]), c([3.0, 1.0])
    programs = {
        "sort of complex": lambda tf: tf.sort(z),
        "argsort of complex": lambda tf: tf.argsort(z, direction="DESCENDING"),
        "sort of bool": lambda tf: tf.sort(b),
        "argmax of complex": lambda tf: tf.argmax(z),
        "argmin of complex": lambda tf: tf.argmin(z),
        "argmax of bool": lambda tf: tf.argmax(b),
        "moments of bool": lambda tf: tf.nn.moments(b, [0]),
        "moments of bytes": lambda tf: tf.nn.moments(c([1, 5], tf.uint8), [0]),
        "moments of integers": lambda tf: tf.nn.moments(c([1, 5]), [0]),
        "loss of integers": lambda tf: tf.nn.log_poisson_loss(c([1]), c([2])),
        "sound of integers": lambda tf: tf.audio.encode_wav(c([[1], [2]]), 8000),
        "sound of doubles": lambda tf: tf.audio.encode_wav(c([[0.5]], tf.float64), 8000),
        "sound of a list": lambda tf: tf.audio.encode_wav([[1], [0]], 8000),
        "frames of bool": lambda tf: tf.signal.frame(b, 1, 1),
        "places as floats": lambda tf: tf.searchsorted([1.0], [1.0], out_type=tf.float32),
        "places of the largest": lambda tf: m.top_k(x, 1, index_type=tf.float32),
        "largest of complex": lambda tf: m.top_k(z, 1),
        "largest of bool": lambda tf: m.top_k(b, 1),
        "places as int16": lambda tf: m.top_k(x, 1, index_type=tf.int16),
        "length": lambda tf: m.bincount([1, 1], minlength=3.0),
        "most": lambda tf: m.bincount([1, 1], maxlength=3.0),
        "bins": lambda tf: tf.histogram_fixed_width([1.0], [0.0, 2.0], nbins=2.5),
        "bins of each": lambda tf: tf.histogram_fixed_width_bins([1.0], [0.0, 2.0], nbins=2.0),
        "k": lambda tf: m.in_top_k([0], [[1.0, 2.0]], k=1.5),
        "on": lambda tf: tf.one_hot([0, 1], 2, on_value=[1.0]),
        "off": lambda tf: tf.one_hot([0, 1], 2, off_value=[1.0, 2.0]),
        "default": lambda tf: tf.sparse.to_dense(tf.sparse.eye(2), default_value=[1.0]),
        "beside": lambda tf: tf.linalg.eigh_tridiagonal([1.0, 2.0], tf.zeros([0])),
        "policy": lambda tf: tf.scatter_nd([[0]], [1.0], [2], bad_indices_policy="x"),
        "policy of sums": lambda tf: tf.tensor_scatter_nd_add(
            x, [[0]], [1.0], bad_indices_policy="x"
        ),
    }
    return attempts(tf, programs, words=0)


def case_euclidean_norms_of_integers_that_wrap_around(tf):
    m = tf.math.reduce_euclidean_norm
    dtypes = ("int8", "uint8", "int16", "uint16", "int32", "int64")
    norms = {d: m(tf.constant([[100, 100], [3, 4]], d), axis=1) for d in dtypes}
    large = {"int32": [80000, 3], "uint16": [300, 40], "int64": [2**33, 5]}
    below = {"int8": [10, 10], "int16": [200, 0], "int32": [2**15, 2**15], "int64": [2**31, 2**31]}
    return norms, {d: m(tf.constant(v, d)) for d, v in [*large.items(), *below.items()]}


def case_numbers_to_negative_integer_powers(tf):
    names = ("int8", "int16", "int32", "int64")
    powers = {d: tf.constant([3, -1], d) for d in names}
    return [
        {d: attempt(lambda y=y, x=x: x**y, words=0) for d, y in powers.items()} for x in (2, -1)
    ]


def case_in_top_k_of_classes_that_are_not_finite(tf):
    rows = [[x, 1.0, 2.0] for x in (-INF, INF, NAN)]
    return [tf.math.in_top_k([target] * 3, rows, k) for target in (0, 1, 2) for k in (1, 2, 3)]


def case_signs_of_zeros_and_of_complex_infinities(tf):
    zeros = {d: tf.constant([0.0, -0.0], d) for d in ("float16", "bfloat16", "float32", "float64")}
    points = [3 + 4j, 0j, complex(INF, 0), complex(-INF, 1), complex(0, NAN)]
    z = tf.constant(points, tf.complex64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([zeros, z])
        signs, sizes = [tf.sign(x) for x in zeros.values()], [abs(x) for x in zeros.values()]
        of_complex = [tf.sign(z), abs(z)]
    slopes = tape.gradient(sizes, zeros)
    inverse = [1 / x for x in [*signs, *slopes.values()]]  # tells the zeros apart
    return inverse, of_complex[0], [tape.gradient(y, z) for y in of_complex]


def case_sums_and_distances_too_large_for_their_dtype(tf):
    ends = [-(2**31), 2**31 - 1]
    counts = tf.histogram_fixed_width([*ends, 0, 5], ends, nbins=4)
    ones = tf.ones([70000], tf.float16)
    return counts, tf.nn.l2_loss(ones), tf.nn.l2_loss(tf.constant([300.0], tf.float16))


def case_next_numbers_of_dtypes(tf):
    names = ("float16", "bfloat16", "float32", "float64", "int32")
    pairs = {d: tf.constant([1, 2], d) for d in names}
    return {d: attempt(lambda x=x: tf.math.nextafter(x, x[::-1])) for d, x in pairs.items()}

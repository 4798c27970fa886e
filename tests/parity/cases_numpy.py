"""`tf.experimental.numpy`: values and dtypes of its functions, derivatives, tensors as arrays."""

import contextlib

import numpy as np

from .derivatives import derivatives
from .harness import attempt, attempts, options

NEEDS = ("experimental.numpy.array",)
REALS = np.float32([[0.3, -1.2, 2.5], [1.0, 0.7, -0.4]])
ABOVE = np.float32([[1.3, 2.2, 4.5], [1.1, 3.7, 2.4]])
INSIDE = REALS / 4
INTS = [[3, 1, 2], [0, 5, 4]]
VECTOR = [4.0, -1.0, 2.5]
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

#: Functions of floats, by where their arguments lie.
UNARY = {
    "REALS": (
        "abs absolute angle around cbrt ceil conj conjugate cos cosh deg2rad exp exp2 expm1 fabs "
        "fix floor imag iscomplex isfinite isinf isnan isneginf isposinf isreal negative positive "
        "rad2deg real reciprocal round sign signbit sin sinc sinh square tan tanh arctan arcsinh "
        "cumsum cumprod ravel flatten transpose flip flipud fliplr rot90 sort argsort argmax argmin"
    ),
    "ABOVE": "sqrt log log1p log2 log10 arccosh",
    "INSIDE": "arcsin arccos arctanh",
}
REDUCTIONS = "sum prod mean amax amin max min ptp all any var std nansum nanprod nanmean average"
BINARY = (
    "add subtract multiply divide true_divide floor_divide mod remainder maximum minimum power "
    "float_power arctan2 hypot heaviside logaddexp nextafter equal not_equal greater "
    "greater_equal less less_equal logical_and logical_or logical_xor isclose allclose array_equal"
)
#: Functions of TensorFlow's that fail where tensors have no methods of NumPy's.
NEED_METHODS = ("around", "round", "hypot", "logaddexp")
BITS = "bitwise_and bitwise_or bitwise_xor gcd lcm floor_divide mod power true_divide"


def _unary(name, values):
    def case(tf):
        function = getattr(tf.experimental.numpy, name)
        with numpy_behavior(tf) if name in NEED_METHODS else contextlib.nullcontext():
            return derivatives(tf, lambda tf, x: function(x), [values], 1)

    return case


def _reduction(name):
    def case(tf):
        tnp = tf.experimental.numpy
        function = getattr(tnp, name)
        gradient = derivatives(tf, lambda tf, x: function(x, axis=1), [ABOVE], 1)
        whole = [function(tf.constant(ABOVE)), function(tf.constant(ABOVE, tf.float64), 0)]
        if name != "average":
            whole.append(function(tf.constant(ABOVE), axis=0, keepdims=True))
        if name not in ("mean", "var", "std", "average", "nanmean", "nansum", "nanprod"):
            whole += [function(INTS, axis=1), function(tf.constant([1, 2], tf.int8))]
        return gradient, whole

    return case


def _binary(name):
    def case(tf):
        with numpy_behavior(tf) if name in NEED_METHODS else contextlib.nullcontext():
            return of(tf)

    def of(tf):
        function = getattr(tf.experimental.numpy, name)
        mixed = [
            function(tf.constant([1.0, 2.0]), 2),
            function([2.0, 5.0], tf.constant([2.0, 2.5])),
        ]
        mixed.append(function(tf.constant([2.0, 3.0]), tf.constant([2.0, 3.5], tf.float64)))
        return derivatives(tf, lambda tf, x, y: function(x, y), [ABOVE, ABOVE[0]], 1), mixed

    return case


def _bits(name):
    def case(tf):
        function = getattr(tf.experimental.numpy, name)
        return (
            function([12, 7], [5, 3]),
            function(tf.constant([12, 7], tf.int8), 5),
            function(tf.constant([12, 7], tf.int8), tf.constant([3, 4], tf.int16)),
        )

    return case


CASES = {
    **{n: _unary(n, globals()[v]) for v, names in UNARY.items() for n in names.split()},
    **{f"reduce {name}": _reduction(name) for name in REDUCTIONS.split()},
    **{f"of two {name}": _binary(name) for name in BINARY.split()},
    **{f"of integers {name}": _bits(name) for name in BITS.split()},
}


def case_creation(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.array(1.5), tnp.array([1, 2.5]), tnp.array([[1], [2]], ndmin=3), tnp.array([True, 2])],
        [
            tnp.array([1.7], int),
            tnp.asarray([1, 2]),
            tnp.asarray(np.float32([1])),
            tnp.array(2**63),
        ],
        [tnp.zeros(2), tnp.zeros((1, 2), int), tnp.ones([2]), tnp.ones((2,), tf.float16)],
        [tnp.empty(2), tnp.empty_like([1]), tnp.zeros_like([1.0]), tnp.ones_like([1], float)],
        [tnp.full((2, 2), [1, 2]), tnp.full(2, 7.0), tnp.full_like([1, 2], 3.5)],
        [tnp.eye(2), tnp.eye(3, 2, k=1, dtype=int), tnp.eye(2, 4, k=-1), tnp.eye(2, k=5)],
        [tnp.identity(2), tnp.copy([1]), tnp.ascontiguousarray(3), tnp.asanyarray([1.0])],
        [tnp.tri(2), tnp.tri(3, 2, k=-1, dtype=int), tnp.tri(2, k=5), tnp.diag_indices(3)],
    )


def case_ranges(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.arange(5), tnp.arange(1, 6, 2, dtype=tnp.float32), tnp.arange(0.0, 1.0, 0.3)],
        [tnp.arange(3, 1), tnp.arange(5.0), tnp.arange(5, 0, -2), tnp.arange(tf.constant(3))],
        [tnp.linspace(0, 10, 5), tnp.linspace(0, 1, 4, endpoint=False, retstep=True)],
        [tnp.linspace(0, 1, 1, retstep=True), tnp.linspace(0, 10, 3, dtype=None)],
        [tnp.linspace(tf.constant(0.0), 1.0, 3), tnp.linspace(0, 9, 3, dtype=int)],
        [tnp.linspace(np.float32([0, 1]), np.float32([1, 3]), 3, axis=1)],
        [tnp.logspace(0, 2, 3), tnp.logspace(0, 2, 3, base=2.0), tnp.geomspace(1, 100, 3)],
        [tnp.geomspace(-1, -100, 3), tnp.geomspace([1, 2], [100, 200], 3, axis=1)],
        [tnp.meshgrid([1, 2], [3, 4, 5]), tnp.meshgrid([1, 2], [3], indexing="ij")],
    )


def case_matrices(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.diag([1, 2]), tnp.diag([1, 2], k=-1), tnp.diag(INTS), tnp.diag(INTS, 5), tnp.diag([])],
        [tnp.diagonal(CUBE), tnp.diagonal(CUBE, 1, 0, 2), tnp.diagonal(INTS, 7)],
        [
            tnp.diagflat(INTS),
            tnp.trace(INTS),
            tnp.trace(CUBE, 1, 1, 2),
            tnp.trace(INTS, dtype=float),
        ],
        [tnp.tril(CUBE), tnp.triu(INTS, 1), tnp.tril(INTS, -1), tnp.triu(CUBE, -1)],
        [tnp.vander([1, 2, 3]), tnp.vander(VECTOR, 2, increasing=True), tnp.vander([2], 0)],
    )


def case_moves(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.reshape(INTS, 6, order="F"), tnp.reshape(INTS, (-1, 2)), tnp.flatten(INTS, "F")],
        [tnp.transpose(CUBE, (2, 0, 1)), tnp.swapaxes(CUBE, 0, -1), tnp.moveaxis(CUBE, 0, -1)],
        [tnp.moveaxis(CUBE, [0, 1], [-1, -2]), tnp.squeeze([[1]]), tnp.squeeze([[1, 2]], 0)],
        [tnp.expand_dims(INTS, -1), tnp.atleast_1d(3), tnp.atleast_2d([1, 2], 3)],
        [tnp.atleast_3d([1, 2]), tnp.atleast_3d(INTS), tnp.broadcast_to([1, 2], (2, 2))],
        [tnp.broadcast_arrays([1, 2], [[1], [2]]), tnp.flip(CUBE), tnp.flip(CUBE, -1)],
        [tnp.roll(INTS, 1), tnp.roll(INTS, 1, axis=0), tnp.rot90(INTS, 3), tnp.rot90(INTS, 2)],
        [
            tnp.rot90(CUBE, axes=(1, 2)),
            tnp.shape(CUBE),
            tnp.ndim(INTS),
            tnp.size(INTS),
            tnp.size(3),
        ],
        [tnp.isscalar(3), tnp.isscalar([3]), tnp.iscomplexobj([1j]), tnp.isrealobj([1j])],
    )


def case_joins(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.stack([[1, 2], [3.0, 4]]), tnp.stack(INTS, 1), tnp.stack(tf.constant(INTS), axis=1)],
        [tnp.hstack([1, [2, 3.0]]), tnp.hstack([INTS, INTS]), tnp.vstack(INTS), tnp.dstack(INTS)],
        [tnp.concatenate([[1, 2], [3.0]]), tnp.append([1], [[2.0]]), tnp.append(INTS, INTS, 1)],
        [tnp.split([1, 2, 3, 4], [1, 3]), tnp.split(INTS, 3, axis=1), tnp.split([1, 2], [1, 5])],
        [
            tnp.hsplit(CUBE, 3),
            tnp.vsplit(CUBE, [1]),
            tnp.dsplit(CUBE, 2),
            tnp.hsplit(tnp.ones(2), 2),
        ],
        [tnp.tile([1, 2], 2), tnp.tile(INTS, [2, 1, 1]), tnp.repeat(INTS, 2), tnp.repeat(3, 2)],
        [tnp.repeat(INTS, [1, 2], axis=0), tnp.pad(INTS, [[0, 0], [1, 1]], "reflect")],
        [tnp.pad([1, 2], [[1, 1]], "constant", constant_values=5)],
        [tnp.pad([1, 2], [[1, 1]], "symmetric"), tnp.pad([1, 2], [[1, 0]], "constant")],
    )


def case_selections(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.take([1, 2, 3], [5, -1]), tnp.take([1, 2, 3], [5, -1], mode="wrap")],
        [tnp.take(INTS, [1], axis=1), tnp.take_along_axis(INTS, [[1, 2, 0]], 1)],
        [tnp.take_along_axis(INTS, [[-1], [0]], -1), tnp.take_along_axis(VECTOR, [2, 0], 0)],
        [tnp.where([True, False], 1, 2.5), tnp.where([0, 1, 2]), tnp.nonzero(INTS), tnp.nonzero(3)],
        [tnp.select([np.arange(3) < 1], [tf.range(3)], -1), tnp.select([[True]], [[1]], 0.5)],
        [tnp.ix_([0, 1], [True, False, True])],
        [tnp.compress([True, False, True], [1, 2, 3]), tnp.compress([False, True], INTS, axis=1)],
        [tnp.count_nonzero(INTS, axis=1), tnp.sort(INTS, axis=None), tnp.argsort(3)],
        [tnp.argsort(INTS, kind="stable"), tnp.argmax(INTS), tnp.argmin(INTS, axis=1)],
        [tnp.diff([1, 4, 9]), tnp.diff([True, False]), tnp.diff(CUBE, n=2), tnp.diff(INTS, axis=0)],
        [tnp.clip([1, 5], 2, 3.5), tnp.clip([1.0, 5.0], None, 3), tnp.clip(VECTOR, 0, None)],
        [tnp.divmod([7.5], 2), tnp.bitwise_not([5, -1]), tnp.bitwise_not([True])],
    )


def case_reductions(tf):
    tnp = tf.experimental.numpy
    return (
        [tnp.sum([True, False]), tnp.sum(tf.constant([1, 2], tf.uint8)), tnp.max([True, False])],
        [tnp.sum(tf.constant([1, 2], tf.int8), dtype=np.float32), tnp.prod([True, False])],
        [tnp.mean(INTS), tnp.var(INTS), tnp.std(INTS, axis=0), tnp.mean(INTS, dtype="float32")],
        [tnp.var(REALS, dtype=np.float64), tnp.var(REALS, axis=1, ddof=1, dtype=np.float32)],
        [tnp.nanmean([1.0, np.nan]), tnp.nansum([[1.0, np.nan]], axis=1), tnp.nanprod([2, np.nan])],
        [tnp.nanmean(tf.constant([1.0, np.nan])), tnp.cumsum(INTS), tnp.cumprod(REALS, axis=-1)],
        [tnp.cumsum(tf.constant([1, 2], tf.int8)), tnp.cumsum(INTS, 1, dtype=float)],
        [tnp.average(VECTOR, weights=[1, 0, 1], returned=True)],
        [tnp.average(REALS, axis=0, weights=[1, 3], returned=True)],
        [tnp.average(REALS, axis=0, returned=True), tnp.any(INTS, axis=1, keepdims=True)],
        [tnp.sum(CUBE, axis=(0, 2)), tnp.amax(CUBE, axis=(1, 2), keepdims=True)],
    )


def case_products(tf):
    tnp = tf.experimental.numpy
    square = REALS[:, :2]
    return (
        [
            tnp.dot([1, 2], [3, 4]),
            tnp.dot(3, [1.0, 2]),
            tnp.dot(square, square),
            tnp.dot(CUBE, CUBE[0].T),
        ],
        [tnp.matmul([[1, 2]], [[3], [4]]), tnp.matmul([1, 2], [3, 4]), tnp.matmul(square, [1, 2])],
        [tnp.matmul(CUBE, CUBE[0].T), tnp.matmul([1.0, 2, 3], CUBE), tnp.tensordot(REALS, REALS)],
        [tnp.inner(square, [5, 6]), tnp.outer([1, 2], [3.0, 4]), tnp.vdot([1j, 2], [1j, 3])],
        [
            tnp.cross([1, 2, 3], [4, 5, 6]),
            tnp.cross([1, 2], [4, 5]),
            tnp.cross([1.0, 2], [4, 5, 6]),
        ],
        [tnp.cross(CUBE[:, :, 0], CUBE[:, :, 1]), tnp.cross(REALS, REALS[:1] + 1, axis=1)],
        [tnp.kron([1, 2], square), tnp.kron(CUBE[0], [[1], [2]]), tnp.polyval([1, 2, 3], VECTOR)],
        [tnp.einsum("ij,j->i", INTS, VECTOR), tnp.polyval([2.0], [[1.0, 2.0]]), tnp.inner(2, 3)],
        [tnp.einsum("ij,kj", REALS, REALS, optimize="optimal", casting="no")],
    )


def case_bools(tf):
    tnp = tf.experimental.numpy
    a, b = [True, False, True], [True, True, False]
    names = "add multiply true_divide floor_divide maximum minimum bitwise_and bitwise_or"
    names += " bitwise_xor greater less_equal equal logical_xor"
    found = {name: getattr(tnp, name)(a, [True] * 3) for name in names.split()}
    return found, tnp.logical_not([1, 0]), tnp.logical_and([1, 0], [1.0, 1.0]), tnp.not_equal(a, b)


def case_dtypes(tf):
    tnp = tf.experimental.numpy
    names = "bool_ complex128 complex64 complex_ float16 float32 float64 float_ inexact int16 int32"
    names += " int64 int8 int_ object_ string_ uint16 uint32 uint64 uint8 unicode_"
    return (
        {name: getattr(tnp, name) for name in names.split()},
        [tnp.pi, tnp.e, tnp.inf, tnp.newaxis, tnp.ndarray is tf.Tensor],
        [
            tnp.result_type(1, 2.5),
            tnp.result_type(tf.float32, 1),
            tnp.result_type(),
            tnp.iinfo(int).max,
        ],
        [tnp.result_type(np.int32, tf.float32), tnp.result_type([1, 2]), tnp.result_type(float)],
        [tnp.finfo(tf.float32).eps, tnp.finfo("float64").max, tnp.promote_types("i4", tf.float32)],
        [tnp.issubdtype(np.int32, np.integer)],
        [tnp.result_type(tf.constant([1], tf.int8), 3), tnp.result_type(1j, tf.constant(1.0))],
    )


def case_random(tf):
    draw = tf.experimental.numpy.random
    draw.seed(5)
    made = {
        "rand": draw.rand(2, 3),
        "rand nothing": draw.rand(),
        "randn": draw.randn(2),
        "random": draw.random([2]),
        "randint": draw.randint(5, size=3),
        "randint range": draw.randint(3, 9, dtype=np.int32),
        "uniform": draw.uniform([0.0, 1.0], [1.0, 2.0]),
        "poisson": draw.poisson(2.0, size=[3]),
        "standard_normal": draw.standard_normal(4),
    }
    return {name: (x.dtype.name, x.shape) for name, x in made.items()}


def case_errors(tf):
    tnp = tf.experimental.numpy
    return attempts(
        tf,
        {
            "step": lambda tf: tnp.arange(0, 1, 0),
            "ragged": lambda tf: tnp.array([[1, 2], [3]]),
            "ndmin": lambda tf: tnp.array([1], ndmin=33),
            "clip": lambda tf: tnp.clip([1], None, None),
            "gcd": lambda tf: tnp.gcd([1.0], [2]),
            "power": lambda tf: tnp.power([2], [-1]),
            "arctan2": lambda tf: tnp.arctan2([1], [2]),
            "sizes": lambda tf: tnp.matmul(tnp.ones((2, 3)), tnp.ones((2, 3))),
            "order": lambda tf: tnp.reshape([1, 2], (2, 1), order="A"),
            "flatten": lambda tf: tnp.flatten([1], "X"),
            "moveaxis": lambda tf: tnp.moveaxis(CUBE, [0, 1], [0]),
            "full_like": lambda tf: tnp.full_like([1], 2, shape=(3,)),
            "concatenate": lambda tf: tnp.concatenate([]),
            "split": lambda tf: tnp.split([1, 2, 3], [2, 1]),
            "split axis": lambda tf: tnp.split([1, 2, 3], [1], axis=1),
            "hsplit": lambda tf: tnp.hsplit(tnp.ones(4), 3),
            "pad": lambda tf: tnp.pad([1], [[1, 1]], "edge"),
            "take": lambda tf: tnp.take([1], [0], mode="raise"),
            "take out": lambda tf: tnp.take([1], [0], out=[1]),
            "where": lambda tf: tnp.where([True], 1),
            "compress": lambda tf: tnp.compress([[True]], [1]),
            "ix_": lambda tf: tnp.ix_([1.0]),
            "ix_ rank": lambda tf: tnp.ix_([[1]]),
            "select": lambda tf: tnp.select([True], [1, 2]),
            "select nothing": lambda tf: tnp.select([], []),
            "tril": lambda tf: tnp.tril([1, 2]),
            "diag": lambda tf: tnp.diag(CUBE),
            "vander": lambda tf: tnp.vander(INTS),
            "vander N": lambda tf: tnp.vander([1], -1),
            "meshgrid": lambda tf: tnp.meshgrid([1], sparse=True),
            "linspace": lambda tf: tnp.linspace(0, 1, -1),
            "sort": lambda tf: tnp.sort([1], kind="stable"),
            "argsort": lambda tf: tnp.argsort([1j]),
            "diff": lambda tf: tnp.diff([1.0, 2], axis=3),
            "average": lambda tf: tnp.average(INTS, axis=(0, 1)),
            "mean out": lambda tf: tnp.mean([1], out=[1]),
            "einsum": lambda tf: tnp.einsum("i->", [1], casting="x"),
            "size": lambda tf: tnp.size([1], axis=0),
            "randint": lambda tf: tnp.random.randint(5, dtype=np.int8),
            "seed": lambda tf: tnp.random.seed(None),
            "sign": lambda tf: tnp.sign([1], out=[1]),
            "diag_indices": lambda tf: tnp.diag_indices(-1),
            "mode": lambda tf: tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="x"),
            "T": lambda tf: tf.constant([1]).T,
            "reshape": lambda tf: tf.constant([1]).reshape(1),
        },
        words=4,
    )


@options(words=4)
def case_gradients_of_moves(tf):
    tnp = tf.experimental.numpy

    def several(tf, x):
        return [
            tnp.take(x, [0, 0, 2], axis=1),
            tnp.take_along_axis(x, np.int32([[1, 2, 2], [0, 0, 1]]), 1),
            tnp.tril(x),
            tnp.kron(x, [1.0, 2.0]),
            tnp.where(x > 0, x, 2 * x),
            tnp.concatenate([x, x * x], 1),
            tnp.vander(x[0]),
            tnp.nanmean(x, axis=0),
            tnp.einsum("ij,ij->i", x, x),
            tnp.maximum(x, 0),
            tnp.diff(x),
            tnp.stack([x, x])[0],
            tnp.sort(x, axis=0),
            tnp.repeat(x, 2, axis=0),
            tnp.cross(x, x[::-1]),
            tnp.pad(x, [[1, 0], [0, 2]], "constant"),
        ]

    return derivatives(tf, several, [REALS], 2)


def case_in_a_function(tf):
    tnp = tf.experimental.numpy

    @tf.function
    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tnp.sum(tnp.tanh(tnp.dot(x, w)) ** 2) + tnp.mean(tnp.clip(w, -1.0, 1.0))
        return y, tape.gradient(y, w), tnp.concatenate([x, x]), tnp.reshape(x, (-1, 2))

    return step(tf.constant(REALS), tf.constant(ABOVE[0][:, None]))


# -- experimental_enable_numpy_behavior ------------------------------------------------------------


@contextlib.contextmanager
def numpy_behavior(tf, **choices):
    """Tensors that behave as NumPy's arrays; afterwards as before, which TensorFlow cannot."""
    if tf.__name__ == "tape_compat":
        from tape_compat._src.ops.numpy import behavior

        tf.experimental.numpy.experimental_enable_numpy_behavior(**choices)
        try:
            yield
        finally:
            behavior.disable_numpy_behavior()
        return
    from tensorflow.python.framework import ops, tensor
    from tensorflow.python.ops.numpy_ops import np_dtypes

    before = dict(vars(tensor.Tensor))
    tf.experimental.numpy.experimental_enable_numpy_behavior(**choices)
    try:
        yield
    finally:
        ops.set_dtype_conversion_mode("off")
        ops._numpy_style_slicing = False
        np_dtypes.set_prefer_float32(False)
        for name in set(vars(tensor.Tensor)) - set(before):
            delattr(tensor.Tensor, name)
        tensor.Tensor.__round__ = before["__round__"]


OPERANDS = {
    "int32": [1, 2],
    "int8": [3, 4],
    "float32": [1.0, 2.0],
    "float64": [1.5, 2.5],
    "float16": [1.0, 2.0],
    "bool": [True, False],
}


def _promotion(**choices):
    def case(tf):
        tensors = {name: tf.constant(value, name) for name, value in OPERANDS.items()}
        tensors["variable"] = tf.Variable([1.0, 2.0])
        others = {**tensors, "1": 1, "2.5": 2.5, "array": np.ones(2), "number": np.float64(2.0)}
        signs = {
            "+": lambda x, y: x + y,
            "-": lambda x, y: y - x,
            "/": lambda x, y: x / y,
            "<": lambda x, y: x < y,
        }
        found = {}
        with numpy_behavior(tf, **choices):
            for name, x in tensors.items():
                for other, y in others.items():
                    for sign, function in signs.items():
                        if (sign, other) == ("<", "variable"):  # TensorFlow does not see its dtype
                            continue
                        label = f"{name} {sign} {other}"
                        found[label] = attempt(function, x, y, words=1)
            i, f = tensors["int32"], tensors["float32"]
            found["more"] = [i**2.0, 2**i, i // 2, i % 2.5, i @ i, i @ f, i == 1.0, f != i, -i, +i]
            found["lists"] = [i + [1.5, 2], [1, 2] + f, i == None, i * True]  # noqa: E711
        return found

    return case


CASES["promotion"] = _promotion()
CASES["promotion to float32"] = _promotion(prefer_float32=True)


def case_preferring_float32(tf):
    tnp = tf.experimental.numpy
    with numpy_behavior(tf, prefer_float32=True):
        return (
            [
                tnp.array(1.5),
                tnp.array([1, 2.5]),
                tnp.zeros(2),
                tnp.zeros(2, None),
                tnp.arange(3.0),
            ],
            [tnp.linspace(0, 1, 3), tnp.mean([1, 2]), tnp.sin([1, 2]), tnp.array([1j])],
            [tnp.result_type(1, 2.5), tnp.result_type(float), tnp.where([True], 1.0, 2)],
            [tnp.log2(tf.constant([8.0])), tnp.random.rand(2).dtype, tnp.full(2, 7.0)],
        )


def case_methods(tf):
    with numpy_behavior(tf):
        x, f = tf.reshape(tf.range(24), (2, 3, 4)), tf.constant([1.26, -2.5])
        return (
            [x.T, x.ndim, x.size, x.reshape(4, 6), x.reshape((4, -1)), x.reshape(-1, order="F")],
            [x.ravel(), x.flatten(), x.flatten("F"), x.transpose(), x.transpose((1, 0, 2))],
            [x.astype(np.float32), x.astype("int64"), x.clip(2, 5), x.max(), x.max(axis=0)],
            [x.min(), x.mean(), x.mean(axis=(0, 1)), f.tolist(), round(f), round(f, 1), f.data],
            [f.max(), f.mean(), f.T, tf.experimental.numpy.log2(tf.constant([8.0])).dtype],
        )


def case_methods_without_promotion(tf):
    with numpy_behavior(tf, dtype_conversion_mode="off"):
        x = tf.reshape(tf.range(6), (2, 3))
        return x.T, x[[1, 0]], x[:, [0, 2]], x.reshape(-1), x * 2


INDICES = {
    "list": [1, 0],
    "array": np.array([1, 0, 1]),
    "after slice": np.s_[:, [0, 2]],
    "two": np.s_[:, [0, 2], [1, 3]],
    "apart": np.s_[[0, 1], :, [1, 3]],
    "number first": np.s_[0, [0, 2]],
    "number last": np.s_[[1], 0],
    "number between": np.s_[:, 0, [1, 2]],
    "ellipsis": np.s_[..., [0, -1]],
    "ellipsis and number": np.s_[..., [0, -1], 1],
    "lists": [[0, 1], [1, 0]],
    "matrix": np.array([[0, 1], [1, 0]]),
    "matrix and vector": np.s_[np.array([[0, 1], [1, 0]]), :, np.array([0, 1])],
    "mask in a tuple": np.s_[:, np.array([True, False, True])],
    "list of bools": np.s_[:, [True, False, True]],
    "mask": np.arange(24).reshape(2, 3, 4) % 5 == 0,
    "new axis": np.s_[None, [0]],
    "new axis between": np.s_[:, None, [0, 1], ...],
    "broadcast": np.s_[np.array([0, 1]), np.array([[0], [2]])],
    "backwards": np.s_[1:, ::-1],
    "numbers": np.s_[1, 2, 3],
    "small integers": np.s_[np.int8([0, 1])],
    "negative": np.s_[-1, [-1, -2]],
    "nothing": np.zeros([0], np.int32),
    "float": np.s_[1.5],
    "floats": np.s_[[1.5]],
    "text": "a",
    "outside": [5],
}


def case_indices(tf):
    with numpy_behavior(tf):
        x = tf.reshape(tf.range(24), (2, 3, 4))
        return attempts(
            tf, {name: lambda tf, i=index: x[i] for name, index in INDICES.items()}, words=3
        )


def case_gradients_of_indices(tf):
    with numpy_behavior(tf):
        names = ("list", "two", "apart", "ellipsis and number", "matrix", "mask")
        return {
            name: derivatives(tf, lambda tf, x, i=INDICES[name]: x[i] * x[i], [CUBE], 1)
            for name in names
        }


def case_behavior_in_a_function(tf):
    with numpy_behavior(tf):

        @tf.function
        def step(a, b):
            return a.T @ b, a[[0, 1]] * 2.5, (a + b).reshape(-1), a.astype(tf.int32), a[:, [0]]

        return step(tf.constant(REALS[:, :2]), tf.constant(ABOVE[:, :2], tf.float64))

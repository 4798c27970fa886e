"""`tf.experimental.numpy` against NumPy, and tensors that behave as its arrays.

What TensorFlow alone says (dtypes, promotion, errors) is in `tests/parity/cases_numpy.py`.
"""

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.ops.numpy import behavior

tnp = tf.experimental.numpy
REALS = np.array([[0.3, -1.2, 2.5], [1.0, 0.7, -0.4]])
ABOVE = np.array([[1.3, 2.2, 4.5], [1.1, 3.7, 2.4]])
OTHER = np.array([1.5, 0.5, 2.0])
INTS = np.array([[12, 7, 0], [3, 5, 4]])
CUBE = np.arange(24.0).reshape(2, 3, 4)
NANS = np.array([[1.0, np.nan, 2.0], [np.nan, 0.5, 4.0]])


@pytest.fixture
def numpy_behavior():
    """Tensors behave as NumPy's arrays, and no longer when the test is over."""
    tnp.experimental_enable_numpy_behavior()
    yield
    behavior.disable_numpy_behavior()


#: Functions that give what NumPy's of the same name do, and their arguments.
ROWS = [
    *[
        (name, REALS)
        for name in (
            "abs absolute cbrt ceil conj cos cosh deg2rad exp exp2 expm1 fabs floor fix imag "
            "isfinite isinf isnan negative positive rad2deg real reciprocal round sign signbit sin "
            "sinc sinh square tan tanh arctan arcsinh cumsum cumprod ravel transpose flip flipud "
            "fliplr rot90 sort argsort argmax argmin nonzero diagonal trace tril triu ndim size "
            "isreal"
        ).split()
    ],
    *[(name, ABOVE) for name in "sqrt log log1p log2 log10 arccosh".split()],
    *[(name, REALS / 4) for name in "arcsin arccos arctanh".split()],
    *[
        (name, ABOVE, OTHER)
        for name in (
            "add subtract multiply divide true_divide floor_divide mod remainder maximum minimum "
            "power float_power arctan2 hypot heaviside logaddexp logaddexp2 nextafter equal "
            "not_equal greater greater_equal less less_equal logical_and logical_or logical_xor "
            "isclose allclose kron outer divmod"
        ).split()
    ],
    *[(name, INTS, 6) for name in "gcd lcm bitwise_and bitwise_or bitwise_xor".split()],
    *[(name, REALS, 1) for name in "sum prod mean amax amin max min ptp all any var std".split()],
    *[(name, REALS) for name in "sum prod mean amax amin max min ptp all any var std".split()],
    *[(name, NANS, 0) for name in "nansum nanprod nanmean".split()],
    *[(name, CUBE, 0) for name in "argmax argmin cumsum cumprod sort argsort flip".split()],
    ("average", REALS, 0, [1.0, 3.0]),
    ("count_nonzero", INTS, 0),
    ("clip", REALS, -0.5, 1.0),
    ("around", REALS * 100, -1),
    ("diff", CUBE, 2, 1),
    ("reshape", CUBE, (4, 6)),
    ("swapaxes", CUBE, 0, 2),
    ("moveaxis", CUBE, [0, 1], [2, 0]),
    ("transpose", CUBE, (1, 2, 0)),
    ("roll", CUBE, 2, 1),
    ("rot90", CUBE, 3, (1, 2)),
    ("expand_dims", REALS, 1),
    ("squeeze", REALS[:1], 0),
    ("atleast_3d", REALS),
    ("broadcast_to", OTHER, (2, 3)),
    ("broadcast_arrays", REALS, OTHER),
    ("stack", [REALS, REALS], 1),
    ("concatenate", [REALS, REALS], 1),
    ("hstack", [REALS, REALS]),
    ("vstack", [REALS, OTHER]),
    ("dstack", [REALS, REALS]),
    ("append", REALS, OTHER),
    ("split", CUBE, [1, 3], 2),
    ("split", CUBE, 3, 1),
    ("hsplit", CUBE, 3),
    ("vsplit", CUBE, [1]),
    ("dsplit", CUBE, 2),
    ("tile", REALS, (2, 1, 2)),
    ("repeat", REALS, [1, 2, 0], 1),
    ("pad", REALS, [[1, 0], [2, 1]], "constant"),
    ("pad", CUBE, [[1, 0], [2, 1], [0, 3]], "reflect"),
    ("pad", CUBE, [[1, 0], [2, 1], [0, 3]], "symmetric"),
    ("take", REALS, [0, 2, 2], 1),
    ("take_along_axis", REALS, np.array([[0, -1], [2, 1]]), 1),
    ("where", REALS > 0, REALS, 0.0),
    ("select", [REALS > 1, REALS < 0], [REALS, -REALS], 7.0),
    ("compress", [False, True, True], REALS, 1),
    ("ix_", [0, 1], [True, False, True]),
    ("diag", OTHER, 1),
    ("diag", REALS, -1),
    ("diagflat", REALS, -1),
    ("diagonal", CUBE, 1, 0, 2),
    ("trace", CUBE, 1, 1, 2),
    ("tri", 3, 4, 1),
    ("tril", CUBE, 1),
    ("triu", REALS, -1),
    ("vander", OTHER, 4),
    ("eye", 3, 4, -1),
    ("identity", 3),
    ("diag_indices", 3),
    ("full", (2, 3), OTHER),
    ("linspace", 0.0, 3.0, 7),
    ("logspace", 0.0, 2.0, 5),
    ("geomspace", 1.0, 1000.0, 4),
    ("arange", 2, 11, 3),
    ("meshgrid", OTHER, REALS[0]),
    ("dot", CUBE, np.ones(4)),
    ("dot", CUBE, np.ones((5, 4, 2))),
    ("matmul", CUBE, np.ones((4, 2))),
    ("tensordot", CUBE, np.ones((3, 4))),
    ("inner", REALS, OTHER),
    ("vdot", REALS, REALS),
    ("cross", REALS, OTHER),
    ("einsum", "ij,kj->ik", REALS, REALS),
    ("polyval", OTHER, REALS),
    ("bitwise_not", INTS),
    ("array_equal", REALS, REALS),
]


def leaves(value):
    return (
        [x for item in value for x in leaves(item)] if isinstance(value, list | tuple) else [value]
    )


def reference(name):
    return {"isfinite": np.isfinite, "bitwise_not": np.invert}.get(name) or getattr(np, name)


@pytest.mark.part
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_as_numpy(row):
    name, *args = row
    found, wanted = leaves(getattr(tnp, name)(*args)), leaves(reference(name)(*args))
    assert len(found) == len(wanted)
    for got, expected in zip(found, wanted, strict=True):
        got = np.asarray(got)
        if name not in ("diag_indices", "around"):
            assert got.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_cross_of_vectors_in_the_plane():
    """NumPy no longer takes vectors of two numbers; TensorFlow does."""
    x, y, z = OTHER
    wanted = [[b * z, -a * z, a * y - b * x] for a, b in REALS[:, :2]]
    np.testing.assert_allclose(tnp.cross(REALS[:, :2], OTHER), wanted, rtol=1e-12)
    flat = tnp.cross(REALS[:, :2], OTHER[:2])
    np.testing.assert_allclose(flat, [a * y - b * x for a, b in REALS[:, :2]], rtol=1e-12)


def test_gradients_reach_what_was_given():
    w = tf.Variable([[0.5, -1.0], [2.0, 1.5]])
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.where(w > 0, tnp.square(w), tnp.abs(w)) * tnp.array(w))
    expected = np.where(w > 0, 3 * w.numpy() ** 2, 2 * np.abs(w.numpy()))
    np.testing.assert_allclose(tape.gradient(y, w), expected)


def test_in_a_function_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    def step(x):
        return tnp.tril(tnp.kron(x, [1.0, 2.0])), tnp.var(x, axis=0, ddof=1), tnp.take(x, [0, 99])

    lower, spread, taken = step(ABOVE)
    np.testing.assert_allclose(lower, np.tril(np.kron(ABOVE, [1.0, 2.0])))
    np.testing.assert_allclose(spread, np.var(ABOVE, axis=0, ddof=1))
    assert taken.numpy().tolist() == [1.3, 2.4]


def test_integers_need_no_methods():
    """TensorFlow needs `experimental_enable_numpy_behavior` for these."""
    assert tnp.sin([0, 1]).dtype is tf.float64
    assert tnp.hypot(tf.constant(3), tf.constant(4.0)).numpy() == 5.0
    assert tnp.average([1, 2]).numpy() == 1.5
    assert tnp.var([1.0, 3.0], ddof=1).numpy() == 2.0
    assert tnp.around([15, 25], -1).numpy().tolist() == [20, 20]


def test_options_that_have_no_effect_are_refused():
    with pytest.raises(TypeError, match="'stat_length'"):
        tnp.pad([1], [[1, 1]], "constant", stat_length=1)
    with pytest.raises(TypeError, match="'out'"):
        tnp.einsum("i->", [1.0], out=None)
    with pytest.raises(TypeError, match="'axes'"):
        tnp.meshgrid([1], axes=1)


def test_random_numbers_repeat():
    tnp.random.seed(3)
    first = tnp.random.randn(4), tnp.random.randint(9, size=4), tnp.random.rand(2)
    tnp.random.seed(3)
    again = tnp.random.randn(4), tnp.random.randint(9, size=4), tnp.random.rand(2)
    for x, y in zip(first, again, strict=True):
        assert x.numpy().tolist() == y.numpy().tolist()
    assert [x.dtype.name for x in first] == ["float64", "int64", "float64"]


# -- tensors as arrays -----------------------------------------------------------------------------


def test_methods_name_the_way_to_them():
    with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
        tf.constant([1]).astype
    assert not hasattr(tf.constant([1]), "T")


def test_behavior(numpy_behavior):
    x, y = tf.constant([[1, 2], [3, 4]]), tf.constant([[0.5, 1.5], [2.5, 3.5]])
    assert (x + y).dtype is tf.float64
    assert (x @ y.T).numpy().tolist() == (x.numpy() @ y.numpy().T).tolist()
    assert (y * 2).dtype is tf.float32 and (x * 2.5).dtype is tf.float64
    assert (np.float64(2.0) * y).dtype is tf.float64
    assert x.reshape(4).tolist() == [1, 2, 3, 4] and x.size == 4
    assert x[[1, 0], [0, 1]].tolist() == [3, 2]
    assert x[:, [1]].tolist() == [[2], [4]]
    with tf.GradientTape() as tape:
        tape.watch(y)
        z = (x * y)[[0, 0], 1].astype(tf.float32)
    assert tape.gradient(z, y).tolist() == [[0.0, 4.0], [0.0, 0.0]]


def test_a_step_of_a_variable(numpy_behavior):
    w = tf.Variable([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = (w * np.float32([3.0, 4.0]) - 1).mean()
        w.assign_sub(0.5 * tape.gradient(loss, w))
    np.testing.assert_allclose(w.numpy(), [1.0 - 3 * 0.75, 2.0 - 3 * 1.0])


def test_afterwards_tensors_are_as_before():
    before = {name: vars(tf.Tensor).get(name) for name in ("T", "__getitem__", "__round__")}
    sign = tf.Tensor.__add__
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    try:
        assert tf.Tensor.__add__ is not sign and tnp.array(1.5).dtype is tf.float32
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
        assert tf.Tensor.__add__ is sign and tnp.array(1.5).dtype is tf.float64
        assert tf.constant([[1, 2]]).T.shape == (2, 1)
    finally:
        behavior.disable_numpy_behavior()
    assert tf.Tensor.__add__ is sign
    assert {name: vars(tf.Tensor).get(name) for name in before} == before
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1) + tf.constant(1.0)


@pytest.mark.parametrize("mode", ["safe", "all"])
def test_weak_tensors_are_refused(mode):
    with pytest.raises(NotImplementedError, match=mode):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    assert not hasattr(tf.constant(1), "T")


def test_operators_of_ragged_tensors_stay(numpy_behavior):
    ragged = tf.ragged.constant([[1, 2], [3]])
    assert (ragged + 1).to_list() == [[2, 3], [4]]
    assert (tf.constant(2) * ragged).to_list() == [[2, 4], [6]]

"""`tf.math`: what the table of ops does not say: dtypes, errors, operators, conventions."""

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import counting

INF, NAN = np.inf, np.nan


def gradient(function, *values, dtype=np.float32):
    inputs = [tf.constant(np.asarray(v, dtype)) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
    found = tape.gradient(result, inputs)
    return [None if g is None else g.numpy().tolist() for g in found]


# -- dtypes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "left, right, expected",
    [
        (tf.int8, tf.int8, tf.float32),
        (tf.uint16, tf.uint16, tf.float32),
        (tf.int32, tf.int32, tf.float64),
        (tf.int64, tf.int64, tf.float64),
        (tf.float16, tf.float16, tf.float16),
        (tf.bfloat16, tf.bfloat16, tf.bfloat16),
    ],
    ids=str,
)
def test_true_division_dtype(left, right, expected):
    assert (tf.constant(1, left) / tf.constant(2, right)).dtype is expected


@pytest.mark.part
@pytest.mark.parametrize("name", "float16 bfloat16 float32 float64".split())
@pytest.mark.parametrize(
    "op",
    [
        tf.math.exp, tf.math.sigmoid, tf.math.softplus, tf.math.sqrt, tf.math.rsqrt, tf.math.erf,
        tf.reduce_mean, tf.math.reduce_std, tf.reduce_logsumexp, tf.math.l2_normalize, tf.nn.gelu,
        tf.nn.elu, tf.nn.selu, tf.nn.silu, tf.nn.softmax, tf.nn.log_softmax, tf.nn.l2_loss,
        tf.nn.relu6, tf.nn.leaky_relu, lambda x: x**0.5, lambda x: x**2, lambda x: 2 * x + 1,
    ],
)  # fmt: skip
def test_dtype_is_kept(op, name):
    x = tf.constant([0.5, 2.0], tf.as_dtype(name))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = op(x)
    assert y.dtype.name == name
    assert tape.gradient(y, x).dtype.name == name


@pytest.mark.part
@pytest.mark.parametrize("name", "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
def test_integers_stay(name):
    dtype = tf.as_dtype(name)
    x = tf.constant([3, 4], dtype)
    results = [
        x + x, x * x, x // x, x % x, tf.reduce_sum(x), tf.reduce_mean(x), tf.reduce_prod(x),
        tf.reduce_max(x), tf.cumsum(x), tf.math.cumprod(x), tf.maximum(x, x), tf.square(x),
        tf.math.top_k(x).values, tf.nn.relu(x), tf.round(x), tf.add_n([x, x]),
    ]  # fmt: skip
    assert {y.dtype for y in results} == {dtype}


def test_mean_of_integers_is_rounded_towards_zero():
    assert int(tf.reduce_mean([1, 2])) == 1
    assert int(tf.reduce_mean([-1, -2])) == -1
    assert int(tf.reduce_mean(tf.constant([100, 100], tf.int8))) == 100


def test_python_operands_adopt_the_dtype():
    x = tf.constant([1.0], tf.float64)
    for y in (x + 1, 1 + x, x * np.float32(2), np.ones(1, np.float32) - x, 2**x, x / 3):
        assert y.dtype is tf.float64


def test_argmax_dtypes():
    assert tf.argmax([1.0, 2.0]).dtype is tf.int64
    assert tf.argmax([1.0, 2.0], output_type=tf.int32).dtype is tf.int32
    assert int(tf.argmax([1.0, NAN, 0.5])) == 0
    assert int(tf.argmin([1.0, NAN, 0.5])) == 2


# -- errors ----------------------------------------------------------------------------------------

INVALID = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: tf.constant([1.0]) + tf.constant([1]), INVALID,
         r"cannot compute AddV2 as input #1\(zero-based\) was expected to be a float tensor but"),
        (lambda: tf.constant(1) + 1.5, INVALID, "cannot compute AddV2 as input #1"),
        (lambda: tf.constant(1) * 1.5, TypeError, "Cannot convert 1.5 to"),
        (lambda: tf.ones([2]) * tf.ones([3]), INVALID, r"Incompatible shapes: \[2\] vs. \[3\]"),
        (lambda: tf.constant(1.0) / tf.constant(1), TypeError, "`x` and `y` must have the same"),
        (lambda: tf.constant(True) / tf.constant(True), TypeError, "Invalid dtype"),
        (lambda: tf.sqrt(4), INVALID, "Value for attr 'T' of int32 is not in the list of allowed"),
        (lambda: -tf.constant(1, tf.uint8), INVALID, "Value for attr 'T' of uint8 is not in"),
        (lambda: tf.abs(tf.constant(True)), INVALID, "Value for attr 'T' of bool is not in"),
        (lambda: tf.constant("a") < tf.constant("b"), INVALID, "Value for attr 'T' of string"),
        (lambda: tf.constant(1) // 0, INVALID, "Integer division by zero"),
        (lambda: tf.constant(1) % tf.constant([1, 0]), INVALID, "Integer division by zero"),
        (lambda: tf.constant(2) ** -1, INVALID, "Integers to negative integer powers"),
        (lambda: tf.constant(2) ** tf.constant(-1), INVALID, "Integers to negative integer"),
        (lambda: tf.reduce_sum([1.0], axis=1), INVALID, r"Invalid reduction dimension \(1 for"),
        (lambda: tf.reduce_sum([[1.0]], axis=[0, 0]), INVALID, "Invalid reduction arguments: Axes"),
        (lambda: tf.reduce_sum([1.0], axis=1.5), TypeError, "Cannot convert 1.5 to EagerTensor"),
        (lambda: tf.reduce_sum([True]), INVALID, "Value for attr 'T' of bool"),
        (lambda: tf.reduce_all(tf.constant([1])), INVALID, "cannot compute All as input #0"),
        (lambda: tf.reduce_all([1]), TypeError, r"Cannot convert \[1\] to EagerTensor of"),
        (lambda: tf.logical_not(tf.constant(1)), INVALID, "cannot compute LogicalNot as input #0"),
        (lambda: tf.logical_not(1), TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
        (lambda: tf.argmax([1.0], axis=2), INVALID, r"Expected dimension in the range \[-1, 1\)"),
        (lambda: tf.argmax(tf.zeros([0])), INVALID, "Reduction axis 0 is empty in shape"),
        (lambda: tf.cumsum(1.0), INVALID, "ScanOp: Expected scan axis in the range"),
        (lambda: tf.add_n([]), ValueError, "Inputs must be an iterable of at least one Tensor"),
        (lambda: tf.add_n([tf.ones([1]), tf.ones([2])]), INVALID, "Inputs to operation AddN"),
        (lambda: tf.math.reduce_std([1, 2]), TypeError, "Input must be either real or complex"),
        (lambda: tf.math.top_k([1.0], 2), INVALID, "input must have at least k columns. Had 1"),
        (lambda: tf.math.polyval(tf.ones([2]), 1.0), ValueError, "Argument coeffs must be list"),
        (lambda: tf.math.scalar_mul(tf.ones([1]), tf.ones([1])), ValueError, "The input scalar"),
        (lambda: tf.complex(1, 2), TypeError, "The `real` and `imag` components have incorrect"),
        (lambda: tf.math.segment_sum([1.0, 2.0], [1, 0]), INVALID, "segment ids are not increas"),
        (lambda: tf.math.segment_sum([1.0, 2.0], [0]), INVALID, "segment_ids should be the same"),
        (lambda: tf.math.unsorted_segment_sum(tf.ones([2]), [0, 1, 2], 3), INVALID, "data.shape ="),
        (lambda: tf.math.bincount([-1]), INVALID, "Input arr must be non-negative"),
        (lambda: tf.equal(tf.ones([2]), tf.ones([3])), INVALID, "Incompatible shapes"),
        (lambda: tf.constant(1.0) & tf.constant(1.0), INVALID, "Value for attr 'T' of float is"),
    ],
)  # fmt: skip
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_errors_rise_at_the_call_inside_a_tape():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
        with pytest.raises(INVALID, match=r"test_math\.py:\d+"):
            y + tf.ones([3])
        z = tf.reduce_sum(y)
    assert tape.gradient(z, x).numpy().tolist() == [2.0, 2.0]


# -- operators -------------------------------------------------------------------------------------


def test_equality():
    x = tf.constant([1, 2])
    assert (x == [1, 3]).numpy().tolist() == [True, False]
    assert (x != 1).numpy().tolist() == [False, True]
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert (x == [1, 2, 3]).shape == () and not (x == [1, 2, 3])
    assert bool(x != [1, 2, 3])


def test_strings():
    x = tf.constant(["a", "b"])
    assert (x == "a").numpy().tolist() == [True, False]
    assert tf.not_equal(x, ["a", "c"]).numpy().tolist() == [False, True]
    assert (x + "!").numpy().tolist() == [b"a!", b"b!"]
    assert not x == tf.constant(["a", "b", "c"])
    with pytest.raises(INVALID, match="Incompatible shapes"):
        tf.equal(["a", "b"], ["a", "b", "c"])


def test_strings_under_a_tape():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x if tf.constant("a") == "a" else x
    assert float(tape.gradient(y, x)) == 4.0


def test_logic_operators():
    t, f = tf.constant(True), tf.constant(False)
    assert [bool(t & f), bool(t | f), bool(t ^ t), bool(~f)] == [False, True, False, True]
    assert [int(tf.constant(6) & 3), int(6 | tf.constant(1)), int(~tf.constant(5))] == [2, 7, -6]
    assert bool(t * t) and not bool(t * f)


@pytest.mark.parametrize("x, y", [(7.5, 2.0), (-7.5, 2.0), (7.0, -3.0), (-7, 3), (7, -3), (-7, -3)])
def test_floor_division(x, y):
    q, r = tf.constant(x) // y, tf.constant(x) % y
    assert (q * y + r).numpy() == x
    assert q.numpy() == x // y and r.numpy() == x % y


# -- gradients by convention -----------------------------------------------------------------------


def test_ties_go_to_the_first():
    assert gradient(tf.maximum, 1.0, 1.0) == [1.0, 0.0]
    assert gradient(tf.minimum, 1.0, 1.0) == [1.0, 0.0]
    assert gradient(tf.reduce_max, [2.0, 2.0, 1.0]) == [[0.5, 0.5, 0.0]]
    assert gradient(lambda x: tf.math.segment_max(x, [0, 0, 1]), [2.0, 2.0, 1.0]) == [
        [0.5, 0.5, 1.0]
    ]


def test_root_of_zero_where_it_is_not_used():
    for root in (tf.sqrt, tf.math.rsqrt):
        found = gradient(lambda x, f=root: tf.where(x > 0, f(x), 0.0), [0.0, 4.0])[0]
        assert found[0] == 0.0 and np.isfinite(found[1])
    assert gradient(tf.sqrt, [0.0, -0.0]) == [[INF, -INF]]


def test_second_derivative_of_a_root_at_zero():
    x = tf.constant([0.0, 4.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)
        g = tape.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(g, x).numpy(), [-INF, -1 / 32])


@pytest.mark.compiled
def test_quotients_of_tiny_numbers_derive():
    """XLA makes x / (y * y) of two divisions in a row, and y * y is 0."""
    for divide in (tf.divide, tf.math.divide_no_nan, tf.math.xdivy):
        by_x, by_y = gradient(divide, [1e-30, 0.0, 3.0], [1e-30, 1e-30, 2.0])
        np.testing.assert_allclose(by_x[::2], [1e30, 0.5], rtol=1e-6)
        np.testing.assert_allclose(by_y, [-1e30, 0.0, -0.75], rtol=1e-6)


def test_power():
    assert gradient(lambda x: x**2, [0.0, 3.0]) == [[0.0, 6.0]]
    assert gradient(tf.pow, -2.0, 3.0) == [12.0, 0.0]
    np.testing.assert_equal(gradient(lambda x: x**0, 0.0), [NAN])
    x = tf.constant([1.0, 2.0])
    assert (x**2).numpy().tolist() == (x**2.0).numpy().tolist() == (x * x).numpy().tolist()
    assert (tf.constant([2, 3]) ** 2).dtype is tf.int32


def test_changing_exponents_do_not_compile_anew(counted, deferred):
    x = tf.Variable(1.01)

    def step(exponent):
        with tf.GradientTape() as tape:
            y = x**exponent
        return float(tape.gradient(y, x))

    for k in range(3):
        step(100 + k)
    before = counted()
    expected = [k * 1.01 ** (k - 1) for k in (200, 201)]
    np.testing.assert_allclose([step(200), step(201)], expected, rtol=1e-3)
    after = counted()
    assert after["compiles"] == before["compiles"]


def test_complex_gradients_are_conjugated():
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.math.real(z * z)
    assert tape.gradient(y, z).numpy() == 2 - 4j
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.abs(z) ** 2
    np.testing.assert_allclose(tape.gradient(y, z).numpy(), 2 + 4j)


def test_none_where_tensorflow_has_no_gradient():
    for op in (tf.floor, tf.round, tf.math.ceil, tf.math.rint, lambda x: x // 2.0):
        assert gradient(lambda x, f=op: f(x), 1.5) == [None]
    assert gradient(tf.sign, 1.5) == [0.0]
    assert gradient(tf.math.imag, 1.5) == [None]


def test_product_with_a_zero():
    assert gradient(tf.reduce_prod, [0.0, 2.0, 3.0]) == [[6.0, 0.0, 0.0]]
    assert gradient(tf.math.cumprod, [0.0, 2.0, 3.0]) == [[9.0, 0.0, 0.0]]
    for op in (tf.math.segment_prod, lambda x, i: tf.math.unsorted_segment_prod(x, i, 2)):
        ids = [0, 0, 1, 1]
        assert gradient(lambda x, f=op: f(x, ids), [0.0, 2.0, 0.0, 0.0]) == [[2.0, 0.0, 0.0, 0.0]]


# -- shapes and edges ------------------------------------------------------------------------------


def test_reductions_of_nothing():
    empty = tf.zeros([0])
    values = [
        float(f(empty)) for f in (tf.reduce_sum, tf.reduce_prod, tf.reduce_max, tf.reduce_min)
    ]
    assert values == [0.0, 1.0, -INF, INF]
    assert np.isnan(float(tf.reduce_mean(empty)))
    assert float(tf.reduce_logsumexp(empty)) == -INF
    assert int(tf.reduce_mean(tf.zeros([0], tf.int32))) == 0
    assert tf.reduce_sum(tf.ones([2, 0, 3]), axis=1).shape == (2, 3)


@pytest.mark.parametrize("axis", [0, -1, [0, 1], (1,), [], np.int64(1)], ids=str)
@pytest.mark.parametrize("keepdims", [False, True, 1])
def test_reduction_axes(axis, keepdims):
    x = np.arange(6.0).reshape(2, 3)
    given = tuple(axis) if isinstance(axis, list) else axis
    expected = x.sum(given, keepdims=bool(keepdims))
    np.testing.assert_array_equal(tf.reduce_sum(x, axis, keepdims).numpy(), expected)
    assert tf.reduce_sum(x, tf.constant(axis, tf.int32), keepdims).shape == expected.shape


def test_logsumexp_of_extremes():
    for values in ([1000.0, 1000.0], [-1000.0, -1001.0], [-INF, 0.0], [INF, 0.0], [-INF, -INF]):
        got = float(tf.reduce_logsumexp(tf.constant(values, tf.float64)))
        np.testing.assert_allclose(got, np.logaddexp(*values))


def test_add_n_and_friends():
    x = tf.constant([1.0])
    assert tf.add_n([x]).numpy().tolist() == [1.0]
    assert tf.add_n([x]) is not x
    with pytest.raises(ValueError, match="same dtype and shape"):
        tf.math.accumulate_n([x, x], shape=[2])
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))
    scaled = tf.math.scalar_mul(2.0, slices)
    assert isinstance(scaled, tf.IndexedSlices) and scaled.values.numpy().tolist() == [[2.0, 2.0]]


def test_bincount_options():
    values = [1, 1, 3]
    assert tf.math.bincount(values, minlength=6).numpy().tolist() == [0, 2, 0, 1, 0, 0]
    assert tf.math.bincount(values, maxlength=2).numpy().tolist() == [0, 2]
    assert tf.math.bincount(values, binary_output=True).numpy().tolist() == [0, 1, 0, 1]
    weighted = tf.math.bincount(values, weights=[1.0, 2.0, 3.0])
    assert weighted.numpy().tolist() == [0.0, 3.0, 0.0, 3.0]
    rows = tf.math.bincount([[1, 1, 3], [0, 0, 1]], axis=-1)
    assert rows.numpy().tolist() == [[0, 2, 0, 1], [2, 1, 0, 0]]
    assert tf.math.bincount(tf.zeros([0], tf.int32)).shape == (0,)


def test_segments_that_are_empty_or_dropped():
    data = tf.constant([1.0, 2.0, 3.0])
    lowest = np.finfo(np.float32).min
    found = tf.math.unsorted_segment_max(data, [0, -1, 2], 4).numpy().tolist()
    assert found == [1.0, lowest, 3.0, lowest]
    assert tf.math.segment_max(data, [0, 0, 2]).numpy().tolist() == [2.0, 0.0, 3.0]
    assert tf.math.segment_prod(data, [0, 0, 2]).numpy().tolist() == [2.0, 1.0, 3.0]
    assert gradient(lambda x: tf.math.unsorted_segment_sum(x, [0, -1, -9], 4), [1.0, 2.0, 3.0]) == [
        [1.0, 0.0, 0.0]
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[2\] = 9 is out of"):
        tf.math.unsorted_segment_sum(data, [0, -1, 9], 4)


def test_top_k_fields():
    top = tf.math.top_k([1.0, 3.0, 3.0], k=2, index_type=tf.int64)
    assert top.values.numpy().tolist() == [3.0, 3.0]
    assert top.indices.numpy().tolist() == [1, 2] and top.indices.dtype is tf.int64


def test_sums_of_pending_values_are_recorded():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.math.bincount([0, 1, 1], weights=tf.gather(x, [0, 1, 1]))
        loss = tf.reduce_sum(y * y)
    gradient = tape.gradient(loss, x)
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [2.0, 16.0]


@pytest.mark.part
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.float64])
@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("weighted, binary", [(False, False), (True, False), (False, True)])
def test_the_host_counts_as_programs_do(dtype, by_row, weighted, binary):
    """What is out of range is left out by both."""
    rng = np.random.default_rng(0)
    settings = {"size": 7, "dtype": dtype, "binary": binary, "by_row": by_row}
    several = []
    for shape in ((3, 40), (17,), (0,), (2, 0)):
        several.append([rng.integers(-1, 9, shape).astype(np.int32)])
        several[-1] += [rng.integers(-9, 9, shape).astype(dtype.as_numpy_dtype)] * weighted
    by_program = jax.jit(lambda given: [counting._bincount(*a, **settings) for a in given])
    for arrays, wanted in zip(several, in_x64(by_program, several), strict=True):
        found = counting._bincount_on_host(*arrays, **settings)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_large_integers_are_counted_exactly():
    weights = np.array([2**62, 1, -5, 2**61])
    found = tf.math.bincount([0, 0, 1, 1], weights=weights)
    assert found.numpy().tolist() == [2**62 + 1, 2**61 - 5]

"""Array ops: special gradients, dtypes, empty and text tensors, TensorFlow's errors."""

import numpy as np
import pytest

import tape_compat as tf

RNG = np.random.default_rng(3)
X = RNG.normal(size=(2, 3))
V = RNG.normal(size=4)
CUBE = RNG.normal(size=(2, 3, 4))
Z = X + 1j * RNG.normal(size=(2, 3))
WHERE = np.array([[True, False, True], [False, False, True]])


# -- special gradients -----------------------------------------------------------------------------


def gradient(function, *arrays):
    inputs = [tf.constant(x) for x in arrays]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    return tape.gradient(y, inputs)


def test_gradient_of_a_repeated_update_goes_to_each():
    # Written down from TensorFlow 2.21.
    _, u = gradient(
        lambda x, u: tf.tensor_scatter_nd_update(x, [[0], [0]], u) * [2.0, 3.0],
        [5.0, 6.0],
        [1.0, 2.0],
    )
    assert u.numpy().tolist() == [2.0, 2.0]


def test_gradient_of_tied_maxima_is_shared():
    x, u = gradient(lambda x, u: tf.tensor_scatter_nd_max(x, [[0], [0]], u), [1.0, 6.0], [1.0, 1.0])
    np.testing.assert_allclose(x.numpy(), [1 / 3, 1.0])
    np.testing.assert_allclose(u.numpy(), [1 / 3, 1 / 3])


def test_gradient_of_pad_leaves_the_constant_out():
    x, c = gradient(lambda x, c: tf.pad(x, [[1, 1]], constant_values=c), [1.0], 2.0)
    assert x.numpy().tolist() == [1.0] and c is None


def test_gradient_of_complex_cast():
    (g,) = gradient(lambda z: tf.cast(z, tf.float64), np.array([1 + 2j]))
    assert g.dtype == tf.complex128 and g.numpy().tolist() == [1 + 0j]


@pytest.mark.parametrize("indices", [[1, 1, 0], [[1, 0], [1, 1]], 1])
def test_gather_gives_slices(indices):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(table, indices) ** 2
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == np.ravel(indices).tolist()
    assert g.values.shape == (np.size(indices), 2)
    assert g.dense_shape.dtype == tf.int32 and g.dense_shape.numpy().tolist() == [3, 2]
    expected = np.zeros((3, 2))
    np.add.at(expected, np.ravel(indices), 2 * table.numpy()[np.ravel(indices)])
    np.testing.assert_allclose(tf.convert_to_tensor(g).numpy(), expected)


def test_gather_along_other_axes_gives_a_tensor():
    with tf.GradientTape() as tape:
        x = tf.Variable([[1.0, 2.0]])
        y = tf.gather(x, [0, 0], axis=1)
    assert isinstance(tape.gradient(y, x), tf.Tensor)


def test_gather_nd_of_rows_gives_slices():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather_nd(x, [[1], [1]])
    g = tape.gradient(y, x)
    assert isinstance(g, tf.IndexedSlices) and g.indices.numpy().tolist() == [1, 1]


def test_slices_survive_identity_and_cast():
    s = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([3, 1]))
    assert isinstance(tf.identity(s), tf.IndexedSlices)
    assert tf.cast(s, tf.float64).values.dtype == tf.float64
    assert int(tf.size(s)) == 3


# -- dtypes, empty, scalars ------------------------------------------------------------------------

DTYPES = [
    (lambda: tf.constant([1.5]), tf.float32),
    (lambda: tf.zeros([1], tf.bfloat16), tf.bfloat16),
    (lambda: tf.ones([1], tf.bool), tf.bool),
    (lambda: tf.shape(X), tf.int32),
    (lambda: tf.shape(X, tf.int64), tf.int64),
    (lambda: tf.size(X), tf.int32),
    (lambda: tf.rank(X), tf.int32),
    (lambda: tf.range(3), tf.int32),
    (lambda: tf.range(np.int64(3)), tf.int64),
    (lambda: tf.range(tf.constant(1), 5.0), tf.float32),
    (lambda: tf.linspace(0, 10, 5), tf.float64),
    (lambda: tf.argsort([2.0, 1.0]), tf.int32),
    (lambda: tf.where([True]), tf.int64),
    (lambda: tf.where([True], 1, 2), tf.int32),
    (lambda: tf.one_hot([1], 2, 5, 1), tf.int32),
    (lambda: tf.one_hot([1], 2, on_value=tf.constant(2, tf.int8)), tf.int8),
    (lambda: tf.unique([3, 1])[1], tf.int32),
    (lambda: tf.searchsorted([1, 2], [1], out_type=tf.int64), tf.int64),
    (lambda: tf.concat([tf.constant([1], tf.int64), [2]], 0), tf.int64),
    (lambda: tf.stack([1, 2.5]), tf.float32),
    (lambda: tf.sequence_mask([1], 2, tf.float32), tf.float32),
    (lambda: tf.bitcast(1.0, tf.int32), tf.int32),
]


@pytest.mark.parametrize(("make", "dtype"), DTYPES)
def test_dtype(make, dtype):
    assert make().dtype is dtype


EMPTY = [
    (lambda e: tf.reshape(e, [0, 7]), (0, 7)),
    (lambda e: tf.reshape(e, [-1, 0]), (3, 0)),
    (lambda e: tf.transpose(e), (3, 0)),
    (lambda e: tf.concat([e, tf.ones([2, 3])], 0), (2, 3)),
    (lambda e: tf.gather(e, tf.zeros([0], tf.int32)), (0, 3)),
    (lambda e: tf.gather(tf.ones([2, 3]), tf.zeros([0], tf.int32)), (0, 3)),
    (lambda e: tf.boolean_mask(tf.ones([2, 3]), [False, False]), (0, 3)),
    (lambda e: tf.boolean_mask(e, tf.zeros([0], tf.bool)), (0, 3)),
    (lambda e: tf.tile(e, [2, 0]), (0, 0)),
    (lambda e: tf.pad(e, [[1, 0], [0, 0]]), (1, 3)),
    (lambda e: tf.sort(e, 0), (0, 3)),
    (lambda e: tf.where(e > 0, e, e), (0, 3)),
    (lambda e: tf.stack([e, e]), (2, 0, 3)),
    (lambda e: tf.one_hot(tf.zeros([0], tf.int32), 3), (0, 3)),
    (lambda e: tf.scatter_nd(tf.zeros([0, 1], tf.int32), e, [4, 3]), (4, 3)),
    (lambda e: tf.linspace(0.0, 1.0, 0), (0,)),
    (lambda e: tf.repeat(e, 2, 1), (0, 6)),
]


@pytest.mark.parametrize(("op", "shape"), EMPTY)
def test_empty(op, shape):
    y = op(tf.zeros([0, 3]))
    assert tuple(y.shape) == shape == y.numpy().shape


def test_no_parts():
    assert tf.unstack(tf.zeros([0, 2])) == []
    assert tf.meshgrid() == []
    assert tf.stack([]).shape == (0,)


def test_out_of_order_unique():
    y, index, count = tf.unique_with_counts([3, 1, 3, 7])
    assert [t.numpy().tolist() for t in (y, index, count)] == [[3, 1, 7], [0, 1, 0, 2], [2, 1, 1]]


# -- strings, which JAX does not have --------------------------------------------------------------

WORDS = [["a", "b"], ["c", "d"]]
TEXT = [
    (lambda s: tf.reshape(s, [-1]), [b"a", b"b", b"c", b"d"]),
    (lambda s: tf.transpose(s), [[b"a", b"c"], [b"b", b"d"]]),
    (lambda s: s[1, ::-1], [b"d", b"c"]),
    (lambda s: s[tf.constant(1)], [b"c", b"d"]),
    (lambda s: tf.concat([s, [["e", "f"]]], 0)[2], [b"e", b"f"]),
    (lambda s: tf.stack([s[0], s[1]], 1), [[b"a", b"c"], [b"b", b"d"]]),
    (lambda s: tf.unstack(s)[1], [b"c", b"d"]),
    (lambda s: tf.split(s, 2, 1)[0], [[b"a"], [b"c"]]),
    (lambda s: tf.gather(s, [1]), [[b"c", b"d"]]),
    (lambda s: tf.gather_nd(s, [[0, 1]]), [b"b"]),
    (lambda s: tf.tile(s, [1, 2])[0], [b"a", b"b", b"a", b"b"]),
    (lambda s: tf.expand_dims(s[0], 1), [[b"a"], [b"b"]]),
    (lambda s: tf.boolean_mask(s, [False, True]), [[b"c", b"d"]]),
    (lambda s: tf.where([[True, False]], s, "z"), [[b"a", b"z"], [b"c", b"z"]]),
    (lambda s: tf.fill([2], "q"), [b"q", b"q"]),
    (lambda s: tf.zeros([2], tf.string), [b"", b""]),
    (lambda s: tf.unique(tf.constant(["x", "y", "x"]))[0], [b"x", b"y"]),
]


@pytest.mark.parametrize(("op", "expected"), TEXT)
def test_text(op, expected):
    y = op(tf.constant(WORDS))
    assert y.dtype is tf.string and y.numpy().tolist() == expected


# -- errors: class and opening words written down from TensorFlow 2.21 -----------------------------

Invalid = tf.errors.InvalidArgumentError
x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
v = tf.constant([1.0, 2.0, 3.0])
ERRORS = [
    (lambda: tf.constant([1, 2], shape=[3]), TypeError, "Eager execution of tf.constant with"),
    (lambda: tf.constant(x, tf.float64), TypeError, "Expected tensor"),
    (lambda: tf.convert_to_tensor(x, tf.int32), ValueError, "Tensor conversion requested dtype"),
    (lambda: tf.cast("a", tf.float32), tf.errors.UnimplementedError, "Cast string to float is not"),
    (lambda: tf.cast(x, tf.string), tf.errors.UnimplementedError, "Cast float to string is not"),
    (
        lambda: tf.reshape(x, [5]),
        Invalid,
        "Input to reshape is a tensor with 6 values, but the req",
    ),
    (lambda: tf.reshape(x, [-1, 4]), Invalid, "Input to reshape is a tensor with 6 values, but"),
    (lambda: tf.reshape(x, [-1, -1]), Invalid, "Only one input size may be -1, not both 0 and 1"),
    (lambda: tf.reshape(x, [-2, 3]), Invalid, "Size 0 must be non-negative, not -2"),
    (lambda: tf.reshape(x, [2.0, 3.0]), Invalid, "Value for attr 'Tshape' of float is not in"),
    (lambda: tf.reshape(x, [None, 3]), ValueError, "Attempt to convert a value (None)"),
    (lambda: tf.reshape(x, [[2, 3]]), Invalid, "sizes input must be 1-D, not [1,2]"),
    (lambda: tf.transpose(x, [1]), Invalid, "transpose expects a vector of size 2. But input(1)"),
    (lambda: tf.transpose(x, [0, 0]), Invalid, "1 is missing from {0,0}"),
    (lambda: tf.transpose(x, [0, 5]), Invalid, "5 is out of range [0 .. 2)"),
    (lambda: tf.concat([x, v], 0), Invalid, "ConcatOp : Ranks of all input tensors should match"),
    (lambda: tf.concat([x, [[1.0]]], 0), Invalid, "ConcatOp : Dimension 1 in both shapes must be"),
    (lambda: tf.concat([x, x], 5), Invalid, "ConcatOp : Expected concatenating dimensions in"),
    (lambda: tf.concat([1.0, 2.0], 0), Invalid, "ConcatOp : Can't concatenate scalars"),
    (lambda: tf.concat([v, tf.constant([1])], 0), Invalid, "cannot compute ConcatV2 as input #1"),
    (lambda: tf.stack([v, v], 2), ValueError, "Argument `axis` = 2 not in range [-2, 2)"),
    (lambda: tf.stack([v, [1.0]]), Invalid, "Shapes of all inputs must match: values[0].shape"),
    (lambda: tf.unstack(x, 3), Invalid, "Input shape axis 0 must equal 3, got shape [2,3]"),
    (lambda: tf.unstack(1.0), ValueError, "Argument `axis` = 0 not in range [0, 0)"),
    (lambda: tf.split(x, 2, 1), Invalid, "Number of ways to split should evenly divide the split"),
    (lambda: tf.split(x, [1, 1], 1), Invalid, "Determined shape must either match input shape"),
    (lambda: tf.split(x, [-1, -1], 1), Invalid, "There can only be one -1 in the input."),
    (lambda: tf.split(x, 3, 5), Invalid, "-input rank(-2) <= split_dim < input rank (2), but got"),
    (lambda: tf.gather(v, [3]), Invalid, "indices[0] = 3 is not in [0, 3)"),
    (lambda: tf.gather(v, -1), Invalid, "indices = -1 is not in [0, 3)"),
    (lambda: tf.gather(x, [[3]], axis=1), Invalid, "indices[0,0] = 3 is not in [0, 3)"),
    (lambda: tf.gather(v, [1.0]), Invalid, "Value for attr 'Tindices' of float is not in"),
    (lambda: tf.gather(x, [0], axis=5), Invalid, "Shape must be at least rank 6 but is rank 2"),
    (lambda: tf.gather_nd(x, [[5, 0]]), Invalid, "indices[0] = [5, 0] does not index into param"),
    (lambda: tf.gather_nd(x, [[0, 0, 0]]), Invalid, "index innermost dimension length must be <="),
    (lambda: tf.slice(x, [0, 1], [2, 5]), Invalid, "Expected size[1] in [0, 2], but got 5"),
    (lambda: tf.slice(x, [0, 5], [2, -1]), Invalid, "Expected begin[1] in [0, 3], but got 5"),
    (lambda: tf.slice(x, [0], [2]), Invalid, "Expected begin and size arguments to be 1-D tensors"),
    (lambda: tf.where(x > 2, x), ValueError, "x and y must both be non-None or both be None."),
    (lambda: tf.where(x, x, x), Invalid, "cannot compute SelectV2 as input #0(zero-based)"),
    (lambda: tf.where([True] * 2, x, v), Invalid, "condition [2], then [2,3], and else [3] must"),
    (lambda: tf.tile(x, [1]), Invalid, "Expected multiples argument to be a vector of length 2"),
    (lambda: tf.tile(x, [2, -1]), Invalid, "Expected multiples[1] >= 0, but got -1"),
    (lambda: tf.pad(x, [[1, 1]]), Invalid, "The first dimension of paddings must be the rank of"),
    (lambda: tf.pad(x, [[1, -1], [0, 0]]), Invalid, "Paddings must be non-negative: 1 -1"),
    (lambda: tf.pad(x, [[2, 0], [0, 0]], "REFLECT"), Invalid, "paddings must be less than the dim"),
    (lambda: tf.pad(x, [[3, 0], [0, 0]], "SYMMETRIC"), Invalid, "paddings must be no greater than"),
    (lambda: tf.pad(x, [[1, 0], [0, 0]], "foo"), ValueError, "Value of argument `mode` expected"),
    (lambda: tf.pad(x, [1, 0]), Invalid, "paddings must be a matrix with 2 columns: [2]"),
    (
        lambda: tf.one_hot([0], 3, 5.0, 1),
        TypeError,
        "dtype <dtype: 'float32'> of on_value does not",
    ),
    (lambda: tf.one_hot([0], -3), Invalid, "depth must be non-negative, got: -3"),
    (lambda: tf.one_hot([0], 3, axis=5), Invalid, "Expected axis to be -1 or between [0, 2)."),
    (lambda: tf.range(5, 0), Invalid, "Requires start <= limit when delta > 0: 5/0"),
    (lambda: tf.range(0, 1, 0), Invalid, "Requires delta != 0: 0"),
    (lambda: tf.range([1, 2]), Invalid, "limit must be a scalar, not shape [2]"),
    (lambda: tf.zeros([-1]), Invalid, "Dimension -1 must be >= 0"),
    (lambda: tf.zeros([2.0]), TypeError, "Cannot convert [2.0] to EagerTensor of dtype int32"),
    (lambda: tf.ones([1], tf.string), TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
    (lambda: tf.fill([2], [1, 2]), Invalid, "value must represent a scalar, got shape [2]"),
    (lambda: tf.expand_dims(x, 3), Invalid, "Tried to expand dim index 3 for tensor with 2 dim"),
    (lambda: tf.squeeze(x, 0), Invalid, "Can not squeeze dim[0], expected a dimension of 1, got 2"),
    (lambda: tf.squeeze(x, 5), Invalid, "Tried to squeeze dim index 5 for tensor with 2 dim"),
    (lambda: tf.broadcast_to(v, [2, 4]), Invalid, "Incompatible shapes: [3] vs. [2,4]"),
    (lambda: tf.broadcast_to(x, [3]), Invalid, "Rank of input (2) must be no greater than rank"),
    (lambda: tf.broadcast_dynamic_shape([2], [3]), Invalid, "Incompatible shapes: [2] vs. [3]"),
    (lambda: tf.reverse(x, [5]), Invalid, "'axis'[0] = 5 is out of valid range [0, 1"),
    (lambda: tf.reverse(x, [0, 0]), Invalid, "axis 0 specified more than once."),
    (lambda: tf.reverse(x, 1), Invalid, "'dims' must be 1-dimension, not 0"),
    (lambda: tf.roll(x, 1, 5), Invalid, "axis 5 is out of range"),
    (lambda: tf.roll(x, [1, 2], [0]), Invalid, "shift and axis must have the same size"),
    (lambda: tf.sort(v, direction="foo"), ValueError, "Argument `direction` should be one of ASC"),
    (lambda: tf.boolean_mask(x, [True] * 3), ValueError, "Shapes (2,) and (3,) are incompatible"),
    (lambda: tf.boolean_mask(x, True), ValueError, "mask cannot be scalar."),
    (lambda: tf.meshgrid(v, v, indexing="foo"), ValueError, "Argument `indexing` parameter must"),
    (lambda: tf.repeat(x, [1, 2, 3], 0), ValueError, "Dimensions 2 and 3 are not compatible"),
    (lambda: tf.repeat(x, 2, 5), ValueError, "axis=5 out of bounds: expected -2<=axis<2"),
    (lambda: tf.scatter_nd([[5]], [1.0], [3]), Invalid, "indices[0] = [5] does not index into"),
    (lambda: tf.scatter_nd([[0]], [1.0, 2.0], [3]), Invalid, "Dimensions [0,1) of indices[shape="),
    (lambda: tf.tensor_scatter_nd_update(v, [[0]], [1.0, 2.0]), Invalid, "Outer dimensions of ind"),
    (lambda: tf.unique(x), Invalid, "unique expects a 1D vector."),
    (lambda: tf.searchsorted(v, v, "x"), ValueError, "Argument `side` must be either 'right' or"),
    (lambda: tf.ensure_shape(x, [2, 4]), Invalid, "Shape of tensor input [2,3] is not compatible"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS, ids=range(len(ERRORS)))
def test_error(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(words)


def test_error_names_the_line():
    with pytest.raises(Invalid, match=r"\[Op:Reshape\] \(at .*test_array.py:\d+\)"):
        tf.reshape(x, [5])


def test_an_error_in_a_tape_leaves_it_usable():
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        with pytest.raises(Invalid):
            tf.reshape(w * 2.0, [3])
        y = tf.reshape(w * 2.0, [2, 1])
    assert tape.gradient(y, w).numpy().tolist() == [2.0, 2.0]


# -- what does not wait, and what does -------------------------------------------------------------


def test_shapes_of_pending_tensors_are_known(deferred, counted):
    with tf.GradientTape() as tape:
        w = tf.constant([[1.0, 2.0, 3.0]])
        tape.watch(w)
        y = w * 2.0
        flat = tf.reshape(y, [tf.shape(y)[1], -1])
        rows = tf.zeros(tf.shape(flat)) + flat
        total = tf.cast(tf.size(rows), tf.int32) * 2
        assert int(total) == 6
    assert counted()["fused"] == counted()["op_by_op"] == 0
    assert tape.gradient(rows, w).numpy().tolist() == [[2.0, 2.0, 2.0]]


@pytest.mark.part
@pytest.mark.parametrize("source", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("count", [1, 100])
def test_casts_clamp(source, dtype, count):
    """At each place of the array, on the host and in a step."""
    values = [np.inf, -np.inf, np.nan, -1.9, 100.7]
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    expected = [high, low, 0, max(low, -1), 100] * count
    x = tf.cast(values * count, source)
    with tf.GradientTape() as tape:
        tape.watch(x)
        pending = tf.cast(x * 1.0, dtype)
    for got in (tf.cast(x, dtype), pending):
        assert got.dtype.name == dtype and got.numpy().tolist() == expected
    assert tf.cast(values[0], dtype).numpy() == high


@pytest.mark.compiled
def test_unknown_indices_out_of_range_read_zeros():
    @tf.function
    def taken(ones):
        index = tf.reduce_sum(ones) + tf.range(2)
        index = tf.concat([index, tf.zeros([100], tf.int32)], 0)
        return tf.gather(tf.constant([1.0, 2.0]), index)

    got = taken(tf.ones([200], tf.int32)).numpy()
    assert got[:2].tolist() == [0.0, 0.0] and got[2:].tolist() == [1.0] * 100


@pytest.mark.parametrize("bad", [-1, -3, 3, 70])
def test_unknown_indices_out_of_range_write_nothing(bad):
    """Negative ones are not counted from the end: TensorFlow has no such index."""
    v, places = tf.Variable(tf.ones([3])), tf.Variable([float(bad), 1.0])

    def rows():
        indices = tf.cast(places * 1.0, tf.int32)
        return tf.IndexedSlices(tf.constant([5.0, 7.0]), indices, [3])

    @tf.function
    def differentiated():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(v, rows().indices) ** 2)
        return tf.convert_to_tensor(rows()), tf.convert_to_tensor(tape.gradient(loss, v))

    @tf.function
    def updated(name):
        getattr(v, name)(rows())

    @tf.function
    def updated_by_positions(name):
        getattr(v, name)(rows().indices[:, None], tf.constant([9.0, 8.0]))

    dense, gradient = differentiated()
    assert dense.numpy().tolist() == [0.0, 7.0, 0.0]
    assert gradient.numpy().tolist() == [0.0, 2.0, 0.0]
    for name in ("scatter_add", "scatter_sub", "scatter_mul", "scatter_div"):
        updated(name)
    assert v.numpy().tolist() == [1.0, 1.0, 1.0]
    for name in ("scatter_nd_update", "scatter_nd_max"):
        v.assign(tf.ones([3]))
        updated_by_positions(name)
        assert v.numpy().tolist() == [1.0, 8.0, 1.0]


def test_values_of_indices_are_not_structure(deferred, counted):
    table = tf.Variable(np.arange(12.0).reshape(6, 2))

    def step(i):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, tf.constant([i, 5 - i])) ** 2)
        return tape.gradient(loss, table).values.numpy()

    step(0), step(1)
    before = counted()
    for i in (2, 3, 4):
        step(i)
    assert counted()["compiles"] == before["compiles"]


def test_fill_is_differentiable_in_its_value():
    (g,) = gradient(lambda s: tf.fill([3, 2], s), 2.0)
    assert float(g) == 6.0


def test_constant_shapes():
    assert tf.constant(1, shape=[2]).numpy().tolist() == [1, 1]
    assert tf.constant([1, 2], shape=[2, 1]).shape == (2, 1)
    assert tf.constant(tf.Variable(1.0), tf.float64).dtype is tf.float64
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype is tf.float32


def test_lists_with_tensors_are_packed():
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.convert_to_tensor([[w, 1.0], [2.0, w * w]])
    assert y.numpy().tolist() == [[3.0, 1.0], [2.0, 9.0]]
    assert float(tape.gradient(y, w)) == 7.0


def test_get_static_value_and_is_tensor():
    assert tf.get_static_value(x).tolist() == x.numpy().tolist()
    assert tf.get_static_value(3) == 3 and tf.get_static_value(tf.Variable(1.0)) is None
    assert tf.is_tensor(x) and tf.is_tensor(tf.Variable(1.0)) and not tf.is_tensor(np.ones(2))


@pytest.mark.parametrize("name", ["zeros", "ones", "fill", "zeros_like", "ones_like"])
def test_layouts_are_refused(name):
    arguments = ([2], 1.0) if name == "fill" else ([2],)
    with pytest.raises(NotImplementedError, match=f"{name}: `layout` places"):
        getattr(tf, name)(*arguments, layout="a layout")


def test_gather_from_nothing_in_a_function():
    taken = tf.function(lambda x, i: tf.gather(x, i, axis=1))
    assert taken(tf.zeros([2, 0, 3]), tf.constant([4])).numpy().tolist() == [[[0.0] * 3]] * 2

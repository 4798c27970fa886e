"""`tensor[...]`: every kind of index against NumPy, its gradient, TensorFlow's refusals."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import limits
from tape_compat._src.ops import gather_scatter

CUBE = np.arange(60, dtype=np.float64).reshape(4, 5, 3)
SMALL = np.arange(12, dtype=np.int32).reshape(4, 3)  # stays on the host
NEW = tf.newaxis

#: Indices that mean the same to NumPy.
PLAIN = [
    0, -1, 3, (), (1, 2), (-1, -2), (1, 2, 0), np.int64(2), np.int32(-1),
    slice(None), slice(1, 3), slice(-3, -1), slice(None, None, 2), slice(None, None, -1),
    slice(3, 0, -2), slice(10, 20), slice(-20, 2), slice(2, 1), slice(0, 1, -1), slice(3, None, -5),
    (slice(None), 1), (slice(1, None), slice(None, -1)), (0, slice(None, None, -1), 1),
    Ellipsis, (Ellipsis, 0), (0, Ellipsis), (0, Ellipsis, 1), (Ellipsis, slice(None, None, -1)),
    (1, Ellipsis, 2), (0, 1, 2, Ellipsis), None, (None, 1), (1, None), (Ellipsis, None),
    (None, Ellipsis, None, 0), (slice(None, None, -1), None, Ellipsis, 1),
]  # fmt: skip


def text(index):
    return str(index).replace("slice", "").replace("None", "")


@pytest.mark.parametrize("index", PLAIN, ids=text)
def test_like_numpy(index):
    got = tf.constant(CUBE)[index]
    assert tuple(got.shape) == CUBE[index].shape
    np.testing.assert_array_equal(got.numpy(), CUBE[index])


@pytest.mark.parametrize("index", PLAIN, ids=text)
def test_variables(index):
    np.testing.assert_array_equal(tf.Variable(CUBE)[index].numpy(), CUBE[index])


@pytest.mark.parametrize("index", [i for i in PLAIN if np.size(i) < 3], ids=text)
def test_small_integers(index):
    try:
        expected = SMALL[index]
    except IndexError:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.constant(SMALL)[index]
        return
    got = tf.constant(SMALL)[index]
    assert got.dtype is tf.int32
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.part
@pytest.mark.parametrize("index", PLAIN, ids=text)
def test_gradient(index):
    x = tf.constant(CUBE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x[index] ** 2)
    expected = np.zeros_like(CUBE)
    expected[index] = 2 * CUBE[index]
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), expected)


TENSORS = [
    (lambda i: i, 1),
    (lambda i: (slice(None), i), (slice(None), 1)),
    (lambda i: (i, Ellipsis, i), (1, Ellipsis, 1)),
    (lambda i: (i - 2, None, i), (-1, None, 1)),
    (lambda i: (i, slice(None, None, -1)), (1, slice(None, None, -1))),
    (lambda i: slice(i, None), slice(1, None)),
    (lambda i: slice(None, i * 2), slice(None, 2)),
    (lambda i: (Ellipsis, slice(None, None, i)), (Ellipsis, slice(None, None, 1))),
]


def pending(i, dtype=tf.int64):
    """A scalar tensor whose value is not on the host."""
    return tf.cast(tf.constant(float(i)) + 0.0, dtype)


@pytest.mark.part
@pytest.mark.parametrize("make", [tf.constant, tf.Variable, pending], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("index", "same"), TENSORS)
def test_tensor_indices(make, index, same):
    x = tf.constant(CUBE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index(make(1))]
        loss = tf.reduce_sum(y * y)
    expected = np.zeros_like(CUBE)
    expected[same] = 2 * CUBE[same]
    np.testing.assert_array_equal(y.numpy(), CUBE[same])
    np.testing.assert_array_equal(tape.gradient(loss, x).numpy(), expected)


def test_a_pending_index_is_not_read(deferred, counted):
    w = tf.Variable(CUBE)
    with tf.GradientTape() as tape:
        i = tf.cast(tf.argmax(w[:, 0, 0]), tf.int32)
        y = w[i] * w[i, i - 3]
    assert counted()["fused"] == counted()["op_by_op"] == 0
    assert tape.gradient(y, w).shape == CUBE.shape


def test_the_value_of_an_index_is_not_structure(deferred, counted):
    x = tf.constant(CUBE)

    def row(i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[i] * 2.0
        return tape.gradient(y, x).numpy().sum((1, 2))

    for i in tf.range(2):
        row(i)
    before = counted()["compiles"]
    assert [row(tf.constant(i)).argmax() for i in (1, 2, 3)] == [1, 2, 3]
    assert counted()["compiles"] == before


def test_shapes_are_indexed_on_the_host(deferred, counted):
    with tf.GradientTape() as tape:
        w = tf.Variable(CUBE)
        y = w * 2.0
        n = tf.shape(y)[0] * tf.shape(y)[-1]
        z = tf.reshape(y, [n, -1])
        assert int(n) == 12 and z.shape == (12, 5)
    assert counted()["fused"] == counted()["op_by_op"] == 0
    del tape


MASKS = [
    lambda x: x > 30,
    lambda x: np.array([True, False, True, False]),
    lambda x: np.arange(20).reshape(4, 5) % 3 == 0,
]


@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask):
    x = tf.constant(CUBE)
    for m in (mask(CUBE), tf.constant(mask(CUBE))):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[m]
        np.testing.assert_array_equal(y.numpy(), CUBE[mask(CUBE)])
        g = tape.gradient(y, x).numpy()
        np.testing.assert_array_equal(g.reshape(4, -1).sum(), CUBE[mask(CUBE)].size)


def test_a_list_is_a_tuple():
    assert float(tf.constant(CUBE)[[1, 2, 0]]) == CUBE[1, 2, 0]


def test_iteration_and_unpacking():
    first, *_, last = tf.constant(CUBE)
    np.testing.assert_array_equal(last.numpy() - first.numpy(), CUBE[3] - CUBE[0])
    assert [int(n) for n in tf.constant([1, 2])] == [1, 2]
    with tf.GradientTape() as tape:
        v = tf.Variable([2.0, 3.0])
        p, q = v
        y = p * q
    assert tape.gradient(y, v).numpy().tolist() == [3.0, 2.0]


def test_second_order():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[::-2] ** 3)
        g = tape.gradient(y, x)
        s = tf.reduce_sum(g[1:] * x[:-1])
    assert outer.gradient(s, x).numpy().tolist() == [0.0, 27.0, 36.0]


Invalid = tf.errors.InvalidArgumentError
BAD = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"
ERRORS = [
    (5, Invalid, "slice index 5 of dimension 0 out of bounds."),
    (-5, Invalid, "slice index -1 of dimension 0 out of bounds."),
    ((0, 7), Invalid, "slice index 7 of dimension 1 out of bounds."),
    ((None, 9), Invalid, "slice index 9 of dimension 0 out of bounds."),
    ((0, 0, 0, 0), Invalid, "Index out of range using input dim 3; input has only 3 dims"),
    ((Ellipsis, Ellipsis), Invalid, "Multiple ellipses in slice spec not allowed"),
    (slice(None, None, 0), Invalid, "strides[0] must be non-zero"),
    (1.0, TypeError, BAD),
    ("a", TypeError, BAD),
    (slice(1.5, None), TypeError, BAD),
    (np.array([0, 1]), TypeError, BAD),
    (True, ValueError, "mask cannot be scalar."),
    (np.array([True, False]), ValueError, "Shapes (4,) and (2,) are incompatible"),
]


@pytest.mark.parametrize(("index", "error", "words"), ERRORS, ids=str)
def test_error(index, error, words):
    with pytest.raises(error) as raised:
        tf.constant(CUBE)[index]
    assert str(raised.value).startswith(words)


def test_scalars_have_nothing_to_index():
    with pytest.raises(Invalid, match="Attempting to slice scalar input"):
        tf.constant(1.0)[0]
    assert tf.constant(1.0)[None].shape == (1,) and tf.constant(1.0)[...].shape == ()


@pytest.mark.parametrize("value", [5, -5])
def test_known_tensor_out_of_range(value):
    with pytest.raises(Invalid, match="slice index"):
        tf.constant(CUBE)[tf.constant(value)]


@pytest.mark.parametrize(
    "index", [tf.constant([0, 1]), tf.constant(1.0), tf.constant(1, tf.uint8)], ids=str
)
def test_tensors_that_are_no_index(index):
    with pytest.raises(TypeError) as raised:
        tf.constant(CUBE)[index]
    assert str(raised.value).startswith(BAD)


# ---------------------------------------------------------------------------------------------
# Slices of variables can be assigned to.


def taped(program):
    """Runs the program plain and under a tape, where the assignment is pending."""
    program()
    with tf.GradientTape():
        program()


@pytest.mark.part
@pytest.mark.parametrize("index", PLAIN, ids=text)
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_assign(index, dtype):
    def program():
        v = tf.Variable(CUBE.astype(dtype))
        expected = CUBE.astype(dtype)
        value = -1 - np.arange(expected[index].size, dtype=dtype).reshape(expected[index].shape)
        expected[index] = value
        assert v[index].assign(value) is not None
        np.testing.assert_array_equal(v.numpy(), expected)

    taped(program)


@pytest.mark.part
@pytest.mark.parametrize("make", [tf.constant, tf.Variable, pending], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("index", "same"), TENSORS)
def test_assign_at_tensor_indices(make, index, same):
    v = tf.Variable(CUBE)
    expected = CUBE.copy()
    expected[same] = np.arange(CUBE[same].size).reshape(CUBE[same].shape)
    v[index(make(1))].assign(expected[same])
    np.testing.assert_array_equal(v.numpy(), expected)


@pytest.mark.parametrize("at", [4, -5, 9])
def test_a_pending_index_out_of_range_reads_zeros_and_assigns_nothing(deferred, at):
    v = tf.Variable(CUBE)
    with tf.GradientTape() as tape:
        part = v[pending(at)]
    part.assign(part + 7.0)
    assert not part.numpy().any()
    assert not tape.gradient(part, v).numpy().any()
    np.testing.assert_array_equal(v.numpy(), CUBE)


@pytest.mark.parametrize("at", [4, -5])
def test_a_computed_index_out_of_range_is_refused_in_immediate_mode(immediate, at):
    v = tf.Variable(CUBE)
    with (
        tf.GradientTape(),
        pytest.raises(tf.errors.InvalidArgumentError, match=r"index -?\d+ of dimension 0 out"),
    ):
        v[tf.constant(at) * 1]
    np.testing.assert_array_equal(v.numpy(), CUBE)


def test_assignments_in_a_step_are_one_program(deferred, counted):
    v, x = tf.Variable([1.0, 2.0, 3.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        before = v * v
        v[1:].assign([x * 2.0, 1.0])
        after = v * v
    assert counted()["fused"] == counted()["op_by_op"] == 0
    assert v.numpy().tolist() == [1.0, 6.0, 1.0]
    assert tape.gradient(before, v).numpy().tolist() == [2.0, 4.0, 6.0]
    assert tape.gradient(after, v).numpy().tolist() == [2.0, 12.0, 2.0]
    assert tape.gradient(after, x) is None


def test_a_slice_keeps_its_index_and_its_variable():
    i = tf.Variable(0)
    part = tf.Variable([1.0, 2.0])[i]
    i.assign(1)
    assert part.assign(5.0).numpy().tolist() == [5.0, 2.0]
    assert float(part) == 1.0


def test_a_slice_of_a_variable_can_be_collected():
    v = tf.Variable([1.0, 2.0])
    v.part = v[0]
    gone = weakref.ref(v)
    del v
    gc.collect()
    assert gone() is None


def test_only_slices_of_variables_are_assigned_to():
    v = tf.Variable([1.0, 2.0])
    for other in (tf.constant([1.0])[0], v.read_value()[0], v[:1][0], v[v > 0], -v[0], v * 1.0):
        assert not hasattr(other, "assign")
    with pytest.raises(AttributeError, match=r"v\[i\]\.assign\(v\[i\] \+ x\)"):
        v[0].assign_add(1.0)
    assert not hasattr(v[0], "assign_sub")


def test_strided_slice_takes_the_variable():
    v = tf.Variable([1.0, 2.0, 3.0])
    got = tf.strided_slice(v, [0], [3], [2], var=v).assign([7.0, 8.0])
    assert got.numpy().tolist() == [7.0, 2.0, 8.0]


# ---------------------------------------------------------------------------------------------
# Where the place is another one each time, it is an input.


@pytest.fixture
def general_at_once(deferred, monkeypatch):
    monkeypatch.setattr(limits, "STATIC_FORMS", 0)


@pytest.mark.part
@pytest.mark.parametrize("index", PLAIN, ids=text)
def test_general_form(general_at_once, index):
    x = tf.constant(CUBE)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[index]
            s = tf.reduce_sum(y**3)
        g = tape.gradient(s, x)
        t = tf.reduce_sum(g)
    expected = np.zeros_like(CUBE)
    expected[index] = 6 * CUBE[index]
    np.testing.assert_array_equal(outer.gradient(t, x).numpy(), expected)
    np.testing.assert_array_equal(y.numpy(), CUBE[index])
    with tf.autodiff.ForwardAccumulator(x, 2.0 * x) as forward:
        tangent = forward.jvp(x[index] ** 2)
    np.testing.assert_array_equal(tangent.numpy(), 4.0 * CUBE[index] ** 2)


def test_jacobian_in_general_form(general_at_once):
    x = tf.constant(CUBE[0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[1:4, 2] ** 2
    expected = np.zeros((3, 5, 3))
    expected[range(3), range(1, 4), 2] = 2 * CUBE[0, 1:4, 2]
    np.testing.assert_array_equal(tape.jacobian(y, x).numpy(), expected)


@pytest.mark.part
@pytest.mark.parametrize("index", PLAIN, ids=text)
def test_assign_in_general_form(general_at_once, index):
    test_assign(index, np.float64)


@pytest.mark.parametrize("begin, size", [([1, 2, 0], [2, 3, 3]), ([3, 0, 1], [-1, -1, 0])])
def test_tf_slice_in_general_form(general_at_once, begin, size):
    where = tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begin, size, strict=True))
    row = tf.constant(CUBE[0, 0])
    with tf.GradientTape() as tape:
        x = tf.Variable(CUBE)
        y = tf.slice(x, begin, size) ** 2
        short = tf.slice(row, [begin[2]], [2])
    expected = np.zeros_like(CUBE)
    expected[where] = 2 * CUBE[where]
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), expected)
    np.testing.assert_array_equal(short.numpy(), CUBE[0, 0, begin[2] :][:2])


BATCHES = {
    "slice": lambda x, i: x[4 * i : 4 * (i + 1)],
    "steps": lambda x, i: x[4 * i : 4 * (i + 1) : 2],
    "tf.slice": lambda x, i: tf.slice(x, [4 * i, 0], [4, 3]),
    "columns": lambda x, i: tf.transpose(x)[:, 4 * i : 4 * (i + 1)],
    "row": lambda x, i: x[i],
    "element": lambda x, i: x[i, 1],
    "window": lambda x, i: x[i : i + 3, 0],
}


@pytest.mark.parametrize("how", BATCHES)
def test_batches_are_taken_by_one_program(how, counted):
    rows = np.random.default_rng(0).normal(size=(121, 3))
    x = tf.constant(rows)
    for i in range(30):
        np.testing.assert_array_equal(
            BATCHES[how](x, i).numpy(), np.asarray(BATCHES[how](tf.constant(rows), i))
        )
    # One for each op; transposing and slicing, of tensors of one shape, are two.
    assert counted()["op_compiles"] <= 2


@pytest.mark.parametrize("how", ["slice", "steps", "tf.slice"])
def test_a_step_that_takes_its_batch_is_the_same_each_time(how, deferred, counted):
    rows = np.random.default_rng(0).normal(size=(400, 3)).astype("float32")
    x, w = tf.constant(rows), tf.Variable(tf.ones([3, 1]))
    expected = np.ones([3, 1], "float32")
    for i in range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(BATCHES[how](x, i), w) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        assert loss.numpy() >= 0
        batch = rows[4 * i : 4 * (i + 1)][:: 2 if how == "steps" else 1]
        expected -= 0.01 * 2 * batch.T @ (batch @ expected) / len(batch)
    np.testing.assert_allclose(w.numpy(), expected, rtol=1e-5)
    counts = counted()
    assert counts["compiles"] <= 4 and counts["fused"] >= 60 - limits.STATIC_FORMS


def test_a_replay_buffer_is_filled_by_one_program(deferred, counted):
    buffer, expected = tf.Variable(tf.zeros([50, 3])), np.zeros([50, 3], "float32")
    done = tf.Variable(tf.zeros([50], tf.float32))
    for i in range(50):
        buffer[i].assign([i, 1.0, 2.0])
        done[i : i + 1].assign([1.0])
        expected[i] = i, 1.0, 2.0
    np.testing.assert_array_equal(buffer.numpy(), expected)
    assert done.numpy().all() and counted()["op_compiles"] <= 6  # two of them make the zeros
    for i in range(30):  # and in a step
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(buffer[:2] ** 2)
        buffer[i].assign(tf.reduce_sum(tape.gradient(value, buffer), axis=0) * 0.0 + 5.0)
        assert value.numpy() > 0
    expected[:30] = 5.0
    np.testing.assert_array_equal(buffer.numpy(), expected)
    counts = counted()
    assert counts["compiles"] <= 4 and counts["fused"] >= 30 - limits.STATIC_FORMS


@pytest.mark.parametrize("indices", [np.array([2, 0, 2, 9]), np.array([[1], [-1]]), np.array(1)])
@pytest.mark.parametrize("shape", [(5, 3), (2, 4, 3)])
def test_gradients_of_gathered_columns_add_rows(shape, indices):
    """Of indices that are out of range nothing comes back."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(np.float32)

    def taken(x):
        return gather_scatter._gather(x, jnp.asarray(indices), len(shape) - 1, 0)

    y, back = jax.vjp(taken, x)
    cotangent = rng.normal(size=y.shape).astype(np.float32)
    wanted = np.zeros_like(x)
    for at in np.ndindex(indices.shape):
        if 0 <= indices[at] < 3:
            wanted[..., indices[at]] += cotangent[(..., *at)]
    np.testing.assert_allclose(back(cotangent)[0], wanted, rtol=1e-6)
    text = str(jax.make_jaxpr(back)(cotangent))
    assert f"update_window_dims={tuple(range(indices.ndim, y.ndim))}".replace(" ", "") in (
        text.replace(" ", "")
    )

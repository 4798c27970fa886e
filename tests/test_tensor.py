"""Tensors and variables as Python objects: text, protocols, copies, conversion."""

import copy
import gc
import itertools
import pickle
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import x64
from tape_compat._src.core.native import FASTPATH
from tape_compat._src.ops import creation
from tape_compat._src.values import convert
from tape_compat._src.values.tensor import _LENT


@pytest.mark.parametrize(
    "value, as_repr, as_str",
    [
        (
            36.0,
            "<tf.Tensor: shape=(), dtype=float32, numpy=36.0>",
            "tf.Tensor(36.0, shape=(), dtype=float32)",
        ),
        (
            [1, 2],
            "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>",
            "tf.Tensor([1 2], shape=(2,), dtype=int32)",
        ),
        (
            [[1.0, 2.0], [3.0, 4.0]],
            "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[1., 2.],\n"
            "       [3., 4.]], dtype=float32)>",
            "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)",
        ),
        (
            True,
            "<tf.Tensor: shape=(), dtype=bool, numpy=True>",
            "tf.Tensor(True, shape=(), dtype=bool)",
        ),
        (
            "abc",
            "<tf.Tensor: shape=(), dtype=string, numpy=b'abc'>",
            "tf.Tensor(b'abc', shape=(), dtype=string)",
        ),
    ],
)
def test_text(value, as_repr, as_str):
    assert repr(tf.constant(value)) == as_repr
    assert str(tf.constant(value)) == as_str


def test_text_of_variables():
    v = tf.Variable([1.0, 2.0, 3.0])
    assert repr(v) == (
        "<tf.Variable 'Variable:0' shape=(3,) dtype=float32, "
        "numpy=array([1., 2., 3.], dtype=float32)>"
    )
    assert repr(v.assign_add([1.0, 1.0, 1.0])).startswith(
        "<tf.Variable 'UnreadVariable' shape=(3,)"
    )


def test_text_of_a_pending_tensor_runs_it():
    x = tf.Variable(2.0)
    with tf.GradientTape():
        y = x * x
        assert str(y) == "tf.Tensor(4.0, shape=(), dtype=float32)"


@pytest.mark.parametrize("pending", [False, True])
def test_pickle_and_copies(pending):
    x = tf.Variable([1.0, 2.0], name="x", trainable=False)
    with tf.GradientTape():
        y = x * 2.0
    if not pending:
        y.numpy()
    for again in (pickle.loads(pickle.dumps(y)), copy.copy(y), copy.deepcopy(y)):
        assert again.numpy().tolist() == [2.0, 4.0] and again.dtype == tf.float32
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        again.assign([5.0, 6.0])
        assert (again.name, again.trainable) == ("x:0", False)
        assert x.numpy().tolist() == [1.0, 2.0]
    s = pickle.loads(pickle.dumps(tf.constant(["a", "b"])))
    assert s.numpy().tolist() == [b"a", b"b"]


def test_numpy_gives_a_copy():
    t = tf.constant([1.0, 2.0])
    array = t.numpy()
    array[0] = 9.0
    assert t.numpy()[0] == 1.0
    source = np.array([1.0, 2.0])
    t = tf.constant(source)
    source[0] = 9.0
    assert t.numpy()[0] == 1.0


def test_hashing_is_by_identity():
    a, b = tf.constant(1.0), tf.constant(1.0)
    with pytest.raises(TypeError, match=r"Tensor is unhashable.*tensor\.ref\(\)"):
        hash(a)
    with pytest.raises(TypeError, match="Variable is unhashable"):
        hash(tf.Variable(1.0))
    assert a.ref() == a.ref() and a.ref() != b.ref()
    assert {a.ref(): 1}[a.ref()] == 1 and a.ref().deref() is a


def test_equality_is_elementwise():
    a = tf.constant([1.0, 2.0])
    assert (a == [1.0, 3.0]).numpy().tolist() == [True, False]
    assert (a != a).numpy().tolist() == [False, False]
    assert not bool(a == tf.constant([1.0, 2.0, 3.0]))


def test_python_protocols():
    t = tf.constant([[1, 2], [3, 4]])
    assert len(t) == 2 and [row.numpy().tolist() for row in t] == [[1, 2], [3, 4]]
    assert (float(tf.constant(1.5)), int(tf.constant(7)), bool(tf.constant(0))) == (1.5, 7, False)
    assert f"{tf.constant(1.2345):.2f}" == "1.23"
    assert ["a", "b", "c"][tf.constant(1)] == "b"
    assert complex(tf.constant(1 + 2j)) == 1 + 2j
    with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="iterate over a scalar"):
        list(tf.constant(1))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))
    with pytest.raises(TypeError):
        tf.Tensor()


def test_other_libraries():
    t = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(t), [1.0, 2.0])
    np.testing.assert_array_equal(jnp.asarray(t), [1.0, 2.0])
    np.testing.assert_array_equal(np.from_dlpack(t), [1.0, 2.0])
    assert isinstance(np.ones(2, np.float32) * t, tf.Tensor)
    assert isinstance(tf.constant(jnp.ones(2)), tf.Tensor)
    with pytest.raises(TypeError, match="JAX has no string dtype"):
        tf.constant("a").__jax_array__()


def test_shape_arithmetic_does_not_run_what_is_pending(deferred):
    x = tf.Variable(np.ones((4, 6), np.float32))
    with tf.GradientTape() as tape:
        y = x * 2.0
        rows = tf.shape(y)[0]
        z = tf.reshape(y, [rows * 2, -1])
        assert y._array is None and z._array is None
    assert z.shape == (8, 3)
    assert tape.gradient(z, x).numpy().sum() == 48.0


def test_variables():
    v = tf.Variable([1.0, 2.0], name="w")
    assert v.name == "w:0" and v.shape == (2,) and v.dtype == tf.float32 and v.trainable
    before = v.read_value()
    v.assign([3.0, 4.0]).assign_add([1.0, 1.0])
    assert v.numpy().tolist() == [4.0, 5.0] and before.numpy().tolist() == [1.0, 2.0]
    v.scatter_add(tf.IndexedSlices(tf.constant([10.0]), tf.constant([1])))
    v.scatter_nd_update([[0]], [7.0])
    assert v.value().numpy().tolist() == [7.0, 15.0]
    with pytest.raises(ValueError, match="Cannot assign value to variable ' w:0': Shape mismatch"):
        v.assign([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
        v.assign_sub([1.0])
    with pytest.raises(RuntimeError, match=r"`variable \+= value`"):
        v += 1.0
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()
    assert tf.Variable(lambda: 3.0).numpy() == 3.0
    free = tf.Variable([1.0], shape=[None])
    free.assign([1.0, 2.0, 3.0])
    assert free.numpy().shape == (3,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
        v.scatter_sub(tf.IndexedSlices(tf.constant([1.0]), tf.constant([5])))


def test_a_variable_dropped_frees_its_buffer():
    import gc
    import weakref

    v = tf.Variable(np.ones(1000, np.float32))
    v.assign_add(np.ones(1000, np.float32))
    seen = weakref.ref(v._handle.tensor)
    gc.disable()
    try:
        del v
        assert seen() is None  # without the garbage collector: there is no cycle
    finally:
        gc.enable()
    assert gc.isenabled()


def test_device():
    with tf.device("/CPU:0"):
        assert tf.constant([1.0]).device.endswith("device:CPU:0")
    with tf.device("/GPU:99"):  # another one stands in for it
        assert (tf.constant([1.0]) + 1.0).numpy() == [2.0]
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy"):
            with tf.device("/GPU:99"):
                pass
    finally:
        tf.config.set_soft_device_placement(True)
    for name in ("a b", "/XYZ:0"):
        with pytest.raises(ValueError, match="while parsing the device spec"):
            with tf.device(name):
                pass


@pytest.mark.compiled
@pytest.mark.skipif(
    sys.version_info < (3, 12) and FASTPATH is None, reason="Python 3.11 needs the C part"
)
def test_a_buffer_lives_as_long_as_the_tensor():
    lent = len(_LENT)
    x = tf.constant(np.arange(1000.0, dtype=np.float32))
    seen = np.frombuffer(x, np.float32)
    x._device_array()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    doubled = np.frombuffer(y, np.float32)
    tape.gradient(y, x).numpy()
    trash = [np.full(1000, 7.0, np.float32) for _ in range(100)]
    assert seen.tolist() == list(range(1000)) and (doubled == 2.0 * seen).all() and trash
    assert len(_LENT) == lent + 2
    del x, y, seen, doubled, tape
    gc.collect()
    assert len(_LENT) == lent


@pytest.mark.skipif(
    sys.version_info < (3, 12) and FASTPATH is None, reason="Python 3.11 needs the C part"
)
def test_a_buffer_of_a_variables_value_is_not_reused():
    v = tf.Variable(np.ones(1000, np.float32))
    views = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v)
        v.assign_sub(0.5 * tape.gradient(y, v))
        views.append(memoryview(v.read_value()))
        v.assign_add(tf.ones(1000))
    assert [view[0] for view in views] == [0.0] * 5


NUMBERS = (0.0, -0.0, 0.1, 1e-46, 1e38, -3.5e38, np.inf, np.nan, 3, -7, 1 << 24, 1 << 31)
SHAPES = (
    lambda x, y: x,
    lambda x, y: [x, y],
    lambda x, y: (x, y, x),
    lambda x, y: [[x], (y,)],
    lambda x, y: [[x, y], [x]],
    lambda x, y: [[[x, y]], [[]]],
    lambda x, y: [x, [y]],
    lambda x, y: [x, True],
)


def converted(function, value, dtype):
    try:
        array = function(value, dtype)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return array.dtype, array.shape, array.tobytes()


@pytest.mark.parametrize("dtype", [None, "float32", "float64", "float16", "int32", "int64", "bool"])
def test_numbers_become_what_values_of_any_kind_do(dtype):
    """Most numbers go a short way."""
    dtype = None if dtype is None else tf.as_dtype(dtype)
    for x, y in itertools.product(NUMBERS, NUMBERS):
        for shape in SHAPES:
            value = shape(x, y)
            assert converted(convert.to_numpy, value, dtype) == converted(
                convert._anything, value, dtype
            )
    short = convert._numbers([[1.0, 2.0]], None), convert._numbers((1, 2), tf.float32)
    assert [array.dtype for array in short] == [np.float32] * 2


@pytest.mark.interpreted
def test_constants_of_the_host_are_folded_without_jax(deferred, monkeypatch):
    indices = tf.constant([2, 0])
    wanted = tf.one_hot(indices, 3).numpy()
    monkeypatch.setattr(jax, "default_device", None)
    monkeypatch.setattr(x64, "enable_x64", None)
    found = tf.one_hot(indices, 3)
    assert isinstance(found._array, np.ndarray)
    np.testing.assert_array_equal(found._array, wanted)


def test_a_range_of_ints_is_counted_at_once(monkeypatch):
    monkeypatch.setattr(creation, "known_sizes", None)
    for given in ((5,), (2, 5), (0, 7, 3), (7, 0, -3), (3, 3), (100,)):
        found = tf.range(*given)
        assert found.dtype is tf.int32 and found.numpy().tolist() == list(range(*given))


def test_dlpack_capsules():
    x = tf.constant([1.0, 2.0])
    capsule = tf.experimental.dlpack.to_dlpack(x)
    assert tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist() == [1.0, 2.0]
    y = tf.experimental.dlpack.from_dlpack(np.arange(3))
    assert y.dtype == tf.int64 and y.numpy().tolist() == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a TF tensor, not Python"):
        tf.experimental.dlpack.to_dlpack(1)


def test_what_is_symbolic():
    seen = []
    f = tf.function(lambda x: seen.append([tf.is_symbolic_tensor(v) for v in (x, 1, np.ones(2))]))
    f(tf.constant(1.0))
    assert seen == [[True, False, False]] and not tf.is_symbolic_tensor(tf.constant(1.0))


def test_types_and_versions():
    f = tf.function(lambda: 1)
    assert isinstance(f, tf.types.experimental.GenericFunction)
    assert isinstance(f, tf.types.experimental.PolymorphicFunction)
    assert isinstance(f.get_concrete_function(), tf.types.experimental.ConcreteFunction)
    assert tf.version.VERSION.split(".")[0] == "2" and tf.version.GIT_VERSION
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.get_current_name_scope() == "a/b"
    assert tf.get_current_name_scope() == ""

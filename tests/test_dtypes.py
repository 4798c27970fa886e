"""DType objects: identity, names, kinds, ranges. Expected values are TensorFlow 2.21's."""

import copy
import pickle
import re

import ml_dtypes
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import dtypes

ALL = list(dict.fromkeys(v for v in vars(dtypes).values() if isinstance(v, tf.DType)))

# name, number, NumPy type, bytes
TABLE = [
    ("float32", 1, np.float32, 4),
    ("float64", 2, np.float64, 8),
    ("int32", 3, np.int32, 4),
    ("uint8", 4, np.uint8, 1),
    ("int16", 5, np.int16, 2),
    ("int8", 6, np.int8, 1),
    ("string", 7, object, 0),
    ("complex64", 8, np.complex64, 8),
    ("int64", 9, np.int64, 8),
    ("bool", 10, np.bool_, 1),
    ("bfloat16", 14, ml_dtypes.bfloat16, 2),
    ("uint16", 17, np.uint16, 2),
    ("complex128", 18, np.complex128, 16),
    ("float16", 19, np.float16, 2),
    ("uint32", 22, np.uint32, 4),
    ("uint64", 23, np.uint64, 8),
]
FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("name, number, np_type, size", TABLE)
def test_names_numbers_and_numpy_types(name, number, np_type, size):
    dtype = getattr(tf, name)
    assert (dtype.name, repr(dtype), str(dtype)) == (name, f"tf.{name}", f"<dtype: '{name}'>")
    assert dtype.as_datatype_enum == int(dtype) == hash(dtype) == number
    assert dtype.as_numpy_dtype is np_type
    assert dtype.np_dtype == np.dtype(np_type)
    assert dtype.size == size
    assert dtype.base_dtype is dtype


@pytest.mark.parametrize("dtype", ALL, ids=repr)
def test_each_dtype_is_one_object(dtype):
    for same in (
        pickle.loads(pickle.dumps(dtype)),
        copy.copy(dtype),
        copy.deepcopy(dtype),
        tf.DType(dtype.as_datatype_enum),
        tf.as_dtype(dtype.name),
        tf.as_dtype(dtype),
    ):
        assert same is dtype


@pytest.mark.parametrize("dtype", ALL, ids=repr)
def test_kinds_exclude_each_other(dtype):
    kinds = ("floating", "integer", "complex", "bool", "quantized")
    assert sum(getattr(dtype, f"is_{kind}") for kind in kinds) <= 1
    assert dtype.is_unsigned <= dtype.is_integer
    assert dtype.trainable == (dtype.is_floating or dtype.is_complex)


def test_kinds():
    assert [d.name for d in ALL if d.is_floating and d.is_numeric] == [
        *("float32", "float64", "bfloat16", "float16")
    ]
    assert {d.name for d in ALL if d.is_unsigned and d.is_numeric} == set(UNSIGNED)
    assert {d.name for d in ALL if d.is_integer and d.is_numeric} == {*SIGNED, *UNSIGNED}
    assert {d.name for d in ALL if d.is_complex} == {"complex64", "complex128"}
    assert [d.name for d in ALL if d.is_bool] == ["bool"]
    assert {d.name for d in ALL if d.is_quantized} == {*("qint8", "qint16", "qint32")} | {
        *("quint8", "quint16")
    }
    assert [d.name for d in ALL if not d.is_numpy_compatible] == ["resource", "variant"]
    assert not (tf.bool.is_numeric or tf.string.is_numeric or tf.resource.is_numeric)


@pytest.mark.parametrize("name", SIGNED + UNSIGNED)
def test_range_of_integers(name):
    dtype, info = getattr(tf, name), np.iinfo(name)
    assert (dtype.min, dtype.max, dtype.limits) == (info.min, info.max, (0, info.max))


@pytest.mark.parametrize("name", FLOATS)
def test_range_of_floats(name):
    dtype = getattr(tf, name)
    info = ml_dtypes.finfo(dtype.np_dtype)
    assert (dtype.min, dtype.max) == (info.min, info.max)
    assert dtype.min == -dtype.max


def test_ranges_that_do_not_exist():
    for name in ("bool", "string", "complex64", "qint8", "resource"):
        dtype = getattr(dtypes, name)
        with pytest.raises(TypeError, match=f"Cannot find minimum value of <dtype: '{name}'>"):
            dtype.min
        with pytest.raises(TypeError, match=f"Cannot find maximum value of <dtype: '{name}'>"):
            dtype.max
    assert (tf.float32.limits, tf.float64.limits, tf.bool.limits) == ((0, 1), (0, 1), (0, True))
    with pytest.raises(ValueError, match="does not have defined limits"):
        tf.float16.limits
    with pytest.raises(KeyError, match="resource"):
        tf.resource.as_numpy_dtype


def test_real_dtype():
    assert tf.complex64.real_dtype is tf.float32
    assert tf.complex128.real_dtype is tf.float64
    assert tf.int8.real_dtype is tf.int8


@pytest.mark.parametrize(
    "value, name",
    [
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        (np.float32, "float32"),
        (np.dtype(">i4"), "int32"),
        (np.dtype("U3"), "string"),
        (np.dtype("S4"), "string"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.intc, "int32"),
        (np.longlong, "int64"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.array(1.0), "float64"),
        (1, "float32"),
        (np.dtype([("qint8", np.int8)]), "qint8"),
    ],
    ids=repr,
)
def test_as_dtype(value, name):
    assert tf.as_dtype(value) is getattr(dtypes, name)


@pytest.mark.parametrize(
    "value",
    [
        *("foo", "int", "complex", "f4", "S", int, str, bytes, complex, list, None, 3.5, -1, 1000),
        *(np.longdouble, np.datetime64, np.void, np.generic, [1], np.dtype([("a", np.int32)])),
    ],
    ids=repr,
)
def test_what_names_no_dtype(value):
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`: "):
        tf.as_dtype(value)
    assert (tf.float32 == value) is False
    assert (tf.float32 != value) is True


def test_equality():
    for same in ("float32", "float", np.float32, np.dtype("float32"), float, 1, tf.float32):
        assert tf.float32 == same
        assert not tf.float32 != same
    assert tf.float32 != np.float64
    assert tf.float32 != tf.float64
    assert tf.float32 in {tf.float32: 1}
    assert tf.float32.is_compatible_with("float32")
    assert not tf.float32.is_compatible_with(tf.float64)
    with pytest.raises(TypeError, match="Cannot convert the argument"):
        tf.float32.is_compatible_with("foo")


def test_there_is_no_arithmetic_and_no_such_number():
    with pytest.raises(TypeError):
        tf.int32 + 1
    with pytest.raises(TypeError, match="99 does not correspond to a valid"):
        tf.DType(99)


def test_from_numpy():
    assert dtypes.from_numpy(np.dtype("float32")) is tf.float32
    assert dtypes.from_numpy(np.dtype("<U7")) is tf.string
    assert dtypes.from_numpy(np.dtype(">f8")) is tf.float64
    with pytest.raises(TypeError, match="M8"):
        dtypes.from_numpy(np.dtype("datetime64[s]"))


def test_supertypes():
    assert tf.float32.most_specific_common_supertype([tf.float32]) is tf.float32
    assert tf.float32.most_specific_common_supertype([tf.float64]) is None
    assert tf.float32.is_subtype_of(tf.float32)
    assert not tf.float32.is_subtype_of(tf.float64)


@pytest.mark.modeless
def test_bfloat16_adds_up_in_float32():
    """A sum, and the gradients of what is spread over rows."""
    b = tf.Variable(tf.zeros([8], tf.bfloat16))

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.nn.bias_add(x + b, b) * tf.maximum(b, 1)
            total = tf.reduce_sum(y) + tf.reduce_sum(y * b)
        return tape.gradient(total, b), total

    x = tf.ones([300, 8], tf.bfloat16)
    text = step.experimental_get_compiler_ir(x)(stage="hlo")
    assert re.search(r"= f32\S* reduce\(", text)
    assert not re.search(r"= bf16\S* reduce\(", text)
    gradient, total = step(x)
    assert gradient.numpy().tolist() == [900.0] * 8 and float(total) == 2400.0


def test_names_are_looked_up_at_once(monkeypatch):
    """Keras compares dtypes with names some hundred times a step."""
    monkeypatch.setattr(dtypes, "from_numpy", None)
    monkeypatch.setattr(dtypes, "as_dtype", None)
    assert tf.float64 == "double" and "float64" == tf.float64
    assert tf.float64 != "float32" and tf.float64 != "no dtype"

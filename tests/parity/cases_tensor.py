"""Making tensors: constants, conversion, casts, text, attributes, Python protocols."""

import copy
import gc
import hashlib
import pickle
import sys
import warnings
import weakref

import numpy as np

from tape_compat._src.core.native import FASTPATH

from .harness import attempt, attempts, options

DTYPES = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
    "complex64 complex128"
).split()
NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]
NUMBERS = {
    "bool": True,
    "int": 3,
    "negative int": -3,
    "big int": 3_000_000_000,
    "huge int": 2**64,
    "float": 1.5,
    "big float": 1e300,
    "inf": float("inf"),
    "nan": float("nan"),
    "complex": 1 + 2j,
    "string": "abc",
    "bytes": b"abc",
    "unicode": "größe",
    "none": None,
    "list": [1, 2],
    "mixed list": [1, 2.5],
    "bool and int": [True, 2],
    "int and bool": [1, True],
    "float and complex": [1.5, 2j],
    "nested": [[1, 2], [3, 4]],
    "tuple": ((1.0,), (2.0,)),
    "empty": [],
    "nested empty": [[], []],
    "ragged": [[1], [2, 3]],
    "strings": ["a", "bc"],
    "int and string": [1, "a"],
    "string and int": ["a", 1],
    "range": range(4),
    "set": {1},
    "dict": {"a": 1},
    "object": object(),
    "numpy list": [np.float64(1.0), np.float64(2.0)],
    "numpy arrays in list": [np.ones(2), np.zeros(2)],
    "numpy float32 scalar": np.float32(1.5),
    "numpy int64 scalar": np.int64(5),
    "numpy bool scalar": np.bool_(True),
    "numpy str": np.array(["a", "b"]),
    "numpy object": np.array(["a", "b"], dtype=object),
    "numpy 0d": np.array(2.0),
    "numpy empty": np.zeros((0, 3)),
    "numpy strided": np.arange(6.0)[::2],
    "numpy transposed": np.arange(6.0).reshape(2, 3).T,
    "numpy big endian": np.array([1.0, 2.0], dtype=">f4"),
}


def _made(name, value, words=3, **settings):
    def case(tf):
        return attempt(lambda: getattr(tf, name)(value, **settings), words=words)

    return case


def _table(programs, words=None):
    def case(tf):
        return attempts(tf, programs, words)

    return case


CASES = {}
for _name, _value in NUMBERS.items():
    CASES[f"constant {_name}"] = _made("constant", _value)
for _name in ("int", "float", "complex", "string", "none", "mixed list", "numpy list", "object"):
    CASES[f"convert {_name}"] = _made("convert_to_tensor", NUMBERS[_name])


def _to_every_dtype(value):
    def case(tf):
        names = [n for n in DTYPES if not (n == "uint64" and value == -3)]  # that one is random
        return {n: attempt(lambda n=n: tf.constant(value, dtype=n), words=2) for n in names}

    return case


for _name in ("bool", "int", "negative int", "float", "inf", "complex", "string", "mixed list"):
    CASES[f"every dtype of {_name}"] = _to_every_dtype(NUMBERS[_name])
for _name in ("numpy float32 scalar", "numpy int64 scalar", "numpy bool scalar", "numpy 0d"):
    CASES[f"every dtype of {_name}"] = _to_every_dtype(NUMBERS[_name])


def _numpy_kept(name):
    def case(tf):
        array = np.array([[0, 1], [2, 3]]).astype(name)
        return tf.constant(array), tf.convert_to_tensor(array), tf.Variable(array).dtype

    return case


for _name in NUMPY_DTYPES:
    CASES[f"numpy {_name} kept"] = _numpy_kept(_name)


def _cast_from(name):
    def case(tf):
        if name in ("bool", "uint8", "uint16", "uint32", "uint64"):
            x = tf.cast(tf.constant([0, 1, 2]), name)
        else:
            x = tf.cast(tf.constant([0.0, 1.75, -2.5]), name)
        return {n: attempt(lambda n=n: tf.cast(x, n)) for n in DTYPES if (name, n) not in UNDEFINED}

    return case


UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
# What a negative float becomes as an unsigned integer is the machine's choice.
UNDEFINED = {(a, b) for a in ("float16", "bfloat16", "float32", "float64") for b in UNSIGNED} | {
    (a, b) for a in ("complex64", "complex128") for b in UNSIGNED
}
for _name in DTYPES:
    CASES[f"cast from {_name}"] = _cast_from(_name)

CASES |= {
    "cast arguments": _table(
        {
            "python": lambda tf: tf.cast(2.7, tf.int32),
            "list": lambda tf: tf.cast([1, 0], tf.bool),
            "numpy": lambda tf: tf.cast(np.array([1.5]), tf.float32),
            "same": lambda tf: tf.cast(tf.constant(1.0), tf.float32),
            "to string": lambda tf: tf.cast(tf.constant(1.0), tf.string),
            "from string": lambda tf: tf.cast(tf.constant("1"), tf.float32),
            "bad dtype": lambda tf: tf.cast(1.0, "nonsense"),
            "python type": lambda tf: tf.cast(1.7, int),
            "python float": lambda tf: tf.cast(1, float),
            "numpy dtype": lambda tf: tf.cast(1, np.float64),
            "empty": lambda tf: tf.cast([], tf.int32),
            "overflow": lambda tf: tf.cast(tf.constant([300, -1]), tf.uint8),
            "int to int8": lambda tf: tf.cast(tf.constant([130, -130]), tf.int8),
            "to bool of halves": lambda tf: tf.cast(tf.constant([0.5, 0.0, -0.1]), tf.bool),
        },
        words=3,
    ),
    "saturate_cast": _table(
        {
            "to uint8": lambda tf: tf.saturate_cast(tf.constant([300, -1, 7]), tf.uint8),
            "float": lambda tf: tf.saturate_cast(tf.constant([1e10, -1e10, 2.5]), tf.int32),
            "integers to half": lambda tf: tf.saturate_cast([65504, -(2**31), 65535], tf.float16),
            "uint16 to half": lambda tf: tf.saturate_cast(
                tf.constant([65535, 3], tf.uint16), tf.float16
            ),
            "infinities": lambda tf: [
                tf.saturate_cast(tf.constant([np.inf, -np.inf, 1.5, np.nan], d), d)
                for d in ("float16", "float32", "float64")
            ],
        }
    ),
    "constant shape": _table(
        {
            "fill": lambda tf: tf.constant(7, shape=(2, 3)),
            "reshape": lambda tf: tf.constant([1, 2, 3, 4], shape=[2, 2]),
            "same": lambda tf: tf.constant([1.0, 2.0], shape=[2]),
            "empty": lambda tf: tf.constant([], shape=(0, 3)),
            "scalar to empty": lambda tf: tf.constant(1.0, shape=(0,)),
            "too few": lambda tf: tf.constant([1, 2, 3], shape=[2, 2]),
            "too many": lambda tf: tf.constant([1, 2, 3], shape=[2]),
            "one to scalar": lambda tf: tf.constant([5], shape=()),
            "list of one": lambda tf: tf.constant([5], shape=[3]),
            "tensorshape": lambda tf: tf.constant(1.0, shape=tf.TensorShape([2])),
            "string": lambda tf: tf.constant("a", shape=[2]),
            "int": lambda tf: tf.constant(1.0, shape=3),
            "numpy": lambda tf: tf.constant(np.arange(4), shape=(2, 2)),
        },
        words=3,
    ),
    "constant of tensor": _table(
        {
            "same": lambda tf: tf.constant(tf.constant([1.0])),
            "other dtype": lambda tf: tf.constant(tf.constant([1.0]), dtype=tf.float64),
            "variable": lambda tf: tf.constant(tf.Variable([1.0])),
        },
        words=3,
    ),
    "convert": _table(
        {
            "list of tensors": lambda tf: tf.convert_to_tensor([tf.constant(1.0), 2.0]),
            "list of variables": lambda tf: tf.convert_to_tensor(
                [tf.Variable(1.0), tf.Variable(2.0)]
            ),
            "nested tensors": lambda tf: tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]]),
            "mixed dtypes": lambda tf: tf.convert_to_tensor([tf.constant(1), tf.constant(1.0)]),
            "same tensor": lambda tf: (lambda x: tf.convert_to_tensor(x) is x)(tf.constant(1.0)),
            "other dtype": lambda tf: tf.convert_to_tensor(tf.constant(1.0), dtype=tf.int32),
            "same dtype": lambda tf: tf.convert_to_tensor(tf.constant(1.0), dtype=tf.float32),
            "hint": lambda tf: tf.convert_to_tensor([1, 2], dtype_hint=tf.float32),
            "hint ignored": lambda tf: tf.convert_to_tensor([1.5, 2], dtype_hint=tf.int32),
            "int as float": lambda tf: tf.convert_to_tensor(3, dtype=tf.float32),
            "float as int": lambda tf: tf.convert_to_tensor(3.5, dtype=tf.int32),
            "shape": lambda tf: tf.convert_to_tensor(tf.TensorShape([2, 3])),
            "unknown shape": lambda tf: tf.convert_to_tensor(tf.TensorShape([2, None])),
            "dtype object": lambda tf: tf.convert_to_tensor(tf.float32),
            "generator": lambda tf: tf.convert_to_tensor(i for i in range(3)),
            "numpy int32": lambda tf: tf.convert_to_tensor(np.int32([1, 2]), dtype=tf.float32),
            "numpy float64 as 32": lambda tf: tf.convert_to_tensor(
                np.array([0.1]), dtype=tf.float32
            ),
            "bool as float": lambda tf: tf.convert_to_tensor(True, dtype=tf.float32),
            "none in list": lambda tf: tf.convert_to_tensor([1.0, None]),
        },
        words=3,
    ),
    "attributes": _table(
        {
            "shape": lambda tf: tf.zeros([2, 3]).shape,
            "dtype": lambda tf: tf.zeros([2]).dtype,
            "ndim": lambda tf: tf.zeros([2, 3]).ndim,
            "get_shape": lambda tf: tf.zeros([2, 3]).get_shape(),
            "device": lambda tf: tf.zeros([2]).device,
            "set_shape": lambda tf: tf.zeros([2]).set_shape([2]),
            "set_shape wrong": lambda tf: tf.zeros([2]).set_shape([3]),
            "unknown": lambda tf: tf.zeros([2]).colour,
            "reshape": lambda tf: tf.zeros([2]).reshape,
            "astype": lambda tf: tf.zeros([2]).astype,
            "T": lambda tf: tf.zeros([2]).T,
            "ravel": lambda tf: tf.zeros([2]).ravel,
            "size": lambda tf: tf.zeros([2]).size,
            "tolist": lambda tf: tf.zeros([2]).tolist,
            "any": lambda tf: tf.zeros([2]).any,
            "name": lambda tf: tf.zeros([2]).name,
            "set dtype": lambda tf: setattr(tf.zeros([2]), "dtype", tf.int32),
            "set shape": lambda tf: setattr(tf.zeros([2]), "shape", (1,)),
            "is_tensor": lambda tf: [
                tf.is_tensor(x) for x in (tf.zeros([]), tf.Variable(1.0), np.ones(2), 1.0, None)
            ],
            "isinstance": lambda tf: isinstance(tf.zeros([]), tf.Tensor),
            "constructor": lambda tf: tf.Tensor(1.0),
        },
        words=0,
    ),
    "python protocols": _table(
        {
            "float": lambda tf: float(tf.constant(2.5)),
            "float of int": lambda tf: float(tf.constant(2)),
            "float of one": lambda tf: float(tf.constant([2.5])),
            "float of two": lambda tf: float(tf.constant([2.5, 3.5])),
            "float of string": lambda tf: float(tf.constant("a")),
            "int": lambda tf: int(tf.constant(2)),
            "int of float": lambda tf: int(tf.constant(2.7)),
            "int of vector": lambda tf: int(tf.constant([2, 3])),
            "complex": lambda tf: complex(tf.constant(1 + 2j)),
            "index": lambda tf: [10, 20, 30][tf.constant(1)],
            "index of float": lambda tf: [10, 20, 30][tf.constant(1.0)],
            "range": lambda tf: list(range(tf.constant(3))),
            "bool true": lambda tf: bool(tf.constant(2.0)),
            "bool false": lambda tf: bool(tf.constant(0)),
            "bool of one": lambda tf: bool(tf.constant([1])),
            "bool of two": lambda tf: bool(tf.constant([True, False])),
            "bool of empty": lambda tf: bool(tf.constant([])),
            "bool of string": lambda tf: bool(tf.constant("")),
            "len": lambda tf: len(tf.zeros([3, 2])),
            "len of scalar": lambda tf: len(tf.constant(1.0)),
            "iterate": lambda tf: list(tf.constant([[1, 2], [3, 4]])),
            "iterate scalar": lambda tf: list(tf.constant(1.0)),
            "iterate empty": lambda tf: list(tf.zeros([0, 2])),
            "unpack": lambda tf: (lambda a, b: [b, a])(*tf.constant([1, 2])),
            "in": lambda tf: 1 in tf.constant([1, 2]),
            "in list": lambda tf: tf.constant(1) in [tf.constant(2), tf.constant(1)],
            "hash": lambda tf: hash(tf.constant(1.0)),
            "divmod": lambda tf: divmod(tf.constant(7), 2),
            "sum": lambda tf: sum(tf.constant([1.0, 2.0])),
            "max": lambda tf: max(tf.constant([1.0, 2.0])),
            "sorted": lambda tf: sorted(tf.constant([3.0, 2.0])),
            "reversed": lambda tf: list(reversed(tf.constant([3.0, 2.0]))),
            "not": lambda tf: not tf.constant(0.0),
            "and": lambda tf: tf.constant(1.0) and tf.constant(2.0),
            "set item": lambda tf: tf.constant([1.0]).__setitem__(0, 2.0),
            "call": lambda tf: tf.constant([1.0])(),
        },
        words=3,
    ),
    "format": _table(
        {
            "float spec": lambda tf: f"{tf.constant(2.5):.3f}",
            "int spec": lambda tf: f"{tf.constant(25):05d}",
            "vector spec": lambda tf: f"{tf.constant([2.5, 1.0]):.3f}",
            "plain": lambda tf: f"{tf.constant(2.5)}",
            "plain vector": lambda tf: f"{tf.constant([1, 2])}",
            "repr": lambda tf: f"{tf.constant(2.5)!r}",
            "percent": lambda tf: "%.2f" % tf.constant(2.5),  # noqa: UP031
            "str method": lambda tf: "{:>6.2f}".format(tf.constant(2.5)),  # noqa: UP032
        },
        words=3,
    ),
    "numpy protocols": _table(
        {
            "asarray": lambda tf: np.asarray(tf.constant([[1.0, 2.0]])),
            "asarray dtype": lambda tf: np.asarray(tf.constant([1.5]), dtype=np.int32),
            "array": lambda tf: np.array(tf.constant([1, 2])),
            "array of list": lambda tf: np.array([tf.constant(1.0), tf.constant(2.0)]),
            "numpy": lambda tf: tf.constant([1.5]).numpy(),
            "numpy scalar": lambda tf: tf.constant(1.5).numpy(),
            "numpy bool": lambda tf: tf.constant(True).numpy(),
            "numpy string": lambda tf: tf.constant("abc").numpy(),
            "numpy strings": lambda tf: tf.constant(["a", "b"]).numpy(),
            "np.mean": lambda tf: np.mean(tf.constant([1.0, 2.0])),
            "np.add": lambda tf: np.add(tf.constant([1.0, 2.0]), 1),
            "np.exp": lambda tf: np.exp(tf.constant([0.0])),
            "np.concatenate": lambda tf: np.concatenate([tf.constant([1.0]), tf.constant([2.0])]),
            "np.float32": lambda tf: np.float32(tf.constant(1.5)),
            "np left": lambda tf: np.ones(2, np.float32) * tf.constant([2.0, 3.0]),
            "np scalar left": lambda tf: np.float32(2.0) * tf.constant([2.0, 3.0]),
            "np left float64": lambda tf: np.ones(2) * tf.constant([2.0, 3.0]),
            "np index": lambda tf: np.arange(5)[tf.constant([1, 3])],
            "np array equal": lambda tf: np.array_equal(tf.constant([1.0]), np.ones(1)),
            "np shape": lambda tf: np.shape(tf.zeros([2, 3])),
            "writable": lambda tf: tf.constant([1.0]).numpy().flags.writeable,
            "numpy of bfloat16": lambda tf: tf.constant([1.5], tf.bfloat16).numpy(),
        },
        words=0,
    ),
    "conversion of shapes": _table(
        {
            "list": lambda tf: tf.zeros([2, 3]).shape.as_list(),
            "tuple": lambda tf: tuple(tf.zeros([2, 3]).shape),
            "index": lambda tf: tf.zeros([2, 3]).shape[1],
            "slice": lambda tf: tf.zeros([2, 3, 4]).shape[1:],
            "rank": lambda tf: tf.zeros([2, 3]).shape.rank,
            "len": lambda tf: len(tf.zeros([2, 3]).shape),
            "num_elements": lambda tf: tf.zeros([2, 3]).shape.num_elements(),
            "equal": lambda tf: [tf.zeros([2]).shape == s for s in ([2], (2,), 2, [3], None)],
            "compatible": lambda tf: tf.TensorShape([None, 3]).is_compatible_with([2, 3]),
            "merge": lambda tf: tf.TensorShape([None, 3]).merge_with([2, None]),
            "merge wrong": lambda tf: tf.TensorShape([2]).merge_with([3]),
            "concatenate": lambda tf: tf.TensorShape([2]).concatenate([None, 3]),
            "add": lambda tf: tf.TensorShape([2]) + [3],
            "radd": lambda tf: [2] + tf.TensorShape([3]),
            "repr": lambda tf: repr(tf.TensorShape([2, None])),
            "str": lambda tf: [str(tf.TensorShape(s)) for s in ([2, None], None, [], 3)],
            "unknown rank": lambda tf: tf.TensorShape(None).rank,
            "unknown len": lambda tf: len(tf.TensorShape(None)),
            "defined": lambda tf: [
                tf.TensorShape(s).is_fully_defined() for s in ([2], [None], None)
            ],
            "assert": lambda tf: tf.TensorShape([None]).assert_is_fully_defined(),
            "rank at least": lambda tf: tf.TensorShape([2]).with_rank_at_least(2),
            "with rank": lambda tf: tf.TensorShape([2]).with_rank(2),
            "iterate": lambda tf: list(tf.TensorShape([2, None])),
            "negative": lambda tf: tf.TensorShape([-1]),
            "string": lambda tf: tf.TensorShape("ab"),
            "bool": lambda tf: [bool(tf.TensorShape(s)) for s in ([], [2], None)],
            "hash": lambda tf: hash(tf.TensorShape([2])) == hash(tf.TensorShape([2])),
            "most specific": lambda tf: tf.TensorShape([2, 3]).most_specific_compatible_shape(
                tf.TensorShape([2, 4])
            ),
            "from tensor": lambda tf: tf.TensorShape(tf.constant([2, 3])),
        },
        words=4,
    ),
    "tensor specs": _table(
        {
            "repr": lambda tf: repr(tf.TensorSpec([2, None], tf.float32, name="x")),
            "repr unnamed": lambda tf: repr(tf.TensorSpec([], tf.int32)),
            "from tensor": lambda tf: tf.TensorSpec.from_tensor(tf.zeros([2])),
            "equal": lambda tf: tf.TensorSpec([2], tf.int32) == tf.TensorSpec([2], tf.int32),
            "compatible": lambda tf: tf.TensorSpec([None]).is_compatible_with(tf.zeros([3])),
            "incompatible": lambda tf: tf.TensorSpec([2]).is_compatible_with(tf.zeros([3])),
            "fields": lambda tf: (lambda s: [s.shape, s.dtype, s.name])(tf.TensorSpec([2])),
        },
        words=3,
    ),
}

TEXTS = {
    "scalar float": lambda tf: tf.constant(36.0),
    "scalar int": lambda tf: tf.constant(3),
    "scalar int64": lambda tf: tf.constant(3, tf.int64),
    "scalar bool": lambda tf: tf.constant(True),
    "scalar string": lambda tf: tf.constant("abc"),
    "scalar unicode": lambda tf: tf.constant("größe"),
    "scalar complex": lambda tf: tf.constant(1 + 2j),
    "scalar complex64": lambda tf: tf.constant(1 + 2j, tf.complex64),
    "scalar float64": lambda tf: tf.constant(0.1, tf.float64),
    "scalar float16": lambda tf: tf.constant(0.5, tf.float16),
    "scalar bfloat16": lambda tf: tf.constant(1.5, tf.bfloat16),
    "scalar uint8": lambda tf: tf.constant(7, tf.uint8),
    "scalar third": lambda tf: tf.constant(1.0) / 3.0,
    "scalar large": lambda tf: tf.constant(1e10),
    "scalar small": lambda tf: tf.constant(1e-10),
    "nan": lambda tf: tf.constant(float("nan")),
    "inf": lambda tf: tf.constant([float("inf"), -1.0]),
    "vector": lambda tf: tf.constant([1.0, 2.5]),
    "int vector": lambda tf: tf.constant([1, 2, 3]),
    "bool vector": lambda tf: tf.constant([True, False]),
    "string vector": lambda tf: tf.constant(["a", "bc"]),
    "matrix": lambda tf: tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    "int matrix": lambda tf: tf.constant([[1, 2], [3, 4]]),
    "string matrix": lambda tf: tf.constant([["a"], ["b"]]),
    "cube": lambda tf: tf.zeros([2, 2, 2]),
    "empty vector": lambda tf: tf.constant([]),
    "empty matrix": lambda tf: tf.zeros([0, 3]),
    "empty strings": lambda tf: tf.constant([], tf.string),
    "long": lambda tf: tf.range(2000),
    "wide": lambda tf: tf.range(40),
    "mixed sizes": lambda tf: tf.constant([1e-5, 1.0, 1e5]),
    "negative": lambda tf: tf.constant([-1.5, 2.0]),
    "bfloat16 vector": lambda tf: tf.constant([1.5, 2.0, 0.1], tf.bfloat16),
    "float16 vector": lambda tf: tf.constant([1.5, 2.0, 0.1], tf.float16),
    "complex vector": lambda tf: tf.constant([1 + 2j, 3 - 1j]),
    "uint8 vector": lambda tf: tf.constant([1, 255], tf.uint8),
    "one column": lambda tf: tf.constant([[1.0], [2.0]]),
}


def _text(program):
    def case(tf):
        x = program(tf)
        return repr(x), str(x), f"{x}"

    return case


CASES |= {f"text of {name}": _text(program) for name, program in TEXTS.items()}
CASES |= {
    "dtype objects": _table(
        {
            "str": lambda tf: [str(getattr(tf, n)) for n in DTYPES] + [str(tf.string)],
            "repr": lambda tf: [repr(getattr(tf, n)) for n in DTYPES] + [repr(tf.string)],
            "name": lambda tf: [getattr(tf, n).name for n in DTYPES],
            "as_numpy_dtype": lambda tf: [
                getattr(tf, n).as_numpy_dtype for n in [*NUMPY_DTYPES, "string"]
            ],
            "size": lambda tf: [getattr(tf, n).size for n in DTYPES],
            "floating": lambda tf: [getattr(tf, n).is_floating for n in DTYPES],
            "integer": lambda tf: [getattr(tf, n).is_integer for n in DTYPES],
            "complex": lambda tf: [getattr(tf, n).is_complex for n in DTYPES],
            "unsigned": lambda tf: [getattr(tf, n).is_unsigned for n in DTYPES],
            "bool": lambda tf: [getattr(tf, n).is_bool for n in DTYPES],
            "enum": lambda tf: [getattr(tf, n).as_datatype_enum for n in DTYPES],
            "base": lambda tf: tf.float32.base_dtype,
            "real": lambda tf: [getattr(tf, n).real_dtype for n in DTYPES],
            "min": lambda tf: [attempt(lambda n=n: float(getattr(tf, n).min)) for n in DTYPES],
            "max": lambda tf: [attempt(lambda n=n: float(getattr(tf, n).max)) for n in DTYPES],
            "limits": lambda tf: [tf.uint8.limits, tf.int32.limits, tf.float32.limits],
            "as_dtype": lambda tf: [
                tf.as_dtype(x)
                for x in ("float32", np.float64, np.dtype("int8"), tf.int16, float, bool, "half")
            ],
            "as_dtype of int": lambda tf: tf.as_dtype(int),
            "as_dtype of str": lambda tf: tf.as_dtype(str),
            "as_dtype of complex": lambda tf: tf.as_dtype(complex),
            "as_dtype of object": lambda tf: tf.as_dtype(object),
            "as_dtype wrong": lambda tf: tf.as_dtype("float99"),
            "as_dtype none": lambda tf: tf.as_dtype(None),
            "as_dtype number": lambda tf: tf.as_dtype(1),
            "equal": lambda tf: [
                tf.float32 == x
                for x in ("float32", np.float32, np.dtype("float32"), tf.float32, tf.float64, "abc")
            ],
            "not equal": lambda tf: [tf.float32 != x for x in ("float32", tf.float64, None)],
            "equal none": lambda tf: tf.float32 == None,  # noqa: E711
            "in": lambda tf: [tf.float32 in (tf.float16, tf.float32), tf.int32 in [tf.float32]],
            "hash": lambda tf: {tf.float32: 1}[tf.as_dtype("float32")],
            "identity": lambda tf: tf.as_dtype("float32") is tf.float32,
            "aliases": lambda tf: [tf.double, tf.half, tf.dtypes.float32, tf.dtypes.DType],
            "compatible": lambda tf: tf.float32.is_compatible_with(tf.float32),
            "numpy zeros": lambda tf: np.zeros(1, tf.int16.as_numpy_dtype),
        },
        words=3,
    )
}


OVERFLOWS = {
    "constant": lambda tf, x: tf.constant(1e10, x.dtype),
    "list": lambda tf, x: tf.constant([1e10, 1], x.dtype),
    "variable": lambda tf, x: tf.Variable(1e10, dtype=x.dtype),
    "product": lambda tf, x: x * 1e10,
    "product reflected": lambda tf, x: 1e10 * x,
    "int": lambda tf, x: x + 10**6,
    "comparison": lambda tf, x: x < 1e10,
    "maximum": lambda tf, x: tf.maximum(x, 1e10),
    "leaky relu": lambda tf, x: tf.nn.leaky_relu(x, 1e10),
    "cast": lambda tf, x: tf.cast(1e10, x.dtype),
    "text": lambda tf, x: tf.strings.to_number("1e300"),
}


def case_numbers_that_overflow_are_no_warning(tf):
    x = tf.constant([1.0, 2.0], tf.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {name: attempt(program, tf, x) for name, program in OVERFLOWS.items()}


def case_copies(tf):
    x = tf.constant([1.0, 2.0])
    return copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))


def case_copy_of_nest(tf):
    x = tf.constant([1.0, 2.0])
    twin = copy.deepcopy({"a": [x, x]})
    return twin, twin["a"][0] is twin["a"][1]


def case_pickle_dtypes(tf):
    return [pickle.loads(pickle.dumps(tf.cast([0, 1], n))) for n in DTYPES], pickle.loads(
        pickle.dumps(tf.float32)
    )


def case_ref(tf):
    x, y = tf.constant(1.0), tf.constant(1.0)
    return {
        "equal": x.ref() == x.ref(),
        "differs": x.ref() == y.ref(),
        "deref": x.ref().deref() is x,
        "keys": len({x.ref(): 1, y.ref(): 2, x.ref(): 3}),
        "repr": repr(x.ref()).split("(")[0].split(" ")[0],
    }


def case_constant_is_a_copy(tf):
    array = np.array([1.0, 2.0], np.float32)
    x, y = tf.constant(array), tf.convert_to_tensor(array)
    array[0] = 100.0
    return x, attempt(lambda: y.shape)


def case_numpy_result_does_not_write_back(tf):
    x = tf.constant([1.0, 2.0])
    array = np.array(x)
    array[0] = 100.0
    return x


def case_strings_pass(tf):
    x = tf.constant(["a", "b", "c"])
    return x[1], x == "b", x == tf.constant(["a", "x", "c"]), x.numpy().tolist(), x[0].numpy()


def case_string_reshape(tf):
    return tf.reshape(tf.constant(["a", "b"]), [2, 1]), tf.shape(tf.constant(["a", "b"]))


def case_zero_d_numpy_types(tf):
    return [type(tf.cast(1, n).numpy()) for n in NUMPY_DTYPES]


def case_nest(tf):
    structure = {"b": [1, (2, 3)], "a": 4}
    nest = tf.nest
    return {
        "flatten": nest.flatten(structure),
        "map": nest.map_structure(lambda x: x * 10, structure),
        "map two": nest.map_structure(lambda x, y: x + y, structure, structure),
        "pack": nest.pack_sequence_as(structure, [1, 2, 3, 4]),
        "is_nested": [nest.is_nested(x) for x in ([1], (), {}, 1, "abc", tf.constant([1]))],
        "none": nest.flatten(None),
        "tensor": nest.flatten(tf.constant([1, 2])),
        "too few": attempt(lambda: nest.pack_sequence_as(structure, [1]), words=3),
        "different": attempt(lambda: nest.map_structure(lambda x, y: x, [1], [1, 2]), words=5),
        "same": attempt(lambda: nest.assert_same_structure([1, 2], [3, (4,)]), words=5),
        "types": attempt(lambda: nest.assert_same_structure([1, 2], (3, 4)), words=5),
        "types ignored": nest.assert_same_structure([1, 2], (3, 4), check_types=False),
    }


def case_executing_eagerly(tf):
    return tf.executing_eagerly(), tf.inside_function()


def case_constant_keywords(tf):
    return tf.constant(1.0, name="x"), tf.constant(value=[1], dtype="int64", shape=[1], name="y")


@options(words=3)
def case_errors_classes(tf):
    names = "InvalidArgumentError OutOfRangeError NotFoundError UnimplementedError OpError".split()
    found = []
    for name in names:
        cls = getattr(tf.errors, name)
        found.append(
            (cls.__name__, issubclass(cls, tf.errors.OpError), issubclass(cls, ValueError))
        )
    error = tf.errors.InvalidArgumentError(None, None, "the message")
    return found, error.message, error.error_code, error.op, error.node_def, str(error)


def case_name_scope(tf):
    with tf.name_scope("a") as first, tf.name_scope("b") as second:
        return first, second


def case_device_scope(tf):
    with tf.device("/CPU:0"):
        return tf.constant(1.0) + 1.0


def case_device_that_is_not_there(tf):
    found = []
    for name in ("/GPU:0", "gpu:7", "/device:TPU:0", "/cpu:3"):
        with tf.device(name):
            found.append(tf.constant(1.0) + 1.0)
    return found, tf.config.get_soft_device_placement()


def case_when_and_where_ops_are_done(tf):
    config = tf.config.experimental
    found = [config.get_synchronous_execution(), config.get_device_policy()]
    for enable in (False, True):
        config.set_synchronous_execution(enable)
        found += [config.get_synchronous_execution(), tf.constant(1.0) + 1.0]
    for policy in (None, "silent"):
        config.set_device_policy(policy)
        found.append(config.get_device_policy())
    return found, attempts(tf, {"unknown": lambda tf: config.set_device_policy("x")})


def case_get_static_value(tf):
    return tf.get_static_value(tf.constant([1, 2])), tf.get_static_value(3)


def case_debugging(tf):
    d = tf.debugging
    return attempts(
        tf,
        {
            "equal": lambda tf: d.assert_equal(tf.constant(1), 1),
            "equal fails": lambda tf: d.assert_equal(tf.constant(1), 2),
            "near": lambda tf: d.assert_near(tf.constant(1.0), 1.0 + 1e-8),
            "less fails": lambda tf: d.assert_less(tf.constant([1, 5]), [2, 3]),
            "greater": lambda tf: d.assert_greater(tf.constant(1), 2),
            "positive": lambda tf: d.assert_positive(tf.constant([1.0, -1.0])),
            "non negative": lambda tf: d.assert_non_negative(tf.constant([1.0, 0.0])),
            "rank": lambda tf: d.assert_rank(tf.zeros([2, 2]), 1),
            "rank ok": lambda tf: d.assert_rank(tf.zeros([2, 2]), 2),
            "type": lambda tf: d.assert_type(tf.zeros([]), tf.int32),
            "shapes": lambda tf: d.assert_shapes([(tf.zeros([2, 3]), ("n", 4))]),
            "scalar": lambda tf: d.assert_scalar(tf.zeros([2])),
            "finite": lambda tf: d.assert_all_finite(tf.constant([1.0]), "bad"),
            "not finite": lambda tf: d.assert_all_finite(tf.constant([np.nan]), "bad"),
            "numerics": lambda tf: d.check_numerics(tf.constant([1.0]), "bad"),
            "numerics fails": lambda tf: d.check_numerics(tf.constant([np.inf]), "bad"),
            "assert": lambda tf: d.Assert(tf.constant(False), ["text"]),
            "assert ok": lambda tf: d.Assert(True, ["text"]),
        },
        words=1,
    )


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a nest": lambda x: copy.deepcopy({"a": [x, 1]})["a"][0],
    "cpu": lambda x: x.cpu(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}


def _copied_on_a_tape(copied):
    def case(tf):
        x, v = tf.constant([3.0, 4.0]), tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            c = copied(y)
            z = c * c + copied(x) + copied(v * 1.0) + copied(v[:])
        with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as acc:
            w = copied(x) * 2.0
        jacobian = tape.jacobian(c, x)
        return tape.gradient(z, [x, y, c, v]), jacobian, acc.jvp(w), c is y, c

    return case


CASES |= {f"{name} on a tape": _copied_on_a_tape(f) for name, f in COPIES.items()}


def case_deepcopy_of_slices(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [0])
        s = copy.deepcopy(tf.IndexedSlices(y * y, tf.constant([0])))
        z = s.values * 3.0
    return z, tape.gradient(z, v)


def case_deepcopy_of_variables(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        shallow, deep = copy.copy(v), copy.deepcopy({"v": [v, v * 1.0]})["v"]
        z = tf.reduce_sum(shallow * deep[0] * deep[1])
    v.assign([5.0, 6.0])
    return tape.gradient(z, [v, deep[0]]), deep[0], shallow


def case_copies_of_other_dtypes(tf):
    values = [tf.constant(["a", "b"]), tf.constant([True]), tf.constant(3), tf.zeros([0, 2])]
    return [[copy.deepcopy(x) is x, x.cpu(), x.cpu() is x] for x in values]


def _buffer(dtype):
    def case(tf):
        x = tf.cast(tf.constant([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), dtype)
        view = memoryview(x)
        return {
            "format": view.format,
            "size": (view.itemsize, view.nbytes, view.shape, view.strides),
            "flags": (view.readonly, view.c_contiguous),
            "bytes": (bytes(x), view.tobytes()),
            "scalar": (memoryview(x[0, 1]).shape, bytes(x[0, 1])),
            "empty": (memoryview(x[:0]).shape, bytes(x[:0])),
        }

    return case


_BUFFERS = "float16 bfloat16 float32 float64 int8 uint8 int32 int64 uint64 bool complex64".split()
if sys.version_info >= (3, 12) or FASTPATH is not None:
    CASES |= {f"buffer of {dtype}": _buffer(dtype) for dtype in _BUFFERS}

    def case_buffer_of_pending(tf):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            view = memoryview(y)
            z = y * 3.0
        return view.tolist(), tape.gradient(z, x), attempt(lambda: view.__setitem__(0, 5.0))

    def case_buffer_users(tf):
        x = tf.constant([1, 2])
        return {
            "hashlib": hashlib.sha1(x).hexdigest(),
            "bytearray": bytes(bytearray(x)),
            "frombuffer": np.frombuffer(x, np.int32),
            "join": b"".join([x, x]),
            "asarray": (np.asarray(x), np.asarray(x).flags.writeable),
            "array": (np.array(x), np.array(x).flags.writeable),
            "strings": np.asarray(tf.constant(["a", "b"])).tolist(),
            "nested": np.array([x, x]),
            "numbers": (float(tf.constant(3.0)), int(tf.constant(3)), [5, 6][tf.constant(1)]),
        }

    def case_buffers_lie_row_by_row(tf):
        views = [memoryview(x) for x in _transposed(tf)]
        return [(x.strides, x.c_contiguous, x.tobytes()) for x in views]

    def case_buffer_of_a_variables_value(tf):
        v = tf.Variable([1.0, 2.0])
        view = memoryview(v.read_value())
        for _ in range(3):
            v.assign_add([1.0, 1.0])
        return view.tolist(), v, attempt(lambda: memoryview(v), words=2)


def _transposed(tf):
    rows = np.arange(6.0).reshape(2, 3)
    x = tf.constant(rows)
    with tf.GradientTape() as tape:
        tape.watch(x)
        pending = tf.transpose(x)
    function = tf.function(tf.transpose)
    return [tf.transpose(x), pending, function(x), tf.constant(rows.T), tf.einsum("ij->ji", x)]


def case_arrays_lie_row_by_row(tf):
    tensors = _transposed(tf)
    arrays = [x.numpy() for x in tensors] + list(map(np.array, tensors))
    dataset = tf.data.Dataset.from_tensors(np.ones((3, 4)).T)
    arrays += [tf.Variable(tensors[0]).numpy(), *dataset.as_numpy_iterator()]
    arrays.append(tf.broadcast_to(tf.constant([1.0, 2.0]), [3, 2]).numpy())
    return [(x, x.strides) for x in arrays]


def case_references_as_weak_keys(tf):
    x, v = tf.constant(1.0), tf.Variable(1.0)
    keys = [x.ref(), v.ref()]
    kept = weakref.WeakKeyDictionary(zip(keys, "xv", strict=True))
    found = kept[x.ref()], kept[v.ref()], len(kept)
    del keys[0]
    gc.collect()
    return found, len(kept)


def case_device_specs(tf):
    spec = tf.DeviceSpec(job="worker", replica=0, task="3", device_type="gpu", device_index=1)
    names = (
        *("/gpu:0", "/cpu:*", "gpu:1", "", "/job:a", "/device:TPU:2", "/job:b/device:CPU:*"),
        *("/cpu:0/gpu:1", "/foo:1", "/device:GPU", "/job:a/task:x", "/replica:2/task:1/cpu"),
    )
    parsed = attempts(
        tf, {name: lambda tf, n=name: tf.DeviceSpec.from_string(n).to_string() for name in names}
    )
    cpu = tf.DeviceSpec(device_type="CPU")
    with tf.device(cpu):
        device = tf.constant(1.0).device
    return (
        parsed,
        spec.to_string(),
        repr(spec),
        spec == tf.DeviceSpec.from_string(spec.to_string()),
        hash(spec) == hash(spec.replace(job="worker")),
        (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index),
        spec.make_merged_spec(cpu).to_string(),
        cpu.make_merged_spec(spec).to_string(),
        spec.parse_from_string("/cpu:0").to_string(),
        tf.DeviceSpec.from_string(device) == tf.DeviceSpec.from_string(tf.Variable(1.0).device),
    )


def case_quantized_dtypes(tf):
    names = ("qint8", "qint16", "qint32", "quint8", "quint16")
    kinds = [getattr(tf, name) for name in names]
    return (
        [(kind.name, kind.size, kind.is_quantized, kind.is_integer) for kind in kinds],
        [tf.as_dtype(name) is kind for name, kind in zip(names, kinds, strict=True)],
        sorted({kind.name.removesuffix("_ref") for kind in tf.dtypes.QUANTIZED_DTYPES}),
    )


def case_private_numpy(tf):
    values = (tf.constant([1, 2]), tf.constant(2.0), tf.constant("a"), tf.constant(["a"]))
    return [(type(x._numpy()).__name__, x._numpy()) for x in values]


def case_whether_there_are_tpus(tf):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver
    return [
        attempt(make, words=9) for make in (resolver, lambda: resolver(tpu=""), resolver.connect)
    ]


def case_strategies_of_one_replica(tf):
    distribute = tf.distribute
    ops = (
        distribute.ReductionToOneDevice(),
        distribute.NcclAllReduce(),
        distribute.HierarchicalCopyAllReduce(num_packs=2),
    )
    strategies = [distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=each) for each in ops]
    strategies.append(distribute.experimental.CentralStorageStrategy())
    options = distribute.RunOptions(experimental_xla_options=tf.tpu.XLAOptions())
    found = []
    for strategy in strategies:
        with strategy.scope():
            v = tf.Variable(2.0)
        values = strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant([context.replica_id_in_sync_group + 3.0])
        )
        ran = strategy.run(lambda x: x * v, args=(values,), options=options)
        found.append((strategy.num_replicas_in_sync, strategy.reduce("sum", ran, axis=None)))
        found.append(strategy.experimental_local_results(values)[0])
    return (
        found,
        distribute.InputOptions()[1:],
        options,
        tf.compat.v1.distribute.experimental.CentralStorageStrategy().num_replicas_in_sync,
        distribute.experimental.CommunicationOptions is not None,
    )


def case_results_of_replicas(tf):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    default = tf.distribute.get_strategy()
    parts = default.extended, strategy.extended
    return (
        strategy.unwrap(3.0),
        strategy.experimental_local_results("a"),
        default.unwrap([1]),
        [(part.should_checkpoint, part.should_save_summary) for part in parts],
    )


def case_which_strategy_this_is_in(tf):
    distribute = tf.distribute

    def seen():
        return distribute.has_strategy(), type(distribute.get_strategy()).__name__

    one, default = distribute.OneDeviceStrategy("/cpu:0"), distribute.get_strategy()
    found = [seen()[0], one.run(seen), default.run(seen)[0], seen()[0]]
    with default.scope():
        found.append(seen()[0])
    with one.scope():
        found += [seen(), one.run(seen)]
    return found, one.run(tf.function(seen)), seen()[0]


def case_assertions_of_shapes_say_their_message(tf):
    x = tf.ones([2, 3])
    calls = [
        lambda: tf.debugging.assert_shapes([(x, ("N", ...))], message="first"),
        lambda: tf.debugging.assert_shapes([(x, 3)], message="second"),
        lambda: tf.debugging.assert_type(tf.sparse.from_dense([1.0]), tf.float32),
        lambda: tf.debugging.assert_type(tf.sparse.from_dense([1.0]), tf.int32, message="third"),
    ]
    return [attempt(call) for call in calls]


def case_texts_of_failed_assertions(tf):
    """The words as they are: texts as bytes, tolerances as tensors, where comparisons fail."""
    check, a, b = tf.debugging, tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
    calls = [
        lambda: check.Assert(False, ["a text", tf.constant([1, 2]), tf.constant("b")]),
        lambda: check.Assert(False, [tf.constant(["a", "bc"]), tf.range(9)], summarize=2),
        lambda: check.assert_near(a, b),
        lambda: check.assert_near(a, b, rtol=0.1, atol=0.2, message="far", summarize=1),
        lambda: check.assert_near(tf.constant([1.0 + 1j]), tf.constant([2.0 + 1j])),
        lambda: check.assert_near(1, 2),
        lambda: check.assert_less(b, a),
        lambda: check.assert_less_equal(b, a, message="more"),
        lambda: check.assert_greater(a, b, summarize=1),
        lambda: check.assert_greater_equal(a, b, summarize=0),
        lambda: check.assert_equal(a, b, summarize=0),
        lambda: check.assert_less(tf.constant(2), 1),
    ]
    return [attempt(call, words=80) for call in calls]


def case_near_without_tolerance(tf):
    """A difference equal to the tolerance is too much."""
    check = tf.debugging.assert_near
    bounds = [(0.0, 0.0), (0.0, 0.5), (0.0, 0.6)]
    return [
        [attempt(lambda: check(x, y, rtol=rtol, atol=atol), words=0) for rtol, atol in bounds]
        for x, y in ((1.0, 1.0), (1.0, 1.5))
    ]


def case_shapes_of_sparse_tensors_asserted(tf):
    x = tf.sparse.from_dense([[1, 0, 2]])
    check = tf.debugging
    calls = {
        "rank": lambda: check.assert_rank(x, 2),
        "other rank": lambda: check.assert_rank(x, 1),
        "ranks": lambda: check.assert_rank_in(x, [1, 2]),
        "other ranks": lambda: check.assert_rank_in(x, [0, 3]),
        "sizes": lambda: check.assert_shapes([(x, (1, "n")), (tf.zeros([3]), ("n",))]),
        "names": lambda: check.assert_shapes([(x, ("n", "n"))]),
        "other sizes": lambda: check.assert_shapes([(x, (1, 4))], message="here"),
    }

    def passed(call):
        call()
        return True

    return {name: attempt(passed, call, words=12) for name, call in calls.items()}

"""NumPy's dtypes, and which of them a result has.

Python's numbers are weak, as in NumPy: beside a tensor they take its dtype if it can hold them.
Alone they are of 64 bits, unless float32 is preferred.
"""

from __future__ import annotations

import numbers
from typing import Any, cast

import jax
import numpy as np

from ...core.caches import Cache
from ...core.dtypes import DType, as_dtype
from ...values import nest
from ...values.composite import TensorType
from ...values.indexed_slices import IndexedSlices
from ...values.tensor import Tensor

bool_ = np.bool_
complex64 = np.complex64
complex128 = np.complex128
complex_ = np.complex128
float16 = np.float16
float32 = np.float32
float64 = np.float64
float_ = np.float64
inexact = np.inexact
int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
int_ = np.int_
object_ = np.object_
string_ = np.bytes_
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
unicode_ = np.str_

e = np.e
inf = np.inf
newaxis = None
pi = np.pi

issubdtype = np.issubdtype


class _Preference:
    """Whether Python's floats are of 32 bits."""

    float32 = False


def prefer_float32(preferred: bool) -> None:
    """Say whether Python's floats and complex numbers are of 32 bits each rather than of 64."""
    _Preference.float32 = bool(preferred)


def python_float() -> DType:
    """The dtype of a Python float."""
    return as_dtype(np.float32 if _Preference.float32 else np.float64)


def numpy_dtype(dtype: Any) -> Any:
    """A dtype of TensorFlow's as NumPy's; another as it is."""
    return dtype.np_dtype if isinstance(dtype, DType) else dtype


def finfo(dtype: Any) -> np.finfo:
    """`numpy.finfo` of a floating dtype, given as NumPy's or TensorFlow's.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.finfo(tf.float32).eps)
    1.1920928955078125e-07
    """
    return np.finfo(numpy_dtype(dtype))


def iinfo(int_type: Any) -> np.iinfo:
    """`numpy.iinfo` of an integer dtype, given as NumPy's or TensorFlow's.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.iinfo(tf.int8).max)
    127
    """
    return np.iinfo(numpy_dtype(int_type))


def _for_numpy(value: Any) -> Any:
    """What `numpy.result_type` is told of a value: the dtype of tensors, numbers themselves."""
    if _Preference.float32 and isinstance(value, (float, complex)):
        return np.dtype(np.complex64 if isinstance(value, complex) else np.float32)
    if isinstance(value, numbers.Real):
        return value
    if isinstance(value, DType):
        return value.np_dtype
    if isinstance(value, (TensorType, IndexedSlices)) or hasattr(value, "_as_tensor"):
        kind = cast("Any", value).dtype
        return np.float64 if kind is None else as_dtype(kind).np_dtype
    return value.dtype if isinstance(value, jax.Array) else value


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that these arrays, numbers and dtypes have in common, by NumPy's rules.

    Raises: TypeError for what is none of them.

    >>> import tape_compat as tf
    >>> tnp = tf.experimental.numpy
    >>> tnp.result_type(1, 2.5), tnp.result_type(tf.float32, 2.5), tnp.result_type("int32", "f4")
    (tf.float64, tf.float32, tf.float64)
    """
    values = [_for_numpy(value) for value in nest.flatten(arrays_and_dtypes)]
    return as_dtype(np.result_type(*values) if values else np.float64)


#: The dtype that a tensor and another tensor, or a Python number, have in common.
_COMMON: Cache[tuple[DType, Any, bool], DType] = Cache("NumPy's common dtypes", 1024)


def common_type(x: Tensor, y: Any) -> DType:
    """`result_type` of a tensor and another operand."""
    kind = y._aval.dtype if y.__class__ is Tensor else y.__class__
    if kind.__class__ is not DType and kind not in (int, float, complex, bool):
        return result_type(x, y)
    key = (x._aval.dtype, kind, _Preference.float32)
    found = _COMMON.get(key)
    return _COMMON.put(key, result_type(x, y)) if found is None else found


def settles(x: Any, y: Any) -> bool:
    """Whether `x`, a tensor or variable, says of which dtype the Python number `y` is as it would
    do in any op: floats of 32 and 64 bits do."""
    kind = y.__class__
    return (kind is float or kind is int) and x.dtype.name in ("float32", "float64")


def promote_types(type1: Any, type2: Any) -> np.dtype:
    """The smallest dtype of NumPy's to which both can be cast safely.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.promote_types(tf.int32, "float32")
    dtype('float64')
    """
    return np.promote_types(numpy_dtype(type1), numpy_dtype(type2))


def result_type_of(value: Any, dtype: Any = None) -> DType:
    """The dtype of an array made of a value, or of `dtype` if there is one. Text is text."""
    if dtype is not None:
        return result_type(dtype)
    if isinstance(value, (str, bytes)):
        return as_dtype("string")
    return result_type(value)

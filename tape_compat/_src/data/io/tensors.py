"""`tf.make_tensor_proto` and `tf.make_ndarray`: tensors as messages."""

from __future__ import annotations

import math
import struct
from typing import Any, ClassVar

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.refuse import tf_dtype_name
from ...values.convert import convert
from ..structure import array_of
from . import wire
from .contents import parsed, serialized
from .fields import DATA, INT, TEXT, Doubles, Floats, Ints, Texts
from .messages import Message, Messages


class _Dim(Message):
    """A size, -1 for one that is unknown, and its name."""

    FIELDS: ClassVar = {"size": (1, INT), "name": (2, TEXT)}


class _Dims(Messages):
    KIND = _Dim


class TensorShapeProto(Message):
    """The sizes of a tensor."""

    FIELDS: ClassVar = {"dim": (2, _Dims), "unknown_rank": (3, INT)}
    Dim = _Dim


def _dtype_text(number: int) -> str:
    return f"DT_{tf_dtype_name(as_dtype(number)).upper()}" if number else "DT_INVALID"


class TensorProto(Message):
    """A tensor: its dtype as a number, its shape, and its elements in one of the other fields."""

    FIELDS: ClassVar = {
        "dtype": (1, INT._replace(shown=_dtype_text)),
        "tensor_shape": (2, TensorShapeProto),
        "version_number": (3, INT),
        "tensor_content": (4, DATA),
        "float_val": (5, Floats),
        "double_val": (6, Doubles),
        "int_val": (7, Ints),
        "string_val": (8, Texts),
        "scomplex_val": (9, Floats),
        "int64_val": (10, Ints),
        "bool_val": (11, Ints),
        "dcomplex_val": (12, Doubles),
        "half_val": (13, Ints),
        "uint32_val": (16, Ints),
        "uint64_val": (17, Ints),
    }


#: The fields of single elements, and what they are on the wire; None for integers.
_REAL = {"float32": (5, "<f"), "float64": (6, "<d"), "complex64": (9, "<2f")}
_REAL["complex128"] = (12, "<2d")
_WHOLE = {"int64": 10, "bool": 11, "float16": 13, "bfloat16": 13, "uint32": 16, "uint64": 17}
_INTS, _TEXTS = 7, 8
#: What is written by elements, however many there are.
_BY_ELEMENTS = frozenset(("bool", "complex64", "complex128"))


def make_ndarray(tensor: Any) -> np.ndarray:
    """The array of a `TensorProto`, of ours or of TensorFlow's.

    Raises: TypeError for one without a dtype.

    >>> import tape_compat as tf
    >>> tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    try:
        return parsed(tensor.SerializeToString())[0]
    except ValueError as error:
        raise TypeError(f"Unsupported tensor type: {error}") from None


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The `TensorProto` of a value.

    Args:
      dtype, shape: what it is to have; those of the value if None. A shape of more elements is
        filled with the last one.
      verify_shape: whether the value must have the shape already.
      allow_broadcast: whether a single element stands for all.
    Raises: TypeError, ValueError for a value that does not fit.

    >>> import tape_compat as tf
    >>> tf.make_tensor_proto(3)
    dtype: DT_INT32
    tensor_shape {
    }
    int_val: 3
    <BLANKLINE>
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    sizes = None if shape is None else tuple(map(int, shape))
    if sizes is not None and 0 in sizes and not isinstance(values, np.ndarray):
        values = np.zeros(sizes, np.float32 if dtype is None else as_dtype(dtype).np_dtype)
    tensor = convert(values, dtype)
    array = array_of(tensor)
    wanted = array.shape if sizes is None else sizes
    count = math.prod(wanted)
    if allow_broadcast:
        fits = array.shape in ((), (1,)) or array.size == count
    else:
        fits = not verify_shape or array.shape == wanted
    if not fits:
        raise TypeError(f"Expected Tensor's shape: {wanted}, but got {array.shape}.")
    if array.size > count:
        raise ValueError(
            f"Too many elements provided. Takes at most {count}, but got {array.size}."
        )
    if array.size == count != 1 and tensor.dtype.name not in _BY_ELEMENTS:
        message = serialized(array.reshape(wanted), tensor.dtype)
    else:
        message = _by_elements(array, wanted, tensor.dtype)
    found = TensorProto()
    found.ParseFromString(message)
    return found


def _by_elements(array: np.ndarray, shape: tuple[int, ...], dtype: DType) -> bytes:
    """A message of single elements; if they are fewer than the shape has, the last stands for the
    rest."""
    sizes = b"".join([wire.field(2, wire.number_field(1, size)) for size in shape])
    message = wire.number_field(1, dtype.as_datatype_enum) + wire.field(2, sizes)
    return message + b"".join([_single(element, dtype) for element in array.ravel()])


def _single(value: Any, dtype: DType) -> bytes:
    """The field of one element."""
    if dtype.name == "string":
        return wire.field(_TEXTS, value)
    if dtype.name in _REAL:
        number, form = _REAL[dtype.name]
        parts = (np.real(value), np.imag(value)) if dtype.is_complex else (value,)
        return wire.field(number, struct.pack(form, *map(float, parts)))
    if dtype.name in ("float16", "bfloat16"):
        value = value.view(np.uint16)
    return wire.field(_WHOLE.get(dtype.name, _INTS), wire.varint(int(value)))

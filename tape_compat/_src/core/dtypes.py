"""TensorFlow's dtypes: one `DType` object each, and the ways to name one."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["DType", "as_dtype", "from_numpy"]


class DType:
    """The type of the elements of a Tensor. There is one object for each dtype.

    Equal to whatever `as_dtype` turns into the same dtype: its name, a NumPy type, its number.

    Attributes (read only):
      name: str, such as 'float32'.
      as_datatype_enum: int, TensorFlow's number of the dtype.
      is_floating, is_integer, is_complex, is_bool, is_unsigned, is_quantized: bool.
      is_numeric: bool; True of all but bool, string, handles and the types below 16 bits that
        are not int8, uint8 or quantized.
      is_numpy_compatible: bool; False of resource and variant only.
      np_dtype: the `numpy.dtype` that holds such elements; object for strings and handles.
      trainable: bool; whether gradients flow through values of this dtype.

    >>> import tape_compat as tf
    >>> tf.float32, str(tf.float32), tf.float32 == "float32", tf.float32 == np.float32
    (tf.float32, "<dtype: 'float32'>", True, True)
    >>> tf.int8.min, tf.int8.max, tf.complex64.real_dtype
    (-128, 127, tf.float32)
    """

    name: str
    as_datatype_enum: int
    np_dtype: np.dtype[Any]
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_numeric: builtins.bool
    is_numpy_compatible: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    trainable: builtins.bool

    def __new__(cls, type_enum: int) -> DType:
        """The dtype with TensorFlow's number `type_enum`; TypeError if there is none."""
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(
                f"{type_enum} does not correspond to a valid tensorflow::DataType"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        _check_own(name, "setter")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _check_own(name, "deleter")
        object.__delattr__(self, name)

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type: `numpy.float32`, `object` for strings.

        Raises: KeyError for resource and variant, which NumPy cannot hold.
        """
        if not self.is_numpy_compatible:
            raise KeyError(f"{self} has no NumPy type.")
        if self is string:
            return object
        return self.np_dtype if self.is_quantized else self.np_dtype.type

    @property
    def base_dtype(self) -> DType:
        """The dtype itself. (Reference dtypes belong to TF 1 and do not exist here.)"""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part: float32 for complex64, float64 for complex128."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self) -> int:
        """Bytes an element takes; 0 for strings and handles."""
        return 0 if self.np_dtype.hasobject else self.np_dtype.itemsize

    @property
    def min(self) -> Any:
        """The smallest finite value. Raises TypeError where the dtype has none."""
        return self._info("minimum").min

    @property
    def max(self) -> Any:
        """The largest finite value. Raises TypeError where the dtype has none."""
        return self._info("maximum").max

    def _info(self, extremum: str) -> Any:
        if self.is_floating:
            return ml_dtypes.finfo(self.np_dtype)
        if self.is_integer:
            return ml_dtypes.iinfo(self.np_dtype)
        kind = f" with {'quantized ' if self.is_quantized else ''}type {self}"
        raise TypeError(
            f"Cannot find {extremum} value of {self}{kind if self.is_numpy_compatible else ''}."
        )

    @property
    def limits(self) -> tuple[Any, Any]:
        """(lowest, highest) value of an image of this dtype: (0, 255) for uint8, (0, 1) for floats.

        Raises: ValueError for dtypes that images do not have.
        """
        if self.is_bool:
            return 0, True
        if self is float32 or self is float64:
            return 0, 1
        if self.is_integer and self.is_numeric:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether `other`, anything that names a dtype, is this dtype."""
        return self is as_dtype(other)

    def is_subtype_of(self, other: Any) -> builtins.bool:
        """Whether `other` is this dtype."""
        return self == other

    def most_specific_common_supertype(self, types: Sequence[Any]) -> DType | None:
        """This dtype if all of `types` are it, else None."""
        return self if all(self == other for other in types) else None

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        kind = other.__class__
        if other is None or kind is DType:
            return False
        if kind is str:  # Keras asks so of the dtype of each operand
            return _KNOWN.get(other) is self
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


_BY_ENUM: dict[int, DType] = {}


def _check_own(name: str, what: str) -> None:
    """Refuse to change what dtypes have; a program may add attributes of its own."""
    if name in DType.__annotations__ or hasattr(DType, name):
        raise AttributeError(f"property of 'DType' object has no {what}")


def _declare(
    name: str,
    number: int,
    np_type: Any = None,
    *,
    kind: str = "",
    numeric: builtins.bool = True,
    compatible: builtins.bool = True,
) -> DType:
    dtype = object.__new__(DType)
    vars(dtype).update(
        name=name,
        as_datatype_enum=number,
        np_dtype=np.dtype(np_type if np_type is not None else object),
        is_floating=kind == "float",
        is_complex=kind == "complex",
        is_bool=kind == "bool",
        is_integer=kind in ("int", "uint"),
        is_unsigned=kind == "uint",
        is_quantized=kind == "quantized",
        is_numeric=numeric,
        is_numpy_compatible=compatible,
        trainable=kind in ("float", "complex"),
    )
    _BY_ENUM[number] = dtype
    return dtype


def _small(name: str, number: int, kind: str) -> DType:
    """A type of 8 bits or fewer that TensorFlow stores and casts, and computes nothing with."""
    return _declare(name, number, getattr(ml_dtypes, name), kind=kind, numeric=False)


def _quantized(name: str, number: int, np_type: Any) -> DType:
    return _declare(name, number, np.dtype([(name, np_type)]), kind="quantized")


# The numbers are those of TensorFlow's types.proto.
float32 = _declare("float32", 1, np.float32, kind="float")
float64 = double = _declare("float64", 2, np.float64, kind="float")
int32 = _declare("int32", 3, np.int32, kind="int")
uint8 = _declare("uint8", 4, np.uint8, kind="uint")
int16 = _declare("int16", 5, np.int16, kind="int")
int8 = _declare("int8", 6, np.int8, kind="int")
string = _declare("string", 7, numeric=False)
complex64 = _declare("complex64", 8, np.complex64, kind="complex")
int64 = _declare("int64", 9, np.int64, kind="int")
bool = _declare("bool", 10, np.bool_, kind="bool", numeric=False)
qint8 = _quantized("qint8", 11, np.int8)
quint8 = _quantized("quint8", 12, np.uint8)
qint32 = _quantized("qint32", 13, np.int32)
bfloat16 = _declare("bfloat16", 14, ml_dtypes.bfloat16, kind="float")
qint16 = _quantized("qint16", 15, np.int16)
quint16 = _quantized("quint16", 16, np.uint16)
uint16 = _declare("uint16", 17, np.uint16, kind="uint")
complex128 = _declare("complex128", 18, np.complex128, kind="complex")
float16 = half = _declare("float16", 19, np.float16, kind="float")
resource = _declare("resource", 20, numeric=False, compatible=False)
variant = _declare("variant", 21, numeric=False, compatible=False)
uint32 = _declare("uint32", 22, np.uint32, kind="uint")
uint64 = _declare("uint64", 23, np.uint64, kind="uint")
float8_e5m2 = _small("float8_e5m2", 24, "float")
float8_e4m3fn = _small("float8_e4m3fn", 25, "float")
float8_e4m3fnuz = _small("float8_e4m3fnuz", 26, "float")
float8_e4m3b11fnuz = _small("float8_e4m3b11fnuz", 27, "float")
float8_e5m2fnuz = _small("float8_e5m2fnuz", 28, "float")
int4 = _small("int4", 29, "int")
uint4 = _small("uint4", 30, "uint")

QUANTIZED_DTYPES = frozenset(dtype for dtype in _BY_ENUM.values() if dtype.is_quantized)

_NUMPY_COMPATIBLE = [
    dtype for dtype in _BY_ENUM.values() if dtype.is_numpy_compatible and dtype is not string
]
_FROM_NUMPY: dict[np.dtype[Any], DType] = {dtype.np_dtype: dtype for dtype in _NUMPY_COMPATIBLE}
_FROM_NUMPY[np.dtype(object)] = string
_FROM_SCALAR: dict[type, DType] = {
    np_dtype.type: dtype for np_dtype, dtype in _FROM_NUMPY.items() if not dtype.is_quantized
} | {
    np.str_: string,
    np.bytes_: string,
    # The types of the same width that are not the same objects on every platform.
    np.longlong: int64,
    np.ulonglong: uint64,
    np.intc: int32,
    np.uintc: uint32,
}
_KNOWN: dict[Any, DType] = {
    **_BY_ENUM,
    **{dtype.name: dtype for dtype in _BY_ENUM.values()},
    **_FROM_SCALAR,
    "float": float32,
    "half": float16,
    "double": float64,
    float: float32,
    builtins.bool: bool,
    object: string,
}


def from_numpy(np_dtype: np.dtype[Any]) -> DType:
    """The DType of a `numpy.dtype`; strings of any width are `string`.

    Raises: TypeError if TensorFlow has no such dtype.
    """
    found = _FROM_NUMPY.get(np_dtype) or _FROM_SCALAR.get(np_dtype.type)
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {np_dtype!r} to a DType.")
    return found


def as_dtype(type_value: Any) -> DType:
    """The DType that `type_value` names.

    Args:
      type_value: a DType, a name, a NumPy type or dtype, `float`, `bool` or `object` (string),
        TensorFlow's number of a dtype, or something with a NumPy `dtype`.
    Raises: TypeError if it names none.

    >>> import tape_compat as tf
    >>> tf.as_dtype("float32"), tf.as_dtype(np.int8), tf.as_dtype(float)
    (tf.float32, tf.int8, tf.float32)
    """
    kind = type_value.__class__
    if kind is DType:
        return type_value
    if kind is str and type_value in _KNOWN:
        return _KNOWN[type_value]
    try:
        if isinstance(type_value, np.dtype):
            return from_numpy(type_value)
        try:
            return _KNOWN[type_value]
        except (KeyError, TypeError):  # unknown, or not hashable
            if isinstance(np_dtype := getattr(type_value, "dtype", None), np.dtype):
                return from_numpy(np_dtype)
            raise
    except (KeyError, TypeError):
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        ) from None

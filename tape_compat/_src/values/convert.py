"""What becomes a tensor, and of which dtype: `tf.constant` and `tf.convert_to_tensor`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimension import Dimension
from ..core.dimensions import is_symbolic
from ..core.dtypes import DType
from ..core.refuse import tf_dtype_name
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..core.x64 import in_x64
from . import operators
from .composite import CompositeTensor
from .conversions import converted, registered
from .dispatch import refusal
from .tensor import Tensor, concrete

_INT32 = np.iinfo(np.int32)
_INT64 = np.iinfo(np.int64)


def convert(value: Any, dtype: Any = None, hint: DType | None = None) -> Tensor:
    """`value` as a Tensor.

    Args:
      value: Tensor, Variable, number, string, NumPy or JAX array, or nested lists of them.
      dtype: what it must be. A Tensor of another dtype is refused (ValueError).
      hint: what it had better be; another dtype is taken if the value does not fit.
    """
    if value.__class__ is Tensor:
        if dtype is None or value._aval.dtype is dtype:
            return value
        return _same_dtype(value, dtypes.as_dtype(dtype))
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if value.__class__ not in _OF_PYTHON or registered(value):
        found = _of_class(value, dtype, hint)
        if found is not None:
            return found
    if hint is not None and dtype is None:
        try:
            return constant(value, hint)
        except (TypeError, ValueError, OverflowError):
            return constant(value)
    return constant(value, dtype)


#: Classes whose values are what NumPy makes of them, unless a function is registered.
_OF_PYTHON = frozenset((float, int, bool, complex, str, bytes, list, tuple))


def _of_class(value: Any, dtype: DType | None, hint: DType | None) -> Tensor | None:
    """What the class of a value says that its tensor is, None if it says nothing."""
    to_tensor = getattr(value, "_as_tensor", None)
    if to_tensor is not None:
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(value._other_dtype(dtype))
        return to_tensor()
    protocol = getattr(value.__class__, "__tf_tensor__", None)
    if protocol is not None:  # of other libraries' classes
        return convert(protocol(value, dtype, None), dtype)
    if registered(value):
        found = converted(value, dtype, hint)
        if found is not None:
            return found
    if isinstance(value, CompositeTensor):
        raise refusal(value)
    if isinstance(value, jax.Array):
        return concrete(value if dtype is None else in_x64(value.astype, dtype.np_dtype))
    return None


def preferring(value: Any, dtype: DType, allowed: Container[str]) -> Tensor:
    """`value` as a Tensor of `dtype` if it fits; an array is cast unless `allowed` has its dtype.

    A Tensor stays what it is.
    """
    if isinstance(value, float):
        return convert(value, dtype)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "SUO":
        found = convert(value)
        return found if found._aval.dtype.name in allowed else convert(value, dtype)
    return convert(value, hint=dtype)


def _same_dtype(tensor: Tensor, dtype: DType | None) -> Tensor:
    if dtype is None or tensor._aval.dtype is dtype:
        return tensor
    raise ValueError(
        f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
        f"{tensor._aval.dtype.name}: {tensor!r}"
    )


def constant(value: Any, dtype: DType | None = None) -> Tensor:
    """A tensor of a value known on the host; inside `tf.device`, put there."""
    tensor = _constant(value, dtype)
    if LOCAL.state.device is not None and tensor.dtype is not dtypes.string:
        tensor._device_array()
    return tensor


def _constant(value: Any, dtype: DType | None) -> Tensor:
    array = _numbers(value, dtype)
    if array is not None:
        return concrete(array)
    if isinstance(value, (list, tuple, range)) and _holds_tensor(value):
        return _packed(value, dtype)
    try:
        array = _anything(value, dtype)
    except ValueError:
        if not _holds_size(value):
            raise
        return _of_sizes(value, dtype)
    if array.dtype == object:
        return concrete(array, Aval.of(array.shape, dtypes.string))
    return concrete(array)


def _holds_size(value: Any) -> bool:
    """Whether it is an unknown size, or a list with one in it."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_size, value))
    return is_symbolic(value)


def _of_sizes(value: Any, dtype: DType | None) -> Tensor:
    if isinstance(value, (list, tuple)):
        items = [_of_sizes(x, dtype) if _holds_size(x) else constant(x, dtype) for x in value]
        return operators.call("pack", items)
    return operators.call("size", value, dtype or dtypes.int32)


def _holds_tensor(value: Iterable[Any]) -> bool:
    for item in value:
        if isinstance(item, (list, tuple)):
            if _holds_tensor(item):
                return True
        elif isinstance(item, CompositeTensor) and not hasattr(item, "_as_tensor"):
            raise refusal(item)
        elif isinstance(item, (Tensor, jax.Array)) or hasattr(item, "_as_tensor"):
            return True
        elif registered(item):
            return True
    return False


def _packed(value: Sequence[Any], dtype: DType | None) -> Tensor:
    """Lists with tensors in them: stacked, the other items adopting the tensors' dtype."""
    asked = dtype
    if dtype is None:
        dtype = _tensor_dtype(value)

    def item(x: Any) -> Tensor:
        if isinstance(x, (list, tuple)):
            return operators.call("pack", [item(y) for y in x])
        if not isinstance(x, Tensor):
            return convert(x, dtype)
        # A tensor of another dtype than one that was asked for is cast; else it is refused by the
        # stacking, in TensorFlow's words.
        return x if asked is None or x.dtype is asked else operators.call("cast", x, asked)

    return item(value)


def _tensor_dtype(value: Iterable[Any]) -> DType | None:
    for item in value:
        if isinstance(item, (list, tuple)):
            found = _tensor_dtype(item)
            if found is not None:
                return found
        elif isinstance(item, Tensor):
            return item._aval.dtype
        elif isinstance(item, jax.Array):
            return dtypes.from_numpy(item.dtype)
        elif hasattr(item, "_as_tensor"):
            return item.dtype
    return None


# ---------------------------------------------------------------------------------------------
# To NumPy, with TensorFlow's choice of dtype.


def to_numpy(value: Any, dtype: DType | None = None) -> np.ndarray:
    """A fresh NumPy array of `value`: floats are float32, ints int32, arrays keep theirs."""
    array = _numbers(value, dtype)
    return _anything(value, dtype) if array is None else array


def _numbers(value: Any, dtype: DType | None) -> np.ndarray | None:
    """What `to_numpy` makes of floats, or of ints, in lists or not; None for any other value, and
    for numbers that may not fit."""
    kind = value.__class__
    items: Any = (value,)
    if kind in _LISTS:
        items, kinds = value, {*map(type, value)}
        while kinds and kinds <= _LISTS:
            if len({*map(len, items)}) > 1:
                return None
            items = list(itertools.chain.from_iterable(items))
            kinds = {*map(type, items)}
        if len(kinds) != 1:
            return None
        kind = kinds.pop()
    if kind is float:
        wanted, most = _OF_FLOATS.get(dtype), _MOST_FLOAT
    elif kind is int:
        wanted, most = _OF_INTS.get(dtype), _MOST_INT
    else:
        return None
    fits = wanted is not None and -most < min(items) and max(items) < most
    return np.array(value, wanted) if fits else None


_LISTS = frozenset((list, tuple))
#: Beyond these a number may be too large, or not be one of float32's.
_MOST_FLOAT, _MOST_INT = 1e38, 1 << 24
_OF_FLOATS = {
    None: np.dtype(np.float32),
    dtypes.float32: np.dtype(np.float32),
    dtypes.float64: np.dtype(np.float64),
}
_OF_INTS = {
    **_OF_FLOATS,
    None: np.dtype(np.int32),
    dtypes.int32: np.dtype(np.int32),
    dtypes.int64: np.dtype(np.int64),
}


def _anything(value: Any, dtype: DType | None) -> np.ndarray:
    if value is None:
        raise ValueError(_unsupported(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return _from_python(np.array(value, object), value, dtype)
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    if isinstance(value, TensorShape):
        return _from_shape(value, dtype)
    if isinstance(value, Dimension):
        _check_dtype_of_sizes("Dimension", value, dtype)
        return _from_python(np.array(_size(value), object), _size(value), dtype)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    if _is_sequence(type(value)):
        return _from_sequence(_as_list(value), dtype)
    raise ValueError(_unsupported(value))


def _is_sequence(kind: type) -> bool:
    """Whether values of a class are taken for lists: a deque, an array of Python's, a
    `TensorShape`, what has a length and items by number."""
    return (
        hasattr(kind, "__getitem__")
        and hasattr(kind, "__len__")
        and not hasattr(kind, "__array__")
        and not issubclass(kind, (str, bytes, bytearray, Mapping))
    )


def _as_list(value: Any) -> Any:
    """A sequence as lists of lists, with the numbers of its Dimensions."""
    if isinstance(value, (list, tuple, range)) or _is_sequence(type(value)):
        return [_as_list(item) for item in value]
    return _size(value) if isinstance(value, Dimension) else value


def _size(value: Dimension) -> int:
    if value.value is None:
        raise ValueError("Cannot convert unknown Dimension ? to a Tensor.")
    return value.value


def _check_dtype_of_sizes(kind: str, value: Any, dtype: DType | None) -> None:
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(
            f"Cannot convert {kind} {value} to dtype {dtype}. Allowed dtypes are tf.int32 and "
            "tf.int64."
        )


def _from_shape(shape: TensorShape, dtype: DType | None) -> np.ndarray:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    _check_dtype_of_sizes("TensorShape", shape, dtype)
    sizes = shape.as_list()
    large = max(map(int, sizes), default=0) > _INT32.max  # type: ignore[arg-type]
    if large and dtype is dtypes.int32:
        raise ValueError(
            f"Cannot convert TensorShape {shape} to dtype int32; a dimension is too large. "
            "Consider using tf.int64."
        )
    return np.array(sizes, (dtype or (dtypes.int64 if large else dtypes.int32)).np_dtype)


def _unsupported(value: Any) -> str:
    kind = type(value)
    return f"Attempt to convert a value ({value!r}) with an unsupported type ({kind}) to a Tensor."


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray:
    array = np.array(value)
    if array.dtype.kind in "SUO":
        return _strings(array, dtype, value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if dtype is None:
        try:
            dtypes.from_numpy(array.dtype)
        except TypeError:
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type "
                f"{array.dtype.name})."
            ) from None
        return array
    if dtype is dtypes.string:
        raise _cannot(value, dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype.np_dtype)


def _cannot(value: Any, dtype: DType) -> TypeError:
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {tf_dtype_name(dtype)}")


def _strings(array: np.ndarray, dtype: DType | None, value: Any) -> np.ndarray:
    if dtype is not None and dtype is not dtypes.string:
        raise _cannot(value, dtype)

    def encode(item: Any) -> bytes:
        if isinstance(item, str):
            return item.encode()
        if isinstance(item, bytes):
            return bytes(item)
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported object type "
            f"{type(item).__name__})."
        )

    out = np.empty(array.shape, object)
    for index in np.ndindex(*array.shape):
        out[index] = encode(array[index])
    return out


def _from_sequence(value: Sequence[Any], dtype: DType | None) -> np.ndarray:
    leaves = list(_leaves(value))
    if any(kind is Dimension or _is_sequence(kind) for kind in {*map(type, leaves)} - _PLAIN):
        return _from_sequence(_as_list(value), dtype)
    try:
        array = np.array(value)
    except ValueError:
        raise _refusal(leaves) from None
    if array.dtype == object and not all(isinstance(x, (str, bytes)) for x in array.ravel()):
        raise _refusal(leaves)
    of_numpy = any(isinstance(x, (np.ndarray, np.generic)) for x in leaves)
    if array.dtype.kind in "SUO":
        if not of_numpy and not all(isinstance(x, (str, bytes)) for x in leaves):
            raise ValueError(_MIXED)
        return _strings(np.array(value, object), dtype, value)
    if of_numpy:
        return _from_numpy(array, dtype or _dtype_of_parts(array, leaves))
    if not array.size:
        return np.zeros(array.shape, (dtype or dtypes.float32).np_dtype)
    return _from_python(array, value, dtype, leaves)


def _dtype_of_parts(array: np.ndarray, leaves: list[Any]) -> DType | None:
    """The dtype of a sequence with NumPy's arrays and numbers in it: they count as Python's, but
    that the first says which float it is. None for what Python has no numbers for."""
    numbers = (*_NUMBERS, np.ndarray, np.generic)
    kinds = {np.asarray(x).dtype.kind for x in leaves if isinstance(x, numbers)}
    if not kinds <= set("biufc") or not all(isinstance(x, numbers) for x in leaves):
        return None
    if not array.size:
        return dtypes.float32
    first = np.asarray(leaves[0]).dtype
    if ("b" in kinds and len(kinds) > 1) or ("c" in kinds and first.kind != "c"):
        raise ValueError(_MIXED)
    if "c" in kinds:
        return dtypes.complex128
    if "f" in kinds:
        own = first.kind == "f" and isinstance(leaves[0], (np.ndarray, np.generic))
        return dtypes.from_numpy(first) if own else dtypes.float32
    return dtypes.bool if kinds == {"b"} else _default_dtype(int, [array.min(), array.max()])


def _leaves(value: Any) -> Iterable[Any]:
    for item in value:
        if isinstance(item, (list, tuple, range)):
            yield from _leaves(item)
        else:
            yield item


_MIXED = "Can't convert Python sequence with mixed types to Tensor."


def _refusal(leaves: list[Any]) -> ValueError:
    """TensorFlow's error for a sequence that is no array."""
    taken = (*_NUMBERS, str, bytes, np.ndarray, np.generic)
    for item in leaves:
        if item is not None and not isinstance(item, taken):
            return ValueError(_unsupported(item))
    if not leaves or leaves[0] is None:
        return ValueError(_unsupported(None))
    if any(item is None for item in leaves):
        return ValueError(_MIXED)
    return ValueError("Can't convert non-rectangular Python sequence to Tensor.")


_NUMBERS = (bool, int, float, complex)
_PLAIN = {*_NUMBERS, str, bytes, type(None)}


def _from_python(
    array: np.ndarray, value: Any, dtype: DType | None, items: list[Any] | None = None
) -> np.ndarray:
    """An array of Python numbers. The first one says of what kind they are to be."""
    items = [value] if items is None else items
    if isinstance(items[0], (str, bytes)):
        return _strings(array, dtype, value)
    kind = _kind(items, dtype)
    if dtype is None:
        dtype = _default_dtype(kind, items)
        if dtype is dtypes.float32:
            _check_finite(items)
    elif not _fits(kind, dtype):
        raise _cannot(value, dtype)
    if kind is int and dtype.is_integer:
        _check_range(items, dtype)
        if dtype is dtypes.uint64:  # large ones beside others are floats in `array`
            return np.array(items, np.uint64).reshape(array.shape)
        # Out of range wraps, as in TensorFlow; NumPy would refuse.
        return np.array(array, np.int64).astype(dtype.np_dtype)
    with np.errstate(all="ignore"):  # float16 and float32 may overflow: infinity, as in TensorFlow
        return array.astype(dtype.np_dtype)


def _kind(items: list[Any], dtype: DType | None) -> type:
    """bool, int, float or complex, as the first item and those beside it say."""
    kinds = {_python_kind(x) for x in items}
    start = _python_kind(items[0])
    if len(kinds) == 1:
        return start
    if dtype is not None and dtype.name in _TAKE_BOOL:  # they are converted one by one
        if all(_fits(kind, dtype) for kind in kinds):
            return next(kind for kind in reversed(_NUMBERS) if kind in kinds)
    if kinds <= {int, bool} and start is int:
        return int
    if kinds <= {int, float, bool} and start is not bool:
        return float
    if kinds <= {int, float, complex, bool} and start is complex:
        return complex
    raise ValueError(_MIXED)


def _python_kind(item: Any) -> type:
    for kind in _NUMBERS:
        if isinstance(item, kind):
            return kind
    raise ValueError(_MIXED)


def _default_dtype(kind: type, items: list[Any]) -> DType:
    if kind is int:
        low, high = min(items), max(items)
        if _INT32.min <= low and high <= _INT32.max:
            return dtypes.int32
        if _INT64.min <= low and high <= _INT64.max:
            return dtypes.int64
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    return {complex: dtypes.complex128, float: dtypes.float32, bool: dtypes.bool}[kind]


#: The dtypes that TensorFlow makes of a Python bool, and of numbers of several kinds.
_TAKE_BOOL = frozenset("bool float16 float32 float64 int32 int64 uint64 complex128".split())


def _fits(kind: type, dtype: DType) -> bool:
    """Whether TensorFlow makes the dtype of numbers of a kind."""
    return (
        (kind is bool and dtype.name in _TAKE_BOOL)
        or (kind is int and not dtype.is_bool and dtype is not dtypes.string)
        or (kind is float and (dtype.is_floating or dtype.is_complex))
        or (kind is complex and dtype.is_complex)
    )


_FLOAT32_MAX = float(np.finfo(np.float32).max)


def _check_finite(items: list[Any]) -> None:
    """TensorFlow's error for a finite number that float32 would make infinite, in eager code."""
    capture = LOCAL.state.capture
    if capture is not None and capture.in_function:
        return
    for x in items:
        if abs(x) > _FLOAT32_MAX and not math.isinf(x):
            raise ValueError(
                "Can't convert Python sequence with a value out of range for a double-precision "
                "float."
            )


def _check_range(items: list[Any], dtype: DType) -> None:
    for x in items:
        if not _INT64.min <= x <= (_INT64.max if dtype.name != "uint64" else 2**64 - 1):
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")

"""What becomes a tensor, and of which dtype: `tf.constant` and `tf.convert_to_tensor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from . import dtypes
from .avals import aval
from .dtypes import DType
from .shapes import TensorShape
from .state import LOCAL
from .tensor import Tensor, concrete

_INT32 = np.iinfo(np.int32)
_INT64 = np.iinfo(np.int64)

#: Stacks tensors found inside lists; set by the array ops.
_pack: list[Callable[[Sequence[Tensor]], Tensor]] = []


def define_packing(stack: Callable[[Sequence[Tensor]], Tensor]) -> None:
    _pack.append(stack)


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
    to_tensor = getattr(value, "_as_tensor", None)
    if to_tensor is not None:
        return _same_dtype(to_tensor(), dtype)
    if isinstance(value, jax.Array):
        return concrete(value if dtype is None else _cast_array(value, dtype))
    if hint is not None and dtype is None:
        try:
            return constant(value, hint)
        except (TypeError, ValueError, OverflowError):
            return constant(value)
    return constant(value, dtype)


def _same_dtype(tensor: Tensor, dtype: DType | None) -> Tensor:
    if dtype is None or tensor._aval.dtype is dtype:
        return tensor
    raise ValueError(
        f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
        f"{tensor._aval.dtype.name}: {tensor!r}"
    )


def _cast_array(array: jax.Array, dtype: DType) -> jax.Array:
    with jax.enable_x64(True):
        return array.astype(dtype.np_dtype)


def constant(value: Any, dtype: DType | None = None) -> Tensor:
    """A tensor of a value known on the host; inside `tf.device`, put there."""
    tensor = _constant(value, dtype)
    if LOCAL.state.device is not None and tensor.dtype is not dtypes.string:
        tensor._device_array()
    return tensor


def _constant(value: Any, dtype: DType | None) -> Tensor:
    if dtype is dtypes.float32 and value.__class__ is float:  # the commonest, made fast
        return concrete(np.array(value, np.float32), _FLOAT32_SCALAR)
    if isinstance(value, (list, tuple, range)) and _holds_tensor(value):
        return _packed(value, dtype)
    array = to_numpy(value, dtype)
    if array.dtype == object:
        return concrete(array, aval(array.shape, dtypes.string))
    return concrete(array)


_FLOAT32_SCALAR = aval((), dtypes.float32)


def _holds_tensor(value: Iterable[Any]) -> bool:
    for item in value:
        if isinstance(item, (list, tuple)):
            if _holds_tensor(item):
                return True
        elif isinstance(item, (Tensor, jax.Array)) or hasattr(item, "_as_tensor"):
            return True
    return False


def _packed(value: Sequence[Any], dtype: DType | None) -> Tensor:
    """Lists with tensors in them: stacked, the other items adopting the tensors' dtype."""
    if dtype is None:
        dtype = _tensor_dtype(value)

    def item(x: Any) -> Tensor:
        if isinstance(x, (list, tuple)):
            return _pack[0]([item(y) for y in x])
        return convert(x, dtype)

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
    """A fresh NumPy array of `value`: Python floats are float32 and ints int32, arrays keep theirs."""
    if value is None:
        raise ValueError(_unsupported(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if isinstance(value, TensorShape):
        value = value.as_list()
        dtype = dtype or dtypes.int32
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return _from_python(np.array(value, object), value, dtype)
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    raise ValueError(_unsupported(value))


def _unsupported(value: Any) -> str:
    return f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor."


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray:
    array = np.array(value)
    if array.dtype.kind in "SUO":
        return _strings(array, dtype)
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
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
    with np.errstate(all="ignore"):
        return array.astype(dtype.np_dtype)


def _strings(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    if dtype is not None and dtype is not dtypes.string:
        first = array.ravel()[0] if array.size else ""
        raise TypeError(f"Cannot convert {first!r} to EagerTensor of dtype {dtype.name}")

    def encode(item: Any) -> bytes:
        if isinstance(item, str):
            return item.encode()
        if isinstance(item, bytes):
            return item
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported object type "
            f"{type(item).__name__})."
        )

    out = np.empty(array.shape, object)
    for index in np.ndindex(*array.shape):
        out[index] = encode(array[index])
    return out


def _from_sequence(value: Sequence[Any], dtype: DType | None) -> np.ndarray:
    try:
        array = np.array([_plain(v) for v in value])
        ragged = array.dtype == object and not _all_text(array)
    except ValueError:
        ragged = True
    if ragged:
        _refuse_sequence(value)
    if array.dtype.kind in "SUO":
        return _strings(np.array(_as_objects(value), object), dtype)
    if _has_numpy(value):
        return _from_numpy(array, dtype)
    flat = array.ravel()
    if flat.size == 0:
        return np.zeros(array.shape, (dtype or dtypes.float32).np_dtype)
    _refuse_mixed(value)
    return _from_python(array, _first(value), dtype, list(_leaves(value)))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, range)) else value


def _as_objects(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_objects(v) for v in value]
    return value.encode() if isinstance(value, str) else value


def _all_text(array: np.ndarray) -> bool:
    return all(isinstance(x, (str, bytes)) for x in array.ravel())


def _leaves(value: Any) -> Iterable[Any]:
    for item in value:
        if isinstance(item, (list, tuple, range)):
            yield from _leaves(item)
        else:
            yield item


def _first(value: Any) -> Any:
    return next(iter(_leaves(value)), None)


def _has_numpy(value: Any) -> bool:
    return any(isinstance(x, (np.ndarray, np.generic)) for x in _leaves(value))


def _refuse_sequence(value: Any) -> None:
    for item in _leaves(value):
        if item is None:
            raise ValueError(_unsupported(item))
        if not isinstance(item, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
            raise ValueError(_unsupported(item))
    raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")


def _refuse_mixed(value: Any) -> None:
    kinds = {bool if isinstance(x, bool) else float for x in _leaves(value)}
    if len(kinds) > 1:
        first = _first(value)
        wanted = "bool" if isinstance(first, bool) else "numbers"
        raise TypeError(f"Can't convert Python sequence with mixed types to Tensor ({wanted}).")


def _from_python(
    array: np.ndarray, first: Any, dtype: DType | None, items: list[Any] | None = None
) -> np.ndarray:
    """An array of Python numbers, all of one kind."""
    items = [first] if items is None else items
    if isinstance(first, (str, bytes)):
        return _strings(array, dtype)
    kind = _python_kind(items)
    if dtype is None:
        dtype = _default_dtype(kind, items)
    else:
        _check_fits(kind, items, dtype)
    return array.astype(dtype.np_dtype)


def _python_kind(items: list[Any]) -> type:
    for kind in (complex, float, bool, int):
        if any(isinstance(x, kind) for x in items):
            return kind
    return int


def _default_dtype(kind: type, items: list[Any]) -> DType:
    if kind is int:
        low, high = min(items), max(items)
        if _INT32.min <= low and high <= _INT32.max:
            return dtypes.int32
        if _INT64.min <= low and high <= _INT64.max:
            return dtypes.int64
        raise ValueError("Attempt to convert a value out of the range of int64 to a Tensor.")
    return {complex: dtypes.complex128, float: dtypes.float32, bool: dtypes.bool}[kind]


def _check_fits(kind: type, items: list[Any], dtype: DType) -> None:
    ok = (
        (kind is bool and dtype.is_bool)
        or (kind is int and not dtype.is_bool and dtype is not dtypes.string)
        or (kind is float and (dtype.is_floating or dtype.is_complex))
        or (kind is complex and dtype.is_complex)
    )
    if ok and kind is int and dtype.is_integer:
        ok = all(dtype.min <= x <= dtype.max for x in items)
    if not ok:
        bad = next((x for x in items if isinstance(x, kind)), items[0])
        raise TypeError(f"Cannot convert {bad!r} to EagerTensor of dtype {dtype.name}")

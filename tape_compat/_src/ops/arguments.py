"""What the array ops make of their arguments: shapes, axes and sizes, which are read at the call.

Index tensors are inputs: they may be pending, and their values never enter the structure of a
recorded program.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Shape, Size, is_symbolic
from ..core.dtypes import DType
from ..core.errors import NeedsValue
from ..core.refuse import invalid, not_allowed, shown
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..values import nest, operators
from ..values.capture import leaving
from ..values.composite import CompositeTensor
from ..values.convert import convert, to_numpy
from ..values.dispatch import refusal
from ..values.host_steps import SAME, by_host, recorded
from ..values.sizes import number_of, sizes_of
from ..values.tensor import Tensor, concrete, next_id, same_value
from ..values.variable import Variable


def as_tensor(value: Any) -> Tensor:
    """A value as a Tensor."""
    return value if value.__class__ is Tensor else convert(value)


def as_own_tensor(value: Any) -> Tensor:
    """A value as a Tensor to hand on: what a variable holds is not the variable to a tape."""
    return value.read_value() if isinstance(value, Variable) else as_tensor(value)


def dims(value: Any, attr: str | None = None, kernel: str = "") -> Shape:
    """A shape, or another vector of sizes, as Python ints, or what stands for unknown ones.

    Takes ints, lists of ints and scalar integer tensors, integer tensors, TensorShapes; in a list a
    bool after an int counts as a number, and any bool where there is no `attr`. NumPy's floats and
    bools are cast, but for an `attr` without a default. Any other value that is not integer is a
    TypeError, or TensorFlow's error for `attr` of `kernel`.
    """
    kind = value.__class__
    if kind is list or kind is tuple or isinstance(value, (list, tuple)):
        for item in value:
            if item.__class__ is not int:
                return tuple(_dim(x, value, attr, kernel) for x in value)
        return tuple(value)
    if kind is int:
        return (value,)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            to_numpy(value)  # TensorFlow's error
        return tuple(value.as_list())
    array = known_sizes(value if attr in _WITHOUT_DEFAULT else cast_as_default(value))
    if array.dtype.kind not in "iuO" or _has_text(array):
        _refuse_dims(value, array.dtype, attr, kernel)
    if array.ndim > 1:
        raise _not_a_vector(array.shape, kernel)
    return tuple(array.ravel().tolist())


def is_scalar(value: Any) -> bool:
    """Whether a value that may be a vector of sizes has no axes.

    >>> is_scalar(2), is_scalar([2]), is_scalar(np.int64(2)), is_scalar(TensorShape([]))
    (True, False, True, False)
    """
    return value.__class__ is int or getattr(value, "shape", None) == ()


def _dim(item: Any, whole: Any, attr: str | None, kernel: str) -> Size:
    if isinstance(item, (list, tuple)):
        raise _not_a_vector(np.shape(whole), kernel)
    if item is None:
        if LOCAL.state.capture is not None:
            raise TypeError("Expected int32, but got None of type 'NoneType'.")
        to_numpy(item)
    if is_symbolic(item):
        return item
    if item.__class__ is bool and (attr in _LENIENT or whole[0].__class__ is not bool):
        return int(bool(item))  # a list of numbers is what its first element is
    if isinstance(item, Tensor) and item.dtype.is_floating and not item._aval.shape:
        # As TensorFlow packs it with what stands beside it.
        item = operators.call("cast", item, dtypes.int32)
    array = known_sizes(item)
    if _has_text(array) and not all(isinstance(x, (str, bytes)) for x in whole):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if array.dtype.kind not in "iuO" or _has_text(array):
        _refuse_dims(whole, array.dtype, attr, kernel)
    return _one(array)


def _has_text(array: np.ndarray) -> bool:
    """Whether texts stand in it; unknown sizes are objects too."""
    return array.dtype == object and any(isinstance(x, (str, bytes)) for x in array.flat)


def _not_a_vector(shape: Sequence[Size], kernel: str) -> Exception:
    return invalid(
        _NOT_A_VECTOR.get(kernel, "sizes input must be 1-D, not ") + shown(shape), kernel
    )


#: What kernels say of sizes that are no vector, before the shape that these have.
_NOT_A_VECTOR = {
    "BroadcastTo": "shape must be a vector of {int32,int64}, got shape ",
    "Fill": "dims must represent a vector, got shape ",
}


#: Attributes of dtypes of sizes that may be bools.
_LENIENT = (None, "index_type")

#: Attributes of dtypes of sizes for which kernels name no default.
_WITHOUT_DEFAULT = ("Index", "T")


def cast_as_default(value: Any, dtype: Any = np.int32) -> Any:
    """Floats and bools of NumPy, and an empty list, as a kernel's default dtype, to which
    TensorFlow casts them; any other argument as it is."""
    if isinstance(value, (list, tuple)) and not value:
        return np.zeros([0], dtype)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fb":
        return value.astype(dtype)
    return value


def _refuse_dims(value: Any, dtype: np.dtype, attr: str | None, kernel: str) -> None:
    if attr is None:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32")
    raise not_allowed(dtypes.from_numpy(dtype), "int32, int64", kernel, attr)


def known_value(value: Any) -> np.ndarray:
    """A value as NumPy; runs what is pending if it must. Raises NeedsValue if there is none yet."""
    return _known(value, number_of)


def value_if_known(value: Any) -> np.ndarray | None:
    """`known_value`, None if there is none yet."""
    try:
        return known_value(value)
    except NeedsValue:
        return None


def sketched(*values: Any) -> Any:
    """What gives sizes for the results of an op of which an argument has no value yet, where the
    shapes of results are all that is wanted; None elsewhere."""
    sketch = sketching()
    return sketch if sketch is not None and _has_unknown(values) else None


def sketching() -> Any:
    """What gives sizes for results where their shapes are all that is wanted; None elsewhere."""
    capture = LOCAL.state.capture
    if capture is None or capture.sketch is None or not capture.sketch.tells:
        return None
    return capture.sketch


def _has_unknown(values: Iterable[Any]) -> bool:
    """Whether one has no value yet."""
    return any(isinstance(value, Tensor) and value._is_symbolic() for value in values)


def packed(value: Any) -> Any:
    """A list of what a record computes as a tensor; anything else as it is."""
    capture = LOCAL.state.capture
    if capture is None or capture.sketch is None or not isinstance(value, (list, tuple)):
        return value
    return convert(value) if _has_unknown(nest.flatten(value)) else value


def known_sizes(value: Any) -> np.ndarray:
    """A value as NumPy; of objects if there are unknown sizes in it."""
    if isinstance(value, (list, tuple)) and not _is_plain(value):
        parts = [known_sizes(x) for x in value]
        if any(part.dtype == object for part in parts):
            return np.array([part.tolist() for part in parts], object)
    if is_symbolic(value):
        return np.array(value, object)
    return _known(value, sizes_of)


def _known(value: Any, of: Callable[[Tensor], np.ndarray]) -> np.ndarray:
    if isinstance(value, Tensor):
        return of(value)
    if hasattr(value, "_as_tensor"):
        return of(value._as_tensor())
    if isinstance(value, CompositeTensor):
        raise refusal(value)
    if isinstance(value, (list, tuple)) and not _is_plain(value):
        return of(convert(value))
    return to_numpy(value)


def _is_plain(value: Any) -> bool:
    """Whether lists hold Python numbers only."""
    for item in value:
        kind = item.__class__
        if kind is list or kind is tuple:
            if not _is_plain(item):
                return False
        elif kind is not int and kind is not float and kind is not bool:
            return False
    return True


def as_int(value: Any) -> int:
    """A number as a Python int; runs what is pending if it must."""
    return value if value.__class__ is int else int(known_value(value))


def int_attribute(value: Any, argument: str) -> Any:
    """A number that is an attribute of a kernel, as an int: the fraction of a float is left out.

    Raises: TypeError for anything else, naming the argument.
    """
    if isinstance(value, (int, np.integer)) or is_symbolic(value):
        return value
    if not isinstance(value, (float, np.floating)):
        raise TypeError(f"Expected int for argument '{argument}' not {value!r}.")
    return int(value)


def no_float(value: Any) -> Any:
    """`value`, unless it is a float where an integer becomes an input of a kernel."""
    if value.__class__ is float:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32")
    return value


def as_axis(value: Any, kernel: str, attr: str, refusal: str) -> int:
    """An axis that a kernel takes as an input, as a Python int.

    Raises TypeError for a Python float, ValueError for None, InvalidArgumentError for texts and
    complex numbers, by the attribute of its dtype, and for more than one number, as `refusal` says.
    """
    if value.__class__ is int:
        return value
    array = known_value(no_float(value))
    kinds = "iu" if isinstance(value, Tensor) else "iufb"
    if array.dtype.kind not in kinds:
        raise not_allowed(dtypes.from_numpy(array.dtype), "int32, int64", kernel, attr)
    if array.ndim:
        raise invalid(refusal.format(shape=shown(array.shape), rank=array.ndim), kernel)
    return int(array)


def as_scalar(value: Any, kernel: str, refusal: str) -> Any:
    """An integer input of a kernel, for `as_int` or `as_size`. Raises TypeError for floats and
    texts, InvalidArgumentError that begins with `refusal` for more than one number."""
    if value.__class__ is int:
        return value
    if value.__class__ in (float, str, bytes):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32")
    if isinstance(value, (list, tuple)):
        shape: Sequence[Size] = (len(value),)
    else:
        shape = value._aval.shape if isinstance(value, Tensor) else np.shape(value)
    if shape:
        raise invalid(f"{refusal}{shown(shape)}", kernel)
    return value


def as_size(value: Any) -> Size:
    """A number of elements: a Python int, or what stands for one that is unknown."""
    if value.__class__ is int or is_symbolic(value):
        return value
    return _one(known_sizes(value))


def _one(array: np.ndarray) -> Size:
    return array.item() if array.dtype == object else int(array)


def untracked(tensor: Tensor) -> Tensor:
    """The same value, known to no tape: for inputs to which TensorFlow gives no gradient."""
    return same_value(tensor, next_id())


def is_text(tensor: Tensor) -> bool:
    """Whether it is a tensor of strings."""
    return tensor._aval.dtype is dtypes.string


def move_text(move: Callable[..., Any], *tensors: Tensor, by: Sequence[Any] = ()) -> Any:
    """A movement of data on strings, which JAX does not have: made on positions, then looked up.

    move: takes the positions in the place of each tensor, then what it moves them `by`.
    """
    capture = LOCAL.state.capture
    if capture is None or capture.sketch is None:
        return _move_text(move, tensors, by)
    ranks = [len(t._aval.shape) for t in tensors]
    rows = None if _has_unknown(by) else functools.partial(_move_rows, ranks)
    return recorded(_move_text, (move, list(tensors), list(by)), {}, rows)


def _move_text(move: Callable[..., Any], tensors: Sequence[Tensor], by: Sequence[Any]) -> Any:
    sketch = sketched(*tensors, *by)
    if sketch is not None:
        shapes = [t._aval.shape for t in tensors]
        moved = move(*[sketch.tensor(shape, dtypes.int32) for shape in shapes], *by)
        several = isinstance(moved, (list, tuple))
        texts = [
            sketch.tensor(t._aval.shape, dtypes.string) for t in (moved if several else [moved])
        ]
        return texts if several else texts[0]
    arrays = [np.asarray(t._value()) for t in tensors]
    flat = np.concatenate([array.ravel() for array in arrays])
    places = _positions([array.shape for array in arrays])
    if LOCAL.state.capture is not None:  # texts in a function are constants, however many
        try:
            with leaving():
                return _looked_up(flat, move(*places, *by))
        except TypeError:  # they are moved by what is symbolic, or wrong: refused below
            pass
    return _looked_up(flat, move(*places, *by))


def _positions(shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Numbers of the elements of arrays of these shapes, one after the other."""
    places, start = [], 0
    for shape in shapes:
        size = math.prod(shape)
        places.append(concrete(np.arange(start, start + size, dtype=np.int32).reshape(shape)))
        start += size
    return places


def _move_rows(
    ranks: Sequence[int], move: Callable[..., Any], tensors: Sequence[Tensor], by: Sequence[Any]
) -> Any:
    """As `_move_text`, of tensors of which those with an axis more than these ranks are stacked."""
    arrays = [np.asarray(t._value()) for t in tensors]
    stacked = [array.ndim > rank for array, rank in zip(arrays, ranks, strict=True)]
    count = next(len(array) for array, rows in zip(arrays, stacked) if rows)
    shapes = [array.shape[1:] if rows else array.shape for array, rows in zip(arrays, stacked)]
    flat = np.concatenate(
        [
            array.reshape(count, -1)
            if rows
            else np.broadcast_to(array.ravel(), (count, array.size))
            for array, rows in zip(arrays, stacked)
        ],
        axis=1,
    )
    return _looked_up(flat, move(*_positions(shapes), *by))


def _looked_up(flat: np.ndarray, place: Any) -> Any:
    """The texts at places, or lists of places, along the last axis of an array."""
    if isinstance(place, list):
        return [_looked_up(flat, each) for each in place]
    index = np.asarray(place._value())
    found = flat[..., index.ravel()].reshape((*flat.shape[:-1], *index.shape))
    return concrete(found, Aval.of(found.shape, dtypes.string))


def sketches_as(dtype: Any) -> Callable[[Any], Any]:
    """Decorate an elementwise op of strings, which the host computes: what it gives is of this
    dtype, or of the one that a function of its arguments says."""

    def decorate(function: Any) -> Any:
        first = next(iter(inspect.signature(function).parameters))

        @functools.wraps(function)
        def outlined(*args: Any, **kwargs: Any) -> Any:
            if not args and first not in kwargs:
                return function(**kwargs)  # which says what is missing
            given, *others = args or (kwargs.pop(first),)
            tensor = packed(given)
            sketch = sketched(tensor)
            if sketch is None:
                return function(tensor, *others, **kwargs)
            found = dtype if isinstance(dtype, DType) else dtype(*others, **kwargs)
            return sketch.tensor(tensor._aval.shape, found)

        return by_host(SAME)(outlined)

    return decorate


INDEX_DTYPES = ("int16", "int32", "int64")

"""Python's builtin functions on tensors.

Source: TF autograph/operators/py_builtins.py and ops/autograph_ops.py.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from malt.utils.type_registry import TypeRegistry

from ...core import dtypes
from ...ops.arithmetic import maximum
from ...ops.casting import cast
from ...ops.elementwise import abs as tensor_abs
from ...ops.gather_scatter import gather
from ...ops.ordering import argsort, sort
from ...ops.shapes import shape
from ...ops.strings import to_number
from ...values.capture import capturing
from ...values.convert import convert
from ...values.effects import record_effect
from ..functional_ops import map_fn
from ..tensor_array import TensorArray
from .ranges import tensor_range
from .staging import is_tensor, staged

UNSPECIFIED = object()

#: What further types do for a builtin function: by its name, functions with its arguments.
REGISTRIES: dict[str, TypeRegistry] = {
    name: TypeRegistry()
    for name in ("abs", "len", "enumerate", "zip", "map", "filter", "any", "all", "next")
}


def _registered(name: str, value: Any) -> Callable[..., Any] | None:
    try:
        return REGISTRIES[name].lookup(value)
    except LookupError:
        return None


def _by_type(name: str) -> Callable[..., Any]:
    """A builtin function that asks for the type of its first argument, or is Python's."""
    python = getattr(builtins, name)

    def function(first: Any, *others: Any, **options: Any) -> Any:
        return (_registered(name, first) or python)(first, *others, **options)

    return function


def _by_all_types(name: str, first: int) -> Callable[..., Any]:
    """A builtin function that asks for the types of all its arguments from `first` on."""
    python = getattr(builtins, name)

    def function(*arguments: Any, **options: Any) -> Any:
        found = {_registered(name, x) for x in arguments[first:]}
        chosen = found.pop() if len(found) == 1 else None
        return (chosen or python)(*arguments, **options)

    return function


def abs_(x: Any) -> Any:
    """`abs(x)`."""
    if is_tensor(x):
        return tensor_abs(x)
    return (_registered("abs", x) or abs)(x)


def float_(x: Any = 0) -> Any:
    """`float(x)`: of a tensor its cast to float32, of texts the numbers that they say."""
    return _number(x, dtypes.float32) if is_tensor(x) else float(x)


def int_(x: Any = 0, base: Any = UNSPECIFIED) -> Any:
    """`int(x)`: of a tensor its cast to int32, of texts the numbers that they say."""
    if not is_tensor(x):
        return int(x) if base is UNSPECIFIED else int(x, base)
    if base not in (10, UNSPECIFIED):
        raise NotImplementedError(f"base {base} not supported for int")
    return _number(x, dtypes.int32)


def _number(x: Any, dtype: dtypes.DType) -> Any:
    return to_number(x, dtype) if x.dtype == dtypes.string else cast(x, dtype)


def len_(s: Any) -> Any:
    """`len(s)`: an int, or a tensor where only the running function knows it."""
    found = _registered("len", s)
    if found is not None:
        return found(s)
    if isinstance(s, TensorArray):
        return s.size()
    if not is_tensor(s):
        return len(s)
    if s.shape.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {s.shape}")
    size = s.shape[0]
    return shape(s)[0] if size is None else size


def range_(start_or_stop: Any, stop: Any = UNSPECIFIED, step: Any = UNSPECIFIED) -> Any:
    """`range(...)`: of tensors `tf.range`, which has no values where it would count backwards."""
    given = [x for x in (start_or_stop, stop, step) if x is not UNSPECIFIED]
    if not any(map(is_tensor, given)):
        return range(*given)
    if len(given) == 1:
        return tensor_range(maximum(start_or_stop, 0))
    if len(given) == 2:
        return tensor_range(start_or_stop, maximum(start_or_stop, stop))
    return tensor_range(*given)


def print_(*objects: Any, **options: Any) -> None:
    """`print(...)`. With tensors, and the feature BUILTIN_FUNCTIONS, when the function runs."""
    unknown = tuple(set(options) - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    if not any(map(staged, objects)):
        return print(*objects, **options)
    places = [i for i, x in enumerate(objects) if is_tensor(x)]

    def write(*values: Any) -> None:
        shown = list(objects)
        for i, value in zip(places, values, strict=True):
            shown[i] = _text(value[()])
        print(*shown, **{"flush": True, **options})

    record_effect(write, [convert(objects[i]) for i in places], "EagerPyFunc")


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def sorted_(iterable: Any, key: Any = UNSPECIFIED, reverse: Any = UNSPECIFIED) -> Any:
    """`sorted(...)`: of a tensor `tf.sort`. As in TensorFlow any `reverse` is taken as True."""
    if not is_tensor(iterable):
        options = {"key": key, "reverse": reverse}
        return sorted(iterable, **{k: v for k, v in options.items() if v is not UNSPECIFIED})
    direction = "ASCENDING" if reverse is UNSPECIFIED else "DESCENDING"
    keys = iterable
    if key is not UNSPECIFIED:
        with capturing():
            dtype = convert(key(iterable[0])).dtype
        keys = map_fn(key, iterable, fn_output_signature=dtype)
    if keys.shape.rank not in (1, None):
        raise ValueError("sort only supports only 1D tensors")
    if key is UNSPECIFIED:
        return sort(iterable, direction=direction)
    return gather(iterable, argsort(keys, direction=direction))


#: What converted code calls in place of a builtin function.
_OVERLOADS: dict[Any, Callable[..., Any]] = {
    abs: abs_,
    all: _by_type("all"),
    any: _by_type("any"),
    enumerate: _by_type("enumerate"),
    filter: _by_all_types("filter", 1),
    float: float_,
    int: int_,
    len: len_,
    map: _by_all_types("map", 1),
    next: _by_type("next"),
    print: print_,
    range: range_,
    sorted: sorted_,
    zip: _by_all_types("zip", 0),
}


def overload_of(function: Any) -> Any:
    """What converted code calls in place of a builtin function."""
    try:
        return _OVERLOADS.get(function, function)
    except TypeError:  # of an object that is not hashable
        return function

"""`tf.register_tensor_conversion_function`: how values of the user's classes become tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .tensor import Tensor

#: Priority, order, classes and function, in the order in which they are asked.
_FUNCTIONS: list[tuple[int, int, tuple[type, ...], Callable[..., Any]]] = []
_ORDER = itertools.count()
_NUMERIC = (int, float, np.generic, np.ndarray)


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Let a function make tensors of values of a class.

    Args:
      base_type: a class, or a tuple of classes, of which the values are instances.
      conversion_func: is called as `conversion_func(value, dtype, name, as_ref)` by name; gives a
        Tensor, of `dtype` if that is not None, or NotImplemented: then another one is asked.
      priority: functions of lower numbers are asked first.
    Raises: TypeError for what is no class, or one of Python's or NumPy's numbers.

    >>> import tape_compat as tf
    >>> class Celsius:
    ...     degrees = 20.0
    >>> tf.register_tensor_conversion_function(
    ...     Celsius,
    ...     lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.degrees, dtype),
    ... )
    >>> tf.convert_to_tensor(Celsius()).numpy().item()
    20.0
    """
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(cls, type) for cls in classes):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if any(issubclass(cls, _NUMERIC) for cls in classes):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    _FUNCTIONS.append((priority, next(_ORDER), classes, conversion_func))
    _FUNCTIONS.sort(key=lambda entry: entry[:2])


def registered(value: Any) -> bool:
    """Whether a function may make a tensor of a value."""
    return bool(_FUNCTIONS) and any(isinstance(value, entry[2]) for entry in _FUNCTIONS)


def converted(value: Any, dtype: Any, hint: Any) -> Tensor | None:
    """The tensor that the first function gives of a value, None if none does."""
    for _, _, classes, function in _FUNCTIONS:
        if not isinstance(value, classes):
            continue
        found = None
        if dtype is None and hint is not None:
            try:
                found = function(value, dtype=hint, name=None, as_ref=False)
            except (TypeError, ValueError):
                found = None
        if found is None or found is NotImplemented:
            found = function(value, dtype=dtype, name=None, as_ref=False)
        if found is NotImplemented:
            continue
        if not isinstance(found, Tensor):
            raise RuntimeError(
                f"Conversion function {function!r} for type {type(value)} returned non-Tensor: "
                f"{found!r}"
            )
        if dtype is not None and found.dtype != dtype:
            raise RuntimeError(
                f"Conversion function {function!r} for type {type(value)} returned incompatible "
                f"dtype: requested = {dtype.name}, actual = {found.dtype.name}"
            )
        return found
    return None

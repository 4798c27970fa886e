"""What columns of numbers ask of their arguments."""

from __future__ import annotations

from typing import Any

from ...values import nest


def sizes_of(shape: Any, key: Any) -> tuple[int, ...]:
    """The sizes of a value. Raises: TypeError, ValueError for others than whole ones above 0."""
    sizes = tuple(shape) if nest.is_nested(shape) else (shape,)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {sizes}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}")
    return sizes


def check_number_dtype(dtype: Any, key: Any) -> None:
    """Raises: ValueError for a dtype that is not of numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")


def check_normalizer(function: Any) -> None:
    """Raises: TypeError for what is no function."""
    if function is not None and not callable(function):
        raise TypeError(f"normalizer_fn must be a callable. Given: {function}")

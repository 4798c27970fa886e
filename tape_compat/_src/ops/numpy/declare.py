"""Declaring functions of `tf.experimental.numpy`: one row each where no more is to be said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...core import dtypes
from ...values.tensor import Tensor
from ..casting import cast
from .arrays import as_array, as_inexact, promoted
from .dtypes import result_type, settles


class OfOne(Protocol):
    """A function of one array."""

    def __call__(self, x: Any) -> Tensor: ...


class OfTwo(Protocol):
    """A function of two arrays."""

    def __call__(self, x1: Any, x2: Any) -> Tensor: ...


def of_one(function: Callable[[Tensor], Any], doc: str, *, inexact: bool = False) -> OfOne:
    """Declare `f(x)`, elementwise. inexact: integers and bools become floats first."""
    made = as_inexact if inexact else as_array

    def call(x: Any) -> Tensor:
        return function(made(x))

    call.__doc__ = doc
    return call


def of_two(
    function: Callable[[Tensor, Tensor], Any],
    doc: str,
    *,
    of_bools: Callable[[Tensor, Tensor], Any] | None = None,
    bools_as: Any = None,
) -> OfTwo:
    """Declare `f(x1, x2)`, elementwise with broadcasting, both brought to one dtype.

    of_bools: what is called on two tensors of bools. bools_as: the dtype they are cast to before.
    """

    def call(x1: Any, x2: Any) -> Tensor:
        if x1.__class__ is Tensor and settles(x1, x2):
            return function(x1, x2)
        x1, x2 = promoted(x1, x2)
        if x1._aval.dtype is dtypes.bool:
            if of_bools is not None:
                return of_bools(x1, x2)
            if bools_as is not None:
                dtype = result_type(bools_as)
                x1, x2 = cast(x1, dtype), cast(x2, dtype)
        return function(x1, x2)

    call.__doc__ = doc
    return call


def name_rows(table: dict[str, Any]) -> None:
    """Give each row its public name, once, at the end of its table."""
    for name, value in table.items():
        if getattr(value, "__name__", "") == "call" and value.__module__ == __name__:
            value.__name__ = value.__qualname__ = name
            value.__module__ = table["__name__"]

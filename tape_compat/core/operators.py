"""Python's operators on tensors and variables, each a row: dunder, op, whether reflected.

The ops are defined in the op tables, which stand above this file; `define` fills the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TABLE: dict[str, Callable[..., Any]] = {}


def define(**functions: Callable[..., Any]) -> None:
    """Say which op an operator calls. A second definition of a name is refused."""
    for name, function in functions.items():
        if name in _TABLE:
            raise ValueError(f"The operator {name!r} is defined already.")
        _TABLE[name] = function


def call(name: str, *args: Any) -> Any:
    return _TABLE[name](*args)


class Operators:
    """Operators shared by Tensor and Variable. Operands that are not tensors adopt their dtype."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _TABLE["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return _TABLE["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return _TABLE["sub"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return _TABLE["sub"](other, self)

    def __mul__(self, other: Any) -> Any:
        return _TABLE["mul"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return _TABLE["mul"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return _TABLE["truediv"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _TABLE["truediv"](other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _TABLE["floordiv"](self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _TABLE["floordiv"](other, self)

    def __mod__(self, other: Any) -> Any:
        return _TABLE["mod"](self, other)

    def __rmod__(self, other: Any) -> Any:
        return _TABLE["mod"](other, self)

    def __pow__(self, other: Any) -> Any:
        return _TABLE["pow"](self, other)

    def __rpow__(self, other: Any) -> Any:
        return _TABLE["pow"](other, self)

    def __matmul__(self, other: Any) -> Any:
        return _TABLE["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _TABLE["matmul"](other, self)

    def __and__(self, other: Any) -> Any:
        return _TABLE["and"](self, other)

    def __rand__(self, other: Any) -> Any:
        return _TABLE["and"](other, self)

    def __or__(self, other: Any) -> Any:
        return _TABLE["or"](self, other)

    def __ror__(self, other: Any) -> Any:
        return _TABLE["or"](other, self)

    def __xor__(self, other: Any) -> Any:
        return _TABLE["xor"](self, other)

    def __rxor__(self, other: Any) -> Any:
        return _TABLE["xor"](other, self)

    def __lt__(self, other: Any) -> Any:
        return _TABLE["lt"](self, other)

    def __le__(self, other: Any) -> Any:
        return _TABLE["le"](self, other)

    def __gt__(self, other: Any) -> Any:
        return _TABLE["gt"](self, other)

    def __ge__(self, other: Any) -> Any:
        return _TABLE["ge"](self, other)

    def __eq__(self, other: object) -> Any:
        return _TABLE["eq"](self, other)

    def __ne__(self, other: object) -> Any:
        return _TABLE["ne"](self, other)

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Any:
        return _TABLE["neg"](self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _TABLE["abs"](self)

    def __invert__(self) -> Any:
        return _TABLE["invert"](self)

    def __getitem__(self, index: Any) -> Any:
        return _TABLE["getitem"](self, index)

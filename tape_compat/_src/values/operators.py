"""Python's operators on tensors and variables: a table from operator to op.

The ops are defined in the op tables, which stand above this file; `define` fills the table. An
operator is the op's own function, without a call between them where C does it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..core.errors import OpError

_TABLE: dict[str, Callable[..., Any]] = {}

#: Operators with a reflected form.
_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor"),
)
_PLAIN = ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert", "getitem")


class Operators:
    """Operators shared by Tensor and Variable. Operands that are not tensors adopt their dtype."""

    __slots__ = ()

    shape: Any

    def get_shape(self) -> Any:
        """The same as `shape`."""
        return self.shape

    __hash__ = None  # type: ignore[assignment]

    #: What a class has of Python's operators that works as a tensor does.
    OVERLOADABLE_OPERATORS = frozenset(
        [f"__{name}__" for name in (*_BINARY, *_PLAIN)] + [f"__r{name}__" for name in _BINARY]
    )

    if TYPE_CHECKING:  # what `define` adds

        def _unary(self) -> Any: ...
        def _binary(self, other: Any) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _binary
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _binary
        __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _binary
        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __getitem__ = _binary
        __neg__ = __abs__ = __invert__ = _unary


def define(**functions: Callable[..., Any]) -> None:
    """Say which op an operator calls. A second definition of a name is refused."""
    for name, function in functions.items():
        if name in _TABLE:
            raise ValueError(f"The operator {name!r} is defined already.")
        _TABLE[name] = function
        if name in _PLAIN:
            setattr(Operators, f"__{name}__", _method(function))
        if name in _BINARY:
            setattr(Operators, f"__{name}__", _giving_way(function, name))
            swapped = getattr(function, "reflected", None) or _swapped(function)
            setattr(Operators, f"__r{name}__", swapped)


def function_of(name: str) -> Callable[..., Any]:
    """The op that an operator calls, by the operator's name."""
    return _TABLE[name]


def call(name: str, *args: Any) -> Any:
    """Call an op of the table by its name."""
    return _TABLE[name](*args)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """The op as a method. Only functions bind to instances."""
    return function if hasattr(function, "__get__") else lambda *args: function(*args)


def _giving_way(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The op as an operator: what it cannot take may have the reflected operator itself."""
    plain = getattr(function, "__wrapped__", function)

    @wraps(plain)
    def operator(x: Any, y: Any) -> Any:
        try:
            return plain(x, y)
        except (TypeError, ValueError) as error:
            if isinstance(error, OpError) or isinstance(y, Operators):
                raise
            found = _of_other(y, f"__r{name}__", x)
            if found is NotImplemented:
                raise
            return found

    operator.__module__, operator.__name__ = __name__, f"__{name}__"
    operator.__qualname__ = f"{Operators.__name__}.{operator.__name__}"
    in_c = getattr(function, "in_c", None)
    return operator if in_c is None else in_c(operator)


def _of_other(y: Any, reflected: str, x: Any) -> Any:
    """What the right operand makes of a tensor that cannot take it, or NotImplemented."""
    if not hasattr(type(y), reflected):
        return NotImplemented
    try:
        return getattr(y, reflected)(x)
    except (TypeError, ValueError):
        return NotImplemented


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, x: function(x, y)

"""A size that may be unknown, as a shape of TensorFlow 1 holds it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .forwards import forwards


def size_of(value: Any) -> int | None:
    """The size that a value says, None for one that is unknown. Raises: as `Dimension`."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"'{value!r}' with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _operands(x: Any, y: Any) -> tuple[int | None, int | None] | None:
    """Two sizes; None if the second is none."""
    try:
        return x.value, size_of(y)
    except (TypeError, ValueError):
        return None


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """A comparison of sizes as a method: None where one is unknown."""

    def method(self: Dimension, other: Any) -> Any:
        pair = _operands(self, other)
        if pair is None:
            return NotImplemented
        return None if None in pair else compare(*pair)

    return method


def _computed(compute: Callable[[Any, Any], int], swap: bool = False) -> Callable[..., Any]:
    """An operation of sizes as a method. swap: whether the other one comes first."""

    def method(self: Dimension, other: Any) -> Any:
        pair = _operands(self, other)
        if pair is None:
            return NotImplemented
        return Dimension(None if None in pair else compute(*(pair[::-1] if swap else pair)))

    return method


class Dimension:
    """A size, or None for one that is unknown. What is computed of an unknown one is unknown.

    Raises: TypeError for what is no integer; ValueError for a negative one.

    >>> import tape_compat as tf
    >>> tf.compat.v1.Dimension(3) + 1, tf.compat.v1.Dimension(None) * 2
    (Dimension(4), Dimension(None))
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = size_of(value)

    value: int | None = forwards("_value", "The size, None if it is unknown.")

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._value,)

    __hash__ = None  # type: ignore[assignment]

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the same size."""
        other = size_of(other)
        return self._value == other or self._value is None or other is None

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises: ValueError unless both may be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The size that both are. Raises: ValueError if they differ."""
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else Dimension(self._value)

    __eq__ = _compared(operator.eq)
    __ne__ = _compared(operator.ne)
    __lt__ = _compared(operator.lt)
    __le__ = _compared(operator.le)
    __gt__ = _compared(operator.gt)
    __ge__ = _compared(operator.ge)
    __add__ = _computed(operator.add)
    __radd__ = _computed(operator.add, swap=True)
    __sub__ = _computed(operator.sub)
    __rsub__ = _computed(operator.sub, swap=True)
    __mul__ = _computed(operator.mul)
    __rmul__ = _computed(operator.mul, swap=True)
    __floordiv__ = _computed(operator.floordiv)
    __rfloordiv__ = _computed(operator.floordiv, swap=True)
    __mod__ = _computed(operator.mod)
    __rmod__ = _computed(operator.mod, swap=True)

    def __truediv__(self, other: Any) -> Any:
        kind = type(other).__name__
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{kind}', please use // instead"
        )

    def __rtruediv__(self, other: Any) -> Any:
        kind = type(other).__name__
        raise TypeError(
            f"unsupported operand type(s) for /: '{kind}' and 'Dimension', please use // instead"
        )

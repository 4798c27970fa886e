"""A size that may be unknown, as a shape of TensorFlow 1 holds it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


class Dimension:
    """A size, or None for one that is unknown. What is computed of an unknown one is unknown.

    Raises: TypeError for what is no integer; ValueError for a negative one.

    >>> import tape_compat as tf
    >>> tf.compat.v1.Dimension(3) + 1, tf.compat.v1.Dimension(None) * 2
    (Dimension(4), Dimension(None))
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dimension):
            self._value = value.value
        elif value is None:
            self._value = None
        else:
            try:
                self._value = operator.index(value)
            except TypeError:
                raise TypeError(
                    "Dimension value must be integer or None or have an __index__ method, got "
                    f"value '{value!r}' with type '{type(value)!r}'"
                ) from None
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        """The size, None if it is unknown."""
        return self._value

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
        other = Dimension(other)
        return self._value == other._value or self._value is None or other._value is None

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises: ValueError unless both may be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The size that both are. Raises: ValueError if they differ."""
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else Dimension(self._value)

    def _compared(self, other: Any, compare: Callable[[Any, Any], bool]) -> bool | None:
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return compare(self._value, other._value)

    def _computed(self, other: Any, compute: Callable[[Any, Any], int], swap: bool = False) -> Any:
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        pair = (other._value, self._value) if swap else (self._value, other._value)
        return Dimension(compute(*pair))

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, operator.eq)

    def __ne__(self, other: Any) -> Any:
        return self._compared(other, operator.ne)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, operator.ge)

    def __add__(self, other: Any) -> Dimension:
        return self._computed(other, operator.add)

    def __radd__(self, other: Any) -> Dimension:
        return self._computed(other, operator.add, swap=True)

    def __sub__(self, other: Any) -> Dimension:
        return self._computed(other, operator.sub)

    def __rsub__(self, other: Any) -> Dimension:
        return self._computed(other, operator.sub, swap=True)

    def __mul__(self, other: Any) -> Dimension:
        return self._computed(other, operator.mul)

    def __rmul__(self, other: Any) -> Dimension:
        return self._computed(other, operator.mul, swap=True)

    def __floordiv__(self, other: Any) -> Dimension:
        return self._computed(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return self._computed(other, operator.floordiv, swap=True)

    def __mod__(self, other: Any) -> Dimension:
        return self._computed(other, operator.mod)

    def __rmod__(self, other: Any) -> Dimension:
        return self._computed(other, operator.mod, swap=True)

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

"""Fields of messages that hold numbers and texts, one or several."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import wire


class Single(NamedTuple):
    """A field that holds one number or text.

    checked: the value as the field takes it. serialized: the field of a number. read: the value on
    the wire of a kind. shown: its text. kind: that on the wire.
    """

    default: Any
    checked: Callable[[Any], Any]
    serialized: Callable[[int, Any], bytes]
    read: Callable[[int, Any], Any]
    shown: Callable[[Any], str] = str
    kind: int = wire.BYTES


class Values(list):
    """A field that holds several numbers or texts."""

    #: On the wire: one by one, or several numbers in one field.
    KINDS: ClassVar[tuple[int, ...]] = (wire.BYTES,)

    def __init__(self, values: Iterable[Any] = ()):
        super().__init__(map(self.checked, values))

    @staticmethod
    def checked(value: Any) -> Any:
        """A value as the field takes it. Raises TypeError or ValueError for another."""
        return value

    def append(self, value: Any) -> None:
        super().append(self.checked(value))

    def extend(self, values: Iterable[Any]) -> None:
        super().extend(map(self.checked, values))

    def insert(self, index: Any, value: Any) -> None:
        super().insert(index, self.checked(value))

    def __setitem__(self, place: Any, value: Any) -> None:
        slices = isinstance(place, slice)
        super().__setitem__(
            place, list(map(self.checked, value)) if slices else self.checked(value)
        )

    def shown(self) -> Iterator[str]:
        return map(str, self)


class Ints(Values):
    KINDS: ClassVar = (wire.BYTES, wire.VARINT)

    @staticmethod
    def checked(value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(
                f"{type(value).__name__!r} object cannot be interpreted as an integer"
            ) from None
        if not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"Value out of range: {number}")
        return number

    def serialized(self, number: int, deterministic: bool) -> bytes:
        return wire.field(number, wire.varints(self))

    def read(self, kind: int, value: Any) -> None:
        super().extend([wire.signed(value)] if kind == wire.VARINT else wire.read_varints(value))


class Floats(Values):
    KINDS: ClassVar = (wire.BYTES, wire.FIXED32)

    @staticmethod
    def checked(value: Any) -> float:
        if isinstance(value, (str, bytes)):
            raise TypeError(f"must be real number, not {type(value).__name__}")
        with np.errstate(over="ignore"):
            return float(np.float32(value))

    def serialized(self, number: int, deterministic: bool) -> bytes:
        return wire.field(number, np.array(self, "<f4").tobytes())

    def read(self, kind: int, value: Any) -> None:
        super().extend(np.frombuffer(value, "<f4").tolist())

    def shown(self) -> Iterator[str]:
        return (_shortest(x) for x in self)


class Doubles(Values):
    KINDS: ClassVar = (wire.BYTES, wire.FIXED64)

    @staticmethod
    def checked(value: Any) -> float:
        return _real(value)

    def serialized(self, number: int, deterministic: bool) -> bytes:
        return wire.field(number, np.array(self, "<f8").tobytes())

    def read(self, kind: int, value: Any) -> None:
        super().extend(np.frombuffer(value, "<f8").tolist())


def _shortest(number: float) -> str:
    """The text of a float32: six digits, or nine where they do not tell it."""
    texts = (f"{number:.{digits}g}" for digits in (6, 9))
    return next((text for text in texts if np.float32(text) == np.float32(number)), str(number))


class Texts(Values):
    @staticmethod
    def checked(value: Any) -> bytes:
        if isinstance(value, str):
            raise TypeError("expected bytes, str found")
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, {type(value).__name__} found")
        return value

    def serialized(self, number: int, deterministic: bool) -> bytes:
        return b"".join([wire.field(number, text) for text in self])

    def read(self, kind: int, value: Any) -> None:
        super().append(bytes(value))

    def shown(self) -> Iterator[str]:
        return (f'"{escaped(text)}"' for text in self)


def escaped(text: bytes) -> str:
    special = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    plain = range(32, 127)
    return "".join([special.get(c) or (chr(c) if c in plain else f"\\{c:03o}") for c in text])


def _number(kind: int, value: Any) -> int:
    return wire.signed(value)


def _text_of(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"bad argument type for built-in operation: {value!r}")
    return value


def _real(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


INT = Single(0, Ints.checked, wire.number_field, _number, kind=wire.VARINT)
FLOAT = Single(
    0.0,
    Floats.checked,
    lambda number, value: wire.fixed_field(number, wire.FIXED32, struct.pack("<f", value)),
    lambda kind, value: struct.unpack("<f", value)[0],
    _shortest,
    wire.FIXED32,
)
DOUBLE = Single(
    0.0,
    _real,
    lambda number, value: wire.fixed_field(number, wire.FIXED64, struct.pack("<d", value)),
    lambda kind, value: struct.unpack("<d", value)[0],
    repr,
    wire.FIXED64,
)
TEXT = Single(
    "",
    _text_of,
    lambda number, value: wire.field(number, value.encode()),
    lambda kind, value: bytes(value).decode(),
    lambda value: f'"{escaped(value.encode())}"',
)
DATA = Single(
    b"",
    Texts.checked,
    wire.field,
    lambda kind, value: bytes(value),
    lambda value: f'"{escaped(value)}"',
)

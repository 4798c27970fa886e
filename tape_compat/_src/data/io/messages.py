"""`tf.train.Example` and what it is made of: messages of protocol buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, ClassVar

from . import wire
from .fields import TEXT, Floats, Ints, Single, Texts, Values, escaped


class DecodeError(Exception):
    """Bytes are no message of the class."""


class Message:
    """The base of messages: fields by name, each with its number.

    A field that holds a message is made when it is first looked at, and counts as set when it holds
    something or was set to.
    """

    #: By name: the number of the field, and what it holds.
    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {}
    #: The name of the group of fields of which one is set, and those fields: all if none is named.
    ONE_OF: ClassVar[str] = ""
    GROUP: ClassVar[tuple[str, ...]] = ()

    _fields: dict[str, Any]
    _set: set[str]

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(_fields={}, _set=set())  # past `__setattr__`, which takes its time
        for name, value in fields.items():
            if name not in self.FIELDS:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                self._take(name, value)

    def _take(self, name: str, value: Any) -> None:
        """Set a field from an argument."""
        kind = self.FIELDS[name][1]
        if isinstance(kind, Single):
            setattr(self, name, value)
            return
        made = kind()
        if isinstance(made, Message):
            if isinstance(value, dict):
                value = kind(**value)
            if not isinstance(value, kind):
                raise TypeError(
                    f"Parameter to initialize message field must be dict or instance of same "
                    f"class: expected {kind.__name__} got {type(value).__name__}."
                )
            made.CopyFrom(value)
            self._choose(name)
        else:
            made.update(value) if isinstance(made, dict) else made.extend(value)
        self._fields[name] = made
        self._set.add(name)

    def _alternatives(self) -> Iterable[str]:
        """The fields of which one is set."""
        return (self.GROUP or self.FIELDS) if self.ONE_OF else ()

    def _choose(self, name: str) -> None:
        """Unset the other fields of the group that a field is in."""
        group = self._alternatives()
        if name in group:
            for other in [n for n in self._fields if n != name and n in group]:
                self.ClearField(other)

    def __getattr__(self, name: str) -> Any:
        found = type(self).FIELDS.get(name)
        if found is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if isinstance(found[1], Single):
            return self._fields.get(name, found[1].default)
        return self._fields.setdefault(name, found[1]())

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name not in self.FIELDS:
            raise AttributeError(
                f'Assignment not allowed (no field "{name}" in protocol message object).'
            )
        elif isinstance(kind := self.FIELDS[name][1], Single):
            self._fields[name] = kind.checked(value)
            self._set.add(name)
            self._choose(name)
        else:
            raise AttributeError(
                f'Assignment not allowed to message, map, or repeated field "{name}" in '
                "protocol message object."
            )

    # -- what is set ----------------------------------------------------------------------------

    def HasField(self, field_name: str) -> bool:
        """Whether a field is set that holds a message, or that is one of a group of which one is.
        Raises ValueError for another."""
        kind = self.FIELDS.get(field_name, (0, None))[1]
        if isinstance(kind, Single) and field_name in self._alternatives():
            return field_name in self._set
        if not (isinstance(kind, type) and issubclass(kind, Message)):
            raise ValueError(f"Protocol message {type(self).__name__} has no such field.")
        held = self._fields.get(field_name)
        return field_name in self._set or (held is not None and not held._is_empty())

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The field that is set, of those of which one may be."""
        if not self.ONE_OF or oneof_group != self.ONE_OF:
            raise ValueError(f'Protocol message {type(self).__name__} has no oneof "{oneof_group}"')
        found = [n for n in self._fields if n in self._alternatives() and self.HasField(n)]
        return found[-1] if found else None

    def _is_empty(self) -> bool:
        return "" not in self._set and next(self._held(), None) is None

    def _held(self) -> Iterator[tuple[str, Any]]:
        """The fields that are set, by their numbers."""
        chosen = self.WhichOneof(self.ONE_OF) if self.ONE_OF else None
        group = set(self._alternatives())
        for name in self.FIELDS:
            held = self._fields.get(name)
            if held is None or (name in group and name != chosen):
                continue
            if name in group or (self.HasField(name) if isinstance(held, Message) else held):
                yield name, held

    def ListFields(self) -> list[tuple[str, Any]]:
        """Names and values of the fields that are set."""
        return list(self._held())

    def Clear(self) -> None:
        """Unset all fields."""
        self._fields.clear()
        self._set.clear()

    def ClearField(self, field_name: str) -> None:
        """Unset a field."""
        self._fields.pop(field_name, None)
        self._set.discard(field_name)

    def SetInParent(self) -> None:
        """Count as set in the message that holds this one."""
        self._set.add("")

    # -- bytes ----------------------------------------------------------------------------------

    def SerializeToString(self, deterministic: bool = False) -> bytes:
        """The message as bytes."""
        return b"".join([self._field(*self.FIELDS[n], h, deterministic) for n, h in self._held()])

    def _field(self, number: int, kind: Any, held: Any, deterministic: bool) -> bytes:
        if isinstance(held, Message):
            return wire.field(number, held.SerializeToString(deterministic))
        if isinstance(kind, Single):
            return kind.serialized(number, held)
        return held.serialized(number, deterministic)

    def ByteSize(self) -> int:
        """How many bytes the message takes."""
        return len(self.SerializeToString())

    @classmethod
    def FromString(cls, s: bytes | memoryview) -> Any:
        """The message of these bytes. Raises DecodeError if they are none."""
        made = cls()
        made.MergeFromString(s)
        return made

    def ParseFromString(self, serialized: bytes | memoryview) -> int:
        """Become the message of these bytes. Raises DecodeError if they are none."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes | memoryview) -> int:
        """Take over what the message of these bytes holds."""
        by_number = _by_number(type(self))
        try:
            for number, kind, value in wire.fields(serialized):
                name, holds, kinds = by_number.get(number, _UNKNOWN)
                if kind in kinds:
                    self._read(name, holds, kind, value)
        except ValueError as error:
            raise DecodeError(
                f"Error parsing message with type 'tensorflow.{type(self).__name__}': {error}"
            ) from None
        return len(serialized)

    def _read(self, name: str, holds: Any, kind: int, value: Any) -> None:
        """Take over a field as it is on the wire. holds: what it holds."""
        if isinstance(holds, Single):
            self._fields[name] = holds.read(kind, value)
            self._set.add(name)
            self._choose(name)
            return
        held = self._fields.get(name)
        if held is None:
            held = self._fields[name] = holds()
        if not isinstance(held, Message):
            held.read(kind, value)
            return
        self._choose(name)
        held.MergeFromString(value)
        self._set.add(name)

    def CopyFrom(self, other_msg: Any) -> None:
        """Become a copy of another message of the class."""
        if other_msg is not self:
            self.Clear()
            self.MergeFrom(other_msg)

    def MergeFrom(self, other_msg: Any) -> None:
        """Take over what another message of the class holds."""
        if type(other_msg) is not type(self):
            raise TypeError(
                f"Parameter must be instance of same class: expected {type(self).__name__} got "
                f"{type(other_msg).__name__}."
            )
        self.MergeFromString(other_msg.SerializeToString())
        self._set |= other_msg._set

    def IsInitialized(self) -> bool:
        """Whether all required fields are set: there are none."""
        return True

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.SerializeToString(True) == other.SerializeToString(True)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).FromString, (self.SerializeToString(),)

    # -- text -----------------------------------------------------------------------------------

    def _lines(self) -> Iterator[str]:
        for name, held in self._held():
            kind = self.FIELDS[name][1]
            if isinstance(kind, Single):
                yield f"{name}: {kind.shown(held)}"
                continue
            parts = [held] if isinstance(held, Message) else held.shown()
            for part in parts:
                if isinstance(part, str):
                    yield f"{name}: {part}"
                else:
                    yield f"{name} {{"
                    yield from (f"  {line}" for line in part._lines())
                    yield "}"

    def __repr__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())


@cache
def _by_number(kind: type[Message]) -> dict[int, tuple[str, Any, tuple[int, ...]]]:
    """The fields of a class of messages by their numbers: the name, what the field holds, and its
    kinds on the wire. One of another kind is none of these fields."""
    return {
        number: (
            name,
            holds,
            (holds.kind,) if isinstance(holds, Single) else getattr(holds, "KINDS", (wire.BYTES,)),
        )
        for name, (number, holds) in kind.FIELDS.items()
    }


#: A field that a class does not have.
_UNKNOWN: tuple[str, Any, tuple[int, ...]] = ("", None, ())


class BytesList(Message):
    """Texts: `value` is a list of bytes.

    >>> import tape_compat as tf
    >>> tf.train.BytesList(value=[b"a"]).value
    [b'a']
    """

    FIELDS: ClassVar = {"value": (1, Texts)}


class FloatList(Message):
    """Floats: `value` is a list of numbers, kept as float32.

    >>> import tape_compat as tf
    >>> tf.train.FloatList(value=[1, 0.5]).value
    [1.0, 0.5]
    """

    FIELDS: ClassVar = {"value": (1, Floats)}


class Int64List(Message):
    """Integers: `value` is a list of ints.

    >>> import tape_compat as tf
    >>> tf.train.Int64List(value=range(3)).value
    [0, 1, 2]
    """

    FIELDS: ClassVar = {"value": (1, Ints)}


class Feature(Message):
    """One of `bytes_list`, `float_list` and `int64_list`.

    >>> import tape_compat as tf
    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('int64_list', [3])
    """

    FIELDS: ClassVar = {
        "bytes_list": (1, BytesList),
        "float_list": (2, FloatList),
        "int64_list": (3, Int64List),
    }
    ONE_OF: ClassVar = "kind"


class _Entry:
    """An entry of a map in the text of a message."""

    def __init__(self, key: str, value: Message):
        self._key, self._value = key, value

    def _lines(self) -> Iterator[str]:
        yield f'key: "{escaped(self._key.encode())}"'
        yield "value {"
        yield from (f"  {line}" for line in self._value._lines())
        yield "}"


class Map(dict):
    """A field that holds messages by name; one that is missing is made when it is looked at."""

    KIND: ClassVar[type[Message]]

    def __missing__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise TypeError(f"bad argument type for built-in operation: {key!r}")
        return self.setdefault(key, self.KIND())

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("Direct assignment of submessage not allowed")

    def update(self, values: Any) -> None:  # type: ignore[override]
        for key, value in dict(values).items():
            if isinstance(value, dict):
                value = self.KIND(**value)
            self[key].CopyFrom(value)

    def get_or_create(self, key: str) -> Any:
        """The message of a name, made if it is missing."""
        return self[key]

    def serialized(self, number: int, deterministic: bool) -> bytes:
        keys = sorted(self) if deterministic else self
        parts = []
        for key in keys:
            message = self[key].SerializeToString(deterministic)
            parts.append(wire.field(number, wire.field(1, key.encode()) + wire.field(2, message)))
        return b"".join(parts)

    def read(self, _kind: int, value: Any) -> None:
        key, message = "", memoryview(b"")
        for number, kind, part in wire.fields(value):
            if number == 1 and kind == wire.BYTES:
                key = bytes(part).decode()  # type: ignore[arg-type]
            elif number == 2 and kind == wire.BYTES:
                message = memoryview(part)  # type: ignore[arg-type]
        self[key].ParseFromString(message)
        self[key].SetInParent()

    def shown(self) -> Iterator[_Entry]:
        return (_Entry(key, value) for key, value in self.items())


class _Pair:
    """An entry of a map of numbers or texts in the text of a message."""

    def __init__(self, *lines: str):
        self._shown = lines

    def _lines(self) -> Iterator[str]:
        yield from self._shown


class SingleMap(dict):
    """A field that holds numbers or texts by others; one that is missing is the default."""

    KEY: ClassVar[Single]
    VALUE: ClassVar[Single]

    def __missing__(self, key: Any) -> Any:
        return self.setdefault(self.KEY.checked(key), self.VALUE.default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self.KEY.checked(key), self.VALUE.checked(value))

    def update(self, values: Any) -> None:  # type: ignore[override]
        for key, value in dict(values).items():
            self[key] = value

    def serialized(self, number: int, deterministic: bool) -> bytes:
        keys = sorted(self) if deterministic else self
        entries = [self.KEY.serialized(1, k) + self.VALUE.serialized(2, self[k]) for k in keys]
        return b"".join([wire.field(number, entry) for entry in entries])

    def read(self, _kind: int, value: Any) -> None:
        key, found = self.KEY.default, self.VALUE.default
        for number, kind, part in wire.fields(value):
            if number == 1 and kind == self.KEY.kind:
                key = self.KEY.read(kind, part)
            elif number == 2 and kind == self.VALUE.kind:
                found = self.VALUE.read(kind, part)
        self[key] = found

    def shown(self) -> Iterator[_Pair]:
        # texts are in the order of a hash in TensorFlow
        for key in self if self.KEY is TEXT else sorted(self):
            value = self.VALUE.shown(self[key])
            yield _Pair(f"key: {self.KEY.shown(key)}", f"value: {value}")


class _FeatureMap(Map):
    KIND = Feature


class Features(Message):
    """Features by name: `feature` is a dict of `tf.train.Feature`.

    >>> import tape_compat as tf
    >>> features = tf.train.Features()
    >>> features.feature["age"].int64_list.value.append(3)
    >>> list(features.feature)
    ['age']
    """

    FIELDS: ClassVar = {"feature": (1, _FeatureMap)}


class Messages(Values):
    """A field that holds several messages of a class."""

    KIND: ClassVar[type[Message]]

    @classmethod
    def checked(cls, value: Any) -> Any:  # type: ignore[override]
        if not isinstance(value, cls.KIND):
            raise TypeError(f"a {cls.KIND.__name__} was expected, not {type(value).__name__}")
        return value

    def add(self, **fields: Any) -> Any:
        """A new message at the end."""
        super().append(self.KIND(**fields))
        return self[-1]

    def serialized(self, number: int, deterministic: bool) -> bytes:
        return b"".join([wire.field(number, x.SerializeToString(deterministic)) for x in self])

    def read(self, kind: int, value: Any) -> None:
        super().append(self.KIND.FromString(value))

    def shown(self) -> Iterator[Any]:
        return iter(self)


class _FeatureValues(Messages):
    KIND = Feature


class FeatureList(Message):
    """A sequence of features: `feature` is a list of `tf.train.Feature`.

    >>> import tape_compat as tf
    >>> len(tf.train.FeatureList(feature=[tf.train.Feature()]).feature)
    1
    """

    FIELDS: ClassVar = {"feature": (1, _FeatureValues)}


class _FeatureListMap(Map):
    KIND = FeatureList


class FeatureLists(Message):
    """Sequences of features by name: `feature_list` is a dict of `tf.train.FeatureList`.

    >>> import tape_compat as tf
    >>> tf.train.FeatureLists().feature_list
    {}
    """

    FIELDS: ClassVar = {"feature_list": (1, _FeatureListMap)}


class Example(Message):
    """Features of one example: `features` is a `tf.train.Features`.

    >>> import tape_compat as tf
    >>> ages = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"age": ages}))
    >>> again = tf.train.Example.FromString(example.SerializeToString())
    >>> again == example, again.features.feature["age"].int64_list.value
    (True, [3])
    """

    FIELDS: ClassVar = {"features": (1, Features)}


class SequenceExample(Message):
    """Features of one example, and sequences of features: `context` and `feature_lists`.

    >>> import tape_compat as tf
    >>> example = tf.train.SequenceExample()
    >>> example.feature_lists.feature_list["words"].feature.add().bytes_list.value.append(b"a")
    >>> tf.train.SequenceExample.FromString(example.SerializeToString()) == example
    True
    """

    FIELDS: ClassVar = {"context": (1, Features), "feature_lists": (2, FeatureLists)}


for _class in (BytesList, FloatList, Int64List, Feature, Features, FeatureList, FeatureLists):
    _class.__module__ = "tape_compat.train"
for _class in (Example, SequenceExample):
    _class.__module__ = "tape_compat.train"

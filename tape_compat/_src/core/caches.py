"""Every cache of the engine: each is bounded, and all are emptied by one call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

#: What empties a cache, and how many entries it holds, by name.
_REGISTERED: dict[str, tuple[Callable[[], object], Callable[[], int]]] = {}


def register(name: str, clear: Callable[[], object], count: Callable[[], int]) -> None:
    """Let `clear_caches` empty what is not a `Cache`, and `held` count it."""
    if name in _REGISTERED:
        raise ValueError(f"a cache named {name!r} is registered already")
    _REGISTERED[name] = clear, count


def clear_caches() -> None:
    """Empty every cache: compiled programs, structures seen, closures, shapes worked out."""
    for clear, _ in list(_REGISTERED.values()):
        clear()


def held() -> dict[str, int]:
    """How many entries each cache holds."""
    return {name: count() for name, (_, count) in _REGISTERED.items()}


def keep(table: dict[Any, Value], key: Any, value: Value, bound: int) -> Value:
    """Put a value into a table that holds so many, and is emptied when it is full."""
    if len(table) >= bound:
        table.clear()
    table[key] = value
    return value


class Cache(Generic[Key, Value]):
    """A table of at most `bound` entries; the one that was used longest ago goes first."""

    __slots__ = ("_entries", "_lock", "bound")

    def __init__(self, name: str | None, bound: int):
        self.bound = bound
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.RLock()
        if name is not None:
            register(name, self.clear, self.__len__)

    def get(self, key: Key) -> Value | None:
        found = self._entries.get(key)
        if found is not None:
            try:
                self._entries.move_to_end(key)
            except KeyError:  # another thread has dropped it
                pass
        return found

    def put(self, key: Key, value: Value) -> Value:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self.bound:
                self._entries.popitem(last=False)
        return value

    def pop(self, key: Key) -> Value | None:
        """Drop an entry, and give it."""
        with self._lock:
            return self._entries.pop(key, None)

    def find(self, key: Key, make: Callable[[], Value]) -> Value:
        """The entry, made if there is none: once, whatever thread asks."""
        found = self.get(key)
        if found is None:
            with self._lock:
                found = self._entries.get(key)
                if found is None:
                    found = self.put(key, make())
        return found

    def values(self) -> list[Value]:
        return list(self._entries.values())

    def clear(self) -> None:
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)

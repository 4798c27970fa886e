"""`tensorflow.python.util.object_identity`: sets and dictionaries of objects by what they are.

Two objects are the same key if they are one object, whatever they say of being equal, and those
that cannot be hashed may be keys.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from ..values.tensor import Reference as Reference


class _Strong:
    """A key for one object, which it keeps alive."""

    __slots__ = ("_object",)

    def __init__(self, wrapped: Any):
        self._object = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object; None if it is gone."""
        return self._object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Strong) and self.unwrapped is other.unwrapped

    def __hash__(self) -> int:
        return id(self._object)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self.unwrapped!r}>"


class _Weak(_Strong):
    """A key for one object, which does not keep it alive."""

    __slots__ = ("_hash",)

    def __init__(self, wrapped: Any):
        super().__init__(weakref.ref(wrapped))
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        return self._object()

    def __hash__(self) -> int:
        return self._hash


class ObjectIdentityDictionary(MutableMapping):
    """A dictionary with objects as keys, by identity."""

    _key = _Strong

    def __init__(self) -> None:
        self._storage: dict[_Strong, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._key(key)]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        return _living(self._storage)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same, which forgets objects that nobody holds any more."""

    _key = _Weak


class ObjectIdentitySet(MutableSet):
    """A set of objects, by identity.

    Args:
      elements: to begin with.

    >>> one, other = [1], [1]
    >>> held = ObjectIdentitySet([one, one, other])
    >>> len(held), one in held, [1] in held
    (2, True, False)
    """

    _key = _Strong

    def __init__(self, elements: Iterable[Any] = ()):
        self._storage = dict.fromkeys(map(self._key, elements))

    def __contains__(self, key: Any) -> bool:
        return self._key(key) in self._storage

    def add(self, key: Any) -> None:
        """Hold an object, too."""
        self._storage[self._key(key)] = None

    def discard(self, key: Any) -> None:
        """Hold an object no more."""
        self._storage.pop(self._key(key), None)

    def update(self, items: Iterable[Any]) -> None:
        """Hold some objects, too."""
        for item in items:
            self.add(item)

    def clear(self) -> None:
        """Hold nothing."""
        self._storage.clear()

    def intersection(self, items: Iterable[Any]) -> Any:
        """Those of the set that are among some objects."""
        return self & type(self)(items)

    def difference(self, items: Iterable[Any]) -> Any:
        """Those of the set that are not among some objects."""
        return self - type(self)(items)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        return _living(self._storage)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same, which forgets objects that nobody holds any more."""

    _key = _Weak


def _living(storage: dict[Any, Any]) -> Iterator[Any]:
    """The objects of keys; keys of those that are gone are taken out."""
    for key in list(storage):
        found = key.unwrapped
        if found is None and isinstance(key, _Weak):
            del storage[key]
        else:
            yield found

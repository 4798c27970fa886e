"""Values of checkpoints that wait for parts which their objects have not got yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .tracking import AutoTrackable, children, wrapped

#: The age of a checkpoint, and what gives its values to a part: `give(part, owner, name)`.
Pending = tuple[int, Callable[[Any, Any, str], None]]


class Waiting:
    """The parts of one object that values wait for."""

    def __init__(self) -> None:
        self.pending: dict[str, list[Pending]] = {}
        #: Lists and dicts in the object that wait themselves, since they cannot tell of changes,
        #: and their names there.
        self.inside: list[tuple[Any, Waiting, str]] = []

    def attribute_set(self, owner: Any, name: str) -> None:
        """Give an attribute that was set the values that wait for it."""
        if name in self.pending:
            self._give(owner, [name])
        if any(name == other for *_, other in self.inside):
            now = _parts(owner).get(name)
            if isinstance(now, (list, dict)):  # what waited for the one before waits for this one
                self.inside = [(now if n == name else v, w, n) for v, w, n in self.inside]
        self._look_inside(owner)

    def look_again(self, owner: Any) -> None:
        """Give all parts that are there now the values that wait for them."""
        self._give(owner, list(self.pending))
        self._look_inside(owner)

    def restore_part(self, owner: Any, name: str, part: Any) -> None:
        """Give a part the values that wait for it, the newest first; older ones give what those
        before had not."""
        pending = self.pending.pop(name, [])
        for _, give in sorted(pending, key=lambda each: each[0], reverse=True):
            give(part, owner, name)

    def _give(self, owner: Any, names: Iterable[str]) -> None:
        parts = _parts(owner)
        for name in names:
            if name in parts:
                self.restore_part(owner, name, parts[name])

    def _look_inside(self, owner: Any) -> None:
        for value, waiting, _ in list(self.inside):
            waiting.look_again(value)
        self.inside = [each for each in self.inside if each[1].pending or each[1].inside]
        held = getattr(owner, "__dict__", {})
        if not self.pending and not self.inside and held.get("_self_waiting") is self:
            del held["_self_waiting"]

    def __deepcopy__(self, memo: Any) -> Waiting:
        return Waiting()  # a copy of an object waits for nothing

    def __reduce__(self) -> tuple[Any, ...]:
        return Waiting, ()


def _parts(owner: Any) -> dict[str, Any]:
    """The parts of an object that there are now: a class that gives them itself, as optimizers of
    Keras 2 do, may do so as they were before."""
    found = children(owner)
    if not isinstance(owner, AutoTrackable):
        return found
    return {**AutoTrackable._trackable_children(owner), **found}


class Containers:
    """Where lists and dicts are that have no attributes of their own, to let them wait."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[Any, Any, str]] = {}
        self._now: dict[int, Any] = {}
        self._waiting: dict[int, Waiting] = {}

    def note(self, part: Any, owner: Any, name: str) -> None:
        """`part` is the part `name` of `owner`."""
        self._held[id(part)] = (part, owner, name)

    def waiting_of(self, value: Any) -> Waiting:
        """What waits at an object. A list or dict is replaced by one that tells of changes, where
        only its owner refers to it; else its owner looks into it whenever an attribute is set."""
        value = self._now.get(id(value), value)
        if hasattr(value, "__dict__"):
            return vars(value).setdefault("_self_waiting", Waiting())
        if id(value) in self._waiting:
            return self._waiting[id(value)]
        _, owner, name = self._held[id(value)]
        owner = self._now.get(id(owner), owner)
        if _replaceable(value, owner, name):
            new = self._now[id(value)] = wrapped(value)
            _put(owner, name, new)
            return self.waiting_of(new)
        waiting = self._waiting[id(value)] = Waiting()
        self.waiting_of(owner).inside.append((value, waiting, name))
        return waiting


def _replaceable(value: Any, owner: Any, name: str) -> bool:
    if value.__class__ not in (list, dict):
        return False
    if isinstance(owner, (list, dict)):
        return True
    return getattr(owner, "__dict__", {}).get(name) is value


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, list):
        list.__setitem__(owner, int(name), value)
    elif isinstance(owner, dict):
        dict.__setitem__(owner, name, value)
    else:
        held = vars(owner)
        # Objects of Keras refer to their lists a second time.
        stores = getattr(held.get("_tracker"), "config", {})
        for key, (test, store) in list(stores.items()):
            if store is held[name]:
                stores[key] = test, value
        held[name] = value

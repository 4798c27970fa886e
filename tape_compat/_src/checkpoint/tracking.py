"""What a checkpoint sees of an object: the parts in its attributes, and in lists, dicts and tuples.

Attributes are looked at when an object is saved. What is noted here are the exceptions: names that
are left out, objects tracked under a name that is no attribute, and values of a checkpoint that
wait for an attribute (`_self_waiting`, which `waiting.py` puts there and takes away).
"""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..values.trackable import Recorded, Trackable

_Method = TypeVar("_Method", bound=Callable[..., Any])

#: What is noted about attributes, among the attributes themselves.
NOTES = (
    "_self_waiting",
    "_self_untracked",
    "_self_noted",
    "_self_tracked",
    "_self_setattr_tracking",
    "_self_update_uid",
)


class NoDependency:
    """A value for an attribute that is not to be tracked."""

    def __init__(self, value: Any):
        self.value = value


class AutoTrackable(Trackable):
    """A Trackable whose attributes belong to it."""

    def __setattr__(self, name: str, value: Any) -> None:
        tracked = True
        if value.__class__ is NoDependency:
            tracked, value = False, value.value
        super().__setattr__(name, value)
        held = self.__dict__
        if not tracked or not held.get("_self_setattr_tracking", True):
            held.setdefault("_self_untracked", set()).add(name)
            return
        if "_self_untracked" in held:
            held["_self_untracked"].discard(name)
        if "_self_tracked" in held:
            held["_self_tracked"].pop(name, None)
        if "_self_waiting" in held:
            held["_self_waiting"].attribute_set(self, name)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        for noted in ("_self_untracked", "_self_tracked"):
            names = self.__dict__.get(noted, ())
            if name in names:
                names.remove(name) if isinstance(names, set) else names.pop(name)

    @property
    def _setattr_tracking(self) -> bool:
        """Whether what is assigned to attributes is a part from then on."""
        return vars(self).get("_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        object.__setattr__(self, "_self_setattr_tracking", value)

    def _no_dependency(self, value: Any) -> Any:
        """A value that stays out of checkpoints when it is assigned to an attribute."""
        return NoDependency(value)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The attributes that a checkpoint can hold, and what is tracked besides."""
        held = vars(self)
        left_out = {*NOTES, *held.get("_self_untracked", ())}
        if "_self_noted" in held:  # nothing else is a part
            left_out.update(held.keys() - held["_self_noted"])
        found = {k: v for k, v in held.items() if k not in left_out and is_trackable(v)}
        functions = {}
        if save_type == "savedmodel":
            tuples = {k: v for k, v in held.items() if k not in left_out and holds_function(v)}
            functions = {**tuples, **functions_of(self)}
        return {**found, **functions, **held.get("_self_tracked", {})}


def functions_of(value: Any) -> dict[str, Any]:
    """The `tf.function`s in the attributes of an object and of its class, by their names."""
    found = {name: part for name, part in vars(value).items() if is_function(part)}
    for name in dir(type(value)):
        if name not in found and is_function(inspect.getattr_static(type(value), name, None)):
            found[name] = getattr(value, name)
    return found


def holds_function(value: Any) -> bool:
    """Whether a value is a tuple with a `tf.function` in it, at any depth."""
    return isinstance(value, tuple) and any(is_function(x) or holds_function(x) for x in value)


def is_function(value: Any) -> bool:
    """Whether a value is a `tf.function`, or one of its concrete functions."""
    return isinstance(value, Recorded)


# -- lists, dicts and tuples ---------------------------------------------------------------------


def is_trackable(value: Any) -> bool:
    """Whether a checkpoint keeps a value: a Trackable, a list, a dict, a tuple that holds one."""
    if isinstance(value, Trackable):
        return True
    kind = value.__class__
    if kind in (list, dict, OrderedDict) or isinstance(value, (ListWrapper, _DictWrapper)):
        return True
    return isinstance(value, tuple) and any(is_trackable(part) for part in value)


def children(value: Any) -> dict[str, Any]:
    """The parts of an object or a structure that a checkpoint keeps, by their names.

    Raises: ValueError for a dict that holds such a part at a key that is no string.

    >>> list(children(["a", [], {}])), children({"x": []})
    (['1', '2'], {'x': []})
    """
    if isinstance(value, Trackable):
        return value._trackable_children()
    return {} if is_function(value) else children_of_structure(value)


def children_of_structure(value: Any, functions: bool = False) -> dict[str, Any]:
    """The parts of a list, tuple or dict, as `children` gives them; functions: and those of its
    items that are `tf.function`s."""

    def is_part(item: Any) -> bool:
        if functions and (is_function(item) or holds_function(item)):
            return True
        return is_trackable(item)

    if isinstance(value, (ListWrapper, _DictWrapper)):
        _check_source(value)
    if isinstance(value, dict):
        found = {key: part for key, part in value.items() if is_part(part)}
        if not all(isinstance(key, str) for key in found):
            raise ValueError(
                f"Unable to save the object {value} (a dictionary wrapper constructed "
                "automatically on attribute assignment). The wrapped dictionary contains a "
                "non-string key which maps to a trackable object or mutable data structure."
                "\n\nIf you don't need this dictionary checkpointed, wrap it in a non-trackable "
                "object; it will be subsequently ignored."
            )
        return found
    parts: Iterator[tuple[str, Any]] = ((str(i), part) for i, part in enumerate(value))
    named = zip(getattr(value, "_fields", ()), value)
    return {key: part for key, part in (*named, *parts) if is_part(part)}


def wrapped(value: Any) -> Any:
    """A list or dict that tells those who wait for its parts when something is put in."""
    found = ListWrapper(value) if isinstance(value, list) else _DictWrapper(value)
    found._self_source = value, _parts(value)
    return found


def _parts(value: Any) -> list[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else list(value)


def _check_source(value: Any) -> None:
    """Refuse a list or dict if the one that it was made of has changed since."""
    source, before = vars(value).get("_self_source", ((), []))
    now = _parts(source)
    if len(now) != len(before) or any(a is not b for a, b in zip(now, before)):
        raise ValueError(
            f"Unable to save the object {value} (a wrapper constructed to track trackable "
            "TensorFlow objects, when values of a checkpoint were to wait for it). What it was "
            f"made of was modified outside the wrapper (its final value was {source}). Put new "
            "parts into the attribute."
        )


def _noticed(method: str) -> Callable[..., Any]:
    """A method of lists and dicts after which those that wait for parts look again."""

    def noticed(self: Any, *args: Any, **kwargs: Any) -> Any:
        base = list if isinstance(self, list) else dict
        result = getattr(base, method)(self, *args, **kwargs)
        waiting = self.__dict__.get("_self_waiting")
        if waiting is not None:
            waiting.look_again(self)
        return result

    noticed.__name__ = method
    return noticed


class ListWrapper(list):
    """The class of lists in attributes of TensorFlow's Modules. Here they stay lists, except those
    that values of a checkpoint wait for: they take them when something is put in."""

    _self_source: tuple[Any, list[Any]]

    append, extend, insert = (_noticed(name) for name in ("append", "extend", "insert"))
    __setitem__, __iadd__ = _noticed("__setitem__"), _noticed("__iadd__")


class _DictWrapper(dict):
    """The class of dicts in attributes of TensorFlow's Modules. Here they stay dicts, except those
    that values of a checkpoint wait for."""

    _self_source: tuple[Any, list[Any]]
    __setitem__, update = _noticed("__setitem__"), _noticed("update")
    setdefault, __ior__ = _noticed("setdefault"), _noticed("__ior__")


def untracked(method: _Method) -> _Method:
    """A decorator of methods whose assignments to attributes are not to be tracked."""

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        object.__setattr__(self, "_self_setattr_tracking", False)
        try:
            return method(self, *args, **kwargs)
        finally:
            object.__setattr__(self, "_self_setattr_tracking", before)

    return wrapped  # type: ignore[return-value]

"""The names of values in checkpoints: the way to an object, and its name there."""

from __future__ import annotations

from collections.abc import Iterable

_ATTRIBUTES = ".ATTRIBUTES"
_SLOTS = ".OPTIMIZER_SLOT"


def escaped(name: str) -> str:
    """A name without slashes.

    >>> escaped("a/b.c")
    'a.Sb..c'
    """
    return name.replace(".", "..").replace("/", ".S")


def path_of(names: Iterable[str]) -> str:
    """The way to an object, from part to part.

    >>> path_of(["layers", "0"])
    'layers/0'
    """
    return "/".join(map(escaped, names))


def value_key(path: str, name: str) -> str:
    """The key of a value of an object.

    >>> value_key("v", "VARIABLE_VALUE")
    'v/.ATTRIBUTES/VARIABLE_VALUE'
    """
    return f"{path}/{_ATTRIBUTES}/{name}"


def slot_path(variable: str, optimizer: str, slot: str) -> str:
    """Where a variable is that an optimizer keeps for another one."""
    return f"{variable}/{_SLOTS}/{optimizer}/{escaped(slot)}"

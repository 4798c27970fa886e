"""The names of `tf.compat.v1` that are what they are in `tf`.

`version1.tsv` beside this file has a line a namespace: its name below `tf.compat.v1`, and its
names; `cholesky=linalg.cholesky` is `tf.linalg.cholesky`, and `*` is everything of the namespace of
`tf` with the same name. `python -m tests.ledger` writes it from TensorFlow.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pkgutil
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import names

_PACKAGE = __name__.partition(".")[0]
_HERE = f"{_PACKAGE}.compat.v1"


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """Of each namespace, '' for `tf.compat.v1` itself, the names and what they are below `tf`.

    >>> from tape_compat._src.interop.version1 import table
    >>> table()[""]["cholesky"], table()["linalg"]["det"], table()["bitwise"]
    ('linalg.cholesky', 'linalg.det', {'*': 'bitwise.*'})
    """
    data = pkgutil.get_data(__name__, "version1.tsv")
    assert data is not None
    found = {}
    for line in data.decode().splitlines():
        space, _, listed = line.partition("\t")
        above = f"{space}." if space else ""
        pairs = (each.partition("=") for each in listed.split())
        found[space] = {name: place or f"{above}{name}" for name, _, place in pairs}
    return found


#: Where all names are, and `__version__`: `tensorflow`, once that is ours.
package = _PACKAGE


def _of_tf(place: str) -> Any:
    """'linalg.det' is `tf.linalg.det`."""
    space, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"{_PACKAGE}.{space}".rstrip(".")), name)


@functools.cache
def _namespaces() -> frozenset[str]:
    """'types.experimental', and 'types' that it is in."""
    parts = [space.split(".") for space in table() if space]
    return frozenset(".".join(each[:end]) for each in parts for end in range(1, len(each) + 1))


def _space(module_name: str) -> str:
    return module_name.removeprefix(_HERE).lstrip(".")


def names_of(module_name: str) -> set[str]:
    """Those that a module of `tf.compat.v1` has by the table, and the namespaces below it.

    >>> from tape_compat._src.interop.version1 import names_of
    >>> sorted(names_of("tape_compat.compat.v1.manip"))[:3]
    ['reshape', 'reverse', 'roll']
    """
    space = _space(module_name)
    found = set(table().get(space, ()))
    if "*" in found:
        found |= set(importlib.import_module(f"{_PACKAGE}.{space}").__all__)
    start = f"{space}." if space else ""
    below = {each[len(start) :] for each in _namespaces() if each.startswith(start)}
    return {name for name in found | below if name != "*" and "." not in name}


def face(module_name: str) -> None:
    """Make a face of a module of `tf.compat.v1`: `names.face`, with what the table has."""
    names.face(module_name)
    module, space = sys.modules[module_name], _space(module_name)
    other, own = module.__getattr__, vars(module).pop("__all__")
    listed = table().get(space, {})

    def attribute(name: str) -> Any:
        if name == "__all__":
            return sorted({*own, *names_of(module_name)})
        if name == "__version__" and not space:
            return sys.modules[package].__version__
        if f"{space}.{name}".lstrip(".") in _namespaces():
            return importlib.import_module(f"{module_name}.{name}")
        if name in listed:
            return _of_tf(listed[name])
        if "*" in listed and not name.startswith("_"):
            with contextlib.suppress(AttributeError):
                return _of_tf(f"{space}.{name}")
        return other(name)

    def directory() -> list[str]:
        return sorted({*vars(module), *own, *names_of(module_name)})

    vars(module).update(__getattr__=attribute, __dir__=directory)
    if not space:
        _make_namespaces(module)


def _files(folder: str, above: str = "") -> set[str]:
    """'data' and 'data.experimental', which have files."""
    found = set()
    for info in pkgutil.iter_modules([folder]):
        found.add(above + info.name)
        if info.ispkg:
            found |= _files(os.path.join(folder, info.name), f"{above}{info.name}.")
    return found


def _make_namespaces(version1: ModuleType) -> None:
    """Modules for those namespaces of the table that have no file."""
    for space in sorted(_namespaces() - _files(version1.__path__[0])):
        name = f"{_HERE}.{space}"
        module = ModuleType(name, f"`tf.compat.v1.{space}`.")
        module.__spec__, module.__path__ = ModuleSpec(name, None, is_package=True), []
        sys.modules[name] = module
        face(name)

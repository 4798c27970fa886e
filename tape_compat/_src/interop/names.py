"""TensorFlow's public names: those that are here, and why the others are not.

The ledger is `names.tsv` beside this file, one row a name. `where` is the module below `_src` that
a name is from, empty for one that is missing; `reason` says why it is missing, and a name without
one has that of the namespace it is in. `python -m tests.ledger` brings it up to date.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

_PACKAGE = __name__.partition(".")[0]


class Name(NamedTuple):
    """A row: 'tf.math.exp', its other names, how much libraries use it (1 most), where it is."""

    name: str
    aliases: tuple[str, ...]
    tier: str
    where: str
    reason: str


@functools.cache
def ledger() -> dict[str, Name]:
    """The rows by their names. Read when a name is missed for the first time."""
    data = pkgutil.get_data(__name__, "names.tsv")
    assert data is not None
    head, *lines = [line.split("\t") for line in data.decode().splitlines()]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    return {row["name"]: Name(**{**row, "aliases": tuple(row["aliases"].split())}) for row in rows}


@functools.cache
def _rows() -> dict[str, Name]:
    """The rows by every name, aliases too."""
    return {name: row for row in ledger().values() for name in (row.name, *row.aliases)}


def reason(name: str) -> str:
    """Why 'tf.sysconfig' is missing; '' for a name that TensorFlow has not, or that is here. A name
    of `tf.compat.v1` without a reason of its own has that of the one in `tf`.

    >>> from tape_compat._src.interop.names import reason
    >>> reason("tf.sysconfig.get_build_info"), reason("tf.exp"), reason("tf.exq")
    ("belongs to TensorFlow's runtime, which is not here", '', '')
    """
    asked = name
    while name:
        row = _rows().get(name)
        if row and row.reason:
            return row.reason
        if row and row.where:
            break
        name = (row.name if row else name).rpartition(".")[0]
    of_v1 = asked.startswith("tf.compat.v1.")
    return reason(asked.replace("compat.v1.", "", 1)) if of_v1 else ""


def face(module_name: str, later: Mapping[str, tuple[str, str]] | None = None) -> None:
    """Make a face of a module that has imported its names.

    The faces below it are imported when they are first used, `dir()` and `*` name them, and a name
    of TensorFlow's that is missing raises AttributeError with the reason.

    Args:
      later: names that are imported when they are first used: the modules below `_src` that they
        are from, and their names there.

    >>> import tape_compat as tf
    >>> tf.sysconfig
    Traceback (most recent call last):
        ...
    AttributeError: module 'tape_compat' has no attribute 'sysconfig': tf.sysconfig belongs to ...
    """
    module = sys.modules[module_name]
    below = [
        found.name
        for found in pkgutil.iter_modules(getattr(module, "__path__", ()))
        if not found.name.startswith("_")
    ]
    later = later or {}
    public = sorted({*below, *later, *(name for name in vars(module) if name[0].isalpha())})

    def attribute(name: str) -> Any:
        if name in below:
            return importlib.import_module(f"{module_name}.{name}")
        if name in later:
            where, named = later[name]
            found = getattr(importlib.import_module(f"{_PACKAGE}._src.{where}"), named)
            return vars(module).setdefault(name, found)
        wanted = f"{module_name}.{name}".replace(_PACKAGE, "tf", 1)
        why = "" if name == "__path__" else reason(wanted)  # every import asks for that
        because = f": {wanted} {why}" if why else ""
        message = f"module {module_name!r} has no attribute {name!r}{because}"
        # Python suggests another name of `obj`, but not for one that has a reason to be missing.
        raise AttributeError(message, name=name, obj=None if why else module)

    vars(module).update(
        __all__=public,
        __getattr__=attribute,
        __dir__=lambda: sorted({*vars(module), *below, *later}),
    )

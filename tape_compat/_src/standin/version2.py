"""`tf.compat.v2`: the names of `tf`, for programs that import it as `tf`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..interop import version1

_PACKAGE = __name__.partition(".")[0]
_OF_ALL = ("__all__", "__internal__", "__operators__", "__version__")


def _all() -> ModuleType:
    """Where all names are: `tensorflow`, if that is ours, has some more."""
    return sys.modules[version1.package]


def attribute(name: str) -> Any:
    """`tf.NAME`.

    Raises: AttributeError, with the reason, for a name that is not there.
    """
    if name == "__all__":
        return sys.modules[_PACKAGE].__all__
    if name.startswith("__") and name not in _OF_ALL:
        raise AttributeError(f"module '{_PACKAGE}.compat.v2' has no attribute {name!r}")
    return getattr(_all(), name)


def face(module_name: str) -> None:
    """Make a module `tf.compat.v2`."""
    vars(sys.modules[module_name]).update(__path__=[], __dir__=lambda: dir(_all()))

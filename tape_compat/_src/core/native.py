"""What the engine has in C, where a compiler was found when the package was installed.

The same stands in Python, marked `@native`: `native/layout.c` lists these twins, and the slots of
the classes that C reads. TAPE_COMPAT_PURE_PYTHON=1 keeps to Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

try:
    from ..native import _fastpath
except ImportError:
    _fastpath = None  # type: ignore[assignment]
try:
    from ..native import _kernels
except ImportError:
    _kernels = None  # type: ignore[assignment]

_Twin = TypeVar("_Twin", bound=Callable[..., Any])

#: The version of the C code that the Python functions agree with.
VERSION = 42


_PURE_PYTHON = os.environ.get("TAPE_COMPAT_PURE_PYTHON", "0").lower() not in ("", "0", "false")


def _load() -> ModuleType | None:
    if _PURE_PYTHON:
        return None
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None  # the C code relies on the global lock
    return _fastpath if getattr(_fastpath, "VERSION", None) == VERSION else None


#: The module, or None: not built, built from another version, or switched off.
FASTPATH = _load()

#: What XLA calls in its programs, see `core/kernels.py`; None likewise.
KERNELS: ModuleType | None = None if _PURE_PYTHON else _kernels

#: What is marked `@native`, as it stands in Python.
TWINS: dict[str, Any] = {}


def provide(**objects: Any) -> None:
    """Let C know these objects."""
    if FASTPATH is not None:
        FASTPATH.provide(**objects)


def native(twin: _Twin) -> _Twin:
    """Decorate what C has too: gives what stands there under this name, where it was built. A class
    that C only reads is made known to it and stays."""
    name = twin.__name__
    own = getattr(FASTPATH, name, None)
    TWINS[name] = twin
    if not isinstance(own, type):
        provide(**{name: twin})
    return own or twin  # type: ignore[return-value]


def native_calls(kind: str, *details: Any, **named: Any) -> Callable[[_Twin], _Twin]:
    """Decorate a function whose commonest calls are then done in C, where it was built. The kind
    of calls and the details are those of `Function` in `native/function.c`. As `in_c` it has what
    does the same for another function with these calls."""

    def decorate(function: _Twin) -> _Twin:
        if FASTPATH is None:
            return function
        function.in_c = decorate  # type: ignore[attr-defined]
        return FASTPATH.Function(kind, function, *details, **named)

    return decorate

"""What the engine has in C, where a compiler was found when the package was installed.

The same functions stand in Python in the modules that use them, which take these instead where
there are any. TAPE_COMPAT_PURE_PYTHON=1 keeps to Python.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

try:
    from ..native import _fastpath
except ImportError:
    _fastpath = None  # type: ignore[assignment]

#: The version of `_fastpath.c` that the Python functions agree with.
VERSION = 19


def _load() -> ModuleType | None:
    if os.environ.get("TAPE_COMPAT_PURE_PYTHON", "0").lower() not in ("", "0", "false"):
        return None
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None  # the C code relies on the global lock
    return _fastpath if getattr(_fastpath, "VERSION", None) == VERSION else None


#: The module, or None: not built, built from another version, or switched off.
FASTPATH = _load()

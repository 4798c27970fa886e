"""`tf.compat.v1.app` and `flags`, which are `absl`'s, where that is installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def _absl(name: str) -> ModuleType:
    """A module of absl's. Raises: AttributeError where it is not installed."""
    try:
        return importlib.import_module(f"absl.{name}")
    except ImportError:
        raise AttributeError(
            f"tf.compat.v1.{name} is absl's, which is not installed: pip install absl-py"
        ) from None


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """Read the flags of the command line, run `main` with what is left, and exit."""
    main = main or sys.modules["__main__"].main
    flags = _absl("flags")

    def parse(arguments: list[str]) -> Any:
        return flags.FLAGS(sys.argv if argv is None else argv, known_only=True)

    _absl("app").run(main=main, argv=argv, flags_parser=parse)


def flag(name: str) -> Any:
    """A name of `absl.flags`."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_absl("flags"), name)


def face(module_name: str) -> None:
    """Make a module `absl.flags`."""
    vars(sys.modules[module_name])["__dir__"] = lambda: dir(_absl("flags"))

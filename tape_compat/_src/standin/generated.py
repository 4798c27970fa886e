"""The modules `tensorflow.python.ops.gen_*`: raw ops by their names in Python, `mat_mul`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..library.raw.calls import function


def __getattr__(name: str) -> Callable[..., Any]:
    try:
        return function(name)
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

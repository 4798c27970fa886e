"""Arithmetic on the host, by the conventions of XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .native import native


@native
def flushed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function while subnormal numbers count as zero; in Python they do not."""
    return function(*arguments)


def on_host(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call what computes by NumPy: overflow, NaN and division by zero are no news, and subnormal
    numbers are zero where the C part was built.

    >>> on_host(np.divide, np.float32(1), np.float32(0))
    np.float32(inf)
    """
    with np.errstate(all="ignore"):
        return flushed(function, arguments)

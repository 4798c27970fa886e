"""Waiting for a value that a program still computes."""

from __future__ import annotations

import os
from typing import Any

import jax
import numpy as np

from . import policy


def _cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: On a single core, looking would keep the program from running.
_LOOKS = policy.LOOKS if _cores() > 1 else 0

#: How many values are waited for asleep before one is looked for again.
_asleep = 0


def copied(array: jax.Array | np.ndarray) -> np.ndarray:
    """The value, once it is there, as an array of its own whose rows lie one after the other."""
    if not isinstance(array, np.ndarray):
        _look_for(array)
    return np.array(array, order="C")


def _look_for(array: jax.Array) -> None:
    """Ask a while whether the value is there: to put a thread to sleep and to wake it takes as long
    as a small program. Where programs take longer, most threads sleep at once."""
    global _asleep
    if _asleep:
        _asleep -= 1
        return
    is_ready: Any = getattr(array, "is_ready", None)  # not every JAX array can tell
    if is_ready is None:
        return
    for _ in range(_LOOKS):
        if is_ready():
            return
    _asleep = policy.SLEEPS

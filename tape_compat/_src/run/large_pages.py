"""Large pages for what large programs compute, on Linux.

XLA takes one block of memory for all that a program computes, and glibc gives a block above 32 MB
back to the system after each run. So its pages are new at each run: those of 4 KB take 0.3 ms a
megabyte, half of the time of a convolutional network with batches of 512; those of 2 MB a fifth of
that. By default Linux gives these to who asks for them. A call at the beginning of the program asks
for them, for as much room as the program takes: what comes behind it has the same room.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core.kernels import registered
from ..core.native import KERNELS
from .memory import physical

_TARGET = "tape_compat_large_pages"
_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")


class Room(NamedTuple):
    """What a program takes: so many bytes, and on which of its array leaves what is large
    depends."""

    nbytes: int
    leaf: int


@cache
def available() -> bool:
    """Whether the system gives large pages to those only who ask for them, and XLA takes the
    call."""
    call = getattr(KERNELS, "LARGE_PAGES", None)
    if call is None or jax.default_backend() != "cpu":
        return False
    try:
        if "[madvise]" not in _SETTING.read_text():
            return False
    except OSError:  # another system
        return False
    return registered("Large programs have small pages", **{_TARGET: call})


@cache
def _most() -> int:
    """How much is asked for at most: what is not touched takes no memory, but the system may refuse
    what it cannot have."""
    return physical() // 4


def asking(room: Room, leaves: tuple[Any, ...]) -> tuple[Any, ...]:
    """The leaves of a program that is being traced, one of them as what the call gives."""
    array = leaves[room.leaf]
    kinds = [jax.ShapeDtypeStruct(array.shape, array.dtype)]
    kinds.append(jax.ShapeDtypeStruct((min(room.nbytes, _most()),), np.uint8))
    given, _ = jax.ffi.ffi_call(_TARGET, kinds, input_output_aliases={0: 0})(array)
    return (*leaves[: room.leaf], given, *leaves[room.leaf + 1 :])

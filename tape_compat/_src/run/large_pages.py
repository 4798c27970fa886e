"""Pages for what large programs compute, on Linux: those of the last run, and large ones.

XLA takes one block of memory for all that a program computes, and glibc gives a block above 32 MB
back to the system after each run. So its pages are new at each run, and the system clears them:
those of 4 KB take 0.3 ms a megabyte, half of the time of a convolutional network with batches of
512; those of 2 MB a fifth of that. A call at the end of the program keeps its pages for the next
run, and one at the beginning puts them there again, for as much room as the program takes: what
comes behind it has the same room. It also asks for large ones, which by default Linux gives to who
asks for them. What the calls do is in `native/pages.c`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import caches
from ..core.kernels import registered
from ..core.native import KERNELS
from . import policy
from .memory import physical

_BEGIN, _END = "tape_compat_large_pages", "tape_compat_kept_pages"


class Room(NamedTuple):
    """What a program takes: so many bytes, and on which of its array leaves what is large
    depends."""

    nbytes: int
    leaf: int


@cache
def available() -> bool:
    """Whether XLA takes the calls, and the system has what they do."""
    calls = [getattr(KERNELS, name, None) for name in ("LARGE_PAGES", "KEPT_PAGES")]
    if sys.platform != "linux" or None in calls or jax.default_backend() != "cpu":
        return False
    names = dict(zip((_BEGIN, _END), calls, strict=True))
    return registered("Large programs have new pages at each run", **names)


def _kept(forget: bool = False) -> int:
    """How many bytes are kept; with `forget` they are given back."""
    call = getattr(KERNELS, "kept_pages", None)
    return 0 if call is None else call(forget)


caches.register("pages", partial(_kept, True), _kept)


@cache
def _most() -> int:
    """How much is asked for at most: what is not touched takes no memory, but the system may refuse
    what it cannot have."""
    return physical() // 4


def asking(room: Room, leaves: Sequence[Any]) -> tuple[Any, ...]:
    """The leaves of a program that is being traced, one of them as what the first call gives."""
    given = _call(_BEGIN, min(room.nbytes, _most()), leaves[room.leaf])
    return (*leaves[: room.leaf], given, *leaves[room.leaf + 1 :])


def keeping(room: Room, results: Sequence[Any]) -> tuple[Any, ...]:
    """The results of such a program, the smallest as what the last call gives: it comes behind them
    all."""
    least = min(range(len(results)), key=lambda i: results[i].size)
    rest = (*results[:least], *results[least + 1 :])
    given = _call(_END, min(room.nbytes, policy.KEPT_PAGES, _most()), results[least], *rest)
    return (*rest[:least], given, *rest[least:])


def _call(target: str, nbytes: int, *arrays: Any) -> Any:
    """The first array, when a call is done that has the others, too, and so much room."""
    first = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
    kinds = [first, jax.ShapeDtypeStruct((nbytes,), np.uint8)]
    return jax.ffi.ffi_call(target, kinds, input_output_aliases={0: 0})(*arrays)[0]

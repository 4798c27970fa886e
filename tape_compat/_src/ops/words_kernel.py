"""Random words on processors by a kernel of this library's own, `native/words.c`."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from ..core.kernels import PROGRAMS, registered
from ..core.native import KERNELS

_TARGET = "tape_compat_words"


@functools.cache
def _registered() -> bool:
    """Whether there is such a kernel, and XLA as it is installed takes it."""
    handler = getattr(KERNELS, "WORDS", None)
    if handler is None:
        return False
    try:
        jax.devices("cpu")  # starts XLA
    except RuntimeError:
        return False
    return registered("Random words are made by XLA", **{_TARGET: handler})


def available() -> bool:
    """Whether it may be called in the program that is traced."""
    return PROGRAMS.own and _registered()


def random_words(generator: Any, parts: int, length: int, apart: int) -> Any:
    """Words, uint32 [parts, length, 4], of `generator`: the halves of a counter and a key, uint64
    [3]. They are of `length` blocks at a time, which begin `apart` after each other."""
    return jax.ffi.ffi_call(
        _TARGET,
        jax.ShapeDtypeStruct((parts, length, 4), np.uint32),
        vmap_method="broadcast_all",
    )(generator, numbers=np.array([length, apart], "int64"))

"""What takes more memory than the device has.

XLA allocates in another thread: the call succeeds, and what it gave raises when it is read. Buffers
that it was given are gone by then. So nothing is given to what takes much, and it is waited for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache

import jax

from ..core.avals import Aval
from ..core.errors import ResourceExhaustedError
from . import policy


def physical() -> int:
    """The bytes of memory of this machine; very many where the system does not say."""
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@cache
def of_device() -> int:
    """The bytes that programs may have on the device."""
    limit = (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit", 0)
    return limit or physical()


def may_lack(nbytes: int) -> bool:
    """Whether so much may be more than there is."""
    return nbytes > policy.SAFE_SHARE_OF_MEMORY * of_device()


def may_copy(nbytes: int) -> bool:
    """Whether copies of so much do not make that worse."""
    return nbytes <= policy.COPIED_SHARE_OF_MEMORY * of_device()


def lacks(error: BaseException) -> bool:
    """Whether an error says that there was not enough memory."""
    if isinstance(error, jax.errors.JaxRuntimeError):
        text = str(error)
        return "RESOURCE_EXHAUSTED" in text or "Out of memory" in text  # INTERNAL in JAX 0.8
    return isinstance(error, MemoryError)


def exhausted(error: BaseException, name: str, outputs: Sequence[Aval]) -> ResourceExhaustedError:
    """What an op of that name raises for want of memory. outputs: the avals of its results."""
    largest = max(outputs, key=lambda aval: aval.nbytes)
    shape = ",".join(map(str, largest.shape))
    message = (
        f"OOM when allocating tensor with shape[{shape}] and type {largest.dtype.name} on "
        f"{jax.default_backend()} [Op:{name}]. Variables keep their values; try smaller batches. "
        f"({error})"
    )
    return ResourceExhaustedError(None, None, message)

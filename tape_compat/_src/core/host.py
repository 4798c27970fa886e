"""Arithmetic on the host, by the conventions of XLA."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import LibController, ThreadpoolController

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


@cache
def keep_freed_memory() -> None:
    """Have glibc keep some 60 MB of what is freed. It returns what is more than twice the largest
    block that was ever freed, of those up to 32 MB; pages that come back are new, 0.3 ms a
    megabyte: half of the time of a convolutional network. The block is never touched."""
    np.empty((1 << 25) - (1 << 16), np.uint8)


@cache
def _malloc_trim() -> Callable[[int], Any] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return None


def return_freed_memory() -> None:
    """Have glibc return what is freed and lies between what is not: a compile leaves some 30 MB in
    the heaps of the threads that did it. Takes 1 to 30 ms."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


class one_thread:
    """Context: OpenBLAS, of NumPy and of SciPy, whose LAPACK is JAX's, works in one thread. It lets
    its threads spin: beside other work a product of 1 ms took 25 ms, and an SVD of 128 x 128 that
    takes 1.1 ms took 730. Entering costs 5 us."""

    def __enter__(self) -> None:
        try:
            _limit(self)
        except BaseException:  # an interrupt
            _release(self)
            raise

    def __exit__(self, *_: object) -> None:
        _release(self)


def in_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """`on_host` with one thread for the products of matrices."""
    with one_thread():
        return on_host(function, *arguments)


#: Contexts that are entered, whatever their thread, and how many threads each library had before.
_CALLS: set[object] = set()
_LIMITS: list[tuple[LibController, int]] = []
_LOCK = threading.RLock()


@cache
def _loaded(with_scipy: bool) -> list[LibController]:
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _blas() -> list[LibController]:
    """The libraries that are loaded; that of SciPy is when JAX first calls LAPACK."""
    return _loaded("scipy.linalg.cython_lapack" in sys.modules)


def _limit(call: object) -> None:
    with _LOCK:
        _CALLS.add(call)
        if not _LIMITS:
            for library in _blas():
                _LIMITS.append((library, library.get_num_threads() or 1))
                library.set_num_threads(1)


def _release(call: object) -> None:
    with _LOCK:
        _CALLS.discard(call)
        while not _CALLS and _LIMITS:
            library, threads = _LIMITS[-1]
            library.set_num_threads(threads)
            _LIMITS.pop()


def _in_child() -> None:
    """After a fork there is no other thread, and nothing runs."""
    global _LOCK
    _LOCK = threading.RLock()
    for call in list(_CALLS):
        _release(call)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

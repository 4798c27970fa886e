"""Arithmetic on the host, by the conventions of XLA."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

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


def in_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """`on_host` with one thread for the products of matrices. OpenBLAS lets its threads spin:
    beside other work a product of 1 ms took 25 ms. Entering costs 10 us."""
    with _ONE_THREAD:
        return on_host(function, *arguments)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


class _OneThread:
    """Context: BLAS has one thread while any thread is in here; then as many as it had."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limits = _blas().limit(limits=1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_ONE_THREAD = _OneThread()

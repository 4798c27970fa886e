"""Which programs may call kernels of this library's own (`native/kernels.c`, by `jax.ffi`).

Only one that this process compiles and runs itself. What is exported is to run elsewhere, and what
a user's own transformation traces may be exported: there XLA does everything.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .native import KERNELS

LOGGER = logging.getLogger("tape_compat")

#: Floats of a vector of AVX2: processors with less are not worth kernels, nor measured.
_LEAST_WIDTH = 8

#: Floats of a vector of this processor; 0 where no convolutions are done by kernels.
WIDTH = KERNELS.WIDTH if KERNELS is not None and KERNELS.WIDTH >= _LEAST_WIDTH else 0


def width_of(dtype: Any) -> int:
    """Numbers of a vector, of float32 or of float64."""
    return WIDTH // 2 if dtype == np.float64 else WIDTH


class _Programs(threading.local):
    """Whether this thread traces such a program."""

    own = False


PROGRAMS = _Programs()


def tracing(own: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, in the trace of a program that may call kernels, or may not."""

    @functools.wraps(function)
    def traced(*arrays: Any) -> Any:
        before = PROGRAMS.own
        try:  # no context: to leave one takes a call, for which there may be no stack left
            PROGRAMS.own = own
            return function(*arrays)
        finally:
            PROGRAMS.own = before

    return traced


def of_axes(
    strides: Sequence[int], dilations: Sequence[int], low: Sequence[int], apart: Sequence[int]
) -> tuple[int, ...]:
    """What kernels of convolutions take for the axes of images, which are the last of three."""
    ones = (1,) * (3 - len(strides))
    return (*ones, *strides, *ones, *dilations, *[0] * len(ones), *low, *ones, *apart)


@functools.cache
def available(refused: str, **names: str) -> bool:
    """Whether there are such kernels on this processor, and XLA takes them: by the names that calls
    have, those in `KERNELS`. refused: what is logged if it does not."""
    handlers = {call: getattr(KERNELS, name, None) for call, name in names.items()}
    if None in handlers.values():
        return False
    try:
        jax.devices("cpu")  # starts XLA
    except RuntimeError:
        return False
    return registered(refused, **handlers)


def registered(refused: str, **handlers: Any) -> bool:
    """Whether XLA takes these handlers, by the names that calls have. It must have started: what is
    registered earlier is refused when it does, with all of it. refused: what is logged if not."""
    try:
        for name, handler in handlers.items():
            jax.ffi.register_ffi_target(name, handler, platform="cpu")
    except Exception as error:  # of another version of XLA's interface; JAX's are of many classes
        LOGGER.warning("%s: %s", refused, error)
        return False
    return True


#: Floating dtypes that kernels take, short ones as float32.
FLOATS = (np.float32, np.float64, np.float16, jnp.bfloat16)


def in_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays of one floating dtype, which does short floats in float32."""

    def call(*arrays: Any) -> Any:
        dtype = jnp.promote_types(arrays[0].dtype, np.float32)
        return function(*[x.astype(dtype) for x in arrays]).astype(arrays[0].dtype)

    return call


def call_function(target: str, number: int, *arrays: Any) -> Any:
    """Function `number` of the kernel `target` of arrays of one shape and floating dtype: short
    floats are computed as float32."""

    def function(*arrays: Any) -> Any:
        made = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
        call = jax.ffi.ffi_call(target, made, vmap_method="broadcast_all")
        return call(*arrays, numbers=np.array([number], "int64"))

    return in_floats(function)(*arrays)


class Apart:
    """A function that JAX keeps traces of, in two forms: a trace with calls of kernels serves no
    program that may not have them.

    make: what makes a form of the function, such as `jax.jit`.
    """

    __slots__ = ("__weakref__", "_forms")

    def __init__(self, make: Callable[..., Any], function: Callable[..., Any]):
        self._forms = [make(tracing(own, function)) for own in (False, True)]

    def __call__(self, *arrays: Any) -> Any:
        return self._forms[PROGRAMS.own](*arrays)

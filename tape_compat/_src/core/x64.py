"""JAX's 64-bit dtypes: on for what the engine does, as they were for everything else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import jax

#: The context; another one in a forked process, see `values/forked.py`.
enable_x64: Callable[..., Any] = jax.enable_x64


def in_x64(function: Callable[..., Any], *args: Any, on: bool = True) -> Any:
    """Call a function with 64-bit dtypes on, or off, in this thread.

    >>> import jax.numpy as jnp, numpy as np
    >>> in_x64(jnp.asarray, np.float64(1.0)).dtype, jnp.asarray(np.float64(1.0)).dtype
    (dtype('float64'), dtype('float32'))
    """
    context = enable_x64(on)
    try:
        with context:
            return function(*args)
    except BaseException:
        # An interrupt may have come while the context was being left: leave it again, which does
        # nothing the second time.
        with contextlib.suppress(AttributeError):  # it had not been entered
            context.__exit__(None, None, None)
        raise

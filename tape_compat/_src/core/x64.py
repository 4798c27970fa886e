"""JAX's 64-bit dtypes: on for what the engine does, as they were for everything else."""

from __future__ import annotations

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
    before = jax.config.read("jax_enable_x64")
    try:
        with enable_x64(on):
            return function(*args)
    except BaseException:
        # An interrupt may have come while the context was being entered or left.
        if jax.config.read("jax_enable_x64") != before:
            enable_x64(before).__enter__()
        raise

"""JAX's settings while the engine calls it: 64-bit dtypes are on, dtypes and ranks may be mixed,
whatever a user has set for everything else."""

from __future__ import annotations

import functools
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


#: JAX's defaults of `jax_numpy_dtype_promotion` and `jax_numpy_rank_promotion`.
_PROMOTIONS = ("standard", "allow")


def as_jax_comes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, for JAX to trace: it may mix dtypes and ranks, whether a user's own JAX
    code may or not.

    >>> import jax, jax.numpy as jnp
    >>> add = as_jax_comes(lambda x: x + jnp.arange(2))
    >>> with jax.numpy_dtype_promotion("strict"):
    ...     jax.eval_shape(add, 1.0).dtype
    dtype('float32')
    """

    @functools.wraps(getattr(function, "func", function))  # programs have its name
    def traced(*arrays: Any) -> Any:
        config: Any = jax.config
        if (config.jax_numpy_dtype_promotion, config.jax_numpy_rank_promotion) == _PROMOTIONS:
            return function(*arrays)
        dtypes, ranks = _PROMOTIONS
        with jax.numpy_dtype_promotion(dtypes), jax.numpy_rank_promotion(ranks):
            return function(*arrays)

    return traced

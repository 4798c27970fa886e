"""Settings of JAX's that a user may have changed, and that what is traced here does not go by."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

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

"""What stands in for `jax.experimental.jax2tf`: functions of JAX are ops here as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interop.jax import as_op


def convert(fun_jax: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function on tensors. The options say how TensorFlow is to embed it: nothing is embedded.

    Raises: NotImplementedError for `with_gradient=False`.

    >>> import jax.numpy as jnp
    >>> convert(jnp.square)(3.0).numpy().item()
    9.0
    """
    if options.get("with_gradient") is False:
        raise NotImplementedError("jax2tf.convert(with_gradient=False): use tf.stop_gradient")
    return as_op(fun_jax)

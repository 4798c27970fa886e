"""What the ops on matrices share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.refuse import invalid


def adjoint_of(x: Any) -> Any:
    """Conjugate transpose of the last two axes."""
    x = jnp.swapaxes(x, -1, -2)
    return jnp.conj(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x


def check_square(kernel: str, words: str = "Input matrix must be square.") -> Any:
    """A check that the first input is a square matrix, or a batch of them."""

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        have = avals[0].shape
        if len(have) < 2:
            raise invalid(f"Input tensor 0 must have rank >= 2, got {len(have)}", kernel)
        if differ(have[-1], have[-2]):
            raise invalid(words, kernel)

    return check

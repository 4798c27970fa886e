"""Stateless seeds as keys of draws, so that one program draws for both."""

from functools import partial

import jax
import numpy as np

from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import philox
from tape_compat._src.ops.random_keys import KEY


def of_draw(key):
    """The key of a draw that begins where a seed does, by XLA; that of a draw as it is."""
    if key.shape == KEY.shape:
        return key
    generator = in_x64(jax.jit(partial(philox._generator, reserved=0)), key)
    return np.array([*generator, 0], np.uint64)

"""Rule of the hash that JAX's random numbers come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from .rule import Avals, Function, Params, Rule

#: By how much the second word is rotated, four rounds at a time.
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def _threefry(key0: Any, key1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """Threefry-2x32 in 20 rounds; Salmon et al., Parallel random numbers: as easy as 1, 2, 3."""
    keys = key0, key1, key0 ^ key1 ^ _PARITY
    x0, x1 = x0 + key0, x1 + key1
    for i in range(5):
        for by in _ROTATIONS[i % 2]:
            x0 = x0 + x1
            x1 = x0 ^ (x1 << np.uint32(by) | x1 >> np.uint32(32 - by))
        x0 = x0 + keys[(i + 1) % 3]
        x1 = x1 + keys[(i + 2) % 3] + np.uint32(i + 1)
    return x0, x1


def _threefry2x32(params: Params, ins: Avals, outs: Avals) -> Function:
    return _threefry


TABLE: dict[str, Rule] = {"threefry2x32": Rule(_threefry2x32)}

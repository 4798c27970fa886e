"""Keys of random draws in loops: another one in each turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from ..ops.random_keys import STEP


def _mixed(word: Any) -> Any:
    """SplitMix64's bijection, which `random_keys.mix` does with Python's integers."""
    u = np.uint64
    word = (word ^ (word >> u(30))) * u(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> u(27))) * u(0x94D049BB133111EB)
    return word ^ (word >> u(31))


#: The key that a loop begins with, of the one it is given. A loop in a loop begins with a mixed key
#: of the turn, so no two draws have the same one.
FIRST_KEY = Op(_mixed, "LoopKey", differentiable=False, host_foldable=False).bind()
#: The key of the next turn.
NEXT_KEY = Op(
    lambda word: word + np.uint64(STEP), "NextKey", differentiable=False, host_foldable=False
).bind()

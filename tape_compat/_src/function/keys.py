"""Keys of random draws in loops: another one in each iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op

#: How many iterations a loop is taken to have at most where that is not known.
UNKNOWN_ITERATIONS = 1 << 32

#: In a key the number of draws before it.
_BEFORE = np.array([0, 0, 0, 1], np.uint64)


def _next(key: Any, times: int) -> Any:
    return key + _BEFORE * np.uint64(times)


def _rows(key: Any, rows: int, times: int) -> Any:
    return key + np.arange(rows, dtype=np.uint64)[:, None] * np.uint64(times) * _BEFORE


#: The key of the next iteration, where each has so many draws.
NEXT_KEY = Op(_next, "NextKey", differentiable=False, host_foldable=False)
#: The keys of all iterations at once.
ROW_KEYS = Op(_rows, "RowKeys", differentiable=False, host_foldable=False)

"""Integers that are known while a function is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import errors
from ..core.dimensions import Size, is_symbolic
from ..values.sizes import sizes_of
from ..values.tensor import Tensor


def integer(x: Any) -> Size | None:
    """The value of an integer scalar: an int, or the expression of unknown sizes that it is. None
    if it depends on data."""
    if isinstance(x, (int, np.integer)):
        return int(x)
    if not isinstance(x, Tensor):
        return x if is_symbolic(x) else None
    if x._aval.shape or x._aval.np_dtype.kind not in "iu":
        return None
    try:
        found = sizes_of(x, sketch=False)[()]
    except errors.NeedsValue:
        return None
    return found if is_symbolic(found) else int(found)

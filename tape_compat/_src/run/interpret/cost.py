"""What a primitive costs when NumPy does it: an estimate, from shapes alone.

Figures: float32, one core of 2.6 GHz with AVX-512, NumPy 2.4, arrays that fit the caches.
"""

from __future__ import annotations

import math
from typing import Any

from .rule import Avals, Params, size

#: Of a whole plan: the state of floating point errors, the list of values; of one step: calling
#: NumPy once, with its checks and the new array.
CALL_SECONDS = 3e-6
STEP_SECONDS = 1e-6

#: Of a step that JAX compiles by itself: launching it, and the way there and back. That it must be
#: compiled first is not in it.
ALONE_SECONDS = 30e-6

#: Of an element that is read, computed and written: arithmetic.
ELEMENT_SECONDS = 0.3e-9

#: How long a loop is taken to go on whose length is not known.
WHILE_TURNS = 10

#: The same of other primitives, as multiples.
_TIMES = {
    1: "add add_any sub mul neg max min abs square and or xor not eq ne lt le gt ge copy "
    "broadcast_in_dim concatenate pad split dynamic_update_slice convert_element_type conj real "
    "imag complex is_finite select_n reduce_sum reduce_max reduce_min",
}


def seconds(name: str, params: Params, ins: Avals, outs: Avals) -> float:
    """What one equation costs."""
    elements = max([size(aval) for aval in (*ins, *outs)], default=0)
    return STEP_SECONDS + elements * ELEMENT_SECONDS


def nested_seconds(name: str, params: Params, plans: list[float]) -> float:
    """What a condition or a loop costs, by what its parts cost once."""
    if name == "cond":
        return STEP_SECONDS + max(plans)
    turns = params["length"] if name == "scan" else WHILE_TURNS
    return STEP_SECONDS + turns * sum(plans)

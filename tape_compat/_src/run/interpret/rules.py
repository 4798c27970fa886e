"""The table of rules: how each primitive of JAX is done by NumPy."""

from __future__ import annotations

from . import (
    convolutions,
    decompositions,
    elementwise,
    indexing,
    movement,
    products,
    randomness,
    reductions,
    sorting,
    windows,
)
from .rule import Rule

RULES: dict[str, Rule] = {
    **elementwise.TABLE,
    **movement.TABLE,
    **reductions.TABLE,
    **sorting.TABLE,
    **windows.TABLE,
    **products.TABLE,
    **convolutions.TABLE,
    **indexing.TABLE,
    **decompositions.TABLE,
    **randomness.TABLE,
}

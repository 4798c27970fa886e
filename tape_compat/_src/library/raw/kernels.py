"""The kernels that are ops by themselves: those of graphs, and those that change variables."""

from __future__ import annotations

from ..saved_model.every_kernel import TABLES
from ..saved_model.registry import KERNELS
from .updates import UPDATES

#: Imported for their rows.
KERNEL_TABLES = TABLES
#: Those that only a graph has.
_OF_GRAPHS = {"Const", "Placeholder"}

SERVED = {name: found for name, found in KERNELS.items() if name not in _OF_GRAPHS} | UPDATES

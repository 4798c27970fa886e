"""One table beside each of `tape_compat/_src/ops`: its rows, and the public ops without one.

A row is one line. It makes the comparison with NumPy, those of the derivatives with differences and
of forward with reverse mode, the one with TensorFlow in `tests/parity`, and the golden. The checks
are in `tests/test_ops.py` and `checks.py`.
"""

import importlib
import pkgutil
from types import ModuleType

from .row import Row

_HELPERS = ("checks", "references", "row", "samples")

#: Tables by name, in the order of the alphabet.
TABLES: dict[str, ModuleType] = {
    info.name: importlib.import_module(f"{__name__}.{info.name}")
    for info in pkgutil.iter_modules(__path__)
    if info.name not in _HELPERS
}
ROWS: list[Row] = [row for table in TABLES.values() for row in getattr(table, "ROWS", [])]

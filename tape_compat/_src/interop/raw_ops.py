"""The module `tf.raw_ops`, whose names are those of a table."""

from __future__ import annotations

import sys
from typing import Any

from ..library.raw.calls import raw_op
from ..library.raw.definitions import definition, names
from . import names as ledger


def face(module_name: str) -> None:
    """Make a module `tf.raw_ops`."""
    ledger.face(module_name)
    module = sys.modules[module_name]
    missing = vars(module)["__getattr__"]
    public = sorted(names())

    def attribute(name: str) -> Any:
        if definition(name) is None:
            return missing(name)
        vars(module)[name] = found = raw_op(name)
        return found

    vars(module).update(
        __all__=public,
        __getattr__=attribute,
        __dir__=lambda: sorted({*vars(module), *public}),
    )

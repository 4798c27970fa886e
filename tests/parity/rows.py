"""Each row of `tests/ops` on TensorFlow: the same values, first and second derivatives.

`tests/test_ops.py` has it among the checks of a row, so that ours come out of the program that the
others look at too.
"""

from functools import cache

import tape_compat
from tests.ops import TABLES, checks
from tests.oracle import tensorflow

from . import store
from .harness import Case, describe, differences, raised

_HELPERS = ("row", "checks", "samples", "references")


@cache
def tables():
    """The table that a row stands in, by the row's id."""
    return {row.id: name for name, table in TABLES.items() for row in getattr(table, "ROWS", [])}


def plain(tf, found):
    parts = {"values": found.values, "gradients": found.gradients, "second": found.second}
    return describe(tf, parts)


def on_tensorflow(row):
    tf = tensorflow()
    try:
        return plain(tf, checks.read(checks.record(tf, row, forward=False)))
    except Exception as error:
        return raised(error)


def asked(row):
    """What `store.kept` wants to know for a row."""
    table = tables()[row.id]
    files = [f"ops/{name}.py" for name in (*_HELPERS, table)]
    return f"ops_{table}", files, row.id, lambda: on_tensorflow(row)


def check_tensorflow(row):
    ours = plain(tape_compat, checks.found(row))
    case = Case(row.id, row.call, rtol=1e-6, atol=1e-9)
    lines = store.departures(
        asked(row), lambda expected: differences(expected, ours, case), known=bool(row.differs)
    )
    assert not lines, "\n".join(lines)

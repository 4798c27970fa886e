"""Each row of `tests/ops` on TensorFlow: the same values, first and second derivatives.

Ours come out of the group's program, as in `tests/test_ops.py`; there they are held against NumPy.
"""

import pytest

import tape_compat
from tests.ops import TABLES, checks
from tests.oracle import tensorflow

from . import store
from .harness import Case, describe, differences, raised

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

_HELPERS = ("row", "checks", "samples", "references")


def _parameter(table, row):
    marks = [pytest.mark.xfail(reason=row.differs, strict=True)] if row.differs else []
    return pytest.param(table, row, id=row.id, marks=marks)


ROWS = [
    _parameter(name, row) for name, table in TABLES.items() for row in getattr(table, "ROWS", [])
]


def plain(tf, found):
    parts = {"values": found.values, "gradients": found.gradients, "second": found.second}
    return describe(tf, parts)


def on_tensorflow(row):
    tf = tensorflow()
    try:
        return plain(tf, checks.read(checks.record(tf, row, forward=False)))
    except Exception as error:
        return raised(error)


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_row(table, row, deferred):
    files = [f"ops/{name}.py" for name in (*_HELPERS, table)]
    expected = store.kept(f"rows_{table}", files, row.id, lambda: on_tensorflow(row))
    ours = plain(tape_compat, checks.found(row))
    lines = differences(expected, ours, Case(row.id, row.call, rtol=1e-6, atol=1e-9))
    assert not lines, "\n".join(lines)

"""The rows of `tests/ops` inside a `tf.function`: the same as recorded without one.

One function records a group of rows, with their derivatives and special points, as the groups of
`tests/ops/checks.py` are. It runs where `--modes` names `traced`.
"""

import dataclasses

import numpy as np
import pytest

import tape_compat as tf
from tests.ops import ROWS, checks

pytestmark = pytest.mark.traced

GROUPS = list(dict.fromkeys(checks.groups().values()))


def in_a_function(rows):
    """What is found of rows by a function of their sources."""
    given, taken = [row.sources() for row in rows], []

    @tf.function(autograph=False)
    def body(given):
        found = [checks.record(tf, row, inputs=own) for row, own in zip(rows, given, strict=True)]
        taken.append(not tf.executing_eagerly())
        return [dataclasses.asdict(one) for one in found]

    results = body([[tf.constant(x) for x in arrays] for arrays in given])
    return [checks.read(checks.Found(**one)) for one in results], taken == [True]


def assert_same(row, ours, wanted):
    for field in dataclasses.fields(checks.Found):
        pair = getattr(ours, field.name), getattr(wanted, field.name)
        assert (pair[0] is None) == (pair[1] is None), (row.id, field.name)
        for x, y in zip(*(p or [] for p in pair), strict=True):
            assert (x is None) == (y is None), (row.id, field.name)
            if x is not None:
                note = f"{row.id}: {field.name}"
                np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9, err_msg=note)


@pytest.mark.parametrize(
    "rows",
    [pytest.param(rows, id=rows[0].id, marks=pytest.mark.part(rows[0].id)) for rows in GROUPS],
)
def test_rows(rows, deferred):
    found, recorded = in_a_function(rows)
    assert recorded
    for row, one in zip(rows, found, strict=True):
        assert_same(row, one, checks.found(row))


def test_every_row_is_in_a_group():
    assert sorted(row.id for rows in GROUPS for row in rows) == sorted(row.id for row in ROWS)

"""Each case of this folder on TensorFlow and on tape_compat: both must give the same outcome."""

import importlib.util

import pytest

import tape_compat
from tests.oracle import tensorflow

from .differences import DIFFERENCES
from .harness import Case, collect, differences, outcome

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="tensorflow, the oracle, is not installed (extra `parity`)",
)

CASES = collect()


@pytest.fixture(scope="module")
def oracle():
    return tensorflow()


def _parameter(case: Case):
    reason = DIFFERENCES.get(case.id)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(case, id=case.id, marks=marks)


@pytest.mark.parametrize("case", [_parameter(case) for case in CASES])
def test_parity(case, oracle):
    lines = differences(outcome(case, oracle), outcome(case, tape_compat), case)
    assert not lines, "\n".join(lines)


def test_enough_cases():
    assert len(CASES) >= 300
    assert len({case.id for case in CASES}) == len(CASES)


def test_differences_name_cases():
    assert set(DIFFERENCES) <= {case.id for case in CASES}

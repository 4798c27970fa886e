"""Each case of this folder on TensorFlow and on tape_compat, in each mode: the same outcome.

`--modes deferred`, `immediate` or `traced` runs one of them, the first two are run without it. What
TensorFlow gives is kept on disk: see `store.py`.
"""

import sys
from pathlib import Path

import pytest

import tape_compat
from tape_compat._src.core import state
from tape_compat._src.values.context import set_immediate
from tests.oracle import tensorflow
from tests.parity import store, traced
from tests.parity.differences import DIFFERENCES
from tests.parity.harness import Case, Raised, collect, differences, outcome

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

CASES = collect()

#: Cases that fail for want of work that is going on.
PENDING = frozenset(Path(__file__).with_name("pending.txt").read_text().split())


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        modes = metafunc.config.getoption("--modes").split(",")
        cases = [
            _parameter(case, mode)
            for case in CASES
            for mode in modes
            if mode != "traced" or traced.applies(case)
        ]
        metafunc.parametrize(("case", "mode"), cases)


def _parameter(case: Case, mode: str):
    reason = DIFFERENCES.get(case.id)
    if mode == "traced":
        reason = reason or traced.DIFFERENCES.get(case.id)
    marks = [pytest.mark.xfail(reason=reason, strict=mode != "traced")] if reason else []
    if case.id in PENDING:
        marks = [pytest.mark.xfail(reason="is not built yet", strict=False)]
    lacking = case.lacks(tape_compat)
    if lacking:
        marks = [pytest.mark.skip(reason=f"is not built yet: {', '.join(lacking)}")]
    if mode != "deferred":
        marks.append(pytest.mark.part(case.id))
    return pytest.param(case, mode, id=f"{case.id}-{mode}", marks=marks)


def asked(case: Case):
    """What `store.kept` wants to know for a case."""
    sources = [f"parity/{case.file}.py"]
    return case.file, sources, case.id, lambda: outcome(case, tensorflow())


def ours(case: Case, mode: str):
    if mode != "traced":
        return outcome(case, tape_compat)
    try:
        return traced.outcome(case, tape_compat)
    except traced.Looked:
        pytest.skip("looks at a value, which there is none of while it is recorded")


def test_parity(case, mode):
    before = state.immediate()
    set_immediate(mode == "immediate")
    try:
        found = ours(case, mode)
    finally:
        set_immediate(before)
    lines = store.departures(
        asked(case),
        lambda expected: differences(expected, found, case),
        known=case.id in DIFFERENCES or (mode == "traced" and case.id in traced.DIFFERENCES),
    )
    assert not lines, "\n".join(lines)


def test_enough_cases():
    assert len(CASES) >= 300
    assert len({case.id for case in CASES}) == len(CASES)


def test_cases_have_the_errors_of_this_harness():
    """A `Raised` of another one, which pytest imports for doctests, is any other object to it."""
    files = {case.run.__module__ for case in CASES}
    used = [vars(sys.modules[name]).get("Raised", Raised) for name in files]
    assert len(files) > 50 and all(cls is Raised for cls in used)


def test_differences_name_cases():
    assert set(DIFFERENCES) | PENDING <= {case.id for case in CASES}
    assert not set(DIFFERENCES) & PENDING
    assert set(traced.DIFFERENCES) <= {case.id for case in CASES if traced.applies(case)}

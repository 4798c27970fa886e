"""Each case of this folder on TensorFlow and on tape_compat, in each mode: the same outcome.

`--modes deferred`, `immediate` or `traced` runs one of them, the first two are run without it. What
TensorFlow gives is kept on disk.
"""

import dataclasses
import sys
from pathlib import Path

import pytest

import tape_compat
from tape_compat._src.core import state
from tape_compat._src.values.context import set_immediate
from tests.oracle import tensorflow
from tests.parity import store, traced
from tests.parity.differences import DIFFERENCES
from tests.parity.harness import Case, collect, differences, outcome

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


def expected_of(case: Case):
    return store.kept(
        case.file, [f"parity/{case.file}.py"], case.id, lambda: outcome(case, tensorflow())
    )


def ours(case: Case, mode: str):
    if mode != "traced":
        return outcome(case, tape_compat)
    try:
        return traced.outcome(case, tape_compat)
    except traced.Looked:
        pytest.skip("looks at a value, which there is none of while it is recorded")


def test_parity(case, mode):
    before = state.immediate()
    expected = expected_of(case)
    set_immediate(mode == "immediate")
    try:
        lines = differences(expected, ours(case, mode), case)
    finally:
        set_immediate(before)
    assert not lines, "\n".join(lines)


def test_enough_cases():
    assert len(CASES) >= 300
    assert len({case.id for case in CASES}) == len(CASES)


def test_the_harness_is_imported_once():
    """As of `tests.parity`: a `Raised` of a second one is any other object to the first."""
    assert "parity.harness" not in sys.modules


def test_differences_name_cases():
    assert set(DIFFERENCES) | PENDING <= {case.id for case in CASES}
    assert not set(DIFFERENCES) & PENDING
    assert set(traced.DIFFERENCES) <= {case.id for case in CASES if traced.applies(case)}


def test_what_tensorflow_gave_is_kept(tmp_path):
    """Read from the file the second time, equal to what was computed, an error too."""
    asked = []

    def compute(case):
        asked.append(case.id)
        return outcome(case, tensorflow())

    def kept(case):
        return store.kept("f", [], case.id, lambda: compute(case), lambda *_: tmp_path)

    by_id = {case.id: case for case in CASES}
    for name in ("math/sqrt", "math/abs_halves_and_double", "nn/softmax_scalar", "tensor/strings"):
        case = by_id.get(name) or CASES[0]
        first, again = kept(case), kept(case)
        assert not differences(first, again, dataclasses.replace(case, rtol=0.0, atol=0.0))
        assert asked.count(case.id) == 1


def test_a_changed_source_is_run_anew():
    one = store.folder("probe", ("parity/cases_math.py",))
    other = store.folder("probe", ("parity/cases_nn.py",))
    assert one != other and not one.exists() and other.exists()
    other.rmdir()

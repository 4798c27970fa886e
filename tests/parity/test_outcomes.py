"""What TensorFlow gave is kept, and asked for again where it may be out of date."""

import dataclasses
import pickle
import zlib

import pytest

from tests.oracle import tensorflow
from tests.parity import store
from tests.parity.harness import differences, outcome
from tests.parity.test_parity import CASES, asked

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

AGAIN = [case for case in CASES if zlib.crc32(case.id.encode()) % 40 == 0]


@pytest.mark.parametrize("kept", AGAIN, ids=lambda case: case.id)
def test_tensorflow_gives_what_the_repository_has(kept):
    name, sources, key, compute = asked(kept)
    found = store.goldens(name, tuple(sources)).get(key)
    if found is None:
        pytest.skip("other sources or versions: python -m tests.goldens.make_outcomes")
    lines = differences(pickle.loads(found), compute(), kept)
    assert not lines, "\n".join(lines)


def test_where_the_repository_differs_tensorflow_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "GOLDENS", tmp_path)
    store.goldens.cache_clear()
    computed = []

    def compute():
        computed.append(True)
        return "new"

    def place(*_):
        return tmp_path

    def departures(ours, known=False):
        def compare(kept):
            return [] if kept == ours else [f"{kept}, not {ours}"]

        return store.departures(("f", (), "key", compute, place), compare, known)

    store.write_goldens("f", (), {"key": "old"})
    try:
        assert departures("old") == [] and not computed
        assert departures("new", known=True) == ["old, not new"] and not computed
        assert departures("new") == [] and computed == [True]
        assert departures("wrong") == ["new, not wrong"]
        monkeypatch.setattr(store, "basis", lambda sources: "another version")
        store.goldens.cache_clear()
        assert store.goldens("f", ()) == {}
    finally:
        store.goldens.cache_clear()


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

"""Fixtures: every test starts with nothing pending and nothing recording, and must leave it so."""

import gc
import sys
import threading
import zlib
from pathlib import Path

import jax
import pytest

import tape_compat as tf
from tape_compat._src.core import state
from tape_compat._src.core.state import LOCAL
from tape_compat._src.run import executor, policy
from tape_compat._src.standin import keras as standin_keras
from tape_compat._src.values.context import set_immediate
from tape_compat._src.values.record import flush
from tests.__main__ import ASKING
from tests.ops import checks
from tests.ops.row import Row, leaves

gc.set_threshold(100_000, 50, 100)  # an eighth of the time goes into more frequent collections

#: Tables of rows, which hold no tests of their own, and what runs in processes of its own.
collect_ignore = [
    "ops",
    *(p for p in Path(__file__).parent.glob("keras_suite/*.py") if not p.name.startswith("test_")),
]


def _no_keras():
    raise ImportError("Keras on us is tested in processes of its own: the oracle is in this one.")


standin_keras.keras, standin_keras.available = _no_keras, lambda: False


def pytest_addoption(parser):
    parser.addoption("--part", default="1", help="run one in so many of the rows; 8:3, the fourth")
    parser.addoption("--cases", action="store_true", help="several cases of a test count as alike")
    parser.addoption("--singles", default="1", help="run one in so many of the other tests; 2:1")
    parser.addoption("--modes", default="deferred,immediate", help="modes of the parity cases")


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "part: one of many alike, of which `--part N` takes one in N"
    )
    config.addinivalue_line(
        "markers", "compiled: no op is interpreted, as where compiles are counted"
    )
    config.addinivalue_line(
        "markers", "modeless: of functions of JAX, which no mode changes: for deferred mode alone"
    )
    config.addinivalue_line("markers", "traced: only where `--modes` names `traced`")
    config.addinivalue_line("markers", "interpreted: ops are interpreted though counts are taken")


@pytest.hookimpl(trylast=True)  # after `-k` has left out what it does
def pytest_collection_modifyitems(config, items):
    """Leaves out what another mode runs alike, and the rows that `--part` does not take."""
    parts, cases = _parts(config.getoption("--part")), config.getoption("--cases")
    beyond = _beyond(items, *parts, cases) | _singles(items, *_parts(config.getoption("--singles")))
    traced = "traced" in config.getoption("--modes").split(",")

    def left_out(item):
        if item.get_closest_marker("traced") is not None and not traced:
            return True
        if item in beyond:
            return True
        if item.get_closest_marker("modeless") and (state.immediate() or not policy.INTERPRETS):
            return True
        fixtures = getattr(item, "fixturenames", ())
        if not policy.INTERPRETS:  # what is never interpreted runs in the other modes alike
            return "counted" in fixtures or any(
                item.get_closest_marker(name) for name in ("compiled", "interpreted")
            )
        return state.immediate() and "deferred" in fixtures

    out = {item for item in items if left_out(item)}
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]
    checks.ASKED = frozenset(row.id for item in items for row in _rows(item))


def _beyond(items, parts, which, cases):
    """Those marked `part`, and examples of docstrings, that one in so many does not take; of
    several cases of one test it takes one. which: of the parts, from 0. cases: whether those of a
    test that is not marked count, too."""
    functions, beyond = {}, set()
    for item in items:
        marker = item.get_closest_marker("part")
        counts = isinstance(item, pytest.DoctestItem) or (cases and hasattr(item, "callspec"))
        if marker is not None or counts:
            name = marker.args[0] if marker is not None and marker.args else item.name
            alike = functions.setdefault(item.nodeid.partition("[")[0], [])
            alike.append(((zlib.crc32(name.encode()) - which) % parts, item))
    for alike in functions.values():
        least = min(number for number, _ in alike) if len(alike) > 1 else 0
        beyond |= {item for number, item in alike if number > least}
    return beyond


def _parts(given):
    """`8:3` is the fourth of eight parts: 8 and 3."""
    parts, _, which = given.partition(":")
    return int(parts), int(which or 0)


def _singles(items, parts, which):
    """Tests without cases that one part of so many does not take. Every part takes files that ask
    much of JAX."""
    return {
        item
        for item in items
        if not isinstance(item, pytest.DoctestItem)
        and not hasattr(item, "callspec")
        and item.location[0] not in ASKING
        and zlib.crc32(item.name.encode()) % parts != which
    }


def _rows(item):
    """The rows of `tests/ops` that a test is given."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    values = leaves([given.get("row"), given.get("rows")])
    return [value for value in values if isinstance(value, Row)]


@pytest.fixture(autouse=True)
def clean_state(request):
    flush()
    for thread in threading.enumerate():
        if thread.name == "tape_compat compile":  # it would count in the next test
            thread.join()
    executor.forget_histories()  # what one test did says nothing about the next
    interprets = policy.INTERPRETS
    if request.node.get_closest_marker("interpreted") is None:
        marker = request.node.get_closest_marker("compiled")
        policy.INTERPRETS = interprets and marker is None and "counted" not in request.fixturenames
    yield
    policy.INTERPRETS = interprets
    state = LOCAL.state
    left = state.recorders
    state.set_recorders(())
    state.capture = None
    assert left == (), f"a test left tapes recording: {left}"
    assert not jax.config.read("jax_enable_x64"), "a test left JAX's 64-bit dtypes on"


@pytest.fixture(autouse=True, scope="module")
def short_collections():
    """What is alive at the beginning of a module (TensorFlow, compiled programs) is left out of the
    collections of garbage, each of which takes more than a second otherwise."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def deferred():
    """Deferred mode, whatever mode the run is in."""
    before = state.immediate()
    set_immediate(False)
    yield
    set_immediate(before)


@pytest.fixture
def immediate():
    """Immediate mode, whatever mode the run is in."""
    before = state.immediate()
    set_immediate(True)
    yield
    set_immediate(before)


@pytest.fixture
def switching():
    """Threads take turns at nearly every step: what one leaves half done, another meets."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def counted():
    """A function that gives what the counters have counted since the test began."""
    before = tf.counters.snapshot()

    def since():
        after = tf.counters.snapshot()
        return {name: after[name] - before[name] for name in after if name != "pending"}

    return since

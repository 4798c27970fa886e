"""Fixtures: every test starts with nothing pending and nothing recording, and must leave it so."""

import gc

import pytest

import tape_compat as tf
from tape_compat._src.core import state
from tape_compat._src.core.state import LOCAL
from tape_compat._src.run import executor
from tape_compat._src.values.context import set_immediate
from tape_compat._src.values.record import flush


def pytest_collection_modifyitems(config, items):
    """In immediate mode the tests that go back to deferred mode would run as they do in that."""
    if not state.immediate():
        return
    same = [item for item in items if "deferred" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=same)
    left = set(same)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(autouse=True)
def clean_state():
    flush()
    executor.forget_histories()  # what one test did says nothing about the next
    yield
    state = LOCAL.state
    left = state.recorders
    state.set_recorders(())
    state.capture = None
    assert left == (), f"a test left tapes recording: {left}"


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
def counted():
    """A function that gives what the counters have counted since the test began."""
    before = tf.counters.snapshot()

    def since():
        after = tf.counters.snapshot()
        return {name: after[name] - before[name] for name in after if name != "pending"}

    return since

"""Fixtures: every test starts with nothing pending and nothing recording, and must leave it so."""

import pytest

import tape_compat as tf
from tape_compat.core import executor
from tape_compat.core.dispatch import flush
from tape_compat.core.state import LOCAL


@pytest.fixture(autouse=True)
def clean_state():
    flush()
    executor.forget_origins()  # what one test did says nothing about the next
    yield
    state = LOCAL.state
    left = state.recorders
    state.set_recorders(())
    state.capture = None
    assert left == (), f"a test left tapes recording: {left}"


@pytest.fixture
def deferred():
    """Deferred mode, whatever mode the run is in."""
    from tape_compat.core import state

    before = state.immediate()
    state.set_immediate(False)
    yield
    state.set_immediate(before)


@pytest.fixture
def immediate():
    """Immediate mode, whatever mode the run is in."""
    from tape_compat.core import state

    before = state.immediate()
    state.set_immediate(True)
    yield
    state.set_immediate(before)


@pytest.fixture
def counted():
    """A function that gives what the counters have counted since the test began."""
    before = tf.counters.snapshot()

    def since():
        after = tf.counters.snapshot()
        return {name: after[name] - before[name] for name in after if name != "pending"}

    return since

"""Large pages for large programs: who asks for them, that values are the same, what they spare."""

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.native import KERNELS
from tape_compat._src.run import large_pages, policy
from tests.processes import run

pytestmark = pytest.mark.skipif(
    getattr(KERNELS, "LARGE_PAGES", None) is None or jax.default_backend() != "cpu",
    reason="not built, or for another device",
)

ROWS, WIDTH = 4_001, 16
BYTES = ROWS * WIDTH * 4


def losses(count=12):
    """Those of so many steps of a small network on many rows."""
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(WIDTH, WIDTH)).astype("float32") / 4)
    x = tf.constant(rng.normal(size=(ROWS, WIDTH)).astype("float32"))
    found = []
    for _ in range(count):
        with tf.GradientTape() as tape:
            h = tf.tanh(tf.tanh(x @ w) @ w)
            loss = tf.reduce_mean(h * h)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        found.append(float(loss))
    return found


class _Setting:
    """Stands for the file that says who gets large pages."""

    def __init__(self, text):
        self._text = text

    def read_text(self):
        if self._text is None:
            raise FileNotFoundError
        return self._text


@pytest.fixture
def asked(deferred, monkeypatch):
    """The rooms that programs of more than a megabyte ask for where `setting` is the system's."""
    rooms = []
    asking = large_pages.asking

    def noted(room, leaves):
        rooms.append(room)
        return asking(room, leaves)

    monkeypatch.setattr(large_pages, "asking", noted)
    monkeypatch.setattr(policy, "LARGE_PROGRAM_BYTES", 1 << 20)

    def steps(setting):
        monkeypatch.setattr(large_pages, "_SETTING", _Setting(setting))
        large_pages.available.cache_clear()
        tf.engine.clear_caches()
        rooms.clear()
        return losses(), list(rooms)

    yield steps
    large_pages.available.cache_clear()
    tf.engine.clear_caches()


@pytest.mark.compiled
def test_a_large_program_asks_and_computes_the_same(asked):
    found, (room,) = asked("always [madvise] never")
    assert 2 * BYTES <= room.nbytes <= 8 * BYTES
    for setting in ("[always] madvise never", "always madvise [never]", None):
        assert asked(setting) == (found, [])


@pytest.mark.compiled
def test_a_small_program_does_not_ask(asked, monkeypatch):
    monkeypatch.setattr(policy, "LARGE_PROGRAM_BYTES", 16 * BYTES)
    assert asked("always [madvise] never")[1] == []


def test_what_is_large_waits_for_the_call():
    """The leaf is the smallest of those that the first large value depends on."""
    room = large_pages.Room(1 << 20, 1)

    def program(*leaves):
        a, b = large_pages.asking(room, leaves)
        return a + b

    text = jax.jit(program).lower(np.float32(1), np.ones(3, np.float32)).as_text()
    call = next(line for line in text.splitlines() if "tape_compat_large_pages" in line)
    assert "(%arg1)" in call and f"tensor<{1 << 20}xui8>" in call


#: Prints how many pages a step of 48 MB takes from the system.
STEPS = """
import resource
import tape_compat as tf

w, x = tf.Variable(tf.eye(64)), tf.ones([65536, 64])

@tf.function
def step():
    with tf.GradientTape() as tape:
        h = tf.tanh(tf.tanh(x @ w) @ w)
        loss = tf.reduce_mean(h * h)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss

def steps(count):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(count):
        step().numpy()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / count

steps(8)
print(steps(8))
"""


def test_pages_are_large(deferred):
    if not large_pages.available():
        pytest.skip("the system gives all or none large pages")
    assert float(run("-c", STEPS).stdout) < 500

"""Large pages for large programs: who asks for them, that values are the same, what they spare."""

import sys

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


@pytest.fixture
def asked(deferred, monkeypatch):
    """Losses, and the rooms that programs of more than a megabyte ask for on such a system."""
    rooms = []
    asking = large_pages.asking

    def noted(room, leaves):
        rooms.append(room)
        return asking(room, leaves)

    monkeypatch.setattr(large_pages, "asking", noted)
    monkeypatch.setattr(policy, "LARGE_PROGRAM_BYTES", 1 << 20)

    def steps(system, losses=losses):
        monkeypatch.setattr(sys, "platform", system)
        large_pages.available.cache_clear()
        tf.engine.clear_caches()
        rooms.clear()
        return losses(), list(rooms)

    yield steps
    large_pages.available.cache_clear()
    tf.engine.clear_caches()


@pytest.mark.compiled
def test_a_large_program_asks_and_computes_the_same(asked):
    found, (room,) = asked("linux")
    assert 2 * BYTES <= room.nbytes / policy.ROOM <= 8 * BYTES
    assert asked("darwin") == (found, [])


@pytest.mark.compiled
def test_a_small_program_does_not_ask(asked, monkeypatch):
    monkeypatch.setattr(policy, "LARGE_PROGRAM_BYTES", 16 * BYTES)
    assert asked("linux")[1] == []


@pytest.mark.compiled
def test_what_loops_hold_counts(asked):
    """Every state of 50 is held for the derivative; what ops give beside them is small."""
    size = 50 * 400 * WIDTH * 4

    def losses():
        w = tf.Variable(tf.eye(WIDTH) / 2)
        x = tf.ones([400, WIDTH])

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                h = x
                for _ in tf.range(50):
                    h = tf.tanh(h @ w) + x
                loss = tf.reduce_mean(h)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        return [float(step()) for _ in range(12)]

    (room,) = asked("linux", losses)[1]
    assert size < room.nbytes < 20 * size


def test_what_is_large_waits_for_the_call():
    """The leaf is the smallest of those that the first large value depends on."""
    room = large_pages.Room(1 << 20, 1)

    def program(*leaves):
        a, b = large_pages.asking(room, leaves)
        return a + b

    text = jax.jit(program).lower(np.float32(1), np.ones(3, np.float32)).as_text()
    call = next(line for line in text.splitlines() if "tape_compat_large_pages" in line)
    assert "(%arg1)" in call and f"tensor<{1 << 20}xui8>" in call


def test_what_is_kept_waits_for_all_results():
    room = large_pages.Room(1 << 20, 0)

    def program(*leaves):
        return large_pages.keeping(room, leaves)

    leaves = np.ones(3, np.float32), np.float32(1), np.ones(2, np.float32)
    lowered = jax.jit(program).lower(*leaves)
    call = next(c for c in lowered.as_text().splitlines() if "tape_compat_kept_pages" in c)
    assert "(%arg1, %arg0, %arg2)" in call and f"tensor<{1 << 20}xui8>" in call
    assert [r.shape for r in lowered.out_info] == [(3,), (), (2,)]


#: Steps of `rows` * 64 numbers six times, and how many pages they take from the system.
STEPS = """
import resource, threading
import numpy as np
import tape_compat as tf

def step_of(rows):
    w, x = tf.Variable(tf.eye(64)), tf.ones([rows, 64])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            h = tf.square(tf.square(x @ w) @ w)
            loss = tf.reduce_mean(h * h)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    return step

def pages_of(step, count=8):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(count):
        step().numpy()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / count

def kept():
    from tape_compat._src.core import caches
    return caches.held()["pages"]
"""


def output_of(program):
    if not large_pages.available():
        pytest.skip("nothing to keep pages with")
    return run("-c", STEPS + program).stdout.split()


def test_pages_are_kept_until_caches_are_cleared(deferred):
    """A step of 48 MB: 12,000 pages of 4 KB."""
    program = """
import ctypes
assert ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) == 0  # PR_SET_THP_DISABLE: no large pages
step = step_of(65536)
pages_of(step)
print(pages_of(step), kept())
tf.engine.clear_caches()
print(kept())
"""
    pages, before, after = output_of(program)
    assert float(pages) < 1000
    assert 32 << 20 <= int(before) <= 256 << 20
    assert int(after) == 0


def test_programs_of_several_sizes_share_what_is_kept(deferred):
    """Each gives what the other does: all their rows are the same."""
    program = """
small, large = step_of(65536), step_of(98304)
rows = [(float(small()), float(large())) for _ in range(12)]
print(np.allclose(*np.transpose(rows), rtol=1e-4), kept() >= 72 << 20)
"""
    assert output_of(program) == ["True", "True"]


def test_programs_of_several_threads(deferred):
    """One of them finds nothing kept; what they compute is theirs: no bit changes."""
    program = """
x = tf.ones([65536, 64])

def loss_of(factor):
    return tf.reduce_sum(tf.tanh(tf.tanh(x * factor) * 2.0) ** 2, axis=0)[0]

def run(i):
    function, factor = tf.function(loss_of), tf.constant(0.1 * (i + 1))
    for _ in range(100):
        found[i].append(float(function(factor)))

found = [[] for _ in range(3)]
threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
for i, values in enumerate(found):
    expected = 65536 * np.tanh(np.tanh(0.1 * (i + 1)) * 2) ** 2
    print(len(set(values[-20:])), np.allclose(values, expected, rtol=1e-3))
print(kept() > 0)
"""
    assert output_of(program) == ["1", "True"] * 3 + ["True"]


def test_a_process_with_a_limit_keeps_nothing(deferred):
    program = """
limit = 1 << 42
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
step = step_of(65536)
found = [float(step()) for _ in range(12)]
print(kept(), sorted(found, reverse=True) == found)
"""
    assert output_of(program) == ["0", "True"]

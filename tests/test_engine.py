"""The engine: what is deferred, what runs it, what it computes and how often it compiles."""

import gc
import os
import subprocess
import sys
import weakref

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import limits
from tape_compat._src.core.state import LOCAL
from tape_compat._src.run import executor, policy
from tape_compat._src.run.choose import Choice
from tape_compat._src.run.kept import KEPT
from tape_compat._src.values.record import flush

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("deferred")]


def make_step(width=4):
    w = tf.Variable(np.ones((3, width), np.float32))
    b = tf.Variable(np.zeros(width, np.float32))
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))

    def step(rate=0.1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b)))
        for v, g in zip((w, b), tape.gradient(loss, (w, b))):
            v.assign_sub(rate * g)
        return loss

    return step, (w, b)


def test_without_a_tape_ops_run_at_the_call():
    y = tf.constant([1.0, 2.0]) * 2.0
    assert y._array is not None
    assert tf.counters.pending == 0


def test_under_a_tape_ops_wait():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert y._array is None and tf.counters.pending > 0
    g = tape.gradient(y, x)
    assert g._array is None
    z = g + 1.0  # outside of the tape, but its input is pending
    assert z._array is None
    assert z.numpy() == 5.0
    assert tf.counters.pending == 0
    assert g._array is not None and y._array is not None


def test_a_step_is_one_dispatch_and_compiles_once(counted):
    step, _ = make_step()
    for _ in range(3):
        step().numpy()
    assert counted()["compiles"] == 1
    before = counted()
    for _ in range(10):
        step().numpy()
    after = counted()
    assert after["dispatches"] - before["dispatches"] == 10
    assert after["cache_hits"] - before["cache_hits"] == 10
    assert after["compiles"] == before["compiles"]
    assert after["traces"] == before["traces"]


def test_a_changing_python_scalar_does_not_compile(counted):
    step, _ = make_step(width=5)
    step(0.1).numpy()
    before = counted()["compiles"]
    for i in range(5):
        step(0.1 / (i + 2)).numpy()
    assert counted()["compiles"] == before


def test_a_changing_shape_compiles_and_says_why():
    w = tf.Variable(np.ones((3, 2), np.float32))

    def step(rows):
        x = tf.constant(np.ones((rows, 3), np.float32))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(tf.tanh(x * 1.5), w))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for rows in (4, 4, 7):
        step(rows)
        flush()
    assert "float32[7, 3], scalar float32, were float32[4, 3]" in tf.counters.reasons[-1]


def test_entering_an_outermost_tape_sends_off_earlier_work():
    x = tf.Variable(2.0)
    with tf.GradientTape():
        y = x * x
    assert y._array is None
    with tf.GradientTape():
        assert y._array is not None


def test_an_inner_tape_does_not():
    x = tf.Variable(2.0)
    with tf.GradientTape():
        y = x * x
        with tf.GradientTape():
            assert y._array is None


def test_dead_outputs_are_not_computed():
    step, _ = make_step(width=6)
    step()
    program = LOCAL.state.program
    flush()
    # two variables; the loss was dropped
    assert len(program.launched) == 2


def test_values_are_readable_inside_the_tape_and_change_nothing():
    def run(look):
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            y = tf.exp(x)
            if look:
                assert y.numpy()[0] == pytest.approx(np.e)
            z = tf.reduce_sum(y * tf.sin(x))
            if look:
                float(z)
        g = tape.gradient(z, x)
        return z.numpy(), g.numpy()

    quiet, observed = run(False), run(True)
    np.testing.assert_allclose(quiet[0], observed[0], rtol=1e-6)
    np.testing.assert_allclose(quiet[1], observed[1], rtol=1e-6)


def check_pending_instructions(most):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x + 0.0
        for _ in range(most + 50):
            y = y + 1.0
    assert tf.counters.pending < most
    assert tape.gradient(y, x).numpy() == 1.0
    assert y.numpy() == most + 51


def test_pending_work_is_bounded_in_instructions(monkeypatch):
    monkeypatch.setattr(limits, "MAX_PENDING_INSTRUCTIONS", 300)
    check_pending_instructions(300)


@pytest.mark.part
@pytest.mark.modeless
def test_a_program_as_long_as_may_be_pending():
    check_pending_instructions(limits.MAX_PENDING_INSTRUCTIONS)


def test_pending_work_is_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(limits, "MAX_PENDING_BYTES", 10_000)
    total = tf.Variable(np.zeros((31, 7), np.float32))
    most = 0
    with tf.GradientTape():
        y = total * 1.0
        for i in range(60):
            y = y + tf.constant(np.full((31, 7), i, np.float32))
            most = max(most, tf.counters.pending)
    assert most < 20
    assert y.numpy()[0, 0] == sum(range(60))


def stepper(op):
    """A step from one place: a loop of `n` turns. A program compiled by one test would be found by
    the next, so each takes an op of its own."""
    x = tf.Variable([0.5, 0.25])

    def step(n):
        with tf.GradientTape() as tape:
            y = x * 1.0
            for _ in range(n):
                y = op(y) * 0.5 + x
        x.assign_sub(0.01 * tape.gradient(y, x))
        flush()
        return x

    return step


def ragged(op):
    """A step from one place with another structure for each `n` below 4,096, without loops."""
    x = tf.Variable([0.5, 0.25])

    def step(n):
        with tf.GradientTape() as tape:
            y = x * 1.0
            for bit in range(12):
                y = op(y) if n >> bit & 1 else y + x
        x.assign_sub(0.01 * tape.gradient(y, x))
        flush()

    return step


def test_ever_different_structures_go_op_by_op(counted):
    step = ragged(tf.sin)
    for n in range(5, 25):
        step(n)
    first = counted()
    assert first["compiles"] == policy.NEW_STRUCTURES_BEFORE_OP_BY_OP
    assert first["op_by_op"] == 20 - policy.NEW_STRUCTURES_BEFORE_OP_BY_OP
    for n in (9, 20, 12, 17):  # seen before, but not in a row: too rare to pay for a compile
        step(n)
    assert counted()["compiles"] == first["compiles"]
    step(17)  # twice running
    step(17)
    assert counted()["compiles"] == first["compiles"] + 1


def test_a_few_structures_in_turn_are_compiled_each(counted):
    step = ragged(tf.cos)
    for _ in range(4):
        for n in range(4, 4 + policy.FEW_STRUCTURES):
            step(n)
    assert counted()["compiles"] == policy.FEW_STRUCTURES


def test_what_runs_often_enough_op_by_op_is_compiled(counted, monkeypatch):
    step = ragged(tf.tanh)
    for n in range(40, 50):
        step(n)
    before = counted()["compiles"]
    monkeypatch.setattr(policy, "compile_seconds", lambda *_: 30 * policy.OP_CALL_SECONDS)
    monkeypatch.setattr(policy, "SIGHTS", 10**9)
    for _ in range(4):
        step(49)
        step(48)
    assert counted()["compiles"] == before + 2


def test_a_place_settles(counted):
    step = ragged(tf.sigmoid)
    for n in range(60, 70):
        step(n)
    for _ in range(policy.HITS_TO_SETTLE + 2):
        step(60)
    before = counted()["compiles"]
    step(75)  # a new one is compiled at first sight again
    assert counted()["compiles"] == before + 1


@pytest.fixture
def unrolled(monkeypatch):
    """Python loops are not run as loops; see test_rolled.py for these."""
    monkeypatch.setattr(policy, "LEAST_ITERATIONS", 10**9)


def test_loops_of_all_lengths_share_their_ops(counted, unrolled, monkeypatch):
    monkeypatch.setattr(policy, "NEW_STRUCTURES_BEFORE_OP_BY_OP", 0)
    step = stepper(tf.tanh)
    for n in (40, 33, 58):
        step(n)
    warm = counted()
    assert warm["compiles"] == 0 and warm["op_by_op"] == 3
    for n in range(34, 64):
        step(n)
    after = counted()
    assert after["compiles"] == 0 and after["op_compiles"] == warm["op_compiles"]


def test_a_dear_program_runs_op_by_op(counted, unrolled, monkeypatch):
    monkeypatch.setattr(policy, "DEAR_COMPILE_SECONDS", 1.0)
    step = stepper(tf.cos)
    for _ in range(3):
        step(100)  # 1,200 instructions and more
    assert counted()["compiles"] == 0 and counted()["op_by_op"] == 3


def test_both_ways_of_running_agree(monkeypatch):
    def run():
        step, variables = make_step(width=7)
        losses = [step().numpy() for _ in range(4)]
        return losses, [v.numpy() for v in variables]

    fused = run()
    monkeypatch.setattr(executor, "choose", lambda *a: Choice.OP_BY_OP)
    KEPT.clear()
    apart = run()
    np.testing.assert_allclose(fused[0], apart[0], rtol=1e-6)
    for a, b in zip(fused[1], apart[1]):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_caches_are_bounded(monkeypatch):
    monkeypatch.setattr(policy, "MAX_EXECUTABLES", 4)
    x = tf.Variable(0.5)
    for n in range(8):
        for _ in range(2):
            with tf.GradientTape() as tape:
                y = x * 1.0
                for _ in range(4 + n):
                    y = tf.cos(y)
            x.assign_sub(0.01 * tape.gradient(y, x))
            flush()
    assert len(KEPT.order) <= 4


def test_the_structure_tree_is_bounded(monkeypatch):
    from tape_compat._src.core import limits
    from tape_compat._src.core.program import TREE

    TREE.prune()
    monkeypatch.setattr(limits, "SPARE_NODES", 100)
    most = 2 * TREE.kept + 101
    x = tf.Variable(0.5)
    rng = np.random.default_rng(0)
    for _ in range(40):
        with tf.GradientTape():
            y = x * 1.0
            for choice in rng.integers(0, 3, 12):
                y = (tf.sin, tf.cos, tf.tanh)[choice](y)
        flush()
        assert TREE.count <= max(most, 2 * TREE.kept + 101)
    assert TREE.count < 40 * 12


def test_a_dropped_program_compiles_again_and_is_right(monkeypatch):
    from tape_compat._src.core.program import TREE

    step, _ = make_step(width=8)
    a = step().numpy()
    TREE.prune()
    KEPT.clear()
    TREE.prune()
    assert step().numpy() != a


def test_overwritten_buffers_are_donated():
    step, (w, _) = make_step(width=9)
    for _ in range(3):
        step()
        flush()
    before = w._handle.tensor._array
    pointer = weakref.ref(before)
    del before
    step()
    flush()
    gc.collect()
    assert pointer() is None or pointer().is_deleted()


def test_a_buffer_that_somebody_holds_is_kept():
    step, (w, _) = make_step(width=9)
    for _ in range(3):
        step()
        flush()
    held = w.read_value()
    array = held.__jax_array__()
    expected = np.array(array)
    for _ in range(3):
        step()
        flush()
    np.testing.assert_array_equal(held.numpy(), expected)
    np.testing.assert_array_equal(np.asarray(array), expected)
    assert not np.array_equal(w.numpy(), expected)


def test_variables_that_share_a_buffer():
    start = tf.constant(np.ones((3, 3), np.float32))
    a, b = tf.Variable(start), tf.Variable(start)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a * a + 2.0 * b)
        da, db = tape.gradient(loss, [a, b])
        a.assign_sub(0.1 * da)
        b.assign_sub(0.1 * db)
        flush()
    np.testing.assert_allclose(a.numpy(), 0.8**3 * np.ones((3, 3)), rtol=1e-5)
    np.testing.assert_allclose(b.numpy(), 0.4 * np.ones((3, 3)), rtol=1e-5)
    assert (start.numpy() == 1).all()


def test_a_running_total_keeps_live_buffers_flat():
    step, _ = make_step(width=3)
    total = tf.constant(0.0)
    for i in range(2000):
        total += step()
        if i == 200:
            flush()
            gc.collect()
            early = len(jax.live_arrays())
    flush()
    gc.collect()
    assert len(jax.live_arrays()) <= early + 2
    assert tf.counters.pending == 0
    assert np.isfinite(total.numpy())


def test_memory_of_ten_thousand_steps_is_flat():
    code = """
import resource, gc, numpy as np, tape_compat as tf
w = tf.Variable(np.ones((8, 8), np.float32)); x = tf.constant(np.ones((4, 8), np.float32))
total = tf.constant(0.0)
def rss():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * resource.getpagesize()
for i in range(10_000):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    total += loss
    if i == 2000:
        total.numpy(); gc.collect(); early = rss()
total.numpy(); gc.collect()
print((rss() - early) / 2**20)
"""
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("reads the resident size from /proc")
    env = {**os.environ, "TAPE_COMPAT_INTERPRETS": "0"}
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=env,
    )
    assert float(out.stdout) < 20.0


def test_errors_of_shape_rise_at_the_users_line():
    x = tf.Variable(np.ones((2, 3), np.float32))
    with tf.GradientTape():
        y = x * 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_engine\.py:\d+"):
            y + tf.constant([1.0, 2.0])
        z = y + 1.0
    assert z.numpy()[0, 0] == 3.0


def test_immediate_mode_runs_at_the_call(immediate):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        assert y._array is not None
    assert tape.gradient(y, x)._array is not None


def test_immediate_mode_by_environment():
    code = """
import tape_compat as tf
x = tf.Variable(2.0)
with tf.GradientTape():
    y = x * x
print(y._array is not None)
"""
    env = {**os.environ, "TAPE_COMPAT_IMMEDIATE": "1"}
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert out.stdout.strip() == "True"


def test_switching_to_immediate_runs_what_is_pending():
    from tape_compat._src.values.context import set_immediate

    x = tf.Variable(2.0)
    with tf.GradientTape():
        y = x * x
    set_immediate(True)
    assert y._array is not None


def test_a_gradient_seen_before_is_appended_as_one(counted):
    from tape_compat._src.autodiff import reverse

    step, _ = make_step(width=10)
    step()
    calls = []
    original = reverse.gradients
    reverse.gradients = lambda *a: calls.append(1) or original(*a)
    try:
        step().numpy()
    finally:
        reverse.gradients = original
    assert calls == []


def test_a_slow_compile_is_announced(monkeypatch, caplog, counted):
    monkeypatch.setattr(policy, "SLOW_COMPILE_SECONDS", 0.0)
    step, _ = make_step(width=11)
    with caplog.at_level("WARNING", logger="tape_compat"):
        step().numpy()
    assert "Compiling a step of" in caplog.text
    caplog.clear()
    with caplog.at_level("ERROR", logger="tape_compat"):
        make_step(width=12)[0]().numpy()
    assert not caplog.text and counted()["compiles"] == 2

"""While a step is pending, ops whose inputs have values belong to it."""

import threading

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.state import LOCAL
from tape_compat._src.core.steps import leaf_layout
from tape_compat._src.run import executor, policy
from tape_compat._src.values.record import flush
from tests.processes import run

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("deferred")]


def adam(variables, slots, count, gradients, rate=0.01, b1=0.9, b2=0.999):
    """The update as textbooks write it."""
    count.assign_add(1.0)
    for w, (m, v), g in zip(variables, slots, gradients, strict=True):
        m.assign(b1 * m + (1 - b1) * g)
        v.assign(b2 * v + (1 - b2) * g * g)
        mean, square = m / (1 - tf.pow(b1, count)), v / (1 - tf.pow(b2, count))
        w.assign_sub(rate * mean / (tf.sqrt(square) + 1e-7))


def train(steps, observe=False):
    variables = [tf.Variable([[0.5, -1.0], [2.0, 0.25]]), tf.Variable([0.1, -0.2])]
    slots = [(tf.Variable(tf.zeros(w.shape)), tf.Variable(tf.zeros(w.shape))) for w in variables]
    count = tf.Variable(0.0)
    x = tf.constant([[1.0, 2.0], [3.0, -4.0], [0.5, 1.5]])
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ variables[0] + variables[1]) - 0.3))
        adam(variables, slots, count, tape.gradient(loss, variables))
        if observe:
            float(loss)
    return [v.numpy() for v in variables] + [count.numpy()]


def test_an_optimizer_written_by_hand_is_part_of_the_step(counted):
    train(5)
    before = counted()
    train(20)
    after = counted()
    assert after["dispatches"] - before["dispatches"] <= 20 + 4  # zeros of the slots
    assert after["compiles"] == before["compiles"]
    assert after["op_compiles"] == before["op_compiles"]


def test_values_are_those_of_immediate_mode():
    deferred = train(7)
    tf.config.run_functions_eagerly(True)
    try:
        immediate = train(7)
    finally:
        tf.config.run_functions_eagerly(False)
    for a, b in zip(deferred, immediate, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_what_prepares_the_next_step_joins_this_one(counted):
    data = tf.constant(np.arange(320, dtype=np.float32).reshape(80, 4) / 100)
    labels = tf.constant(np.arange(80, dtype=np.int32) % 3)
    w = tf.Variable(np.full((4, 3), 0.1, np.float32))

    def epoch():
        for i in range(10):
            x, y = data[8 * i : 8 * i + 8], tf.one_hot(labels[8 * i : 8 * i + 8], 3)
            x = x + 0.0 * tf.cast(tf.random.normal([8, 4]) > 0.0, tf.float32)
            first, second = tf.unstack(x[:2])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(x @ w - y)) + tf.reduce_sum(first * second)
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return float(loss)

    for _ in range(4):
        epoch()
    before = counted()["dispatches"]
    epoch()
    assert counted()["dispatches"] - before <= 10 + 10  # ten ops precede the first step


def test_code_without_tapes_runs_at_once():
    x = tf.constant([1.0, 2.0])
    y = tf.sin(x) * 2.0 + tf.ones([2])
    assert tf.counters.pending == 0
    np.testing.assert_allclose(y.numpy(), 2 * np.sin([1.0, 2.0]) + 1, rtol=1e-6)


def pending_step():
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return w


def test_an_op_joins_until_a_value_is_looked_at():
    w = pending_step()
    y = tf.constant([1.0, 4.0]) + tf.constant([1.0, 1.0])
    assert tf.counters.pending > 0 and y._array is None
    assert w.numpy().tolist() == pytest.approx([0.8, 1.6])
    assert y.numpy().tolist() == [2.0, 5.0]
    z = tf.constant([1.0, 4.0]) + tf.constant([1.0, 1.0])
    assert tf.counters.pending == 0 and z._array is not None


def test_an_error_comes_at_its_own_line_and_loses_nothing():
    w = pending_step()
    pending = tf.counters.pending
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Matrix size-incompatible|shapes"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    assert tf.counters.pending >= pending
    assert w.numpy().tolist() == pytest.approx([0.8, 1.6])


def test_the_default_device_by_its_name_changes_nothing():
    w = pending_step()
    with tf.device("/CPU:0"):
        y = tf.constant([1.0]) + tf.constant([2.0])
    assert y._array is None and tf.counters.pending > 0
    assert y.numpy().tolist() == [3.0]
    assert w.numpy().tolist() == pytest.approx([0.8, 1.6])


TWO_DEVICES = """
import tape_compat as tf
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w)
w.assign_sub(0.1 * tape.gradient(loss, w))
assert tf.counters.pending > 0
with tf.device("/CPU:1"):
    y = tf.constant([1.0]) + tf.constant([2.0])
assert y._array is not None and tf.counters.pending > 0
print(y.device, w.device, y.numpy(), w.numpy())
"""


def test_what_is_put_on_another_device_runs_there_at_once():
    flags = "--xla_force_host_platform_device_count=2"
    found = run("-c", TWO_DEVICES, after="tape_compat", XLA_FLAGS=flags)
    place = "/job:localhost/replica:0/task:0/device:CPU:"
    assert found.stdout.split("[")[0].split() == [place + "1", place + "0"]
    assert found.stdout.split("[")[1:] == ["3.] ", "0.8 1.6]\n"]


def test_another_thread_has_its_own():
    w = pending_step()
    seen = []

    def other():
        y = tf.constant([1.0]) + tf.constant([2.0])
        seen.append((y._array is not None, tf.counters.pending, y.numpy().tolist()))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [(True, 0, [3.0])]
    assert w.numpy().tolist() == pytest.approx([0.8, 1.6])


def test_assignments_between_reads_keep_their_order():
    w = pending_step()
    v = tf.Variable(3.0)
    before = v * 2.0
    v.assign(5.0)
    after = v * 2.0
    v.assign_add(1.0)
    assert (before.numpy(), after.numpy(), v.numpy()) == (6.0, 10.0, 6.0)
    assert w.numpy().tolist() == pytest.approx([0.8, 1.6])


def test_code_that_is_ever_different_does_not_make_steps_differ(counted):
    """Between two steps stands a loop of another length and another op each time: soon it runs at
    once again, and the steps are found compiled."""
    w = tf.Variable([1.0, 2.0])
    rng = np.random.default_rng(0)

    def turn():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(w) * w)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        x = tf.constant([1.0, 2.0])
        for choice in rng.integers(0, 4, rng.integers(1, 12)):
            x = [tf.sin, tf.tanh, tf.square, tf.negative][choice](x)
        return x

    for _ in range(policy.NEW_JOINS + policy.HITS_TO_SETTLE + 4):
        turn()
    w.numpy()
    before = counted()
    for _ in range(20):
        turn()
    w.numpy()
    after = counted()
    assert after["compiles"] - before["compiles"] == 0
    assert after["op_by_op"] - before["op_by_op"] == 0
    assert after["cache_hits"] - before["cache_hits"] == 20


def read_at_each_turn(turns, look=False):
    """Batches cut from a tensor, the loss read at each turn: nothing is pending between two."""
    data = tf.constant(np.arange(320, dtype=np.float32).reshape(80, 4) / 100)
    labels = tf.constant(np.arange(80, dtype=np.int32) % 3)
    w = tf.Variable(np.full((4, 3), 0.1, np.float32))
    losses = []
    for i in range(turns):
        x, y = data[8 * (i % 10) : 8 * (i % 10) + 8], labels[8 * (i % 10) : 8 * (i % 10) + 8]
        y = tf.one_hot(y, 3)
        if look:
            x.numpy()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w - y))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        losses.append(float(loss))
    return losses


@pytest.fixture
def cheap_compiles(monkeypatch):
    """What prepares a step is recorded with it as soon as it can be."""
    monkeypatch.setattr(policy, "RUN_NOW_SECONDS", 1.0)


def test_a_step_is_not_compiled_again_before_that_is_paid_for(counted):
    tf.engine.clear_caches()  # other tests take the same step
    read_at_each_turn(40)
    assert counted()["compiles"] == 1


def test_what_prepares_a_step_is_recorded_with_it(counted, cheap_compiles):
    read_at_each_turn(12)
    before = counted()
    losses = read_at_each_turn(30)
    after = counted()
    # The three ops before the first two tapes run at once.
    assert after["dispatches"] - before["dispatches"] <= 30 + 2 * 3
    assert after["compiles"] == before["compiles"]
    tf.config.run_functions_eagerly(True)
    try:
        np.testing.assert_allclose(losses, read_at_each_turn(30), rtol=1e-5)
    finally:
        tf.config.run_functions_eagerly(False)


def test_what_is_looked_at_before_the_tape_runs_at_once_again(counted, cheap_compiles):
    losses = read_at_each_turn(40, look=True)
    before = counted()
    again = read_at_each_turn(40, look=True)
    after = counted()
    np.testing.assert_allclose(losses, again, rtol=1e-6)
    assert after["compiles"] == before["compiles"] and after["op_by_op"] == before["op_by_op"]


def test_code_after_the_last_step_is_right_whenever_it_runs(cheap_compiles):
    read_at_each_turn(12)
    x = tf.constant([1.0, 2.0]) * 3.0
    assert (x + 1.0).numpy().tolist() == [4.0, 7.0]
    assert tf.counters.pending == 0


def test_a_value_read_after_the_tape_is_the_same_leaf():
    """Otherwise the overwritten buffer is read elsewhere, and has to be copied at each step."""
    w, m = tf.Variable(tf.ones([20, 30])), tf.Variable(tf.zeros([20, 30]))
    for expected in (0.0, 0.0, 0.0):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w)
        g = tape.gradient(loss, w)
        m.assign(m.read_value() * 0.5 + g)
        w.assign(w.read_value() - 0.5 * g)
        arrays, _ = leaf_layout(LOCAL.state.program.node.path())
        assert len(arrays) == 2  # what w and m hold
        assert w.numpy()[0, 0] == expected
    assert m.numpy()[0, 0] == 0.5


def test_what_prepares_a_step_belongs_to_it_whenever_it_is_read(counted, cheap_compiles):
    """Its values are no results of the program before; a step that is read is the same program."""
    data = tf.constant(np.arange(480, dtype=np.float32).reshape(120, 4) / 100)
    w = tf.Variable(tf.ones([4, 2]))

    def step(i, every):
        rows = tf.unstack(data[3 * i : 3 * i + 3])
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(tf.square(row @ w)) for row in [r[None] for r in rows]])
        w.assign_sub(0.01 * tape.gradient(loss, w))
        if i % every == 0:
            assert np.isfinite(float(loss))

    for every in (1, 3, 1000):
        for i in range(20):
            step(i, every)
        before = counted()
        for i in range(20, 40):
            step(i, every)
        after = counted()
        assert after["compiles"] == before["compiles"]
        assert after["op_by_op"] - before["op_by_op"] <= 1
    flush()
    assert w.numpy().shape == (4, 2)


def test_the_update_of_a_counter_belongs_to_the_step(counted, cheap_compiles):
    """It reads nothing that the step has made, as what prepares the next one does."""
    x, w, step = tf.ones([2, 2]), tf.Variable(tf.ones([2, 3])), tf.Variable(0.0)
    tf.engine.clear_caches()
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w))
        w.assign_sub(tape.gradient(loss, w) / (step + 2.0))
        step.assign(step + 1.0)
    assert float(loss) >= 0.0 and step.numpy() == 60.0
    assert counted()["compiles"] <= 2  # what is pending when the loss is read may be another one


def test_ops_after_a_step_that_prepare_none_are_recorded_with_it_again():
    w, x = tf.Variable(tf.ones([3, 3])), tf.constant(np.ones((3, 3), "float32"))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w @ x)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    for _ in range(4):
        step()
        y = tf.exp(x) * 2.0  # looks like what prepares the next
    for _ in range(2 * policy.MISLED):
        step()
        y = tf.exp(x) * 2.0
        assert float(y[0, 0]) == pytest.approx(2 * np.e)  # and is not
    np.testing.assert_allclose(w.numpy(), 1 - 0.3 * (4 + 2 * policy.MISLED), rtol=1e-4)
    (history,) = [h for key, h in executor._HISTORIES.items() if key == LOCAL.state.origin]
    assert history.misled <= policy.MISLED


def test_an_error_where_the_next_step_is_prepared_loses_nothing():
    data, w = tf.constant(np.ones((8, 2), "float32")), tf.Variable(tf.zeros([2]))

    def step(i):
        row = data[i % 8] * 1.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w - row))
        w.assign_sub(0.25 * tape.gradient(loss, w))

    for i in range(6):
        step(i)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(data, data)  # the op that would be the first of the next
    for i in range(3):
        step(i)
    np.testing.assert_allclose(w.numpy(), 1 - 0.5**9, rtol=1e-5)

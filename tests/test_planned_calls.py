"""Calls of settled functions as C plans them: without a record of their own."""

import functools
import gc
import threading

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.native import FASTPATH
from tape_compat._src.core.program import Program
from tape_compat._src.run import executor, kept, policy

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.usefixtures("deferred", "switching"),
    pytest.mark.skipif(FASTPATH is None, reason="not built"),
]
CALLS = 2 * policy.HITS_TO_SETTLE


class Counting:
    """`step` adds its argument to `w` and counts in `n`; it gives what `w` was, and its triple."""

    def __init__(self):
        self.w, self.n = tf.Variable([0.0, 0.0]), tf.Variable(0)
        self.added = np.zeros(2, np.float32)

        @tf.function(jit_compile=True)
        def step(x):
            before = tf.identity(self.w)
            self.w.assign_add(x)
            self.n.assign_add(1)
            return before, before * 3.0

        self.function = step

    def step(self, x):
        result = self.function(x)
        self.added = self.added + x.numpy()
        return result

    @property
    def plan(self):
        (trace,) = self.function._traces.values()
        return trace.plan

    def check(self, calls):
        np.testing.assert_allclose(self.w.numpy(), self.added, rtol=1e-5)
        assert self.n.numpy() == calls


@functools.cache
def given(i):
    """A tensor with an array of JAX's; what is planned is not called while ops run between."""
    return tf.constant([float(i), 1.0]) * 1.0


@pytest.fixture(autouse=True)
def all_given():
    given.cache_clear()
    for i in range(2 * CALLS):
        given(i)


@pytest.fixture
def counting():
    made = Counting()
    for i in range(CALLS):
        made.step(given(i))
    assert made.plan is not None
    return made


def test_one_program_serves_all_calls(counting, counted):
    plan, x = counting.plan, given(5)
    before = counted()
    for _ in range(10):
        w = counting.added
        old, thrice = counting.step(x)
        np.testing.assert_allclose(old, w)
        np.testing.assert_allclose(thrice, 3.0 * w)
    after = counted()
    assert after["dispatches"] - before["dispatches"] == 10
    assert after["cache_hits"] - before["cache_hits"] == 10
    assert after["compiles"] == before["compiles"]
    assert counting.plan is plan
    counting.check(CALLS + 10)


def test_buffers_that_somebody_holds_are_not_taken(counting):
    x = given(5)
    tensor = counting.w.read_value()
    array = jax.numpy.asarray(counting.w.numpy()), counting.w._handle.tensor._array
    expected = counting.added
    for _ in range(3):
        counting.step(x)
    np.testing.assert_allclose(tensor, expected)
    for held in array:
        np.testing.assert_allclose(held, expected)
    counting.check(CALLS + 3)


def test_inputs_of_another_kind_go_the_general_way(counting):
    w = counting.w
    for x in (np.float32([1.0, 2.0]), given(1), tf.constant([2.0, 3.0]), given(2)):
        counting.step(tf.convert_to_tensor(x))
    own = w.read_value()
    counting.added = counting.added + counting.added
    counting.function(own)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(counting.function(given(3))[1])
    counting.added = counting.added + given(3).numpy()
    np.testing.assert_allclose(tape.gradient(total, w), [3.0, 3.0])
    with tf.GradientTape():
        pending = given(1) * w
    counting.step(pending)
    counting.check(CALLS + 7)


def test_two_calls_of_one_tensor():
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step(x, y):
        v.assign_add(x - y)
        return x + y

    a, b = given(3), given(4)
    for _ in range(CALLS):
        step(a, b)
    np.testing.assert_allclose(step(a, a), 2.0 * a.numpy())
    np.testing.assert_allclose(step(a, b), a.numpy() + b.numpy())
    np.testing.assert_allclose(v, [1.0 - (CALLS + 1), 2.0])


def test_numbers_that_are_constants_stay():
    found = []
    for rate in (0.5, 0.25):
        v = tf.Variable([1.0, 2.0])

        @tf.function(jit_compile=True)
        def step(x, v=v, rate=rate):
            v.assign_add(rate * x)
            return tf.reduce_sum(v) * rate

        found.append((v, step, rate))
    for _ in range(CALLS):
        for _, step, _ in found:
            step(given(1))
    for v, step, rate in found:
        for _ in range(3):
            total = step(given(1))
        expected = np.float32([1.0, 2.0]) + rate * (CALLS + 3)
        np.testing.assert_allclose(v, expected)
        np.testing.assert_allclose(total, rate * expected.sum())


def test_it_ends_with_what_was_compiled(counting):
    kept.discard(counting.plan[0])
    counting.step(given(1))
    assert counting.plan is None
    for i in range(2 * CALLS):
        counting.step(given(i))
    assert counting.plan is not None
    counting.check(3 * CALLS + 1)


def test_a_failing_call_leaves_what_variables_held(counting, monkeypatch):
    def failing(*_):
        raise RuntimeError("no call")

    monkeypatch.setattr(counting.plan[0], "call", failing)
    with pytest.raises(RuntimeError, match="no call"):
        counting.function(given(1))
    counting.check(CALLS)
    assert counting.plan is None
    monkeypatch.undo()
    counting.step(given(1))
    counting.check(CALLS + 1)


def test_a_thread_that_reads_meanwhile(counting):
    stop, wrong, seen = threading.Event(), [], []

    def read():
        while not stop.is_set():
            try:
                seen.append(float(counting.w[1]))
            except Exception as error:
                wrong.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    x = given(1)
    try:
        for _ in range(300):
            counting.step(x)
    finally:
        stop.set()
        reader.join()
    assert not wrong
    assert seen == sorted(seen)
    counting.check(CALLS + 300)


def test_a_reader_that_came_late(counting):
    """It waited for the program while a call ran it, and found nothing left of it to run."""
    plan = counting.plan
    executor.run(next(part for part in plan if isinstance(part, Program)))
    counting.step(given(1))
    counting.step(given(2))
    counting.check(CALLS + 2)
    assert counting.plan is not None and counting.plan is not plan


def test_calls_in_several_threads(counting):
    def call():
        for _ in range(100):
            with lock:
                counting.step(x)

    lock, x = threading.Lock(), given(1)
    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counting.check(CALLS + 300)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_finalizers_that_come_between(counting):
    """They read and overwrite the variables at any allocation."""
    read = []

    class Garbage:
        def __init__(self):
            self.itself = self

        def __del__(self):
            read.append(counting.w.numpy())
            kept_values.append(counting.w.read_value())
            counting.n.assign(counting.n + 1)

    kept_values, x = [], given(1)
    before = gc.get_threshold()
    try:
        for i in range(60):
            Garbage()
            gc.set_threshold(1 + i % 17)
            counting.step(x)
            gc.set_threshold(0)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    np.testing.assert_allclose(counting.w, counting.added, rtol=1e-5)
    assert len(read) > 20
    for value in kept_values:
        value.numpy()
    n = int(counting.n.numpy())
    counting.step(x)
    assert counting.n.numpy() == n + 1

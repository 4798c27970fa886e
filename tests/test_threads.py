"""State is per thread; a tensor may be observed from any thread."""

import threading

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import limits
from tape_compat._src.core.state import LOCAL
from tape_compat._src.run import policy

pytestmark = pytest.mark.usefixtures("switching")


def run_all(*functions):
    errors = []

    def guarded(f):
        try:
            f()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=120)
        assert not t.is_alive()
    if errors:
        raise errors[0]


def test_two_threads_with_their_own_tapes():
    results = {}

    def train(name, start):
        v = tf.Variable(start)
        for _ in range(100):
            with tf.GradientTape() as tape:
                loss = tf.square(v - 1.0) * tf.exp(0.0 * v)
            v.assign_sub(0.1 * tape.gradient(loss, v))
        results[name] = v.numpy()

    run_all(lambda: train("a", 5.0), lambda: train("b", -3.0), lambda: train("c", 2.0))
    for value, start in ((results["a"], 5.0), (results["b"], -3.0), (results["c"], 2.0)):
        np.testing.assert_allclose(value, 1 + (start - 1) * 0.8**100, rtol=1e-4)


def test_a_tape_does_not_see_another_thread():
    x = tf.Variable(2.0)
    seen = []

    def other():
        seen.append(LOCAL.state.recorders)
        seen.append(x * 3.0)

    with tf.GradientTape() as tape:
        run_all(other)
        y = x * x
    assert seen[0] == ()
    assert seen[1].numpy() == 6.0
    assert tape.watched_variables() == (x,) or tape.watched_variables()[0] is x
    assert tape.gradient(y, x).numpy() == 4.0


def test_a_pending_tensor_read_from_another_thread():
    x = tf.Variable([1.0, 2.0])
    values = []
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        run_all(lambda: values.append(y.numpy()), lambda: values.append((y + 1.0).numpy()))
        z = y * 2.0
    g = tape.gradient(z, x)
    run_all(lambda: values.append(g.numpy()))
    e = np.exp([1.0, 2.0])
    for value in values[:2]:
        assert np.allclose(value, e, rtol=1e-6) or np.allclose(value, e + 1, rtol=1e-6)
    np.testing.assert_allclose(values[2], 2 * e, rtol=1e-6)


def test_readers_beside_a_recording_thread():
    """Many reads of tensors and variables of a thread that goes on recording."""
    v = tf.Variable(1.0)
    shared = []
    done = threading.Event()

    def record():
        try:
            for i in range(300):
                with tf.GradientTape() as tape:
                    y = v * 1.0
                    for _ in range(5):
                        y = y + 1.0
                        shared.append((y, i))
                v.assign_sub(0.0 * tape.gradient(y, v))
        finally:
            done.set()

    def read():
        while not done.is_set() or shared:
            try:
                y, _ = shared.pop()
            except IndexError:
                continue
            assert 2.0 <= y.numpy() <= 6.0
            assert v.numpy() == 1.0

    run_all(record, read, read)


def test_a_variable_assigned_by_several_threads():
    v = tf.Variable(np.zeros(3, np.float32))
    lock = threading.Lock()

    def add():
        for _ in range(50):
            with lock:
                with tf.GradientTape() as tape:
                    y = tf.reduce_sum(v * 0.0 + 1.0)
                tape.gradient(y, v)
                v.assign_add([1.0, 1.0, 1.0])

    run_all(add, add, add)
    assert v.numpy().tolist() == [150.0] * 3


def test_threads_get_one_concrete_function():
    barrier = threading.Barrier(8)
    found = []

    @tf.function
    def square(x):
        return x * x

    def get():
        barrier.wait(timeout=60)
        found.append(square.get_concrete_function(tf.TensorSpec([2], tf.float32)))

    run_all(*[get] * 8)
    assert len(set(map(id, found))) == 1


def test_tables_that_are_full_in_several_threads(monkeypatch):
    """What one thread drops from a table, another goes through, adds or drops at that moment."""
    for module, name, bound in (
        (limits, "MAX_TRIED_SHAPES", 3),
        (limits, "MAX_SHAPES_PER_CLOSURE", 8),
        (limits, "SPARE_NODES", 40),
        (policy, "MAX_EXECUTABLES", 6),
        (policy, "FEW_ONCE", 2),
        (policy, "ONCE_INSTRUCTIONS", 20),
        (policy, "MAX_HISTORIES", 4),
    ):
        assert getattr(module, name) > bound
        monkeypatch.setattr(module, name, bound)
    scales = [tf.constant(float(i)) for i in range(4)]

    def work(number):
        random = np.random.default_rng(number)
        for _ in range(25):
            shape = random.integers(1, 9, 3)
            array = random.random(shape, np.float32)
            x, scale = tf.constant(array), scales[random.integers(4)]
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(x) if random.random() < 0.5 else tf.square(x)
                loss = tf.reduce_sum(y * scale, axis=int(random.integers(3)))
            gradient = tape.gradient(loss, x)
            if random.random() < 0.7:
                assert np.isfinite(loss.numpy()).all()
                assert gradient.numpy().shape == array.shape

    run_all(*[lambda number=number: work(number) for number in range(4)])

"""An exception at any point of a step leaves tapes, variables and pending work usable.

A trace function raises at the k-th line that runs inside the package, for many k: every line of a
step's recording, gradient, updates, compile and dispatch has its turn.
"""

import os
import sys

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.state import LOCAL
from tape_compat._src.run import executor, policy
from tape_compat._src.values.record import flush

PACKAGE = os.path.dirname(tf.__file__)
X = np.array([0.5, -1.0, 2.0], np.float32)


class Interrupted(BaseException):
    """What is injected: not an Exception, as KeyboardInterrupt is not."""


class Injector:
    """Raises at the `at`-th line run inside the package."""

    def __init__(self, at):
        self.left = at
        self.fired = False

    def __call__(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line" and not self.fired and not _entering_exit(frame):
            self.left -= 1
            if self.left <= 0:
                self.fired = True
                sys.settrace(None)
                raise Interrupted(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return self


def _entering_exit(frame):
    """The first line of `__exit__`: an interrupt there is before any code that could heal it, as
    for every context manager written in Python."""
    code = frame.f_code
    return code.co_name == "__exit__" and frame.f_lineno <= code.co_firstlineno + 1


class Model:
    def __init__(self):
        self.w = tf.Variable(np.array([0.3, 0.2, -0.1], np.float32))
        self.b = tf.Variable(np.float32(0.1))
        self.x = tf.constant(X)

    def step(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.tanh(self.x * self.w + self.b)))
        dw, db = tape.gradient(loss, [self.w, self.b])
        self.w.assign_sub(0.1 * dw)
        self.b.assign_sub(0.1 * db)
        return loss.numpy()

    def values(self):
        return self.w.numpy(), self.b.numpy()


def expected_step(w, b):
    """One step by hand, in float64."""
    t = np.tanh(X.astype(np.float64) * w + b)
    g = 2 * t * (1 - t**2)
    return w - 0.1 * g * X, b - 0.1 * g.sum()


def lines_of_a_step(prepare):
    model = Model()
    prepare(model)
    counter = Injector(10**9)
    sys.settrace(counter)
    try:
        model.step()
    finally:
        sys.settrace(None)
    return 10**9 - counter.left


def check_interrupted_at(at, prepare):
    model = Model()
    prepare(model)
    w0, b0 = model.values()
    injector = Injector(at)
    sys.settrace(injector)
    try:
        model.step()
    except Interrupted:
        pass
    finally:
        sys.settrace(None)
    assert LOCAL.state.recorders == (), at
    assert not jax.config.read("jax_enable_x64"), at  # other JAX code is as it was
    w, b = model.values()  # readable, and either old or new
    w1, b1 = expected_step(w0, b0)
    for value, old, new in ((w, w0, w1), (b, b0, b1)):
        assert np.allclose(value, old, atol=1e-5) or np.allclose(value, new, atol=1e-5), at
    model.step()
    w2, b2 = expected_step(w, b)
    after = model.values()
    np.testing.assert_allclose(after[0], w2, atol=1e-5, err_msg=str(at))
    np.testing.assert_allclose(after[1], b2, atol=1e-5, err_msg=str(at))


def warm(model):
    for _ in range(2):
        model.step()


def settled(model):
    """So often that the place is settled: C runs the program, where it was built."""
    for _ in range(policy.HITS_TO_SETTLE + 2):
        model.step()


def cold(model):
    """Everything known is forgotten, so that the step infers, compiles and remembers."""
    flush()
    executor.EXECUTABLES.clear()
    from tape_compat._src.core.program import TREE

    TREE.prune()


@pytest.mark.parametrize("prepare", [warm, settled, cold])
def test_interrupted_at_many_lines(prepare):
    lines = lines_of_a_step(prepare)
    assert lines > (20 if prepare is settled else 100)
    every = 7 if prepare is cold else 1
    points = range(1, lines + 1, max(every, lines // 250))
    for at in points:
        check_interrupted_at(at, prepare)


def test_an_exception_inside_the_tape():
    x = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match="mine"):
        with tf.GradientTape() as tape:
            y = x * x
            raise RuntimeError("mine")
    assert LOCAL.state.recorders == ()
    assert tape.gradient(y, x).numpy() == 6.0


def test_an_error_of_an_op_inside_the_tape():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        with pytest.raises(tf.errors.InvalidArgumentError):
            y + tf.constant([1.0, 2.0, 3.0])
        z = tf.reduce_sum(y)
    assert tape.gradient(z, x).numpy().tolist() == [2.0, 4.0]


def test_a_failing_compile_is_tried_again(monkeypatch):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.exp(x) * tf.constant([0.25, 0.5])
    g = tape.gradient(y, x)
    original = executor._launch

    def fail(*args):
        raise MemoryError("no room")

    if g._array is None:
        monkeypatch.setattr(executor, "_launch", fail)
        with pytest.raises(MemoryError):
            g.numpy()
        monkeypatch.setattr(executor, "_launch", original)
    np.testing.assert_allclose(g.numpy(), np.exp([1.0, 2.0]) * [0.25, 0.5], rtol=1e-6)
    np.testing.assert_allclose(y.numpy(), np.exp([1.0, 2.0]) * [0.25, 0.5], rtol=1e-6)


def test_a_failing_grad_function_leaves_a_persistent_tape_usable():
    @tf.custom_gradient
    def f(x):
        def grad(upstream):
            if failing:
                raise ValueError("not now")
            return 7.0 * upstream

        return x * 2.0, grad

    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
    failing = True
    with pytest.raises(ValueError, match="not now"):
        tape.gradient(y, x)
    failing = False
    assert tape.gradient(y, x).numpy() == 7.0

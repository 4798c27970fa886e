"""What the engine has in C does what its Python does."""

import gc
import os
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

import tape_compat as tf
from tape_compat.core import dispatch, executor
from tape_compat.core.native import FASTPATH
from tape_compat.core.op import Op
from tape_compat.core.state import LOCAL

PURE = os.environ.get("TAPE_COMPAT_PURE_PYTHON", "0") not in ("", "0")
COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]

#: Records in every way that the fast paths know: leaves on either side and on both, scalars on
#: either side, two tapes, an accumulator, a variable read twice, an alias, a tensor used up.
SCRIPT = """
import numpy as np
import tape_compat as tf

v, w = tf.Variable([0.5, -1.0]), tf.Variable([[0.25, 0.5], [0.75, -0.5]])
c = tf.constant([2.0, 3.0]) * 1.0
lines = []
for _ in range(3):
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as accumulator:
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(c)
            with tf.GradientTape() as inner:
                y = tf.tanh(v * c + v) - 2.0 * v / 3.0 + tf.linalg.matvec(w, v)
                z = tf.reduce_sum(tf.square(y) * (c * c))
                z = z + tf.reduce_sum(tf.matmul(w, w)) + tf.floor(z)
            g = inner.gradient(z, [v, w])
            norm = tf.reduce_sum(g[0] * g[0]) + tf.reduce_sum(g[1] * g[1])
    again = outer.gradient(norm, [v, c, v])
    v.assign_sub(0.01 * g[0])
    w.assign(w - 0.01 * g[1])
    lines += [z.numpy(), *(a.numpy() for a in again), accumulator.jvp(z).numpy(), w.numpy()]
print([np.round(x, 4).tolist() for x in lines])
counts = tf.counters.snapshot()
print({k: counts[k] for k in ("traces", "compiles", "dispatches", "fused", "instructions")})
"""


def printed(pure):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "TAPE_COMPAT_PURE_PYTHON": pure},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(PURE or not shutil.which(COMPILER), reason="it could not have been built")
def test_it_was_built():
    assert FASTPATH is not None, "install the package anew: pip install -e ."


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_the_same_is_recorded_and_computed():
    assert printed("0") == printed("1")


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_arguments_are_checked():
    closure = tf.square.op.bind()
    for call in (
        lambda: dispatch.apply1(closure, 1.0),
        lambda: dispatch.apply1(closure),
        lambda: dispatch.apply2(closure, tf.constant(1.0), 2.0),
        lambda: dispatch.apply_scalar(closure, 1.0, 1.0, False),
        lambda: dispatch.handles(None, ()),
        lambda: executor.waiting(()),
        lambda: executor.gather(()),
    ):
        with pytest.raises(TypeError):
            call()


def test_what_is_not_initialized_is_refused():
    class Early(tf.Variable):
        def __init__(self, value):
            self.twice = self._as_tensor() * 2.0
            super().__init__(value)

    with pytest.raises(AttributeError, match="_handle"):
        Early(1.0)
    empty = tf.Tensor.__new__(tf.Tensor)
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises((AttributeError, TypeError)):
            empty * empty
    for source in (empty, tf.Variable.__new__(tf.Variable)):
        with pytest.raises(AttributeError):
            tape.gradient(y, source)


def test_sources_of_another_class_are_told_apart():
    class Other(tf.Tensor):
        __slots__ = ()

    def other(x):
        copied = Other.__new__(Other)
        for name in ("_aval", "_array", "_at", "_id"):
            setattr(copied, name, getattr(x, name))
        return copied

    x, y = tf.constant(2.0) * 1.0, tf.constant(3.0) * 1.0
    for first, expected in ((True, 9.0), (False, 4.0)):
        with tf.GradientTape() as tape:
            a, b = tf.square(x), tf.square(y)
            tape.watch([a, b])
            product = a * b
        (gradient,) = tape.gradient(product, [other(a if first else b)])
        assert gradient.numpy() == expected


def test_an_error_in_an_option_of_the_tape_is_raised():
    class Unknown:
        def __bool__(self):
            raise ValueError("unknown")

    v = tf.Variable(1.0)
    with (
        tf.GradientTape(watch_accessed_variables=Unknown()),
        pytest.raises(ValueError, match="unknown"),
    ):
        v * 2.0
    with tf.GradientTape(watch_accessed_variables=1) as tape:
        y = v * 2.0
    assert tape.gradient(y, v).numpy() == 2.0


def test_several_outputs_come_alike_each_time(deferred):
    """The general way takes a structure for the first time, the fast path after that."""
    two = Op(lambda x, y: (x + y, x - y), "Two").bind()
    signs = Op(lambda x: (x > 0, x < 0), "Signs").bind()
    x = tf.constant([1.0, 2.0]) * 1.0
    entries = []
    for _ in range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.square(x)
            total, difference = dispatch.apply_scalar(two, y, 1.0, False)
            dispatch.apply(signs, (y,))
            entries.append(len(tape._record.calls))
        np.testing.assert_allclose(total, [2.0, 5.0])
        np.testing.assert_allclose(difference, [0.0, 3.0])
    assert entries[0] == entries[1]


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_a_finalizer_may_record_ops(deferred):
    """Garbage is collected while a call is recorded, and its finalizer makes another call."""
    kept = []

    class Garbage:
        def __init__(self, x):
            self.itself, self.x = self, x

        def __del__(self):
            kept.append(self.x * (tf.constant([float(len(kept)), 1.0])))

    def step(x, collects):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.square(x)
            if collects:
                Garbage(y)
            for _ in range(10):
                y = tf.tanh(y * x) + 0.5
        return tape.gradient(y, x).numpy()

    x = tf.constant([0.5, 0.9]) * 1.0
    before = gc.get_threshold()
    for _ in range(3):
        expected = step(x, False)
    try:
        for i in range(30):
            gc.set_threshold(20 + i, 1, 1)
            np.testing.assert_allclose(step(x, True), expected, rtol=1e-5)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    for i, product in enumerate(kept):
        np.testing.assert_allclose(product, np.square([0.5, 0.9]) * [i, 1.0], rtol=1e-5)


def test_references_are_given_back():
    """Nothing that a step touches is held by more references after it than before."""
    x, shift, v = tf.constant([1.0, 2.0]) * 1.0, tf.constant([0.5, 0.5]) * 1.0, tf.Variable(0.5)
    closure = tf.square.op.bind()

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.square(x + shift) * v
            z = tf.reduce_sum(2.0 * (y - shift) * (x * x))
        g = tape.gradient(z, [x, v])
        v.assign_sub(0.001 * g[1])
        dispatch.flush()

    def count():
        gc.collect()
        held = [closure, x, shift, v, x._aval, LOCAL.state, None, (), 0, dispatch.apply]
        return len(gc.get_objects()), [sys.getrefcount(o) for o in held[:6]]

    for _ in range(10):
        step()
    objects, references = count()
    for _ in range(200):
        step()
    more_objects, more_references = count()
    assert more_objects - objects < 50
    np.testing.assert_array_less(np.subtract(more_references, references), 20)


def test_a_gradient_within_a_capture_is_remembered():
    """A custom gradient that asks a tape, seen by `jacobian` more than once."""

    @tf.custom_gradient
    def cube(x):
        def grad(dy):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.square(x) * x
            return dy * tape.gradient(y, x)

        return tf.square(x) * x, grad

    x = tf.constant([1.0, 2.0]) * 1.0
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        np.testing.assert_allclose(tape.jacobian(y, x), [[3.0, 0.0], [0.0, 12.0]])

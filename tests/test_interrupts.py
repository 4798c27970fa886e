"""An exception at any point of a step leaves tapes, variables and pending work usable.

A trace function raises at the k-th line that runs inside the package, for many k: every line of a
step's recording, gradient, updates, compile and dispatch has its turn.
"""

import linecache
import os
import random
import signal
import sys
import sysconfig
import time
from functools import cache
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.native import FASTPATH
from tape_compat._src.core.state import LOCAL, changed
from tape_compat._src.run import donation, executor, kept, policy, whole
from tape_compat._src.values.record import flush

pytestmark = pytest.mark.compiled

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
        if event == "line" and not self.fired and not _entering_exit(frame.f_code, frame.f_lineno):
            self.left -= 1
            if self.left <= 0:
                self.fired = True
                sys.settrace(None)
                raise Interrupted(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return self


@cache
def _entering_exit(code, line):
    """The first line of `__exit__` or of what stands behind `finally`, or a `with`, which has its
    turn again before that: an interrupt there is before any code that could heal it, as for every
    context manager written in Python. Python looks for signals at none of them but `__exit__`."""
    if linecache.getline(code.co_filename, line).lstrip().startswith("with "):
        return True
    if linecache.getline(code.co_filename, line - 1).strip() == "finally:":
        return True
    lines = sorted({line for *_, line in code.co_lines() if line})  # decorators, then the body
    return code.co_name == "__exit__" and line <= lines[1]


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


class FunctionModel(Model):
    """Its step is a `tf.function`, recorded at the first call."""

    def __init__(self):
        super().__init__()
        self.function = tf.function(self.update, autograph=False)

    def update(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.tanh(x * self.w + self.b)))
        dw, db = tape.gradient(loss, [self.w, self.b])
        self.w.assign_sub(0.1 * dw)
        self.b.assign_sub(0.1 * db)
        return loss

    def step(self):
        return self.function(self.x).numpy()


def expected_step(w, b):
    """One step by hand, in float64."""
    t = np.tanh(X.astype(np.float64) * w + b)
    g = 2 * t * (1 - t**2)
    return w - 0.1 * g * X, b - 0.1 * g.sum()


def lines_of_a_step(prepare, make=Model):
    model = make()
    prepare(model)
    counter = Injector(10**9)
    sys.settrace(counter)
    try:
        model.step()
    finally:
        sys.settrace(None)
    return 10**9 - counter.left


def check_interrupted_at(at, prepare, make=Model):
    model = make()
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
    assert LOCAL.state.recorders == () and LOCAL.state.capture is None, at
    assert make is Model or not LOCAL.state.deferring, at  # a tape sets it when it is left
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
    kept.KEPT.clear()
    from tape_compat._src.core.program import TREE

    TREE.prune()


@pytest.mark.parametrize("prepare", [warm, settled, cold])
def test_interrupted_at_many_lines(prepare):
    lines = lines_of_a_step(prepare)
    assert lines > (8 if prepare is settled else 100)
    every = 7 if prepare is cold else 1
    points = range(1, lines + 1, max(every, lines // 250))
    for at in points:
        check_interrupted_at(at, prepare)


#: Lines of a step in a function are alike, but for those of Python that stand in for C.
TURNS = [pytest.param(i, marks=[pytest.mark.part] if FASTPATH else []) for i in range(6)]


def check_interrupted_in_a_function(prepare, least, count, turn):
    """At every sixth of about so many of its lines."""
    lines = lines_of_a_step(prepare, FunctionModel)
    assert lines > least
    for at in range(1, lines + 1, max(1, lines // count))[turn::6]:
        check_interrupted_at(at, prepare, FunctionModel)


@pytest.mark.parametrize("turn", TURNS)
def test_interrupted_in_the_first_call_of_a_function(turn):
    check_interrupted_in_a_function(cold, 100, 150, turn)


@pytest.mark.parametrize("turn", TURNS)
def test_interrupted_in_a_call_of_a_function(turn):
    check_interrupted_in_a_function(settled, 10, 60, turn)


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
        raise RuntimeError("no compiler")

    if g._array is None:
        monkeypatch.setattr(executor, "_launch", fail)
        with pytest.raises(RuntimeError, match="no compiler"):
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


# ---------------------------------------------------------------------------------------------
# While JAX compiles: Python code of JAX runs before and after the buffers of variables are taken.


class Momentum:
    """Two steps of momentum descent, `turns` squares long: a program of its own for each."""

    def __init__(self, turns=1):
        self.turns = turns
        one = tf.constant([1.0, 2.0, -4.0]) * 1.0  # an array of JAX's, which it may take
        self.w, self.m = tf.Variable(one), tf.Variable(one * 0.5)

    def step(self):
        with tf.GradientTape() as tape:
            loss = 0.0
            for i in range(self.turns):
                loss += tf.reduce_sum(self.w * self.w) / (i + 2.0)
        self.m.assign(0.9 * self.m + tape.gradient(loss, self.w))
        self.w.assign_sub(0.125 * self.m)
        return loss

    def values(self):
        return self.w.numpy(), self.m.numpy()

    def after(self, w, m):
        m = 0.9 * m + 2 * w * sum(1 / (i + 2.0) for i in range(self.turns))
        return w - 0.125 * m, m

    def check(self, old, at):
        """What an interrupted step leaves is readable, old or new; and the next step works."""
        new = self.after(*old)
        values = self.values()
        for value, *either in zip(values, old, new, strict=True):
            assert any(np.allclose(value, x, rtol=1e-5) for x in either), at
        self.step()
        for value, expected in zip(self.values(), self.after(*values), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-5, err_msg=str(at))


class Decay(Momentum):
    """A step as short as may be, of as many variables."""

    def step(self):
        with tf.GradientTape():
            self.m.assign(self.m + self.w)
            self.w.assign_sub(0.125 * self.m)

    def after(self, w, m):
        return w - 0.125 * (m + w), m + w


class Everywhere:
    """Raises at the `at`-th line run inside any Python function, from when `armed` says so; not
    at the places that are `done`."""

    def __init__(self, at, armed=lambda: True, done=()):
        self.left, self.armed, self.done = at, armed, done
        self.fired, self.waits = None, True

    def __call__(self, frame, event, _):
        """What is called at the lines of a new frame, if it may be interrupted at all."""
        self.waits = self.waits and not self.armed()
        if self.waits:
            return self.at_early_line
        return None if frame_exits(frame) else self.at_line

    def at_early_line(self, frame, event, _):
        """At those of a frame entered before `armed` said so: of most nobody asks what they are."""
        self.waits = self.waits and not self.armed()
        if self.waits:
            return self.at_early_line
        return self.nowhere if frame_exits(frame) else self.at_line(frame, event, _)

    def at_line(self, frame, event, _):
        if event == "line" and not self.fired:
            if not enters(frame.f_code.co_filename, frame.f_lineno):
                place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                self.left -= place not in self.done
                if self.left < 0:
                    self.fired = place
                    sys.settrace(None)
                    raise Interrupted(place)
        return self.at_line

    def nowhere(self, frame, event, _):
        """At the lines of a frame that may not be interrupted."""


#: Python's own library, whose locks an exception at the end of a `with` would leave taken.
STDLIB = sysconfig.get_path("stdlib")


@cache
def enters(file, line):
    """Whether a context is entered or left at a line: JAX would stay in it."""
    return linecache.getline(file, line).lstrip().startswith("with ")


def frame_exits(frame):
    """Whether a context is being left, or was just entered: JAX would stay in it, and a lock taken:
    any other thread would then wait for ever."""
    file = frame.f_code.co_filename
    if file.startswith(STDLIB) and "site-packages" not in file:
        return True
    names = {"__exit__", "__enter__", "_exit", "__del__"}
    while frame is not None and frame.f_code.co_filename != __file__:
        if frame.f_code.co_name in names or frame.f_code.co_filename.endswith("contextlib.py"):
            return True
        frame = frame.f_back
    return False


def interrupted_call(model, injector, old):
    """Run the pending step of a model under an injector: where it was interrupted, if it was."""
    model.step()
    sys.settrace(injector)
    try:
        flush()
    except (
        BaseException
    ):  # JAX turns what is raised in some of its lines into exceptions of its own
        if injector.fired is None:
            raise
    finally:
        sys.settrace(None)
    model.check(old, injector.fired)
    return injector.fired


@pytest.fixture
def compiled_first(deferred, monkeypatch):
    """Every program is compiled at first sight."""
    monkeypatch.setattr(policy, "NEW_STRUCTURES_BEFORE_OP_BY_OP", 10**9)


def first_call(*where):
    cold(None)
    model = Momentum()
    return interrupted_call(model, Everywhere(*where), model.values())


def test_interrupted_at_lines_of_a_compile(compiled_first):
    """At lines all over the first call of a program, which JAX traces, lowers and compiles."""
    first_call(10**9)
    cold(None)
    every = Everywhere(10**9)
    assert interrupted_call(Momentum(), every, Momentum().values()) is None
    lines = 10**9 - every.left
    places = {first_call(at) for at in range(0, lines, lines // 30)}
    assert len(places - {None}) > 8  # where none is injected, the next line has two turns


@pytest.fixture
def given():
    return []


@pytest.fixture
def taken(monkeypatch, given):
    """Whether JAX has taken the buffers that it was given in Python since `given` was
    cleared."""
    before = donation.replaced

    def replaced(array):
        given.append(before(array))
        return given[-1]

    monkeypatch.setattr(donation, "replaced", replaced)
    return lambda: bool(given) and given[-1].is_deleted()


def test_interrupted_at_each_line_after_buffers_were_taken(compiled_first, given, taken):
    """JAX has forgotten the way to the compiled program, and goes through Python as at first. A
    step whose variables were lost could not be finished."""
    cold(None)
    model, places, place = Decay(), set(), ""
    while place is not None:
        places.add(place)
        model.step()
        flush()
        for prepared in kept.KEPT.order:
            if isinstance(prepared, whole.WholeProgram):
                prepared.call.clear_cache()
        given.clear()
        place = interrupted_call(model, Everywhere(0, taken, places), model.values())
    assert len(places) > 50


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_signals_during_compiles(compiled_first):
    """A timer raises at any time of the first call of programs of varying length."""

    fired = []

    def interrupt(*_):
        fired.append(True)
        raise Interrupted("timer")

    rng = random.Random(0)
    before = signal.signal(signal.SIGALRM, interrupt)
    seconds, hit = 0.2, 0
    try:
        for turns in range(2, 26):
            model = Momentum(turns)
            old = model.values()
            model.step()
            start = time.perf_counter()
            fired.clear()
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, seconds * rng.uniform(0.01, 1.1))
                    flush()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except BaseException:  # JAX turns some into exceptions of its own
                if not fired:
                    raise
                hit += 1
            else:
                seconds = time.perf_counter() - start
            try:
                model.check(old, turns)
            except RecursionError as error:
                # JAX's cache was interrupted: it takes what it was making for a call of itself.
                assert "Recursively calling" in str(error)
                jax.clear_caches()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert hit > 5


def test_a_context_that_is_not_entered_changes_nothing():
    for at in range(1, 30):
        owner, injector = SimpleNamespace(a=0, b=0), Injector(at)
        try:
            sys.settrace(injector)
            with changed(owner, a=1, b=1):
                sys.settrace(None)
        except Interrupted:
            pass
        assert (owner.a, owner.b) == (0, 0)
        if not injector.fired:
            break
    assert at > 5

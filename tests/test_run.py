"""Programs that come again and again, from a place that is settled: the shortest way to run."""

import gc
import signal
import threading
import time
import weakref

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import host
from tape_compat._src.core.native import FASTPATH
from tape_compat._src.core.state import LOCAL
from tape_compat._src.core.steps import Steps
from tape_compat._src.run import executor, kept, policy, whole
from tape_compat._src.run.loops.write import LoopProgram
from tape_compat._src.values.record import flush
from tests import processes

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("deferred")]
SETTLED = policy.HITS_TO_SETTLE + 3


class Descent:
    """`w` goes down its square by `rate`: each step multiplies it by 1 - 2 rate."""

    def __init__(self, value=(1.0, 2.0, -4.0)):
        self.w = tf.Variable(np.array(value, np.float32))

    def step(self, rate=0.125):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.w * self.w)
        self.w.assign_sub(rate * tape.gradient(loss, self.w))
        return loss


@pytest.fixture
def settled():
    found = Descent()
    for _ in range(SETTLED):
        assert found.step().numpy() > 0
    found.w.assign([1.0, 2.0, -4.0])
    flush()
    return found


def executable_of(descent):
    """What a step of this kind runs."""
    before = [e.recent for e in kept.KEPT.order]
    for e in kept.KEPT.order:
        e.recent = False
    assert descent.step().numpy() > 0
    (found,) = [e for e in kept.KEPT.order if e.recent]
    for e, recent in zip(kept.KEPT.order, before):
        e.recent = e.recent or recent
    descent.w.assign([1.0, 2.0, -4.0])
    flush()
    return found


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_it_takes_the_short_way(settled, monkeypatch):
    def fail(*args):
        raise AssertionError("the long way")

    monkeypatch.setattr(executor, "_launch", fail)
    assert settled.step().numpy() == 21.0
    np.testing.assert_array_equal(settled.w.numpy(), [0.75, 1.5, -3.0])


def test_a_step_is_counted(settled, counted):
    before = counted()
    for _ in range(5):
        assert settled.step().numpy() > 0
    after = counted()
    found = {name: after[name] - before[name] for name in after}
    instructions = found.pop("instructions")
    assert instructions > 0 and instructions % 5 == 0
    expected = dict.fromkeys(found, 0) | {"dispatches": 5, "cache_hits": 5, "fused": 5}
    assert found == expected


@pytest.mark.parametrize(
    "rate", [0.25, 0.0, -0.0, 1e-30, float("nan"), float("inf"), np.float32(0.5), 1, True]
)
def test_a_number_may_change(settled, rate):
    for _ in range(3):
        settled.w.assign([1.0, 2.0, -4.0])
        settled.step(rate)
        expected = np.float32([1, 2, -4]) * (1 - 2 * np.float32(rate))
        np.testing.assert_allclose(settled.w.numpy(), expected, rtol=1e-6)
        if np.isfinite(expected).all():
            settled.step(0.125)
            np.testing.assert_allclose(settled.w.numpy(), 0.75 * expected, rtol=1e-6)


def test_a_buffer_that_somebody_holds_is_kept(settled):
    settled.step()
    held = settled.w.read_value()
    array = held._device_array()
    expected = np.array(array)
    for _ in range(3):
        settled.step()
        flush()
    np.testing.assert_array_equal(np.asarray(array), expected)
    np.testing.assert_array_equal(held.numpy(), expected)
    np.testing.assert_array_equal(settled.w.numpy(), 0.75**3 * expected)


def test_other_outputs_may_be_alive(settled, counted):
    """In turn the loss and none: two programs, each found again."""
    for _ in range(3):
        loss = settled.step()
        flush()
        assert loss.numpy() > 0
        del loss
        settled.step()
        flush()
    before = counted()
    loss = settled.step()
    flush()
    del loss
    settled.step()
    flush()
    assert counted()["compiles"] == before["compiles"]
    np.testing.assert_allclose(settled.w.numpy(), 0.75**8 * np.float32([1, 2, -4]), rtol=1e-6)


def test_an_error_loses_nothing(settled, monkeypatch):
    executable = executable_of(settled)
    call = executable.call

    def fail(*args):
        raise RuntimeError("no compiler")

    executable.call = fail
    try:
        loss = settled.step()
        with pytest.raises(RuntimeError, match="no compiler"):
            loss.numpy()
    finally:
        executable.call = call
    assert (
        executable not in kept.runners_of(executable.node).compiled.values()
    )  # it may be half traced
    assert not jax.config.read("jax_enable_x64")
    assert loss.numpy() == 21.0
    np.testing.assert_array_equal(settled.w.numpy(), [0.75, 1.5, -3.0])
    assert settled.step().numpy() == 21.0 * 0.75**2


def test_an_error_in_the_numbers_loses_nothing(settled, monkeypatch):
    with monkeypatch.context() as patch:

        def fail(*args):
            raise KeyboardInterrupt

        patch.setattr(whole.WholeProgram, "_pack", fail)
        loss = settled.step(0.25)  # a number of which there is no vector yet
        with pytest.raises(KeyboardInterrupt):
            loss.numpy()
    assert loss.numpy() == 21.0
    np.testing.assert_array_equal(settled.w.numpy(), [0.5, 1.0, -2.0])


def test_several_threads_may_want_it(settled):
    found = []
    for _ in range(30):
        loss = settled.step()
        threads = [
            threading.Thread(target=lambda loss=loss: found.append(float(loss))) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(found[-3:])) == 1
    np.testing.assert_allclose(found[::3], 21.0 * 0.75 ** (2 * np.arange(30)), rtol=1e-4)


def test_another_thread_may_run_it(settled):
    """What its own thread records next is of another program."""
    loss = settled.step()
    program = LOCAL.state.program
    thread = threading.Thread(target=loss.numpy)
    thread.start()
    thread.join()
    assert program.ran and LOCAL.state.program is None
    assert settled.step().numpy() == 21.0 * 0.75**2


def test_a_loop_that_is_settled():
    v = tf.Variable(np.float32([0.5, -0.5]))

    def step():
        with tf.GradientTape() as tape:
            x = v
            states = []
            for _ in range(40):
                x = tf.tanh(x * 1.5)
                states.append(x)
            loss = tf.reduce_sum(x)
        v.assign_sub(0.5 * tape.gradient(loss, v))
        return loss, states

    def expected(value):
        states, slope = [], np.ones(2)
        for _ in range(40):
            value = np.tanh(1.5 * value)
            slope *= 1.5 * (1 - value**2)
            states.append(value)
        return states, slope

    for _ in range(SETTLED):
        before = v.numpy().astype(np.float64)
        loss, states = step()
        flush()
        wanted, slope = expected(before)
        np.testing.assert_allclose([s.numpy() for s in states], wanted, rtol=1e-4)
        np.testing.assert_allclose(loss.numpy(), wanted[-1].sum(), atol=1e-5)
        np.testing.assert_allclose(v.numpy(), before - 0.5 * slope, rtol=1e-5, atol=1e-6)
        again = states[3] + states[7]  # what came as rows can be used on
        np.testing.assert_allclose(again.numpy(), wanted[3] + wanted[7], rtol=1e-4)


def test_what_is_in_use_is_not_dropped(monkeypatch, counted):
    kept.KEPT.clear()
    monkeypatch.setattr(policy, "MAX_EXECUTABLES", 4)
    used = Descent()
    for _ in range(SETTLED):
        used.step()
        flush()
    for size in range(4, 10):
        other = Descent(np.ones(size))
        other.step()
        flush()
        before = counted()
        used.step()
        flush()
        assert counted()["compiles"] == before["compiles"]
    assert len(kept.KEPT.order) <= 4


def test_a_place_with_something_new_is_not_settled(settled):
    from tape_compat._src.run.executor import _HISTORIES

    (origin,) = [o for o in _HISTORIES.values() if o.settled]
    executable = executable_of(settled)
    assert executable.origin is origin
    assert Descent([1.0, 2.0]).step().numpy() == 5.0
    assert not origin.settled
    for _ in range(SETTLED):
        assert settled.step().numpy() > 0
    assert origin.settled and executable.origin is origin


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_a_signal_handler_may_want_a_value(settled):
    """It may come while the same program is about to be run."""
    current = [settled.step()]
    current[0].numpy()
    seen = []

    def look(*_):
        try:
            seen.append(float(current[0]))
        except RuntimeError as error:  # JAX was about to be called: not seen where C calls it
            assert "Ask for it later" in str(error) and FASTPATH is None
        signal.setitimer(signal.ITIMER_REAL, 0.001)

    before = signal.signal(signal.SIGALRM, look)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            settled.w.assign([1.0, 2.0, -4.0])
            current[0] = settled.step()
            assert current[0].numpy() == 21.0
            np.testing.assert_array_equal(settled.w.numpy(), [0.75, 1.5, -3.0])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) > 10 and set(seen) == {21.0}


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("at", range(1, 24, 2))
def test_a_finalizer_may_run_meanwhile(settled, reads, at):
    """It wants a value of the program that is about to be run, or records another op."""
    found = []

    class Late:
        def __init__(self, loss):
            self.loss, self.itself = loss, self

        def __del__(self):
            try:
                found.append(float(self.loss) if reads else self.loss + 1.0)
            except RuntimeError as error:
                found.append(error)

    loss = settled.step()
    gc.collect(0)
    thresholds = gc.get_threshold()
    Late(loss)
    try:
        gc.set_threshold(gc.get_count()[0] + at)
        executor.run(loss._at[0])
    finally:
        gc.set_threshold(*thresholds)
    gc.collect(1)
    assert loss.numpy() == 21.0
    (got,) = found
    if isinstance(got, RuntimeError):  # the C++ code of JAX was at it: before Python 3.12
        assert "Ask for it later" in str(got)
    else:
        assert float(got) == (21.0 if reads else 22.0)
    np.testing.assert_array_equal(settled.w.numpy(), [0.75, 1.5, -3.0])
    assert settled.step().numpy() == 21.0 * 0.75**2


class Thing:
    pass


def test_a_finalizer_reads_while_its_program_is_traced(deferred, monkeypatch):
    """It gets the value, which is worked out beside what JAX traces, and it is what stays."""
    kept.KEPT.clear()
    values = []
    v = tf.Variable(tf.constant([1.0, 2.0]) * 1.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    v.assign_sub(0.5 * tape.gradient(loss, v))
    replay = Steps.replay

    def replay_and_drop(steps, *arrays):
        weakref.finalize(Thing(), lambda: values.append((loss.numpy(), v.numpy().tolist())))
        return replay(steps, *arrays)

    monkeypatch.setattr(Steps, "replay", replay_and_drop)
    flush()
    assert values == [(5.0, [0.0, 0.0])]
    assert loss.numpy() == 5.0 and v.numpy().tolist() == [0.0, 0.0]
    v.assign_add([1.0, 2.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_many_rows_are_taken_in_blocks(counted):
    """XLA's time grows with the square of the outputs of a program."""
    x = tf.constant(np.arange(200 * 6, dtype=np.float32).reshape(2, 200, 3))
    rows = tf.unstack(x, axis=1)
    assert len(rows) == 200 and counted()["op_compiles"] == 0
    np.testing.assert_array_equal(tf.stack([r.numpy() for r in rows], 1).numpy(), x.numpy())
    assert [r.numpy().tolist() for r in tf.unstack(tf.range(130))] == list(range(130))


def layers(count, steps):
    """As many small matrices, each with a target of its own. The losses and the last values."""
    rng = np.random.default_rng(0)
    variables = [tf.Variable(rng.normal(size=(2, 2)).astype(np.float32)) for _ in range(count)]
    targets = tf.unstack(tf.constant(rng.normal(size=(count, 2, 2)).astype(np.float32)))
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            each = [tf.reduce_sum(tf.square(v - t)) for v, t in zip(variables, targets)]
            loss = tf.add_n(each)
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.1 * g)
        losses.append(loss.numpy())
    return losses, [v.numpy() for v in variables]


def test_layers_run_as_loops_first_and_as_a_whole_later(deferred, counted, monkeypatch):
    """Each of 130 turns has a variable of its own; the switch comes at a count of steps."""
    monkeypatch.setattr(policy, "SMALL_LAYER", 15)
    monkeypatch.setattr(policy, "MAX_LAYERS", 100)
    monkeypatch.setattr(policy, "LAYERS_SETTLED", 3)
    monkeypatch.setattr(policy, "LAYERS_INSTRUCTIONS_A_RUN", 200)
    losses, values = layers(130, 20)
    counts = counted()
    assert counts["compiles"] == counts["traces"] == 2 and counts["op_by_op"] == 0
    last = list(kept.KEPT.order)[-1]
    assert isinstance(last, whole.WholeProgram) and last.recent
    monkeypatch.setattr(policy, "LAYERS_SETTLED", 10**9)
    kept.KEPT.clear()
    as_loops, expected = layers(130, 20)
    np.testing.assert_allclose(losses, as_loops, rtol=1e-5)
    np.testing.assert_allclose(values, expected, rtol=1e-5)


def test_small_layers_stay_loops(deferred, counted, monkeypatch):
    """Their rows are copied in less time than a program takes to be given them one by one."""
    monkeypatch.setattr(policy, "SMALL_LAYER", 16)
    monkeypatch.setattr(policy, "MAX_LAYERS", 100)
    monkeypatch.setattr(policy, "LAYERS_SETTLED", 3)
    monkeypatch.setattr(policy, "LAYERS_INSTRUCTIONS_A_RUN", 10**9)
    kept.KEPT.clear()
    layers(130, 20)
    counts = counted()
    assert counts["compiles"] == counts["traces"] == 1 and counts["op_by_op"] == 0
    assert counts["fused"] == 20
    (loops,) = [runner for runner in kept.KEPT.order if runner.recent]
    assert isinstance(loops, LoopProgram) and loops.origin is not None  # it runs in C


def test_layers_go_on_as_loops_if_the_whole_does_not_compile(deferred, monkeypatch, caplog):
    def fail(self):
        raise RuntimeError("no room")

    monkeypatch.setattr(whole.WholeProgram, "compile", fail)
    monkeypatch.setattr(policy, "SMALL_LAYER", 15)
    monkeypatch.setattr(policy, "MAX_LAYERS", 100)
    monkeypatch.setattr(policy, "LAYERS_SETTLED", 3)
    monkeypatch.setattr(policy, "LAYERS_INSTRUCTIONS_A_RUN", 200)
    kept.KEPT.clear()
    losses, _ = layers(130, 15)
    assert losses[-1] < losses[0] and "no room" in caplog.text


def test_a_new_value_takes_the_buffer_of_its_own_old_one(deferred):
    """Otherwise XLA copies the buffer that is still to be read: 18 copies a step of Adam."""
    w, m, v = (tf.Variable(tf.ones([64, 64]) * float(i + 1)) for i in range(3))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        g = tape.gradient(loss, w)
        m.assign(0.9 * m + 0.1 * g)
        v.assign(0.9 * v + 0.1 * g * g)
        w.assign_sub(0.01 * m / (tf.sqrt(v) + 1e-7))

    def buffers():
        flush()
        arrays = [x._handle.tensor._array for x in (w, m, v)]
        return [array.unsafe_buffer_pointer() for array in arrays]

    for _ in range(3):
        step()
    before = buffers()
    step()
    assert buffers() == before


@pytest.mark.parametrize("side", [64, 100, 120])
@pytest.mark.parametrize("how", ["step", "loop", "function"])
def test_small_decompositions_run_in_one_thread(how, side, monkeypatch):
    """Beside other work OpenBLAS's threads take a hundred times as long for them. Large ones keep
    their threads, and smaller ones have none. What is large is less here: those of 520 rows took
    half a minute beside other tests."""
    monkeypatch.setattr(policy, "ONE_THREAD_SIDE", 110)
    seen = []

    def look(x):
        with host._LOCK:
            seen.append(sum(isinstance(call, host.one_thread) for call in host._CALLS))
        return x

    @tf.as_op
    def looked(x):
        return jax.pure_callback(look, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    def triangle(a):
        for _ in range(8 if how == "loop" else 1):
            a = tf.linalg.qr(a)[1] + tf.eye(side)
        return looked(tf.linalg.trace(a))

    triangle = tf.function(triangle) if how == "function" else triangle
    matrix = tf.Variable(np.eye(side, dtype=np.float32))
    for _ in range(SETTLED):
        with tf.GradientTape():
            trace = triangle(matrix)
        assert np.isfinite(trace)
    assert len(seen) == SETTLED
    assert (seen[-1] > 0) == (side == 100)
    assert not host._CALLS


@pytest.mark.parametrize(
    "name, columns, wanted",
    [("inv", None, True), ("solve", 40, True), ("solve", 1, False), ("cholesky", None, False)],
)
def test_what_multiplies_matrices_has_one_thread_earlier(name, columns, wanted):
    """Of 48 rows: OpenBLAS has one thread anyway for others, and for few right sides."""
    seen = []

    def look(x):
        with host._LOCK:
            seen.append(any(isinstance(call, host.one_thread) for call in host._CALLS))
        return x

    @tf.as_op
    def looked(x):
        return jax.pure_callback(look, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    more = () if columns is None else (tf.ones([48, columns]),)
    step = tf.function(lambda x: looked(tf.reduce_sum(getattr(tf.linalg, name)(x, *more))))
    for _ in range(SETTLED):
        assert np.isfinite(step(tf.eye(48)))
    assert seen[-1] == wanted


def settled_trace(side, inside=lambda x: x):
    """A step with a decomposition, from a place that is settled, in which a function is called."""
    matrix = tf.Variable(np.eye(side, dtype=np.float32))

    def step():
        with tf.GradientTape():
            return inside(tf.linalg.trace(tf.linalg.qr(matrix)[1]))

    for _ in range(SETTLED):
        assert np.isfinite(step())
    return step


def blas_threads():
    return [library.get_num_threads() for library in host._blas()]


def test_programs_in_one_thread_are_waited_for():
    """OpenBLAS has its threads back when they have run."""
    step, before = settled_trace(100), blas_threads()
    found = step()
    flush()
    assert found._array.is_ready() and not host._CALLS and blas_threads() == before
    assert abs(found.numpy()) == pytest.approx(100.0)


def test_a_program_in_one_thread_that_fails_keeps_no_thread():
    failing = False

    def called(x):
        if failing:
            raise ValueError("of the callback")
        return x

    @tf.as_op
    def inside(x):
        return jax.pure_callback(called, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    step = settled_trace(100, inside)
    before = blas_threads()
    failing = True
    with pytest.raises(Exception, match="of the callback"):
        step().numpy()
    assert not host._CALLS and blas_threads() == before


def test_a_fork_has_all_threads():
    """The thread that left none to others is not there."""
    before = blas_threads()
    host.one_thread().__enter__()
    assert set(blas_threads()) == {1}
    host._in_child()
    assert not host._CALLS and blas_threads() == before


def test_a_small_decomposition_by_itself_runs_in_one_thread(monkeypatch):
    limits = []
    monkeypatch.setattr(host, "_limit", limits.append)
    tf.linalg.svd(tf.eye(100))
    assert any(isinstance(call, host.one_thread) for call in limits)
    limits.clear()
    tf.linalg.svd(tf.eye(24))
    tf.linalg.svd(tf.eye(64), compute_uv=False)
    tf.linalg.svd(tf.eye(520))
    assert not limits
    tf.linalg.svd(tf.eye(40))
    assert limits
    tf.linalg.svd(tf.eye(2000, 20))
    assert limits


# ---------------------------------------------------------------------------------------------
# What another thread compiles.


class Slow:
    """A program whose compile waits until it is let go; `order` has those that were begun."""

    def __init__(self, name, order, fails=False):
        self.name, self.order, self.fails = name, order, fails
        self.begun, self.go = threading.Event(), threading.Event()

    def compile(self):
        self.order.append((self.name, threading.current_thread() is threading.main_thread()))
        self.begun.set()
        assert self.go.wait(60)
        if self.fails:
            raise ValueError("no compile")


def test_one_at_a_time_is_compiled_beside_the_most_often_run_first():
    order = []
    programs = {name: Slow(name, order, fails=name == "c") for name in "abcd"}
    compiling = {"a": whole.Compiling(programs["a"])}
    assert programs["a"].begun.wait(60)
    for name, runs in (("b", 3), ("c", 7), ("d", 5)):
        compiling[name] = whole.Compiling(programs[name])
        compiling[name].runs = runs
    assert order == [("a", False)]
    programs["d"].go.set()  # who waits for one that is not begun compiles it
    assert compiling["d"].result() is programs["d"]
    assert order == [("a", False), ("d", True)]
    for name, later in zip("acb", "cb "):
        programs[name].go.set()
        assert later == " " or programs[later].begun.wait(60)
    assert order == [("a", False), ("d", True), ("c", False), ("b", False)]
    assert compiling["c"].result() is None
    assert compiling["a"].result() is programs["a"]
    assert compiling["b"].result() is programs["b"]


def test_a_process_that_ends_begins_no_compile():
    done = processes.run("-c", ENDING, after="tape_compat", timeout=120)
    assert done.stdout.split() == ["first"]


ENDING = """
import threading
import time
from tape_compat._src.run.whole import Compiling

begun = threading.Event()

class Program:
    def __init__(self, name):
        self.name = name
    def compile(self):
        print(self.name, flush=True)
        begun.set()
        time.sleep(1.0)

Compiling(Program("first"))
compiling = Compiling(Program("second"))
begun.wait(60.0)
"""


def test_a_thread_that_outlives_the_main_one_compiles_what_it_waits_for():
    program = OUTLIVING + ENDING
    done = processes.run("-c", program, after="tape_compat", check=False, timeout=120)
    assert done.stdout.split() == ["first", "second", "asked"]


OUTLIVING = """
import threading

def ask():
    threading.main_thread().join()
    while sum(t.name == "tape_compat compile" for t in threading.enumerate()):
        time.sleep(0.05)
    if compiling.result() is not None:
        print("asked", flush=True)
    os._exit(0)

def give_up():
    time.sleep(30.0)
    os._exit(1)

import os
threading.Thread(target=ask).start()
threading.Thread(target=give_up, daemon=True).start()
"""

"""Programs that run op by op: interpreted, until that has cost what a compile costs."""

import threading

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import host
from tape_compat._src.core.caches import held
from tape_compat._src.core.counters import COUNTERS
from tape_compat._src.run import executor, policy, whole
from tape_compat._src.run.executor import forget_histories
from tape_compat._src.run.kept import KEPT
from tape_compat._src.run.op_by_op import HostResult, OpByOpProgram
from tape_compat._src.values.record import flush

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.usefixtures("deferred"),
]


def regression(width=3):
    """A step, its variables, and what they are to be."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(8, width)).astype(np.float32))
    y = tf.constant(rng.normal(size=(8, 1)).astype(np.float32))
    w, n = tf.Variable(np.ones((width, 1), np.float32)), tf.Variable(0.0)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) - y))
        n.assign_add(1.0)
        w.assign_sub(tape.gradient(loss, w) / n)
        return loss

    return step, (w, n)


def losses(count, width):
    step, variables = regression(width)
    return [step().numpy() for _ in range(count)], [v.numpy() for v in variables]


@pytest.fixture
def cheap(monkeypatch):
    """Compiles that are paid for by some ten runs of `regression`."""
    KEPT.clear()
    step, _ = regression(31)
    float(step())
    programs = [r for r in KEPT.order if isinstance(r, OpByOpProgram)]
    price = 10 * programs[-1].loss(())
    monkeypatch.setattr(policy, "compile_seconds", lambda *_: price)


@pytest.fixture(scope="module")
def xla_programs():
    """Grows by one with each program that XLA compiles."""
    found = []

    def listen(event, duration_secs, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            found.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(listen)
    return found


def test_a_new_program_is_interpreted(counted):
    step, _ = regression(5)
    for _ in range(3):
        step().numpy()
    counts = counted()
    assert counts["compiles"] == counts["op_compiles"] == counts["dispatches"] == 0
    assert counts["op_by_op"] >= 3 and counts["interpreted"] > 30


@pytest.mark.interpreted
@pytest.mark.usefixtures("deferred")
def test_a_loop_is_the_dearer_to_compile_the_longer_its_body_is():
    """By itself, too: where it was taken for one op, it was compiled when 40 ms were paid."""

    def price(sines):
        def body(i, x):
            for _ in range(sines):
                x = tf.sin(x)
            return i + 1, x

        @tf.function
        def loop(x):
            return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]

        loop(tf.constant([0.5, 0.25])).numpy()
        return [r for r in KEPT.order if isinstance(r, OpByOpProgram)][-1].price

    each = policy.COMPILE_SECONDS_PER_EQUATION
    short, long = price(2), price(42)
    assert short > 0.0 and long == pytest.approx(short + 40 * each)


def test_it_is_compiled_at_a_count_of_runs(counted, cheap):
    step, _ = regression(7)
    compiled = []
    for _ in range(16):
        step()
        flush()
        compiled.append(counted()["compiles"])
    first = compiled.index(1)
    assert 5 < first < 13 and compiled[-1] == 1
    dispatches = counted()["dispatches"]
    step()
    flush()
    assert counted()["dispatches"] == dispatches + 1
    assert counted()["traces"] == 1


def test_another_thread_compiles_it_first(cheap):
    step, _ = regression(9)
    before, seen = held()["programs begun"], []
    for _ in range(14):
        step()
        flush()
        seen.append(held()["programs begun"] > before)
    assert True in seen and not seen[0]
    assert not any(t.name == "tape_compat compile" for t in threading.enumerate())


def test_nobody_waits_for_the_long_compile_of_a_function(cheap, monkeypatch):
    """The run that is due begins it, and the function goes over to it when it has been interpreted
    for as long: about three times the ten runs of `cheap`, for compiled it takes most of a run."""
    monkeypatch.setattr(policy, "LONG_COMPILE_SECONDS", 0.0)
    step, _ = regression(13)
    step = tf.function(step)
    before, begun, compiled = held()["programs begun"], [], []
    for _ in range(40):
        step()
        flush()
        begun.append(held()["programs begun"] > before)
        compiled.append(COUNTERS.compiles)
    due = begun.index(True) + 1
    over = compiled.index(compiled[0] + 1) + 1
    assert due == policy.FUNCTION_DUE and due + 2 < over < 40
    assert begun[due - 1 : over - 1] == [True] * (over - due)
    assert compiled[-1] == compiled[0] + 1


def test_loops_are_compiled_by_another_thread_once_for_all_lengths(monkeypatch):
    """Each step of another length: begun at the first, gone over to when steps took as long."""
    monkeypatch.setattr(policy, "LONG_COMPILE_SECONDS", 0.0)
    w = tf.Variable([0.5, -0.25])

    def step(length):
        with tf.GradientTape() as tape:
            h = tf.zeros([2])
            for _ in range(length):
                h = tf.tanh(h * w + 0.5)
            loss = tf.reduce_sum(h)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    def run(price):
        """Losses, the variable, and after which steps another thread has begun."""
        KEPT.clear()
        forget_histories()
        monkeypatch.setattr(policy, "compile_seconds", lambda *_: price)
        w.assign([0.5, -0.25])
        before = held()["programs begun"]
        found = [(float(step(40 + i % 7)), held()["programs begun"] - before) for i in range(12)]
        return [loss for loss, _ in found], w.numpy(), [count for _, count in found]

    losses, variable, begun = run(1e9)
    assert not any(begun)
    price = 3 * [r for r in KEPT.order if isinstance(r, OpByOpProgram)][-1].loss(())
    traces, compiles = COUNTERS.traces, COUNTERS.compiles
    again = run(price)
    first = again[2].index(1)
    over = again[2].index(0, first)
    assert over > first + 1 and not any(again[2][over:])
    assert COUNTERS.compiles == compiles + 1 and COUNTERS.traces == traces + 1
    np.testing.assert_allclose(again[0], losses, 1e-5)
    np.testing.assert_allclose(again[1], variable, 1e-5)


def test_a_step_is_one_program_of_xla_whoever_compiles_it(cheap, xla_programs):
    """What it is compiled with, and what JAX is given of it before, are no programs more."""
    rows = tf.constant(np.ones((5, 19), np.float32))
    variables = [tf.Variable(np.ones(shape, np.float32)) for shape in ((19, 17), (17,), (17, 1))]
    w, b, last = variables

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(rows @ w + b) @ last))
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    step().numpy()
    before = len(xla_programs)
    for _ in range(40):
        step().numpy()
    assert len(xla_programs) == before + 1


def test_a_compile_that_fails_beside_is_tried_again_and_raises(cheap, monkeypatch, caplog):
    step, (w, _) = regression(11)
    before = executor.WholeProgram.compile

    def refused(self):
        raise RuntimeError("no room")

    monkeypatch.setattr(executor.WholeProgram, "compile", refused)
    for _ in range(14):
        step()
        flush()
    monkeypatch.setattr(executor.WholeProgram, "compile", before)
    assert "no room" in caplog.text
    assert np.isfinite(w.numpy()).all()


@pytest.mark.parametrize("width", [4, 13])
def test_values_are_those_of_compiled_programs(width, monkeypatch):
    found = losses(4, width)
    monkeypatch.setattr(policy, "INTERPRETS", False)
    expected = losses(4, width)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
    for a, b in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_scalars_that_were_computed_are_no_constants(counted, cheap):
    """A step is the same program whether what it reads was interpreted or compiled."""
    step, (_, n) = regression(15)
    step()
    flush()
    assert isinstance(n.value()._array, HostResult)
    for _ in range(20):
        step()
        flush()
    assert counted()["compiles"] == 1 and n.numpy() == 21


def test_ops_that_run_at_once_are_interpreted_without_end_while_they_are_small(counted):
    x = tf.constant([1.0, 2.0, 3.5])
    for _ in range(50):
        x = x * 1.5 - 0.5
    assert counted()["op_compiles"] == counted()["dispatches"] == 0
    assert counted()["interpreted"] == 100


def test_an_op_on_large_arrays_is_compiled(counted):
    x = tf.constant(np.ones((1500, 1500), np.float32))
    for _ in range(60):
        y = tf.exp(tf.sin(x))
    assert 1 <= counted()["op_compiles"] <= 2
    assert isinstance(y._array, jax.Array)


def test_what_is_interpreted_cannot_be_written_to():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    y = tf.reshape(x, [2, 2])
    z = tf.transpose(y)
    z.numpy()[0] = 9.0
    np.testing.assert_array_equal(x.numpy(), [1, 2, 3, 4])
    np.testing.assert_array_equal(z.numpy(), [[1, 3], [2, 4]])


def test_effects_happen_once_a_run(capsys):
    w = tf.Variable([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w)
            tf.print("loss", loss)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        flush()
    jax.effects_barrier()
    assert capsys.readouterr().err.count("loss") == 3


def test_jax_takes_what_was_computed_on_the_host():
    x = tf.constant([1.0, 2.0]) * 2.0
    assert isinstance(x._array, HostResult)
    assert float(jax.numpy.sum(x)) == 6.0
    assert isinstance(tf.constant([3.0])[0].__jax_array__(), jax.Array)
    np.testing.assert_array_equal(np.from_dlpack(tf.constant([1.0]) + 1.0), [2.0])


def test_blas_has_its_threads_back():
    def threads():
        return [library.get_num_threads() for library in host._blas()]

    def work(turns):
        seen.append(threads())
        if turns:
            host.in_one_thread(work, turns - 1)
            seen.append(threads())
        else:
            raise ValueError

    before, seen = threads(), []
    with pytest.raises(ValueError):
        host.in_one_thread(work, 3)
    assert all(n == 1 for found in seen for n in found)
    assert threads() == before and not host._CALLS


def test_plans_that_came_once_go_before_others(monkeypatch):
    """Programs that are ever new leave no more than a few plans."""
    KEPT.clear()
    monkeypatch.setattr(policy, "FEW_ONCE", 2)
    monkeypatch.setattr(policy, "ONCE_INSTRUCTIONS", 1)
    often, _ = regression(41)
    for _ in range(3):
        often().numpy()
    plans = {plan for plan in KEPT.order if plan.recent}
    for width in range(42, 52):
        step, _ = regression(width)
        step().numpy()
    assert plans and len(KEPT.once) == 2 and len(KEPT.order) == 2 + len(plans)
    assert plans <= set(KEPT.order)
    assert KEPT.once_instructions == sum(plan.node.depth for plan in KEPT.once)
    KEPT.clear()
    assert not KEPT.once and not KEPT.once_instructions


def test_what_a_compile_has_freed_is_returned(cheap, monkeypatch):
    returned = []
    monkeypatch.setattr(whole, "return_freed_memory", lambda: returned.append("beside"))
    monkeypatch.setattr(executor, "return_freed_memory", lambda: returned.append("here"))
    monkeypatch.setattr(policy, "LARGE_COMPILE", 1)
    step, _ = regression(53)
    for _ in range(16):
        step().numpy()
    assert returned == ["beside", "here"]


def test_what_a_step_gives_the_next_stays_on_the_host(monkeypatch):
    moved = []
    plain = jax.device_put
    monkeypatch.setattr(jax, "device_put", lambda x, *rest: moved.append(x) or plain(x, *rest))
    v = tf.Variable(np.ones((20, 30), "float32"))
    data = tf.constant(np.full((20, 30), 2.0, "float32"))
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * data)
        v.assign_sub(0.5 * tape.gradient(loss, v))
        float(loss)
    assert v.numpy()[0, 0] == 1 - 6 * 0.5 * 2
    assert len(moved) <= 1  # the data, which each step reads


def test_what_a_compiler_has_nothing_to_do_for_is_not_counted():
    v, kept = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    KEPT.clear()
    with tf.GradientTape():
        y = tf.sin(v)
        kept.assign(tf.identity(tf.stop_gradient(y)))
        kept.assign(tf.identity(kept) * 2.0)
    kept.numpy()
    (program,) = [r for r in KEPT.order if isinstance(r, OpByOpProgram)]
    assert program.instructions > program.to_compile == 2

"""Python loops that run as loops: the same values as op by op, and one compile for all lengths."""

import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.run import executor, policy
from tape_compat._src.run.choose import Choice
from tape_compat._src.run.kept import KEPT
from tape_compat._src.run.loops import rows
from tape_compat._src.run.loops.write import LoopProgram
from tape_compat._src.values.context import set_immediate
from tape_compat._src.values.record import flush

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("deferred")]


@pytest.fixture(autouse=True)
def nothing_compiled():
    KEPT.clear()


LENGTHS = (30, 41, 64, 90, 30)


def weights(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [tf.Variable(rng.normal(size=s).astype("float32") * 0.3) for s in shapes]


def inputs(length, *shape, dtype="float32"):
    rng = np.random.default_rng(length)
    return rng.normal(size=(length, *shape)).astype(dtype)


# -- programs: `program(length)` gives a list of tensors and arrays


def recurrent(length):
    """An RNN: inputs are leaves of the iterations, the state is carried, weights are invariants."""
    w, u, b = weights((3, 4), (4, 4), (4,))
    with tf.GradientTape() as tape:
        h = tf.zeros([2, 4])
        for x in inputs(length, 2, 3):
            h = tf.tanh(tf.matmul(tf.constant(x), w) + tf.matmul(h, u) + b)
        loss = tf.reduce_mean(h**2)
    grads = tape.gradient(loss, [w, u, b])
    for v, g in zip((w, u, b), grads, strict=True):
        v.assign_sub(0.1 * g)
    return [loss, *grads, w.numpy(), u.numpy(), b.numpy()]


def device_inputs(length):
    """The same with inputs that are on the device already."""
    (w,) = weights((3, 3))
    xs = [tf.constant(x) + 0.0 for x in inputs(length, 2, 3)]
    for x in xs:
        x.numpy()
    with tf.GradientTape() as tape:
        h = tf.zeros([2, 3])
        for x in xs:
            h = tf.tanh(tf.matmul(h, w) + x)
        loss = tf.reduce_sum(h)
    return [loss, tape.gradient(loss, w)]


def gradient_of_inputs(length):
    """Each iteration's cotangent is alive after the step: given as a stack."""
    (w,) = weights((3, 3))
    xs = [tf.constant(x) for x in inputs(length, 2, 3)]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        h = tf.ones([2, 3])
        for x in xs:
            h = tf.sin(tf.matmul(h, w) + x)
        loss = tf.reduce_sum(h)
    return [loss, *tape.gradient(loss, [w, *xs])]


def variables_of_the_turns(length):
    """The same with variables, which are overwritten, in a long program."""
    (w,) = weights((3, 3))
    xs = [tf.Variable(x) for x in inputs(2 * min(length, 60), 2, 3)]
    with tf.GradientTape() as tape:
        h = tf.ones([2, 3])
        for x in xs:
            h = tf.sin(tf.matmul(tf.cos(tf.matmul(h, w) + x), w) - x) + tf.sin(h) * 0.5
        loss = tf.reduce_sum(h)
    grads = tape.gradient(loss, [w, *xs])
    for x, g in zip(xs, grads[1:], strict=True):
        x.assign_sub(g)
    return [loss, *grads, *(x.numpy() for x in xs)]


def all_states(length):
    """The states of all iterations are read after the loop, by one op and one by one."""
    (w,) = weights((3, 3))
    with tf.GradientTape() as tape:
        h, states = tf.ones([2, 3]), []
        for _ in range(length):
            h = tf.tanh(tf.matmul(h, w) + h)
            states.append(h)
        loss = tf.reduce_sum(tf.stack(states) ** 2) + tf.reduce_sum(states[3] * states[7])
    return [loss, tape.gradient(loss, w), *states]


def some_states(length):
    (w,) = weights((3, 3))
    with tf.GradientTape() as tape:
        h, states = tf.ones([2, 3]), []
        for _ in range(length):
            h = tf.tanh(tf.matmul(h, w))
            states.append(h)
        loss = tf.reduce_sum(states[-1] * states[2]) + tf.reduce_sum(states[-2])
    return [loss, tape.gradient(loss, w), states[0], states[5], states[-1]]


def two_turns_back(length):
    """h[t] of h[t-1] and h[t-2]."""
    (w,) = weights((3,))
    with tf.GradientTape() as tape:
        a, b = tf.ones([3]), tf.fill([3], 0.5)
        for _ in range(length):
            a, b = b, tf.sin(a * w + b)
        loss = tf.reduce_sum(a + 2.0 * b)
    return [loss, tape.gradient(loss, w)]


def numbers(length):
    """A Python number that is another one in each iteration."""
    (w,) = weights((3,))
    with tf.GradientTape() as tape:
        x = tf.ones([3])
        for t in range(length):
            x = tf.cos(x * w) * (1.0 + 0.01 * t) + 0.5
        loss = tf.reduce_sum(x)
    return [loss, tape.gradient(loss, w)]


def sum_of_losses(length):
    """A loss in each iteration, one of them alive."""
    w, u = weights((3, 3), (3, 1))
    with tf.GradientTape() as tape:
        h, loss = tf.ones([2, 3]), 0.0
        for x in inputs(length, 2, 3):
            h = tf.nn.relu(tf.matmul(h, w)) + x
            h = h / (1.0 + tf.reduce_sum(h * h, axis=1, keepdims=True))
            loss = loss + tf.reduce_mean(tf.square(tf.matmul(h, u) - 1.0))
    return [loss, *tape.gradient(loss, [w, u])]


def updates_in_the_loop(length):
    """Variables that each iteration overwrites."""
    (w,) = weights((3,))
    total, count = tf.Variable(tf.zeros([3])), tf.Variable(0)
    with tf.GradientTape() as tape:
        x = tf.ones([3])
        for _ in range(length):
            x = tf.sin(x * w + total)
            total.assign_add(x)
            count.assign_add(1)
        loss = tf.reduce_sum(x)
    return [loss, tape.gradient(loss, w), total.numpy(), count.numpy()]


def training_steps(length):
    """Whole training steps under one tape: gradients of gradients in each iteration."""
    (w,) = weights((3,))
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        v = w + 0.0
        for _ in range(length):
            with tf.GradientTape() as inner:
                inner.watch(v)
                loss = tf.reduce_sum(tf.sin(v * x))
            v = v - 0.01 * inner.gradient(loss, v)
        end = tf.reduce_sum(v)
    return [end, outer.gradient(end, w)]


def several_outputs(length):
    """Ops of several outputs, integers, booleans, a constant of each dtype."""
    (w,) = weights((4,))
    with tf.GradientTape() as tape:
        x, k = tf.ones([4]), tf.constant(np.arange(80, dtype="int32"))
        for _ in range(length):
            a, b = tf.split(x * w, 2)
            k = k * 3 + 1
            x = tf.concat([tf.sin(b), tf.where(k[:2] % 2 == 0, a, tf.cos(a))], 0)
        loss = tf.reduce_sum(x)
    return [loss, tape.gradient(loss, w), k]


def double(length):
    """Double precision and complex numbers."""
    w = tf.Variable(np.array([0.3, 0.7]))
    with tf.GradientTape() as tape:
        z = tf.complex(w, tf.ones([2], tf.float64))
        for _ in range(length):
            z = z * z / (1.0 + tf.cast(tf.abs(z), tf.complex128)) + tf.complex(w, w)
        loss = tf.reduce_sum(tf.math.real(z))
    return [loss, tape.gradient(loss, w), z]


def two_loops(length):
    """An encoder and a decoder that reads the encoder's states from the last to the first."""
    w, u = weights((3, 3), (3, 3))
    with tf.GradientTape() as tape:
        h, states = tf.ones([2, 3]), []
        for x in inputs(length, 2, 3):
            h = tf.tanh(tf.matmul(h, w) + x)
            states.append(h)
        for s in reversed(states):
            h = tf.sin(tf.matmul(h, u) * s)
        loss = tf.reduce_sum(h)
    return [loss, *tape.gradient(loss, [w, u])]


def first_turn_differs(length):
    w, u = weights((3, 3), (3, 3))
    with tf.GradientTape() as tape:
        h = None
        for x in inputs(length, 2, 3):
            x = tf.matmul(tf.constant(x), w)
            h = tf.tanh(x) if h is None else tf.tanh(x + tf.matmul(h, u))
        loss = tf.reduce_sum(h)
    return [loss, *tape.gradient(loss, [w, u])]


def random_draws(length):
    """Stateless draws with another seed in each iteration."""
    (w,) = weights((3,))
    with tf.GradientTape() as tape:
        x = tf.ones([3])
        for t in range(length):
            x = tf.sin(x * w) + tf.random.stateless_normal([3], tf.constant([t, 1]))
        loss = tf.reduce_sum(x)
    return [loss, tape.gradient(loss, w)]


def forward_only(length):
    """No gradient: recorded because of the tape."""
    (w,) = weights((3,))
    with tf.GradientTape():
        x = tf.ones([3])
        for _ in range(length + 10):
            x = tf.sin(x * w) + 0.1
    return [x]


def indexed(length):
    """The inputs are parts of one tensor, taken by number, of which some have a gradient."""
    w, u = weights((3, 3), (100, 2, 3))
    x = tf.constant(inputs(100, 2, 3))
    y = tf.constant(np.moveaxis(inputs(100, 2, 3), 0, 1))
    with tf.GradientTape() as tape:
        h = tf.ones([2, 3])
        for t in range(length):
            h = tf.tanh(tf.matmul(h, w) + x[t] * y[:, t] + u[t + 1] + y[:, 0] * u[-1])
        loss = tf.reduce_sum(h) + tf.reduce_sum(y[:, length - 1] * u[length])
    return [loss, *tape.gradient(loss, [w, u])]


def one_tensor(length):
    """The inputs are rows of tensors as long as the loop, by number and by iteration."""
    (w,) = weights((3, 3))
    x, y = tf.constant(inputs(length, 2, 3)), tf.constant(np.moveaxis(inputs(length, 2, 3), 0, 1))
    on_device = tf.constant(inputs(length, 3)) + 0.0
    on_device.numpy()
    with tf.GradientTape() as tape:
        h, losses = tf.zeros([2, 3]), 0.0
        for t, row in enumerate(x):
            h = tf.tanh(tf.matmul(h, w) + row * y[:, t] + on_device[t, ...])
        for part in tf.unstack(y, axis=1):
            losses = losses + tf.reduce_sum(h * tf.sin(part))
        loss = losses / length + tf.reduce_sum(h * x[-1])
    return [loss, tape.gradient(loss, w)]


def windows(length):
    """Each iteration reads some rows of the inputs, and some columns, which stay the same."""
    (w,) = weights((3, 4))
    x = tf.constant(inputs(100, 2))
    with tf.GradientTape() as tape:
        h = tf.zeros([2, 3])
        for t in range(length):
            z = tf.matmul(h, w)
            h = tf.tanh(z[:, :3] * z[:, 1:4] + tf.transpose(x[t : t + 3]))
        loss = tf.reduce_sum(h)
    return [loss, tape.gradient(loss, w)]


PROGRAMS = [
    windows,
    one_tensor,
    indexed,
    recurrent,
    device_inputs,
    gradient_of_inputs,
    variables_of_the_turns,
    all_states,
    some_states,
    two_turns_back,
    numbers,
    sum_of_losses,
    updates_in_the_loop,
    training_steps,
    several_outputs,
    double,
    two_loops,
    first_turn_differs,
    random_draws,
    forward_only,
]

#: Programs in which the number of iterations is in the shape of something.
OF_ONE_LENGTH = {all_states}


def arrays(results):
    return [r if isinstance(r, np.ndarray) else np.asarray(r) for r in results]


def op_by_op(program, length):
    """What the ops give one by one, each on the host: to compile them takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "INTERPRETS", True)
        set_immediate(True)
        try:
            return arrays(program(length))
        finally:
            set_immediate(False)


def check(program, length, expected=None):
    found, expected = arrays(program(length)), expected or op_by_op(program, length)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.part
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_same_as_op_by_op_and_compiled_once(program, counted):
    lengths = LENGTHS if program not in OF_ONE_LENGTH else LENGTHS[:2]
    expected = {length: op_by_op(program, length) for length in {*lengths}}
    for length in lengths:
        check(program, length, expected[length])
    counts = counted()
    if program not in OF_ONE_LENGTH:
        assert counts["op_by_op"] == 0
        assert counts["compiles"] <= 2  # for up to 64 iterations, and for up to 128


def test_one_program_for_many_lengths_runs_with_one_call(counted):
    for length in (20, 21):
        recurrent(length)
    before = counted()
    for length in range(22, 40):
        recurrent(length)
    after = counted()
    assert after["fused"] - before["fused"] == 18
    assert after["compiles"] == before["compiles"]
    # The inputs are arrays of the host; the numbers of iterations move to the device at the second
    # use.
    assert after["dispatches"] - before["dispatches"] == 18


def test_compile_does_not_grow_with_the_length(counted):
    """What is traced is one iteration."""
    from tape_compat._src.run.loops import template

    seen = []
    original = template.function_of

    def spy(of, *args):
        seen.append(of.instructions)
        return original(of, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "function_of", spy)
        arrays(numbers(300))
        arrays(numbers(2000))
    assert len(seen) == 2
    assert seen[0] == seen[1] < 40


def test_the_reason_names_the_turns():
    tf.counters.reasons.clear()
    arrays(forward_only(50))
    arrays(forward_only(200))
    assert tf.counters.reasons[-1] == (
        "the same loops, of [210] iterations: compiled for at most [64] before"
    )


def test_stacks_are_not_wasted(monkeypatch):
    """Where memory matters a capacity is hardly more than what is needed."""
    from tape_compat._src.core.avals import Aval
    from tape_compat._src.run.loops.template import Bundle, Template, capacities_for

    def capacity(iterations, *shape):
        bundle = Bundle(0, 0, Aval.of(shape, tf.float32))
        return capacities_for(Template((), (), (bundle,), (), (), ()), (iterations,))

    assert capacity(9, 10) == (64,)
    assert capacity(100, 10) == (128,)
    assert capacity(100, 1024, 1024) == (104,)
    assert capacity(9, 1024, 1024) == (16,)


def test_a_large_program_does_not_serve_a_small_one(counted):
    arrays(forward_only(3000))
    arrays(forward_only(40))
    assert counted()["compiles"] == 2


def test_layers_are_compiled_as_they_stand(counted):
    """Each iteration has its own weights: as a loop they would all be copied, there and back."""
    layers = weights(*[(4, 4)] * 12)

    def step():
        with tf.GradientTape() as tape:
            h = tf.ones([2, 4])
            for w in layers:
                h = tf.tanh(tf.matmul(h, w)) + h
            loss = tf.reduce_sum(h)
        for w, g in zip(layers, tape.gradient(loss, layers), strict=True):
            w.assign_sub(0.1 * g)
        return loss

    for _ in range(policy.SIGHTS + 2):
        step().numpy()
    before = counted()["dispatches"]
    step().numpy()
    assert counted()["dispatches"] == before + 1


def test_buffers_of_variables_are_reused(counted):
    """A variable that a step with a loop overwrites is updated in place."""
    w = tf.Variable(tf.ones([64, 64]) * 0.01)

    def step(iterations):
        with tf.GradientTape() as tape:
            h = tf.ones([2, 64])
            for _ in range(iterations):
                h = tf.tanh(tf.matmul(h, w) + 1.0)
            loss = tf.reduce_sum(h)
        w.assign_sub(0.001 * tape.gradient(loss, w))

    step(30)
    for iterations in (31, 32, 33, 34):
        flush()
        before = w._handle.tensor._array
        pointer = weakref.ref(before)
        del before
        step(iterations)
        flush()
        assert pointer() is None or pointer().is_deleted()


def test_counts_known_to_the_program(monkeypatch, counted):
    """As on a GPU: for the first length alone, then for any."""
    monkeypatch.setattr(policy, "COUNTS_ARE_ARGUMENTS", ())
    for _ in range(3):
        check(random_draws, 40)
    assert counted()["compiles"] == 1
    for length in (30, 31, 40, 50):
        check(random_draws, length)
    assert counted()["compiles"] == 2


def test_ever_different_loops_run_op_by_op(counted, monkeypatch):
    """A body seen for the first time is not compiled when the last ones never came again."""
    x = tf.Variable([0.5, 1.0])
    functions = [tf.sin, tf.cos, tf.tanh, tf.exp, tf.abs, tf.square]
    for n, f in enumerate(functions):
        with tf.GradientTape():
            y = x * 1.0
            for _ in range(30):
                y = tf.sin(f(y) * 0.1)
                for g in functions[:n]:
                    y = g(y) * 0.5
        y.numpy()
    counts = counted()
    assert counts["compiles"] == policy.NEW_STRUCTURES_BEFORE_OP_BY_OP
    assert counts["op_by_op"] == len(functions) - policy.NEW_STRUCTURES_BEFORE_OP_BY_OP


def test_two_lists_of_what_is_alive(counted):
    """Gradients come in another order the first time; the program is the same."""
    v = weights((3, 3), (3, 3), (3,))
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(tf.matmul(v[0], v[1]) + v[2]) @ v[0])
        grads = tape.gradient(loss, v)
        grads[0].numpy()
    assert counted()["compiles"] == 1


def test_an_exception_in_the_run_loses_nothing(monkeypatch):
    """An interrupt while stacks are taken apart: the values are there at the next look."""
    from tape_compat._src.run.loops import write as rolled

    (w,) = weights((3,))
    with tf.GradientTape() as tape:
        h, states = tf.ones([3]), []
        for _ in range(70):
            h = tf.sin(h * w) + 1.0
            states.append(h)
        loss = tf.reduce_sum(h)
    original, calls = rolled.LoopProgram._unpacked, []

    def interrupted(self, results):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(self, results)

    monkeypatch.setattr(rolled.LoopProgram, "_unpacked", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loss.numpy()
    expected = np.ones(3, "float32")
    for state_ in states:
        expected = np.sin(expected * w.numpy()) + 1
        np.testing.assert_allclose(state_.numpy(), expected, rtol=1e-5)
    assert len(calls) == 2
    assert tape.gradient(loss, w).shape == [3]


def test_op_by_op_after_an_interrupted_compile(monkeypatch):
    """What the loops would have given as stacks is not looked for in what the ops gave."""
    from tape_compat._src.run.loops import template

    (w,) = weights((3,))
    with tf.GradientTape():
        h, states = tf.ones([3]), []
        for _ in range(40):
            h = tf.sin(h * w) + 1.0
            states.append(h)

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(template, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            h.numpy()
    monkeypatch.setattr(executor, "choose", lambda *args: Choice.OP_BY_OP)
    expected = np.ones(3, "float32")
    for state_ in states:
        expected = np.sin(expected * w.numpy()) + 1
        np.testing.assert_allclose(state_.numpy(), expected, rtol=1e-5)


@pytest.mark.part
@pytest.mark.parametrize("seed", range(8))
def test_random_recurrences(seed):
    """Loop put together at random: values and gradients as op by op."""

    def program(length):
        rng = np.random.default_rng(seed)
        v = weights((3,), (3, 3), (3,), seed=seed)
        xs = tf.constant(inputs(100, 3))
        pool = [lambda a, b: tf.sin(a) + b, lambda a, b: a * b, lambda a, b: tf.maximum(a, 0.5 * b)]
        pool += [lambda a, b: tf.linalg.matvec(v[1], a) - b, lambda a, b: tf.stack([a, b])[1]]
        pool += [lambda a, b: tf.concat([a[:1], b[1:]], 0), lambda a, b: a / (1.0 + b * b)]
        plan = [(rng.integers(len(pool)), rng.integers(8), rng.integers(8)) for _ in range(6)]
        kept, every = rng.integers(6), int(rng.integers(2, 9))
        state_, seen, total = [v[0] * 1.0, v[2] * 1.0], [], 0.0
        with tf.GradientTape() as tape:
            a, b, c = v[0] * 1.0, v[2] * 1.0, tf.ones([3])
            for t in range(length):
                made = [a, b, c, v[0], v[2], xs[t], tf.constant([0.1, 0.2, 0.3]), a * (0.01 * t)]
                for f, i, j in plan:
                    made.append(tf.tanh(pool[f](made[-i - 1], made[-j - 1])))
                a, b, c = made[-1], made[-1 - kept], (a if seed % 3 else made[-2])
                if t % every == 0 and seed % 2:
                    seen.append(b)
                total = total + tf.reduce_sum(b * c)
            loss = total + tf.reduce_sum(a)
        return [loss, *tape.gradient(loss, v, unconnected_gradients="zero"), *seen, *state_]

    for length in (20, 37):
        check(program, length)


def test_lengths_that_come_once_leave_nothing_for_long(monkeypatch, counted):
    """They run by what was compiled of their template."""
    monkeypatch.setattr(policy, "FEW_ONCE", 2)
    monkeypatch.setattr(policy, "ONCE_INSTRUCTIONS", 1)
    recurrent(30)
    recurrent(31)
    compiles = counted()["compiles"]
    for _ in range(3):  # the second may be another program than the first, where places are known
        recurrent(32)
    recent = {runner for runner in KEPT.order if runner.recent}
    for length in range(33, 41):
        recurrent(length)
    assert counted()["compiles"] == compiles
    assert len(KEPT.once) == 2 and recent and recent <= set(KEPT.order)
    assert len(KEPT.order) <= 8


# -- stacks of rows, and rows of stacks


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool", "bfloat16"])
@pytest.mark.parametrize("where", ["host", "device", "both"])
@pytest.mark.parametrize(("count", "capacity", "room"), [(9, 9, 9), (10, 64, 64), (70, 200, 256)])
def test_rows_are_stacked(dtype, where, count, capacity, room):
    values = np.arange(count * 6).reshape(count, 2, 3).astype(tf.as_dtype(dtype).as_numpy_dtype)
    arrays = list(values)
    arrays[1] = np.asfortranarray(arrays[1])
    if where != "host":
        arrays[:] = map(in_x64_array, arrays)
    if where == "both":
        arrays[0] = values[0]
    found = rows.stacked(arrays, capacity)
    assert found.shape == (room, 2, 3) and found.dtype == values.dtype
    assert isinstance(found, np.ndarray) == (where == "host" or room > policy.STACK_ROWS)
    np.testing.assert_array_equal(np.asarray(found[:count]), values)
    known = {row.tobytes() for row in values}
    assert all(row.tobytes() in known for row in np.asarray(found[count:]))


@pytest.mark.skipif(
    not hasattr(jax.monitoring, "unregister_event_duration_listener"),
    reason="this JAX has no way to stop listening",
)
def test_rows_of_a_device_are_stacked_by_one_program():
    """To compile something for each number of them would take 50 ms."""
    made = []

    def listen(event, duration, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            made.append(event)

    arrays = [jnp.full((2, 7), float(i)) for i in range(300)]
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for count in (65, 100, 130, 300):
            found = rows.stacked(arrays[:count], 512)
            values = np.asarray(found)[:count, 1, 6]
            np.testing.assert_array_equal(values, np.arange(count))
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert len(made) == 1


def in_x64_array(array):
    return in_x64(jnp.asarray, array)


def test_scalars_of_the_host_are_stacked():
    found = rows.stacked([np.float32(1.5), np.array(2.5, np.float32), np.float32(-0.0)], 5)
    assert found.tolist() == [1.5, 2.5, 0.0, 0.0, 0.0] and np.signbit(found[2:]).all()


@pytest.mark.parametrize("most", [0, 1 << 16])
def test_rows_of_stacks_are_arrays_of_their_own(most, monkeypatch):
    monkeypatch.setattr(policy, "SHARED_BYTES", most)
    stack = jnp.arange(12.0).reshape(4, 3)
    found = rows.taken(stack, np.array([3, 1]))
    assert [row.tolist() for row in found] == [[9.0, 10.0, 11.0], [3.0, 4.0, 5.0]]
    assert all(row.flags.writeable for row in found)
    assert (found[0].base is None) == (most == 0)
    assert not np.shares_memory(found[0], found[1])


def test_numbers_of_loops_move_to_the_device_while_they_stay(deferred):
    """A rate that is another one at each step is sent with it."""
    v = tf.Variable(tf.ones([3]))

    def step(rate):
        with tf.GradientTape() as tape:
            x = v * 1.0
            for t in range(30):
                x = tf.sin(x * (0.5 + 0.01 * t)) + rate
            loss = tf.reduce_sum(x)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return float(loss)

    for _ in range(policy.SIGHTS + 2):
        step(0.25)
    (loops,) = [runner for runner in KEPT.order if isinstance(runner, LoopProgram)]
    vectors = dict(loops._vectors)
    assert len(vectors) == 2  # the numbers of iterations, and those of float32
    assert not any(isinstance(vector, np.ndarray) for *_, vector in vectors.values())
    same, other = step(0.25), step(-0.25)
    assert loops._vectors[None] is vectors[None]
    changed = loops._vectors[np.dtype("float32")]
    assert changed is not vectors[np.dtype("float32")] and same != other
    assert np.signbit(changed[2]).sum() == policy.LEAST_CAPACITY

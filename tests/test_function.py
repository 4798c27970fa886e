"""tf.function: how often Python and XLA run, what is kept, and what is left after exceptions."""

import copy
import gc
import inspect
import logging
import sys
import threading
import weakref

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import limits
from tape_compat._src.core.state import LOCAL
from tape_compat._src.function.retracing import General
from tape_compat._src.function.signature import Signature
from tape_compat._src.run import policy
from tape_compat._src.run.kept import KEPT
from tape_compat._src.run.op_by_op import OpByOpProgram
from tape_compat._src.run.whole import Compiling
from tests.threads import in_threads


def values(*tensors):
    return [np.asarray(x).tolist() for x in tensors]


class Linear:
    """A model whose step counts how often its Python runs."""

    def __init__(self):
        self.w, self.b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
        self.runs = 0

    @tf.function
    def step(self, x, y):
        self.runs += 1
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ self.w + self.b - y))
        for v, g in zip([self.w, self.b], tape.gradient(loss, [self.w, self.b]), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    def by_hand(self, x, y):
        """What a step makes of the variables."""
        w, b = self.w.numpy(), self.b.numpy()
        error = x @ w + b - y
        return w - 0.2 * x.T @ error / len(x), b - 0.2 * error.mean(0)


X, Y = np.float32([[1, 2], [3, -1], [0, 1]]), np.float32([[1], [0], [2]])


@pytest.mark.usefixtures("deferred")
def test_one_dispatch_a_call(counted):
    model, x, y = Linear(), tf.constant(X), tf.constant(Y)
    for _ in range(3):
        model.step(x, y)
    before = counted()
    w, b = model.by_hand(X, Y)
    model.step(x, y)
    after = counted()
    assert model.runs == 1
    assert after["compiles"] == before["compiles"] <= 1
    assert after["dispatches"] - before["dispatches"] == 1
    np.testing.assert_allclose(model.w, w, rtol=1e-5)
    np.testing.assert_allclose(model.b, b, rtol=1e-5)


def compiled_at(function, counted, calls=6):
    """At which calls of a function something was compiled."""
    found = []
    for call in range(1, calls + 1):
        before = counted()["compiles"]
        function()
        found += [call] * (counted()["compiles"] - before)
    return found


def begun_at(function, monkeypatch, calls=6):
    """At which calls of a function another thread began to compile something."""
    begin = Compiling.__init__
    begun, found = [], []

    def noted(compiling, program):
        begun.append(program)
        begin(compiling, program)

    monkeypatch.setattr(Compiling, "__init__", noted)
    for call in range(1, calls + 1):
        before = len(begun)
        function()
        found += [call] * (len(begun) - before)
    return found


def chain(x, op=tf.sin):
    for _ in range(60):
        x = op(x) + 0.1
    return x


@pytest.mark.usefixtures("deferred")
@pytest.mark.parametrize(
    ("jit_compile", "due", "op"), [(None, 4, tf.cos), (False, 4, tf.tanh), (True, 2, tf.exp)]
)
def test_when_it_is_compiled(jit_compile, due, op, counted, monkeypatch):
    monkeypatch.setattr(policy, "INTERPRETS", True)
    x = tf.constant([1.0, 2.0])
    step = tf.function(lambda: chain(x, op), jit_compile=jit_compile)
    if jit_compile:
        assert compiled_at(step, counted) == [due]
        return
    before = counted()["compiles"]
    assert begun_at(step, monkeypatch) == [due]
    assert counted()["compiles"] == before


@pytest.mark.usefixtures("deferred")
def test_when_steps_of_a_function_that_runs_as_python_are_compiled(monkeypatch):
    monkeypatch.setattr(policy, "INTERPRETS", True)
    v = tf.Variable(tf.ones([6]))
    dataset = tf.data.Dataset.from_tensors(tf.ones([6]))

    @tf.function
    def run(dataset):
        for x in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(chain(v * x, tf.tan))
            v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    assert begun_at(lambda: float(run(dataset)), monkeypatch) == [policy.FUNCTION_DUE]


@pytest.mark.usefixtures("deferred")
@pytest.mark.parametrize(
    ("jit_compile", "over"),
    [(None, policy.FUNCTION_DUE * policy.FUNCTION_OVER), (True, policy.JIT_COMPILE_DUE)],
)
def test_it_goes_over_after_many_short_runs(jit_compile, over, counted, monkeypatch):
    monkeypatch.setattr(policy, "INTERPRETS", True)
    x = tf.ones([5 if jit_compile else 4])
    step = tf.function(lambda: chain(x), jit_compile=jit_compile)
    assert compiled_at(step, counted, 40) == [over]


@pytest.mark.usefixtures("deferred")
def test_it_goes_over_when_it_was_interpreted_for_as_long(counted, monkeypatch):
    monkeypatch.setattr(policy, "INTERPRETS", True)
    x = tf.constant([1.0, 2.0, 3.0])
    step = tf.function(lambda: chain(x))
    step()
    seconds = [r for r in KEPT.order if isinstance(r, OpByOpProgram)][-1].seconds
    monkeypatch.setattr(policy, "compile_seconds", lambda *_: 9.5 * seconds)
    before = counted()["compiles"]
    over = policy.FUNCTION_DUE + 10
    assert compiled_at(step, counted, 20) == [over - 1]  # one call was before
    assert counted()["compiles"] == before + 1


@pytest.mark.usefixtures("deferred")
def test_what_is_as_good_interpreted_is_not_compiled(counted, monkeypatch):
    monkeypatch.setattr(policy, "INTERPRETS", True)
    x = tf.constant([1.0, 2.0])
    assert compiled_at(tf.function(lambda: x - 3.25), counted) == []


@pytest.mark.usefixtures("deferred")
def test_numbers_in_variables_are_no_structure_of_their_own(counted, monkeypatch):
    monkeypatch.setattr(policy, "INTERPRETS", True)
    total, count = tf.Variable(0.0), tf.Variable(0)

    @tf.function
    def step(x):
        total.assign_add(tf.reduce_sum(chain(x)))
        count.assign_add(1)
        return total / tf.cast(count, tf.float32)

    def epoch():
        total.assign(0.0)
        count.assign(0)
        return [step(tf.constant([1.0, 2.5])) for _ in range(2)]

    assert begun_at(epoch, monkeypatch) == [2]  # with the fourth step
    assert count.numpy() == 2


@pytest.mark.usefixtures("deferred")
def test_assigned_variables_are_donated(counted):
    v = tf.Variable(tf.zeros([1000]))

    @tf.function
    def add(x):
        v.assign_add(x)

    for _ in range(3):
        add(tf.ones([1000]))
    old = v._handle.tensor._array.unsafe_buffer_pointer()
    add(tf.ones([1000]))
    assert v._handle.tensor._array.unsafe_buffer_pointer() == old
    assert v.numpy()[0] == 4.0


@pytest.mark.usefixtures("deferred")
def test_a_value_that_somebody_holds_is_not_donated():
    v = tf.Variable([1.0, 2.0])
    add = tf.function(lambda: v.assign_add([1.0, 1.0]))
    held = []
    for _ in range(4):
        held.append(v.read_value())
        add()
    assert values(*held) == [[1, 2], [2, 3], [3, 4], [4, 5]]


def test_functions_of_one_structure_share_a_program(counted):
    def made():
        return tf.function(lambda x: tf.tanh(x) * 2.0)

    x, first = tf.constant([1.0, 2.0]), made()
    for _ in range(3):
        first(x)
    before = counted()
    made()(x)
    assert counted()["compiles"] == before["compiles"]


def test_methods_do_not_keep_their_instances():
    model = Linear()
    model.step(tf.constant(X), tf.constant(Y))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_arguments_are_not_kept():
    double = tf.function(lambda x: x * 2.0)
    x = tf.constant([1.0, 2.0])
    gone = weakref.ref(x)
    double(x)
    del x
    gc.collect()
    assert gone() is None


def test_two_threads_record_once():
    entered, runs = threading.Barrier(2), []

    @tf.function
    def slow(x):
        runs.append(threading.get_ident())
        return tf.reduce_sum(x * x)

    answers = []

    def call():
        entered.wait()
        answers.append(float(slow(tf.constant([1.0, 2.0]))))

    in_threads(2, call)
    assert answers == [5.0, 5.0]
    assert len(runs) == 1


def test_a_variable_has_its_value_in_other_threads_meanwhile():
    v, seen = tf.Variable(1.0), []

    @tf.function(autograph=False)
    def assign():
        v.assign(5.0)
        thread = threading.Thread(target=lambda: seen.append(float(v)))
        thread.start()
        thread.join()
        return v + 1.0

    assert float(assign()) == 6.0
    assert seen == [1.0]
    assert float(v) == 5.0


def test_an_exception_leaves_nothing_behind():
    v, broken = tf.Variable(1.0), [True]

    @tf.function
    def change(x):
        v.assign_add(x)
        if broken[0]:
            raise KeyError("broken")
        return v * 2.0

    with tf.GradientTape() as tape:
        for _ in range(2):
            with pytest.raises(KeyError):
                change(tf.constant(1.0))
        state = LOCAL.state
        assert state.capture is None and len(state.recorders) == 1
        broken[0] = False
        y = change(tf.constant(1.0))
    assert values(y, v, tape.gradient(y, v)) == [4.0, 2.0, 2.0]


def test_a_call_whose_check_fails_changes_nothing():
    v = tf.Variable(1.0)

    @tf.function
    def change(x):
        v.assign_add(x)
        tf.debugging.assert_less(v, 10.0, message="too large")
        return v

    assert float(change(tf.constant(2.0))) == 3.0
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            change(tf.constant(8.0))
    assert float(change(tf.constant(1.0))) == float(v) == 4.0


def test_prints_come_in_the_order_of_the_program(capsys):
    v = tf.Variable(1)

    @tf.function
    def printing(x):
        tf.print("before", v, output_stream=sys.stdout)
        v.assign_add(x)
        tf.print("after", v, output_stream=sys.stdout)

    for _ in range(2):
        printing(tf.constant(2))
        print("-")
    assert capsys.readouterr().out.split() == "before 1 after 3 - before 3 after 5 -".split()


def test_an_effect_is_not_repeated_by_a_gradient(capsys):
    x = tf.Variable(3.0)

    @tf.function
    def square(x):
        tf.print("here", output_stream=sys.stdout)
        return x * x

    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = square(x)
        first = tape.gradient(y, x)
    assert values(y, first, outer.gradient(first, x)) == [9.0, 6.0, 2.0]
    assert capsys.readouterr().out == "here\n"


def test_draws_differ_between_calls_and_repeat_after_a_seed():
    draw = tf.function(lambda: (tf.random.normal([3]), tf.random.uniform([2])))
    tf.random.set_seed(7)
    first, second = draw(), draw()
    tf.random.set_seed(7)
    again = draw()
    assert values(*first) == values(*again) != values(*second)


def test_a_branch_that_the_sizes_of_a_call_exclude_need_not_fit_them():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def pairs(x):
        even, odd = x[::2], x[1::2]
        alike = tf.equal(tf.shape(even)[0], tf.shape(odd)[0])
        return tf.cond(alike, lambda: even + odd, lambda: even[:-1] + odd)

    found = [pairs(tf.range(float(n))).numpy().tolist() for n in (4, 3, 5, 4)]
    assert found == [[1.0, 5.0], [1.0], [1.0, 5.0], [1.0, 5.0]]


def test_unknown_sizes_are_recorded_once(counted):
    runs = []

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def mean(x):
        runs.append(x.shape.as_list())
        return tf.reduce_mean(x, 0), tf.zeros([tf.shape(x)[0], 3])

    for rows in (3, 5, 3, 1):
        average, zeros = mean(tf.ones([rows, 2]))
        assert values(average) == [[1.0, 1.0]]
        assert zeros.shape == (rows, 3)
    assert runs == [[None, 2]]


def test_relaxed_shapes(caplog):
    runs = []

    @tf.function(reduce_retracing=True)
    def double(x, times):
        runs.append(x.shape.as_list())
        return x * times

    for rows in (2, 3, 4, 2):
        assert values(double(tf.ones([rows, 1]), 2.0)) == [[[2.0]] * rows]
    assert runs == [[2, 1], [None, 1]]
    assert double.experimental_get_tracing_count() == 2


def test_a_failed_recording_does_not_generalize():
    shapes = []

    @tf.function(reduce_retracing=True)
    def project(x):
        shapes.append(x.shape.as_list())
        return x @ tf.ones([3, 2])

    for _ in range(2):
        with pytest.raises(ValueError, match="Matrix size-incompatible"):
            project(tf.ones([4, 2]))
    assert project(tf.ones([4, 3])).shape == [4, 2]
    assert shapes == [[4, 2], [4, 2], [4, 3]]


def test_errors_while_recording_are_made_anew_of_a_message():
    """As Keras does to say more."""
    with pytest.raises(ValueError) as caught:
        tf.function(lambda x: x + tf.ones([2]))(tf.ones([3]))
    more = type(caught.value)(f"More: {caught.value}")
    assert isinstance(more, tf.errors.InvalidArgumentError)
    assert more.message.startswith("More: ")


def test_general_shapes_are_of_one_structure():
    signature, general = Signature(lambda x: x, None), General()

    def shape_of(x):
        given = general.of(signature.bind((x,), {}))
        general.came(given)
        return given.args[0].shape.as_list()

    assert general.of(signature.bind((tf.ones([5, 5]),), {})).args[0].shape == [5, 5]
    assert shape_of(tf.ones([2, 3])) == [2, 3]
    assert shape_of(tf.ones([4, 3])) == [None, 3]
    assert shape_of(tf.ones([4, 3], tf.int32)) == [4, 3]
    assert shape_of(tf.ones([2])) == [2]


def test_retracing_is_warned_of(caplog):
    count = tf.function(lambda x: x)
    with caplog.at_level(logging.WARNING, "tape_compat"):
        for i in range(9):
            count(i)
    found = [r.getMessage() for r in caplog.records if "retracing" in r.getMessage()]
    assert len(found) == 2 and found[0].startswith("5 out of the last 5 calls to <function")


def test_python_runs_where_a_value_is_needed(caplog):
    runs = []

    @tf.function
    def summed(x, axis):
        runs.append(1)
        return tf.reduce_sum(x, axis=axis) * 2.0

    x, axis = tf.constant([[1.0, -1.0], [3.0, 0.0]]), tf.constant(1)
    with caplog.at_level(logging.WARNING, "tape_compat"):
        for _ in range(2):
            assert values(summed(x, axis)) == [[0.0, 6.0]]
    messages = [r.getMessage() for r in caplog.records]
    assert len(messages) == 1 and "Python runs at each call" in messages[0]
    with pytest.raises(TypeError, match="no concrete function"):
        summed.get_concrete_function(tf.TensorSpec([2, 2]), tf.TensorSpec([], tf.int32))


def test_a_concrete_function_is_of_the_texts_it_was_recorded_for():
    join = tf.function(lambda text: tf.strings.unsorted_segment_join(text, [0, 0], 1))
    joined = join.get_concrete_function(tf.constant(["a", "b"]))
    assert joined(tf.constant(["a", "b"])).numpy().tolist() == [b"ab"]
    with pytest.raises(NotImplementedError, match="recorded for the texts b'a', b'b'"):
        joined(tf.constant(["b", "b"]))


def test_variables_are_made_at_the_first_call_only():
    class Lazy:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(lambda: tf.random.normal([2]))
            return self.w * x

    lazy = Lazy()
    first = lazy(tf.constant(2.0))
    assert values(first) == values(lazy.w * 2.0)
    again = tf.function(lambda: tf.Variable(1.0) + 1.0)
    with pytest.raises(ValueError, match="singleton"):
        again()


def test_python_loop_of_calls_is_one_loop(counted):
    """The loop runs as a loop, however often it turns."""
    turn = tf.function(lambda h, x: tf.tanh(h + x))
    losses = {}
    for turns in (40, 60, 50):
        x = tf.Variable(0.1)
        with tf.GradientTape() as tape:
            h = tf.zeros([4])
            for _ in range(turns):
                h = turn(h, x)
            loss = tf.reduce_sum(h)
        losses[turns] = float(loss), float(tape.gradient(loss, x))
        expected = 0.0
        for _ in range(turns):
            expected = np.tanh(expected + 0.1)
        np.testing.assert_allclose(losses[turns][0], 4 * expected, rtol=1e-5)
        assert losses[turns][1] > 0


def test_eager_functions_run_their_python():
    runs = []
    double = tf.function(lambda x: runs.append(x) or x * 2)
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        assert [int(double(i)) for i in (1, 1)] == [2, 2]
    finally:
        tf.config.run_functions_eagerly(before)
    assert runs == [1, 1]


def test_cleared_caches_only_cost_time():
    model, x, y = Linear(), tf.constant(X), tf.constant(Y)
    model.step(x, y)
    expected = model.by_hand(X, Y)
    tf.engine.clear_caches()
    model.step(x, y)
    np.testing.assert_allclose(model.w, expected[0], rtol=1e-5)
    assert model.runs == 1


def test_copies_have_records_of_their_own():
    calls = []

    @tf.function
    def double(x):
        calls.append(1)
        return x * 2

    assert double(tf.constant(1)).numpy() == 2
    for copied in (copy.copy(double), copy.deepcopy(double), copy.deepcopy([double])[0]):
        assert copied(tf.constant(2)).numpy() == 4
        assert copied.experimental_get_tracing_count() == 1
    assert len(calls) == 4 and double.experimental_get_tracing_count() == 1


def test_a_symbol_leaks_into_no_variable():
    leaked = []
    tf.function(lambda x: leaked.append(x + 1.0))(tf.constant(1.0))
    v = tf.Variable(1.0)
    for use in (v.assign, v.assign_add, tf.Variable, tf.exp):
        with pytest.raises(TypeError, match=r"add:0.* is out of scope and cannot be used here"):
            use(leaked[0])
    assert v.numpy() == 1.0


def test_mirrored_padding_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def padded(x):
        return tf.pad(x, [[0, 0], [2, 1]], "REFLECT"), tf.pad(x, [[0, 0], [1, 2]], "SYMMETRIC")

    for shape in [(2, 4), (1, 3)]:
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        reflected, symmetric = padded(x)
        np.testing.assert_array_equal(reflected, np.pad(x, [[0, 0], [2, 1]], "reflect"))
        np.testing.assert_array_equal(symmetric, np.pad(x, [[0, 0], [1, 2]], "symmetric"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="paddings must be less than"):
        padded(tf.ones([1, 2]))


def test_arguments_are_bound_as_python_binds_them():
    def plain(a, b=2, *rest, c, d=4, **more): ...

    def few(a, b=[1]): ...  # noqa: B006

    calls = [((1,), {"c": 3}), ((1, 5, 6, 7), {"d": 8, "c": 3}), ((), {"b": 1, "c": 2, "a": 0})]
    calls += [((1,), {"z": 1, "c": 2, "y": 0}), ((1, 2), {"c": 3, "d": 4})]
    for function, given in ((plain, calls), (few, [((1,), {}), ((), {"b": 2, "a": 1})])):
        signature = Signature(function, None)
        for args, kwargs in given * 2:  # the second time from what is remembered of the form
            wanted = inspect.signature(function).bind(*args, **kwargs)
            wanted.apply_defaults()
            found = signature.bind(args, kwargs)
            assert found.args == wanted.args
            assert dict(found.kwargs) == wanted.kwargs
            assert [name for name, _ in found.kwargs] == sorted(wanted.kwargs)
        with pytest.raises(TypeError, match="Binding inputs to"):
            signature.bind((), {})
    signature = Signature(plain, None)
    for i in range(2 * limits.MAX_CALL_FORMS):
        signature.bind((1,), {"c": 3, f"name_{i}": i})
        assert len(signature._forms) <= limits.MAX_CALL_FORMS


def test_the_python_of_a_call_grows_with_the_variables_not_their_square():
    def python_calls(count):
        variables = [tf.Variable(float(i)) for i in range(count)]

        @tf.function
        def step():
            for v in variables:
                v.assign_add(1.0)

        for _ in range(2):  # the next is not compiled yet
            step()
        seen = [0]

        def note(frame, event, argument):
            seen[0] += event == "call"

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            step()
        finally:
            sys.setprofile(before)
        assert float(variables[-1]) == count - 1 + 3
        return seen[0]

    few, many = python_calls(100), python_calls(400)
    assert many < 8 * few + 100


def test_a_concrete_function_with_arguments_by_name_only():
    @tf.function
    def scaled(x, *, by):
        return x * by

    concrete = scaled.get_concrete_function(tf.TensorSpec([2]), by=tf.TensorSpec([]))
    assert concrete(tf.ones([2]), by=tf.constant(3.0)).numpy().tolist() == [3.0, 3.0]


def test_methods_of_what_is_gone():
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.by = tf.Variable(3.0)

        @tf.function
        def doubled(self, x):
            return x * 2.0

        @tf.function
        def scaled(self, x):
            return x * self.by

    kept = Scale()
    assert kept.scaled(tf.constant(2.0)).numpy() == 6.0
    assert Scale().doubled(tf.constant(2.0)).numpy() == 4.0
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'by'") as caught:
        Scale().scaled(tf.constant(2.0))
    assert "keep the object" in caught.value.__notes__[0]


def test_traces_for_texts_are_bounded_and_not_warned_of(monkeypatch, caplog):
    monkeypatch.setattr(limits, "MAX_TRACES_BY_TEXT", 3)
    scaled = tf.function(lambda x, by: x * by)
    for by in range(6):
        scaled(tf.ones([2]), by=by)
    assert len(scaled._traces) == 6  # which know nothing of texts
    caplog.clear()
    f = tf.function(lambda x: tf.strings.unsorted_segment_join(x, [0, 0], 1))
    for i in range(7):
        assert f(tf.constant(["a" * i, "b"])).numpy().tolist() == [b"a" * i + b"b"]
    assert f.experimental_get_tracing_count() == 7 and len(f._traces) == len(f._given) == 3
    assert not caplog.records
    f(tf.constant(["a" * 6, "b"])), f(tf.constant(["", "b"]))
    assert f.experimental_get_tracing_count() == 8


def test_arrays_as_arguments_and_results():
    """TensorFlow refuses to change those of eager code, and makes a record for each."""
    f = tf.function(lambda array: array.write(0, [5.0, 5.0]))
    for rows in (2, 2, 3):
        array = tf.TensorArray(tf.float32, rows).unstack(tf.ones([rows, 2]))
        assert f(array).stack().numpy()[:2].tolist() == [[5.0, 5.0], [1.0, 1.0]]
        assert array.stack().numpy()[0].tolist() == [1.0, 1.0]
    assert f.experimental_get_tracing_count() == 2
    assert tf.function(lambda a: f(a).stack()[0])(array).numpy().tolist() == [5.0, 5.0]

    spec = tf.TensorArraySpec([2], tf.float32)
    total = tf.function(lambda array: tf.reduce_sum(array.stack()), input_signature=[spec])
    for rows in (2, 3):
        array = tf.TensorArray(tf.float32, rows, element_shape=[2]).unstack(tf.ones([rows, 2]))
        assert total(array).numpy() == 2.0 * rows
    assert total.experimental_get_tracing_count() == 1
    assert total.get_concrete_function()(array).numpy() == 6.0
    for wrong in (tf.ones([3, 2]), tf.TensorArray(tf.int32, 0, element_shape=[2])):
        with pytest.raises(TypeError, match="Can not cast"):
            total(wrong)

    @tf.function
    def filled(n):
        array = tf.TensorArray(tf.float32, 3)
        invariants = tf.TensorShape([]), tf.TensorArraySpec(None, tf.float32)
        more = lambda i, _: i < n
        turn = lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32)))
        return tf.while_loop(more, turn, (0, array), invariants)[1].stack()

    assert filled(3).numpy().tolist() == [0.0, 1.0, 2.0]


def test_a_graph_tells_shapes_that_depend_on_values():
    """So that Keras builds functional models with layers that leave out rows."""
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder("float32", [None, 3])
        kept = tf.boolean_mask(x, x[:, 0] > 0)
        counts = tf.math.bincount(tf.cast(x[:, 0], tf.int32))
    assert kept.shape.as_list() == [None, 3] and counts.shape.as_list() == [None]

"""`tf.py_function` and `tf.numpy_function` beyond what parity compares."""

import logging

import numpy as np
import pytest

import tape_compat as tf


def test_as_decorators():
    @tf.py_function(Tout=tf.float32)
    def twice(x):
        return x * 2.0

    @tf.numpy_function(Tout=[tf.float32])
    def largest(x):
        """The largest."""
        return [x.max()]

    assert twice(3.0).numpy() == 6.0
    assert largest(np.float32([1.0, 5.0])).numpy() == 5.0 and largest.__doc__ == "The largest."
    with pytest.raises(TypeError, match=r"^Missing required argument: 'Tout'\n  If using tf.py_f"):
        tf.py_function(lambda x: x, [1.0])


def test_results_are_as_many_as_said():
    with pytest.raises(tf.errors.InvalidArgumentError, match="pair returns 2 values, but expects"):
        tf.py_function(func=_pair, inp=[1.0], Tout=tf.float32)
    a, b = tf.py_function(_pair, [1.0], [tf.float32, tf.TensorSpec([], tf.float64)])
    assert a.dtype is tf.float32 and b.dtype is tf.float64
    assert tf.py_function(lambda x: None, [1.0], []) == []
    assert tf.numpy_function(lambda x: None, [1.0], []) is None


def _pair(x):
    return x, 2.0


@pytest.mark.parametrize(
    "error, expected",
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (MemoryError, tf.errors.ResourceExhaustedError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (KeyError, tf.errors.UnknownError),
    ],
)
def test_errors_are_those_of_tensorflow(error, expected):
    def fail(x):
        raise error("why")

    recorded = tf.function(lambda x: [tf.py_function(fail, [x], []), x][1])
    for call in (lambda x: tf.py_function(fail, [x], tf.float32), recorded):
        with pytest.raises(expected, match=f"^{error.__name__}: ") as raised:
            call(tf.constant(1.0))
        assert raised.value.__cause__.__class__ is error
    with pytest.raises(error):
        tf.numpy_function(fail, [1.0], tf.float32)


def test_a_function_with_results_is_recorded_when_their_shapes_were_seen(caplog):
    ran, seen = [], []

    def flip(x):
        seen.append(len(x))
        return np.flip(x)

    @tf.function
    def f(x):
        ran.append(1)
        return tf.numpy_function(flip, [x], tf.float32) + 1.0

    with caplog.at_level(logging.WARNING, "tape_compat"):
        for n in (2, 2, 2, 3, 3):
            assert f(tf.range(n, dtype=tf.float32)).numpy().tolist() == [*range(n, 0, -1)]
    assert len(ran) == 6 and not caplog.records  # for each shape: tried, run, recorded
    assert seen == [2, 2, 2, 3, 3]


def test_it_is_recorded_anew_where_a_result_has_another_shape(capfd, caplog):
    ran, sizes = [], []
    count = tf.Variable(0)

    @tf.function
    def f(n):
        ran.append(1)
        count.assign_add(1)
        tf.print("begins")
        x = tf.py_function(lambda n: (sizes.append(int(n)), tf.range(n))[1], [n], tf.int32)
        return x * 2

    with caplog.at_level(logging.WARNING, "tape_compat"):
        for n in (2, 2, 3, 2, 3, 0):
            assert f(tf.constant(n)).numpy().tolist() == [2 * i for i in range(n)]
    assert sizes == [2, 2, 3, 2, 3, 0] and count.numpy() == 6
    # tried, run and recorded; run with the size 3; recorded for any size
    assert len(ran) == 5 and not caplog.records
    assert capfd.readouterr().err.count("begins") == 6


def test_python_runs_where_a_result_has_another_rank(caplog):
    @tf.function
    def f(n):
        return tf.py_function(lambda n: tf.ones([2] * int(n)), [n], tf.float32) * 2.0

    with caplog.at_level(logging.WARNING, "tape_compat"):
        for n in (1, 1, 2, 1, 2):
            assert f(tf.constant(n)).shape == [2] * n
    assert len(caplog.records) == 1 and "the ranks or dtypes of what it gives" in caplog.text


def test_gradients_of_recorded_calls():
    seen = []

    def cube(x):
        seen.append(1)
        return x * x * x

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(cube, [2.0 * x], tf.float32)
            z = y + tf.stop_gradient(tf.numpy_function(np.sin, [y], tf.float32))
        return tape.gradient(z, x)

    @tf.function
    def value(x):
        return tf.py_function(cube, [2.0 * x], tf.float32)

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = value(x)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    for f in (slope, outer):
        for _ in range(3):
            np.testing.assert_allclose(f(x), [24.0, 96.0])
        assert f.experimental_get_tracing_count() == 2
    assert len(seen) == 6
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = value(x)
        np.testing.assert_allclose(tape.gradient(y, x), [24.0, 96.0])
    assert len(seen) == 8


@pytest.mark.parametrize("what", ["read", "assign"])
def test_python_functions_of_the_variables_of_a_function(what, caplog):
    v = tf.Variable(1.0)

    def use(x):
        return x * v if what == "read" else (v.assign(10.0), x)[1]

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return tf.py_function(use, [x], tf.float32) + v

    with caplog.at_level(logging.WARNING, "tape_compat"):
        found = [float(f(tf.constant(1.0))) for _ in range(4)]
    assert found == ([4.0, 6.0, 8.0, 10.0] if what == "read" else [11.0] * 4)
    assert len(caplog.records) == 1 and "by a Python function that it calls" in caplog.text


def test_calls_with_results_in_loops_and_of_texts_are_recorded(caplog):
    ran = []

    def one(x):
        return np.float32(1.0)

    @tf.function
    def loop(n):
        ran.append(1)
        total = tf.constant(0.0)
        for _ in tf.range(n):
            total += tf.numpy_function(one, [n], tf.float32)
        return total

    @tf.function
    def text(x):
        ran.append(1)
        found = tf.numpy_function(lambda x: b"abc" if x > 2 else b"a", [x], tf.string)
        return tf.strings.length(found)

    with caplog.at_level(logging.WARNING, "tape_compat"):
        for f, expected in ((loop, [3.0, 2.0, 3.0]), (text, [3, 1, 3])):
            assert [f(tf.constant(n)).numpy() for n in (3, 2, 3)] == expected
            assert len(ran) == 3  # tried, run, recorded
            ran.clear()
    assert not caplog.records


def test_an_error_in_a_recorded_call_leaves_variables_as_they_were():
    v, fails = tf.Variable(0.0), []

    def may_fail(x):
        if fails:
            raise ValueError("why")
        return x

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return tf.py_function(may_fail, [x], tf.float32)

    for _ in range(3):
        f(tf.constant(1.0))
    fails.append(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: why"):
        f(tf.constant(1.0))
    assert v.numpy() == 3.0


def test_a_call_without_results_is_recorded():
    ran, seen = [], []

    @tf.function
    def f(x):
        ran.append(1)
        tf.py_function(lambda x: seen.append(x.numpy().item()), [x], [])
        tf.numpy_function(lambda x: seen.append(x + 1), [x * 2], [])
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert len(ran) == 1 and seen == [1.0, 3.0, 2.0, 5.0]


def test_scalars_in_functions_and_maps_are_none_of_numpys_arrays():
    kinds = []

    def look(text, number):
        kinds.append((type(text), type(number)))
        return np.float32(len(text))

    def call(text, number):
        return tf.numpy_function(look, [text, number], tf.float32)

    texts = tf.data.Dataset.from_tensor_slices(["ab", "abc"])
    assert [float(x) for x in texts.map(lambda text: call(text, 1))] == [2.0, 3.0]
    assert float(tf.function(call)("abcd", tf.constant(1))) == 4.0
    assert set(kinds) == {(bytes, np.int32)}
    tf.numpy_function(lambda x: kinds.append(type(x)), [1.0], [])
    assert kinds[-1] is np.ndarray


def test_gradients_of_a_record_with_python_in_it():
    calls = []

    def square(a):
        calls.append(1)
        return a * a

    @tf.function
    def slope(x):
        y = tf.py_function(square, [x], tf.float32)
        return tf.gradients(y, x)[0]

    with pytest.raises(RuntimeError, match="GradientTape"):  # the first runs as Python
        slope(tf.constant(2.0))
    for i in range(3):
        assert slope(tf.constant(3.0)).numpy() == 6.0
        assert len(calls) == 2 + i  # no call is done again for its gradient

    @tf.function
    def by_tape(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a, [x], tf.float32)
        return tape.gradient(y, x)

    for value in (2.0, 3.0, 4.0):
        assert by_tape(tf.constant(value)).numpy() == 2 * value

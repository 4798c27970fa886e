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


def test_a_function_with_results_runs_its_python_at_each_call(caplog):
    ran = []

    @tf.function
    def f(x):
        ran.append(1)
        return tf.numpy_function(np.flip, [x], tf.float32) + 1.0

    with caplog.at_level(logging.WARNING, "tape_compat"):
        for n in (2, 2, 2):
            assert f(tf.range(n, dtype=tf.float32)).numpy().tolist() == [2.0, 1.0]
    assert len(ran) == 4 and len(caplog.records) == 1
    assert "the shapes of what tf.numpy_function gives are known when flip has" in caplog.text


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

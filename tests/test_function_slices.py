"""Slices whose place is known when a function is called, beyond what parity compares."""

import logging

import numpy as np
import pytest

import tape_compat as tf


def test_slices_of_a_known_length_are_recorded():
    ran = []

    @tf.function
    def f(x, i):
        ran.append(1)
        return x[2 * i : 2 * (i + 1)]

    for i in range(4):
        assert f(tf.range(8), tf.constant(i)).numpy().tolist() == [2 * i, 2 * i + 1]
    assert len(ran) == 1


def test_python_runs_where_a_slice_ends_outside_and_effects_are_done_once(capfd, caplog):
    ran, seen = [], []
    count = tf.Variable(0)

    @tf.function
    def f(i):
        ran.append(1)
        count.assign_add(1)
        tf.print("at", i)
        tf.py_function(lambda i: seen.append(int(i)), [i], [])
        y = tf.range(5)[i : i + 3]
        tf.print("gives", y)
        return y

    with caplog.at_level(logging.WARNING, "tape_compat"):
        assert [f(tf.constant(i)).numpy().tolist() for i in (1, 4, 2)] == [
            [1, 2, 3],
            [4],
            [2, 3, 4],
        ]
        assert len(ran) == 2 and not caplog.records  # it goes on as recorded
        f(tf.constant(4))
        assert len(caplog.records) == 1 and "lie inside an axis of size 5" in caplog.text
        f(tf.constant(0))
    assert len(ran) == 4 and len(caplog.records) == 1
    assert count.numpy() == 5 and seen == [1, 4, 2, 4, 0]
    printed = capfd.readouterr().err.splitlines()
    assert [line for line in printed if line.startswith("at")] == [f"at {i}" for i in seen]
    assert sum(line.startswith("gives") for line in printed) == 5


def test_a_concrete_function_says_what_it_takes():
    f = tf.function(lambda x, i: x[i : i + 3])
    concrete = f.get_concrete_function(tf.TensorSpec([5]), tf.TensorSpec([], tf.int32))
    assert concrete(tf.range(5.0), tf.constant(2)).numpy().tolist() == [2.0, 3.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="A slice of 3 places does not lie"):
        concrete(tf.range(5.0), tf.constant(3))


def test_a_map_takes_slices_of_any_length():
    x = tf.range(6)
    parts = tf.data.Dataset.range(5).map(lambda i: x[i : i + 2])
    assert [part.tolist() for part in parts.as_numpy_iterator()][-1] == [4, 5]
    parts = tf.data.Dataset.range(6).map(tf.function(lambda i: x[i : i + 2]))
    assert [part.tolist() for part in parts.as_numpy_iterator()][-1] == [5]


def test_under_an_accumulator():
    f = tf.function(lambda x, i: x[i : i + 2] ** 2)
    for i, expected in ((1, [2.0, 4.0]), (2, [4.0])):
        x = tf.range(3.0)
        with tf.autodiff.ForwardAccumulator(x, tf.ones([3])) as accumulator:
            y = f(x, tf.constant(i))
        np.testing.assert_allclose(accumulator.jvp(y), expected)


def test_a_function_around_one_that_gave_up_runs_its_python_too():
    part = tf.function(lambda x, i: x[i : i + 2])
    for _ in range(3):
        assert part(tf.range(3), tf.constant(2)).numpy().tolist() == [2]

    @tf.function
    def around(x, i):
        if tf.reduce_sum(x) > 0:
            x = part(x, i)
        return x

    assert around(tf.range(3), tf.constant(2)).numpy().tolist() == [2]
    assert around(tf.range(3), tf.constant(1)).numpy().tolist() == [1, 2]

"""Loops that the host does on arrays, where nobody follows them."""

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.run import policy

pytestmark = pytest.mark.skipif(not policy.INTERPRETS, reason="nothing is interpreted")
ANY = tf.TensorShape([None])


def tensors_made(call):
    """How many tensors a call makes, by their numbers."""
    before = tf.constant(0)._id
    call()
    return tf.constant(0)._id - before - 1


def growing(n, more=lambda i, x: [tf.cast(i, tf.float32)]):
    return tf.while_loop(
        lambda i, _: i < n,
        lambda i, x: (i + 1, tf.concat([x, more(i, x)], 0)),
        (0, tf.zeros([0])),
        shape_invariants=(tf.TensorShape([]), ANY),
    )[1]


def test_turns_make_no_tensors():
    f = tf.function(growing)
    for _ in range(policy.NEW_SIZES + 1):
        f(tf.constant(40))
    few, many = [tensors_made(lambda n=n: f(tf.constant(n))) for n in (4, 40)]
    assert few == many < 12
    assert f(tf.constant(5)).numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_only_steps_of_the_host_are_given_tensors():
    @tf.function
    def masked(n):
        def body(i, total):
            x = tf.range(4.0) - tf.cast(i, tf.float32)
            return i + 1, total + tf.reduce_sum(tf.boolean_mask(x, x > 0))

        return tf.while_loop(lambda i, _: i < n, body, (0, 0.0))[1]

    for _ in range(policy.NEW_SIZES + 1):
        assert float(masked(tf.constant(20))) == 6.0 + 3.0 + 1.0
    few, many = [tensors_made(lambda n=n: masked(tf.constant(n))) for n in (10, 20)]
    assert (many - few) % 10 == 0 and (many - few) // 10 <= 4


def test_a_tape_round_a_loop_follows_it():
    f = tf.function(lambda x, n: tf.reduce_sum(growing(n, lambda i, y: [x * x])))
    x = tf.constant(3.0)
    for _ in range(3):
        assert float(f(x, tf.constant(4))) == 36.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(4))
        assert float(tape.gradient(y, x)) == 24.0


def test_under_a_tape_turns_are_no_programs_of_their_own():
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(growing(n, lambda i, y: [x * x]))
        return y, tape.gradient(y, x)

    x, programs = tf.constant(3.0), []
    for n in (4, 40, 40):
        before = tf.counters.op_by_op + tf.counters.fused
        y, g = f(x, tf.constant(n))
        assert (float(y), float(g)) == (9.0 * n, 6.0 * n)
        programs.append(tf.counters.op_by_op + tf.counters.fused - before)
    assert max(programs) <= 3


def test_what_is_recorded_in_a_step_of_the_host_is_run():
    seen = []

    def python(x):
        with tf.GradientTape() as tape:  # what it gives is pending
            tape.watch(x)
            y = x * 2.0
        seen.append(float(tape.gradient(y, x)))
        return y + 1.0

    def more(i, x):
        y = tf.py_function(python, [tf.cast(i, tf.float32)], tf.float32)
        y.set_shape([])
        return [y]

    f = tf.function(lambda n: growing(n, more))
    for _ in range(3):
        assert f(tf.constant(3)).numpy().tolist() == [1.0, 3.0, 5.0]
    assert seen == [2.0] * len(seen) and len(seen) >= 9


def test_an_error_in_a_turn_leaves_the_loop_as_it_was():
    @tf.function
    def f(n, limit):
        def body(i, x):
            y = tf.boolean_mask(tf.range(3.0), tf.range(3) >= i)
            with tf.control_dependencies([tf.debugging.assert_less(i, limit, message="too far")]):
                return i + 1, tf.concat([x, y], 0)

        shapes = tf.TensorShape([]), ANY
        return tf.while_loop(lambda i, _: i < n, body, (0, tf.zeros([0])), shapes)[1]

    for _ in range(3):
        assert f(tf.constant(2), tf.constant(2)).shape == [5]
        with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
            f(tf.constant(2), tf.constant(1))
        assert np.geterr()["divide"] != "ignore"


def test_a_loop_of_which_nothing_is_computed():
    @tf.function
    def f(goes_on, x):
        shapes = tf.TensorShape([]), ANY, ANY
        first = goes_on, x, tf.zeros([0])
        return tf.while_loop(lambda on, *_: on, lambda on, x, y: (False, y, x), first, shapes)

    for goes_on, expected in ((True, [[], [1.0, 2.0]]), (False, [[1.0, 2.0], []])):
        for _ in range(2):
            _, *found = f(tf.constant(goes_on), tf.constant([1.0, 2.0]))
            assert [x.numpy().tolist() for x in found] == expected


def test_loops_in_loops_and_texts():
    @tf.function
    def f(n):
        texts, numbers = tf.constant(["-"]), tf.zeros([0], tf.int32)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(texts, ANY), (numbers, ANY)]
            )
            texts = tf.concat([texts, [tf.strings.as_string(i)]], 0)
            for j in tf.range(i):
                tf.autograph.experimental.set_loop_options(shape_invariants=[(numbers, ANY)])
                numbers = tf.concat([numbers, [i * 10 + j]], 0)
        return texts, numbers

    for _ in range(3):
        texts, numbers = f(tf.constant(4))
        assert texts.numpy().tolist() == [b"-", b"0", b"1", b"2", b"3"]
        assert numbers.numpy().tolist() == [10, 20, 21, 30, 31, 32]

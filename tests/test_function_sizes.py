"""Sizes that depend on values in a `tf.function`, beyond what parity compares."""

import logging
from typing import Any

import pytest

import tape_compat as tf
from tape_compat import counters
from tape_compat._src.function.program_parts import _PARTS


def test_python_runs_once_and_where_a_slice_begins_before_the_array(caplog):
    ran = []

    @tf.function
    def f(x, i):
        ran.append(1)
        return x[i:]

    with caplog.at_level(logging.WARNING, "tape_compat"):
        for i, want in ((3, [3, 4]), (0, [0, 1, 2, 3, 4]), (9, [])):
            assert f(tf.range(5), tf.constant(i)).numpy().tolist() == want
        assert len(ran) == 1
        assert f(tf.range(5), tf.constant(-2)).numpy().tolist() == [3, 4]
    assert len(ran) == 2 and not caplog.records


def test_what_has_known_sizes_is_one_program():
    f = tf.function(lambda x, i: (x[i : i + 2], tf.zeros([tf.shape(x)[0] * 2])))
    concrete = f.get_concrete_function(tf.TensorSpec([None]), tf.TensorSpec([], tf.int32))
    assert not concrete._trace.graph.in_parts


def test_a_masked_step_is_not_compiled_for_each_size():
    w = tf.Variable(2.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.boolean_mask(x * w, x > 0.0) ** 2)
        w.assign_sub(1e-6 * tape.gradient(loss, w))
        return loss

    def run(count):
        for k in range(count):
            x = tf.concat([tf.ones([k % 7 + 1]), -tf.ones([9 - k % 7])], 0)
            assert float(step(x)) == pytest.approx((k % 7 + 1) * 4.0, rel=1e-2)

    run(40)
    before = counters.compiles
    run(40)
    assert counters.compiles - before <= 14  # two parts for each of seven sizes at most
    assert step.experimental_get_tracing_count() == 1


def test_a_branch_with_a_mask_compiles_no_more_when_it_has_run():
    @tf.function
    def f(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.boolean_mask(x, x > 1), lambda: x)

    calls = [(tf.range(4.0), [2.0, 3.0]), (-tf.range(4.0), [0.0, -1.0, -2.0, -3.0])]
    for _ in range(20):
        for x, expected in calls:
            assert f(x).numpy().tolist() == expected
    before = counters.compiles
    for _ in range(10):
        for x, expected in calls:
            assert f(x).numpy().tolist() == expected
    assert counters.compiles == before
    assert f.experimental_get_tracing_count() == 1


def test_a_loop_that_keeps_its_shapes_stays_one_program():
    @tf.function
    def doubled(x, n):
        return tf.while_loop(
            lambda i, y: i < n,
            lambda i, y: (i + 1, y * 2),
            (0, x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )[1]

    x = tf.range(3.0)
    assert doubled(x, tf.constant(3)).numpy().tolist() == [0.0, 8.0, 16.0]
    assert "while" in doubled.experimental_get_compiler_ir(x, tf.constant(3))()


def test_an_error_in_a_loop_of_the_host_leaves_variables_as_they_were():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        for i in tf.range(3):
            kept = tf.boolean_mask(x, x > tf.cast(i, tf.float32))
            tf.debugging.assert_positive(tf.size(kept), message="nothing is left")
            v.assign_add(tf.reduce_sum(kept))
        return v.read_value()

    assert float(f(tf.constant([1.0, 3.0]))) == 1.0 + 4.0 + 3.0 + 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="nothing is left"):
        f(tf.constant([1.0, 2.0]))
    assert float(v) == 11.0
    assert float(f(tf.constant([1.0, 3.0]))) == 21.0


def test_where_python_asks_for_an_unknown_size_it_runs_at_each_call(caplog):
    @tf.function
    def f(x):
        kept = tf.boolean_mask(x, x > 1)
        return [kept] * kept.shape[0]  # a TypeError for None

    with caplog.at_level(logging.WARNING, "tape_compat"):
        assert [x.numpy().tolist() for x in f(tf.range(4.0))] == [[2.0, 3.0]] * 2
    assert len(caplog.records) == 1


def test_what_does_not_depend_on_sizes_is_a_program_for_all_of_them():
    before = counters.compiles
    kernels = [tf.Variable(tf.eye(8) * (1.0 + 0.1 * i)) for i in range(4)]

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            h = x
            for kernel in kernels:
                h = tf.tanh(h @ kernel)
            kept = tf.boolean_mask(tf.reduce_sum(h, 1), y > 0.0)
            loss = tf.reduce_mean(kept**2)
        for kernel, g in zip(kernels, tape.gradient(loss, kernels)):
            kernel.assign_sub(1e-3 * g)
        return loss

    x = tf.ones([16, 8])
    for _ in range(40):
        for size in range(1, 15):
            step(x, tf.range(16.0) - (15.5 - size))
    # layers and their gradients are two programs; the few ops of each size are not worth one yet
    assert counters.compiles - before <= 4
    assert step.experimental_get_tracing_count() == 1


@pytest.mark.interpreted
def test_short_parts_of_a_loop_are_not_compiled():
    """A call that is waited for takes as long as NumPy does, and the compile 0.3 s."""

    @tf.function
    def decoded(table, w, n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        token, state, i = tf.constant(1), tf.zeros([16]), tf.constant(0)
        while i < n and token >= 0:
            state = tf.tanh(state * 0.5 + table[token])
            token = tf.argmax(tf.linalg.matvec(w, state), output_type=tf.int32)
            array = array.write(i, token)
            i += 1
        return array.stack()

    table, w = [tf.reshape(tf.sin(tf.range(800.0)), [50, 16]) * k for k in (1.0, 2.0)]
    decoded(table, w, tf.constant(3))
    before = counters.op_compiles
    for _ in range(40):
        assert decoded(table, w, tf.constant(64)).shape == [64]
    assert counters.op_compiles == before


def test_what_a_growing_loop_computes_of_known_sizes_is_one_program_for_all_lengths():
    """What the first ops of an iteration give is wanted late: it is no part of its own."""

    @tf.function
    def searched(table, w, n):
        def body(i, tokens, score):
            logits = tf.nn.log_softmax(tf.gather(table, tokens[:, -1]) @ w)
            score, places = tf.math.top_k(tf.reshape(score[:, None] + logits, [-1]), 4)
            tokens = tf.concat([tf.gather(tokens, places // 50), (places % 50)[:, None]], 1)
            return i + 1, tokens, score

        shapes = tuple([tf.TensorShape(shape) for shape in ([], [4, None], [4])])
        first = 0, tf.zeros([4, 1], tf.int32), tf.zeros([4])
        return tf.while_loop(lambda i, *_: i < n, body, first, shape_invariants=shapes)[1]

    table = tf.reshape(tf.sin(tf.range(800.0)), [50, 16])
    _PARTS.clear()
    assert searched(table, tf.transpose(table), tf.constant(20)).shape == [4, 21]
    body: Any = max(_PARTS.values(), key=len)
    names = [[step.closure.name for step in part.closure.flat.steps] for part in body]
    assert [part.sized for part in body] == [True, False, True]
    assert names[0] == ["StridedSlice"] and names[2] == ["GatherV2", "ConcatV2"]
    assert "MatMul" in names[1]

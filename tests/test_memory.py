"""A lack of memory: the error, and what is left as it was."""

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.run import donation, executor, kept, memory
from tape_compat._src.run.whole import WholeProgram

#: Rows of a square that no machine has the memory for, in virtual addresses, too.
HUGE = 1 << 24


def test_an_op_raises_where_it_is_called():
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        tf.zeros([HUGE, 1]) + tf.zeros([1, HUGE])
    message = str(caught.value)
    assert f"OOM when allocating tensor with shape[{HUGE},{HUGE}] and type float" in message
    assert "[Op:AddV2]" in message


def values(*variables):
    return [v.numpy().tolist() for v in variables]


@pytest.mark.part
@pytest.mark.parametrize("steps", [0, 1, 12])
@pytest.mark.parametrize("decorated", [False, True])
@pytest.mark.compiled
def test_variables_hold_what_they_did(steps, decorated):
    v, count = tf.Variable([1.0, 2.0]), tf.Variable(0.0)
    moment = tf.Variable([0.0, 0.0])

    def step(n):
        with tf.GradientTape() as tape:
            grid = tf.ones([n, 1]) * tf.reduce_sum(v) + tf.ones([1, n])
            loss = tf.reduce_mean(grid * grid)
        moment.assign(0.5 * moment + tape.gradient(loss, v))
        v.assign_sub(0.25 * moment)
        count.assign_add(1.0)
        return loss, grid  # XLA computes the loss without it

    if decorated:
        step = tf.function(step, input_signature=[tf.TensorSpec([], tf.int32)])
    for _ in range(steps):
        step(tf.constant(3))
    before = values(v, moment, count)
    for _ in range(2):
        with pytest.raises(tf.errors.ResourceExhaustedError):
            outputs = step(tf.constant(HUGE))
            outputs[0].numpy()
        assert values(v, moment, count) == before
    step(tf.constant(3))
    assert values(count) == [steps + 1]
    assert values(v) != before[:1]


@pytest.mark.parametrize("decorated", [False, True])
def test_a_settled_step_that_has_too_little(decorated, monkeypatch):
    v = tf.Variable(np.ones(3, np.float32))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        v.assign_sub(0.25 * tape.gradient(loss, v))
        return loss

    if decorated:
        step = tf.function(step)
    for _ in range(40):
        step().numpy()
    before = v.numpy()
    runners = [found for found in kept.KEPT.order if isinstance(found, WholeProgram)]
    assert runners

    def lacks(*_):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")

    with monkeypatch.context() as lacking:
        for found in runners:
            lacking.setattr(found, "call", lacks)
        # it is run op by op, which takes less
        assert step().numpy() == np.sum(before * before)
        assert np.array_equal(v.numpy(), before / 2)
    step()
    assert np.array_equal(v.numpy(), before / 4)


@pytest.mark.compiled
def test_what_may_lack_memory_is_given_no_buffers(monkeypatch):
    v = tf.Variable(np.ones(3, np.float32))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v * v)
        v.assign_sub(0.25 * tape.gradient(loss, v))
        return v.numpy()

    copies = []

    def copied(array):
        copies.append(array)
        return donation.copied(array)

    monkeypatch.setattr(executor, "copied", copied)
    for _ in range(5):
        step()
    assert not copies
    tf.engine.clear_caches()
    monkeypatch.setattr(memory, "may_lack", lambda nbytes: True)
    for _ in range(5):
        step()
    assert len(copies) == 5


def test_what_is_known_of_the_device():
    assert 0 < memory.of_device() <= 1 << 62
    assert not memory.may_lack(1 << 10)
    assert memory.may_lack(HUGE * HUGE)
    assert memory.may_copy(1 << 10)
    assert memory.lacks(MemoryError())
    assert not memory.lacks(ValueError("RESOURCE_EXHAUSTED"))

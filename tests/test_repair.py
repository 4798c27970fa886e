"""A program that fails for good leaves variables, tapes and later steps usable."""

import numpy as np
import pytest
from jax.core import ShapedArray
from jax.extend.core import Primitive

import tape_compat as tf

pytestmark = pytest.mark.compiled

#: A primitive that has a shape and nothing that computes it.
_NOTHING_COMPUTES_IT = Primitive("nothing_computes_it")
_NOTHING_COMPUTES_IT.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
fails = tf.as_op(_NOTHING_COMPUTES_IT.bind)


def values(*variables):
    return [v.numpy().tolist() for v in variables]


@pytest.mark.parametrize("calls", [1, 5])
def test_a_function_that_fails_changes_nothing(calls):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(5.0)

    @tf.function
    def step(fail):
        v.assign_add([1.0, 1.0])
        w.assign(7.0)
        return fails(v) if fail else v * 2.0

    for _ in range(calls):
        step(False)
    before = values(v)
    w.assign(5.0)
    for _ in range(2):
        with pytest.raises(NotImplementedError):
            step(True)
        assert values(v, w) == [*before, 5.0]
    assert step(False).numpy().tolist() == (2.0 * (np.array(before[0]) + 1.0)).tolist()
    assert w.numpy() == 7.0


def test_variables_hold_what_they_did_before_the_op_that_fails():
    v, w, late = tf.Variable([1.0, 2.0]), tf.Variable([0.0]), tf.Variable(0.0)

    def step(fail):
        with tf.GradientTape() as tape:
            v.assign_add([1.0, 1.0])
            w.assign([9.0])
            y = tf.reduce_sum(v * v)
            if fail:
                y = tf.reduce_sum(fails(v)) + y
            w.assign([y])
            late.assign_add(1.0)
        v.assign_sub(0.25 * (y * tf.ones([2]) if fail else tape.gradient(y, v)))
        return y.numpy(), v.numpy()

    step(False)
    assert values(v, w, late) == [[1.0, 1.5], [13.0], 1.0]
    for n in (2.0, 3.0):
        with pytest.raises(NotImplementedError):
            step(True)
        assert values(v, w, late) == [[n, n + 0.5], [9.0], 1.0]
    assert step(False)[0] == 4.0**2 + 4.5**2


def test_what_does_not_depend_on_it_has_a_value(deferred):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        good = v * 3.0
        bad = fails(v) * 2.0
        worse = bad + good
    for x in (bad, worse, bad):
        with pytest.raises(NotImplementedError):
            x.numpy()
    assert good.numpy().tolist() == [3.0, 6.0]
    with pytest.raises(NotImplementedError):
        (worse + 1.0).numpy()
    assert tape.gradient(good, v).numpy().tolist() == [3.0, 3.0]


def test_a_function_that_fails_under_a_tape_changes_nothing(deferred):
    v, n = tf.Variable([1.0, 2.0]), tf.Variable(0.0)

    @tf.function
    def step(fail):
        v.assign_add([1.0, 1.0])
        return tf.reduce_sum(fails(v) if fail else v)

    for fail, expected in ((False, [2.0, 3.0]), (True, [2.0, 3.0]), (False, [3.0, 4.0])):
        with tf.GradientTape():
            n.assign_add(1.0)
            y = step(fail)
        if fail:
            with pytest.raises(NotImplementedError):
                y.numpy()
        assert values(v) == [expected]
    assert n.numpy() == 3.0

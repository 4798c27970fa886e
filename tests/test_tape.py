"""GradientTape case by case, without TensorFlow; tests/parity compares with it."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.state import LOCAL


def value(x):
    return None if x is None else x.numpy().tolist()


def test_gradients_of_two_variables():
    w1, w2 = tf.Variable(5.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = 3 * w1**2 + 2 * w1 * w2
    assert list(map(value, tape.gradient(z, [w1, w2]))) == [36.0, 10.0]


def test_constants_are_none_until_watched():
    c1, c2 = tf.constant(5.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        z = 3 * c1**2 + 2 * c1 * c2
    assert tape.gradient(z, [c1, c2]) == [None, None]
    with tf.GradientTape() as tape:
        tape.watch(c1)
        tape.watch(c2)
        z = 3 * c1**2 + 2 * c1 * c2
    assert list(map(value, tape.gradient(z, [c1, c2]))) == [36.0, 10.0]


def test_watch_after_the_op_does_not_count():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    assert tape.gradient(y, x) is None


def test_second_gradient_raises_and_says_where_the_first_was():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=r"one set of gradients.*gradient\(\) at test_tape\.py"):
        tape.gradient(y, x)


def test_a_tape_never_entered():
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError, match="never entered"):
        tape.gradient(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(AttributeError, match="watch"):
        tape.watch(tf.constant(1.0))
    with pytest.raises(RuntimeError, match="not recording"):
        with tape.stop_recording():
            pass


def test_persistent_gives_both():
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * y
    assert value(tape.gradient(z, x)) == 32.0
    assert value(tape.gradient(y, x)) == 4.0
    assert value(tape.gradient(z, y)) == 8.0


def test_a_vector_target_gives_the_gradient_of_the_sum():
    x = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        y = tf.stack([x * 1.0, 2 * x * x])
    assert value(tape.gradient(y, x)) == 21.0


def test_structures():
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = {"p": a * b, "q": [b * b]}
    answer = tape.gradient(y, {"b": (b, [a]), "none": tf.constant(1.0)})
    assert value(answer["b"][0]) == 5.0
    assert value(answer["b"][1][0]) == 2.0
    assert answer["none"] is None


def test_repeated_sources_and_target_as_source():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = 2.0 * y
    assert list(map(value, tape.gradient([y, z], [x, x, y]))) == [18.0, 18.0, 3.0]


def test_output_gradients():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    assert value(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))) == [2.0, 40.0]
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))


def test_too_few_output_gradients_are_filled_up_with_ones():
    # not a case of parity: TensorFlow reads past the end of its vector, and may end the process
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y, z = x * x, x * 3.0
    found = tape.gradient([y, z], x, output_gradients=[tf.constant([1.0, 10.0])])
    assert value(found) == [5.0, 43.0]


@pytest.mark.parametrize("zero", ["zero", tf.UnconnectedGradients.ZERO])
def test_unconnected(zero):
    x, y = tf.Variable([1.0, 2.0]), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        z = y * y
    assert tape.gradient(z, x) is None
    assert value(tape.gradient(z, x, unconnected_gradients=zero)) == [0.0, 0.0]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.gradient(z, x, unconnected_gradients="nonsense")
    assert value(tape.gradient(z, y)) == 4.0


def test_bad_arguments():
    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with pytest.raises(ValueError, match="Passed in object abc"):
            tape.watch("abc")
    with pytest.raises(TypeError, match="received None"):
        tape.gradient(None, x)
    with pytest.raises(AttributeError, match=r"test_tape\.py"):
        tape.gradient(2.0, x)
    with pytest.raises(AttributeError):
        tape.gradient(y, 2.0)
    assert value(tape.gradient(y, x)) == 2.0


def test_watching_integers_warns(caplog):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1))
    assert "The dtype of the watched tensor must be floating (e.g. tf.float32)" in caplog.text


def test_integers_cut():
    x, i = tf.Variable(2.7), tf.Variable(3)
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(x, tf.int32), tf.float32) * x + tf.cast(i, tf.float32)
    assert [value(g) for g in tape.gradient(y, [x, i])] == [2.0, None]


def test_stop_recording():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * y
        w = y * 2.0
    assert [value(g) for g in tape.gradient([w], [x])] == [12.0]
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            z = x * x
    assert tape.gradient(z, x) is None


def test_stop_recording_does_not_send_work_off(deferred):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * y
        assert y._array is None and z._array is None


def test_reset():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = x * 2.0
    assert [value(g) for g in tape.gradient([y, z], [x])] == [2.0]


def test_watched_variables():
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = c * b * a
    assert [v is w for v, w in zip(tape.watched_variables(), (a, b))] == [True, True]
    tape.gradient(y, a)
    assert len(tape.watched_variables()) == 2
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(b)
        y = a * b
    assert [value(g) for g in tape.gradient(y, [a, b])] == [None, 1.0]


def test_use_inside_its_own_context(caplog):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        g = tape.gradient(y, x)  # pops the tape
        y * y
    assert value(g) == 6.0
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        g = tape.gradient(y, x)
        tape.gradient(y, x)
    assert value(tape.gradient(g, x)) == 18.0
    assert caplog.text.count("significantly less efficient") == 1


def test_reentry():
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
        with pytest.raises(ValueError, match="Tape is still recording, This can happen"):
            with tape:
                pass
        z = y * y
    with tape:
        w = z * 1.0
    assert value(tape.gradient(w, x)) == 108.0


def test_crossing_tapes():
    x = tf.Variable(2.0)
    a, b = tf.GradientTape(), tf.GradientTape()
    a.__enter__()
    y = x * x
    b.__enter__()
    z = x * y
    a.__exit__(None, None, None)
    w = x * z
    b.__exit__(None, None, None)
    assert LOCAL.state.recorders == ()
    assert value(a.gradient(z, x)) == 12.0
    assert value(b.gradient(w, x)) == 16.0  # y is a constant to b: d(x * x * 4)


def test_two_models_trained_in_one_step():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as one, tf.GradientTape() as two:
        shared = a * b
        first, second = shared * 2.0, shared * shared
    da, db = one.gradient(first, a), two.gradient(second, b)
    a.assign_sub(0.1 * da)
    b.assign_sub(0.1 * db)
    assert (round(float(a), 5), round(float(b), 5)) == (1.4, 0.6)


def test_two_models_from_one_tape():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        first, second = a * a, b * a
    assert value(tape.gradient(first, a)) == 4.0
    assert value(tape.gradient(second, b)) == 2.0


def test_third_order_by_nesting():
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x**3
            first = t1.gradient(y, x)
        second = t2.gradient(first, x)
    third = t3.gradient(second, x)
    assert [value(first), value(second), value(third)] == [12.0, 12.0, 6.0]


def test_gradient_of_the_norm_of_a_gradient():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3)
        g = inner.gradient(y, x)
        norm = tf.sqrt(tf.reduce_sum(tf.square(g)))
    h = outer.gradient(norm, x).numpy()
    g = np.array([3.0, 12.0])
    np.testing.assert_allclose(h, g / np.linalg.norm(g) * np.array([6.0, 12.0]), rtol=1e-6)


def test_the_second_derivative_of_something_linear_is_none():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        g = inner.gradient(y, x)
    assert value(g) == 3.0 and outer.gradient(g, x) is None


def test_stop_gradient():
    w1, w2 = tf.Variable(5.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = 3 * w1**2 + tf.stop_gradient(2 * w1 * w2)
    assert [value(g) for g in tape.gradient(z, [w1, w2])] == [30.0, None]


def test_assigned_between_reads():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = v * v
        v.assign(10.0)
        b = v * v
    assert value(tape.gradient(b, v)) == 20.0
    with tf.GradientTape() as tape:
        v.assign(2.0)
        a = v * v
        v.assign_add(8.0)
        y = a + v * v
    assert value(tape.gradient(y, v)) == 24.0


def test_assigning_a_pending_value_does_not_connect():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    for _ in range(2):  # the second time the gradient is remembered
        w.assign(3.0)
        with tf.GradientTape() as tape:
            t = v * v
            w.assign(t)
            y = w * t
        dv, dw = tape.gradient(y, [v, w])
        assert (value(dv), value(dw)) == (16.0, 4.0)


def test_clipped_gradients_are_applied():
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v) / 2.0
    g = tape.gradient(loss, v)
    norm = tf.sqrt(tf.reduce_sum(g * g))
    v.assign_sub(g / norm)
    np.testing.assert_allclose(v.numpy(), [2.4, 3.2], rtol=1e-6)


def test_a_used_tape_drops_what_it_held():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        hidden = tf.exp(x)
        y = tf.sin(hidden)
    seen = weakref.ref(hidden)
    del hidden
    gc.collect()
    assert seen() is not None
    tape.gradient(y, x)
    gc.collect()
    assert seen() is None


def test_same_structure_other_roots():
    """The remembered gradient of one set of watched tensors is not given for another."""
    a, b = tf.constant(2.0), tf.constant(3.0)

    def run(watch):
        with tf.GradientTape() as tape:
            for t in watch:
                tape.watch(t)
            y = a * b
        return [value(g) for g in tape.gradient(y, [a, b])]

    for _ in range(2):
        assert run([a, b]) == [3.0, 2.0]
        assert run([a]) == [3.0, None]
        assert run([b]) == [None, 2.0]
        assert run([]) == [None, None]


def test_five_thousand_ops_in_a_tape():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(5000):
            y = y + 0.001
    assert value(tape.gradient(y, x)) == 1.0


def test_escapes_to_jax_are_noted():
    import jax.numpy as jnp

    x = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        jnp.sin(tf.identity(x))
    assert tape.escapes() and tape.escapes()[0].startswith("test_tape.py:")


class _Scaled:
    def __init__(self):
        self.scale = 3.0

    @tf.custom_gradient
    def of(self, x):
        """Twice x."""
        return x * 2.0, lambda upstream: upstream * self.scale


@tf.custom_gradient
def _twice(x):
    return x * 2.0, lambda upstream: upstream * 5.0


def test_custom_gradients_are_copied_and_pickled_by_name():
    assert pickle.loads(pickle.dumps(_twice)) is _twice is copy.deepcopy(_twice)
    assert _Scaled.of.__doc__ == _Scaled().of.__doc__ == "Twice x."
    assert "_Scaled.of" in repr(_Scaled().of)
    restored = pickle.loads(pickle.dumps(_Scaled().of))
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = restored(x)
    assert tape.gradient(y, x).numpy() == 3.0


def test_a_tape_inside_init_scope_records():
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.init_scope():
            with tf.GradientTape() as tape:
                y = x * x
            g = tape.gradient(y, x)
        z = g * x
    assert (value(g), value(outer.gradient(z, x))) == (6.0, 6.0)
    assert LOCAL.state.recorders == () and not LOCAL.state.deferring


def test_a_tape_left_or_entered_inside_init_scope():
    x = tf.Variable(3.0)
    left, entered = tf.GradientTape(), tf.GradientTape()
    left.__enter__()
    with tf.init_scope():
        left.__exit__(None, None, None)
        entered.__enter__()
    assert LOCAL.state.recorders == (entered,)
    y = x * x
    entered.__exit__(None, None, None)
    assert value(entered.gradient(y, x)) == 6.0
    assert LOCAL.state.recorders == () and not LOCAL.state.deferring


@pytest.mark.parametrize("rows", [None, 1, 2])
@pytest.mark.parametrize("use_pfor", [True, False])
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_jacobians_without_elements(shape, use_pfor, rows):
    """TensorFlow fails for most of these."""
    x = tf.ones(shape)
    options = {"parallel_iterations": rows, "experimental_use_pfor": use_pfor}
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
        z = tf.reduce_sum(x, 1, keepdims=True) * tf.ones([1, 4])
    assert tape.jacobian(y, x, **options).shape == (*shape, *shape)
    assert tape.batch_jacobian(y, x, **options).shape == (*shape, shape[1])
    assert tape.jacobian(z, x, **options).shape == (shape[0], 4, *shape)
    assert tape.batch_jacobian(z, x, **options).shape == (shape[0], 4, shape[1])


def test_an_accumulator_goes_with_its_tangents_at_once():
    x, tangent = tf.constant(2.0), tf.constant(3.0)
    gone = weakref.ref(tangent)
    gc.disable()
    try:
        with tf.autodiff.ForwardAccumulator(x, tangent) as acc:
            y = x * x
        assert value(acc.jvp(y)) == 12.0
        del acc, tangent
        assert gone() is None and value(y) == 4.0
    finally:
        gc.enable()


def test_an_accumulator_holds_no_more_than_what_is_alive():
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(3.0)) as acc:
        y = x
        for _ in range(100):
            y = tf.sin(y)
    assert len(acc.ids) == len(acc._primals) == 2


def test_an_assignment_in_a_recorded_function_is_made_when_it_runs():
    """The function inside recompute_grad runs with symbols: none of them stays in a variable."""
    v, count = tf.Variable(1.0), tf.Variable(0)

    @tf.recompute_grad
    def f(x):
        count.assign(count + 1)
        v.assign_add(1.0)
        y = x * v
        v.assign(v * 2.0)
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 2.0 and float(y) == 4.0
    assert (float(v), int(count)) == (4.0, 1)
    assert (float(f(x)), float(v), int(count)) == (10.0, 10.0, 2)


def test_a_recorded_function_that_fails_leaves_its_variables():
    v = tf.Variable(1.0)

    @tf.recompute_grad
    def f(x):
        v.assign_add(x)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        f(tf.constant(2.0))
    assert float(v) == 1.0

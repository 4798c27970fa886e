"""One trace serves arrays of many sizes, where the function allows it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import dtypes, limits
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.dimensions import Sizes
from tape_compat._src.core.op import Op
from tape_compat._src.core.traces import Traces
from tape_compat._src.run import executor, policy
from tape_compat._src.run.op_by_op import op_runner


def aval(*shape):
    return Aval.of(shape, dtypes.float32)


class Counted:
    """A function that counts how often it is traced."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arrays):
        self.calls += 1
        return self.function(*arrays)


def shapes(trace):
    return [output.shape for output in trace.outputs]


def test_it_is_traced_for_all_sizes_after_a_few():
    function = Counted(jax.nn.softmax)
    traces = Traces(function)
    for n in range(2, 30):
        assert shapes(traces.of([aval(n, 4)])) == [(n, 4)]
    assert function.calls == 2


def test_the_same_shapes_are_traced_once():
    function = Counted(jnp.sin)
    traces = Traces(function)
    for _ in range(9):
        traces.of([aval(3)])
    assert function.calls == 1


def test_a_closure_is_given_to_jax_when_it_is_first_traced(monkeypatch):
    """An import makes 177 of them, and a program many more that are known by their structure."""
    made = []
    jit = jax.jit
    monkeypatch.setattr(jax, "jit", lambda function: made.append(function) or jit(function))
    closure = Op(jnp.sin, "Sin").bind()
    assert not made
    for shape in ((3,), (5,), (3,)):
        assert closure.infer((aval(*shape),))[0] == (aval(*shape),)
        assert made == [closure.inner]


def test_axes_that_go_together_are_one_variable():
    function = Counted(lambda x, y: jnp.concatenate([x, y, x[::2]]))
    traces = Traces(function)
    for n in range(2, 20):
        assert shapes(traces.of([aval(n, 3), aval(2 * n + 1, 3)])) == [(3 * n + 1 + -(-n // 2), 3)]
    before = function.calls
    assert before == 2
    assert shapes(traces.of([aval(7, 3), aval(2, 3)])) == [(13, 3)]
    assert function.calls == before + 1  # it does not fit


def test_axes_that_have_nothing_in_common():
    function = Counted(jnp.matmul)
    traces = Traces(function)
    sizes = [(3, 5), (4, 9), (7, 8), (20, 2), (2, 31), (9, 9), (31, 7)]
    for n, m in sizes:
        assert shapes(traces.of([aval(n, 6), aval(6, m)])) == [(n, m)]
    assert function.calls == limits.SHAPES_BEFORE_VARIABLES + 1


def test_sizes_in_attributes_are_variables():
    traced = []

    def rows(x, *, shape, fill):
        traced.append(shape)
        return jnp.full(shape, fill, x.dtype), jnp.sum(x)

    op = Op(rows, "Rows")
    for n in range(2, 30):
        closure, given = op.bind(shape=(3, n), fill=1.5), (aval(n + 1),)
        assert [a.shape for a in closure.infer(given)[0]] == [(3, n), ()]
        one, total = op_runner(closure, given).now(np.ones(n + 1, np.float32))
        np.testing.assert_array_equal(one, np.full((3, n), 1.5, np.float32))
        assert total == n + 1
    assert len(traced) == limits.SHAPES_BEFORE_VARIABLES + 2  # that of the last one to compare with
    assert op.bind(shape=(3, 1), fill=1.5).infer((aval(2),))[0][0].shape == (3, 1)
    assert op.bind(shape=(3, 2), fill=True).infer((aval(2),))[0][0].shape == (3, 2)
    assert len(traced) == limits.SHAPES_BEFORE_VARIABLES + 4


@pytest.mark.parametrize("how", ["compares", "wants a number"])
def test_numbers_that_cannot_be_variables(how):
    traced = []

    def scaled(x, *, count):
        traced.append(count)
        if how == "compares":
            return x * 2 if count > 7 else x * count
        return x * np.float32(count)

    op = Op(scaled, "Scaled")
    for by in range(2, 25):
        closure = op.bind(count=by)
        wanted = 2 if how == "compares" and by > 7 else by
        (found,) = op_runner(closure, (aval(3),)).now(np.ones(3, np.float32))
        np.testing.assert_array_equal(found, np.full(3, wanted, np.float32))
        assert closure.infer((aval(3),))[0] == (Aval.of_array(np.asarray(found)),)
    tries = sum(type(by) is not int for by in traced)
    assert 0 < tries <= limits.MAX_GENERAL_TRACES


def test_other_numbers_in_attributes_are_not():
    """JAX would take it that an axis which it does not know is none of those that there are."""
    traced = []

    def others(x, *, axis):
        traced.append(axis)
        return x - sum(i for i in range(x.ndim) if i != axis)

    op, x = Op(others, "Others"), np.zeros((1,) * 9, np.float32)
    for axis in range(2, 9):
        (found,) = op_runner(op.bind(axis=axis), (aval(*x.shape),)).now(x)
        assert found.item() == axis - 36
    assert traced == list(range(2, 9))


def test_layers_by_turns():
    """Two uses of one op, each of the sizes of a batch."""
    function = Counted(jnp.matmul)
    traces = Traces(function)
    for n in range(2, 20):
        assert shapes(traces.of([aval(n, 16), aval(16, 32)])) == [(n, 32)]
        assert shapes(traces.of([aval(n, 32), aval(32, 1)])) == [(n, 1)]
    assert function.calls == 4


@pytest.mark.parametrize("size", [0, 1])
def test_nothing_and_one_are_traced_by_themselves(size):
    """An axis of one is broadcast, one of many is not."""
    function = Counted(lambda x, y: x + y)
    traces = Traces(function)
    for n in (3, 4, 5):
        traces.of([aval(n, 2), aval(n, 2)])
    assert function.calls == 2
    assert shapes(traces.of([aval(size, 2), aval(size, 2)])) == [(size, 2)]
    assert function.calls == 3


def test_a_function_that_asks_for_a_size_is_traced_for_each():
    function = Counted(lambda x: x * sum(range(x.shape[0])))
    traces = Traces(function)
    for n in range(2, 40):
        trace = traces.of([aval(n)])
        assert shapes(trace) == [(n,)]
    assert function.calls == 38 + limits.MAX_GENERAL_TRACES


def test_an_error_is_that_of_the_function():
    traces = Traces(jnp.matmul)
    for n in range(2, 9):
        with pytest.raises(TypeError):
            traces.of([aval(n, 2), aval(n + 1, 2)])


def test_sizes():
    a, b = jax.export.symbolic_shape("a, b")
    sizes = Sizes(a=5, b=3)
    assert sizes.shape([a * b + 1, a // 2, a % 3, 4]) == (16, 2, 2, 4)
    assert sizes.of(jax.export.symbolic_shape("a*a + 2*b")[0]) == 31
    assert sizes.of(jax.numpy.ones((3,)).shape[0]) == 3


OPS = {
    "softmax": tf.nn.softmax,
    "mean": tf.reduce_mean,
    "variance": lambda x: tf.math.reduce_variance(x, axis=0),
    "product": lambda x: tf.matmul(x, x, transpose_a=True),
    "outer": lambda x: tf.matmul(x, x, transpose_b=True),
    "concat": lambda x: tf.concat([x, x[:, :1]], 1),
    "stack": lambda x: tf.stack([x, x * 2.0]),
    "slice": lambda x: x[1:] - x[:-1],
    "last": lambda x: x[-1],
    "reverse": lambda x: x[::-1],
    "sort": lambda x: tf.sort(x, axis=0),
    "top_k": lambda x: tf.math.top_k(x, 2)[0],
    "cumsum": lambda x: tf.cumsum(x, axis=0),
    "reshape": lambda x: tf.reshape(x, [-1]),
    "pad": lambda x: tf.pad(x, [[1, 2], [0, 0]]),
    "tile": lambda x: tf.tile(x, [2, 1]),
    "gather": lambda x: tf.gather(x, [0, 1], axis=1),
    "one_hot": lambda x: tf.one_hot(tf.argmax(x, axis=1), 4) * x,
    "where": lambda x: tf.where(x > 0, x, 0.1 * x),
    "norm": lambda x: tf.norm(x, axis=1),
    "split": lambda x: tf.split(x, 2, axis=1)[1],
    "conv": lambda x: tf.nn.conv1d(x[None], tf.ones([3, 4, 2]), 1, "SAME"),
    "pool": lambda x: tf.nn.max_pool1d(x[None], 2, 2, "VALID"),
    "segments": lambda x: tf.math.unsorted_segment_sum(x, tf.argmax(x, axis=1), 4),
}


def values_and_gradients(op, *sizes):
    """Of all sizes in one program."""
    xs = [tf.constant(np.random.default_rng(n).normal(size=(n, 4)), tf.float32) for n in sizes]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        ys = [op(x) for x in xs]
        losses = [tf.reduce_sum(tf.sin(y)) for y in ys]
    gradients = tape.gradient(losses, xs)
    return [(y.numpy(), gradient.numpy()) for y, gradient in zip(ys, gradients, strict=True)]


@pytest.mark.part
@pytest.mark.parametrize("name", OPS)
def test_values_of_many_sizes(name, monkeypatch):
    sizes = (4, 5, 7, 11, 6, 2)
    found = [values_and_gradients(OPS[name], n)[0] for n in sizes]
    monkeypatch.setattr(policy, "INTERPRETS", False)
    executor.forget_histories()  # of ever other sizes, whose ops would be compiled one by one
    wanted = values_and_gradients(OPS[name], *sizes[3:])
    for (value, gradient), expected in zip(found[3:], wanted, strict=True):
        np.testing.assert_allclose(value, expected[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-4, atol=1e-5)

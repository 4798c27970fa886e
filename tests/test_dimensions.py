"""Unknown sizes: what is recorded once for them is what is recorded for each size."""

import pytest

import tape_compat as tf
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.dimensions import Sizes, variable
from tape_compat._src.core.errors import NeedsValue
from tape_compat._src.values.capture import capture, capturing, symbolic_input

D, E = variable(0), variable(1)


def aval(*shape, dtype=tf.float32):
    return Aval.of(shape, dtype)


@pytest.fixture
def recording():
    """A program under way."""
    with capturing() as program:
        yield program


def test_an_unknown_aval():
    x = aval(D, 3)
    assert x is aval(D, 3)
    assert x is not aval(E, 3)
    assert x.unknown
    assert x.at(Sizes(d0=5)) is aval(5, 3)
    assert repr(x) == "float32[d0, 3]"
    assert x.tensor_shape.as_list() == [None, 3]
    assert (x.size, x.nbytes, x.plain) == (3 * D, 0, False)


SHAPES = {
    "sum": (lambda x, y: x + y, [None, 3]),
    "sum with known": (lambda x, y: x + tf.zeros([4, 3]), [4, 3]),
    "sum with one": (lambda x, y: x + tf.zeros([1, 3]), [None, 3]),
    "product": (lambda x, y: tf.matmul(x, y, transpose_b=True), [None, None]),
    "inner product": (lambda x, y: tf.matmul(x, y, transpose_a=True), [3, 3]),
    "concat": (lambda x, y: tf.concat([x, y], 0), [None, 3]),
    "concat beside": (lambda x, y: tf.concat([x, y], 1), [None, 6]),
    "stack": (lambda x, y: tf.stack([x, y]), [2, None, 3]),
    "reshape": (lambda x, y: tf.reshape(x, [-1, 3, 1]), [None, 3, 1]),
    "reshape by sizes": (lambda x, y: tf.reshape(x, [tf.shape(x)[0], -1]), [None, 3]),
    "zeros": (lambda x, y: tf.zeros([tf.shape(x)[0] * 2, 4]), [None, 4]),
    "zeros like": (lambda x, y: tf.zeros(tf.shape(x)), [None, 3]),
    "range": (lambda x, y: tf.range(tf.shape(x)[0]), [None]),
    "eye": (lambda x, y: tf.eye(tf.shape(x)[1], tf.size(y)), [3, None]),
    "tile": (lambda x, y: tf.tile(x, [tf.shape(y)[0], 2]), [None, 6]),
    "normal": (lambda x, y: tf.random.normal(tf.shape(x)), [None, 3]),
    "slice": (lambda x, y: x[1:], [None, 3]),
    "slice from the end": (lambda x, y: x[-1:], [1, 3]),
    "slice to a size": (lambda x, y: x[: tf.shape(x)[0] - 1], [None, 3]),
    "row": (lambda x, y: x[0], [3]),
    "softmax": (lambda x, y: tf.nn.softmax(x), [None, 3]),
    "mean": (lambda x, y: tf.reduce_mean(x, 0), [3]),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes(recording, case):
    function, shape = SHAPES[case]
    x, y = symbolic_input(aval(D, 3)), symbolic_input(aval(E, 3))
    assert function(x, y).shape.as_list() == shape


def test_what_cannot_fit_is_refused(recording):
    x = symbolic_input(aval(D, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[\?,3\]"):
        tf.add(x, tf.zeros([2]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(x, tf.zeros([4, 2]))


def test_sizes_that_were_taken_for_equal_are_checked():
    found = capture(lambda x, y: x @ y, [aval(2, D), aval(E, 3)], lambda r: [r], "f")
    assert found.closure.infer((aval(2, 4), aval(4, 3)))[0] == (aval(2, 3),)
    with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        found.closure.infer((aval(2, 4), aval(5, 3)))


def test_what_depends_on_data_is_not_known(recording):
    x = symbolic_input(aval(D, 3))
    with pytest.raises(NeedsValue, match=r"test_dimensions\.py"):
        tf.zeros([tf.cast(tf.reduce_sum(x), tf.int32)])
    with pytest.raises(TypeError, match="len is not well defined"):
        len(x)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        iter(x)


def test_the_value_of_a_variable_is_not_known(recording):
    v = tf.Variable(3)
    with pytest.raises(NeedsValue):
        tf.zeros([v + 1])
    with pytest.raises(NeedsValue):
        tf.zeros([v])


def test_arithmetic_of_known_sizes_is_done_at_once(recording):
    x = symbolic_input(aval(4, 3))
    n = tf.shape(x)[0] * 2 + 1
    assert int(n) == 9

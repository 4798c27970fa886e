"""Unknown sizes: what is recorded once for them is what is recorded for each size."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.dimensions import Sizes, numbered, parsed, variable
from tape_compat._src.core.dtypes import int32
from tape_compat._src.core.errors import NeedsValue
from tape_compat._src.core.op import Op
from tape_compat._src.core.refuse import not_allowed
from tape_compat._src.values.bounds import not_empty
from tape_compat._src.values.capture import capture, capturing, symbolic_input
from tape_compat._src.values.convert import convert
from tests.ops import ROWS

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


def test_only_what_must_be_is_taken_for_equal(recording):
    x = symbolic_input(Aval.of(tuple(map(variable, (0, 1, 2, 3))), tf.float32))
    y = symbolic_input(Aval.of(tuple(map(variable, (4, 5, 6, 7))), tf.float32))
    a, b, c, d = map(variable, (0, 1, 2, 3))
    e, f, g, h = map(variable, (4, 5, 6, 7))
    scores = tf.einsum("bqhd,bkhd->bhqk", x, y)
    assert scores._aval.shape in ((a, c, b, f), (e, g, b, f))
    assert tf.tensordot(x, y, [[1, 2], [0, 1]])._aval.shape == (a, d, g, h)
    assert tf.matmul(x[0], y[0])._aval.shape[1:] == (c, h)
    assert tf.concat([x, y], 1)._aval.shape[1] == b + f


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


# -- the rows of the op tables ---------------------------------------------------------------------


def tensors_of(result):
    parts = [
        [x.values, x.indices] if isinstance(x, tf.IndexedSlices) else [convert(x)]
        for x in tf.nest.flatten(result)
        if x is not None
    ]
    return [tensor for part in parts for tensor in part]


def gradients_of(function):
    """What `function` gives, then its gradients by all arguments, then theirs along ones."""

    def gradients(*tensors):
        with tf.GradientTape() as outer:
            outer.watch(tensors)
            with tf.GradientTape() as inner:
                inner.watch(tensors)
                values = [y for y in tensors_of(function(*tensors)) if y.dtype.trainable]
            first = tensors_of(inner.gradient(values, list(tensors)))
        second = outer.gradient([y for y in first if y.dtype.trainable], list(tensors))
        return [*values, *first, *tensors_of(second)]

    return gradients


def recorded(function, avals):
    """What is captured of a function, and what it gives."""
    results = []

    def flatten(result):
        results.extend(tensors_of(result))
        return list(results)

    return capture(function, avals, flatten, "row"), results


def check_same(function, tensors, shapes):
    """What is recorded for shapes with unknown sizes is, with those sizes, what is recorded for the
    shapes of `tensors`, or gives the same."""
    known: Any
    known, results = recorded(function, [x._aval for x in tensors])
    named = numbered(shapes)
    avals = [Aval.of(shape, x.dtype) for shape, x in zip(named, tensors, strict=True)]
    general, unknown = recorded(function, avals)
    sizes = Sizes.between(named, [x._aval.shape for x in tensors])
    assert sizes is not None
    assert [x._aval.at(sizes) for x in unknown] == [x._aval for x in results]
    at_sizes: Any = general.closure.at(sizes)
    if at_sizes.steps == known.closure.steps and len(general.sources) == len(known.sources):
        return
    for got, wanted in zip(general.call(tensors, at_sizes), known.call(tensors), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-9)


#: Rows that cannot be recorded so, and why.
NO_SHAPE = "what the row computes with asks for the shape"
CANNOT = {
    ("all", "unstack"): "TensorFlow refuses it as well",
    ("all", "linalg.sqrtm"): NO_SHAPE,
    ("all", "linalg.logdet"): NO_SHAPE,
    ("all", "linalg.cholesky"): NO_SHAPE,
    ("all", "linalg.cholesky_solve"): NO_SHAPE,
}


def cases():
    for row in ROWS:
        if row.sources():
            yield "first", row
            yield "all", row
            if row.differentiable:
                yield "gradients", row


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        pytest.param(kind, row, id=f"{kind}-{row.id}", marks=pytest.mark.part(row.id))
        for kind, row in cases()
    ],
)
def test_row(kind, row):
    tensors = [convert(x) for x in row.sources()]
    shapes = [
        [None if kind == "all" or i == 0 else n for i, n in enumerate(x.shape)] for x in tensors
    ]

    def function(*given):
        return row.call(tf, given)

    reason = CANNOT.get((kind, row.id))
    if reason is None:
        check_same(gradients_of(function) if kind == "gradients" else function, tensors, shapes)
    else:
        with pytest.raises((NeedsValue, ValueError)):
            check_same(function, tensors, shapes)


def test_a_size_that_would_be_another_for_an_empty_batch():
    """JAX takes it that unknown sizes are not 0; such a function is recorded for each size."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def rows(x):
        return tf.zeros([tf.maximum(tf.shape(x)[0], 1), 3])

    assert [rows(tf.ones([n, 2])).shape[0] for n in (3, 0, 1)] == [3, 1, 1]


def test_sizes_of_any_name_are_told_by_examples():
    """Those of `jax.export` are the user's to name."""
    op = Op(lambda x: jnp.zeros(int(x.shape[0]) + 1, x.dtype), "Longer").bind()
    for text in ("batch", "d_x", "2*n"):
        size = parsed(text)
        assert op.infer((aval(size),))[0] == (aval(size + 1),)


def test_what_an_op_refuses_is_refused_once():
    """No examples are asked for where sizes are known, though the host has a form of its own."""
    asked = []

    def check(avals):
        asked.append(avals)
        raise tf.errors.InvalidArgumentError(None, None, "no")

    op = Op(jnp.sin, "Refused", check=check, host=np.sin).bind()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no"):
        op.infer((aval(3),))
    assert len(asked) == 1


def test_a_wrong_dtype_is_wrong_for_any_sizes():
    """No other sizes are tried, though those that are not known could not be told either."""
    asked = []

    def refuses(x):
        asked.append(int(x.shape[0]))
        raise not_allowed(int32, "float", "Refused")

    op = Op(refuses, "Refused").bind()
    with pytest.raises(tf.errors.InvalidArgumentError, match="allowed values: float"):
        op.infer((aval(parsed("n")),))
    assert len(asked) == 1


def test_sizes_are_not_taken_for_others_where_the_op_takes_them_as_they_are():
    """A third of the rows, rounded up, is no simple function of an unknown size. Taken for the 4 of
    the other input it would be 2."""

    def function(x, y):
        return jnp.zeros(-(-int(x.shape[0]) // 3), jnp.float32) + jnp.sum(y)

    thirds = Op(function, "Thirds").bind()
    assert thirds.infer((aval(7), aval(4)))[0] == (aval(3),)
    with pytest.raises(NeedsValue, match=r"Thirds of .* needs sizes that are not known"):
        thirds.infer((aval(D), aval(4)))


def test_nobody_asks_whether_a_size_of_many_nested_divisions_may_be_0():
    """JAX's time to decide doubles with each of them."""
    size = D
    for _ in range(6):
        size = size // 2
    assert not_empty(jax.ShapeDtypeStruct((1,), np.int32), (0,)).shape == (1,)
    with pytest.raises(TypeError, match="pad"):  # it would be padded
        not_empty(jax.ShapeDtypeStruct((size,), np.int32), (0,))
    for _ in range(30):
        size = size // 2
    x = jax.ShapeDtypeStruct((size,), np.int32)
    assert not_empty(x, (0,)) is x

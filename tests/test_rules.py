"""Every row of `tables.py` through every check: values, derivatives, special points."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tape_compat as tf
from tape_compat import math, nn
from tape_compat._src.ops import clipping as clip_ops
from tests.tables import ROWS, WITHOUT_ROW, Row

GOLDENS = Path(__file__).parent / "goldens" / "special.json"

rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)


# -- calling a row ---------------------------------------------------------------------------------


def leaves(value):
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def rebuilt(value, new):
    """`value` with its leaves taken from the iterator `new`."""
    if isinstance(value, list | tuple):
        return type(value)(rebuilt(item, new) for item in value)
    return next(new)


def is_source(x):
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"


def sources_of(row):
    return [x for x in leaves(list(row.args)) if is_source(x)]


def call(row, sources):
    """The op on tensors of `sources` in the place of the differentiable arguments."""
    given = iter(sources)
    flat = [next(given) if is_source(x) else x for x in leaves(list(row.args))]
    return row.op(*rebuilt(list(row.args), iter(flat)), **row.options)


def weights(shape, number):
    """Fixed unequal numbers, so that no two outputs are summed alike."""
    return np.cos(np.arange(int(np.prod(shape)), dtype=np.float64) + number).reshape(shape) + 0.2


def weighted(outputs):
    """A scalar tensor of all floating outputs."""
    outputs = [y for y in leaves(outputs) if y.dtype.is_floating or y.dtype.is_complex]
    total = tf.constant(0.0, tf.float64)
    for i, y in enumerate(outputs):
        factor = tf.constant(weights(tuple(y.shape), i))
        total += tf.reduce_sum(tf.math.real(y) * factor)
        if y.dtype.is_complex:
            total += tf.reduce_sum(tf.math.imag(y) * factor)
    return total


def tensors(arrays):
    return [tf.constant(x) for x in arrays]


def gradients_at(row, arrays):
    """Gradients of the weighted outputs, as tensors; None where there is none."""
    inputs = tensors(arrays)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = weighted(call(row, inputs))
    return tape.gradient(loss, inputs)


def central(function, arrays, step=1e-5):
    """Central differences of a scalar function by each element of each array."""
    slopes = []
    for i, array in enumerate(arrays):
        array = np.asarray(array)
        slope = np.zeros(array.shape)
        for at in np.ndindex(*array.shape):
            sides = []
            for sign in (1, -1):
                moved = array.copy()
                moved[at] += sign * step
                sides.append(function([*arrays[:i], moved, *arrays[i + 1 :]]))
            slope[at] = (sides[0] - sides[1]) / (2 * step)
        slopes.append(slope)
    return slopes


# -- checks ----------------------------------------------------------------------------------------


@rows
def test_value(row: Row):
    got = leaves(row.op(*row.args, **row.options))
    expected = leaves(row.reference(*row.args, **row.options))
    assert len(got) == len(expected)
    for y, reference in zip(got, expected, strict=True):
        assert tuple(y.shape) == np.shape(reference)
        rtol = 1e-6 if y.dtype == tf.float32 else 1e-9
        np.testing.assert_allclose(y.numpy(), reference, rtol=rtol, atol=1e-12)


DIFFERENTIABLE = [row for row in ROWS if row.gradient and row.orders and sources_of(row)]


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.id)
def test_gradient_is_the_slope(row: Row):
    arrays = sources_of(row)

    def value(arrays):
        return float(weighted(call(row, tensors(arrays))))

    for got, slope in zip(gradients_at(row, arrays), central(value, arrays), strict=True):
        np.testing.assert_allclose(got.numpy(), slope, rtol=1e-5, atol=1e-7)


SECOND = [row for row in DIFFERENTIABLE if row.orders > 1]


@pytest.mark.parametrize("row", SECOND, ids=lambda row: row.id)
def test_second_derivative_is_the_slope_of_the_gradient(row: Row):
    arrays = sources_of(row)

    def slope_sum(arrays):
        gradients = gradients_at(row, arrays)
        return float(weighted([g for g in gradients if g is not None]))

    inputs = tensors(arrays)
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = weighted(call(row, inputs))
        total = weighted([g for g in tape.gradient(loss, inputs) if g is not None])
    second = outer.gradient(total, inputs, unconnected_gradients="zero")
    for got, slope in zip(second, central(slope_sum, arrays), strict=True):
        np.testing.assert_allclose(got.numpy(), slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.id)
def test_forward_and_reverse_agree(row: Row):
    """<w, J u> by forward mode equals <J' w, u> by reverse mode."""
    arrays = sources_of(row)
    inputs = tensors(arrays)
    directions = tensors([weights(np.shape(x), 10 + i) for i, x in enumerate(arrays)])
    with tf.autodiff.ForwardAccumulator(inputs, directions) as accumulator:
        loss = weighted(call(row, inputs))
    forward = float(accumulator.jvp(loss))
    backward = sum(
        float(tf.reduce_sum(g * u))
        for g, u in zip(gradients_at(row, arrays), directions, strict=True)
    )
    np.testing.assert_allclose(forward, backward, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "row", [r for r in ROWS if not r.gradient and sources_of(r)], ids=lambda row: row.id
)
def test_no_gradient(row: Row):
    inputs = tensors(sources_of(row))
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = [tf.cast(y, tf.float64) for y in leaves(call(row, inputs))]
        loss = weighted(outputs)
    assert all(g is None for g in tape.gradient(loss, inputs))


# -- special points --------------------------------------------------------------------------------


@cache
def goldens():
    return json.loads(GOLDENS.read_text())["rows"]


def expected(numbers):
    return np.array([float(x) for x in numbers])


SPECIAL = [row for row in ROWS if row.special]


@pytest.mark.parametrize("row", SPECIAL, ids=lambda row: row.id)
def test_special_points(row: Row):
    golden = goldens()[row.id]
    inputs = tensors(row.points())
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = row.op(*inputs, **row.options)
    found = tape.gradient(value, inputs)
    np.testing.assert_allclose(value.numpy(), expected(golden["value"]), rtol=1e-9, atol=1e-12)
    for got, wanted in zip(found, golden["gradients"], strict=True):
        if wanted is None:
            assert got is None
        else:
            np.testing.assert_allclose(got.numpy(), expected(wanted), rtol=1e-9, atol=1e-12)


# -- the table itself ------------------------------------------------------------------------------


def public(module):
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and callable(value)
        and not isinstance(value, type)
        and (module is not clip_ops or value.__module__ == module.__name__)
    }


@pytest.mark.parametrize("module", [math, nn, clip_ops], ids=lambda m: m.__name__)
def test_every_op_has_a_row(module):
    tested = {id(row.op) for row in ROWS}
    missing = [
        name
        for name, op in public(module).items()
        if id(op) not in tested and name not in WITHOUT_ROW
    ]
    assert not missing, f"add a row to tests/tables.py, or a reason to WITHOUT_ROW: {missing}"


def test_goldens_and_rows_match():
    assert set(goldens()) == {row.id for row in SPECIAL}, "run python -m tests.goldens.make"


def test_a_wrong_rule_is_found():
    """A derivative wrong by 0.1 % does not pass."""
    import jax.numpy as jnp

    from tape_compat._src.ops.declare import unary
    from tape_compat._src.ops.rules import rule

    wrong = unary(rule(jnp.sin, lambda dx, y, x: 1.001 * dx * jnp.cos(x)), "", kernel="Sin")
    row = Row(wrong, [np.array([0.3, 0.4])], np.sin)
    with pytest.raises(AssertionError):
        test_gradient_is_the_slope(row)

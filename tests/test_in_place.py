"""Elements of large variables that are changed in place while a program is interpreted."""

import sys

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.run import policy
from tests.test_interrupts import Injector, Interrupted

pytestmark = pytest.mark.interpreted

ROWS, COLUMNS = 4200, 64
IDS = np.array([3, 1, 3], np.int32)
START = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) / 1000


@pytest.fixture(autouse=True)
def large(monkeypatch):
    monkeypatch.setattr(policy, "IN_PLACE_BYTES", START.nbytes)


class Table:
    """Rows of a variable, pulled to 1."""

    def __init__(self):
        self.rows = tf.Variable(START)
        self.ids = tf.constant(IDS)

    def step(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(self.rows, self.ids) - 1.0))
        gradient = tape.gradient(loss, self.rows)
        self.rows.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
        return loss.numpy()

    @property
    def array(self):
        return self.rows._handle.tensor._array


def after(rows):
    rows = rows.copy()
    np.subtract.at(rows, IDS, 0.2 * (rows[IDS] - 1))
    return rows


def test_a_step_copies_nothing():
    table, expected, start = Table(), START, START.copy()
    held = []
    for _ in range(4):
        table.step()
        expected = after(expected)
        held.append(table.array.ctypes.data)
    np.testing.assert_allclose(table.rows.numpy(), expected, rtol=1e-5)
    assert len(set(held)) == 1
    np.testing.assert_array_equal(START, start)  # which the variable copied


def test_what_the_user_holds_stays():
    table = Table()
    table.step()
    old, expected = table.rows.read_value(), table.rows.numpy()
    table.step()
    np.testing.assert_array_equal(old, expected)
    np.testing.assert_allclose(table.rows.numpy(), after(expected), rtol=1e-5)


def test_what_was_read_before_stays():
    table = Table()
    table.step()
    before = table.rows.numpy()
    with tf.GradientTape():
        tf.identity(table.ids)
    first = tf.reshape(table.rows, [-1])
    part, moved = table.rows[:2], tf.transpose(table.rows)
    table.rows.scatter_add(tf.IndexedSlices(tf.ones([3, COLUMNS]), table.ids))
    np.testing.assert_array_equal(first, before.reshape(-1))
    np.testing.assert_array_equal(part, before[:2])
    np.testing.assert_array_equal(moved, before.T)
    np.add.at(before, IDS, 1.0)
    np.testing.assert_array_equal(table.rows, before)


@pytest.mark.parametrize("method", ["scatter_update", "scatter_add", "scatter_max", "scatter_mul"])
def test_rows_of_itself(method):
    """The updates lie in the memory that is changed."""
    rows = tf.Variable(START)
    with tf.GradientTape() as tape:
        getattr(rows, method)(tf.IndexedSlices(rows[1:4], [2, 3, 4]))
        loss = tf.reduce_sum(rows)
    del tape
    loss = loss.numpy()
    expected, updates = START.copy(), START[1:4]
    if method == "scatter_update":
        expected[2:5] = updates
    else:
        names = {"scatter_add": np.add, "scatter_max": np.maximum, "scatter_mul": np.multiply}
        expected[2:5] = names[method](expected[2:5], updates)
    np.testing.assert_array_equal(rows.numpy(), expected)
    np.testing.assert_allclose(loss, expected.sum(), rtol=1e-4)


def test_two_changes_of_one_and_two_variables():
    one, two = tf.Variable(START), tf.Variable(START)
    ids, ones = tf.constant(IDS), tf.ones([3, COLUMNS])
    expected = START.copy()
    np.add.at(expected, IDS, 1.0)
    for _ in range(2):
        with tf.GradientTape():
            one.scatter_add(tf.IndexedSlices(ones, ids))
            two.scatter_add(tf.IndexedSlices(ones, ids))
            two.scatter_sub(tf.IndexedSlices(ones, ids))
        np.testing.assert_allclose(one.numpy(), expected, rtol=1e-5)
        np.testing.assert_allclose(two.numpy(), START, rtol=1e-5, atol=1e-5)
        one.assign(START)


def test_variables_of_one_value():
    one = tf.Variable(START)
    two = tf.Variable(one)
    one.assign(two)
    table = Table()
    table.rows.assign(one)
    table.step()
    np.testing.assert_array_equal(one, START)
    np.testing.assert_array_equal(two, START)
    np.testing.assert_allclose(table.rows, after(START), rtol=1e-5)


def test_interrupted_at_each_line():
    def counted(at, table):
        injector = Injector(at)
        sys.settrace(injector)
        try:
            table.step()
        except Interrupted:
            pass
        finally:
            sys.settrace(None)
        return injector

    table = Table()
    table.step()
    lines = 10**9 - counted(10**9, table).left
    assert lines > 100
    for at in range(1, lines + 1, max(1, lines // 150)):
        table = Table()
        table.step()
        before = table.rows.numpy()
        counted(at, table)
        value = table.rows.numpy()
        close = [np.allclose(value, rows, rtol=1e-5) for rows in (before, after(before))]
        assert any(close), at
        table.step()
        np.testing.assert_allclose(table.rows, after(value), rtol=1e-5, err_msg=str(at))


def test_it_goes_over_to_the_compiled_program(monkeypatch):
    table = Table()
    table.step()
    monkeypatch.setattr(policy, "INTERPRETS", False)
    expected = after(START)
    for _ in range(3):
        table.step()
        expected = after(expected)
    np.testing.assert_allclose(table.rows, expected, rtol=1e-5)

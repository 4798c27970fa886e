"""Functions that change variables, saved by TensorFlow and loaded here: the same values."""

import pytest

import tape_compat
from tests.oracle import tensorflow
from tests.parity import store, update_calls
from tests.parity.test_saved_models import assert_near, numbers

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)


def module(tf):
    """A module with a function that calls all ops which change variables by their handles, and one
    that assigns to slices."""
    made = tf.Module()
    made.cells, calls = [], []
    for vectors, shape in ((True, [2]), (False, [3, 2])):
        for name, cells, given in update_calls.calls(vectors):
            variables = [tf.Variable(tf.ones(shape)) for _ in cells]
            made.cells += variables
            given = {**given, **update_calls.ATTRIBUTES.get(name, {})}
            calls.append((getattr(tf.raw_ops, name), dict(zip(cells, variables)), given))
    made.table = tf.Variable(tf.zeros([3, 2]))
    spec = [tf.TensorSpec([])]

    def update(x):
        for op, variables, given in calls:
            op(**{name: v.handle for name, v in variables.items()}, **given)
        return x * 2.0

    def slices(x):
        made.table[0].assign([x, 2.0])
        made.table[1:, 1].assign(tf.fill([2], x))
        made.table[::2, 0].assign(tf.fill([2], x * 3.0))
        return tf.reduce_sum(made.table)

    made.update = tf.function(update, input_signature=spec, autograph=False)
    made.slices = tf.function(slices, input_signature=spec, autograph=False)
    return made


def use(tf, made):
    given = [f(tf.constant(x)) for x in (1.0, 2.0) for f in (made.update, made.slices)]
    return numbers([*given, *made.cells, made.table])


def test_ops_that_change_variables(tmp_path):
    made = module(tensorflow())
    tensorflow().saved_model.save(made, str(tmp_path))
    loaded = tape_compat.saved_model.load(str(tmp_path))
    assert_near(use(tape_compat, loaded), use(tensorflow(), made))

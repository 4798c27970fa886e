"""`convert_variables_to_constants_v2`: functions whose variables are constants."""

import importlib

import numpy as np
import pytest

import tape_compat
from tape_compat._src.standin import freezing
from tests.oracle import tensorflow


def theirs():
    tensorflow()
    return importlib.import_module("tensorflow.python.framework.convert_to_constants")


def described(tf, module):
    v, w = tf.Variable([[2.0, 1.0], [1.0, 1.0]]), tf.Variable(3.0)
    inner, kept = tf.function(lambda x: x * w), tf.constant([5.0, 6.0])

    def loop(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, x))[1]

    programs = {
        "plain": lambda x: tf.nn.relu(x @ v) * w + kept,
        "nested": lambda x: {"b": x @ v, "a": (x, w * 2.0)},
        "inner": lambda x: inner(x) + 1.0,
        "loop": loop,
        "branch": lambda x: tf.cond(w > 0.0, lambda: x * w, lambda: x),
        "sizes": lambda x: tf.reshape(x @ v, [tf.shape(x)[0], -1, 1]),
    }
    options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    found = {}
    for name, program in programs.items():
        spec = tf.TensorSpec([None if name == "sizes" else 1, 2], name="x")
        made = tf.function(program, autograph=False).get_concrete_function(spec)
        frozen, nodes = module.convert_variables_to_constants_v2_as_graph(made)
        v.assign(v * 2.0)
        w.assign(w + 1.0)
        x = tf.constant([[1.0, 2.0]])
        found[name] = [
            [y.numpy().tolist() for y in frozen(x)],
            [y.numpy().tolist() for y in frozen(x=x)],
            [(y.name, y.shape.as_list(), y.dtype.name) for y in frozen.inputs],
            [y.dtype.name for y in frozen.outputs],
            [len(frozen.outputs), len(frozen.variables)],
            {node.op for node in nodes.node} & {"MatMul", "ReadVariableOp"},
        ]
        if name in ("plain", "nested", "inner"):
            graph = frozen.graph
            given = {"options": {**options, "output": "none"}}
            found[name].append(tf.compat.v1.profiler.profile(graph, **given).total_float_ops)
    return found


@pytest.mark.modeless
def test_functions_with_constants():
    expected = described(tensorflow(), theirs())
    assert described(tape_compat, freezing) == expected


def test_what_cannot_be_frozen():
    tf, convert = tape_compat, freezing.convert_variables_to_constants_v2
    v = tf.Variable(1.0)
    spec = tf.TensorSpec([])
    assigns = tf.function(lambda x: v.assign_add(x)).get_concrete_function(spec)
    with pytest.raises(ValueError, match="assigns to variables"):
        convert(assigns)
    with pytest.raises(NotImplementedError, match="no graph of its own"):
        convert(lambda x: x)
    texts = tf.function(lambda x: tf.strings.length(tf.strings.as_string(x) + "a"))
    with pytest.raises(NotImplementedError, match="several programs"):
        convert(texts.get_concrete_function(spec))


def test_variables_that_are_donated_later():
    """The constants are copies: the variable's memory is written to by the next steps."""
    tf = tape_compat
    v = tf.Variable(np.ones(1000, np.float32))
    made = tf.function(lambda x: x * v).get_concrete_function(tf.TensorSpec([1000]))
    frozen = freezing.convert_variables_to_constants_v2(made)
    step = tf.function(lambda: v.assign_add(v))
    for _ in range(3):
        step()
    assert frozen(tf.ones(1000))[0].numpy().tolist() == [1.0] * 1000

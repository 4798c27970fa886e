"""Each row of `tests/ops`: its float operations are TensorFlow's, or are said not to be counted."""

import contextlib
import importlib
import io

import numpy as np
import pytest

import tape_compat
from tape_compat._src.core import op
from tape_compat._src.library.version1.float_operations import KERNELS, SEVERAL, place_of
from tests.ops import TABLES
from tests.oracle import tensorflow

#: What ours records of these are counted kernels, where TensorFlow has other ones.
OTHERS = (
    "dynamic_partition",
    "linalg.eigh_tridiagonal",
    "linalg.eigh_tridiagonal-range",
    "linalg.eigh_tridiagonal-vectors",
)


def total(tf, row):
    sources = [tf.constant(np.asarray(x)) for x in row.sources()]
    f = tf.function(lambda *given: row.call(tf, list(given)), autograph=False)
    profiler = tf.compat.v1.profiler
    builder = profiler.ProfileOptionBuilder(profiler.ProfileOptionBuilder.float_operation())
    options = builder.with_empty_output().build()
    graph = f.get_concrete_function(*sources).graph
    with contextlib.redirect_stderr(io.StringIO()):
        return profiler.profile(graph, options=options).total_float_ops


@pytest.mark.modeless
@pytest.mark.parametrize("table", [name for name in TABLES if hasattr(TABLES[name], "ROWS")])
def test_float_operations_of_rows(table):
    tf, counted = tensorflow(), []
    for row in TABLES[table].ROWS:
        if row.id in OTHERS:
            continue
        try:
            ours = total(tape_compat, row)
            theirs = total(tf, row)
        except NotImplementedError as error:
            assert "float operations" in str(error), row.id
        except TypeError:  # TensorFlow does not record it
            assert (row.reference != "tf" and row.differs) or "approx" in row.id, row.id
        else:
            counted.append((row.id, ours, theirs))
    assert [each for each in counted if each[1] != each[2]] == []


def test_ops_with_rules_are_there():
    importlib.import_module("tape_compat._src.ops.images.measures")
    places = {place_of(each) for each in list(op._OPS)}
    assert set(SEVERAL) - places == set()
    assert set(KERNELS) - {place.split()[0] for place in places} == set()


def test_what_is_shown_and_what_is_refused(tmp_path, capsys):
    f = tape_compat.function(lambda x: tape_compat.nn.softmax(tape_compat.matmul(x, x)))
    graph = f.get_concrete_function(tape_compat.TensorSpec([20, 20])).graph
    profiler = tape_compat.compat.v1.profiler
    options = profiler.ProfileOptionBuilder.float_operation()
    profiler.profile(graph, options=options)
    shown = capsys.readouterr().out
    assert "  MatMul (16.00k/16.00k flops)\n  Softmax (2.00k/2.00k flops)\n" in shown
    file = tmp_path / "report"
    profiler.profile(graph, options={**options, "output": f"file:outfile={file}"})
    assert file.read_text() == shown
    refused = [
        {},
        {"cmd": "graph"},
        {"op_log": 1},
        {"options": {**options, "select": ["micros"]}},
        {"options": {**options, "min_bytes": 1}},
        {"options": {**options, "trim_name_regexes": ["a"]}},
        {"options": {**options, "order_by": "micros"}},
        {"options": {**options, "output": "timeline:outfile=a"}},
    ]
    for given in refused:
        with pytest.raises(NotImplementedError, match=r"profiler\.profile: "):
            profiler.profile(graph, **{"options": 0, **given})
    with pytest.raises(NotImplementedError, match="no graph of a function"):
        profiler.profile(tape_compat.Graph(), options=options)
    for make in ("trainable_variables_parameter", "time_and_memory"):
        with pytest.raises(NotImplementedError, match=make):
            getattr(profiler.ProfileOptionBuilder, make)()


@tape_compat.custom_gradient
def _doubled(x):
    return x * 2.0, lambda slope: slope


def test_what_is_no_kernel_of_tensorflow_is_not_counted():
    tf = tape_compat
    programs = [
        lambda x: tf.gradients(x * x, x),
        _doubled,
        tf.as_op(lambda x: x * x),
        lambda x: tf.vectorized_map(lambda y: y * 2.0, x),
        tf.recompute_grad(lambda x: x * 2.0),
    ]
    profiler = tf.compat.v1.profiler
    options = profiler.ProfileOptionBuilder.float_operation()
    for program in programs:
        f = tf.function(lambda x, program=program: program(x), autograph=False)
        graph = f.get_concrete_function(tf.TensorSpec([3])).graph
        with pytest.raises(NotImplementedError, match="the float operations of"):
            profiler.profile(graph, options=options)

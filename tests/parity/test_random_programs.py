"""Some random programs of `tests/random_programs`, and what finds and shortens those that differ.

`python -m tests.random_programs --seeds 0:200` runs more of them.
"""

import copy
from pathlib import Path

import numpy as np
import pytest

from tests.oracle import tensorflow
from tests.parity import store
from tests.parity.harness import Array, Raised
from tests.random_programs import compare, run
from tests.random_programs.generate import chains_of, program_of
from tests.random_programs.program import Program, Statement
from tests.random_programs.shrink import shrunk

FOLDER = Path(run.__file__).parent
SOURCES = [f"random_programs/{path.name}" for path in sorted(FOLDER.glob("*.py"))]


def made(seed):
    """The program of a seed, and what TensorFlow gives for it, as it is and in a function."""
    program, tf = program_of(seed, tensorflow(), statements=5), tensorflow()
    modes = ["plain", *(["function"] if not program.eager else [])]
    return program, {mode: run.outcome(program, tf, mode) for mode in modes}


@pytest.mark.skipif(not store.installed(), reason="tensorflow is not installed (extra `parity`)")
@pytest.mark.parametrize("seed", range(4))
def test_random_program(seed):
    program, expected = store.kept("random_programs", SOURCES, str(seed), lambda: made(seed))
    for mode in ("plain", "immediate", *(["function"] if not program.eager else [])):
        wanted = expected["function" if mode == "function" else "plain"]
        lines = compare.differences(wanted, run.ours(program, mode), program.dtype, mode)
        assert not lines, "\n".join([mode, *lines, program.standalone()])


@pytest.mark.skipif(not store.installed(), reason="tensorflow is not installed (extra `parity`)")
@pytest.mark.parametrize("subject", ["ragged"])
def test_chain_of_a_subject(subject):
    def made():
        program = chains_of(1, tensorflow(), subject)
        return program, run.outcome(program, tensorflow(), "plain")

    program, expected = store.kept("random_chains", SOURCES, subject, made)
    assert program.body and not isinstance(expected[-1], Raised)
    lines = compare.differences(expected, run.ours(program, "plain"), program.dtype, "plain")
    assert not lines, "\n".join([*lines, program.standalone()])


def array(values, dtype="float32"):
    values = np.asarray(values, dtype)
    return Array("Tensor", dtype, values.shape, values)


SLICES = {
    "type": "IndexedSlices",
    "values": array([1.0, 2.0]),
    "indices": array([1, 1], "int32"),
    "dense_shape": array([3], "int32"),
}


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (array([1.0, 2.0]), array([1.0, 2.0001]), True),
        (array([1.0, 2.0]), array([1.0, 2.1]), False),
        (array([1.0, 2.0]), array([1.0, np.nan]), False),
        (array([np.inf, np.nan]), array([np.inf, np.nan]), True),
        (array([0.0]), None, False),
        (array([1.0]), array([1.0], "float64"), False),
        (array([[1.0]]), array([1.0]), False),
        (array([1], "int32"), array([2], "int32"), False),
        (Raised("ValueError", "no"), Raised("InvalidArgumentError", "never"), True),
        (Raised("ValueError", "no"), Raised("TypeError", "no"), False),
        ("raised TypeError", "raised ValueError", False),
        (1.0, 1.0001, True),
        (1.0, 1.1, False),
        (1.0, 1, False),
        (SLICES, array([0.0, 3.0, 0.0]), True),
        (SLICES, array([0.0, 2.0, 0.0]), False),
    ],
)
def test_what_differs(expected, actual, same):
    lines = compare.differences([{"x": expected}], [{"x": actual}], "float32", "plain")
    assert (not lines) == same


def test_statements_are_dropped():
    """What is left is what differs, and of blocks around it only those that it needs."""
    block = Statement(
        "with tape:", [Statement("a = 1"), Statement("b = wrong + a", uses=("wrong",))]
    )
    program = Program(
        [Statement("x = 1"), Statement("y = 2")], [Statement("c = 3"), block], calls=3
    )
    before = copy.deepcopy(program)
    short = shrunk(program, lambda p: "wrong" in p.source())
    assert program == before
    assert short == Program([], [Statement("b = wrong")], calls=1)


def test_a_program_is_a_file():
    program = Program([], [Statement('out["x"] = tf.constant(1.0)')])
    compile(program.standalone(), "program.py", "exec")
    assert "import tensorflow as tf" in program.standalone()

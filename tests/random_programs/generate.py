"""The program of a seed."""

import contextlib
from typing import Any

from .chains import ChainWriter
from .program import Program
from .steps import StepWriter
from .subjects import SUBJECTS
from .write import Rejected


def program_of(seed: int, tf: Any, statements: int = 12) -> Program:
    """What TensorFlow has for the statements says what comes next: `tf` is its module. Of the
    outermost statements there are so many at most, and their outputs."""
    writer = StepWriter(tf, seed)
    for _ in range(writer.rng.randint(2, 5)):
        writer.constant()
    for _ in range(writer.rng.randint(1, 3)):
        writer.variable()
    if writer.maybe(0.3):
        _one(writer, writer.function)
    writer.block = writer.program.body
    kinds = [
        (writer.operation, 34),
        (writer.tape, 26),
        (writer.function, 14),
        (writer.assignment, 6),
        (writer.constant, 5),
        (writer.accumulator, 5),
        (writer.custom_gradient, 4),
        (writer.call, 5),
        (writer.conditional, 2),
        (writer.loop, 2),
        (writer.nested_call, 4),
    ]
    if writer.maybe(0.25):
        kinds.append((writer.controlled, 30))
    if writer.maybe(0.25):
        kinds += [(writer.ordered, 15), (writer.happening, 15), (writer.rows, 8)]
    if writer.maybe(0.2):
        kinds += [(writer.observation, 5), (writer.dataset, 10), (writer.saved_function, 3)]
    for _ in range(writer.rng.randint(2, statements)):
        _one(writer, writer.rng.choices(*zip(*kinds, strict=True))[0])
    if writer.maybe(0.1):
        _one(writer, writer.training)
    return writer.program


def chains_of(seed: int, tf: Any, subject: str) -> Program:
    """The program of a seed that is about one subject, of those of `subjects.py`."""
    writer = ChainWriter(tf, seed)
    writer.program.dtype = "bfloat16" if SUBJECTS[subject].wild else "float32"
    writer.block = writer.program.body
    for _ in range(writer.rng.randint(1, 3)):
        _one(writer, lambda: writer.chain(subject))
    return writer.program


def _one(writer: StepWriter, write: Any) -> None:
    """A statement more; what it has written before it was rejected is taken back."""
    block, length = writer.block, len(writer.block)
    before = dict(writer.values), dict(writer.scope)
    try:
        write()
    except Rejected:
        del block[length:]
        with contextlib.suppress(Rejected):
            writer.values, writer.scope = before

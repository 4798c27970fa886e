"""TensorFlow as the oracle: imported in one place, with the same kernels on every processor."""

import ast
import contextvars
import importlib
import os
import warnings
from bisect import bisect_left
from functools import cache
from typing import Any

#: oneDNN's kernels, which TensorFlow takes on processors with newer vector instructions, raise
#: other errors (`_MklMatMul`, AbortedError) than its own.
SETTINGS = {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}


@cache
def tensorflow() -> Any:
    """The module, imported with `SETTINGS`, which it reads when it is first imported."""
    os.environ.update(SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = importlib.import_module("tensorflow")
        parser = importlib.import_module("tensorflow.python.autograph.pyct.parser")
    _parse_lambdas_alone(parser)
    return found


def _parse_lambdas_alone(parser: Any) -> None:
    """AutoGraph parses the whole file for each lambda that it converts, which takes a tenth of the
    time of all cases. It finds the same in a text in which all but the statement at the top level
    that holds the lambda is blank."""
    line = contextvars.ContextVar("line", default=0)
    parse, parse_lambda = parser.parse, parser._parse_lambda

    def parse_near(source: str, preamble_len: int = 0, single_node: bool = True) -> Any:
        text = _statement(source, line.get()) if line.get() else source
        return parse(text, preamble_len, single_node)

    def parse_one(function: Any) -> Any:
        before = line.set(function.__code__.co_firstlineno)
        try:
            return parse_lambda(function)
        finally:
            line.reset(before)

    parser.parse, parser._parse_lambda = parse_near, parse_one


def _statement(source: str, line: int) -> str:
    """The source with nothing but the statement at the top level that a line belongs to."""
    lines, ends = _ends(source)
    place = bisect_left(ends, line)
    first, last = ends[place - 1] if place else 0, ends[place] if place < len(ends) else len(lines)
    return "\n" * first + "\n".join(lines[first:last]) + "\n"


@cache
def _ends(source: str) -> tuple[list[str], list[int]]:
    """The lines of a source, and which of them end statements at the top level."""
    ends = {node.end_lineno or 0 for node in ast.parse(source).body}
    return source.split("\n"), sorted(ends)

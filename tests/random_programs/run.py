"""Runs a program on a module in a mode, as what it gave in plain Python."""

import contextlib
import faulthandler
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import tape_compat
from tape_compat._src.core import state
from tape_compat._src.run import executor, policy
from tape_compat._src.values.context import set_immediate
from tape_compat._src.values.record import flush
from tests.parity.harness import describe, raised

from .program import HELPERS, Program, compiled

#: As it is; with nothing interpreted; each op at its call; recorded by a function; that compiled.
MODES = ("plain", "compiled", "immediate", "function", "function-compiled")
SECONDS = 120


class Hangs(Exception):
    """A program has not ended in time."""


def outcome(program: Program, tf: Any, mode: str) -> list[Any]:
    """What each call of the program gives on the module `tf`: names to descriptions, and the values
    of its variables after it. An exception ends the list."""
    tf.random.set_seed(None)
    found: list[Any] = []
    scope = {"tf": tf} | {f.__name__: f for f in HELPERS}
    with warnings.catch_warnings(), _ends_in_time():
        warnings.simplefilter("ignore")
        try:
            exec(compiled(program.source()), scope)
            call: Any = scope["program"]
            if mode.startswith("function"):
                call = tf.function(call)
            for _ in range(program.calls):
                found.append({k: describe_all(tf, v) for k, v in call().items()})
                found.append(_variables(tf, scope))
        except Exception as error:
            found.append(raised(error))
    return found


def ours(program: Program, mode: str) -> list[Any]:
    """The outcome on tape_compat, which is as it was before."""
    before, interprets = state.immediate(), policy.INTERPRETS
    flush()
    executor.forget_histories()
    set_immediate(mode == "immediate")
    policy.INTERPRETS = interprets and not mode.endswith("compiled")
    try:
        return outcome(program, tape_compat, mode)
    finally:
        policy.INTERPRETS = interprets
        set_immediate(before)


def describe_all(tf: Any, value: Any) -> Any:
    """`describe`, of ragged and sparse tensors too, in lists as well."""
    if isinstance(value, tf.RaggedTensor):
        splits = [describe(tf, s) for s in value.nested_row_splits]
        return {"type": "RaggedTensor", "values": describe(tf, value.flat_values), "splits": splits}
    if isinstance(value, tf.SparseTensor):
        parts = ("indices", "values", "dense_shape")
        return {"type": "SparseTensor", **{p: describe(tf, getattr(value, p)) for p in parts}}
    if isinstance(value, list | tuple):
        items = {place: describe_all(tf, item) for place, item in enumerate(value)}
        return {"type": type(value).__name__, **items}
    return describe(tf, value)


def _variables(tf: Any, scope: dict[str, Any]) -> dict[str, Any]:
    return {k: describe(tf, v) for k, v in scope.items() if isinstance(v, tf.Variable)}


@contextlib.contextmanager
def _ends_in_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        faulthandler.dump_traceback()
        raise Hangs(f"has not ended after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

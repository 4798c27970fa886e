"""`if`, ternaries, `and`, `or`, `not`, `==` and `assert`, on Python values and on tensors.

Source: TF autograph/operators: control_flow.py, logical.py, conditional_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ops.comparison import equal, logical_not
from ...values import operators
from .. import control_flow
from . import verify
from .staging import condition, is_tensor, staged

Thunk = Callable[[], Any]


def if_stmt(
    cond: Any,
    body: Thunk,
    orelse: Thunk,
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    symbol_names: Sequence[str],
    nouts: int,
) -> None:
    """An `if` statement whose branches set variables; the first `nouts` of them are used after it.

    `get_state` and `set_state` read and write the variables.
    """
    if is_tensor(cond):
        cond = condition(cond, "if statement")
    if not staged(cond):
        body() if cond else orelse()
        return
    before = get_state()
    results: dict[str, Sequence[Any]] = {}

    def run(branch: Thunk, which: str) -> Thunk:
        def traced() -> tuple[Any, ...]:
            set_state(before)
            branch()
            values = results[which] = get_state()[:nouts]
            verify.branch(values, symbol_names, which)
            if len(results) == 2:
                verify.branches(results["main"], results["else"], symbol_names)
            return values

        return traced

    after = control_flow.cond(cond, run(body, "main"), run(orelse, "else"))
    set_state((*after, *before[nouts:]))


def if_exp(cond: Any, if_true: Thunk, if_false: Thunk, expr_repr: str) -> Any:
    """`if_true() if cond else if_false()`."""
    if not staged(cond):
        return if_true() if cond else if_false()
    results: dict[bool, Any] = {}

    def run(branch: Thunk, key: bool) -> Thunk:
        def traced() -> Any:
            results[key] = branch()
            if len(results) == 2:
                verify.branch_value(expr_repr, results[True], results[False])
            return results[key]

        return traced

    return control_flow.cond(cond, run(if_true, True), run(if_false, False))


def not_(a: Any) -> Any:
    """`not a`."""
    return logical_not(a) if is_tensor(a) else not a


def and_(a: Thunk, b: Thunk) -> Any:
    """`a() and b()`."""
    first = a()
    if staged(first):
        return control_flow.cond(first, b, lambda: first)
    return first and b()


def or_(a: Thunk, b: Thunk) -> Any:
    """`a() or b()`."""
    first = a()
    if staged(first):
        return control_flow.cond(first, lambda: first, b)
    return first or b()


def eq(a: Any, b: Any) -> Any:
    """`a == b`."""
    return equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`."""
    return not_(eq(a, b))


def assert_stmt(expression1: Any, expression2: Thunk) -> None:
    """`assert expression1, expression2()`; with a tensor, `tf.debugging.Assert`."""
    if staged(expression1):
        data = expression2()
        data = data if isinstance(data, list) else [data]
        operators.call("assert_true", expression1, data)
    else:
        assert expression1, expression2()

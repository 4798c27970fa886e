"""`while` and `for`, on Python values and on tensors.

Source: TF autograph/operators/control_flow.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from malt.operators.variables import Undefined
from malt.utils.type_registry import TypeRegistry

from ...composites.ragged import RaggedTensor
from ...core.errors import NeedsValue, user_location
from ...ops.comparison import greater, greater_equal, less, logical_and, logical_or
from ...values.capture import capturing
from ...values.convert import convert
from ...values.tensor import Tensor
from ..buffers import row
from .builtins import len_
from .ranges import Bounds, bounds
from .staged_loop import stage
from .staging import is_tensor, staged, tracing

Thunk = Callable[[], Any]
Getter = Callable[[], tuple[Any, ...]]
Setter = Callable[[Any], None]


class _For(NamedTuple):
    """A `for` loop, but for what it goes over: the arguments of `for_stmt`."""

    extra_test: Thunk | None
    body: Callable[[Any], Any]
    get_state: Getter
    set_state: Setter
    names: tuple[str, ...]
    opts: dict[str, Any]


#: How to iterate over further types: functions with the arguments of `for_stmt`.
FOR_LOOPS = TypeRegistry()

_HINT = (
    "Did you intend to make it a TF loop?\nSee https://github.com/tensorflow/tensorflow/blob/"
    "master/tensorflow/python/autograph/g3doc/reference/limitations.md"
    "#consistency-of-control-flow-types for more info."
)


def while_stmt(
    test: Thunk,
    body: Thunk,
    get_state: Getter,
    set_state: Setter,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """A `while` loop. `get_state` and `set_state` read and write the variables that it sets."""
    if not tracing():
        while test():
            body()
        return
    with capturing():
        first = test()
    if is_tensor(first):
        return stage(test, body, get_state, set_state, tuple(symbol_names), opts)
    if first:
        body()
        while _python_truth(test()):
            body()


def _python_truth(value: Any) -> bool:
    if staged(value):
        raise NotImplementedError(
            "The condition of while loop started as non-Tensor, then changed to Tensor. This may "
            "happen either because variables changed type, or when a break or return statement "
            f"inside the loop depends on a Tensor condition. In both cases, changing to a TF loop "
            f"should remove the error.\nSee {_HINT.partition('See ')[2]}"
        )
    return bool(value)


def for_stmt(
    iter_: Any,
    extra_test: Thunk | None,
    body: Callable[[Any], Any],
    get_state: Getter,
    set_state: Setter,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """A `for` loop that goes on while `extra_test()`, if there is one, is true."""
    loop = _For(extra_test, body, get_state, set_state, tuple(symbol_names), opts)
    try:
        over = FOR_LOOPS.lookup(iter_)
    except LookupError:
        over = None
    if over is not None:
        over(iter_, *loop)
    elif not tracing():
        _python_for(iter_, extra_test, body)
    elif (found := bounds(iter_)) is not None:
        _range_for(found, loop)
    elif isinstance(iter_, RaggedTensor):
        raise NeedsValue(f"The rows of {iter_} are known when Python runs (at {user_location()}).")
    elif is_tensor(iter_):
        _tensor_for(iter_, loop)
    else:
        _python_for(iter_, extra_test, body)


def _python_for(iter_: Iterable[Any], extra_test: Thunk | None, body: Callable[[Any], Any]) -> None:
    if extra_test is None:
        for target in iter_:
            body(target)
    elif _goes_on(extra_test):
        for target in iter_:
            body(target)
            if not _goes_on(extra_test):
                break


def _goes_on(extra_test: Thunk) -> bool:
    value = extra_test()
    if staged(value):
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in "
            f"Python for loops. {_HINT}"
        )
    return bool(value)


def _tensor_for(iter_: Any, loop: _For) -> None:
    """A loop over the first axis of a tensor: one over the numbers of its rows, which the variable
    of the loop is not."""
    rows = convert(iter_)
    numbers = Bounds(convert(0), convert(len_(iter_)), convert(1))

    def of_row(number: Tensor) -> None:
        loop.body(row(rows, number))

    opts = {**loop.opts, "iterate_names": None}
    _range_for(numbers, loop._replace(body=of_row, opts=opts))


def _range_for(range_: Bounds, loop: _For) -> None:
    """A loop over a range, which counts instead of making it."""
    extra_test, body, get_state, set_state, names, opts = loop
    number: Any = range_.start

    def get() -> tuple[Any, ...]:
        # The variable of the loop is defined before it, for the case that there is no iteration.
        values = [
            number if name == opts["iterate_names"] and isinstance(value, Undefined) else value
            for name, value in zip(names, get_state())
        ]
        return (number, *values)

    def put(values: Sequence[Any]) -> None:
        nonlocal number
        number, *others = values
        set_state(others)

    def iteration() -> None:
        nonlocal number
        body(number)
        number += range_.delta

    def test() -> Any:
        within = _within(number, range_)  # and `break` or `return` was not reached
        return within if extra_test is None else logical_and(within, extra_test())

    runs = bool(_static_size(range_))
    stage(test, iteration, get, put, ("<internal iterate>", *names), opts, runs)


def _within(number: Any, range_: Bounds) -> Any:
    delta = _known(range_.delta)
    if delta is not None:
        return less(number, range_.limit) if delta >= 0 else greater(number, range_.limit)
    up, down = greater_equal(range_.delta, 0), less(range_.delta, 0)
    return logical_or(
        logical_and(up, less(number, range_.limit)),
        logical_and(down, greater(number, range_.limit)),
    )


def _known(tensor: Tensor) -> Any:
    """The value of a scalar, None if only the running function knows it."""
    return None if tensor._is_symbolic() else tensor.numpy().item()


def _static_size(range_: Bounds) -> int | None:
    start, limit, delta = map(_known, range_)
    if None in (start, limit, delta) or delta == 0:
        return None
    return max(0, -int((start - limit) // delta))

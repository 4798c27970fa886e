"""`tf.cond`, `tf.case`, `tf.switch_case` and `tf.while_loop`.

In eager code they are Python's `if` and `while`. In a function that is being recorded they are one
instruction, which holds what was recorded of the branches or of the body.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

from ..autodiff.custom import stop_gradient
from ..core import errors
from ..core.dtypes import bool as bool_, int32, string
from ..core.state import LOCAL
from ..ops.casting import cast
from ..ops.comparison import less, logical_and
from ..ops.joining import stack
from ..ops.reductions import reduce_sum
from ..values import nest
from ..values.convert import convert
from ..values.effects import require
from ..values.tensor import Tensor
from ..values.variable import Variable
from .branches import choose, decided, refuse_axes, truth
from .elements import runs_as_python
from .recording import buffer_or_tensor, flat, packed, recording, tensor_of
from .tensor_array import TensorArray
from .while_loops import repeat


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What `true_fn()` gives if `pred` is true, else what `false_fn()` gives.

    In a function both are recorded, and one of them runs at each call; they must give the same
    structure of tensors, of the same dtypes.

    Args:
      pred: bool scalar Tensor; in eager code a Python bool too.
      true_fn, false_fn: functions without arguments.
    Raises: TypeError if a function is missing or the results differ in structure or dtype.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def magnitude(x):
    ...     return tf.cond(x < 0.0, lambda: -x, lambda: x)
    >>> magnitude(tf.constant(-2.0)).numpy().item()
    2.0
    """
    if true_fn is None:
        raise TypeError("cond(): 'true_fn' argument required")
    if false_fn is None:
        raise TypeError("cond(): 'false_fn' argument required")
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if not recording():
        return true_fn() if convert(pred) else false_fn()
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    functions, names = (false_fn, true_fn), ("false_fn", "true_fn")
    known = decided(pred) if LOCAL.state.capture.settled else None
    if known is None:
        try:
            return choose(truth(pred), functions, names, "cond")
        except errors.InvalidArgumentError:
            known = decided(pred)
            if known is None:
                raise
    return choose(convert(0), functions[known:][:1], names[known:][:1], "cond")


def _unpacked(result: Any) -> Any:
    """The one item of a list or tuple of one."""
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """What the function of number `branch_index` gives; for other numbers `default`, or the last.

    Args:
      branch_index: integer scalar Tensor.
      branch_fns: dict of numbers 0, 1, ... to functions without arguments, list of such pairs, or
        list of the functions.
      default: function without arguments.
    Raises: TypeError, ValueError for other arguments.

    >>> import tape_compat as tf
    >>> tf.switch_case(tf.constant(1), [lambda: tf.constant(7), lambda: tf.constant(8)])
    <tf.Tensor: shape=(), dtype=int32, numpy=8>
    """
    functions = _numbered(branch_fns, default, branch_index)
    refuse_axes(branch_index)
    if not recording():
        index = int(branch_index)
        return functions[index if 0 <= index < len(functions) else -1]()
    names = [f"branches[{i}]" for i in range(len(functions))]
    return choose(branch_index, functions, names, "switch_case")


def _numbered(branch_fns: Any, default: Any, branch_index: Any) -> list[Callable[[], Any]]:
    """The functions in order, `default` last."""
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(function) for function in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        key, function = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(function):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    return functions if default is None else [*functions, default]


def case(
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function of the first true predicate gives, else what `default` gives.

    Args:
      pred_fn_pairs: list of pairs of a bool scalar Tensor and a function without arguments.
      default: function without arguments; None if one predicate must be true.
      exclusive: whether no more than one may be true.
      strict: whether a list of one result is left as it is, in eager code.
    Raises: TypeError for other arguments; InvalidArgumentError if no predicate is true and there is
      no default, or if several are and they are exclusive: in eager code.

    >>> import tape_compat as tf
    >>> x = tf.constant(3)
    >>> tf.case([(x < 0, lambda: "negative"), (x > 0, lambda: "positive")], lambda: "zero")
    'positive'
    """
    pairs = _pairs(pred_fn_pairs, exclusive)
    if not pairs:
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    if default is not None and not callable(default):
        raise TypeError("'false_fn' must be callable.")
    if not recording():
        return _first(pairs, default, exclusive, strict)
    preds = [pred for pred, _ in pairs]
    chosen: Any = default
    if default is None:
        *pairs, (_, last) = pairs
        chosen = functools.partial(_checked, last, preds)
    if exclusive:
        number = reduce_sum(cast(stack(preds[: len(pairs)]), "int32"))
        require(number <= 1, preds, functools.partial(_several, len(preds)))
    for pred, action in reversed(pairs):
        chosen = functools.partial(cond, pred, action, chosen)
    return chosen()


def _checked(last: Callable[[], Any], preds: list[Tensor]) -> Any:
    """What the last function gives, its predicate being the last that can be true."""
    require(preds[-1], preds, _none_true)
    return last()


def _several(count: int, *values: Any) -> str:
    return (
        "assertion failed: [Input error: exclusive=True: more than 1 conditions "
        f"({', '.join('?' * count)}) evaluated as True:] {_numbers(values)}"
    )


def _none_true(*values: Any) -> str:
    return (
        f"assertion failed: [Input error: None of conditions evaluated as True:] {_numbers(values)}"
    )


def _numbers(values: tuple[Any, ...]) -> str:
    return f"[{' '.join(str(int(x)) for x in values[1:])}]"


def _pairs(pred_fn_pairs: Any, exclusive: bool) -> list[tuple[Tensor, Callable[[], Any]]]:
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError(
            f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}"
        )
    if isinstance(pred_fn_pairs, dict):
        ordered = isinstance(pred_fn_pairs, collections.OrderedDict)
        if not (ordered or exclusive or recording()):
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
                "`exclusive=False` and eager mode is enabled."
            )
        pred_fn_pairs = [
            (getattr(k, "deref", lambda k=k: k)(), v) for k, v in pred_fn_pairs.items()
        ]
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, function = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if pred.dtype is not bool_:
            raise TypeError(f"pred must be Tensor of type bool: {pred}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred} must be callable.")
    return list(pred_fn_pairs)


def _first(
    pairs: list[tuple[Tensor, Callable[[], Any]]], default: Any, exclusive: bool, strict: bool
) -> Any:
    """The case in eager code."""
    true = [bool(pred) for pred, _ in pairs]
    if exclusive and sum(true[: len(true) - (default is None)]) > 1:
        raise _expected_true("Input error: exclusive=True: more than 1 conditions", true)
    if default is None and not any(true):
        raise _expected_true("Input error: None of conditions evaluated as True:", true)
    chosen: Any = next((f for is_true, (_, f) in zip(true, pairs) if is_true), default)
    result = chosen()
    # TensorFlow has no conditional then that would take it out of its list.
    alone = default is None and len(pairs) == 1
    return result if strict or alone else _unpacked(result)


def _expected_true(message: str, true: list[bool]) -> errors.InvalidArgumentError:
    return errors.refusal(
        f"Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
        f"b'{message}'\n{true}"
    )


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """The loop variables after as many iterations of `body` as `cond` is true.

    In a function both are recorded once. A loop whose number of iterations is known then becomes
    `lax.scan`, another one `lax.while_loop`; both have gradients.

    Args:
      cond: takes the loop variables and gives a bool scalar.
      body: takes the loop variables and gives them after an iteration, in the same structure.
      loop_vars: list or tuple of what `tf.nest` takes, of tensors and TensorArrays.
      shape_invariants: the shapes that they may have, in the structure of `loop_vars`.
      parallel_iterations, swap_memory: change nothing; XLA orders the work, and gradients are
        computed when they are asked for.
      back_prop: whether gradients go through the loop, in a function.
      maximum_iterations: int or integer scalar Tensor: no more iterations than that.
    Raises: TypeError or ValueError if something is not callable, or if dtype, shape or structure of
      a loop variable change.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def power(x, n):
    ...     return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, 1.0))[1]
    >>> power(tf.constant(2.0), tf.constant(10)).numpy().item()
    1024.0
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    loop_vars = nest.map_structure(_read, loop_vars)
    if not recording():
        return _while(cond, body, loop_vars, maximum_iterations)
    result = _repeat(cond, body, loop_vars, shape_invariants, maximum_iterations)
    return result if back_prop else _stopped(result)


def _repeat(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any,
    maximum_iterations: Any,
) -> Any:
    """The loop in a function."""
    if maximum_iterations is None:
        return repeat(cond, body, loop_vars, shape_invariants)
    limit = maximum_iterations
    limit = convert(limit, None if isinstance(limit, (Tensor, Variable)) else int32)
    counter = convert(0, limit.dtype)
    invariants = None if shape_invariants is None else (counter.shape, shape_invariants)
    return repeat(
        lambda i, variables: logical_and(less(i, limit), truth(cond(*variables))),
        lambda i, variables: (i + 1, _as_nest(body(*variables))),
        (counter, loop_vars),
        invariants,
    )[1]


def _stopped(structure: Any) -> Any:
    """A structure through which no gradients go."""

    def leaf(x: Any) -> Any:
        if isinstance(x, TensorArray):
            buffer = buffer_or_tensor(x)
            return x if buffer is None else x._with(x._recorded().with_buffer(leaf(buffer)))
        return stop_gradient(x) if isinstance(x, Tensor) and x.dtype is not string else x

    return packed(structure, [leaf(x) for x in flat(structure)])


def _as_nest(result: Any) -> Any:
    return result if nest.is_nested(result) else [result]


def _read(value: Any) -> Any:
    return value.read_value() if isinstance(value, Variable) else value


def _while(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, maximum_iterations: Any
) -> Any:
    """The loop in eager code."""
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    left = None if maximum_iterations is None else _limit(maximum_iterations)
    given = loop_vars
    # Any sequence will do, but where iterations are counted as another loop variable.
    whole = list if left is None else (lambda variables: variables)
    structure = nest.map_structure(lambda _: 0, whole(loop_vars))
    while (left is None or left > 0) and cond(*loop_vars):
        loop_vars = body(*loop_vars)
        left = None if left is None else left - 1
        nest.assert_same_structure(structure, whole(loop_vars))
    # In a function the result is like what it was given.
    leaves = [tensor_of(leaf) for leaf in flat(loop_vars)]
    return packed(given if runs_as_python() else loop_vars, leaves)


def _limit(maximum_iterations: Any) -> int:
    limit = convert(maximum_iterations)
    if limit._aval.shape:
        raise ValueError(f"'maximum_iterations' must be a scalar. Received shape: {limit.shape}")
    return int(limit)

"""A loop that is staged: its variables go through `tf.while_loop`.

Source: TF autograph/operators/control_flow.py, _tf_while_stmt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from malt.operators.variables import UndefinedReturnValue

from ...autodiff.reverse import filled
from ...core.errors import NeedsValue, OpError
from ...ops.creation import zeros
from ...values import nest, operators
from ...values.capture import capturing, symbolic_input
from ...values.convert import convert
from ...values.host_steps import takes_steps
from ...values.tensor import Tensor
from .. import control_flow
from ..host_control import Inside
from ..recording import PartProgram
from . import verify
from .staging import condition, is_tensor, is_undefined

Thunk = Callable[[], Any]
Getter = Callable[[], tuple[Any, ...]]
Setter = Callable[[Any], None]


def stage(
    test: Thunk,
    body: Thunk,
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    opts: dict[str, Any],
    runs: bool = False,
) -> None:
    """Run `body` while `test`, in the function that is being traced.

    Args:
      names: of the variables that `get_state` reads.
      opts: options of `tf.while_loop`; `shape_invariants` as pairs of a variable's value and its
        shape.
      runs: whether there is one iteration at least.
    """
    before = get_state()
    shapes = _positional(opts.get("shape_invariants", ()), before)
    unset = [value is None or is_undefined(value) for value in before]
    initial = before
    watch = any(unset) and not runs
    if any(unset):
        initial, shapes = _defined(body, get_state, set_state, before, unset, shapes, names)

    def enter(loop_vars: Sequence[Any]) -> tuple[Any, ...]:
        values = tuple(loop_vars[1:] if watch else loop_vars)
        set_state(values)
        return values

    def staged_test(*loop_vars: Any) -> Any:
        enter(loop_vars)
        return condition(test(), "while loop")

    def staged_body(*loop_vars: Any) -> Any:
        entry = enter(loop_vars)
        body()
        exit = get_state()
        verify.iteration(initial, entry, exit, names, shapes)
        return (True, *exit) if watch else exit

    options = {k: v for k, v in opts.items() if k not in ("iterate_names", "shape_invariants")}
    if shapes is not None:
        options["shape_invariants"] = (None, *shapes) if watch else shapes
    loop_vars = (False, *initial) if watch else initial
    final = control_flow.while_loop(staged_test, staged_body, loop_vars, **options)
    if watch:
        ran, *final = final
        operators.call("assert_true", ran, [_zero_iterations(names, unset, before)])
    set_state(final)


def _positional(pairs: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...] | None:
    """The shape invariants, one for each variable; None if there are none."""
    if not pairs:
        return None
    given = {id(value): shape for value, shape in pairs}
    return tuple(
        given[id(v)] if id(v) in given else nest.map_structure(lambda _: None, v) for v in values
    )


def _zero_iterations(names: Sequence[str], unset: Sequence[bool], before: Sequence[Any]) -> str:
    what = [
        "the function return value" if isinstance(value, UndefinedReturnValue) else name
        for name, missing, value in zip(names, unset, before)
        if missing
    ]
    return f"loop must iterate at least once to initialize {', '.join(what)}"


# ---------------------------------------------------------------------------------------------
# Variables that are first set inside the loop.


def _defined(
    body: Thunk,
    get_state: Getter,
    set_state: Setter,
    before: tuple[Any, ...],
    unset: Sequence[bool],
    shapes: tuple[Any, ...] | None,
    names: tuple[str, ...],
) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """The variables before a loop, zeros for those without a value, and the shape invariants.

    Of which dtype and shape is found by recording one iteration, which is thrown away. A size that
    only the iteration knows may change.
    Raises: ValueError for a variable that is read first.
    """
    note = None
    initial = before
    after: tuple[Any, ...] = (None,) * len(before)
    inside = Inside() if takes_steps() else None
    try:
        with capturing(lambda state: PartProgram(state, "while_body")):
            set_state(nest.map_structure(_symbolic, before))
            body()
            after = get_state()
        if inside is not None:
            shapes = _with_unknown_sizes(inside, before, unset, after, shapes)
        likes = zip(before, unset, after, shapes or (None,) * len(before))
        initial = tuple(_placeholder(like, v, s) if u else v for v, u, like, s in likes)
    except NeedsValue:
        raise
    except (UnboundLocalError, TypeError, ValueError, KeyError, OpError) as error:
        note = (
            "Note: AutoGraph tried to define it automatically, but ran into a "
            f"{type(error).__name__}: {error}"
        )
    finally:
        set_state(initial)
    verify.before_loop(initial, names, after, note)
    return initial, shapes


def _with_unknown_sizes(
    inside: Inside,
    before: Sequence[Any],
    unset: Sequence[bool],
    after: Sequence[Any],
    shapes: tuple[Any, ...] | None,
) -> tuple[Any, ...] | None:
    """The shape invariants, with one for each variable that gets sizes which only an iteration
    knows."""

    def invariant(value: Any) -> Any:
        if not is_tensor(value):
            return None
        return inside.invariant(convert(value)._aval)

    given = shapes or tuple(nest.map_structure(lambda _: None, v) for v in before)
    found = list(given)
    for i, (missing, value) in enumerate(zip(unset, after)):
        if missing and not is_undefined(value):
            made = nest.map_structure(invariant, value)
            if found[i] is None and any(s is not None for s in nest.flatten(made)):
                found[i] = made
    return shapes if found == list(given) else tuple(found)


def _symbolic(value: Any) -> Any:
    """What the loop makes of a Python number: a tensor without a value."""
    if isinstance(value, (int, float, bool, np.ndarray, np.generic)):
        return symbolic_input(convert(value)._aval)
    return value


def _placeholder(like: Any, original: Any, shape: Any) -> Any:
    """Zeros like what an iteration sets; `original` if it sets nothing."""
    if like is None or is_undefined(like):
        return original
    if isinstance(like, (int, float, bool)):
        return type(like)(0)
    if is_tensor(like):
        return _zeros(like, shape)
    if isinstance(like, (list, tuple, dict)):
        leaves = nest.flatten(like)
        shapes = [None] * len(leaves) if shape is None else nest.flatten(shape)
        found = [_placeholder(leaf, original, s) for leaf, s in zip(leaves, shapes)]
        return nest.pack_sequence_as(like, found)
    raise TypeError(
        f"Found an unsupported type '{type(like).__name__}' while creating placeholder for {like}. "
        "Supported types include Tensor, int, float, bool, list, tuple or dict."
    )


def _zeros(like: Any, shape: Any) -> Tensor:
    aval = convert(like)._aval
    if shape is None:
        return filled(aval, 0)
    given = [None] * len(aval.shape) if shape.rank is None else list(shape)
    sizes = [n if g is None else g for n, g in zip(like.shape.as_list(), given)]
    return zeros([n or 0 for n in sizes], like.dtype)

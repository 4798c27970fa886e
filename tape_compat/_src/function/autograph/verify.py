"""Checks of the variables that staged statements set, with TensorFlow's messages.

Source: TF autograph/operators/control_flow.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from malt.operators.variables import Undefined, UndefinedReturnValue

from ...core.shapes import TensorShape
from ...values import nest
from ...values.composite import CompositeTensor
from ...values.convert import convert
from ...values.variable import Variable, read
from .staging import is_tensor

#: What a loop may carry, as the messages say it.
_LEGAL = "Tensor, int, float, bool or a list, tuple or dict thereof"
_PYTHON = (bool, int, float, str, np.ndarray)


def _as_tensor(value: Any) -> Any:
    return convert(value) if isinstance(value, _PYTHON) else value


def _same_structure(
    name: str, first: Any, second: Any, text: str, of_composites: bool = True
) -> None:
    try:
        nest.assert_same_structure(first, second, expand_composites=of_composites)
    except (ValueError, TypeError) as error:
        raise TypeError(f"'{name}' {text}\n\n{error}") from error


def _read(structure: Any) -> Any:
    """A structure with the values of its variables in their place."""
    return nest.map_structure(lambda x: read(x) if isinstance(x, Variable) else x, structure)


# ---------------------------------------------------------------------------------------------
# Conditionals.


def branch(values: Sequence[Any], names: Sequence[str], which: str) -> None:
    """Check that a branch sets all that the statement gives. Raises ValueError."""
    for name, value in zip(names, values):
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must also be initialized in the {which} branch")
        if isinstance(value, UndefinedReturnValue):
            raise ValueError(f"the {which} branch must also have a return statement.")


def branches(main: Sequence[Any], other: Sequence[Any], names: Sequence[str]) -> None:
    """Check that both branches give values of the same structure and dtypes."""
    text = "must have the same nested structure in the main and else branches:"
    for name, x, y in zip(names, main, other):
        x, y = _read(x), _read(y)
        _same_structure(name, x, y, text)
        for left, right in zip(nest.flatten(x), nest.flatten(y)):
            branch_value(name, left, right)


def branch_value(name: str, main: Any, other: Any) -> None:
    """Check what two branches give for one variable: no None, and one dtype."""
    if main is None:
        raise ValueError(f"'{name}' is None at the end of the main branch.")
    if other is None:
        raise ValueError(f"'{name}' is None at the end of the else branch.")
    main, other = _as_tensor(main), _as_tensor(other)
    if is_tensor(main) and is_tensor(other) and main.dtype != other.dtype:
        raise TypeError(
            f"'{name}' has dtype {main.dtype.name} in the main branch, but dtype "
            f"{other.dtype.name} in the else branch"
        )


# ---------------------------------------------------------------------------------------------
# Loops.


def before_loop(
    initial: Sequence[Any], names: Sequence[str], after_one: Sequence[Any], note: str | None
) -> None:
    """Check that the variables of a loop have values before it.

    Args:
      after_one: what they are after one iteration, None where that is not known.
      note: what to add where one is undefined.
    """
    for name, value, after in zip(names, initial, after_one):
        if isinstance(value, UndefinedReturnValue):
            _refuse_return(after)
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop")
        if isinstance(value, Undefined):
            more = f"\n{note}" if note else ""
            raise ValueError(f"'{name}' must be defined before the loop{more}")


def _refuse_return(after: Any) -> None:
    if after is not None and not isinstance(after, (Undefined, UndefinedReturnValue)):
        raise ValueError(
            f"the return value from a TensorFlow loop may only be a {_LEGAL}; got {type(after)}"
        )
    raise NotImplementedError(
        "a return statement cannot be placed inside this TensorFlow loop; this may happen if a "
        "return statement depends on a static Python condition such as a hyperparameter"
    )


def iteration(
    initial: Sequence[Any],
    entry: Sequence[Any],
    exit: Sequence[Any],
    names: Sequence[str],
    invariants: Sequence[Any] | None,
) -> None:
    """Check that the variables of a loop keep structure, dtype and shape in an iteration.

    Args:
      initial, entry, exit: before the loop, at the beginning and at the end of an iteration.
      invariants: the shapes that they may have, None where the first one is to stay.
    """
    text = "does not have the same nested structure after one iteration."
    for i, name in enumerate(names):
        first, before, after = _read(initial[i]), entry[i], _read(exit[i])
        _same_structure(name, first, before, text)
        _same_structure(name, before, after, text)
        shapes = invariants[i] if invariants is not None else None
        if shapes is None:
            shapes = nest.map_structure(lambda _: None, before)
        else:
            text = "does not have the same nested structure as its corresponding shape invariant."
            _same_structure(name, first, shapes, text, of_composites=False)
        leaves = map(nest.flatten, (first, before, after, shapes))
        for values in zip(*leaves):
            _loop_value(name, *values)


def _loop_value(name: str, initial: Any, entry: Any, exit: Any, invariant: Any) -> None:
    if exit is None:
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    initial, entry, exit = map(_as_tensor, (initial, entry, exit))
    if not (is_tensor(entry) and is_tensor(exit)):
        return
    if entry.dtype != exit.dtype:
        raise TypeError(
            f"'{name}' has dtype {entry.dtype.name} before the loop, but dtype {exit.dtype.name} "
            "after one iteration"
        )
    if isinstance(entry, CompositeTensor):
        return
    if invariant is None:
        if not _within(exit.shape, entry.shape):
            raise ValueError(
                f"'{name}' has shape {entry.shape} before the loop, but shape {exit.shape} after "
                "one iteration. Use tf.autograph.experimental.set_loop_options to set shape "
                "invariants."
            )
        return
    for shape, when in ((initial.shape, "before the loop"), (exit.shape, "after one iteration")):
        if not _within(shape, invariant):
            raise ValueError(
                f"'{name}' has shape {shape} {when}, which does not conform with the shape "
                f"invariant {invariant}."
            )


def _within(left: Any, right: Any) -> bool:
    """Whether a shape is at least as specific as another."""
    return TensorShape(left).is_subtype_of(TensorShape(right))

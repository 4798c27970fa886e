"""`tf.debugging.enable_check_numerics`: the op that first gives a NaN or an infinity raises."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ..core.errors import InvalidArgumentError, user_location
from ..core.state import IMMEDIATE, MODE
from ..values.context import set_immediate
from ..values.tensor import Tensor

LOGGER = logging.getLogger("tape_compat")

#: Ops that only move what they are given. Source: TF check_numerics_callback.py, SAFE_OPS.
_MOVES = frozenset(
    (
        *("Concat", "ConcatV2", "ExpandDims", "Fill", "Gather", "Identity", "Maximum", "Minimum"),
        *("Pack", "Reshape", "Slice", "Squeeze", "Stack", "StridedSlice", "StridedSliceGrad"),
        *("Transpose", "Unpack"),
    )
)
#: How ops run while nothing is checked: whether functions run their Python.
_BEFORE: list[bool] = []


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Raise at the op that first gives a NaN or an infinity, forward or in a gradient, in all
    threads.

    Until `disable_check_numerics` every op runs at its call and is looked at, and functions run
    their Python, so that the error comes from the line of the op; this is slow. The arguments have
    no effect: the traceback is Python's own.

    Raises (the ops): InvalidArgumentError, with the op, its inputs and how many elements are bad.

    >>> import tape_compat as tf
    >>> tf.debugging.enable_check_numerics()
    >>> try:
    ...     tf.math.log(tf.constant([1.0, 0.0]))
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.message.split("!!!")[1])
     Detected Infinity or NaN in output 0 of eagerly-executing op "Log" (# of outputs: 1)
    >>> tf.debugging.disable_check_numerics()
    """
    if MODE.checks is None:
        _BEFORE[:] = [MODE.python]
        set_immediate(True)
        MODE.python, MODE.checks = True, _check
        LOGGER.info("Enabled check-numerics: every op runs at its call.")


def disable_check_numerics() -> None:
    """Take `enable_check_numerics` back."""
    if MODE.checks is not None:
        MODE.checks = None
        MODE.python = _BEFORE.pop()
        set_immediate(MODE.python or IMMEDIATE)


def _check(closure: Any, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
    """Refuse outputs of an op with a NaN or an infinity in them."""
    name = closure.op.name
    if name in _MOVES:
        return
    for place, x in enumerate(outputs):
        if x.dtype.is_floating:
            value = np.asarray(x._value())
            if not np.isfinite(value).all():
                raise InvalidArgumentError(
                    None, None, _message(name, place, inputs, outputs, value.astype(np.float64))
                )


def _message(
    name: str, place: int, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], value: Any
) -> str:
    counts = {
        "-Inf": np.sum(value == -np.inf),
        "+Inf": np.sum(value == np.inf),
        "NaN": np.sum(np.isnan(value)),
    }
    found = {kind: count for kind, count in counts.items() if count}
    lines = [
        "",
        "",
        f'!!! Detected Infinity or NaN in output {place} of eagerly-executing op "{name}" '
        f"(# of outputs: {len(outputs)}) !!!",
        f"  dtype: {outputs[place].dtype}",
        f"  shape: {value.shape}",
        *[f"  # of {_signed(kind)} elements: {count}" for kind, count in found.items()],
        "",
        *_shown(inputs),
        "",
        f" : Tensor had {' and '.join(found)} values [Op:{name}] (at {user_location()})",
    ]
    return "\n".join(lines)


def _signed(kind: str) -> str:
    return "+NaN" if kind == "NaN" else kind


def _shown(inputs: tuple[Tensor, ...]) -> list[str]:
    if len(inputs) == 1:
        return [f"  Input tensor: {inputs[0]!s}"]
    listed = [f"         {i}: {x!s}" for i, x in enumerate(inputs)]
    return [f"  Input tensors ({len(inputs)}):", *listed] if inputs else []

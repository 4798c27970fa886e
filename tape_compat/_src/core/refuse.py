"""TensorFlow's standard refusals, each written once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import errors
from .avals import Aval
from .dimensions import is_symbolic
from .dtypes import DType
from .state import LOCAL

#: What TensorFlow's kernels call a dtype, where that is not its name.
_KERNEL_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def tf_dtype_name(dtype: DType) -> str:
    """A dtype as TensorFlow's kernels call it in messages: float, double, half."""
    return _KERNEL_NAMES.get(dtype.name, dtype.name)


def shown(shape: Sequence[Any]) -> str:
    """A shape in TensorFlow's writing; `?` for a size that is unknown.

    >>> shown((2, 3))
    '[2,3]'
    """
    return "[" + ",".join(["?" if is_symbolic(n) else str(n) for n in shape]) + "]"


def invalid(message: str, kernel: str, of_dtypes: bool = False) -> errors.InvalidArgumentError:
    """TensorFlow's error for bad input to a kernel, with the user's line."""
    error = errors.refusal(f"{message} [Op:{kernel}] (at {errors.user_location()})")
    error._of_dtypes = of_dtypes
    return error if LOCAL.state.capture is None else errors.while_recorded(error)


def not_allowed(
    value: DType | str, listed: str | Iterable[str], kernel: str, attr: str = "T"
) -> errors.InvalidArgumentError:
    """The error for a dtype, or another value, that an attribute of a kernel does not take."""
    message = not_allowed_text(value, listed, kernel, attr)
    return invalid(message, kernel, of_dtypes=isinstance(value, DType))


def not_allowed_text(
    value: DType | str, listed: str | Iterable[str], kernel: str, attr: str = "T"
) -> str:
    """What that error says."""
    given = tf_dtype_name(value) if isinstance(value, DType) else value
    names = listed if isinstance(listed, str) else ", ".join(sorted(listed))
    return (
        f"Value for attr '{attr}' of {given} is not in the list of allowed values: {names}\n\t; "
        f"NodeDef: {{{{node {kernel}}}}}"
    )


def check_dtype_of(aval: Aval, place: int, wanted: DType, kernel: str) -> None:
    """Refuse an input of another dtype than its place asks for."""
    if aval.dtype is not wanted:
        raise wrong_dtype(aval.dtype, place, wanted, kernel)


def wrong_dtype(
    given: DType, place: int, wanted: DType, kernel: str
) -> errors.InvalidArgumentError:
    """The error for an input of another dtype than its place asks for."""
    return invalid(wrong_dtype_text(given, place, wanted, kernel), kernel, of_dtypes=True)


def wrong_dtype_text(given: DType, place: int, wanted: DType, kernel: str) -> str:
    """What that error says."""
    return (
        f"cannot compute {kernel} as input #{place}(zero-based) was expected to be a "
        f"{tf_dtype_name(wanted)} tensor but is a {tf_dtype_name(given)} tensor"
    )


def no_value(x: Any) -> TypeError | errors.InaccessibleTensorError:
    """The error where the value of a symbolic tensor is asked for."""
    program, capture = x._at[0], LOCAL.state.capture
    while capture is not None and capture is not program:
        capture = capture.outer
    if capture is None:
        return out_of_scope(x)
    return errors.NeedsValue(
        f"{x!s} has no value: it is an input or a result of {program.name}, which is being "
        f"recorded (at {errors.user_location()}). Use ops on it, not its value."
    )


def _around(program: Any) -> set[Any]:
    """A program that is recorded, and those in which it is; none of None."""
    found = set()
    while program is not None:
        found.add(program)
        program = program.outer
    return found


def out_of_scope(x: Any) -> TypeError | errors.InaccessibleTensorError:
    """The error for a symbolic tensor where its function is not being recorded. As in TensorFlow it
    is of another class where the tensor is of a branch or a loop of what is being recorded."""
    shared = _around(LOCAL.state.capture) & _around(x._at[0].outer)
    kind = errors.InaccessibleTensorError if shared else TypeError
    return kind(
        f"{x!r} is out of scope and cannot be used here. Use return values, explicit Python locals "
        "or TensorFlow collections to access it.\nPlease see "
        "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values"
        f" for more information.\n\n{x!r} was made while {x._at[0].name} was recorded, and is used "
        f"at {errors.user_location()}."
    )

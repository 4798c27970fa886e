"""Errors in converted code, told in terms of the user's.

Source: TF autograph/pyct/error_utils.py and impl/api.py.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

from malt.pyct import error_utils
from malt.pyct.errors import PyCTError

from ...core.dimensions import INCONCLUSIVE
from ...core.errors import OpError, is_users

_PACKAGE = __name__.partition(".")[0]


class AutoGraphError(PyCTError):
    """An error of AutoGraph itself."""


class ConversionError(AutoGraphError):
    """A function could not be converted."""


class StagingError(AutoGraphError):
    """An error in converted code whose class cannot be made anew from a message."""


class Failure(error_utils.ErrorMetadataBase):
    """An error and the lines of the user's code that led to it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        stack = self.translated_stack
        kept = [f for f in stack[:-1] if f.is_converted or is_users(f.filename)]
        self.translated_stack = tuple(
            frame if frame.function_name else frame._replace(function_name="<lambda>")
            for frame in (*kept, *stack[-1:])
        )

    def create_exception(self, source_error: BaseException) -> BaseException:
        kind, message = type(source_error), self.get_message()
        if isinstance(source_error, OpError):
            made = _op_error(source_error, message)
        elif _takes_a_message(kind):
            made = kind(message)
        elif kind is KeyError:
            made = error_utils.MultilineMessageKeyError(message, self.cause_message)
        else:
            made = StagingError(message)
        return made.with_traceback(source_error.__traceback__)


def _takes_a_message(kind: type[BaseException]) -> bool:
    """Whether errors of a class are made of a message alone."""
    return (
        kind in error_utils.KNOWN_STRING_CONSTRUCTOR_ERRORS
        or kind.__init__ is Exception.__init__
        or kind.__module__.partition(".")[0] in (_PACKAGE, "malt")
    )


def _op_error(error: OpError, message: str) -> BaseException:
    code = () if hasattr(type(error), "CODE") else (error.error_code,)
    make: Any = type(error)
    try:
        return make(error.node_def, error.op, message, *code, error.experimental_payloads)
    except TypeError:  # a class of the user's
        return StagingError(message)


def attach(error: Exception, converted: Any, converter_file: str) -> None:
    """Note on an error, which is being handled, where in a converted function it came from."""
    if hasattr(error, "ag_pass_through") or isinstance(error, INCONCLUSIVE):
        return
    before = getattr(error, "ag_error_metadata", None)
    message = f"{type(error).__name__}: {error}" if before is None else None
    frames = traceback.extract_tb(sys.exc_info()[2])[1:]
    failure = Failure(frames, before, message, converted.ag_source_map, converter_file)
    error.ag_error_metadata = failure  # type: ignore[attr-defined]


def reraised(error: Exception) -> BaseException | None:
    """An error of the same class that shows the user's code, if it came from converted code."""
    failure = getattr(error, "ag_error_metadata", None)
    return None if failure is None else failure.to_exception(error)

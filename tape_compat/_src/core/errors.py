"""TensorFlow's `tf.errors`, and the place in the user's code that a message points at."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, TypeVar

import jax

from .forwards import forwards

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """What an op raises at run time; its subclasses say why.

    Args:
      node_def, op: as TensorFlow has them; None where there is no graph.
      message: str, what `str()` gives.
      error_code: int, one of the constants of this module.
      *payloads: at most one, kept as `experimental_payloads`.
    """

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: Any, *payloads: Any
    ) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._payloads = payloads[0] if payloads else {}

    message: str = forwards("_message", "The text of the error.")
    op: Any = forwards("_op", "The operation that failed, if known.")
    node_def: Any = forwards("_node_def", "The description of that operation, if known.")
    error_code: Any = forwards("_error_code", "Its kind: one of the constants of this module.")
    experimental_payloads: Any = forwards(
        "_payloads", "Further details given when the error was made; a dict."
    )

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        code = () if isinstance(self, _CodedError) else (self._error_code,)
        payloads = (self._payloads,) if self._payloads else ()
        return type(self), (self._node_def, self._op, self._message, *code, *payloads)


class _CodedError(OpError):
    """An error whose class fixes its code."""

    CODE = UNKNOWN

    def __init_subclass__(cls, code: int | None = None) -> None:
        if code is not None:
            cls.CODE = code

    def __init__(self, node_def: Any, op: Any, message: str, *payloads: Any) -> None:
        super().__init__(node_def, op, message, self.CODE, *payloads)


class CancelledError(_CodedError, code=CANCELLED):
    """The operation was cancelled."""


class UnknownError(_CodedError, code=UNKNOWN):
    """The cause is not known."""


class InvalidArgumentError(_CodedError, code=INVALID_ARGUMENT):
    """The operation cannot take these inputs: their shapes, dtypes or values do not fit.

    >>> import tape_compat as tf
    >>> try:
    ...     tf.debugging.assert_positive(tf.constant([1.0, -1.0]))
    ... except tf.errors.InvalidArgumentError as error:
    ...     error.error_code == tf.errors.INVALID_ARGUMENT
    True
    """

    #: Whether an op does not take the dtypes.
    _of_dtypes = False


class DeadlineExceededError(_CodedError, code=DEADLINE_EXCEEDED):
    """The time allowed was over before the operation ended."""


class NotFoundError(_CodedError, code=NOT_FOUND):
    """Something asked for, such as a file, does not exist."""


class AlreadyExistsError(_CodedError, code=ALREADY_EXISTS):
    """Something to be created, such as a file, exists already."""


class PermissionDeniedError(_CodedError, code=PERMISSION_DENIED):
    """The caller may not do this."""


class ResourceExhaustedError(_CodedError, code=RESOURCE_EXHAUSTED):
    """Memory or another resource is used up."""


class FailedPreconditionError(_CodedError, code=FAILED_PRECONDITION):
    """The system is not in the state the operation needs."""


class AbortedError(_CodedError, code=ABORTED):
    """The operation was given up, mostly for another that ran at the same time."""


class OutOfRangeError(_CodedError, code=OUT_OF_RANGE):
    """The operation went past the end of what is valid, such as the end of an input."""


class UnimplementedError(_CodedError, code=UNIMPLEMENTED):
    """The operation does not exist for these inputs or on this device."""


class InternalError(_CodedError, code=INTERNAL):
    """An invariant of the system is broken."""


class UnavailableError(_CodedError, code=UNAVAILABLE):
    """The service cannot be reached now."""


class DataLossError(_CodedError, code=DATA_LOSS):
    """Data are lost or corrupted."""


class UnauthenticatedError(_CodedError, code=UNAUTHENTICATED):
    """The caller did not say validly who it is."""


class NeedsValue(TypeError):
    """Something needs a value, or a size, that is not known before the function that is being
    recorded is called. Python must then run at each call."""


class NeedsRun(NeedsValue):
    """Something will be known when the Python of the function has run."""


class NeedsPython(NeedsValue):
    """Something, such as the next element of a dataset, is there only when Python runs: that it
    then does at each call is no news."""


class NotAsRecorded(InvalidArgumentError):
    """A call of a function found that what its record takes for granted does not hold for it. The
    function then runs its Python; a concrete function, which has none, raises this.

    always: whether it will not hold for others either. anew: whether it may when the function has
    been recorded anew.
    """

    always = anew = False


class _WhileRecorded(InvalidArgumentError):
    """What an op raises in a function that is being recorded, where TensorFlow has one of Python's.

    Libraries make another with more text, as they do of those: of the message alone.
    """

    def __init__(self, *args: Any) -> None:
        node_def, op, message, *payloads = args if len(args) > 1 else (None, None, *args)
        super().__init__(node_def, op, message, *payloads)

    def __reduce__(self) -> tuple[Any, ...]:
        error = InvalidArgumentError(self.node_def, self.op, self.message)
        return while_recorded, (error, isinstance(self, TypeError))


class _ValueErrorWhileRecorded(_WhileRecorded, ValueError):
    pass


class _TypeErrorWhileRecorded(_WhileRecorded, TypeError):
    pass


for _class in (NotAsRecorded, _ValueErrorWhileRecorded, _TypeErrorWhileRecorded):
    _class.__name__ = InvalidArgumentError.__name__


def while_recorded(error: InvalidArgumentError, of_dtypes: bool | None = None) -> Any:
    """The error as a ValueError too, or as a TypeError if it is about dtypes."""
    if isinstance(error, _WhileRecorded):
        return error
    of_dtypes = error._of_dtypes if of_dtypes is None else of_dtypes
    made = _TypeErrorWhileRecorded if of_dtypes else _ValueErrorWhileRecorded
    return made(error.node_def, error.op, error.message)


def is_of_dtypes(error: BaseException) -> bool:
    """Whether it is an op's error about dtypes, which no other sizes mend."""
    return isinstance(error, InvalidArgumentError) and (
        error._of_dtypes or isinstance(error, TypeError)
    )


class EndOfSequence(OutOfRangeError, StopIteration):
    """The end of an iterator in a function: TensorFlow's error, which ends a loop of Python too."""

    def __reduce__(self) -> tuple[Any, ...]:
        return OutOfRangeError, (self.node_def, self.op, self.message)


class InaccessibleTensorError(ValueError):
    """A symbolic Tensor was used where the function that it is of is not being recorded."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic Tensor was used where Python needs a value, as in `if tensor:`."""


for _class in (OpError, *_CodedError.__subclasses__(), OperatorNotAllowedInGraphError):
    _class.__module__ = "tape_compat.errors"  # what tracebacks and pickles name
EndOfSequence.__name__ = EndOfSequence.__qualname__ = OutOfRangeError.__name__
EndOfSequence.__module__ = OutOfRangeError.__module__
for _class in (_ValueErrorWhileRecorded, _TypeErrorWhileRecorded):
    _class.__module__ = InvalidArgumentError.__module__
    _class.__qualname__ = InvalidArgumentError.__qualname__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: Not the user's code: ours, and JAX's between the user and us.
JAX_FOLDER = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep
#: Folders of code that is not the user's.
NOT_THE_USERS = [_PACKAGE, JAX_FOLDER]
#: Of files that AutoGraph generated: the user's file and line of their lines.
GENERATED: dict[str, dict[int, tuple[str, int]]] = {}


def is_users(file: str) -> bool:
    """Whether the code of a file is the user's."""
    return not file.startswith(tuple(NOT_THE_USERS))


def user_location() -> str:
    """'file.py:41': the nearest line on the stack of the user's code. For messages only.

    >>> import re
    >>> from tape_compat._src.core.errors import user_location
    >>> bool(re.fullmatch(r".+:\\d+", user_location()))
    True
    """
    frame = outermost = sys._getframe(1)
    while frame is not None and _place(frame) is None:
        if not _begins_thread(frame):
            outermost = frame
        frame = frame.f_back
    frame = frame or outermost
    file, line = _place(frame) or (frame.f_code.co_filename, frame.f_lineno)
    return f"{os.path.basename(file or '<unknown>')}:{line}"


def refusal(message: str) -> InvalidArgumentError:
    """Of an op that cannot take its inputs."""
    return InvalidArgumentError(None, None, message)


_Error = TypeVar("_Error", bound=_CodedError)


def located(kind: type[_Error], message: str) -> _Error:
    """An error of an op, with the user's line behind what it says."""
    return kind(None, None, f"{message} (at {user_location()}).")


#: The files that call what a thread is to run.
_THREADS = (os.path.join("concurrent", "futures", "thread.py"), os.sep + "threading.py")


def _begins_thread(frame: Any) -> bool:
    """Whether a frame is where a thread begins: nobody is to look there."""
    return frame.f_code.co_filename.endswith(_THREADS)


def _place(frame: Any) -> tuple[str, int] | None:
    """File and line of a frame of the user's, None of another: what leaves a context stands between
    us and the user."""
    file = frame.f_code.co_filename
    if file in GENERATED:
        return GENERATED[file].get(frame.f_lineno)
    its = is_users(file) and file != contextlib.__file__ and not _begins_thread(frame)
    return (file, frame.f_lineno) if its else None

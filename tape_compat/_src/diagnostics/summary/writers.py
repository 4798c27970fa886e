"""What writes summaries, and which of them a thread uses."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.state import LOCAL
from ...data.structure import array_of
from ...function.grouping import no_op
from ...values.context import executing_eagerly
from ...values.convert import convert
from ...values.effects import record_effect
from ...values.operation import Operation, done
from ...values.tensor import Tensor
from .files import EventFile


class _State(threading.local):
    """The writer and the step of a thread, and whether it records: None, a value or a function."""

    def __init__(self) -> None:
        self.writer: SummaryWriter | None = None
        self.step: Any = None
        self.recording: Any = None


STATE = _State()


def get_step() -> Any:
    """The step that summaries of this thread have by default; None if none was set.

    >>> import tape_compat as tf
    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    return STATE.step


def set_step(step: Any) -> None:
    """Set the step that summaries of this thread have by default. In a function it is the one of
    the time when it is recorded, unless it is a Variable.

    Args:
      step: what becomes an int64 scalar, a Variable, or None for none.

    >>> import tape_compat as tf
    >>> tf.summary.experimental.set_step(tf.Variable(0, dtype=tf.int64))
    >>> tf.summary.experimental.set_step(None)
    """
    STATE.step = step


class _Default:
    """The context in which a writer is that of the thread."""

    def __init__(self, writer: SummaryWriter, step: Any):
        self._writer, self._step = writer, step
        self._before: list[tuple[Any, Any]] = []

    def __enter__(self) -> SummaryWriter:
        self._before.append((STATE.writer, STATE.step))
        STATE.writer = self._writer
        if self._step is not None:
            STATE.step = self._step
        return self._writer

    def __exit__(self, *error: object) -> None:
        if STATE.writer is not None:
            STATE.writer.flush()
        STATE.writer, step = self._before.pop()
        if self._step is not None:
            STATE.step = step


class SummaryWriter:
    """The base of what writes summaries. `tf.summary.create_file_writer` makes one."""

    def as_default(self, step: Any = None) -> Any:
        """A context in which summaries go to this writer, and are flushed at its end.

        Args:
          step: what summaries have as their step by default, inside.
        """
        return _Default(self, step)

    def set_as_default(self, step: Any = None) -> None:
        """Let summaries of this thread go to this writer from now on."""
        self.as_default(step).__enter__()

    def init(self) -> None:
        """Make the file."""
        raise NotImplementedError

    def flush(self) -> Operation | None:
        """Write what is kept. None, in a `tf.function` an operation."""
        raise NotImplementedError

    def close(self) -> Operation | None:
        """Write what is kept, and close the file. None, in a `tf.function` an operation."""
        raise NotImplementedError

    def _add(self, step: int, what: bytes) -> None:
        """Add an event: its step and what it says, a field of an `Event`."""
        raise NotImplementedError


class _FileWriter(SummaryWriter):
    """A writer to an event file."""

    def __init__(self, file: EventFile):
        self._file, self._closed = file, False

    def _check(self) -> None:
        if self._closed and executing_eagerly():
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def as_default(self, step: Any = None) -> Any:
        self._check()
        return super().as_default(step)

    def init(self) -> None:
        self._check()

    def _add(self, step: int, what: bytes) -> None:
        self._file.add(step, what)

    def flush(self) -> Operation | None:
        if self._closed:
            return None
        perform(self._file.flush, [], "FlushSummaryWriter")
        return done("FlushSummaryWriter")

    def close(self) -> Operation | None:
        if self._closed:
            return None
        perform(self._file.close, [], "CloseSummaryWriter")
        self._closed = executing_eagerly()
        return done("CloseSummaryWriter")


class _NoWriter(SummaryWriter):
    """A writer that does nothing, and leaves the one that is there."""

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[None]:
        yield

    def set_as_default(self, step: Any = None) -> None:
        pass

    def init(self) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def perform(action: Any, tensors: list[Tensor], name: str) -> None:
    """Call a function of the arrays of tensors: now, or at each call of the function that is being
    recorded."""
    if LOCAL.state.capture is not None:
        record_effect(lambda *arrays: action(*map(_as_array, arrays)), tensors, name)
    else:
        action(*map(array_of, tensors))


def _as_array(value: Any) -> np.ndarray:
    return np.array(value, object) if isinstance(value, bytes) else value


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of summaries to a new event file in a folder, which is made if it is missing.

    Args:
      logdir: str. max_queue: how many events are kept before they are written; 10 by default.
      flush_millis: for how long; 120000 by default.
      filename_suffix: what the name of the file ends with; ".v2" by default.
      experimental_trackable: changes nothing. experimental_mesh: None; another raises
        NotImplementedError.
    Raises: ValueError without a folder, or for symbolic arguments; TypeError for others; an OpError
      if the file cannot be made.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = tf.summary.create_file_writer(folder)
    ...     with writer.as_default(step=1):
    ...         print(tf.summary.scalar("loss", 0.5))
    ...     len(tf.io.gfile.listdir(folder))
    tf.Tensor(True, shape=(), dtype=bool)
    1
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if experimental_mesh is not None:
        raise NotImplementedError("create_file_writer: `experimental_mesh`: there is no DTensor")
    given = {
        "logdir": logdir,
        "max_queue": 10 if max_queue is None else max_queue,
        "flush_millis": 120_000 if flush_millis is None else flush_millis,
        "filename_suffix": ".v2" if filename_suffix is None else filename_suffix,
    }
    for key, value in given.items():
        if isinstance(value, Tensor) and value._is_symbolic():
            raise ValueError(
                f"Invalid graph Tensor argument '{key}={value}' to create_file_writer() inside an "
                "@tf.function. The create call will be lifted into the outer eager execution "
                "context, so it cannot consume graph tensors defined inside the function body."
            )
    kinds = (dtypes.string, dtypes.int32, dtypes.int32, dtypes.string)
    values = [_scalar(key, value, kind) for (key, value), kind in zip(given.items(), kinds)]
    folder, queue, milliseconds, suffix = values
    return _FileWriter(EventFile(folder.decode(), queue, milliseconds, suffix.decode()))


def _scalar(name: str, value: Any, dtype: Any) -> Any:
    array = array_of(convert(value, dtype))
    if array.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"{name} must be a scalar [Op:CreateSummaryFileWriter]"
        )
    return array.item()


def create_noop_writer() -> SummaryWriter:
    """A writer that does nothing, where code asks for one.

    >>> import tape_compat as tf
    >>> with tf.summary.create_noop_writer().as_default():
    ...     tf.summary.scalar("loss", 0.5, step=1)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    return _NoWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Any:
    """Write what a writer keeps, by default that of the thread.

    Raises: ValueError for what is no writer.

    >>> import tape_compat as tf
    >>> tf.summary.flush()
    """
    if writer is None:
        writer = STATE.writer
        if writer is None:
            return no_op()
    if isinstance(writer, SummaryWriter):
        return writer.flush()
    raise ValueError(f"Invalid argument to flush(): {writer!r}")

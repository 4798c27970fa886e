"""Writing summaries: when, under which tag and step, and what becomes of it in a function."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.errors import user_location
from ...core.refuse import tf_dtype_name
from ...data.io import wire
from ...data.io.contents import serialized
from ...data.structure import array_of
from ...function.control_flow import cond
from ...values.convert import convert
from ...values.names import current_name_scope, name_scope
from ...values.tensor import Tensor
from .files import SUMMARY
from .writers import STATE, perform

#: What a summary consists of: tensors, and a function of their arrays that gives its message.
Prepared = tuple[Sequence[Tensor], Callable[..., bytes]]

# Fields of a value of a Summary.
_VALUE, _TAG, _TENSOR, _METADATA = 1, 1, 8, 9
_ILLEGAL = re.compile(r"[^-_/.A-Za-z0-9]")


def should_record_summaries() -> Tensor:
    """Whether summaries are written: there is a writer, and `tf.summary.record_if` allows it.

    >>> import tape_compat as tf
    >>> tf.summary.should_record_summaries()
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    if STATE.writer is None:
        return convert(False)
    found = STATE.recording() if callable(STATE.recording) else STATE.recording
    return convert(True if found is None else found, dtypes.bool)


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A context in which summaries are written if a condition holds.

    Args:
      condition: a bool, a bool scalar Tensor, or a function of no arguments that gives one and is
        called for each summary; a `tf.function` records what that gives.

    >>> import tape_compat as tf
    >>> step = tf.Variable(0, dtype=tf.int64)
    >>> with tf.summary.record_if(lambda: step % 100 == 0):
    ...     tf.summary.scalar("loss", 0.5, step=step)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    before = STATE.recording
    STATE.recording = condition
    try:
        yield
    finally:
        STATE.recording = before


@contextlib.contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A context for a kind of summaries of one's own: a name scope, and the tag.

    Args:
      name: of the summary; the tag is this with the name scopes around it.
      default_name: used for an empty one.
      values: changes nothing.
    Yields: the tag and the scope.

    >>> import tape_compat as tf
    >>> with tf.name_scope("model"), tf.summary.experimental.summary_scope("my loss") as found:
    ...     found
    ('model/my loss', 'model/myloss/')
    """
    name = name or default_name
    tag = current_name_scope() + name
    with name_scope(_ILLEGAL.sub("", name) or default_name) as scope:
        yield tag, scope


def checked_step(step: Any) -> Tensor:
    """A step as int64 scalar. Raises ValueError for a tensor of other than one element."""
    found = convert(step, dtypes.int64)
    if found.shape.num_elements() != 1:
        raise ValueError(
            f"Argument `step` must be a scalar. Received step with shape {found.shape}."
        )
    return found


def _given_step(step: Any) -> Tensor:
    found = STATE.step if step is None else step
    if found is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            f"tf.summary.experimental.set_step() (at {user_location()})."
        )
    return checked_step(found)


def emit(step: Any, prepare: Callable[[], Prepared]) -> Tensor:
    """Write what `prepare` gives, if summaries are to be written. What is prepared in a function
    that is being recorded is written at each call.

    Returns: whether it was written.
    """

    def record() -> Tensor:
        at, writer = _given_step(step), STATE.writer
        tensors, message = prepare()

        def write_now(number: Any, *arrays: Any) -> None:
            writer._add(int(np.reshape(number, ())), wire.field(SUMMARY, message(*arrays)))  # type: ignore[union-attr]

        perform(write_now, [at, *tensors], "WriteSummary")
        return convert(True)

    should = should_record_summaries()
    if should._is_symbolic():
        return cond(should, record, lambda: convert(False))
    return record() if should else convert(False)


def message_of(tag: bytes, array: np.ndarray, dtype: Any, metadata: bytes) -> bytes:
    """A `Summary` of one tensor."""
    parts = wire.field(_TAG, tag) + wire.field(_TENSOR, serialized(array, dtype))
    return wire.field(_VALUE, parts + (wire.field(_METADATA, metadata) if metadata else b""))


def write(
    tag: Any, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Write a tensor as a summary, as the functions for kinds of summaries do.

    Args:
      tag: str, in general one of `tf.summary.experimental.summary_scope`.
      tensor: a Tensor, or a function that gives it and is called if it is to be written.
      step: int64 scalar; None for that of `tf.summary.experimental.set_step`.
      metadata: a SummaryMetadata, or its bytes.
    Returns: whether it was written: bool scalar Tensor.
    Raises: ValueError without a step.

    >>> import tape_compat as tf
    >>> tf.summary.write("x", [1, 2], step=0)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    if step is not None:
        checked_step(step)
    if STATE.writer is None:
        return convert(False)

    def prepare() -> Prepared:
        value = convert(tensor() if callable(tensor) else tensor)
        text, about = text_of(tag), metadata_of(metadata)
        return [value], lambda array: message_of(text, array, value.dtype, about)

    return emit(step, prepare)


def text_of(value: Any) -> bytes:
    """A string scalar as bytes."""
    return array_of(convert(value, dtypes.string)).item()


def metadata_of(metadata: Any) -> bytes:
    """A SummaryMetadata as bytes."""
    if metadata is None:
        return b""
    if hasattr(metadata, "SerializeToString"):
        return metadata.SerializeToString()
    return metadata if isinstance(metadata, bytes) else text_of(metadata)


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Tensor:
    """Write messages `Summary`.

    Args:
      tensor: string tensor of serialized `tf.compat.v1.Summary`s.
      step: int64 scalar; None for that of `tf.summary.experimental.set_step`.
    Returns: whether they were written: bool scalar Tensor.
    Raises: ValueError without a step.

    >>> import tape_compat as tf
    >>> summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="a", simple_value=1)])
    >>> tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=0)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    if step is not None:
        checked_step(step)
    if STATE.writer is None:
        return convert(False)
    _given_step(step)

    def prepare() -> Prepared:
        value = convert(tensor)
        if value.dtype is not dtypes.string:
            raise errors.InvalidArgumentError(
                None,
                None,
                "cannot compute WriteRawProtoSummary as input #2(zero-based) was expected to be a "
                f"string tensor but is a {tf_dtype_name(value.dtype)} tensor "
                "[Op:WriteRawProtoSummary]",
            )
        return [value], lambda array: b"".join(np.ravel(array).tolist())

    return emit(step, prepare)

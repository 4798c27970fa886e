"""Reading event files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...data.io.records import read_records
from .protos import Event


def summary_iterator(path: Any) -> Iterator[Event]:
    """The events of a file, one after the other.

    Raises: NotFoundError if there is none, DataLossError where it is damaged.

    >>> import tape_compat as tf
    >>> list(tf.compat.v1.train.summary_iterator("/there/is/none"))
    Traceback (most recent call last):
    tape_compat.errors.NotFoundError: /there/is/none; No such file or directory
    """
    for record in read_records(str(path), ""):
        yield Event.FromString(record)

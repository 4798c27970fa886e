"""The date up to which programs rely on old readers of what they write."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Iterator

#: That of the TensorFlow whose behaviour this is.
_DATE = datetime.date(2026, 1, 16)

#: What stands for `_DATE` inside `forward_compatibility_horizon`, the innermost last.
_HORIZONS: list[int] = []


def _number(year: int, month: int, day: int) -> int:
    return (year << 9) | (month << 5) | day


def _usual() -> int:
    days = int(os.environ.get("TF_FORWARD_COMPATIBILITY_DELTA_DAYS") or 0)
    date = _DATE + datetime.timedelta(days=days)
    return _number(date.year, date.month, date.day)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether what is written may need a reader of this day: it lies before the horizon.

    >>> import tape_compat as tf
    >>> tf.compat.forward_compatible(2020, 1, 1), tf.compat.forward_compatible(2200, 1, 1)
    (True, False)
    """
    return (_HORIZONS[-1] if _HORIZONS else _usual()) > _number(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A context with another horizon, for tests of both ways.

    Raises: ValueError for a day that there is not.

    >>> import tape_compat as tf
    >>> with tf.compat.forward_compatibility_horizon(2200, 1, 2):
    ...     tf.compat.forward_compatible(2200, 1, 1)
    True
    """
    datetime.date(year, month, day)  # raises
    _HORIZONS.append(_number(year, month, day))
    try:
        yield
    finally:
        _HORIZONS.pop()

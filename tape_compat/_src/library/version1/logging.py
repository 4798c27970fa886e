"""`tf.compat.v1.logging`: messages of the logger `tensorflow`."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from ..config import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50

#: How often each place has asked for a message that is not for every time.
_ASKED: Counter[tuple[str, int]] = Counter()


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of the level DEBUG."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of the level INFO."""
    get_logger().info(msg, *args, **kwargs)


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of the level WARN."""
    get_logger().warning(msg, *args, **kwargs)


warning = warn


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of the level ERROR."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of the level FATAL."""
    get_logger().critical(msg, *args, **kwargs)


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def _times() -> int:
    """How often the place that calls the caller has asked before."""
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    _ASKED[place] += 1
    return _ASKED[place] - 1


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """A message at the first of every `n` calls from one line."""
    if _times() % n == 0:
        log(level, msg, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """A message at the first `n` calls from one line."""
    if _times() < n:
        log(level, msg, *args)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """A message if a condition holds."""
    if condition:
        log(level, msg, *args)


def TaskLevelStatusMessage(msg: Any) -> None:
    """A message of the level ERROR."""
    error(msg)


def flush() -> None:
    """Write what waits to be written."""
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """The level from which messages are written.

    >>> import tape_compat as tf
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    >>> tf.compat.v1.logging.get_verbosity()
    40
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.WARN)
    """
    return get_logger().getEffectiveLevel()


#: Levels by the names that `set_verbosity` takes too.
_LEVELS = {"DEBUG": DEBUG, "INFO": INFO, "WARN": WARN, "ERROR": ERROR, "FATAL": FATAL}


def set_verbosity(v: Any) -> None:
    """Write messages from a level on, given as a number or by its name."""
    get_logger().setLevel(_LEVELS.get(v, v) if isinstance(v, str) else v)

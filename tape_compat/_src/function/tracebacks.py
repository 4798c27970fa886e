"""What tracebacks of errors in traced functions show: the user's code, unless asked for all."""

from __future__ import annotations

import os
import threading
import types

from ..core.errors import is_users


class _Local(threading.local):
    filtering = os.environ.get("TAPE_COMPAT_FULL_TRACEBACKS", "0") in ("", "0")


_LOCAL = _Local()


def enable_traceback_filtering() -> None:
    """Show the user's code only in tracebacks of errors in traced functions, as by default.

    >>> import tape_compat as tf
    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.enable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    _LOCAL.filtering = True


def disable_traceback_filtering() -> None:
    """Show all of the tracebacks of errors in traced functions, this library's part too.

    >>> import tape_compat as tf
    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    False
    >>> tf.debugging.enable_traceback_filtering()
    """
    _LOCAL.filtering = False


def is_traceback_filtering_enabled() -> bool:
    """Whether tracebacks of errors in traced functions show the user's code only, in this thread.

    >>> import tape_compat as tf
    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return _LOCAL.filtering


def filter_traceback(error: BaseException) -> None:
    """Leave of the traceback of an error what is the user's, and what AutoGraph made of that."""
    if not _LOCAL.filtering:
        return
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            frames.append(traceback)
        traceback = traceback.tb_next
    kept = None
    for traceback in reversed(frames):
        place = traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno
        kept = types.TracebackType(kept, *place)
    error.__traceback__ = kept

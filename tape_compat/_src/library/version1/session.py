"""Classes of sessions that libraries name, of which nothing can be made."""

from __future__ import annotations

from typing import Any

from ...core.errors import user_location


class _Named:
    """What can be named, but not made; `_why`: the reason."""

    _why: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = f"tf.compat.v1.{type(self).__name__}"
        raise NotImplementedError(f"{name}: {self._why} (at {user_location()})")


class Session(_Named):
    """What runs graphs in TensorFlow 1.

    Raises: NotImplementedError, always.
    """

    _why = "there are no sessions: code runs eagerly, or is recorded by tf.function"


class InteractiveSession(Session):
    """A session that is the default one from when it is made.

    Raises: NotImplementedError, always.
    """


class RunMetadata:
    """What a session tells of a run: nothing, for `tf.compat.v1.profiler.profile` to be given."""

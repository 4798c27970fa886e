"""`tf.compat.v1.Session`: a class that libraries name, of which nothing can be made."""

from __future__ import annotations

from typing import Any

from ...core.errors import user_location


class Session:
    """What runs graphs in TensorFlow 1.

    Raises: NotImplementedError, always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"tf.compat.v1.{type(self).__name__}: there are no sessions: code runs eagerly, or is "
            f"recorded by tf.function (at {user_location()})"
        )


class InteractiveSession(Session):
    """A session that is the default one from when it is made.

    Raises: NotImplementedError, always.
    """

"""Classes of sessions and graphs that libraries name, of which nothing can be made."""

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


class GraphDef:
    """The message of a graph without functions.

    Raises: NotImplementedError, always.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"tf.compat.v1.{type(self).__name__}: there are no graphs without functions: "
            f"tf.function records what is run (at {user_location()})"
        )


class MetaGraphDef(GraphDef):
    """The message of a graph with what stands beside it in a SavedModel.

    Raises: NotImplementedError, always.
    """


class NodeDef(GraphDef):
    """The message of an op of a graph.

    Raises: NotImplementedError, always.
    """

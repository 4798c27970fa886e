"""Sessions of TensorFlow 1, as eager programs make them to set up GPUs: of a graph without ops."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.errors import user_location
from ...function.graph_def import GraphDef
from ...function.grouping import Graph, get_default_graph
from .. import config as settings
from .session_config import ConfigProto


class _Entered(threading.local):
    """The sessions that are the default one of a thread, the last one first asked for."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []


_ENTERED = _Entered()


def get_default_session() -> Session | None:
    """The session that is the default one, None if there is none.

    >>> import tape_compat as tf
    >>> tf.compat.v1.get_default_session()
    """
    return _ENTERED.sessions[-1] if _ENTERED.sessions else None


class Session:
    """A session of a graph without ops, as there is in eager code: its settings take effect, and it
    has nothing to run.

    Args:
      target: a string, of no effect.
      graph: a `tf.Graph`, the default one by default.
      config: a `tf.compat.v1.ConfigProto`, of which the settings of GPUs have an effect, or warn as
        `tf.config.experimental.set_memory_growth` does.
    Raises: TypeError for arguments of another kind.

    >>> import tape_compat as tf
    >>> config = tf.compat.v1.ConfigProto()
    >>> config.gpu_options.allow_growth = True
    >>> session = tf.compat.v1.Session(config=config)
    >>> session.close()
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        for name, value, kind, shown in (
            ("target", target or "", (str, bytes), "a string"),
            ("graph", graph, Graph, "a tf.Graph"),
            ("config", config, ConfigProto, "a tf.ConfigProto"),
        ):
            if value is not None and not isinstance(value, kind):
                raise TypeError(
                    f'Argument `{name}` must be {shown}, but got "{type(value).__name__}"'
                )
        self.graph = get_default_graph() if graph is None else graph
        self.sess_str = target if isinstance(target, bytes) else (target or "").encode()
        self._closed = False
        if config is not None:
            _set_up(config.gpu_options)

    @property
    def graph_def(self) -> GraphDef:
        """The nodes of the graph: none."""
        return GraphDef([])

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Nothing: eager code runs as it is written, and `tf.function` records what is to be run.

        Raises: RuntimeError, always.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        raise RuntimeError(
            "The Session graph is empty. Add operations to the graph before calling run(). There "
            "are no graphs of TensorFlow 1 here: code runs eagerly, or is recorded by tf.function "
            f"(at {user_location()})."
        )

    def close(self) -> None:
        """Do nothing any more."""
        self._closed = True

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """A context in which it is the default session."""
        _ENTERED.sessions.append(self)
        try:
            yield self
        finally:
            _ENTERED.sessions.remove(self)

    def __enter__(self) -> Session:
        """Raises: NotImplementedError: in this context TensorFlow records ops into a graph."""
        raise NotImplementedError(
            f"with tf.compat.v1.{type(self).__name__}(): there are no graphs of TensorFlow 1: code "
            f"runs eagerly, or is recorded by tf.function (at {user_location()})"
        )

    def __exit__(self, *exception: Any) -> None:
        self.close()


class InteractiveSession(Session):
    """A session that is the default one from when it is made until it is closed.

    >>> import tape_compat as tf
    >>> session = tf.compat.v1.InteractiveSession()
    >>> tf.compat.v1.get_default_session() is session
    True
    >>> session.close()
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _ENTERED.sessions.append(self)

    def close(self) -> None:
        """Be the default session no longer."""
        super().close()
        if self in _ENTERED.sessions:
            _ENTERED.sessions.remove(self)


class RunMetadata:
    """What a session tells of a run: nothing, for `tf.compat.v1.profiler.profile` to be given."""


def _set_up(options: Any) -> None:
    """Warn of settings of GPUs that cannot be changed here."""
    if not (options.allow_growth or options.per_process_gpu_memory_fraction):
        return
    gpus = settings.list_physical_devices("GPU")
    if options.allow_growth:
        for gpu in gpus:
            settings.set_memory_growth(gpu, True)
    elif gpus:
        warnings.warn(
            "per_process_gpu_memory_fraction has no effect: set the environment variable "
            f"XLA_PYTHON_CLIENT_MEM_FRACTION={options.per_process_gpu_memory_fraction:g} before "
            "the program starts.",
            stacklevel=4,
        )

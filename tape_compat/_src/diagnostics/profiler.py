"""`tf.profiler.experimental` over JAX's profiler."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

import jax

from ..core import errors


class ProfilerOptions(NamedTuple):
    """What is profiled.

    host_tracer_level: 1 for critical events of the host, 2 for more, 3 for all.
    python_tracer_level: 1 for the calls of Python. device_tracer_level: 1 for the device.
    delay_ms: None; another raises NotImplementedError where a profile is started.

    >>> import tape_compat as tf
    >>> tf.profiler.experimental.ProfilerOptions(host_tracer_level=3).python_tracer_level
    0
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Session(NamedTuple):
    """A profile that is being made: where it is to go, and where JAX puts it until it is kept."""

    logdir: str
    folder: tempfile.TemporaryDirectory[str]


class _Running:
    """The profile that is being made: there is one at most."""

    session: _Session | None = None
    server: Any = None


_LOCK = threading.Lock()


def _options(given: Any) -> jax.profiler.ProfileOptions:
    wanted = ProfilerOptions() if given is None else ProfilerOptions(*given)
    if wanted.delay_ms is not None:
        raise NotImplementedError("ProfilerOptions: `delay_ms`, for profiles start at once")
    found = jax.profiler.ProfileOptions()
    found.host_tracer_level = wanted.host_tracer_level
    found.python_tracer_level = wanted.python_tracer_level
    if hasattr(found, "device_tracer_level"):
        found.device_tracer_level = wanted.device_tracer_level  # type: ignore[attr-defined]
    elif not wanted.device_tracer_level:
        raise NotImplementedError("ProfilerOptions: `device_tracer_level` of 0 with this JAX")
    return found


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Start a profile.

    Args:
      logdir: the folder where TensorBoard is to find it: str or path.
      options: ProfilerOptions.
    Raises: AlreadyExistsError while one is being made.

    >>> import tape_compat as tf
    >>> tf.profiler.experimental.start("/there/it/is/not/kept")
    >>> tf.profiler.experimental.stop(save=False)
    """
    with _LOCK:
        if _Running.session is not None:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        settings, folder = _options(options), tempfile.TemporaryDirectory()
        try:
            jax.profiler.start_trace(folder.name, profiler_options=settings)
        except RuntimeError as error:
            folder.cleanup()
            message = f"Another profiler is running. {error}"
            raise errors.AlreadyExistsError(None, None, message) from None
        _Running.session = _Session(str(logdir), folder)


def stop(save: bool = True) -> None:
    """End the profile; write it into its folder, below `plugins/profile`, unless it is not wanted.

    Raises: UnavailableError if none is being made.

    >>> import tape_compat as tf
    >>> tf.profiler.experimental.stop()
    Traceback (most recent call last):
    tape_compat.errors.UnavailableError: Cannot export profiling results. No profiler is running.
    """
    with _LOCK:
        session = _Running.session
        if session is None:
            raise errors.UnavailableError(
                None, None, "Cannot export profiling results. No profiler is running."
            )
        _Running.session = None
        with session.folder as folder:
            jax.profiler.stop_trace()
            if save:
                shutil.copytree(folder, Path(session.logdir), dirs_exist_ok=True)


class Profile:
    """A context that is profiled.

    Args:
      logdir: the folder where TensorBoard is to find it. options: ProfilerOptions.
    Raises: AlreadyExistsError at its begin while a profile is being made.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.profiler.experimental.Profile(folder):
    ...         x = tf.reduce_sum(tf.ones([10]))
    ...     tf.io.gfile.listdir(folder)
    ['plugins']
    """

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None):
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *error: object) -> None:
        stop()


class Trace:
    """A context that profiles show as an event.

    Args:
      name: of the event. **kwargs: shown with it, such as `step_num`.

    >>> import tape_compat as tf
    >>> with tf.profiler.experimental.Trace("train", step_num=3):
    ...     x = tf.reduce_sum(tf.ones([10]))
    """

    def __init__(self, name: str, **kwargs: Any):
        self._event = jax.profiler.TraceAnnotation(name, **kwargs)

    def __enter__(self) -> Trace:
        self._event.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._event.__exit__(*error)

    def set_metadata(self, **kwargs: Any) -> None:
        """Show more with the event."""
        self._event.set_metadata(**kwargs)


def start_server(port: int) -> None:
    """Let TensorBoard ask for profiles at a port.

    Raises: ValueError if it was started before.
    """
    _Running.server = jax.profiler.start_server(port)

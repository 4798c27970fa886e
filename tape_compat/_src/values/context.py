"""Where and how ops run: `tf.device`, `tf.executing_eagerly`, and contexts without work to do."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import jax

from ..core import caches, errors
from ..core.device_spec import KINDS, DeviceSpec, local_device
from ..core.state import LOCAL, MODE, changed, suspended
from .capture import leaving
from .record import flush
from .tensor import Tensor

_DEVICE = re.compile(
    r"^(/job:\w+)?(/replica:\d+)?(/task:\d+)?/?(device:)?(?P<kind>[A-Za-z]+)(:(?P<number>\d+|\*))?$"
)


@contextlib.contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Put constants made inside, and ops run at once, on this device: `"CPU:0"`, `"/GPU:1"`.

    Recorded work runs where its inputs are. None means the default device. In the place of a device
    that is not there stands the first of its kind, or the default device if there is none.

    Raises: ValueError for a name that is none; InvalidArgumentError for a device that is not there
      after `tf.config.set_soft_device_placement(False)`.

    >>> import tape_compat as tf
    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant([1.0, 2.0])
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    found = find_device(device_name)
    default = getattr(jax.config, "jax_default_device", None) or jax.local_devices()[0]
    with changed(LOCAL.state, device=None if found is default else found):
        yield


class _Placement:
    """soft: whether a device that is not there is replaced by another."""

    soft = True


PLACEMENT = _Placement()


def current_device() -> str:
    """The name of the device that `tf.device` asks for; empty if that is the default one."""
    found = LOCAL.state.device
    return "" if found is None else local_device(found.platform, found.id)


def find_device(name: Any) -> Any:
    """The device of a name, as `device` finds it; None for the default one."""
    if isinstance(name, DeviceSpec):
        name = name.to_string()
    if name is None or name == "":
        return None
    text = str(getattr(name, "name", name))
    match = _DEVICE.match(text)
    if match is None:
        raise _unknown(text.strip("/").split(":")[0], text)
    kind = match["kind"].lower()
    number = 0 if match["number"] in (None, "*") else int(match["number"])
    try:
        found = jax.devices(kind)
    except RuntimeError:
        found = []
    if not found and kind.upper() not in KINDS:
        raise _unknown(match["kind"], text)
    if number >= len(found) and PLACEMENT.soft:
        return found[0] if found else None
    if number >= len(found):
        raise errors.refusal(
            f"Could not satisfy device specification '{text}'. All available devices "
            f"[{', '.join(f'{d.platform.upper()}:{d.id}' for d in jax.devices())}]."
        )
    return found[number]


def _unknown(part: str, text: str) -> ValueError:
    return ValueError(
        f"Unknown attribute '{part}' is encountered while parsing the device spec: '{text}'. "
        "A device is written as 'CPU:0' or '/GPU:1'."
    )


def set_immediate(value: bool) -> None:
    """Run every op at its call (True), or record under tapes and run later (False).

    What this thread has pending is run first.
    """
    if value:
        flush()
    MODE.immediate = bool(value)


def clear_caches() -> None:
    """Run what this thread has pending, then empty every cache of the engine.

    What was compiled is compiled again when it is next needed; nothing else changes. A process that
    has gone from one model to another gives memory back by it.

    >>> import tape_compat as tf
    >>> tf.engine.clear_caches()
    """
    flush()
    caches.clear_caches()


def inside_function() -> bool:
    """Whether Python code sees the symbols of a `tf.function` that is being recorded.

    >>> import tape_compat as tf
    >>> tf.inside_function()
    False
    """
    capture = LOCAL.state.capture
    return capture is not None and capture.in_function


def executing_eagerly() -> bool:
    """Whether ops are called one by one and their values may be looked at: not while a
    `tf.function` is being recorded.

    >>> import tape_compat as tf
    >>> seen = []
    >>> tf.function(lambda: seen.append(tf.executing_eagerly()))()
    >>> tf.executing_eagerly(), seen
    (True, [False])
    """
    return not inside_function()


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """A context outside of every function that is being recorded, in which the tapes and
    accumulators that are recording see nothing. A tape that is entered inside records.

    >>> import tape_compat as tf
    >>> v = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     with tf.init_scope():
    ...         scale = v * v
    ...     y = scale * v
    >>> tape.gradient(y, v).numpy().item()
    9.0
    """
    within = suspended() if LOCAL.state.capture is None else leaving()
    with changed(LOCAL, run=None), within:
        yield


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """A context in which nothing changes: ops run, or seem to, in the order of their calls."""
    yield


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether something is a tensor of a function that is being recorded, without a value yet.

    >>> import tape_compat as tf
    >>> seen = []
    >>> f = tf.function(lambda x: seen.append(tf.is_symbolic_tensor(x)))
    >>> f(tf.constant(1.0)), seen, tf.is_symbolic_tensor(tf.constant(1.0))
    (None, [True], False)
    """
    return isinstance(tensor, Tensor) and tensor._is_symbolic()

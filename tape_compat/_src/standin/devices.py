"""`tensorflow.python.client.device_lib`: the devices of this process, as messages."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import jax

from ..library.config import list_logical_devices

#: What TensorFlow says of every CPU.
_LIMIT_OF_CPUS = 2**28
_INCARNATION = secrets.randbits(62)


class DeviceAttributes(NamedTuple):
    """One device. memory_limit: in bytes. incarnation: another number for each process."""

    name: str
    device_type: str
    memory_limit: int
    incarnation: int
    physical_device_desc: str


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The devices that ops run on.

    Raises: NotImplementedError for a configuration of sessions.

    >>> list_local_devices()[0].name
    '/device:CPU:0'
    """
    if session_config is not None:
        raise NotImplementedError("list_local_devices(session_config=...): there are no sessions")
    return [
        DeviceAttributes(
            each.name,
            each.device_type,
            _memory(each.device_type, each.name),
            _INCARNATION + number,
            "" if each.device_type == "CPU" else f"device: {number}, name: {each.name}",
        )
        for number, each in enumerate(list_logical_devices())
    ]


def _memory(kind: str, name: str) -> int:
    if kind == "CPU":
        return _LIMIT_OF_CPUS
    device = jax.local_devices(backend=kind.lower())[int(name.rpartition(":")[2])]
    return (device.memory_stats() or {}).get("bytes_limit", 0)

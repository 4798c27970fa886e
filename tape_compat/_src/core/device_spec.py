"""The parts of a device's name."""

from __future__ import annotations

import dataclasses
from typing import Any

#: Kinds of devices, whether they are there or not.
KINDS = ("CPU", "GPU", "TPU")
_NUMBERS = ("replica", "task")


def local_device(kind: str, number: int) -> str:
    """The name of a device of this process."""
    return f"/job:localhost/replica:0/task:0/device:{kind.upper()}:{number}"


@dataclasses.dataclass(frozen=True, repr=False)
class DeviceSpec:
    """What a device is asked for by: each part may be None, which is any.

    Args:
      job: the name of a group of processes.
      replica, task: numbers of processes in it.
      device_type: "CPU", "GPU" or "TPU".
      device_index: which one of that type.

    >>> import tape_compat as tf
    >>> spec = tf.DeviceSpec.from_string("/job:worker/task:3/device:GPU:1")
    >>> spec.task, spec.device_type, spec.replace(device_type="CPU").to_string()
    (3, 'GPU', '/job:worker/task:3/device:CPU:1')
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    def __post_init__(self) -> None:
        for name, kind in (("job", str), ("device_type", str.upper), *_AS_NUMBERS):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value in (None, "") else kind(value))

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """The parts of a name: "/gpu:0", "/job:worker/replica:0/task:1/device:CPU:*".

        Raises: ValueError for a name that is none.
        """
        found: dict[str, Any] = {}
        for part in filter(None, (spec or "").split("/")):
            name, *values = part.split(":")
            if name.upper() in KINDS and len(values) < 2:
                name, values = "device", [name, *values, "*"][:2]
            if name == "device" and len(values) == 2:
                if "device_type" in found:
                    raise ValueError(
                        "Multiple device types are not allowed while parsing the device spec: "
                        f"{spec}."
                    )
                found["device_type"] = values[0]
                found["device_index"] = None if values[1] == "*" else int(values[1])
            elif len(values) == 1 and name in ("job", *_NUMBERS):
                found[name] = int(values[0]) if name in _NUMBERS else values[0]
            else:
                raise ValueError(
                    f"Unknown attribute '{name}' is encountered while parsing the device spec: "
                    f"'{spec}'."
                )
        return cls(**found)

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """See `from_string`."""
        return self.from_string(spec)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """The same with other parts."""
        return dataclasses.replace(self, **kwargs)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """The parts of `dev`; where that has None, those of this one."""
        given = {name: part for name, part in vars(dev).items() if part is not None}
        return self.replace(**given)

    def to_string(self) -> str:
        """The name; "*" stands for the number of a device that is any."""
        parts = [
            f"/{name}:{getattr(self, name)}"
            for name in ("job", *_NUMBERS)
            if getattr(self, name) is not None
        ]
        if self.device_type is not None:
            number = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{number}")
        return "".join(parts)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={part}" for name, part in vars(self).items())
        return f"<DeviceSpec({parts})>"


_AS_NUMBERS = tuple((name, int) for name in (*_NUMBERS, "device_index"))

"""Several devices at work on one step: each holds all variables and a part of each batch.

JAX's arrays may lie on several devices, and XLA divides a program over those that its arrays lie
on, sums over the devices included. So there is one replica, which computes on all of them, and its
numbers are those of one device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..core.x64 import in_x64
from ..data.base import dataset_of
from ..data.placing import Placed
from ..values.context import find_device
from ..values.variable import Variable, current

#: The name of the axis of devices.
AXIS = "devices"


class Mirror:
    """Where arrays lie: on every device as a whole, or divided along the first axis."""

    def __init__(self, devices: Sequence[Any]):
        mesh = Mesh(np.array(devices), (AXIS,))
        self._whole = NamedSharding(mesh, PartitionSpec())
        self._divided = NamedSharding(mesh, PartitionSpec(AXIS))
        self._parts = len(devices)

    def divided(self, array: Any) -> jax.Array:
        """An array of which each device has some rows; as a whole if they cannot be told apart
        evenly, as those of the last batch may be."""
        even = array.ndim > 0 and array.shape[0] % self._parts == 0
        return in_x64(jax.device_put, array, self._divided if even else self._whole)

    def creator(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Make a variable that lies on every device: for `tf.variable_creator_scope`."""
        variable = next_creator(**kwargs)
        if isinstance(variable, Variable):
            tensor = current(variable._handle)
            if not tensor._is_symbolic() and tensor._aval.np_dtype.kind != "O":
                tensor._array = in_x64(jax.device_put, tensor._value(), self._whole)
        return variable

    def dataset(self, dataset: Any) -> Any:
        """A dataset whose batches are divided. Raises TypeError for what is no dataset."""
        source = dataset_of(dataset, "What is distributed")
        return source._made(Placed(source._pipeline, self.divided))


def devices_of(names: Sequence[Any] | None) -> list[Any]:
    """The devices of these names, all that there are for none; one where a name is of none that is
    there, as `tf.device` finds it.

    Raises: ValueError for a name that is none; AssertionError for one that stands there twice.
    """
    if not names:
        return list(jax.local_devices())
    texts = [str(getattr(name, "name", name)) for name in names]
    if len(set(texts)) < len(texts):
        raise AssertionError(f"No duplicates allowed in `devices` argument: {tuple(texts)}")
    found = [find_device(name) for name in names]
    return list(dict.fromkeys(device for device in found if device is not None))

"""Tensors and capsules of DLPack, which share memory with PyTorch, NumPy and others."""

from __future__ import annotations

from typing import Any

import jax

from ..core.errors import InvalidArgumentError, user_location
from ..core.x64 import in_x64
from ..values.convert import convert
from ..values.tensor import Tensor

#: Devices as DLPack numbers them.
_KINDS = {"cpu": 1, "gpu": 2, "cuda": 2, "rocm": 10}


class _Held:
    """A capsule as an object that has one, on the default device."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        device = jax.devices()[0]
        return _KINDS.get(device.platform, 1), device.local_hardware_id or 0


def to_dlpack(tf_tensor: Tensor) -> Any:
    """A capsule of DLPack with the memory of a tensor, to be used once.

    Raises: InvalidArgumentError for what is no tensor.

    >>> import tape_compat as tf
    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1.0, 2.0]))
    >>> tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist()
    [1.0, 2.0]
    """
    if not isinstance(tf_tensor, Tensor):
        raise InvalidArgumentError(
            None,
            None,
            "The argument to `to_dlpack` must be a TF tensor, not Python object. Got "
            f"{type(tf_tensor).__name__} (at {user_location()}).",
        )
    return tf_tensor.__dlpack__()


def from_dlpack(dlcapsule: Any) -> Tensor:
    """A tensor with the memory of a capsule of the default device, or of an object that has one, as
    arrays of NumPy and PyTorch have.

    >>> import numpy as np, tape_compat as tf
    >>> tf.experimental.dlpack.from_dlpack(np.arange(3)).numpy().tolist()
    [0, 1, 2]
    """
    found = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Held(dlcapsule)
    return convert(in_x64(jax.dlpack.from_dlpack, found))

"""What programs ask about the machine they run on, its clock among that."""

from __future__ import annotations

import time
from typing import Any

import jax

from ..core.dtypes import float64
from ..core.errors import NeedsPython, user_location
from ..values.context import inside_function
from ..values.convert import convert
from ..values.tensor import Tensor


def _gpus() -> list[Any]:
    return [device for device in jax.devices() if device.platform == "gpu"]


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970, float64. A `tf.function` that asks runs its Python at each call.

    >>> import tape_compat as tf
    >>> tf.timestamp().dtype
    tf.float64
    """
    if inside_function():
        raise NeedsPython(f"The time is not known (at {user_location()})")
    return convert(time.time(), float64)


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether JAX has a GPU.

    Raises: NotImplementedError for a least compute capability, which JAX does not tell.

    >>> import tape_compat as tf
    >>> tf.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
    True
    """
    if min_cuda_compute_capability is not None:
        raise NotImplementedError("tf.test.is_gpu_available: min_cuda_compute_capability")
    return any(not cuda_only or is_built_with_cuda() for _ in _gpus())


def gpu_device_name() -> str:
    """The name of the first GPU; '' if there is none."""
    return f"/device:GPU:{_gpus()[0].id}" if _gpus() else ""


def is_built_with_gpu_support() -> bool:
    """Whether JAX runs on a GPU here."""
    return bool(_gpus())


def is_built_with_cuda() -> bool:
    """Whether JAX runs on a GPU of NVIDIA's here."""
    return any("rocm" not in device.client.platform_version.lower() for device in _gpus())


def is_built_with_rocm() -> bool:
    """Whether JAX runs on a GPU of AMD's here."""
    return any("rocm" in device.client.platform_version.lower() for device in _gpus())


def is_built_with_xla() -> bool:
    """True: everything is compiled by XLA."""
    return True

"""`tf.test`: what programs ask about the machine they run on."""

from __future__ import annotations

from typing import Any

import jax


def _gpus() -> list[Any]:
    return [device for device in jax.devices() if device.platform == "gpu"]


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

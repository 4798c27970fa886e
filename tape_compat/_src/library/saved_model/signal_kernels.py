"""Kernels of Fourier transforms and of sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import DType, complex64, float32
from ...ops import casting
from ...ops.arguments import known_value
from ...ops.signals import fourier, sound
from ...values.tensor import Tensor
from .array_kernels import inputs_only
from .registry import KERNELS, Kernel, kernel

KERNELS |= {
    "EncodeWav": inputs_only(sound.encode_wav),
    "FFT": inputs_only(fourier.fft),
    "FFT2D": inputs_only(fourier.fft2d),
    "FFT3D": inputs_only(fourier.fft3d),
    "IFFT": inputs_only(fourier.ifft),
    "IFFT2D": inputs_only(fourier.ifft2d),
    "IFFT3D": inputs_only(fourier.ifft3d),
}


def _to_complex(transform: Kernel) -> Kernel:
    def call(x: Any, length: Any, *, Tcomplex: DType = complex64) -> Tensor:
        return casting.cast(transform(x, known_value(length)), Tcomplex)

    return call


def _to_real(transform: Kernel) -> Kernel:
    def call(x: Any, length: Any, *, Treal: DType = float32) -> Tensor:
        return casting.cast(transform(x, known_value(length)), Treal)

    return call


KERNELS |= {
    "IRFFT": _to_real(fourier.irfft),
    "IRFFT2D": _to_real(fourier.irfft2d),
    "IRFFT3D": _to_real(fourier.irfft3d),
    "RFFT": _to_complex(fourier.rfft),
    "RFFT2D": _to_complex(fourier.rfft2d),
    "RFFT3D": _to_complex(fourier.rfft3d),
}


@kernel("DecodeWav")
def _decode_wav(
    contents: Any, *, desired_channels: int = -1, desired_samples: int = -1
) -> Sequence[Tensor]:
    return sound.decode_wav(contents, desired_channels, desired_samples)

"""Kernels of Fourier transforms and of sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, complex64, float32
from ...ops import casting, elementwise, shapes
from ...ops.arguments import known_value
from ...ops.signals import cepstra, fourier, sound, spectra
from ...values.tensor import Tensor, concrete
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


def _hann(size: int, dtype: DType) -> Tensor:
    """Hann's window as it goes on behind its end, of odd sizes too."""
    turns = np.arange(size) / size
    return concrete((0.5 - 0.5 * np.cos(2 * np.pi * turns)).astype(dtype.np_dtype))


@kernel("AudioSpectrogram")
def _spectrogram(
    x: Any, *, window_size: int, stride: int, magnitude_squared: bool = False
) -> Tensor:
    """The spectra [channels, frames, frequencies] of sound [time, channels]."""
    length = 1 << (window_size - 1).bit_length()
    found = spectra.stft(shapes.transpose(x), window_size, stride, length, _hann)
    found = elementwise.abs(found)
    return elementwise.square(found) if magnitude_squared else found


@kernel("Mfcc")
def _mfcc(
    x: Any,
    rate: Any,
    *,
    upper_frequency_limit: float = 4000.0,
    lower_frequency_limit: float = 20.0,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
) -> Tensor:
    limits = upper_frequency_limit, lower_frequency_limit
    counts = filterbank_channel_count, dct_coefficient_count
    return cepstra.mfcc(x, int(known_value(rate)), *limits, *counts)

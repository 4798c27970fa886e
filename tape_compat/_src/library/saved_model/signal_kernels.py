"""Kernels of Fourier transforms and of sound."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import DType
from ...ops import casting, elementwise, shapes
from ...ops.arguments import known_value
from ...ops.signals import cepstra, fourier, sound, spectra
from ...values.tensor import Tensor, concrete
from .registry import KERNELS, Kernel, calling, kernel

KERNELS |= {
    "DecodeWav": calling(sound.decode_wav, "desired_channels desired_samples"),
}

KERNELS |= {
    "EncodeWav": calling(sound.encode_wav),
    "FFT": calling(fourier.fft),
    "FFT2D": calling(fourier.fft2d),
    "FFT3D": calling(fourier.fft3d),
    "IFFT": calling(fourier.ifft),
    "IFFT2D": calling(fourier.ifft2d),
    "IFFT3D": calling(fourier.ifft3d),
}


def _to_complex(transform: Kernel) -> Kernel:
    def call(x: Any, length: Any, *, Tcomplex: DType) -> Tensor:
        return casting.cast(transform(x, length), Tcomplex)

    return call


def _to_real(transform: Kernel) -> Kernel:
    def call(x: Any, length: Any, *, Treal: DType) -> Tensor:
        return casting.cast(transform(x, length), Treal)

    return call


KERNELS |= {
    "IRFFT": _to_real(fourier.irfft),
    "IRFFT2D": _to_real(fourier.irfft2d),
    "IRFFT3D": _to_real(fourier.irfft3d),
    "RFFT": _to_complex(fourier.rfft),
    "RFFT2D": _to_complex(fourier.rfft2d),
    "RFFT3D": _to_complex(fourier.rfft3d),
}


def _hann(size: int, dtype: DType) -> Tensor:
    """Hann's window as it goes on behind its end, of odd sizes too."""
    turns = np.arange(size) / size
    return concrete((0.5 - 0.5 * np.cos(2 * np.pi * turns)).astype(dtype.np_dtype))


@kernel("AudioSpectrogram")
def _spectrogram(x: Any, *, window_size: int, stride: int, magnitude_squared: bool) -> Tensor:
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
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> Tensor:
    limits = upper_frequency_limit, lower_frequency_limit
    counts = filterbank_channel_count, dct_coefficient_count
    return cepstra.mfcc(x, int(known_value(rate)), *limits, *counts)

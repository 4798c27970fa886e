"""Spectra of short frames, and their mel bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...values.convert import convert
from ...values.tensor import Tensor, concrete
from ..arguments import known_value
from ..arithmetic import multiply
from ..casting import cast
from ..elementwise import rsqrt
from ..joining import pad
from ..shapes import host_shape
from .cosines import Window, dct, windowed
from .fourier import irfft, rfft
from .framing import frame, overlap_and_add, scalar
from .windows import hann_window


def _fft_length(fft_length: Any, frame_length: int) -> int:
    """By default the power of 2 that holds a frame."""
    if fft_length is not None:
        return scalar(fft_length)
    return int(2 ** np.ceil(np.log(frame_length) / np.log(2.0)))


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Short-time Fourier transform: [..., n] to [..., frames, fft_length // 2 + 1].

    Args:
      fft_length: by default the power of 2 from `frame_length` on.
      window_fn: takes a length and a `dtype`, gives the weights of the samples; None for ones.
      pad_end: whether zeros fill the last frames.
    Raises: ValueError for a scalar.

    >>> import tape_compat as tf
    >>> tf.signal.stft(tf.ones([8]), 4, 2).shape
    TensorShape([3, 3])
    """
    length = scalar(frame_length)
    size = _fft_length(fft_length, length)
    frames = frame(signals, length, frame_step, pad_end=pad_end)
    return rfft(windowed(frames, window_fn, length, frames.dtype), [size])


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window with which `inverse_stft` restores what `stft` took apart with another one.

    >>> import tape_compat as tf
    >>> x = tf.random.normal([16])
    >>> y = tf.signal.inverse_stft(
    ...     tf.signal.stft(x, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)
    ... )
    >>> float(tf.reduce_max(tf.abs(x - y)[4:-4])) < 1e-5
    True
    """

    def window_fn(frame_length: Any, dtype: Any) -> Tensor:
        length, step = scalar(frame_length), scalar(frame_step)
        forward = known_value(forward_window_fn(length, dtype=dtype)).astype(np.float64)
        pieces = -(-length // step)
        powers = np.zeros(pieces * step)
        powers[:length] = forward**2
        total = np.tile(powers.reshape(pieces, step).sum(0), pieces)[:length]
        safe = np.where(total == 0, 1, total)
        return concrete(np.where(total == 0, 0, forward / safe).astype(as_dtype(dtype).np_dtype))

    return window_fn


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The inverse of `stft`, with the window of `inverse_stft_window_fn`: [..., n].

    Raises: ValueError for another rank.
    """
    x = convert(stfts)
    if len(x._aval.shape) < 2:
        raise ValueError(f"Shape {x.shape} must have rank at least 2")
    length = scalar(frame_length)
    size = _fft_length(fft_length, length)
    frames = irfft(x, [size])
    if size > length:
        frames = frames[..., :length]
    elif size < length:
        none = [[0, 0]] * (len(x._aval.shape) - 1)
        frames = pad(frames, [*none, [0, length - size]])
    return overlap_and_add(windowed(frames, window_fn, length, frames.dtype), frame_step)


def _mel(hertz: Any) -> Any:
    """Frequencies as HTK's mel."""
    return 1127.0 * np.log(1.0 + hertz / 700.0)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Weights [num_spectrogram_bins, num_mel_bins] of linear frequencies in triangular mel bands.

    Args:
      sample_rate: in Hertz; the linear frequencies go from 0 to half of it.
      lower_edge_hertz, upper_edge_hertz: of the lowest and the highest band.
    Raises: ValueError for edges that do not fit or a dtype that is not floating.

    >>> import tape_compat as tf
    >>> tf.signal.linear_to_mel_weight_matrix().shape
    TensorShape([129, 20])
    """
    kind, rate = as_dtype(dtype), known_value(sample_rate).item()
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(
            f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}"
        )
    if rate <= 0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if upper_edge_hertz > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got {upper_edge_hertz} for sample_rate: {rate}"
        )
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {kind!r}")
    bins = _mel(np.linspace(0, rate / 2, num_spectrogram_bins))[1:, None]
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
    low, center, high = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (bins - low) / (center - low), (high - bins) / (high - center)
    weights = np.maximum(0, np.minimum(rising, falling))
    return concrete(np.pad(weights, [(1, 0), (0, 0)]).astype(kind.np_dtype))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Cepstral coefficients [..., bins] of the logarithms of mel spectra [..., bins].

    Raises: ValueError if there are no bins.

    >>> import tape_compat as tf
    >>> tf.signal.mfccs_from_log_mel_spectrograms([1.0, 1.0]).numpy().round(4).tolist()
    [2.0, 0.0]
    """
    x = convert(log_mel_spectrograms)
    bins = x._aval.shape[-1]
    if bins.__class__ is int and not bins:
        raise ValueError(f"num_mel_bins must be positive. Got: {x}")
    twice = cast(2 * host_shape((bins,), dtypes.int32)[0], x.dtype)
    return multiply(dct(x, type=2), rsqrt(twice))

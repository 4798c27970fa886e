"""Windows: weights of the samples of a frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.refuse import invalid
from ...values.tensor import Tensor, concrete
from ..arguments import known_value


def _length(window_length: Any, dtype: DType) -> int:
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    known = known_value(window_length)
    if known.ndim:
        raise ValueError(f"Shape {known.shape} must have rank 0")
    length = int(known)
    if length < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 0/{length}", "Range")
    return length


def _made(values: np.ndarray, dtype: DType) -> Tensor:
    return concrete(np.asarray(values).astype(dtype.np_dtype))


def _raised_cosine(
    window_length: Any, periodic: Any, dtype: Any, mean: float, half: float
) -> Tensor:
    dtype = as_dtype(dtype)
    length = _length(window_length, dtype)
    if length == 1:
        return _made(np.ones(1), dtype)
    # As in TensorFlow, a window of odd length is never periodic.
    turn = length + bool(known_value(periodic)) * (1 - length % 2) - 1
    return _made(mean - half * np.cos(2 * np.pi * np.arange(length) / turn), dtype)


def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Hann's window [window_length]: 0.5 - 0.5 cos; `periodic` for spectra, else symmetric.

    Raises: ValueError for a dtype that is not floating.

    >>> import tape_compat as tf
    >>> tf.signal.hann_window(4).numpy().tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Hamming's window [window_length]: 0.54 - 0.46 cos; see `hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Kaiser's window [window_length]; the larger `beta`, the narrower.

    >>> import tape_compat as tf
    >>> tf.signal.kaiser_window(3, 0.0).numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    dtype = as_dtype(dtype)
    length = _length(window_length, dtype)
    if not length:
        raise invalid("Requires start <= limit when delta > 0: 0.5/-0.4", "Range")
    return _made(np.kaiser(length, float(known_value(beta))), dtype)


def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """The window of Kaiser and Bessel for `mdct`: squares at a distance of half of it sum to 1."""
    dtype = as_dtype(dtype)
    half = _length(window_length, dtype) // 2
    total = np.cumsum(np.kaiser(half + 1, float(known_value(beta))))
    rising = np.sqrt(total[:-1] / total[-1])
    return _made(np.concatenate([rising, rising[::-1]]), dtype)


def vorbis_window(
    window_length: Any, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Vorbis' window for `mdct`: squares at a distance of half of it sum to 1.

    >>> import tape_compat as tf
    >>> (tf.signal.vorbis_window(2) ** 2).numpy().round(3).tolist()
    [0.5, 0.5]
    """
    dtype = as_dtype(dtype)
    length = _length(window_length, dtype)
    inner = np.sin(np.pi / max(length, 1) * (np.arange(length) + 0.5))
    return _made(np.sin(np.pi / 2 * inner**2), dtype)

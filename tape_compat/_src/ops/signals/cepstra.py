"""Cepstral coefficients of spectrograms as files of sound are made into features."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.op import Op
from ...values.record import apply
from ...values.tensor import Tensor

#: The least sum of a band, before its logarithm is taken.
_LEAST = 1e-12


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(hertz / 700.0)


@functools.lru_cache(maxsize=64)
def _bands(bins: int, rate: int, high: float, low: float, count: int) -> np.ndarray:
    """The share that each of `count` triangular bands has of each frequency: float64 [bins, count].

    Bands are as far from each other in mel, the first and the last begin and end at `low` and
    `high`, in Hertz; frequencies outside of these are in none.
    """
    width = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / width), int(high / width)
    edges = _mel(low) + (_mel(high) - _mel(low)) / (count + 1) * np.arange(count + 2)
    place = _mel(width * np.arange(bins))
    above = np.clip(np.searchsorted(edges[1:], place), 0, count)
    falling = (edges[above + 1] - place) / (edges[above + 1] - edges[above])
    shares = np.zeros((bins, count + 2))
    rows = np.arange(bins)
    shares[rows, above] = falling
    shares[rows, above + 1] = 1 - falling
    shares[(rows < first) | (rows > last)] = 0
    return shares[:, 1:-1]


def _coefficients(x: Any, *, rate: int, high: float, low: float, bands: int, count: int) -> Any:
    sums = jnp.sqrt(x.astype(np.float64)) @ _bands(x.shape[-1], rate, high, low, bands)
    angles = np.arange(count)[:, None] * np.pi / bands * (np.arange(bands) + 0.5)
    cosines = np.sqrt(2.0 / bands) * np.cos(angles)
    return (jnp.log(jnp.maximum(sums, _LEAST)) @ cosines.T).astype(x.dtype)


_MFCC = Op(_coefficients, "Mfcc")


def mfcc(spectrogram: Tensor, rate: int, high: float, low: float, bands: int, count: int) -> Tensor:
    """The first `count` cepstral coefficients of spectra [..., frequencies] of squares."""
    closure = _MFCC.bind(rate=rate, high=high, low=low, bands=bands, count=count)
    return apply(closure, (spectrogram,))

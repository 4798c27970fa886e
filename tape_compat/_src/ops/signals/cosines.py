"""Cosine transforms, and the modified one of frames that overlap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.avals import Aval
from ...core.dimensions import Size, less
from ...core.op import Op
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arithmetic import multiply
from ..joining import concat, split
from ..ordering import reverse
from .framing import frame, overlap_and_add, scalar
from .windows import vorbis_window


def _turns(count: Any, sign: int, dtype: Any) -> Any:
    """2 exp(i pi k / 2n) for k below n."""
    angle = np.arange(count) * (sign * math.pi * 0.5 / count)
    return (2 * np.exp(1j * angle)).astype(np.result_type(dtype, np.complex64))


def _sized(x: Any, n: Any) -> Any:
    if n is None:
        return x
    x = x[..., :n]
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])])


def _second(x: Any) -> Any:
    n = x.shape[-1]
    return jnp.real(jnp.fft.rfft(x, n=2 * n)[..., :n] * _turns(n, -1, x.dtype))


def _cosine(x: Any, kind: int, n: Any, ortho: bool) -> Any:
    x = _sized(x, n)
    n = x.shape[-1]
    if n == 0:
        return x
    if kind == 1:
        return jnp.real(jnp.fft.rfft(jnp.concatenate([x, x[..., -2:0:-1]], -1)))
    first = np.where(np.arange(n) == 0, math.sqrt(2), 1)
    if kind == 2:
        unit = (math.sqrt(0.5 / n) / first).astype(x.dtype)
        return _second(x) * unit if ortho else _second(x)
    if kind == 3:
        x = x * (first * math.sqrt(0.5 * n)).astype(x.dtype) if ortho else x * n
        return jnp.fft.irfft(_turns(n, 1, x.dtype) * x, n=2 * n)[..., :n]
    found = _second(_sized(x, 2 * n))[..., 1::2]
    return found * np.asarray(math.sqrt(0.5 / n), x.dtype) if ortho else found


def _shape(avals: tuple[Aval, ...], kind: int, n: Size | None, ortho: bool) -> Aval:
    x = avals[0]
    return x if n is None else Aval.of((*x.shape[:-1], n), x.dtype)


_COSINE = {kind: Op(_cosine, f"DCT{kind}", shapes=_shape) for kind in (1, 2, 3, 4)}


def _checked(input: Any, kind: Any, n: Any, axis: Any, norm: Any) -> Tensor:
    x = convert(input)
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if kind == 1 and less(x._aval.shape[-1], 2):
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if x.dtype.name not in ("float32", "float64"):
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {x.dtype.name} {x.dtype.name}."
            " They must be consistent, and one of [tf.float32, tf.float64]"
        )
    return x


def _transformed(x: Tensor, kind: int, n: Any, norm: str | None) -> Tensor:
    length = None if n is None else scalar(n)
    return apply(_COSINE[kind].bind(kind=kind, n=length, ortho=norm == "ortho"), (x,))


def dct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Cosine transform of type 1 to 4 of the last axis, of float32 or float64.

    Args:
      n: pads with zeros or cuts to this length first.
      norm: "ortho" makes the transform orthonormal; not with type 1.
    Raises: ValueError for another type or norm.

    >>> import tape_compat as tf
    >>> tf.signal.dct([1.0, 1.0]).numpy().round(4).tolist()
    [4.0, 0.0]
    """
    return _transformed(_checked(input, type, n, axis, norm), type, n, norm)


def idct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct` of the same type; without "ortho", 2 n times it (type 1: 2 (n - 1)).

    >>> import tape_compat as tf
    >>> x = tf.signal.dct([1.0, 3.0], norm="ortho")
    >>> tf.signal.idct(x, norm="ortho").numpy().round(4).tolist()
    [1.0, 3.0]
    """
    x = _checked(input, type, n, axis, norm)
    return _transformed(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, norm)


Window = Callable[..., Any]


def windowed(frames: Tensor, window_fn: Window | None, length: Any, dtype: Any) -> Tensor:
    """Frames times the window of their length."""
    return frames if window_fn is None else multiply(frames, window_fn(length, dtype=dtype))


def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Modified cosine transform: [..., n] to [..., frames, frame_length / 2].

    Frames overlap by half. Args: as of `stft`; norm: of the `dct` of type 4 that it consists of.
    Raises: ValueError if `frame_length` is no multiple of 4.
    """
    length = scalar(frame_length)
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(signals, length, length // 2, pad_end=pad_end)
    if window_fn is None:
        frames = multiply(frames, convert(1 / math.sqrt(2), frames.dtype))
    frames = windowed(frames, window_fn, length, frames.dtype)
    a, b, c, d = split(frames, 4, axis=-1)
    folded = concat([-reverse(c, [-1]) - d, a - reverse(b, [-1])], -1)
    return dct(folded, type=4, norm=norm)


def inverse_mdct(
    mdcts: Any,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `mdct`: [..., frames, half] to [..., n].

    What only one frame covers, half a frame at either end, is not restored.
    Raises: ValueError for another rank.
    """
    x = convert(mdcts)
    if len(x._aval.shape) < 2:
        raise ValueError(f"Shape {x.shape} must have rank at least 2")
    half = x._aval.shape[-1]
    found = dct(x, type=4, norm=norm)
    if norm is None:
        found = multiply(found, convert(0.5 / half, x.dtype))
    a, b = split(found, 2, axis=-1)
    frames = concat([b, -reverse(b, [-1]), -reverse(a, [-1]), -a], -1)
    if window_fn is None:
        frames = multiply(frames, convert(1 / math.sqrt(2), x.dtype))
    return overlap_and_add(windowed(frames, window_fn, 2 * half, x.dtype), half)

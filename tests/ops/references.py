"""NumPy references and helpers of several tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def np_softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def _pads(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    if padding == "VALID":
        return 0, 0
    reach = (window - 1) * dilation + 1
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def np_patches(
    x: Any, window: Sequence[int], strides: int, padding: str, dilations: int = 1, fill: float = 0.0
) -> Any:
    """Windows of x [n, ..., c]: [n, positions..., c, window...]."""
    rank = len(window)
    pads = [_pads(x.shape[1 + i], window[i], strides, dilations, padding) for i in range(rank)]
    x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)
    reach = [(w - 1) * dilations + 1 for w in window]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(1, rank + 1)))
    steps = (slice(None), *(slice(None, None, strides),) * rank, slice(None))
    return view[(*steps, *(slice(None, None, dilations),) * rank)]


BOOLS = (np.array([True, True, False, False]), np.array([True, False, True, False]))

T = np.swapaxes


def positive(tf, x):
    """A positive definite matrix of any matrix, so that central differences stay inside."""
    return tf.matmul(x, x, transpose_b=True) + tf.eye(x.shape[-1], dtype=x.dtype)


def np_positive(x):
    return x @ T(x, -1, -2) + np.eye(x.shape[-1])

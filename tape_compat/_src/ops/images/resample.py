"""Pixels between pixels, on the host."""

from __future__ import annotations

import numpy as np

from ...core.native import native


@native
def resample(
    images: np.ndarray,
    found: np.ndarray,
    above: np.ndarray,
    below: np.ndarray,
    down: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    across: np.ndarray,
) -> None:
    """Fill `found` [n, h', w', c], float32, with what lies between pixels of images [n, h, w, c],
    uint8 or float32: in each row at the share `across` from the pixels `left` to those `right`, and
    so between the rows `above` and `below`. Other threads run meanwhile.
    """

    def row(place: int) -> np.ndarray:
        pixels = images[:, place].astype(np.float32)
        first = pixels.take(left, axis=1)
        return first + (pixels.take(right, axis=1) - first) * across[:, None]

    for i, (upper, lower, share) in enumerate(zip(above, below, down)):
        first = row(upper)
        found[:, i] = first + (row(lower) - first) * share

"""Rows of `ops/histograms.py`."""

import numpy as np

from .row import Row

VALUES = np.array([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0])
RANGE = np.array([0.0, 5.0])


def _bins(values, value_range, nbins):
    low, high = value_range
    return np.clip(np.floor((values - low) / (high - low) * nbins), 0, nbins - 1).astype(np.int32)


ROWS = [
    Row(
        "histogram_fixed_width",
        [VALUES, RANGE],
        lambda *args, nbins: np.bincount(_bins(*args, nbins), minlength=nbins),
        {"nbins": 4},
        gradient=False,
    ),
    Row("histogram_fixed_width_bins", [VALUES, RANGE], _bins, {"nbins": 4}, gradient=False),
]

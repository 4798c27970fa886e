"""Rows of `ops/diagonals.py`."""

import numpy as np

from .row import Row
from .samples import BATCH, A, S, W


def banded(x, k, shape):
    out = np.zeros(shape)
    for i, value in enumerate(x):
        out[i - min(k, 0), i + max(k, 0)] = value
    return out


ROWS = [
    Row("linalg.diag", [A], lambda x: np.stack([np.diag(r) for r in x])),
    Row(
        "linalg.diag",
        [W],
        lambda x: np.diag(x, -1),
        program=lambda tf, x: tf.linalg.diag(x, k=-1),
        label="below",
    ),
    Row(
        "linalg.diag",
        [W],
        lambda x: banded(x, 1, (3, 5)),
        program=lambda tf, x: tf.linalg.diag(x, k=1, num_rows=3, num_cols=5),
        label="rectangle",
    ),
    Row(
        "linalg.diag",
        [A],
        lambda x: np.diag(x[1]) + np.diag(x[0, 1:], 1),
        program=lambda tf, x: tf.linalg.diag(x, k=(0, 1)),
        label="band",
    ),
    Row("linalg.diag_part", [BATCH], lambda x: np.diagonal(x, axis1=1, axis2=2)),
    Row(
        "linalg.diag_part",
        [A],
        lambda x: np.diag(x, 1),
        program=lambda tf, x: tf.linalg.diag_part(x, k=1),
        label="above",
    ),
    Row(
        "linalg.diag_part",
        [S],
        lambda x: np.stack([[0, *np.diag(x, 1)], np.diag(x), [*np.diag(x, -1), 0]]),
        program=lambda tf, x: tf.linalg.diag_part(x, k=(-1, 1)),
        label="band",
    ),
    Row(
        "linalg.diag_part",
        [S],
        lambda x: np.stack([[*np.diag(x, 1), 7], np.diag(x), [7, *np.diag(x, -1)]]),
        program=lambda tf, x: tf.linalg.diag_part(
            x, k=(-1, 1), padding_value=7, align="LEFT_RIGHT"
        ),
        label="aligned",
    ),
    Row("linalg.set_diag", [S, W], lambda x, d: x - np.diag(np.diag(x)) + np.diag(d)),
    Row(
        "linalg.set_diag",
        [S, W[:2]],
        lambda x, d: x - np.diag(np.diag(x, 1), 1) + np.diag(d, 1),
        program=lambda tf, x, d: tf.linalg.set_diag(x, d, k=1),
        label="above",
    ),
    Row(
        "linalg.band_part",
        [S],
        lambda x: np.tril(np.triu(x, -1)),
        program=lambda tf, x: tf.linalg.band_part(x, 1, 0),
    ),
    Row(
        "linalg.band_part",
        [BATCH],
        np.triu,
        program=lambda tf, x: tf.linalg.band_part(x, 0, -1),
        label="upper",
    ),
    Row("linalg.trace", [BATCH], lambda x: np.trace(x, axis1=1, axis2=2)),
    Row("linalg.tensor_diag", [A], lambda x: np.diag(x.ravel()).reshape(2, 3, 2, 3)),
    Row("linalg.tensor_diag_part", [S], np.diag),
]

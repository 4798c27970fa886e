"""Rows of `ops/joining.py`."""

import numpy as np

from .row import Row
from .samples import CUBE, V, X

ROWS = [
    Row(
        "pad",
        [X],
        lambda x: np.pad(x, [(1, 0), (2, 1)], constant_values=7),
        program=lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], constant_values=7),
    ),
    Row(
        "pad",
        [X],
        lambda x: np.pad(x, [(1, 1), (2, 1)], "reflect"),
        program=lambda tf, x: tf.pad(x, [[1, 1], [2, 1]], "reflect"),
        label="reflect",
    ),
    Row(
        "pad",
        [X],
        lambda x: np.pad(x, [(2, 1), (0, 3)], "symmetric"),
        program=lambda tf, x: tf.pad(x, [[2, 1], [0, 3]], "SYMMETRIC"),
        label="symmetric",
    ),
    Row(
        "concat",
        [X, CUBE[:, 0]],
        lambda x, y: np.concatenate([x, y, x], -1),
        program=lambda tf, x, y: tf.concat([x, y, x], -1),
    ),
    Row(
        "stack",
        [X, X**2],
        lambda x, y: np.stack([x, y], 1),
        program=lambda tf, x, y: tf.stack([x, y], 1),
    ),
    Row("unstack", [X], lambda x: list(x.T), program=lambda tf, x: tf.unstack(x, axis=1)),
    Row("split", [X], lambda x: np.split(x, 3, 1), program=lambda tf, x: tf.split(x, 3, 1)),
    Row(
        "split",
        [V],
        lambda x: [x[:1], x[1:], x[4:]],
        program=lambda tf, x: tf.split(x, [1, -1, 0]),
        label="sizes",
    ),
    Row("meshgrid", [V, X[0]], np.meshgrid),
    Row(
        "meshgrid",
        [V, X[0]],
        lambda x, y: np.meshgrid(x, y, indexing="ij"),
        program=lambda tf, x, y: tf.meshgrid(x, y, indexing="ij"),
        label="ij",
    ),
]

"""Rows of `ops/norms.py`."""

import numpy as np

from .row import Row
from .samples import A


def np_norm(order, axis=None, keepdims=False):
    return lambda x: np.linalg.norm(x, order, axis, keepdims)


ROWS = [
    Row("norm", [A], np_norm(None)),
    Row(
        "norm",
        [A],
        np_norm(None, 1, True),
        program=lambda tf, x: tf.norm(x, axis=1, keepdims=True),
        label="axis",
    ),
    Row("norm", [A], np_norm(1, 1), program=lambda tf, x: tf.norm(x, 1, axis=1), label="1"),
    Row("norm", [A], np_norm(3, 0), program=lambda tf, x: tf.norm(x, 3, axis=0), label="3"),
    Row("norm", [A], np_norm(2.2, 0), program=lambda tf, x: tf.norm(x, 2.2, axis=0), label="2.2"),
    Row(
        "norm",
        [A],
        np_norm(np.inf, 1),
        orders=1,
        program=lambda tf, x: tf.norm(x, np.inf, axis=1),
        label="inf",
    ),
    Row(
        "norm",
        [A],
        np_norm("fro", (0, 1)),
        program=lambda tf, x: tf.norm(x, "fro", axis=[0, 1]),
        label="fro",
    ),
    Row(
        "norm",
        [A],
        np_norm(1, (0, 1)),
        orders=1,
        program=lambda tf, x: tf.norm(x, 1, axis=[0, 1]),
        label="matrix 1",
    ),
    Row(
        "norm",
        [A],
        np_norm(np.inf, (-2, -1)),
        orders=1,
        program=lambda tf, x: tf.norm(x, np.inf, axis=[-2, -1]),
        label="matrix inf",
    ),
    Row(
        "norm",
        [A],
        np_norm(2, (0, 1)),
        program=lambda tf, x: tf.norm(x, 2, axis=[0, 1]),
        label="spectral",
    ),
    Row(
        "linalg.normalize",
        [A],
        lambda x: [
            x / np.linalg.norm(x, axis=1, keepdims=True),
            np.linalg.norm(x, axis=1, keepdims=True),
        ],
        program=lambda tf, x: tf.linalg.normalize(x, axis=1),
    ),
    Row(
        "linalg.normalize",
        [A],
        lambda x: [x / np.linalg.norm(x, 2.2, 1, True), np.linalg.norm(x, 2.2, 1, True)],
        program=lambda tf, x: tf.linalg.normalize(x, 2.2, axis=1),
        label="2.2",
    ),
]

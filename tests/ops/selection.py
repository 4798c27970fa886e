"""Rows of `ops/selection.py`."""

import numpy as np

from .row import Row
from .samples import WHERE, V, X

ROWS = [
    Row(
        "unravel_index",
        [np.array([5, 1], np.int32), np.array([2, 3], np.int32)],
        lambda indices, dims: np.array(np.unravel_index(indices, dims)),
        gradient=False,
    ),
    Row(
        "where",
        [X, X[:1] ** 2],
        lambda x, y: np.where(WHERE, x, y),
        program=lambda tf, x, y: tf.where(WHERE, x, y),
    ),
    Row("boolean_mask", [X], lambda x: x[WHERE], program=lambda tf, x: tf.boolean_mask(x, WHERE)),
    Row(
        "boolean_mask",
        [X],
        lambda x: x[:, WHERE[0]],
        program=lambda tf, x: tf.boolean_mask(x, WHERE[0], 1),
        label="axis",
    ),
    Row(
        "dynamic_partition",
        [V],
        lambda x: [x[1:2], x[[0, 2, 3]]],
        program=lambda tf, x: tf.dynamic_partition(x, [1, 0, 1, 1], 2),
    ),
    Row(
        "dynamic_stitch",
        [V[:2], V[2:]],
        lambda x, y: np.array([x[1], y[0], 0.0, y[1]]),
        program=lambda tf, x, y: tf.dynamic_stitch([[3, 0], [1, 3]], [x, y]),
        differs="TensorFlow gives a gradient to a value that another one overwrites",
    ),
    Row(
        "unique",
        [np.array([3, 1, 3, 7], np.int32)],
        lambda x: [np.array([3, 1, 7]), np.array([0, 1, 0, 2])],
        gradient=False,
    ),
    Row(
        "unique_with_counts",
        [np.array([3, 1, 3, 7], np.int32)],
        lambda x: [np.array([3, 1, 7]), np.array([0, 1, 0, 2]), np.array([2, 1, 1])],
        gradient=False,
    ),
]

"""Rows of `ops/gather_scatter.py`."""

import numpy as np

from .row import Row
from .samples import CUBE, V, X


def scattered(x, indices, updates, method):
    out = x.copy()
    method.at(out, tuple(np.moveaxis(np.asarray(indices), -1, 0)), updates)
    return out


def put(x, indices, updates):
    out = x.copy()
    out[tuple(np.moveaxis(np.asarray(indices), -1, 0))] = updates
    return out


def batched(x, i):
    return np.take_along_axis(x, np.asarray(i), 1)


ROWS = [
    Row("gather", [X], lambda x: x[[1, 0, 1]], program=lambda tf, x: tf.gather(x * 1.0, [1, 0, 1])),
    Row(
        "gather",
        [X],
        lambda x: x[:, [[2, 0]]],
        program=lambda tf, x: tf.gather(x, [[2, 0]], axis=1),
        label="axis",
    ),
    Row(
        "gather",
        [X],
        lambda x: batched(x, [[2, 0], [1, 1]]),
        program=lambda tf, x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        label="batch",
    ),
    Row(
        "gather_nd",
        [CUBE],
        lambda x: x[[0, 1, 0], [1, 2, 1]],
        program=lambda tf, x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]),
    ),
    Row(
        "gather_nd",
        [X],
        lambda x: x[[1, 1]],
        program=lambda tf, x: tf.gather_nd(x * 1.0, [[1], [1]]),
        label="rows",
    ),
    Row(
        "gather_nd",
        [X],
        lambda x: x[[0, 1], [2, 0]],
        program=lambda tf, x: tf.gather_nd(x, [[2], [0]], batch_dims=1),
        label="batch",
    ),
    Row(
        "scatter_nd",
        [V],
        lambda u: scattered(np.zeros(5), [[0], [3], [0], [1]], u, np.add),
        program=lambda tf, u: tf.scatter_nd([[0], [3], [0], [1]], u, [5]),
    ),
    Row(
        "tensor_scatter_nd_add",
        [V, X[0]],
        lambda x, u: scattered(x, [[0], [3], [0]], u, np.add),
        program=lambda tf, x, u: tf.tensor_scatter_nd_add(x, [[0], [3], [0]], u),
    ),
    Row(
        "tensor_scatter_nd_sub",
        [V, X[0]],
        lambda x, u: scattered(x, [[0], [3], [0]], u, np.subtract),
        program=lambda tf, x, u: tf.tensor_scatter_nd_sub(x, [[0], [3], [0]], u),
    ),
    Row(
        "tensor_scatter_nd_max",
        [V, X[0]],
        lambda x, u: scattered(x, [[0], [3], [0]], u, np.maximum),
        program=lambda tf, x, u: tf.tensor_scatter_nd_max(x, [[0], [3], [0]], u),
    ),
    Row(
        "tensor_scatter_nd_min",
        [V, X[0]],
        lambda x, u: scattered(x, [[0], [3], [0]], u, np.minimum),
        program=lambda tf, x, u: tf.tensor_scatter_nd_min(x, [[0], [3], [0]], u),
    ),
    Row(
        "tensor_scatter_nd_update",
        [V, X[0]],
        lambda x, u: put(x, [[0], [3], [1]], u),
        program=lambda tf, x, u: tf.tensor_scatter_nd_update(x, [[0], [3], [1]], u),
    ),
]

"""Rows of `ops/lu_factors.py`."""

import numpy as np

from .row import Row
from .samples import BATCH, B, S

PLACES = np.array([2, 0, 1], np.int32)
SEVERAL = np.array([[2, 0, 1], [0, 2, 1]], np.int32)


def dense(factors, places):
    product = (np.tril(factors, -1) + np.eye(factors.shape[-1])) @ np.triu(factors)
    return np.take_along_axis(product, np.argsort(places, -1)[..., None], -2)


ROWS = [
    Row("linalg.lu_solve", [S, PLACES, B], lambda x, p, b: np.linalg.solve(dense(x, p), b)),
    Row(
        "linalg.lu_solve",
        [BATCH, SEVERAL, B],
        lambda x, p, b: np.linalg.solve(dense(x, p), b),
        label="batch",
    ),
    Row(
        "linalg.lu_matrix_inverse",
        [BATCH, SEVERAL],
        lambda x, p: np.linalg.inv(dense(x, p)),
    ),
    Row("linalg.lu_reconstruct", [BATCH, SEVERAL], dense),
    Row(
        "linalg.lu_reconstruct",
        [S],
        lambda x: x,
        program=lambda tf, x: tf.linalg.lu_reconstruct(*tf.linalg.lu(x)),
        orders=0,
        label="of lu",
    ),
]

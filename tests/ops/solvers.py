"""Rows of `ops/solvers.py`."""

import numpy as np

from .references import np_positive, positive
from .row import Row
from .samples import BATCH, A, B, S

ROWS = [
    Row("linalg.inv", [BATCH], np.linalg.inv),
    Row(
        "linalg.inv",
        [S],
        lambda x: np.linalg.inv(x.T),
        program=lambda tf, x: tf.linalg.inv(x, adjoint=True),
        label="adjoint",
    ),
    Row("linalg.det", [BATCH], np.linalg.det),
    Row(
        "linalg.slogdet",
        [S],
        lambda x: list(np.linalg.slogdet(x)),
        program=lambda tf, x: list(tf.linalg.slogdet(x)),
    ),
    Row(
        "linalg.logdet",
        [S],
        lambda x: np.log(np.linalg.det(np_positive(x))),
        program=lambda tf, x: tf.linalg.logdet(positive(tf, x)),
    ),
    Row(
        "linalg.cholesky",
        [BATCH],
        lambda x: np.linalg.cholesky(np_positive(x)),
        program=lambda tf, x: tf.linalg.cholesky(positive(tf, x)),
    ),
    Row(
        "linalg.cholesky_solve",
        [S, B],
        lambda x, b: np.linalg.solve(np_positive(x), b),
        program=lambda tf, x, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(positive(tf, x)), b),
    ),
    Row("linalg.solve", [S, B], np.linalg.solve),
    Row(
        "linalg.solve",
        [S, B],
        lambda a, b: np.linalg.solve(a.T, b),
        program=lambda tf, a, b: tf.linalg.solve(a, b, adjoint=True),
        label="adjoint",
    ),
    Row("linalg.triangular_solve", [S, B], lambda a, b: np.linalg.solve(np.tril(a), b)),
    Row(
        "linalg.triangular_solve",
        [S, B],
        lambda a, b: np.linalg.solve(np.triu(a).T, b),
        program=lambda tf, a, b: tf.linalg.triangular_solve(a, b, False, True),
        label="upper",
    ),
    Row(
        "linalg.triangular_solve",
        [BATCH, B],
        lambda a, b: np.linalg.solve(np.tril(a), np.broadcast_to(b, (2, 3, 4))),
        label="batch",
    ),
    Row("linalg.lstsq", [A.T.copy(), B], lambda a, b: np.linalg.lstsq(a, b)[0], label="tall"),
    Row("linalg.lstsq", [A, B[:2]], lambda a, b: np.linalg.lstsq(a, b)[0], label="wide"),
    Row(
        "linalg.lstsq",
        [A.T.copy(), B],
        lambda a, b: np.linalg.solve(a.T @ a + 0.5 * np.eye(2), a.T @ b),
        program=lambda tf, a, b: tf.linalg.lstsq(a, b, 0.5),
        label="ridge",
    ),
    Row(
        "linalg.lstsq",
        [A.T.copy(), B],
        lambda a, b: np.linalg.lstsq(a, b)[0],
        orders=1,
        program=lambda tf, a, b: tf.linalg.lstsq(a, b, fast=False),
        differs="TensorFlow has no gradient for fast=False",
        label="slow",
    ),
]

"""Rows of `ops/decompositions.py`."""

import numpy as np
import scipy.linalg

from .references import T, np_positive, positive
from .row import Row
from .samples import BATCH, A, S, W


def hermitian(tf, x):
    return x + tf.linalg.matrix_transpose(x)


ROWS = [
    Row(
        "linalg.qr",
        [S],
        lambda x: list(np.linalg.qr(x)),
        program=lambda tf, x: list(tf.linalg.qr(x)),
    ),
    Row(
        "linalg.qr",
        [A.T.copy()],
        lambda x: list(np.linalg.qr(x)),
        program=lambda tf, x: list(tf.linalg.qr(x)),
        label="tall",
    ),
    Row(
        "linalg.qr",
        [A],
        lambda x: list(np.linalg.qr(x)),
        program=lambda tf, x: list(tf.linalg.qr(x)),
        label="wide",
    ),
    Row(
        "linalg.svd",
        [A],
        lambda x: np.linalg.svd(x, compute_uv=False),
        program=lambda tf, x: tf.linalg.svd(x, compute_uv=False),
        label="values",
    ),
    # Squares of the vectors, whose signs are free.
    Row(
        "linalg.svd",
        [A.T.copy()],
        lambda x: (lambda u, s, vh: [s**2, u**2, vh.T**2])(*np.linalg.svd(x, False)),
        program=lambda tf, x: [t**2 for t in tf.linalg.svd(x)],
        label="tall",
    ),
    Row(
        "linalg.svd",
        [A],
        lambda x: (lambda u, s, vh: [s**2, u**2, vh.T**2])(*np.linalg.svd(x, False)),
        program=lambda tf, x: [t**2 for t in tf.linalg.svd(x)],
        label="wide",
    ),
    Row(
        "linalg.svd",
        [S],
        lambda x: (lambda u, s, vh: [s**2, u**2, vh.T**2])(*np.linalg.svd(x)),
        program=lambda tf, x: [t**2 for t in tf.linalg.svd(x, full_matrices=True)],
        label="full",
    ),
    Row(
        "linalg.eigh",
        [S],
        lambda x: [t**2 for t in np.linalg.eigh(x + x.T)],
        program=lambda tf, x: [t**2 for t in tf.linalg.eigh(hermitian(tf, x))],
    ),
    Row(
        "linalg.eigvalsh",
        [BATCH],
        lambda x: np.linalg.eigvalsh(x + T(x, -1, -2)),
        program=lambda tf, x: tf.linalg.eigvalsh(hermitian(tf, x)),
    ),
    Row("linalg.pinv", [A], np.linalg.pinv, orders=1),
    Row(
        "linalg.pinv",
        [A],
        lambda x: np.linalg.pinv(x, 0.01),
        program=lambda tf, x: tf.linalg.pinv(x, 0.01),
        orders=1,
        label="rcond",
    ),
    Row("linalg.expm", [np.diag(W) + np.eye(3, k=1)], scipy.linalg.expm),
    Row(
        "linalg.sqrtm",
        [S],
        lambda x: scipy.linalg.sqrtm(np_positive(x)),
        program=lambda tf, x: tf.linalg.sqrtm(positive(tf, x)),
    ),
    Row(
        "linalg.logm",
        [S + 1j * np.eye(3)],
        scipy.linalg.logm,
        orders=0,
    ),
    Row("linalg.matrix_rank", [np.outer(W, W)], lambda x: 1, gradient=False),
    Row(
        "linalg.matrix_rank",
        [np.diag([3.0, 2.0, 1.0])],
        lambda x: 2,
        gradient=False,
        program=lambda tf, x: tf.linalg.matrix_rank(x, 1.5),
        label="tol",
    ),
    # P, L and U are unique; the op gives L and U in one matrix, P as a permutation.
    Row(
        "linalg.lu",
        [S],
        lambda x: scipy.linalg.lu_factor(x)[0],
        program=lambda tf, x: tf.linalg.lu(x)[0],
        orders=0,
    ),
    Row(
        "linalg.eigvals",
        [np.diag(W) + np.eye(3, k=1)],
        lambda x: np.sum(W),
        program=lambda tf, x: tf.math.real(tf.reduce_sum(tf.linalg.eigvals(x))),
        orders=1,
    ),
    Row(
        "linalg.eig",
        [np.diag(W) + np.eye(3, k=1)],
        lambda x: np.sum(W),
        program=lambda tf, x: tf.math.real(tf.reduce_sum(tf.linalg.eig(x)[0])),
        orders=1,
    ),
]

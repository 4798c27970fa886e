"""Rows of `ops/products.py`."""

import numpy as np

from .references import T
from .row import Row
from .samples import BATCH, A, B, P, S, W, Z

ROWS = [
    Row("matmul", [A, B], np.matmul),
    Row(
        "matmul",
        [A.T.copy(), B.T.copy()],
        lambda a, b: a.T @ b.T,
        program=lambda tf, a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        label="transposed",
    ),
    Row("matmul", [BATCH, B], np.matmul, label="batch"),
    Row(
        "matmul",
        [S + 1j * P, S - 2j * P],
        lambda a, b: a.conj().T @ b,
        orders=0,
        program=lambda tf, a, b: tf.matmul(a, b, adjoint_a=True),
        label="adjoint",
    ),
    Row("linalg.matvec", [A, W], np.matmul),
    Row(
        "linalg.matvec",
        [A, W[:2]],
        lambda a, x: a.T @ x,
        program=lambda tf, a, x: tf.linalg.matvec(a, x, transpose_a=True),
        label="transposed",
    ),
    Row(
        "tensordot",
        [BATCH, BATCH[:, :2].T.copy()],
        lambda a, b: np.tensordot(a, b, [[0, 2], [1, 0]]),
        program=lambda tf, a, b: tf.tensordot(a, b, [[0, 2], [1, 0]]),
    ),
    Row(
        "tensordot",
        [A, W],
        lambda a, b: np.tensordot(a, b, 0),
        program=lambda tf, a, b: tf.tensordot(a, b, 0),
        label="outer",
    ),
    Row(
        "einsum",
        [BATCH, B],
        lambda a, b: np.einsum("bij,jk->bki", a, b),
        program=lambda tf, a, b: tf.einsum("bij, jk -> bki", a, b),
    ),
    Row(
        "einsum",
        [BATCH, W],
        lambda a, b: np.einsum("...ij,...j->...i", a, b),
        program=lambda tf, a, b: tf.einsum("...ij,...j->...i", a, b),
        label="ellipsis",
    ),
    Row("einsum", [S], np.diag, program=lambda tf, a: tf.einsum("ii->i", a), label="diagonal"),
    Row(
        "einsum",
        [A, B],
        np.matmul,
        program=lambda tf, a, b: tf.einsum("ij,jk", a, b),
        label="implicit",
    ),
    Row("linalg.cross", [W, S[0]], np.cross),
    Row("linalg.matrix_transpose", [BATCH], lambda x: T(x, -1, -2)),
    Row("linalg.adjoint", [Z], lambda x: x.conj().T, orders=0),
]

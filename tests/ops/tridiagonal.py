"""Rows of `ops/tridiagonal.py`."""

import numpy as np

from .row import Row
from .samples import RNG

THREE = RNG.normal(size=(3, 4)) + np.array([0, 4, 0])[:, None]
RIGHT = RNG.normal(size=(4, 2))
BATCH = RNG.normal(size=(2, 3, 4)) + np.array([0, 4, 0])[:, None]
RIGHTS = RNG.normal(size=(2, 4, 2))
BANDS = RNG.normal(size=(2, 4)) + 2


def dense(three):
    upper, main, lower = np.moveaxis(three, -2, 0)
    n = main.shape[-1]
    x = np.zeros((*main.shape, n), three.dtype)
    i = np.arange(n)
    x[..., i, i] = main
    x[..., i[:-1], i[1:]] = upper[..., :-1]
    x[..., i[1:], i[:-1]] = lower[..., 1:]
    return x


def banded(bands):
    return np.diag(bands[0]) + np.diag(bands[1][1:], -1)


def sequence(tf, upper, main, lower, rhs):
    return tf.linalg.tridiagonal_solve([upper, main, lower], rhs, diagonals_format="sequence")


def rebuilt(tf, main, upper):
    values, vectors = tf.linalg.eigh_tridiagonal(main, upper, eigvals_only=False)
    return vectors @ tf.linalg.diag(tf.cast(values, main.dtype)) @ tf.linalg.adjoint(vectors)


ROWS = [
    Row("linalg.tridiagonal_matmul", [THREE, RIGHT], lambda x, b: dense(x) @ b),
    Row("linalg.tridiagonal_matmul", [BATCH, RIGHTS], lambda x, b: dense(x) @ b, label="batch"),
    Row(
        "linalg.tridiagonal_matmul",
        [dense(THREE), RIGHT],
        lambda x, b, **_: np.triu(np.tril(x, 1), -1) @ b,
        options={"diagonals_format": "matrix"},
        label="matrix",
    ),
    Row("linalg.tridiagonal_solve", [THREE, RIGHT], lambda x, b: np.linalg.solve(dense(x), b)),
    Row(
        "linalg.tridiagonal_solve",
        [BATCH, RIGHTS],
        lambda x, b: np.linalg.solve(dense(x), b),
        label="batch",
    ),
    Row(
        "linalg.tridiagonal_solve",
        [THREE[0, :3], THREE[1], THREE[2, 1:], RIGHT[:, 0]],
        lambda u, d, l, b: np.linalg.solve(np.diag(d) + np.diag(u, 1) + np.diag(l, -1), b),
        program=sequence,
        label="sequence",
    ),
    Row(
        "linalg.eigh_tridiagonal",
        [THREE[1], THREE[0, :3]],
        lambda d, u: np.linalg.eigvalsh(np.diag(d) + np.diag(u, 1) + np.diag(u, -1)),
        orders=1,
        differs="TensorFlow's gradient is that of its search, and not of the eigenvalues",
    ),
    Row(
        "linalg.eigh_tridiagonal",
        [THREE[1], THREE[0, :3]],
        lambda d, u: np.linalg.eigvalsh(np.diag(d) + np.diag(u, 1) + np.diag(u, -1))[1:3],
        program=lambda tf, d, u: tf.linalg.eigh_tridiagonal(d, u, select="i", select_range=(1, 2)),
        orders=1,
        differs="TensorFlow's gradient is that of its search, and not of the eigenvalues",
        label="range",
    ),
    Row(
        "linalg.eigh_tridiagonal",
        [THREE[1], THREE[0, :3] * (1 + 2j)],
        lambda d, u: np.diag(d) + np.diag(u, 1) + np.diag(np.conj(u), -1),
        program=lambda tf, d, u: rebuilt(tf, tf.cast(d, tf.complex128), u),
        orders=0,
        label="vectors",
    ),
    Row(
        "linalg.banded_triangular_solve",
        [BANDS, RIGHT],
        lambda x, b: np.linalg.solve(banded(x), b),
    ),
    Row(
        "linalg.banded_triangular_solve",
        [BANDS[::-1].copy(), RIGHT],
        lambda x, b: np.linalg.solve((np.diag(x[1]) + np.diag(x[0][:-1], 1)).T, b),
        program=lambda tf, x, b: tf.linalg.banded_triangular_solve(x, b, False, True),
        label="upper adjoint",
    ),
]

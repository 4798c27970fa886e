"""Rows of `ops/shapes.py`."""

import numpy as np

from .row import Row
from .samples import CUBE, X, Z

ROWS = [
    Row("identity", [X], lambda x: x),
    Row(
        "guarantee_const", [X], lambda x: x, differs="TensorFlow has no gradient of GuaranteeConst"
    ),
    Row("reshape", [X], lambda x: x.reshape(3, 2), program=lambda tf, x: tf.reshape(x, [3, -1])),
    Row("transpose", [CUBE], np.transpose),
    Row(
        "transpose",
        [CUBE],
        lambda x: x.transpose(2, 0, 1),
        program=lambda tf, x: tf.transpose(x, [2, 0, 1]),
        label="perm",
    ),
    Row(
        "transpose",
        [CUBE],
        lambda x: x.transpose(2, 0, 1),
        program=lambda tf, x: tf.transpose(x, [-1, 0, 1]),
        label="negative",
        differs="TensorFlow has no gradient of a negative permutation",
    ),
    Row(
        "transpose",
        [Z],
        lambda x: x.conj().T,
        orders=0,
        program=lambda tf, x: tf.transpose(x, conjugate=True),
        label="conjugate",
    ),
    Row("expand_dims", [X], lambda x: x[:, None], program=lambda tf, x: tf.expand_dims(x, 1)),
    Row("squeeze", [X[None]], lambda x: x[0], program=lambda tf, x: tf.squeeze(x, [0])),
    Row(
        "identity_n", [X, X**2], lambda x, y: [x, y], program=lambda tf, x, y: tf.identity_n([x, y])
    ),
    Row("ensure_shape", [X], lambda x: x, program=lambda tf, x: tf.ensure_shape(x, [2, None])),
    Row("shape", [X], lambda x: np.array([2, 3]), gradient=False),
    Row(
        "shape_n",
        [X, CUBE],
        lambda x, y: [np.array([2, 3]), np.array([2, 3, 4])],
        program=lambda tf, x, y: tf.shape_n([x, y]),
        gradient=False,
    ),
    Row("size", [CUBE], lambda x: 24, gradient=False),
    Row("rank", [CUBE], lambda x: 3, gradient=False),
    Row(
        "broadcast_dynamic_shape",
        [np.array([2, 1], np.int32), np.array([3], np.int32)],
        lambda x, y: np.array([2, 3]),
        gradient=False,
    ),
]

#: Public ops without a row, and why.
WITHOUT_ROW = {"broadcast_static_shape": "takes shapes, not tensors; see test_array.py"}

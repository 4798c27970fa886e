"""Rows of `ops/creation.py`."""

import numpy as np

from .row import Row
from .samples import V, X


def one_hot(i, n):
    return np.eye(n, dtype=np.float32)[i]


ROWS = [
    Row(
        "linspace",
        [X, X**2],
        lambda a, b: np.linspace(a, b, 5),
        program=lambda tf, a, b: tf.linspace(a, b, 5),
    ),
    Row(
        "linspace",
        [V, 2 * V],
        lambda a, b: np.linspace(a, b, 4, axis=1),
        program=lambda tf, a, b: tf.linspace(a, b, 4, axis=1),
        label="axis",
    ),
    Row("fill", [V], lambda x: np.full((2, 3), x[0]), program=lambda tf, x: tf.fill([2, 3], x[0])),
    Row(
        "sequence_mask",
        [],
        lambda: np.arange(3) < [[1], [3]],
        program=lambda tf: tf.sequence_mask([1, 3]),
    ),
    Row("one_hot", [], lambda: one_hot([0, 2], 3), program=lambda tf: tf.one_hot([0, 2], 3)),
    Row(
        "one_hot",
        [],
        lambda: one_hot([0, 2], 3).T,
        program=lambda tf: tf.one_hot([0, 2], 3, axis=0),
        label="axis",
    ),
    Row(
        "eye",
        [],
        lambda: np.broadcast_to(np.eye(2, 3), (2, 2, 3)),
        program=lambda tf: tf.eye(2, 3, [2]),
    ),
    Row(
        "range", [], lambda: np.arange(2.0, 0.0, -0.5), program=lambda tf: tf.range(2.0, 0.0, -0.5)
    ),
    Row(
        "range",
        [],
        lambda: np.arange(3, 500, 7),
        program=lambda tf: tf.range(3, 500, 7),
        label="large",
    ),
    Row(
        "zeros", [], lambda: np.zeros((40, 5)), program=lambda tf: tf.zeros([40, 5]), label="large"
    ),
    Row("eye", [], lambda: np.eye(20), program=lambda tf: tf.eye(20), label="large"),
    Row("linalg.eye", [], lambda: np.eye(2), program=lambda tf: tf.linalg.eye(2)),
    Row("ones", [], lambda: np.ones((2, 3)), program=lambda tf: tf.ones([2, 3])),
    Row("zeros_like", [X], lambda x: np.zeros((2, 3)), gradient=False),
    Row("ones_like", [X], lambda x: np.ones((2, 3)), gradient=False),
]

#: Public ops without a row, and why.
WITHOUT_ROW = {
    "constant": "makes the tensors of every row; see tests/parity/cases_tensor.py",
    "convert_to_tensor": "see tests/parity/cases_tensor.py",
    "is_tensor": "gives no tensor; see test_array.py",
    "get_static_value": "gives no tensor; see test_array.py",
}

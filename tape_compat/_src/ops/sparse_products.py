"""Products of two sparse matrices, or of batches of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..composites.sparse import SparseTensor, known_dense_shape
from ..core.dimensions import differ
from ..core.dtypes import as_dtype, float32, int32
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from . import arithmetic
from .arguments import value_if_known
from .gather_scatter import gather_nd
from .joining import concat
from .products import matrix_transpose
from .ragged_rows import spans
from .reductions import reduce_sum
from .segments import unsorted_segment_sum
from .sparse_layout import made, positions
from .sparse_recorded import take_rows


class SparseMatrixParts(NamedTuple):
    """What `csr_sparse_matrix_to_sparse_tensor` gives."""

    indices: Tensor
    values: Tensor
    dense_shape: Tensor


def _check_type(x: SparseTensor, type: Any, kernel: str) -> None:
    if x.dtype is not as_dtype(type):
        raise invalid(f"type is {type}, but the values are {x.dtype.name}", kernel)


def sparse_tensor_to_csr_sparse_matrix(
    indices: Any, values: Any, dense_shape: Any, name: str | None = None
) -> SparseTensor:
    """A sparse matrix, or a batch of them, of its parts."""
    return SparseTensor(indices, values, dense_shape)


def csr_sparse_matrix_to_sparse_tensor(
    sparse_matrix: SparseTensor, type: Any, name: str | None = None
) -> SparseMatrixParts:
    """The parts of a sparse matrix."""
    _check_type(sparse_matrix, type, "CSRSparseMatrixToSparseTensor")
    return SparseMatrixParts(sparse_matrix.indices, sparse_matrix.values, sparse_matrix.dense_shape)


def sparse_matrix_sparse_mat_mul(
    a: SparseTensor, b: SparseTensor, type: Any, name: str | None = None
) -> SparseTensor:
    """The product [..., m, n] of sparse matrices [..., m, k] and [..., k, n], in row-major order.

    Raises: InvalidArgumentError if their sizes do not go together.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.sparse_products import sparse_matrix_sparse_mat_mul
    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    >>> tf.sparse.to_dense(sparse_matrix_sparse_mat_mul(s, s, tf.float32)).numpy().tolist()
    [[6.0, 0.0], [0.0, 6.0]]
    """
    left, right = known_dense_shape(a), known_dense_shape(b)
    if left[:-2] != right[:-2] or left[-1] != right[-2]:
        raise invalid(
            f"Cannot multiply sparse matrices of shapes {list(left)} and {list(right)}",
            "SparseMatrixSparseMatMul",
        )
    ours, theirs = positions(a), positions(b)
    first, second = _pairs(_keys(ours, -1, left), _keys(theirs, -2, right))
    places = np.concatenate([ours[first, :-1], theirs[second, -1:]], 1)
    found, segment = np.unique(places, axis=0, return_inverse=True)
    _check_type(a, type, "SparseMatrixSparseMatMul")
    products = arithmetic.multiply(
        take_rows(a.values, concrete(first)), take_rows(b.values, concrete(second))
    )
    total = unsorted_segment_sum(products, concrete(segment.ravel().astype(np.int64)), len(found))
    return made(found, total, (*left[:-1], right[-1]))


def _keys(places: np.ndarray, axis: int, shape: tuple[int, ...]) -> np.ndarray:
    """One number for the matrix of the batch and the position along an axis."""
    keys = np.zeros(len(places), np.int64)
    for i, n in enumerate(shape[:-2]):
        keys = keys * n + places[:, i]
    return keys * shape[axis] + places[:, axis]


def _pairs(ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of all pairs of equal keys."""
    order = np.argsort(theirs, kind="stable")
    begin = np.searchsorted(theirs[order], ours, "left")
    counts = np.searchsorted(theirs[order], ours, "right") - begin
    return np.repeat(np.arange(len(ours)), counts), order[spans(begin, counts)]


def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = float32,
) -> tuple[Tensor, Tensor, Tensor]:
    """alpha * (mat1 @ mat2) + beta * values at the places of a sparse matrix, and only there.

    Args:
      indices, values, dense_shape: int [..., n, rank], [..., n] and [2], of the sparse matrix.
      mat1, mat2: [..., rows, k] and [..., k, columns].
    Returns: the parts of the result, with `values` of `output_type`.
    Raises: ValueError if `dense_shape` is not that of the product.

    >>> import tape_compat as tf
    >>> one, other = tf.ones([2, 3]), tf.ones([3, 2])
    >>> tf.sparse.sampled_addmm([[0, 1]], [2.0], [2, 2], one, other)[1].numpy().tolist()
    [5.0]
    """
    kind = as_dtype(output_type)
    indices, dense_shape = convert(indices), convert(dense_shape, int32)
    values, mat1, mat2 = (convert(x, kind) for x in (values, mat1, mat2))
    wanted = (mat1._aval.shape[-2], mat2._aval.shape[-1])
    given = value_if_known(dense_shape)
    if given is not None and any(differ(int(n), m) for n, m in zip(given, wanted, strict=True)):
        raise ValueError(f"Dense shape: {dense_shape} does not match output shape: {list(wanted)}")
    batch = len(mat1._aval.shape) - 2
    columns = concat([indices[..., :-2], indices[..., -1:]], -1)
    left = gather_nd(mat1, indices[..., :-1], batch)
    right = gather_nd(matrix_transpose(mat2), columns, batch)
    return indices, reduce_sum(left * right, -1) * alpha + values * beta, dense_shape

"""Embeddings of lists of ids of different lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor
from ..composites.sparse import SparseTensor, known_dense_shape
from ..core import dtypes
from ..core.dimensions import differ
from ..values.tensor import Tensor, concrete
from . import arithmetic, elementwise
from .arguments import as_size, known_value
from .casting import cast
from .comparison import logical_and
from .creation import ones, ones_like, zeros_like
from .embedding import embedding_lookup
from .segments import how_many_segments, unsorted_segment_sum
from .selection import where
from .shapes import reshape
from .sparse_layout import as_sparse, fill_empty_rows, made, positions, retain


def _combiner(value: str | None) -> str:
    if value is None:
        return "mean"
    if value not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {value}")
    return value


def _ids_of(value: Any, what: str) -> tuple[Tensor, Tensor, Any]:
    """The ids, the row that each is of, and how many rows there are."""
    if isinstance(value, SparseTensor):
        if value.indices._is_symbolic():
            rows = value.indices[:, 0]
        else:
            rows = concrete(positions(value)[:, 0].astype(np.int64))
        return value.values, rows, as_size(how_many_segments(rows, "SegmentSum"))
    if hasattr(value, "value_rowids"):
        rows = concrete(known_value(value.value_rowids()).astype(np.int64))
        return value.values, rows, int(known_value(value.nrows()))
    raise TypeError(f"{what} must be SparseTensor or RaggedTensor")


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """For each row of ids the weighted sum, or mean, of the rows of the table that they name.

    Args:
      params: table [rows, ...], or a list of tables.
      sp_ids: SparseTensor or RaggedTensor of ids, rank 2.
      sp_weights: of the same form, or None for weights 1.
      combiner: 'sum', 'mean' (divided by the sum of weights, the default) or 'sqrtn' (by the square
        root of the sum of their squares).
      max_norm: if given, rows of a larger 2-norm are scaled down to it first.
      allow_fast_lookup: has no effect on the result.
    Raises: ValueError for another combiner; TypeError if `sp_ids` is neither sparse nor ragged.

    >>> import tape_compat as tf
    >>> ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 0], tf.int64), [1, 2])
    >>> table = tf.constant([[1.0], [3.0]])
    >>> tf.nn.embedding_lookup_sparse(table, ids, None, "sum").numpy().tolist()
    [[4.0]]
    """
    combiner = _combiner(combiner)
    ids, rows, count = _ids_of(sp_ids, "sp_ids")
    weights = None
    if sp_weights is not None:
        weights, others, _ = _ids_of(sp_weights, "sp_weights")
        sizes = rows._aval.shape[0], others._aval.shape[0]
        if differ(*sizes):
            raise ValueError("Shapes ({},) and ({},) are incompatible".format(*sizes))
    embeddings = embedding_lookup(params, ids, max_norm=max_norm)
    return _combined(embeddings, weights, rows, count, combiner)


def _combined(
    embeddings: Tensor, weights: Tensor | None, places: Tensor, count: Any, combiner: str
) -> Tensor:
    column = (-1,) + (1,) * (len(embeddings._aval.shape) - 1)
    dtype = embeddings.dtype
    if dtype in (dtypes.float16, dtypes.bfloat16):
        wide = _combined(cast(embeddings, dtypes.float32), weights, places, count, combiner)
        return cast(wide, dtype)
    if weights is None:
        each = ones([places._aval.shape[0]], embeddings.dtype)
    else:
        each = cast(weights, embeddings.dtype)
        embeddings = arithmetic.multiply(embeddings, reshape(each, column))
    total = unsorted_segment_sum(embeddings, places, count)
    if combiner == "sum":
        return total
    if combiner == "sqrtn":
        each = elementwise.square(each)
    share = unsorted_segment_sum(each, places, count)
    if combiner == "sqrtn":
        share = elementwise.sqrt(share)
    share = reshape(share, column)
    return arithmetic.divide_no_nan(total, share)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = "mean",
    default_id: Any = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` that leaves out ids below 0 and, but for 'sum', weights that are
    not above 0; a row without ids gives the embedding of `default_id`, or zeros.

    Args: as there; `sparse_ids` may be of any rank from 2 on, of which the last axis is combined.
      Ragged ids are rows of rank 2, with ragged weights.
    Raises: ValueError if `embedding_weights` is missing.

    >>> import tape_compat as tf
    >>> ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [2, 1])
    >>> table = tf.constant([[1.0], [3.0]])
    >>> tf.nn.safe_embedding_lookup_sparse(table, ids).numpy().tolist()
    [[3.0], [0.0]]
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if isinstance(sparse_ids, RaggedTensor):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    if default_id is None and _recordable(sparse_ids, sparse_weights):
        given = None if sparse_weights is None else sparse_weights.values
        return _by_masks(embedding_weights, sparse_ids, given, _combiner(combiner), max_norm)
    shape = known_dense_shape(as_sparse(sparse_ids))
    ids = _as_matrix(sparse_ids, shape)
    weights = None if sparse_weights is None else _as_matrix(as_sparse(sparse_weights), shape)
    ids, weights = _valid(ids, weights, combiner)
    ids, empty = fill_empty_rows(ids, 0 if default_id is None else default_id)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1.0)
    found = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        column = reshape(empty, [-1] + [1] * (len(found._aval.shape) - 1))
        found = where(column, zeros_like(found), found)
    return reshape(found, [*shape[:-1], *found._aval.shape[1:]])


def _recordable(ids: SparseTensor, weights: Any) -> bool:
    """Whether ids in rows have no values yet, and weights are sparse."""
    matrix = ids.indices._aval.shape[1] == 2
    return matrix and ids.values._is_symbolic() and isinstance(weights, SparseTensor | None)


def _by_masks(
    params: Any, sparse: SparseTensor, given: Tensor | None, combiner: str, max_norm: Any
) -> Tensor:
    """The same where no values are known: what is left out has the weight 0."""
    ids, rows = sparse.values, sparse.indices[:, 0]
    embeddings = embedding_lookup(params, arithmetic.maximum(ids, zeros_like(ids)), max_norm)
    keep = ids >= 0
    each = ones_like(ids, dtype=embeddings.dtype)
    if given is not None:
        each = cast(given, embeddings.dtype)
        keep = keep if combiner == "sum" else logical_and(keep, given > 0)
    each = where(keep, each, zeros_like(each))
    return _combined(embeddings, each, rows, sparse.dense_shape[0], combiner)


def _as_matrix(sparse: SparseTensor, shape: tuple[int, ...]) -> SparseTensor:
    """All axes but the last as one."""
    rows = int(np.prod(shape[:-1], dtype=np.int64))
    indices = positions(sparse)
    row = np.zeros(len(indices), np.int64)
    for i, n in enumerate(shape[:-1]):
        row = row * n + indices[:, i]
    return made(np.stack([row, indices[:, -1]], 1), sparse.values, (rows, shape[-1]))


def _valid(
    ids: SparseTensor, weights: SparseTensor | None, combiner: str | None
) -> tuple[SparseTensor, SparseTensor | None]:
    keep = known_value(ids.values) >= 0
    ids = retain(ids, keep)
    if weights is None:
        return ids, None
    weights = retain(weights, keep)
    if combiner != "sum":
        positive = known_value(weights.values) > 0
        ids, weights = retain(ids, positive), retain(weights, positive)
    return ids, weights

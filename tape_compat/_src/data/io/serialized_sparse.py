"""Sparse tensors as messages of bytes: their indices, values and shape, one each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...ops.sparse_layout import concat
from ...values.convert import convert
from ...values.tensor import Tensor
from ..structure import array_of, value_of
from .contents import invalid, parsed, serialized, short, texts


def _parts(sp_input: Any, out_type: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, DType]:
    if not isinstance(sp_input, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    if as_dtype(out_type) is not dtypes.string:
        raise NotImplementedError("Sparse tensors are serialized as strings only, not as variants")
    arrays = [array_of(x) for x in (sp_input.indices, sp_input.values, sp_input.dense_shape)]
    return arrays[0], arrays[1], arrays[2], sp_input.dtype


def _messages(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, dtype: DType
) -> list[bytes]:
    whole = dtypes.int64
    return [
        serialized(indices, whole),
        serialized(values, dtype, packed=True),
        serialized(shape, whole),
    ]


def serialize_sparse(
    sp_input: Any, out_type: Any = dtypes.string, name: str | None = None
) -> Tensor:
    """The messages of a SparseTensor's indices, values and shape, string [3].

    Raises: TypeError for anything else; NotImplementedError for `out_type` variant.

    >>> import tape_compat as tf
    >>> tf.io.serialize_sparse(tf.sparse.from_dense([0, 1])).shape
    TensorShape([3])
    """
    return convert(np.array(_messages(*_parts(sp_input, out_type)), object))


def serialize_many_sparse(
    sp_input: Any, out_type: Any = dtypes.string, name: str | None = None
) -> Tensor:
    """The messages of each of the n parts of a SparseTensor along its first axis, string [n, 3].

    Raises: TypeError for anything else; InvalidArgumentError if there is only one axis.

    >>> import tape_compat as tf
    >>> tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 1], [2, 3]])).shape
    TensorShape([2, 3])
    """
    indices, values, shape, dtype = _parts(sp_input, out_type)
    if len(shape) < 2:
        raise invalid(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}",
            "SerializeManySparse",
        )
    rows = np.empty((int(shape[0]), 3), object)
    for row in range(len(rows)):
        of_row = indices[:, 0] == row
        rows[row] = _messages(indices[of_row, 1:], values[of_row], shape[1:], dtype)
    return convert(rows)


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None
) -> SparseTensor:
    """One SparseTensor [n, ...] of n that were serialized, as wide as the widest of them.

    Args:
      serialized_sparse: string tensor [n, 3], of `serialize_sparse` or `serialize_many_sparse`.
      dtype: that of the values.
      rank: how many axes the result has, to be checked; None if it may be any number.
    Raises: InvalidArgumentError for other messages or values of another dtype; ValueError for
      another rank.

    >>> import tape_compat as tf
    >>> messages = tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 1], [2, 3]]))
    >>> tf.io.deserialize_many_sparse(messages, tf.int32).values.numpy().tolist()
    [1, 2, 3]
    """
    kernel, wanted = "DeserializeManySparse", as_dtype(dtype)
    rows = np.atleast_2d(texts(serialized_sparse, "serialized_sparse"))
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise invalid(
            f"Serialized sparse should have 3 columns but has shape {[*rows.shape]}", kernel
        )
    made = []
    for place, row in enumerate(rows):
        try:
            (indices, _), (values, found), (shape, _) = (parsed(message) for message in row)
        except (TypeError, ValueError) as error:
            raise invalid(f"Could not parse serialized_sparse[{place}]: {error}", kernel) from None
        if found is not wanted:
            raise invalid(
                f"Requested SparseTensor of type {short(wanted)} but SparseTensor[{place}]"
                f".values.dtype() == {short(found)}",
                kernel,
            )
        first = np.full((len(indices), 1), 0, np.int64)
        places = np.concatenate([first, indices.reshape(len(indices), len(shape))], axis=1)
        made.append(SparseTensor(places, value_of(values), [1, *shape.tolist()]))
    if not made:
        raise invalid("Must have at least 1 serialized SparseTensor, but got none", kernel)
    whole = concat(0, made, expand_nonconcat_dims=True)
    axes = int(whole.dense_shape.shape[0] or 0)
    if rank is not None and int(rank) != axes:
        raise ValueError(
            f"Tensor's shape ({whole.values.shape[0]}, {axes}) is not compatible with supplied "
            f"shape (None, {int(rank)})."
        )
    return whole

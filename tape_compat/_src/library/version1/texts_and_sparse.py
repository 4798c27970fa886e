"""Strings, records and sparse tensors as in TensorFlow 1: one row a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...composites.sparse import SparseTensor
from ...core.dtypes import int64
from ...data.io import contents, csv_text, parsing, serialized_sparse
from ...ops import (
    joining,
    sparse_arithmetic,
    sparse_layout,
    sparse_segments,
    string_splits,
    strings,
)
from ...ops.casting import cast
from ...ops.shapes import expand_dims
from ...values.convert import convert
from ...values.tensor import Tensor
from .renamed import renamed

# -- strings -------------------------------------------------------------------------------------

length = renamed(strings.length, "input name=None unit='BYTE'")
substr = renamed(strings.substr, "input pos len name=None unit='BYTE'")
_HASHED = "string_tensor:input num_buckets=None name=None input=None"
to_hash_bucket = renamed(strings.to_hash_bucket, _HASHED)
_NUMBER = "string_tensor:input out_type=None name=None input=None"
to_number = renamed(strings.to_number, _NUMBER)
reduce_join = renamed(
    strings.reduce_join,
    "inputs axis=None keep_dims:keepdims separator='' name=None reduction_indices:axis "
    "keepdims=None",
)


def _in_form(found: Any, result_type: str) -> Any:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    return found if result_type == "RaggedTensor" else found.to_sparse()


def split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """See `tf.strings.split`; the result is sparse, or ragged as `result_type` says.

    >>> import tape_compat as tf
    >>> tf.compat.v1.strings.split(["a b", "c"]).values.numpy().tolist()
    [b'a', b'b', b'c']
    """
    if input is not None and source is not None:
        raise ValueError("Cannot specify both 'source' and 'input'.")
    texts = convert(source if input is None else input)
    if not len(texts.shape):
        texts = convert([texts])
    return _in_form(string_splits.split(texts, sep, maxsplit), result_type)


def string_split(
    source: Any,
    sep: str | None = None,
    skip_empty: bool = True,
    delimiter: str | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Strings of a vector cut at every character of `sep`, by default a space.

    >>> import tape_compat as tf
    >>> tf.compat.v1.string_split(["a b-c"], " -").values.numpy().tolist()
    [b'a', b'b', b'c']
    """
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'.")
    between = delimiter if sep is None else sep
    found = string_splits.split_at_any(source, " " if between is None else between, skip_empty)
    return _in_form(found, result_type)


# -- records -------------------------------------------------------------------------------------

decode_csv = renamed(
    csv_text.decode_csv,
    "records record_defaults field_delim=',' use_quote_delim=True name=None na_value='' "
    "select_cols=None",
)
decode_raw = renamed(
    contents.decode_raw,
    "input_bytes=None out_type=None little_endian=True name=None bytes:input_bytes",
)
_EXAMPLE = "serialized features name=None example_names=None"
parse_example = renamed(parsing.parse_example, _EXAMPLE)
parse_single_example = renamed(parsing.parse_single_example, _EXAMPLE)
_SERIALIZE = "sp_input name=None out_type=None"
serialize_sparse = renamed(serialized_sparse.serialize_sparse, _SERIALIZE)
serialize_many_sparse = renamed(serialized_sparse.serialize_many_sparse, _SERIALIZE)

# -- sparse tensors ------------------------------------------------------------------------------

sparse_add = renamed(sparse_arithmetic.add, "a b threshold=None thresh:threshold")


def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """See `tf.sparse.concat`; `concat_dim` is an older name of `axis`."""
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return sparse_layout.concat(axis if concat_dim is None else concat_dim, sp_inputs, expand)


sparse_split = renamed(
    sparse_layout.split,
    "~keyword_required=None sp_input=None num_split=None axis=None name=None split_dim:axis",
)
_REDUCTION = "sp_input axis=None keepdims=None reduction_axes:axis keep_dims:keepdims"
sparse_reduce_max = renamed(sparse_arithmetic.reduce_max, _REDUCTION)
sparse_reduce_sum = renamed(sparse_arithmetic.reduce_sum, _REDUCTION)
_TO_SPARSE = f"{_REDUCTION} output_is_sparse=True"
sparse_reduce_max_sparse = renamed(sparse_arithmetic.reduce_max, _TO_SPARSE, "reduce_max_sparse")
sparse_reduce_sum_sparse = renamed(sparse_arithmetic.reduce_sum, _TO_SPARSE, "reduce_sum_sparse")
_SEGMENTS = "data indices segment_ids name=None num_segments=None sparse_gradient=False"
sparse_segment_mean = renamed(sparse_segments.segment_mean, _SEGMENTS)
sparse_segment_sqrt_n = renamed(sparse_segments.segment_sqrt_n, _SEGMENTS)
sparse_segment_sum = renamed(sparse_segments.segment_sum, _SEGMENTS)


def sparse_merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Sparse values at sparse ids: the ids take the place of the last axis, of size `vocab_size`.

    Args:
      sp_ids: SparseTensor of integers, or a list of them, one for each of the new axes.
      sp_values: SparseTensor of the values, with the same indices.
      vocab_size: sizes of the new axes.
      already_sorted: whether the indices of the result are in order.
    Raises: TypeError, ValueError for lists that do not fit.

    >>> import tape_compat as tf
    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    >>> values = tf.SparseTensor([[0, 0], [1, 0]], [5.0, 6.0], [2, 1])
    >>> tf.sparse.to_dense(tf.compat.v1.sparse_merge(ids, values, 3)).numpy().tolist()
    [[0.0, 0.0, 5.0], [6.0, 0.0, 0.0]]
    """
    if isinstance(sp_ids, SparseTensor):
        if not isinstance(vocab_size, (Tensor, int, np.integer)):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}"
            )
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    for given, what in (
        (sp_ids, "sp_ids has to be a SparseTensor or list thereof. "),
        (vocab_size, "vocab_size has to be a list of Tensors or Python ints. "),
    ):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{what}Found {type(given)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    columns = [expand_dims(cast(each.values, int64), 1) for each in sp_ids]
    indices = joining.concat([sp_ids[0].indices[:, :-1], *columns], 1)
    sizes = [expand_dims(cast(size, int64), 0) for size in vocab_size]
    shape = joining.concat([sp_ids[0].dense_shape[:-1], *sizes], 0)
    found = SparseTensor(indices, sp_values.values, shape)
    return found if already_sorted else sparse_layout.reorder(found)

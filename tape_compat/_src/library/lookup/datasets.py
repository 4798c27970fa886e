"""Tables of what datasets hold."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...data.functional import assert_cardinality
from .initializers import DatasetInitializer
from .static import StaticHashTable, StaticVocabularyTable


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = None,
    hasher_spec: Any = None,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table of the keys and values that are the elements of a dataset.

    Args:
      dataset: of pairs of scalars.
      num_oov_buckets: how many numbers, after those of the keys, there are for other keys, by a
        hash; with 0 they have the default value.
      vocab_size: how many elements are taken, and must be there.
      default_value: -1 if it is not given.
      hasher_spec: another than None raises NotImplementedError.
      key_dtype: integer or string.
    Raises: ValueError for elements that are no pairs or of another dtype, and for negative numbers.

    >>> import tape_compat as tf
    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], tf.constant([3, 4], tf.int64)))
    >>> table = tf.data.experimental.table_from_dataset(pairs)
    >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
    [4, -1]
    """
    spec, kind = dataset.element_spec, as_dtype(key_dtype)
    if not isinstance(spec, tuple) or len(spec) != 2:
        raise ValueError(f"element_spec of the dataset must be a pair, not {spec}.")
    if not kind.is_integer and kind is not dtypes.string:
        raise TypeError(f"`key_dtype` must be either an integer or string type, but got {kind}")
    if num_oov_buckets < 0:
        raise ValueError(
            f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}."
        )
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if hasher_spec is not None:
        raise NotImplementedError("table_from_dataset: `hasher_spec`.")
    if vocab_size is not None:
        dataset = dataset.take(vocab_size).apply(assert_cardinality(vocab_size))
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, kind)
    return StaticHashTable(initializer, -1 if default_value is None else default_value)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = -1,
    hasher_spec: Any = None,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table of the elements of a dataset with their numbers: see `table_from_dataset`.

    >>> import tape_compat as tf
    >>> words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
    [1, -1]
    """
    pairs = type(dataset).zip(dataset, dataset.counter())
    return table_from_dataset(
        pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )

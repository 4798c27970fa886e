"""Columns whose values are categories, by hashes, vocabularies, numbers and crosses."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.dtypes import as_dtype
from ...core.paths import local_path
from ...data.io.parsing import VarLenFeature
from ...ops.casting import cast
from ...ops.crosses import sparse_cross_hashed
from ...ops.selection import where
from ...ops.strings import as_string, to_hash_bucket_fast
from ...values.context import init_scope
from ...values.convert import convert
from ..lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from ..lookup.static import StaticHashTable, StaticVocabularyTable
from .base import (
    CategoricalColumn,
    FeatureColumn,
    OfFeature,
    as_sparse,
    as_tensor,
    check_key,
    refuse_mixed_kinds,
    refuse_other_kinds,
)


class _OfOneFeature(OfFeature, CategoricalColumn):
    """Categories of one feature, by its name."""

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> SparseTensor:
        """The categories, where the feature has values."""
        given = as_sparse(transformation_cache.get(self.key, state_manager))
        ids = self._ids(given, state_manager)
        return SparseTensor(given.indices, ids, given.dense_shape)

    def _ids(self, given: SparseTensor, state_manager: Any) -> Any:
        raise NotImplementedError


class HashedCategoricalColumn(
    _OfOneFeature, namedtuple("HashedCategoricalColumn", "key hash_bucket_size dtype")
):
    """Texts or integers, by a hash of them."""

    @property
    def num_buckets(self) -> int:
        """How many hashes there are."""
        return self.hash_bucket_size

    def _ids(self, given: SparseTensor, state_manager: Any) -> Any:
        refuse_other_kinds(given.dtype, f"column_name: {self.key} input_tensor")
        refuse_mixed_kinds(self.key, self.dtype, given.dtype)
        texts = given.values if self.dtype is dtypes.string else as_string(given.values)
        return to_hash_bucket_fast(texts, self.hash_bucket_size)


class _OfVocabulary(_OfOneFeature):
    """Texts or integers, by their places in a list."""

    num_oov_buckets: int
    default_value: int

    def _known(self, dtype: Any) -> Any:
        """The initializer of a table of the list."""
        raise NotImplementedError

    def _ids(self, given: SparseTensor, state_manager: Any) -> Any:
        refuse_mixed_kinds(self.key, self.dtype, given.dtype)
        integers = given.dtype.is_integer
        values = cast(given.values, dtypes.int64) if integers else given.values
        return self._table(dtypes.int64 if integers else self.dtype, state_manager).lookup(values)

    def _table(self, dtype: Any, state_manager: Any) -> Any:
        """The table, which the state manager holds if there is one."""
        name = f"{self.key}_lookup"
        if state_manager is not None and state_manager.has_resource(self, name):
            return state_manager.get_resource(self, name)
        with init_scope():
            if self.num_oov_buckets:
                made: Any = StaticVocabularyTable(self._known(dtype), self.num_oov_buckets, dtype)
            else:
                made = StaticHashTable(self._known(dtype), self.default_value)
        if state_manager is not None:
            state_manager.add_resource(self, name, made)
        return made


class VocabularyListCategoricalColumn(
    _OfVocabulary,
    namedtuple(
        "VocabularyListCategoricalColumn", "key vocabulary_list dtype default_value num_oov_buckets"
    ),
):
    """Texts or integers of a list."""

    @property
    def num_buckets(self) -> int:
        """Those of the list, and the hashes of others."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _known(self, dtype: Any) -> Any:
        places = np.arange(len(self.vocabulary_list), dtype=np.int64)
        return KeyValueTensorInitializer(convert(list(self.vocabulary_list), dtype), places)


class VocabularyFileCategoricalColumn(
    _OfVocabulary,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        "key vocabulary_file vocabulary_size num_oov_buckets dtype default_value file_format",
    ),
):
    """Texts or integers of the lines of a file."""

    @property
    def num_buckets(self) -> int:
        """Those of the file, and the hashes of others."""
        return self.vocabulary_size + self.num_oov_buckets

    def _known(self, dtype: Any) -> Any:
        whole, line = TextFileIndex.WHOLE_LINE, TextFileIndex.LINE_NUMBER
        return TextFileInitializer(
            self.vocabulary_file, dtype, whole, dtypes.int64, line, self.vocabulary_size
        )


class IdentityCategoricalColumn(
    _OfOneFeature, namedtuple("IdentityCategoricalColumn", "key number_buckets default_value")
):
    """Integers that are categories."""

    dtype = dtypes.int64

    @property
    def num_buckets(self) -> int:
        """How many there are."""
        return self.number_buckets

    def _ids(self, given: SparseTensor, state_manager: Any) -> Any:
        if not given.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {given.dtype}")
        ids = cast(given.values, dtypes.int64)
        if self.default_value is None:
            return ids
        default = convert(self.default_value, dtypes.int64)
        return where((ids < 0) | (ids >= self.num_buckets), default, ids)


class WeightedCategoricalColumn(
    CategoricalColumn,
    namedtuple("WeightedCategoricalColumn", "categorical_column weight_feature_key dtype"),
):
    """Categories with weights, which are a feature."""

    @property
    def name(self) -> str:
        """That of the categories, and of the weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        """The categories and the name of the weights."""
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the categories, and the weights."""
        found, key = self.categorical_column.parse_example_spec, self.weight_feature_key
        if key in found:
            raise ValueError(f"Parse config {found[key]} already exists for {key}.")
        return {**found, key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories and the weights."""
        weights = as_tensor(transformation_cache.get(self.weight_feature_key, state_manager))
        if weights.dtype is not self.dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = as_sparse(weights, 0)
        if not weights.dtype.is_floating:
            floats = cast(weights.values, dtypes.float32)
            weights = SparseTensor(weights.indices, floats, weights.dense_shape)
        return as_sparse(transformation_cache.get(self.categorical_column, state_manager)), weights

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories and the weights."""
        return self.IdWeightPair(*transformation_cache.get(self, state_manager))


class CrossedColumn(
    CategoricalColumn, namedtuple("CrossedColumn", "keys hash_bucket_size hash_key")
):
    """Hashes of the combinations of features and categories."""

    @property
    def name(self) -> str:
        """The names of its parts, in order."""
        parts = [x.name if isinstance(x, FeatureColumn) else x for x in self._leaves()]
        return "_X_".join(sorted(parts))

    def _leaves(self) -> Iterator[Any]:
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key._leaves()
            else:
                yield key

    @property
    def parents(self) -> list[Any]:
        """Its parts."""
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Those of its parts; features by name have texts."""
        found: dict[str, Any] = {}
        for key in self.keys:
            own = isinstance(key, FeatureColumn)
            found |= key.parse_example_spec if own else {key: VarLenFeature(dtypes.string)}
        return found

    @property
    def num_buckets(self) -> int:
        """How many hashes there are."""
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> SparseTensor:
        """The hashes. Raises: ValueError for categories with weights."""
        given = []
        for key in self._leaves():
            if isinstance(key, str):
                given.append(transformation_cache.get(key, state_manager))
                continue
            ids, weights = key.get_sparse_tensors(transformation_cache, state_manager)
            if weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates "
                    f"weight_tensor. Given column: {key.name}"
                )
            given.append(ids)
        return sparse_cross_hashed(given, self.hash_bucket_size, self.hash_key)


# -- what makes them


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> HashedCategoricalColumn:
    """Texts or integers as categories, by a hash.

    Args: hash_bucket_size: how many categories there are.
    Raises: ValueError for what does not fit.

    >>> import tape_compat as tf
    >>> tf.feature_column.categorical_column_with_hash_bucket("word", 100).num_buckets
    100
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    refuse_other_kinds(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def _check_buckets(key: str, num_oov_buckets: int | None, has_default: bool) -> None:
    if num_oov_buckets:
        if has_default:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Texts or integers as categories, by their places in a list.

    Args:
      default_value: the category of others. num_oov_buckets: so many categories for others, by a
        hash, instead of that.
    Raises: ValueError for what does not fit.

    >>> import tape_compat as tf
    >>> tf.feature_column.categorical_column_with_vocabulary_list("sex", ["f", "m"]).num_buckets
    2
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    kind = as_dtype(np.array(vocabulary_list).dtype)
    _check_buckets(key, num_oov_buckets, default_value != -1)
    refuse_other_kinds(kind, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = kind
    elif dtype.is_integer != kind.is_integer:
        raise ValueError(
            f"dtype {dtype} and vocabulary dtype {kind} do not match, column_name: {key}"
        )
    refuse_other_kinds(dtype, f"column_name: {key}")
    check_key(key)
    known = tuple(vocabulary_list)
    return VocabularyListCategoricalColumn(key, known, dtype, default_value, num_oov_buckets)


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    dtype: Any = dtypes.string,
    default_value: int | None = None,
    num_oov_buckets: int = 0,
    file_format: str | None = None,
) -> VocabularyFileCategoricalColumn:
    """Texts or integers as categories, by the lines of a file.

    Args:
      vocabulary_size: how many lines count; all by default. default_value, num_oov_buckets: as for
        a list.
    Raises: ValueError for what does not fit; NotImplementedError for a file of records.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format is not None or vocabulary_file.endswith("tfrecord.gz"):
        raise NotImplementedError("categorical_column_with_vocabulary_file: a file of records")
    if vocabulary_size is None:
        try:
            with open(local_path(vocabulary_file), "rb") as file:
                vocabulary_size = sum(1 for _ in file)
        except FileNotFoundError:
            raise ValueError(f"vocabulary_file in {key} does not exist.") from None
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_buckets(key, num_oov_buckets, default_value is not None)
    refuse_other_kinds(dtype, f"column_name: {key}")
    check_key(key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype, default, None
    )


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Integers as categories.

    Args: default_value: the category of those that are out of range.
    Raises: ValueError for what does not fit.

    >>> import tape_compat as tf
    >>> tf.feature_column.categorical_column_with_identity("day", 7).num_buckets
    7
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = dtypes.float32
) -> WeightedCategoricalColumn:
    """Categories with weights, which are a feature of their own.

    Raises: ValueError for a dtype that is not of numbers.

    >>> import tape_compat as tf
    >>> word = tf.feature_column.categorical_column_with_identity("word", 10)
    >>> tf.feature_column.weighted_categorical_column(word, "count").name
    'word_weighted_by_count'
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def crossed_column(
    keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """Combinations of features as categories, by a hash.

    Args: keys: names of features of texts, and categorical columns but hashed ones.
    Raises: ValueError for what does not fit.

    >>> import tape_compat as tf
    >>> tf.feature_column.crossed_column(["town", "street"], 1000).name
    'street_X_town'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                f"crossing will increase probability of collision. Instead, use the feature name "
                f"as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)

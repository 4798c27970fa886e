"""Columns of sequences: numbers and categories of steps, with how many each example has."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.shapes import TensorShape
from ...ops.arithmetic import floordiv, maximum
from ...ops.casting import cast
from ...ops.joining import concat
from ...ops.segments import unsorted_segment_max
from ...ops.shapes import reshape as reshape_dense, shape as shape_of
from ...ops.sparse_layout import reshape, to_dense
from ...values.tensor import Tensor
from .base import CategoricalColumn, OfColumn, OfFeature, SequenceDenseColumn
from .categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from .numbers import check_normalizer, check_number_dtype, sizes_of


class SequenceCategoricalColumn(
    OfColumn, CategoricalColumn, namedtuple("SequenceCategoricalColumn", "categorical_column")
):
    """Categories of the steps of sequences: those of another column, [rows, steps, categories]."""

    @property
    def num_buckets(self) -> int:
        """How many categories there are."""
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories with an axis of steps."""
        found = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        ids, weights = [None if x is None else _with_steps(x) for x in found]
        return self.IdWeightPair(ids, weights)


def _with_steps(ids: SparseTensor) -> SparseTensor:
    """Rows of steps, each of at least one category."""
    return reshape(ids, concat([ids.dense_shape[:2], [-1]], 0))


def lengths_of(steps: SparseTensor, several: int = 1) -> Tensor:
    """How many steps there are in each row, int64 [rows]; `several` columns make one.

    >>> import tape_compat as tf
    >>> lengths_of(tf.sparse.from_dense([[1, 2, 3], [0, 0, 0]]), several=2).numpy().tolist()
    [2, 0]
    """
    rows, column = steps.indices[:, 0], steps.indices[:, 1]
    count = unsorted_segment_max(floordiv(column, several) + 1, rows, steps.dense_shape[0])
    return maximum(count, 0)


class SequenceNumericColumn(
    OfFeature,
    SequenceDenseColumn,
    namedtuple("SequenceNumericColumn", "key shape default_value dtype normalizer_fn"),
):
    """A feature of numbers of steps, as float32."""

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of a step."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers, a SparseTensor."""
        found = transformation_cache.get(self.key, state_manager)
        return found if self.normalizer_fn is None else self.normalizer_fn(found)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers [rows, steps, ...], with the default where there are none, and how many
        steps each row has."""
        numbers = transformation_cache.get(self, state_manager)
        dense = to_dense(numbers, self.default_value)
        sizes = concat([shape_of(dense)[:1], [-1], list(self.shape)], 0)
        several = self.variable_shape.num_elements() if numbers.shape.rank == 2 else 1
        assert several is not None
        steps = cast(reshape_dense(dense, sizes), dtypes.float32)
        return self.TensorSequenceLengthPair(steps, lengths_of(numbers, several))


# -- what makes them


def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> SequenceNumericColumn:
    """A feature of numbers of steps, a SparseTensor [rows, numbers].

    Args:
      shape: of a step. default_value: where a row has fewer steps than another.
      normalizer_fn: what is called with the SparseTensor.
    Raises: TypeError and ValueError for what does not fit.

    >>> import tape_compat as tf
    >>> tf.feature_column.sequence_numeric_column("speed", shape=[2]).variable_shape
    TensorShape([2])
    """
    sizes = sizes_of(shape, key)
    check_number_dtype(dtype, key)
    check_normalizer(normalizer_fn)
    return SequenceNumericColumn(key, sizes, default_value, dtype, normalizer_fn)


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_hash_bucket`, of steps.

    >>> import tape_compat as tf
    >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("word", 9).num_buckets
    9
    """
    found = categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    return SequenceCategoricalColumn(found)


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_identity`, of steps.

    >>> import tape_compat as tf
    >>> tf.feature_column.sequence_categorical_column_with_identity("day", 7).name
    'day'
    """
    found = categorical_column_with_identity(key, num_buckets, default_value)
    return SequenceCategoricalColumn(found)


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_vocabulary_list`, of steps.

    >>> import tape_compat as tf
    >>> fc = tf.feature_column
    >>> word = fc.sequence_categorical_column_with_vocabulary_list("word", ["a", "b"])
    >>> features = {"word": tf.sparse.from_dense([["a", "b"], ["b", ""]])}
    >>> from tape_compat._src.library.feature_columns.base import FeatureTransformationCache
    >>> cache = FeatureTransformationCache(features)
    >>> fc.indicator_column(word).get_sequence_dense_tensor(cache, None).sequence_length
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([2, 1])>
    """
    known = (key, vocabulary_list, dtype, default_value, num_oov_buckets)
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_list(*known))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_vocabulary_file`, of steps."""
    known = (key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets)
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_file(*known))

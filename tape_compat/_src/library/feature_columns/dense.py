"""Columns whose values are dense tensors: numbers, buckets, indicators and embeddings."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.shapes import TensorShape
from ...data.io.parsing import FixedLenFeature
from ...ops.casting import cast
from ...ops.creation import one_hot, range
from ...ops.histograms import bucketize
from ...ops.joining import stack
from ...ops.reductions import reduce_sum
from ...ops.repeating import tile
from ...ops.shapes import expand_dims, reshape, shape as shape_of
from ...ops.sparse_embedding import embedding_lookup_sparse, safe_embedding_lookup_sparse
from ...ops.sparse_layout import to_dense
from ...values import nest
from ...values.tensor import Tensor
from ..version1.initializers import TruncatedNormal
from .base import (
    INITIALIZERS,
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    OfColumn,
    OfFeature,
    SequenceDenseColumn,
    check_key,
)
from .numbers import check_normalizer, check_number_dtype, sizes_of
from .sequences import SequenceCategoricalColumn, lengths_of

#: What makes columns of sequences of those of categories.
_SEQUENCES = "sequence_categorical_column_with_*"

INITIALIZERS["TruncatedNormal"] = TruncatedNormal


class NumericColumn(
    OfFeature,
    DenseColumn,
    namedtuple("NumericColumn", "key shape default_value dtype normalizer_fn"),
):
    """A feature of numbers, as float32."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """One feature of its shape."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the feature."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The numbers. Raises: ValueError for a SparseTensor."""
        value = transformation_cache.get(self.key, state_manager)
        if isinstance(value, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is "
                f"not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            value = self.normalizer_fn(value)
        return cast(value, dtypes.float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The numbers."""
        return transformation_cache.get(self, state_manager)


class BucketizedColumn(
    OfColumn,
    DenseColumn,
    CategoricalColumn,
    namedtuple("BucketizedColumn", "source_column boundaries"),
):
    """Which of some intervals numbers are in."""

    _ENDING = "_bucketized"

    @property
    def _buckets(self) -> int:
        return len(self.boundaries) + 1

    @property
    def variable_shape(self) -> TensorShape:
        """A one for each number."""
        return TensorShape((*self.source_column.shape, self._buckets))

    @property
    def num_buckets(self) -> int:
        """The intervals of each number are categories of their own."""
        return self._buckets * self.source_column.shape[0]

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The numbers of the intervals."""
        return bucketize(
            transformation_cache.get(self.source_column, state_manager), self.boundaries
        )

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """A one at the place of the interval."""
        return one_hot(transformation_cache.get(self, state_manager), self._buckets)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The intervals as categories."""
        found = transformation_cache.get(self, state_manager)
        size, rows = self.source_column.shape[0], shape_of(found)[0]
        row = reshape(tile(expand_dims(range(rows), 1), [1, size]), [-1])
        column = tile(range(size), [rows])
        places = cast(stack([row, column], 1), dtypes.int64)
        categories = reshape(found, [-1]) + self._buckets * column
        ids = SparseTensor(places, categories, cast(stack([rows, size]), dtypes.int64))
        return self.IdWeightPair(ids, None)


class _OfCategories(OfColumn, DenseColumn, SequenceDenseColumn):
    """A dense column of one of categories, which may be of sequences."""

    _KIND = ""

    def _ids(self, cache: Any, manager: Any, steps: bool) -> Any:
        """The categories, of sequences if there are to be `steps`.

        Raises: ValueError for a column of the other kind.
        """
        column = self._source
        if isinstance(column, SequenceCategoricalColumn) is not steps:
            wanted = "must be" if steps else "must not be"
            use = " to use SequenceFeatures" if steps else ""
            fix = f"Suggested fix: Use one of {_SEQUENCES}."
            if not steps:
                fix = (
                    "Suggested fix A: If you wish to use DenseFeatures, use a non-sequence "
                    "categorical_column_with_*. Suggested fix B: If you wish to create sequence "
                    "input, use SequenceFeatures instead of DenseFeatures."
                )
            raise ValueError(
                f"In {self._KIND}: {self.name}. categorical_column {wanted} of type "
                f"SequenceCategoricalColumn{use}. {fix} Given (type {type(column)}): {column}"
            )
        return column.get_sparse_tensors(cache, manager)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The numbers."""
        self._ids(transformation_cache, state_manager, steps=False)
        return self._numbers(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers of all steps, and how many steps each row has."""
        ids, _ = self._ids(transformation_cache, state_manager, steps=True)
        numbers = self._numbers(transformation_cache, state_manager)
        return self.TensorSequenceLengthPair(numbers, lengths_of(ids))

    def _numbers(self, cache: Any, manager: Any) -> Tensor:
        raise NotImplementedError


class IndicatorColumn(_OfCategories, namedtuple("IndicatorColumn", "categorical_column")):
    """How often each category is there, or the sum of its weights."""

    _ENDING, _KIND = "_indicator", "indicator_column"

    @property
    def variable_shape(self) -> TensorShape:
        """A number for each category."""
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """The numbers."""
        given = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        ids = to_dense(given.id_tensor, -1)
        ones = one_hot(ids, self.categorical_column.num_buckets)
        if given.weight_tensor is not None:
            weights = to_dense(given.weight_tensor)
            ones = ones * expand_dims(cast(weights, dtypes.float32), -1)
        return reduce_sum(ones, -2)

    def _numbers(self, cache: Any, manager: Any) -> Tensor:
        return cache.get(self, manager)


class EmbeddingColumn(
    _OfCategories,
    namedtuple(
        "EmbeddingColumn",
        "categorical_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt "
        "max_norm trainable use_safe_embedding_lookup",
    ),
):
    """The sums or means of the rows of a table that categories name."""

    _ENDING, _KIND = "_embedding", "embedding_column"

    @property
    def variable_shape(self) -> TensorShape:
        """The size of a row of the table."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        """Make the table."""
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def _numbers(self, cache: Any, manager: Any) -> Tensor:
        """The sums or means."""
        given = self.categorical_column.get_sparse_tensors(cache, manager)
        table = manager.get_variable(self, name="embedding_weights")
        safe = self.use_safe_embedding_lookup or given.id_tensor.shape.rank not in (1, 2)
        lookup = safe_embedding_lookup_sparse if safe else embedding_lookup_sparse
        ids, weights = given
        return lookup(table, ids, weights, combiner=self.combiner, max_norm=self.max_norm)


# -- what makes them


def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> NumericColumn:
    """A feature of numbers.

    Args:
      key: the name of the feature. shape: without its rows. default_value: a number, or a nest of
        this shape, for examples without it. normalizer_fn: what is called with the tensor.
    Raises: TypeError and ValueError for what does not fit.

    >>> import tape_compat as tf
    >>> tf.feature_column.numeric_column("age").parse_example_spec
    {'age': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    sizes = sizes_of(shape, key)
    check_number_dtype(dtype, key)
    default = _default_value(sizes, default_value, dtype, key)
    check_normalizer(normalizer_fn)
    check_key(key)
    return NumericColumn(key, sizes, default, dtype, normalizer_fn)


def _default_value(shape: tuple[int, ...], value: Any, dtype: Any, key: str) -> Any:
    """The default of a feature, as tuples of its shape."""
    if value is None:
        return None
    value = value.tolist() if hasattr(value, "tolist") else value
    kinds = {type(part) for part in nest.flatten(value)}
    if not kinds <= ({int, float, bool} if dtype.is_floating else {int, bool}):
        raise TypeError(
            "default_value must be compatible with dtype. default_value: "
            f"{value}, dtype: {dtype}, key: {key}"
        )
    if not nest.is_nested(value):
        return _as_tuples(np.full(shape, value, object).tolist())
    if np.shape(value) != shape:
        raise ValueError(
            "The shape of default_value must be equal to given shape. default_value: "
            f"{value}, shape: {shape}, key: {key}"
        )
    return _as_tuples(value)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, (list, tuple)) else value


def bucketized_column(source_column: Any, boundaries: Sequence[Any]) -> BucketizedColumn:
    """Which interval between ascending boundaries the numbers of a column are in.

    Args: source_column: a numeric column of at most one axis.
    Raises: ValueError for another column, or boundaries that do not ascend.

    >>> import tape_compat as tf
    >>> age = tf.feature_column.numeric_column("age")
    >>> tf.feature_column.bucketized_column(age, [18, 65]).num_buckets
    3
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). Given: "
            f"{source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    ascend = isinstance(boundaries, (list, tuple)) and all(
        low < high for low, high in zip(boundaries, boundaries[1:])
    )
    if not ascend:
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """How often each category is there: a float32 tensor [rows, categories].

    Raises: ValueError for another column.

    >>> import tape_compat as tf
    >>> sex = tf.feature_column.categorical_column_with_vocabulary_list("sex", ["f", "m"])
    >>> tf.feature_column.indicator_column(sex).variable_shape
    TensorShape([1, 2])
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            "Unsupported input type. Input must be a CategoricalColumn. Given: "
            f"{categorical_column}"
        )
    return IndicatorColumn(categorical_column)


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: Any = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """The sums or means of the rows of a table that categories name: [rows, dimension].

    Args:
      combiner: 'sum', 'mean' or 'sqrtn'. initializer: of the table; truncated normal numbers of
        standard deviation 1 / sqrt(dimension) if None. max_norm: rows are scaled down to it.
      use_safe_embedding_lookup: leave out categories below 0.
    Raises: ValueError for what does not fit; NotImplementedError for `ckpt_to_load_from`.

    >>> import tape_compat as tf
    >>> word = tf.feature_column.categorical_column_with_identity("word", 10)
    >>> tf.feature_column.embedding_column(word, 4).variable_shape
    TensorShape([4])
    """
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if ckpt_to_load_from is not None:
        raise NotImplementedError("embedding_column: ckpt_to_load_from; restore the model instead")
    if initializer is not None and not callable(initializer):
        raise ValueError(
            "initializer must be callable if specified. Embedding of column_name: "
            f"{categorical_column.name}"
        )
    if initializer is None:
        initializer = TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
        use_safe_embedding_lookup,
    )


def make_parse_example_spec(feature_columns: Sequence[Any]) -> dict[str, Any]:
    """The features that columns need, for `tf.io.parse_example`.

    Raises: ValueError for what is no column, or for two specs of one feature.

    >>> import tape_compat as tf
    >>> columns = [tf.feature_column.numeric_column("a")]
    >>> [*tf.feature_column.make_parse_example_spec(columns)]
    ['a']
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be FeatureColumn instances. Given: {column}"
            )
        for key, spec in column.parse_example_spec.items():
            if found.setdefault(key, spec) != spec:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {spec} and "
                    f"{found[key]}"
                )
    return found

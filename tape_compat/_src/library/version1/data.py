"""Functions of `tf.compat.v1.data` on datasets."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ...composites.ragged import RaggedTensorSpec
from ...composites.sparse import SparseTensorSpec
from ...data import functional
from ...data.dataset import Dataset as DatasetV2
from ...data.io import csv_files, examples, files, sql
from ...function.tensor_array import TensorArraySpec
from ...values import nest
from ...values.spec import TensorSpec


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator over a dataset.

    >>> import tape_compat as tf
    >>> int(tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next())
    0
    """
    return iter(dataset)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Raises: RuntimeError: it is for graphs."""
    raise RuntimeError(
        "`make_initializable_iterator()` is not supported in eager mode. Use Python-style "
        "iteration instead."
    )


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements.

    >>> import tape_compat as tf
    >>> tf.compat.v1.data.get_output_types(tf.data.Dataset.range(3))
    tf.int64
    """
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements."""
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the elements."""
    return nest.map_structure(lambda spec: spec.value_type, dataset_or_iterator.element_spec)


# -- datasets ------------------------------------------------------------------------------------


class Dataset(DatasetV2):
    """A `tf.data.Dataset` that gives an iterator when it is asked for one.

    >>> import tape_compat as tf
    >>> dataset = tf.compat.v1.data.Dataset.range(3).map(lambda x: x + 5)
    >>> int(dataset.make_one_shot_iterator().get_next()), dataset.output_types
    (5, tf.int64)
    """

    def _made(self, pipeline: Any) -> Dataset:
        made = Dataset(pipeline)
        made._options = self._options
        return made

    def make_one_shot_iterator(self) -> Any:
        """An iterator."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """Raises: RuntimeError: it is for graphs."""
        return make_initializable_iterator(self)

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements."""
        return get_output_types(self)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements."""
        return get_output_shapes(self)

    @property
    def output_classes(self) -> Any:
        """The classes of the elements."""
        return get_output_classes(self)

    def map_with_legacy_function(
        self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None
    ) -> Any:
        """`map`."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate: Any) -> Any:
        """`filter`."""
        return self.filter(predicate)


def _version1(dataset: DatasetV2) -> Dataset:
    made = Dataset(dataset._pipeline)
    made._options = dataset._options
    return made


def _giving(function: Callable[..., Any]) -> Any:
    """A function that gives a dataset of TensorFlow 1 where one gives another."""

    @functools.wraps(function)
    def give(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return _version1(found) if isinstance(found, DatasetV2) else found

    return give


for _name, _value in vars(DatasetV2).items():
    if isinstance(_value, staticmethod) and not _name.startswith("_"):
        setattr(Dataset, _name, staticmethod(_giving(_value.__func__)))


def _class(kind: type) -> Any:
    """The class of TensorFlow 1 beside one that makes datasets of files and the like."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        made: Any = kind(*args, **kwargs)
        Dataset.__init__(self, made._pipeline)
        self._options = made._options

    given: Any = __init__
    given.__signature__ = inspect.signature(kind.__init__)
    return type(kind.__name__, (Dataset,), {"__init__": given, "__doc__": kind.__doc__})


FixedLengthRecordDataset = _class(files.FixedLengthRecordDataset)
TFRecordDataset = _class(files.TFRecordDataset)
TextLineDataset = _class(files.TextLineDataset)
CsvDataset = _class(csv_files.CsvDataset)
SqlDataset = _class(sql.SqlDataset)
RandomDataset = _giving(functional.RandomDataset)
Counter = _giving(functional.Counter)
choose_from_datasets = _giving(functional.choose_from_datasets)
sample_from_datasets = _giving(functional.sample_from_datasets)
make_csv_dataset = _giving(csv_files.make_csv_dataset)
make_batched_features_dataset = _giving(examples.make_batched_features_dataset)


def tensor_structure(dtype: Any, shape: Any) -> TensorSpec:
    """The spec of a tensor."""
    return TensorSpec(shape, dtype)


def sparse_tensor_structure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """The spec of a SparseTensor."""
    return SparseTensorSpec(shape, dtype)


def ragged_tensor_structure(dtype: Any, shape: Any, ragged_rank: int) -> RaggedTensorSpec:
    """The spec of a RaggedTensor."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def tensor_array_structure(
    dtype: Any, element_shape: Any, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """The spec of a TensorArray."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)

"""`tf.data.experimental`: functions of datasets, and functions that `Dataset.apply` takes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..values import nest
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from .base import dataset_of, known_size
from .combining import common_of
from .dataset import Dataset
from .iterator import Iterator, refuse_recording
from .keeping import AssertCardinality, at as element_at
from .optional import Optional
from .reducing import GroupByReducer, Reducer
from .sources import integer
from .structure import map_leaves, taken_apart

Transformation = Callable[[Any], Any]


#: Stands for the number of shards where workers divide a dataset by `Dataset.shard`.
SHARD_HINT = -1


def cardinality(dataset: Any) -> Tensor:
    """How many elements a dataset has, int64; negative if that is endless or not known.

    >>> import tape_compat as tf
    >>> int(tf.data.experimental.cardinality(tf.data.Dataset.range(42)))
    42
    """
    size = known_size(dataset_of(dataset, "`dataset`")._pipeline)
    return convert(np.array(size, np.int64))


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """A transformation to the same elements, of which there must be so many.

    Going through a dataset of another number raises FailedPreconditionError.

    >>> import tape_compat as tf
    >>> odd = tf.data.Dataset.range(6).filter(lambda x: x % 2 == 1)
    >>> len(odd.apply(tf.data.experimental.assert_cardinality(3)))
    3
    """
    count = integer(expected_cardinality, "expected_cardinality")
    return lambda dataset: dataset._made(AssertCardinality(dataset._pipeline, count))


def at(dataset: Any, index: Any) -> Any:
    """The element of a number. Raises OutOfRangeError if there is none.

    >>> import tape_compat as tf
    >>> int(tf.data.experimental.at(tf.data.Dataset.range(5, 9), 2))
    7
    """
    refuse_recording("tf.data.experimental.at()")
    return element_at(dataset_of(dataset, "`dataset`")._pipeline, integer(index, "index"))


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements of a dataset or iterator. Raises TypeError for something else.

    >>> import tape_compat as tf
    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(5))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a Dataset or Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


def get_single_element(dataset: Any) -> Any:
    """The element of a dataset that has one. Raises InvalidArgumentError for another number.

    >>> import tape_compat as tf
    >>> int(tf.data.experimental.get_single_element(tf.data.Dataset.range(3, 4)))
    3
    """
    return dataset.get_single_element()


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator as an Optional, without a value at the end.

    >>> import tape_compat as tf
    >>> iterator = iter(tf.data.Dataset.range(0))
    >>> bool(tf.data.experimental.get_next_as_optional(iterator).has_value())
    False
    """
    return iterator.get_next_as_optional()


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """A dataset of the elements of a list, which are of one form.

    Raises: ValueError if there is none, or for something else than a list; TypeError for elements
      of several forms.

    >>> import tape_compat as tf
    >>> list(tf.data.experimental.from_list([(1, "a"), (2, "b")]).as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    """
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    specs = [taken_apart(element)[0] for element in elements]
    for each in specs[1:]:
        nest.assert_same_structure(specs[0], each)
    spec = functools.reduce(common_of, specs)
    dataset = Dataset.from_generator(lambda: iter(elements), output_signature=spec)
    return dataset.apply(assert_cardinality(len(elements)))


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Transformation:
    """A transformation of a dataset of dicts to one of so many elements, which says which are new.

    Args:
      mask_key: where it says whether an element was there before; new ones are zeros.
    Raises: ValueError for elements that are no dicts, that have the key, or are more.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
    >>> padded = dataset.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [bool(element["valid"]) for element in padded]
    [True, True, False]
    """
    wanted = integer(cardinality, "cardinality")

    def transformed(dataset: Any) -> Any:
        size = known_size(dataset._pipeline)
        if size < 0 or size > wanted:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinality of "
                f"at most {wanted}, but has {size}."
            )
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        if mask_key in dataset.element_spec:
            raise ValueError(f"The elements have the key {mask_key!r} already.")
        blank = map_leaves(_blank, dataset.element_spec)
        marked = dataset.map(lambda element: {**element, mask_key: True})
        more = Dataset.from_tensors({**blank, mask_key: False}).repeat(wanted - size)
        return marked.concatenate(more)

    return transformed


def _blank(spec: TensorSpec) -> np.ndarray:
    shape = [0 if size is None else size for size in spec.shape]
    if spec.dtype is dtypes.string:
        return np.full(shape, b"", object)
    return np.zeros(shape, spec.dtype.np_dtype)


# ---------------------------------------------------------------------------------------------
# For `Dataset.apply`.


def enumerate_dataset(start: Any = 0) -> Transformation:
    """A transformation to pairs of a number and the element.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(2).apply(tf.data.experimental.enumerate_dataset(5))
    >>> [(int(i), int(x)) for i, x in dataset]
    [(5, 0), (6, 1)]
    """
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """A transformation to the elements that raise no error.

    >>> import tape_compat as tf
    >>> len(list(tf.data.Dataset.range(2).apply(tf.data.experimental.ignore_errors())))
    2
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def unbatch() -> Transformation:
    """A transformation to the rows of the elements.

    >>> import tape_compat as tf
    >>> len(list(tf.data.Dataset.range(4).batch(2).apply(tf.data.experimental.unbatch())))
    4
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """A transformation to the elements, each value once.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(4).map(lambda x: x % 2)
    >>> len(list(dataset.apply(tf.data.experimental.unique())))
    2
    """
    return lambda dataset: dataset.unique()


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """A transformation to the elements before the first of which a predicate is false.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(9)
    >>> len(list(dataset.apply(tf.data.experimental.take_while(lambda x: x < 3))))
    3
    """
    return lambda dataset: dataset.take_while(predicate)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """A transformation by a function that carries a state: see `Dataset.scan`.

    >>> import tape_compat as tf
    >>> sums = tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))
    >>> list(map(int, tf.data.Dataset.range(4).apply(sums)))
    [0, 1, 3, 6]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """A transformation to the elements, shuffled and repeated.

    >>> import tape_compat as tf
    >>> again = tf.data.experimental.shuffle_and_repeat(2, count=2)
    >>> len(list(tf.data.Dataset.range(3).apply(again)))
    6
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """A transformation to batches of what a function gives.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(4).apply(
    ...     tf.data.experimental.map_and_batch(lambda x: x * x, 2)
    ... )
    >>> [x.numpy().tolist() for x in dataset]
    [[0, 1], [4, 9]]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` "
            "to be set."
        )
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """A transformation to the elements of datasets by turns: see `Dataset.interleave`.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(2).apply(
    ...     tf.data.experimental.parallel_interleave(
    ...         lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2
    ...     )
    ... )
    >>> list(map(int, dataset))
    [0, 1, 0, 1]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """A transformation of windows of elements of one key: see `Dataset.group_by_window`.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(4).apply(
    ...     tf.data.experimental.group_by_window(
    ...         lambda x: x % 2, lambda key, window: window.batch(2), window_size=2
    ...     )
    ... )
    >>> [x.numpy().tolist() for x in dataset]
    [[0, 2], [1, 3]]
    """
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """A transformation to batches by length: see `Dataset.bucket_by_sequence_length`.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> batches = dataset.apply(
    ...     tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
    ... )
    >>> [x.numpy().tolist() for x in batches]
    [[[1, 0], [2, 2]]]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """A transformation to elements of which classes are as frequent as wanted.

    >>> import tape_compat as tf
    >>> resampled = tf.data.experimental.rejection_resample(lambda x: 0, [1.0], [1.0])
    >>> len(list(tf.data.Dataset.range(3).apply(resampled)))
    3
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def choose_from_datasets(
    datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements of several datasets as their numbers say: see `Dataset.choose_from_datasets`.

    >>> import tape_compat as tf
    >>> numbers = tf.data.Dataset.range(2)
    >>> dataset = tf.data.experimental.choose_from_datasets([numbers, numbers.skip(1)], numbers)
    >>> list(map(int, dataset))
    [0, 1]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements of several datasets, drawn at random: see `Dataset.sample_from_datasets`.

    >>> import tape_compat as tf
    >>> numbers = tf.data.Dataset.range(2)
    >>> len(list(tf.data.experimental.sample_from_datasets([numbers, numbers])))
    4
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """An endless dataset of evenly spaced numbers: see `Dataset.counter`.

    >>> import tape_compat as tf
    >>> list(map(int, tf.data.experimental.Counter().take(2)))
    [0, 1]
    """
    return Dataset.counter(start, step, dtype)


def RandomDataset(
    seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None
) -> Dataset:
    """An endless dataset of random integers: see `Dataset.random`.

    >>> import tape_compat as tf
    >>> len(list(tf.data.experimental.RandomDataset().take(2)))
    2
    """
    return Dataset.random(seed, rerandomize_each_iteration, name)


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = dtypes.int64
) -> Transformation:
    """A transformation to batches, with ragged tensors where sizes differ: `Dataset.ragged_batch`.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(3).map(lambda n: tf.range(n))
    >>> batches = dataset.apply(tf.data.experimental.dense_to_ragged_batch(3))
    >>> next(iter(batches)).to_list()
    [[], [0], [0, 1]]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """A transformation to batches that are sparse tensors: see `Dataset.sparse_batch`.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(3).map(lambda n: tf.range(n))
    >>> batches = dataset.apply(tf.data.experimental.dense_to_sparse_batch(3, [2]))
    >>> next(iter(batches)).shape
    TensorShape([3, 2])
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def save(
    dataset: Any,
    path: Any,
    compression: Any = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """Write the elements of a dataset to a folder: see `Dataset.save`.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.data.experimental.save(tf.data.Dataset.range(3), folder)
    ...     len(tf.data.experimental.load(folder))
    3
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any,
    element_spec: Any = None,
    compression: Any = None,
    reader_func: Callable[..., Any] | None = None,
) -> Any:
    """A dataset of the elements that were saved in a folder: see `Dataset.load`.

    >>> import tape_compat as tf
    >>> tf.data.experimental.load("/there/is/none")
    Traceback (most recent call last):
    tape_compat.errors.NotFoundError: tf.data snapshot element_spec file not found: ...
    """
    return Dataset.load(path, element_spec, compression, reader_func)


def snapshot(
    path: Any,
    compression: Any = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """A transformation to elements that are kept in a folder: see `Dataset.snapshot`.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.snapshot(folder))
    ...     list(map(int, dataset)), list(map(int, dataset))
    ([0, 1, 2], [0, 1, 2])
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """A transformation to one element for each key, by ascending keys.

    Args:
      key_func: gives the key of an element, an int64 scalar.
      reducer: makes one of the elements of a key.
    Raises: ValueError for other keys; TypeError if the state changes its dtypes or structure.

    >>> import tape_compat as tf
    >>> count = tf.data.experimental.Reducer(lambda key: 0, lambda n, _: n + 1, lambda n: n)
    >>> grouped = tf.data.experimental.group_by_reducer(lambda x: x % 3, count)
    >>> list(map(int, tf.data.Dataset.range(8).apply(grouped)))
    [3, 3, 2]
    """
    return lambda dataset: dataset._made(GroupByReducer(dataset._pipeline, key_func, reducer))


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """A transformation to elements that are made ahead: see `Dataset.prefetch`.

    Args:
      device: a name; elements go to devices with the ops that take them.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(2)
    >>> list(map(int, dataset.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))))
    [0, 1]
    """
    return lambda dataset: dataset.prefetch(-1 if buffer_size is None else buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """A transformation to the same elements, which go to devices with the ops that take them.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.range(2)
    >>> list(map(int, dataset.apply(tf.data.experimental.copy_to_device("/cpu:0"))))
    [0, 1]
    """
    return lambda dataset: dataset.with_options(dataset.options())

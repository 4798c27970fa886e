"""The methods of Dataset that group elements, carry a state, or keep elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import as_dtype
from ..values.convert import convert
from .base import DatasetBase, seeds
from .batching import (
    Batch,
    PaddedBatch,
    Padding,
    Rebatch,
    Unbatch,
    has_scalars,
    padded_shape,
)
from .combining import Zip
from .fingerprints import fingerprint
from .folding import Scan, reduced, single
from .io.contents import text
from .io.saved import FileCache, Load, Snapshot, folder_of, save
from .iterator import refuse_recording
from .keeping import Cache, IgnoreErrors, Unique
from .pipeline import Pipeline, refused
from .ragged import RaggedBatch, SparseBatch
from .resampling import rejection_resampled
from .sources import Range, integer
from .specs import CLASSES
from .windows import BucketBatch, GroupByWindow, Window, checked_buckets


class Grouping(DatasetBase):
    """What is made from a dataset, element groups and all."""

    # -- batches --------------------------------------------------------------------------------

    def batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Any:
        """A dataset of `batch_size` elements each, stacked; the last one has those that are left.

        Args:
          drop_remainder: whether to leave out a last batch that is smaller.
          num_parallel_calls, deterministic: change nothing.
        Raises: InvalidArgumentError for a size below 1, and going through it, if shapes differ.

        >>> import tape_compat as tf
        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        made = Batch(self._pipeline, _batch_size(batch_size), bool(drop_remainder))
        return self._made(made.of_calls(num_parallel_calls))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
        name: str | None = None,
    ) -> Any:
        """As `batch`, with tensors filled up to one shape first.

        Args:
          padded_shapes: nest of shapes; None or -1 stands for the largest size in the batch, which
            is also the default for sizes that the element_spec leaves open.
          padding_values: nest of scalars, or one for all; zeros and empty texts by default.
        Raises: ValueError and TypeError for what does not fit the elements; DataLossError going
          through it, if a tensor is larger than its padded shape.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        >>> [
        ...     x.numpy().tolist()
        ...     for x in dataset.padded_batch(2, padding_values=tf.constant(-1, tf.int64))
        ... ]
        [[[1, -1], [2, 2]], [[3, 3, 3]]]
        """
        size = _batch_size(batch_size)
        padding = Padding(self._pipeline.spec, padded_shapes, padding_values)
        return self._made(PaddedBatch(self._pipeline, size, padding, bool(drop_remainder)))

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Any:
        """As `batch`; tensors whose sizes the element_spec leaves open become RaggedTensors.

        Args:
          row_splits_dtype: of these, int32 or int64.
        Raises: InvalidArgumentError for a size below 1.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(4).map(lambda n: tf.range(n))
        >>> [batch.to_list() for batch in dataset.ragged_batch(2)]
        [[[], [0]], [[0, 1], [0, 1, 2]]]
        """
        size, dtype = _batch_size(batch_size), as_dtype(row_splits_dtype)
        return self._made(RaggedBatch(self._pipeline, size, bool(drop_remainder), dtype))

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """`batch_size` elements as the rows of one sparse tensor; they are tensors of any sizes.

        Args:
          row_shape: of the rows; None stands for the largest size in the batch.
        Raises: TypeError for elements of several tensors; InvalidArgumentError for a size below 1,
          and going through it, for another rank; DataLossError for a tensor that is larger.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(3).map(lambda n: tf.fill([n], n))
        >>> [tf.sparse.to_dense(x).numpy().tolist() for x in dataset.sparse_batch(2, [3])]
        [[[0, 0, 0], [1, 0, 0]], [[2, 2, 0]]]
        """
        size, shape = _batch_size(batch_size), padded_shape(row_shape)
        return self._made(SparseBatch(self._pipeline, size, shape.as_list()))

    def unbatch(self, name: str | None = None) -> Any:
        """The rows of the elements.

        Raises: ValueError for elements without rows, or of several numbers of them.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.from_tensors([[1, 2], [3, 4]])
        >>> [x.numpy().tolist() for x in dataset.unbatch()]
        [[1, 2], [3, 4]]
        """
        return self._made(_checked(Unbatch(self._pipeline)))

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: str | None = None) -> Any:
        """The rows of the elements in batches of another size, or of several in turn.

        Raises: InvalidArgumentError for a size below 1; ValueError for elements without rows.

        >>> import tape_compat as tf
        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(6).batch(4).rebatch(3)]
        [[0, 1, 2], [3, 4, 5]]
        """
        whole = np.asarray(batch_size)
        source = self._pipeline
        one = not whole.ndim and not drop_remainder
        if one and source.spec_is_known() and has_scalars(source.layout.specs):
            raise ValueError(
                "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset "
                "with scalar elements. Fix the issue by adding the `batch` transformation to the "
                "dataset."
            )
        given = np.atleast_1d(whole).tolist()
        sizes = [_batch_size(size) for size in given]
        if not sizes:
            raise ValueError("Invalid `batch_sizes`. There must be at least one.")
        return self._made(_checked(Rebatch(source, sizes, bool(drop_remainder))))

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: Any = False,
        name: str | None = None,
    ) -> Any:
        """Datasets of `size` elements each, one dataset for each tensor of the elements.

        Args:
          shift: how far the next window is (default `size`). stride: how far the elements of a
            window are apart.
          drop_remainder: whether to leave out windows that have fewer.
        Raises: InvalidArgumentError for a number below 1.

        >>> import tape_compat as tf
        >>> windows = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [list(map(int, window)) for window in windows]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        count = integer(size, "size")
        by = count if shift is None else integer(shift, "shift")
        apart = integer(stride, "stride")
        for number, what in ((count, "size"), (by, "shift"), (apart, "stride")):
            if number < 1:
                raise refused(f"Window {what} must be greater than zero.")
        return self._made(Window(self._pipeline, count, by, apart, bool(drop_remainder)))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """What `reduce_func` makes of windows of elements that have one key.

        Args:
          key_func: gives the key of an element, an int64 scalar.
          reduce_func: gives a dataset for a key and a dataset of elements.
          window_size: how many elements make a window; or window_size_func gives that for a key.
        Raises: ValueError if both or none are given.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(6).group_by_window(
        ...     lambda x: x % 2, lambda key, window: window.batch(3), window_size=3
        ... )
        >>> [x.numpy().tolist() for x in dataset]
        [[0, 2, 4], [1, 3, 5]]
        """
        if (window_size is None) == (window_size_func is None):
            both = "not both" if window_size_func is not None else "one of them"
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                f"specified, and {both}."
            )
        if window_size_func is None:
            count = integer(window_size, "window_size")
            size = lambda key: count  # noqa: E731
        else:
            given = window_size_func
            size = lambda key: int(convert(given(np.int64(key)), dtypes.int64))  # noqa: E731
        title = "Dataset.group_by_window()"
        return self._made(GroupByWindow(self._pipeline, key_func, reduce_func, size, title))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Batches of elements of similar lengths, padded.

        Args:
          element_length_func: gives the length of an element, an int32 scalar.
          bucket_boundaries: ascending lengths; bucket i has those below the i-th, the last one
            those that are left.
          bucket_batch_sizes: for each bucket how many elements make a batch.
          padded_shapes, padding_values: as in `padded_batch`.
          pad_to_bucket_boundary: whether sizes that are open become the largest length of the
            bucket. no_padding: whether to stack elements as they are.
        Raises: ValueError if the numbers of boundaries and sizes do not fit; InvalidArgumentError
          going through it, for a length without a boundary where it is to be padded to one.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
        >>> batches = dataset.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
        >>> [x.numpy().tolist() for x in batches]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        checked_buckets(bucket_boundaries, bucket_batch_sizes)
        padding = None
        if not no_padding:
            padding = Padding(self._pipeline.spec, padded_shapes, padding_values)
        elif padded_shapes is not None or pad_to_bucket_boundary:
            raise ValueError("`no_padding` does not go with shapes to pad to.")
        return self._made(
            BucketBatch(
                self._pipeline,
                element_length_func,
                bucket_boundaries,
                bucket_batch_sizes,
                padding,
                pad_to_bucket_boundary,
                drop_remainder,
            )
        )

    # -- states ---------------------------------------------------------------------------------

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The state after all elements: `reduce_func` gives the next one for it and an element.

        Raises: TypeError if it gives a state of other dtypes or another structure.

        >>> import tape_compat as tf
        >>> total = tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda s, x: s + x)
        >>> int(total)
        10
        """
        refuse_recording("Dataset.reduce()")
        return reduced(self._pipeline, initial_state, reduce_func)

    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """What `scan_func` gives, beside the next state, for a state and each element.

        Raises: TypeError if it gives no pair, or another kind of state.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(5).scan(
        ...     tf.constant(0, tf.int64), lambda state, x: (state + x, state + x)
        ... )
        >>> list(map(int, dataset))
        [0, 1, 3, 6, 10]
        """
        return self._made(Scan(self._pipeline, initial_state, scan_func))

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a dataset that has one. Raises InvalidArgumentError for another number.

        >>> import tape_compat as tf
        >>> int(tf.data.Dataset.range(10).skip(4).take(1).get_single_element())
        4
        """
        refuse_recording("Dataset.get_single_element()")
        return single(self._pipeline)

    # -- elements kept, numbered or left out ----------------------------------------------------

    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """The same elements, kept from the first run that goes to the end.

        Args:
          filename: none keeps them in memory; else they are in files whose names begin so.
        Raises: going through it: NotFoundError if the folder is not there; AlreadyExistsError while
          another iterator writes the file; InvalidArgumentError for a file of other elements.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(4).shuffle(4).cache()
        >>> list(dataset.as_numpy_iterator()) == list(dataset.as_numpy_iterator())
        True
        """
        path = text(filename, "filename", "CacheDatasetV2").decode()
        return self._made(FileCache(self._pipeline, path) if path else Cache(self._pipeline))

    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write the elements to a folder, in a format of this library; `load` reads them.

        Args:
          compression: None or "GZIP".
          shard_func: gives for an element the number of the file it is written to, an int64 scalar.
          checkpoint_args: another than None raises NotImplementedError.

        >>> import tempfile
        >>> import tape_compat as tf
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tf.data.Dataset.range(3).save(folder + "/numbers")
        ...     list(map(int, tf.data.Dataset.load(folder + "/numbers")))
        [0, 1, 2]
        """
        if checkpoint_args is not None:
            raise NotImplementedError("Dataset.save: `checkpoint_args`.")
        refuse_recording("Dataset.save()")
        save(self._pipeline, folder_of(path), compression, shard_func)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """A dataset of the elements that were saved in a folder.

        Args:
          element_spec: specs of the elements, by default those they were saved with.
          compression: that they were saved with.
          reader_func: makes a dataset of a dataset of datasets, one for each file; by default it
            takes elements of them by turns.
          wait: True raises NotImplementedError.
        Raises: NotFoundError if there is nothing; going through it, DataLossError where files are
          damaged.

        >>> import tempfile
        >>> import tape_compat as tf
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).save(folder)
        ...     tf.data.Dataset.load(folder).element_spec
        {'a': TensorSpec(shape=(), dtype=tf.int32, name=None)}
        """
        if wait:
            raise NotImplementedError("Dataset.load: `wait`.")
        pipeline = Load(folder_of(path), element_spec, compression, reader_func)
        return CLASSES["Dataset"](pipeline)

    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """The same elements, written to a folder in the first run that goes to the end, and read
        from there after it. A dataset that is made in another way (`fingerprint`) is written anew.

        Args:
          compression: "AUTO" and None write as it is; or "GZIP".
          reader_func, shard_func: as in `load` and `save`.

        >>> import tempfile
        >>> import tape_compat as tf
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dataset = tf.data.Dataset.range(3).shuffle(3).snapshot(folder)
        ...     list(map(int, dataset)) == list(map(int, dataset))
        True
        """
        return self._made(
            Snapshot(self._pipeline, folder_of(path), compression, reader_func, shard_func)
        )

    def fingerprint(self) -> Any:
        """A number, uint64, that is the same for datasets that are made in the same way: of their
        steps, arrays, and the code of their functions. Seeds, and what functions read from modules,
        do not count.

        >>> import tape_compat as tf
        >>> numbers = tf.data.Dataset.range
        >>> bool(numbers(3).fingerprint() == numbers(3).fingerprint())
        True
        """
        return convert(np.array(fingerprint(self._pipeline), np.uint64))

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """Pairs of a number, int64, and the element.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.from_tensor_slices([7, 8]).enumerate(5).as_numpy_iterator())
        [(np.int64(5), np.int32(7)), (np.int64(6), np.int32(8))]
        """
        numbers = Range((integer(start, "start"), np.iinfo(np.int64).max))
        return self._made(Zip([numbers, self._pipeline], (0, 1)))

    def unique(self, name: str | None = None) -> Any:
        """The elements, each value once. They are tensors of int32, int64 or string.

        Raises: TypeError for another dtype; InvalidArgumentError for several tensors.

        >>> import tape_compat as tf
        >>> list(map(int, tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()))
        [1, 37, 2]
        """
        return self._made(Unique(self._pipeline))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """The elements that raise no error.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
        >>> finite = dataset.map(lambda x: tf.debugging.check_numerics(1.0 / x, "not finite"))
        >>> list(map(float, finite.ignore_errors()))
        [1.0, 0.25]
        """
        return self._made(IgnoreErrors(self._pipeline, log_warning))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Any:
        """Pairs of class and element, chosen at random so that classes are as frequent as wanted.

        Args:
          class_func: gives the class of an element, an int32 scalar.
          target_dist: floats [classes], the frequencies wanted. initial_dist: those of the
            elements; estimated if they are not given.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.range(100).rejection_resample(
        ...     lambda x: tf.cast(x % 4 == 0, tf.int32), [0.5, 0.5], [0.75, 0.25], seed=1
        ... )
        >>> kinds = [int(kind) for kind, _ in dataset]
        >>> 25 <= sum(kinds) <= 30, len(kinds) < 80
        (True, True)
        """
        return self._made(
            rejection_resampled(
                self._pipeline, class_func, target_dist, initial_dist, seeds(seed, True)
            )
        )


def _checked(step: Pipeline) -> Pipeline:
    """A step whose specs were worked out, if they are known: they raise for what it cannot take."""
    if step.inputs[0].spec_is_known():
        _ = step.spec
    return step


def _batch_size(value: Any) -> int:
    size = integer(value, "batch_size")
    if size < 1:
        raise refused("Batch size must be greater than zero.")
    return size

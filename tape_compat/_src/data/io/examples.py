"""Datasets of examples that are parsed in batches, and datasets written as records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...composites.ragged import RaggedTensorSpec
from ...composites.sparse import SparseTensorSpec
from ...core import dtypes
from ...values.spec import TensorSpec
from ..base import DatasetBase
from ..dataset import Dataset
from ..iterator import refuse_recording
from ..pipeline import AUTOTUNE, Draws, Pipeline, Stream, StreamOf
from ..structure import Element, array_of, flatten, leaf_of, value_of
from .composite_features import RaggedFeature, SparseFeature, UniformRowLength
from .contents import compression_kind, text
from .files import TFRecordDataset
from .parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    in_order,
    parse_example,
)
from .records import TFRecordWriter as RecordWriter


def _spec_of(feature: Any, size: int | None) -> Any:
    """The spec of a feature of so many examples."""
    if isinstance(feature, VarLenFeature):
        return SparseTensorSpec([size, None], feature.dtype)
    if isinstance(feature, SparseFeature):
        several = isinstance(feature.size, (list, tuple))
        axes = feature.size if several else [feature.size]
        return SparseTensorSpec([size, *axes], feature.dtype)
    if isinstance(feature, RaggedFeature):
        lengths = [
            p.length if isinstance(p, UniformRowLength) else None for p in feature.partitions
        ]
        ragged = max((i for i, n in enumerate(lengths, 2) if n is None), default=1)
        shape = [size, None, *lengths]
        return RaggedTensorSpec(shape, feature.dtype, ragged, feature.row_splits_dtype)
    if isinstance(feature, FixedLenSequenceFeature):
        return TensorSpec([size, None, *feature.shape], feature.dtype)
    if isinstance(feature, FixedLenFeature):
        return TensorSpec([size, *feature.shape], feature.dtype)
    raise NotImplementedError(f"Features of {type(feature).__name__} in a dataset.")


class ParsedExamples(Pipeline):
    """Batches of examples, taken apart."""

    name = "ParseExampleDataset"

    def __init__(self, source: Pipeline, features: Any):
        super().__init__(source)
        spec = source.spec
        if not TensorSpec([None], dtypes.string).is_compatible_with(spec):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`."
            )
        self._features = features

    def _spec(self) -> Any:
        shape = self.inputs[0].spec.shape
        size = None if shape.rank is None else shape[0]
        return {key: _spec_of(self._features[key], size) for key in in_order(self._features)}

    def _open(self, draws: Draws) -> Stream:
        source, features = self.inputs[0].open(draws.of(0)), self._features

        def step() -> Element:
            (texts,) = source.step()
            return tuple(map(leaf_of, flatten(parse_example(value_of(array_of(texts)), features))))

        return StreamOf(step)


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: Any = None
) -> Callable[[Any], Any]:
    """A transformation of batches of serialized examples to dicts of their features.

    Args:
      features: dict by name, as `tf.io.parse_example` takes.
      num_parallel_calls, deterministic: change nothing.
    Raises: ValueError for no features; TypeError for elements that are no vectors of strings.

    >>> import tape_compat as tf
    >>> age = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"age": age}))
    >>> dataset = tf.data.Dataset.from_tensors([example.SerializeToString()] * 2)
    >>> features = {"age": tf.io.FixedLenFeature([], tf.int64)}
    >>> parsed = dataset.apply(tf.data.experimental.parse_example_dataset(features))
    >>> next(iter(parsed))["age"].numpy().tolist()
    [3, 3]
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: dataset._made(ParsedExamples(dataset._pipeline, features))


class _Labelled(Pipeline):
    """Dicts without one entry, and that entry."""

    name = "MapDataset"

    def __init__(self, source: Pipeline, key: str):
        super().__init__(source)
        keys = sorted(source.spec)
        place = keys.index(key)
        self._key = key
        self._order = [*(i for i in range(len(keys)) if i != place), place]

    def _spec(self) -> Any:
        spec = self.inputs[0].spec
        return {k: spec[k] for k in sorted(spec) if k != self._key}, spec[self._key]

    def _open(self, draws: Draws) -> Stream:
        source, order = self.inputs[0].open(draws.of(0)), self._order

        def step() -> Element:
            element = source.step()
            return tuple([element[i] for i in order])

        return StreamOf(step, source.skip)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the examples in files: dicts of their features.

    Args:
      file_pattern: names of files or patterns of them.
      features: dict by name, as `tf.io.parse_example` takes.
      reader: gives a dataset of serialized examples for the name of a file and `reader_args`;
        `tf.data.TFRecordDataset` by default.
      label_key: the feature that is given apart: elements are pairs then.
      num_epochs: how often the examples come; without end by default, in batches of full size.
      shuffle, shuffle_buffer_size, shuffle_seed: of `Dataset.shuffle`, and of the files.
      prefetch_buffer_size: of `Dataset.prefetch`.
      reader_num_threads: from how many files examples come by turns.
      parser_num_threads, sloppy_ordering: change nothing.
      drop_final_batch: whether to leave out a last batch that is smaller.
    Raises: ValueError for a label that is no feature; InvalidArgumentError if there is no file.

    >>> import tape_compat as tf
    >>> tf.data.experimental.make_batched_features_dataset("/there/is/none", 2, {})
    Traceback (most recent call last):
    tape_compat.errors.InvalidArgumentError: Expected 'tf.Tensor(False, ...
    """
    read = TFRecordDataset if reader is None else reader
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    cycle = 1 if reader_num_threads is None else reader_num_threads
    dataset = files.interleave(lambda name: read(name, *(reader_args or ())), cycle, 1)
    if isinstance(dataset.element_spec, tuple):
        dataset = dataset.map(lambda _, value: value)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key}) must be one of the `features` keys: "
                f"{features.keys()}."
            )
        dataset = dataset._made(_Labelled(dataset._pipeline, label_key))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


class TFRecordWriter:
    """A file that datasets of texts are written to as records.

    Args:
      filename: string scalar. compression_type: "", "GZIP" or "ZLIB".

    >>> import tempfile
    >>> import tape_compat as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     writer = tf.data.experimental.TFRecordWriter(file.name)
    ...     writer.write(tf.data.Dataset.from_tensor_slices(["a", "b"]))
    ...     list(tf.data.TFRecordDataset(file.name).as_numpy_iterator())
    [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: Any = None):
        self._path = text(filename, "filename", "DatasetToTFRecord").decode()
        self._kind = compression_kind(compression_type)

    def write(self, dataset: Any) -> None:
        """Write the elements, which are string scalars, anew. Raises TypeError for others."""
        if not isinstance(dataset, DatasetBase):
            raise TypeError(
                f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        spec = dataset.element_spec
        if not TensorSpec([], dtypes.string).is_compatible_with(spec):
            shapes, kinds = getattr(spec, "shape", spec), getattr(spec, "dtype", spec)
            raise TypeError(
                "Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, "
                f"but got a dataset which produces elements with shapes {shapes} and types "
                f"{kinds!r}."
            )
        refuse_recording("TFRecordWriter.write()")
        with RecordWriter(self._path, self._kind) as writer:
            for (element,) in dataset._pipeline.open(Draws()):
                writer.write(array_of(element).item())

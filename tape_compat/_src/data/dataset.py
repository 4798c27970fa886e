"""`tf.data.Dataset`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..values.convert import convert
from ..values.tensor import Tensor
from .base import DatasetBase, dataset_of, known_size, seeds
from .combining import Zip
from .interleaving import Choose, Sample, check_choice
from .io.names import list_files
from .iterator import NumpyIterator, OwnedIterator
from .options import Options
from .pipeline import INFINITE, UNKNOWN, Draws, Pipeline, Stream
from .sources import Counter, Generated, Random, Range, Single, Slices, signature_of
from .specs import CLASSES, DatasetSpec
from .structure import map_leaves
from .transformations import Transformations


class Dataset(Transformations):
    """A sequence of elements, which may be long or endless: nests of tensors of one form.

    Made by `from_tensor_slices` and the other static methods. Its methods give other datasets;
    nothing runs before one goes through the elements, and going through them again runs it again.

    >>> import tape_compat as tf
    >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4, 5]).map(lambda x: x * x)
    >>> [batch.numpy().tolist() for batch in dataset.batch(2)]
    [[1, 4], [9, 16], [25]]
    """

    def __init__(self, variant_tensor: Any) -> None:
        if not isinstance(variant_tensor, Pipeline):
            raise NotImplementedError(
                "Datasets are made by the static methods of tf.data.Dataset; those of TensorFlow's "
                "variant tensors, and subclasses that make their own, are not supported."
            )
        self._pipeline = variant_tensor
        self._options = Options()

    def _made(self, pipeline: Pipeline) -> Dataset:
        made = Dataset(pipeline)
        made._options = self._options
        return made

    # -- sources --------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element.

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.from_tensors([1, 2]).as_numpy_iterator())
        [array([1, 2], dtype=int32)]
        """
        return Dataset(Single(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of the rows of tensors.

        Args:
          tensors: nest of tensors [n, ...]; lists are tensors, tuples and dicts are structures.
        Raises: ValueError for scalars, and where the numbers of rows differ.

        >>> import tape_compat as tf
        >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2], {"a": [3.0, 4.0]}))
        >>> list(dataset.as_numpy_iterator())[0]
        (np.int32(1), {'a': np.float32(3.0)})
        """
        return Dataset(Slices(tensors))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """A dataset of what a generator yields. It is called anew for each run.

        Args:
          generator: callable that gives an iterable, and takes `args` as NumPy arrays.
          output_types, output_shapes: nests of dtypes, and of shapes (default: unknown).
          args: tuple of what becomes tensors.
          output_signature: nest of specs, instead of these.
        Raises: TypeError if the arguments do not fit. Going through it raises InvalidArgumentError
          where an element does not fit the signature, and for a ValueError or TypeError of the
          generator; UnknownError for most others.

        >>> import tape_compat as tf
        >>> def count(stop):
        ...     yield from range(stop)
        >>> dataset = tf.data.Dataset.from_generator(
        ...     count, args=(3,), output_signature=tf.TensorSpec([], tf.int32)
        ... )
        >>> list(dataset.as_numpy_iterator())
        [np.int32(0), np.int32(1), np.int32(2)]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        signature = signature_of(output_types, output_shapes, output_signature)
        exact = output_shapes is None and output_signature is None
        return Dataset(Generated(generator, signature, tuple(map(convert, args or ())), exact))

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """A dataset of evenly spaced integers: stop; start, stop; or start, stop, step.

        >>> import tape_compat as tf
        >>> [int(x) for x in tf.data.Dataset.range(2, 8, 3)]
        [2, 5]
        """
        return Dataset(Range(args, output_type))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None
    ) -> Dataset:
        """An endless dataset of random integers in [0, 2**32), int64.

        Args:
          seed: with the global seed it says which numbers come.
          rerandomize_each_iteration: whether each run gives other numbers.

        >>> import tape_compat as tf
        >>> first, again = (list(tf.data.Dataset.random(seed=4).take(2)) for _ in range(2))
        >>> len(first), bool(first[0] < 2**32)
        (2, True)
        """
        return Dataset(Random(seeds(seed, bool(rerandomize_each_iteration))))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """A dataset of nests of one element of each dataset; as long as the shortest.

        Args:
          *args: datasets, or one nest of them.
          datasets: one nest of them, instead.
        Raises: TypeError if there is none, or something else.

        >>> import tape_compat as tf
        >>> numbers = tf.data.Dataset.range(2)
        >>> list(tf.data.Dataset.zip(numbers, numbers.skip(1)).as_numpy_iterator())
        [(np.int64(0), np.int64(1))]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if len(args) == 1:
            datasets = args[0]
        elif args:
            datasets = args
        inputs: list[DatasetBase] = []
        return _joined(zipped(datasets, inputs), inputs)

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None
    ) -> Dataset:
        """An endless dataset of evenly spaced numbers.

        >>> import tape_compat as tf
        >>> list(map(int, tf.data.Dataset.counter(2, 3).take(3)))
        [2, 5, 8]
        """
        return Dataset(Counter(start, step, dtype))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """A dataset of the names of the files that match patterns, as there are now.

        Args:
          file_pattern: string scalar or vector.
          shuffle: whether they come in random order, another one in each run (default), or sorted.
        Raises: InvalidArgumentError if there is none.

        >>> import tempfile
        >>> import tape_compat as tf
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tf.io.write_file(folder + "/a.txt", "")
        ...     len(tf.data.Dataset.list_files(folder + "/*.txt"))
        1
        """
        return Dataset(list_files(file_pattern, shuffle, seed))

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets, in the order that a dataset of their numbers gives.

        Args:
          choice_dataset: int64 scalars.
          stop_on_empty_dataset: whether to end where one dataset does.
        Raises: TypeError for other numbers; ValueError if there is no dataset.

        >>> import tape_compat as tf
        >>> datasets = [tf.data.Dataset.from_tensors(x).repeat() for x in ("a", "b")]
        >>> choice = tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 1], tf.int64))
        >>> list(tf.data.Dataset.choose_from_datasets(datasets, choice).as_numpy_iterator())
        [b'a', b'b', b'b']
        """
        choice = dataset_of(choice_dataset, "`choice_dataset`")
        check_choice(choice.element_spec)
        inputs = _inputs(datasets)
        pipelines = [each._pipeline for each in inputs]
        chosen = Choose(pipelines, choice._pipeline, stop_on_empty_dataset)
        return _joined(chosen, [choice, *inputs])

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: Any = None,
    ) -> Dataset:
        """Elements of several datasets, drawn at random.

        Args:
          weights: how often each is drawn, floats [datasets], or a dataset of such, one for each
            draw; equally often by default.
          stop_on_empty_dataset: whether to end where one dataset does.
          rerandomize_each_iteration: whether each run draws otherwise.
        Raises: ValueError if the number of weights is another, or there is no dataset; TypeError
          for weights that are no floats.

        >>> import tape_compat as tf
        >>> numbers = tf.data.Dataset.range(3)
        >>> dataset = tf.data.Dataset.sample_from_datasets([numbers, numbers], seed=1)
        >>> sorted(map(int, dataset))
        [0, 0, 1, 1, 2, 2]
        """
        inputs = _inputs(datasets)
        pipelines = [each._pipeline for each in inputs]
        found = seeds(seed, bool(rerandomize_each_iteration))
        if isinstance(weights, DatasetBase):
            given: Any = weights._pipeline
            return _joined(Sample(pipelines, given, found, stop_on_empty_dataset), inputs)
        given = np.maximum(_weights(weights, len(inputs)), 0.0)
        made = _joined(Sample(pipelines, given, found, stop_on_empty_dataset), inputs)
        return made if given.any() else made.take(0)

    # -- going through it -----------------------------------------------------------------------

    def __iter__(self) -> OwnedIterator:
        return OwnedIterator(self._pipeline)

    def as_numpy_iterator(self) -> NumpyIterator:
        """An iterator over the elements with NumPy arrays, and NumPy scalars for shape ().

        >>> import tape_compat as tf
        >>> list(tf.data.Dataset.range(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        return NumpyIterator(self._pipeline)

    def cardinality(self) -> Tensor:
        """How many elements there are, int64; INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

        >>> import tape_compat as tf
        >>> int(tf.data.Dataset.range(10).batch(4).cardinality())
        3
        """
        return convert(np.array(known_size(self._pipeline), np.int64))

    def __len__(self) -> int:
        size = known_size(self._pipeline)
        if size == INFINITE:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self._pipeline.shown}{self._pipeline.name} element_spec={self.element_spec!r}>"


def _inputs(datasets: Any) -> list[DatasetBase]:
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    return [dataset_of(dataset, "Each of `datasets`") for dataset in datasets]


def _joined(pipeline: Pipeline, inputs: Sequence[DatasetBase]) -> Dataset:
    """A dataset made from several, with the options of them all."""
    made = Dataset(pipeline)
    for each in inputs:
        made._options = made._options.merge(each._options)
    return made


def _weights(weights: Any, count: int) -> np.ndarray:
    """How often each of some datasets is drawn."""
    if weights is None:
        return np.ones(count)
    given = convert(weights)
    if given.shape != (count,):
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={given.shape.num_elements()}` vs. `len(datasets)={count}`."
        )
    if given.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"{given.dtype}."
        )
    return np.asarray(weights, np.float64)


def zipped(datasets: Any, inputs: list[DatasetBase]) -> Zip:
    """The pipeline of a nest of datasets, which are appended to `inputs`."""

    def place(leaf: Any) -> int:
        if not isinstance(leaf, DatasetBase):
            if isinstance(leaf, list):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    "`tf.data.Dataset` objects. Python `list` is not supported and you should use "
                    "`tuple` instead."
                )
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}."
            )
        inputs.append(leaf)
        return len(inputs) - 1

    structure = map_leaves(place, datasets)
    return Zip([each._pipeline for each in inputs], structure)


class _Placeholder(Pipeline):
    """A pipeline of which only the specs are known."""

    def __init__(self, spec: Any):
        super().__init__()
        self._known = spec

    def _spec(self) -> Any:
        return self._known

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        raise AssertionError("a placeholder has no elements")


CLASSES["Dataset"] = Dataset
CLASSES["Dataset of specs"] = lambda spec: Dataset(_Placeholder(spec))
CLASSES["Iterator of specs"] = lambda spec: OwnedIterator(_Placeholder(spec), begin=False)
DatasetSpec.__module__ = Dataset.__module__ = "tape_compat.data"

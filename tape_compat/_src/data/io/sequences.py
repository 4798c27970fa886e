"""`tf.io.parse_sequence_example`: tensors of what serialized sequence examples hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...composites.sparse import SparseTensor
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.shapes import as_shape
from ...values.tensor import Tensor
from ..structure import value_of
from . import wire
from .composite_features import RaggedFeature, check_keys, flat_array, ragged, rows_of_lengths
from .contents import invalid, text, texts
from .parsing import (
    NOTHING,
    FeatureValues,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Parser,
    VarLenFeature,
    in_order,
    short,
    values_of,
)

_KERNEL = "ParseSequenceExampleV2"


def feature_lists_of(message: bytes) -> dict[str, list[FeatureValues]]:
    """The feature lists of a serialized sequence example. Raises ValueError for what is none."""
    found: dict[str, list[FeatureValues]] = {}
    for number, _, lists in wire.fields(message):
        if number != 2:
            continue
        for key, _, entry in wire.fields(lists):  # type: ignore[arg-type]
            if key != 1:
                continue
            name, steps = "", []
            for part, _, held in wire.fields(entry):  # type: ignore[arg-type]
                if part == 1:
                    name = bytes(held).decode()  # type: ignore[arg-type]
                elif part == 2:
                    features = wire.fields(held)  # type: ignore[arg-type]
                    steps = [values_of(feature) for one, _, feature in features if one == 1]
            found[name] = steps
    return found


def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors of the context and of the sequences of one sequence example.

    Args:
      serialized: string scalar, a serialized `tf.train.SequenceExample`.
      context_features: dict by name of FixedLenFeature, VarLenFeature and RaggedFeature.
      sequence_features: dict by name of FixedLenSequenceFeature, VarLenFeature and RaggedFeature.
      example_name: a name for messages.
    Returns: two dicts of tensors; those of sequences [steps, ...].
    Raises: ValueError for no features; InvalidArgumentError for an example that does not fit them.

    >>> import tape_compat as tf
    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 5]))
    >>> lists = tf.train.FeatureLists(feature_list={"x": tf.train.FeatureList(feature=[step] * 2)})
    >>> example = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> spec = {"x": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    >>> _, found = tf.io.parse_single_sequence_example(example, None, spec)
    >>> found["x"].numpy().tolist()
    [[3, 5], [3, 5]]
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    if getattr(serialized, "shape", ()) and len(serialized.shape):
        raise ValueError("Input serialized must be a scalar")
    message = text(serialized, "serialized", _KERNEL)
    names = None if example_name is None else [text(example_name, "example_name", _KERNEL)]
    found = _parsed([message], context_features, sequence_features, names, single=True)
    return found[0], found[1]


def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Tensors of a batch of sequence examples, and how long each sequence is.

    Args:
      serialized: string tensor [n], serialized `tf.train.SequenceExample`s; or one, a scalar.
      context_features: dict by name of FixedLenFeature, VarLenFeature and RaggedFeature.
      sequence_features: dict by name of FixedLenSequenceFeature, VarLenFeature and RaggedFeature.
      example_names: string tensor [n], for messages.
    Returns: three dicts: tensors [n, ...] of the context, those [n, steps, ...] of sequences, zeros
      after the end of each, and for each FixedLenSequenceFeature the lengths, int64 [n].
    Raises: ValueError for no features; InvalidArgumentError for an example that does not fit them.

    >>> import tape_compat as tf
    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> lists = tf.train.FeatureLists(feature_list={"x": tf.train.FeatureList(feature=[step] * 2)})
    >>> example = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> spec = {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}
    >>> _, found, lengths = tf.io.parse_sequence_example([example], None, spec)
    >>> found["x"].numpy().tolist(), lengths["x"].numpy().tolist()
    ([[3, 3]], [2])
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one "
            "should have values."
        )
    array = texts(serialized, "serialized")
    if array.ndim > 1:
        shape = ",".join(map(str, array.shape))
        raise invalid(
            f"Expected serialized to be a scalar or vector, got shape: [{shape}]", _KERNEL
        )
    names = None if example_names is None else texts(example_names, "example_names")
    given = None if names is None else names.ravel().tolist()
    single = not array.ndim
    return _parsed(array.ravel().tolist(), context_features, sequence_features, given, single)


def _parsed(
    messages: list[bytes], context: Any, sequences: Any, names: list[bytes] | None, single: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    _only(context, (FixedLenFeature, VarLenFeature, RaggedFeature))
    _only(sequences, (FixedLenSequenceFeature, VarLenFeature, RaggedFeature))
    found = _Context(context, messages, names, single).parsed() if context else {}
    if not sequences:
        return found, {}, {}
    lists = _Lists(sequences, messages, names, single)
    return found, lists.parsed(), lists.lengths


def _only(features: Any, kinds: tuple[type, ...]) -> None:
    for key, feature in (features or {}).items():
        if not isinstance(feature, kinds):
            raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key {key!r}")


def _named(names: list[bytes] | None, index: int) -> str:
    """The beginning of a message on one example."""
    return f"Name: {_id(names, index)}, "


def _id(names: list[bytes] | None, index: int) -> str:
    return "<unknown>" if names is None else names[index].decode()


class _Context(Parser):
    """The context of sequence examples, which stands where examples have their features."""

    def _of(self, index: int) -> str:
        return _named(self._names, index)

    def _other_dtype(self, key: str, index: int, found: DType, dtype: DType) -> Exception:
        return invalid(
            f"{self._of(index)}Context feature: {key}.  Data types don't match. Expected type: "
            f"{short(dtype)}",
            _KERNEL,
        )

    def _missing(self, key: str, dtype: DType, i: int, sizes: list[int]) -> Exception:
        if self._single:
            return self._other_size(key, dtype, i, 0, sizes)
        return invalid(
            f"Feature: {key} (data type: {short(dtype)}) is required but could not be found.",
            _KERNEL,
        )

    def _other_size(self, key: str, dtype: DType, i: int, size: int, sizes: list[int]) -> Exception:
        return invalid(
            f"Inconsistent max number of elements for feature {key}: expected "
            f"{int(np.prod(sizes, dtype=np.int64))}, but found {size}",
            _KERNEL,
        )


class _Lists:
    """The feature lists of examples taken apart. `lengths` are those of dense sequences."""

    def __init__(
        self, features: Any, messages: list[bytes], names: list[bytes] | None, single: bool
    ):
        check_keys(features)
        self._features, self._names, self._single = features, names, single
        self.lengths: dict[str, Tensor] = {}
        self._examples: list[dict[str, list[FeatureValues]]] = []
        for i, message in enumerate(messages):
            try:
                self._examples.append(feature_lists_of(message))
            except ValueError:
                raise invalid(
                    f"Invalid protocol message input, example id: {_id(names, i)}",
                    _KERNEL,
                ) from None

    def parsed(self) -> dict[str, Any]:
        return {key: self._feature(key, self._features[key]) for key in in_order(self._features)}

    def _feature(self, key: str, feature: Any) -> Any:
        if isinstance(feature, FixedLenSequenceFeature):
            return self._dense(key, feature)
        if isinstance(feature, RaggedFeature):
            return self._ragged(key, feature)
        return self._sparse(key, as_dtype(feature.dtype))

    def _steps(self, key: str, dtype: DType, index: int) -> list[Sequence[Any]]:
        """The values of each step of one example; none for a list that is missing."""
        steps = self._examples[index].get(key, [])
        for place, step in enumerate(steps):
            if step is not NOTHING and step.dtype is not dtype:
                raise invalid(
                    f"{_named(self._names, index)}Feature list: {key}, Index: {place}.  Data "
                    f"types don't match. Expected type: {short(dtype)}",
                    _KERNEL,
                )
        return [step.values for step in steps]

    def _all(self, key: str, dtype: DType) -> list[list[Sequence[Any]]]:
        return [self._steps(key, dtype, i) for i in range(len(self._examples))]

    def _dense(self, key: str, feature: FixedLenSequenceFeature) -> Tensor:
        if feature.default_value is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
        dtype = as_dtype(feature.dtype)
        sizes = [int(size or 0) for size in as_shape(feature.shape)]
        found = self._all(key, dtype)
        for i, steps in enumerate(found):
            self._check_dense(key, feature, i, steps, sizes)
        longest = max(map(len, found), default=0)
        array = np.zeros([len(found), longest, *sizes], dtype.np_dtype)
        if dtype is dtypes.string:
            array[...] = b""
        for i, steps in enumerate(found):
            flat = flat_array([x for step in steps for x in step], dtype)
            array[i, : len(steps)] = flat.reshape(len(steps), *sizes)
        lengths = np.array([len(steps) for steps in found], np.int64)
        self.lengths[key] = value_of(lengths.reshape([]) if self._single else lengths)
        return value_of(array[0] if self._single else array)

    def _check_dense(
        self,
        key: str,
        feature: FixedLenSequenceFeature,
        index: int,
        steps: list[Sequence[Any]],
        sizes: list[int],
    ) -> None:
        if key not in self._examples[index] and not feature.allow_missing:
            raise invalid(
                f"{_named(self._names, index)}Feature list '{key}' is required but could not be "
                "found.  Did you mean to include it in feature_list_dense_missing_assumed_empty "
                "or feature_list_dense_defaults?",
                _KERNEL,
            )
        for place, step in enumerate(steps):
            if len(step) != np.prod(sizes, dtype=np.int64):
                raise invalid(
                    f"{_named(self._names, index)}Key: {key}, Index: {place}.  Number of values "
                    f"!= expected.  values size: {len(step)} but output shape: {sizes}",
                    _KERNEL,
                )

    def _sparse(self, key: str, dtype: DType) -> SparseTensor:
        found = self._all(key, dtype)
        places = [
            (i, j, k)
            for i, steps in enumerate(found)
            for j, step in enumerate(steps)
            for k in range(len(step))
        ]
        longest = max(map(len, found), default=0)
        widest = max([len(step) for steps in found for step in steps], default=0)
        indices = np.array(places, np.int64).reshape(-1, 3)
        flat = flat_array([x for steps in found for step in steps for x in step], dtype)
        if self._single:
            return SparseTensor(indices[:, 1:], value_of(flat), [longest, widest])
        return SparseTensor(indices, value_of(flat), [len(found), longest, widest])

    def _ragged(self, key: str, feature: RaggedFeature) -> Any:
        """The steps of all examples, each like an example of its own, then by examples."""

        def read(name: str, dtype: DType) -> list[Sequence[Any] | None]:
            return [step for steps in self._all(name, dtype) for step in steps]

        rows = ragged(key, feature, read, single=False)
        if self._single:
            return rows
        held = self._all(feature.value_key or key, as_dtype(feature.dtype))
        lengths = [len(steps) for steps in held]
        return rows_of_lengths(rows, lengths, feature.row_splits_dtype, feature.validate)

"""`tf.io.parse_example`: tensors of what serialized examples hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...composites.sparse import SparseTensor, SparseTensorSpec
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.native import native
from ...core.shapes import TensorShape, as_shape
from ...ops.arguments import sketched
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor
from ..structure import array_of, value_of
from . import wire
from .composite_features import (
    RaggedFeature,
    SparseFeature,
    check_keys,
    flat_array,
    outlined,
    ragged,
    sparse,
)
from .contents import invalid, text, texts

_KERNEL = "ParseExampleV2"
#: By the number of the field of a Feature: its name, and the dtype of its values.
_KINDS = {
    1: ("bytes_list", dtypes.string),
    2: ("float_list", dtypes.float32),
    3: ("int64_list", dtypes.int64),
}


class FixedLenFeature(NamedTuple):
    """A feature of a known shape; one without `default_value` must be there.

    >>> import tape_compat as tf
    >>> tf.io.FixedLenFeature([], tf.int64)
    FixedLenFeature(shape=[], dtype=tf.int64, default_value=None)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any length, which becomes a SparseTensor.

    >>> import tape_compat as tf
    >>> tf.io.VarLenFeature(tf.int64)
    VarLenFeature(dtype=tf.int64)
    """

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of values of a known shape, which becomes a tensor.

    >>> import tape_compat as tf
    >>> tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True).allow_missing
    True
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class FeatureValues(NamedTuple):
    """What a feature holds: its dtype, None if nothing, and the values."""

    dtype: DType | None
    values: Any


NOTHING = FeatureValues(None, ())
#: What `features_of` gives for a feature that holds nothing.
_EMPTY: tuple[int, Any] = (0, ())


@native
def features_of(message: bytes) -> dict[str, tuple[int, Any]]:
    """The features of a serialized example, each by its kind, 0 to 3, and the values: a list of
    bytes, or the bytes of floats or of integers of 64 bits.

    Raises: ValueError for what is none.
    """
    found: dict[str, tuple[int, Any]] = {}
    for features in wire.parts(message, 1):
        for entry in wire.parts(features, 1):
            name, values = b"", _EMPTY
            for number, kind, part in wire.fields(entry):
                if number in (1, 2) and kind == wire.VARINT:
                    raise ValueError("an integer stands where a message is wanted")
                if number == 1:
                    name = bytes(part)  # type: ignore[arg-type]
                elif number == 2:
                    values = _values_in(part)
            found[name.decode()] = values
    return found


def values_of(feature: Any) -> FeatureValues:
    """What a serialized Feature holds."""
    return _values(_values_in(feature))


def _values(found: tuple[int, Any]) -> FeatureValues:
    kind, values = found
    if not kind:
        return NOTHING
    dtype = _KINDS[kind][1]
    return FeatureValues(dtype, values if kind == 1 else np.frombuffer(values, dtype.np_dtype))


def _values_in(feature: Any) -> tuple[int, Any]:
    found = _EMPTY
    for number, kind, held in wire.fields(feature):
        if number not in _KINDS:
            continue
        if kind == wire.VARINT:
            raise ValueError("an integer stands where a message is wanted")
        found = number, _LISTS[number](held)
    return found


def _texts(message: Any) -> list[bytes]:
    return list(map(bytes, wire.parts(message, 1)))


def _floats(message: Any) -> bytes:
    found = list(wire.parts(message, 1))
    if any(len(part) % 4 for part in found):
        raise ValueError("floats of 4 bytes each do not fill a field")
    return b"".join(found)


def _integers(message: Any) -> bytes:
    found: list[int] = []
    for number, kind, part in wire.fields(message):
        if number != 1:
            continue
        if kind == wire.VARINT:
            found.append(wire.signed(part))  # type: ignore[arg-type]
        elif kind == wire.BYTES:
            found.extend(wire.read_varints(part))  # type: ignore[arg-type]
        else:
            raise ValueError("integers are of another kind")
    return np.array(found, np.int64).tobytes()


_LISTS: dict[int, Callable[[Any], Any]] = {1: _texts, 2: _floats, 3: _integers}


# ---------------------------------------------------------------------------------------------


@by_host(lambda *args, **kwargs: parse_example(*args, **kwargs))
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Tensors of the features of one example.

    Args:
      serialized: string scalar, a serialized `tf.train.Example`.
      features: dict by name of FixedLenFeature, VarLenFeature, FixedLenSequenceFeature,
        SparseFeature and RaggedFeature.
      example_names: a name for messages.
    Returns: dict of tensors, and of SparseTensors and RaggedTensors for features of these.
    Raises: ValueError for no features; InvalidArgumentError for an example that does not fit them.

    >>> import tape_compat as tf
    >>> ages = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 5]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"ages": ages}))
    >>> spec = {"ages": tf.io.FixedLenFeature([2], tf.int64)}
    >>> tf.io.parse_single_example(example.SerializeToString(), spec)["ages"].numpy().tolist()
    [3, 5]
    """
    sketch = _sketch(serialized, features)
    if sketch is not None:
        return {key: _shapes_of(features[key], (), sketch) for key in in_order(features)}
    message = text(serialized, "serialized", _KERNEL)
    return Parser(features, [message], None, single=True).parsed()


@by_host()
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Tensors of the features of a batch of examples; as `parse_single_example` for a scalar.

    Args:
      serialized: string tensor [n], serialized `tf.train.Example`s.
      features: dict by name of FixedLenFeature, VarLenFeature, FixedLenSequenceFeature,
        SparseFeature and RaggedFeature.
      example_names: string tensor [n], for messages.
    Returns: dict of tensors [n, ...], and of SparseTensors and RaggedTensors for features of these.
    Raises: ValueError for no features; InvalidArgumentError for an example that does not fit them.

    >>> import tape_compat as tf
    >>> ages = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 5]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"ages": ages}))
    >>> spec = {"ages": tf.io.FixedLenFeature([2], tf.int64)}
    >>> tf.io.parse_example([example.SerializeToString()] * 2, spec)["ages"].numpy().tolist()
    [[3, 5], [3, 5]]
    """
    sketch = _sketch(serialized, features)
    if sketch is not None and serialized.shape.rank == 1:
        sizes = serialized._aval.shape
        return {key: _shapes_of(features[key], sizes, sketch) for key in in_order(features)}
    array = texts(serialized, "serialized")
    if not array.ndim:
        return parse_single_example(serialized, features, example_names)
    if array.ndim > 1:
        raise invalid(
            f"Expected serialized to be a scalar or vector, got shape: {list(array.shape)}",
            _KERNEL,
        )
    names = None if example_names is None else texts(example_names, "example_names").tolist()
    return Parser(features, array.tolist(), names, single=False).parsed()


def _sketch(serialized: Any, features: Any) -> Any:
    """What makes tensors of shapes alone; None where values are wanted, or are needed for it."""
    return sketched(serialized) if features else None


def _shapes_of(feature: Any, sizes: tuple[Any, ...], sketch: Any) -> Any:
    """What stands for a feature of examples, where the shapes of results are all that is wanted."""
    dtype = as_dtype(feature.dtype)
    if isinstance(feature, RaggedFeature):
        return outlined(feature, sizes, sketch)
    if isinstance(feature, (VarLenFeature, SparseFeature)):
        axes: list[int | None] = [None]
        if isinstance(feature, SparseFeature):
            several = isinstance(feature.size, (list, tuple))
            axes = [*feature.size] if several else [feature.size]
        tensors = [*sketch.sparse_parts(dtype, len(sizes) + len(axes))]
        static = [size if isinstance(size, int) else None for size in sizes]
        return SparseTensorSpec([*static, *axes], dtype)._from_components(tensors)
    more = [None] if isinstance(feature, FixedLenSequenceFeature) else []
    return sketch.tensor([*sizes, *more, *TensorShape(feature.shape).as_list()], dtype)


def in_order(features: Any) -> list[str]:
    """The names of features in the order of results: sparse ones, dense ones, ragged ones, then
    those that are made of what other keys hold."""

    def place(key: str) -> tuple[int, str]:
        feature = features[key]
        if isinstance(feature, RaggedFeature):
            return (2 if feature.value_key in (None, key) else 3), key
        if isinstance(feature, SparseFeature):
            return 3, key
        return int(not isinstance(feature, VarLenFeature)), key

    return sorted(features, key=place)


class Parser:
    """Examples taken apart. single: whether there is one, without a first axis."""

    def __init__(
        self, features: Any, messages: list[bytes], names: list[bytes] | None, single: bool
    ):
        if not features:
            if single:
                raise ValueError("Invalid argument: features cannot be empty.")
            raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
        if not isinstance(features, Mapping):
            raise TypeError(f"`features` must be a dict, not {features!r}")
        check_keys(features)
        self._features, self._single, self._names = features, single, names
        self._examples: list[dict[str, tuple[int, Any]]] = []
        for message in messages:
            try:
                self._examples.append(features_of(message))
            except ValueError:
                text = message[:60].decode("utf-8", "backslashreplace")
                raise invalid(f"Could not parse example input, value: '{text}'", _KERNEL) from None

    def parsed(self) -> dict[str, Any]:
        return {key: self._feature(key, self._features[key]) for key in in_order(self._features)}

    def _of(self, index: int) -> str:
        """The beginning of a message on one example."""
        if self._single:
            return ""
        given = None if self._names is None else self._names[index]
        return f"Name: {'<unknown>' if given is None else given.decode()}, "

    def _feature(self, key: str, feature: Any) -> Any:
        if isinstance(feature, RaggedFeature):
            return ragged(key, feature, self._read, self._single)
        if isinstance(feature, SparseFeature):
            return sparse(feature, self._read, self._single)
        if not isinstance(feature, (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature)):
            raise NotImplementedError(f"Feature {key}: {type(feature).__name__} {feature!r}")
        if feature.dtype is None:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}")
        dtype = as_dtype(feature.dtype)
        if dtype not in (dtypes.float32, dtypes.int64, dtypes.string):
            raise invalid(
                f"Value for attr 'Tdense' of {dtype.name} is not in the list of allowed values: "
                "float, int64, string",
                _KERNEL,
            )
        if isinstance(feature, FixedLenFeature):
            return self._fixed(key, feature, dtype)
        found = self._read(key, dtype)
        if isinstance(feature, VarLenFeature):
            return self._sparse(found, dtype)
        return self._sequence(key, feature, dtype, found)

    def _read(self, key: str, dtype: DType) -> list[Sequence[Any] | None]:
        return [self._values(key, dtype, i) for i in range(len(self._examples))]

    def _values(self, key: str, dtype: DType, index: int) -> Sequence[Any] | None:
        """The values of a feature of one example; None if it has none."""
        found = _values(self._examples[index].get(key, _EMPTY))
        if found.dtype is None:
            return None
        if found.dtype is not dtype:
            raise self._other_dtype(key, index, found.dtype, dtype)
        return found.values

    def _other_dtype(self, key: str, index: int, found: DType, dtype: DType) -> Exception:
        place = "" if self._single else f", Index: {index}"
        return invalid(
            f"{self._of(index)}Key: {key}{place}.  Data types don't match. Data type: "
            f"{short(found)} but expected type: {short(dtype)}",
            _KERNEL,
        )

    def _fixed(self, key: str, feature: FixedLenFeature, dtype: DType) -> Tensor:
        shape = as_shape(feature.shape)
        if not shape.is_fully_defined():
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                "FixedLenSequenceFeature."
            )
        sizes = [int(size or 0) for size in shape]
        count = math.prod(sizes)
        shape = sizes if self._single else [len(self._examples), *sizes]
        default = _default(feature, dtype, sizes)
        joined = self._joined(key, dtype, count)
        if joined is not None:
            return value_of(joined.reshape(shape))
        rows = []
        for i, values in enumerate(self._read(key, dtype)):
            if values is None:
                if default is None:
                    raise self._missing(key, dtype, i, sizes)
                values = default
            elif len(values) != count:
                raise self._other_size(key, dtype, i, len(values), sizes)
            rows.append(flat_array(values, dtype))
        joined = np.concatenate(rows) if rows else flat_array([], dtype)
        return value_of(joined.reshape(shape))

    def _joined(self, key: str, dtype: DType, count: int) -> np.ndarray | None:
        """The values of a feature of which each example has so many; None if one has not."""
        found = [example.get(key, _EMPTY) for example in self._examples]
        size = count * (1 if dtype is dtypes.string else dtype.size)
        if any(
            len(values) != size or not kind or _KINDS[kind][1] is not dtype
            for kind, values in found
        ):
            return None
        if dtype is dtypes.string:
            return flat_array([text for _, texts in found for text in texts], dtype)
        return np.frombuffer(b"".join([values for _, values in found]), dtype.np_dtype)

    def _missing(self, key: str, dtype: DType, i: int, sizes: list[int]) -> Exception:
        return invalid(
            f"{self._of(i)}Feature: {key} (data type: {short(dtype)}) is required but could not "
            "be found.",
            _KERNEL,
        )

    def _other_size(self, key: str, dtype: DType, i: int, size: int, sizes: list[int]) -> Exception:
        if self._single:
            kind = next(name for name, each in _KINDS.values() if each is dtype)
            return invalid(
                f"Key: {key}.  Can't parse serialized Example: Some {kind} slice was not parsed, "
                f"or it has {size} values and not the shape {sizes}.",
                _KERNEL,
            )
        return invalid(
            f"{self._of(i)}Key: {key}, Index: {i}.  Number of {short(dtype)} values != expected.  "
            f"Values size: {size} but output shape: {sizes}",
            _KERNEL,
        )

    def _sequence(
        self,
        key: str,
        feature: FixedLenSequenceFeature,
        dtype: DType,
        found: list[Sequence[Any] | None],
    ) -> Tensor:
        if not feature.allow_missing:
            raise ValueError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
            )
        sizes = [int(size or 0) for size in as_shape(feature.shape)]
        count = int(np.prod(sizes, dtype=np.int64))
        given = [() if values is None else values for values in found]
        for i, values in enumerate(given):
            if len(values) % count:
                raise invalid(
                    f"{self._of(i)}Key: {key}, Index: {i}.  Number of {short(dtype)} values is "
                    f"not a multiple of stride length. Saw {len(values)} values but output shape "
                    f"is: {sizes}",
                    _KERNEL,
                )
        longest = max([len(values) for values in given], default=0)
        fill = _default(feature, dtype, [])
        value = fill[0] if fill else (b"" if dtype is dtypes.string else 0)
        rows = [
            flat_array([*values, *[value] * (longest - len(values))], dtype) for values in given
        ]
        joined = np.concatenate(rows) if rows else flat_array([], dtype)
        shape = [longest // count, *sizes]
        return value_of(joined.reshape(shape if self._single else [len(rows), *shape]))

    def _sparse(self, found: list[Sequence[Any] | None], dtype: DType) -> SparseTensor:
        given = [() if values is None else values for values in found]
        values = value_of(flat_array([x for each in given for x in each], dtype))
        if self._single:
            count = len(given[0])
            return SparseTensor(np.arange(count, dtype=np.int64)[:, None], values, [count])
        places = [(i, j) for i, each in enumerate(given) for j in range(len(each))]
        indices = np.array(places, np.int64).reshape(-1, 2)
        longest = max([len(each) for each in given], default=0)
        return SparseTensor(indices, values, [len(given), longest])


def _default(feature: Any, dtype: DType, sizes: list[int]) -> list[Any] | None:
    """The values of a feature that is missing, for its shape."""
    if feature.default_value is None:
        return None
    array = array_of(convert(feature.default_value, dtype))
    count = int(np.prod(sizes, dtype=np.int64))
    if array.size != count:
        raise invalid(
            f"Input to reshape is a tensor with {array.size} values, but the requested shape has "
            f"{count}",
            "Reshape",
        )
    return array.ravel().tolist()


def short(dtype: DType) -> str:
    return "float" if dtype is dtypes.float32 else dtype.name

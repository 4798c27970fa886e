"""Elements of datasets in files, in a format of our own.

A file begins with a line of JSON that describes the elements. For each element there is the byte 1
and for each of its tensors the number of its dimensions, its sizes, and its values; texts have
their lengths before them. The byte 0 stands at the end: without it a file is not whole.
"""

from __future__ import annotations

import collections
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from ...composites.ragged import RaggedTensorSpec
from ...composites.sparse import SparseTensorSpec
from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...values.composite import TypeSpec
from ...values.spec import NoneTensorSpec, TensorSpec
from ..structure import Element, array_of, children_of, flatten, leaf_of
from .records import file_error, opened

_FORMAT = "tape_compat elements 1"


# ---------------------------------------------------------------------------------------------
# Specs as JSON.


def described(spec: Any) -> Any:
    """A nest of specs as a value of JSON. Raises NotImplementedError for what files cannot hold."""
    children = children_of(spec)
    if children is None:
        return _described_leaf(spec)
    parts = list(map(described, children))
    if isinstance(spec, dict):
        return ["dict", sorted(spec), parts]
    if hasattr(spec, "_fields"):
        return ["namedtuple", [type(spec).__name__, *spec._fields], parts]
    if type(spec) is not tuple:
        raise NotImplementedError(f"Elements structured by {type(spec).__name__} in files.")
    return ["tuple", None, parts]


def _described_leaf(spec: Any) -> Any:
    if isinstance(spec, NoneTensorSpec):
        return ["none"]
    kinds = {TensorSpec: "tensor", SparseTensorSpec: "sparse", RaggedTensorSpec: "ragged"}
    kind = kinds.get(type(spec))
    if kind is None:
        raise NotImplementedError(f"Elements of {spec} in files.")
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    more = [spec.ragged_rank, spec.row_splits_dtype.name] if kind == "ragged" else []
    return [kind, shape, spec.dtype.name, *more]


def spec_of_json(found: Any) -> Any:
    """The nest of specs that `described` gave this for."""
    kind, *rest = found
    if kind == "none":
        return NoneTensorSpec()
    if kind in ("tensor", "sparse", "ragged"):
        shape, dtype = rest[0], as_dtype(rest[1])
        if kind == "ragged":
            return RaggedTensorSpec(shape, dtype, rest[2], as_dtype(rest[3]))
        return TensorSpec(shape, dtype) if kind == "tensor" else SparseTensorSpec(shape, dtype)
    names, parts = rest[0], tuple(map(spec_of_json, rest[1]))
    if kind == "dict":
        return dict(zip(names, parts, strict=True))
    if kind == "namedtuple":
        return collections.namedtuple(names[0], names[1:])(*parts)
    return parts


def _tensors(specs: Sequence[TypeSpec]) -> list[TensorSpec]:
    """The specs of the tensors that leaves are made of."""
    found: list[Any] = []
    for spec in specs:
        if isinstance(spec, (SparseTensorSpec, RaggedTensorSpec)):
            found += spec._component_specs
        elif not isinstance(spec, NoneTensorSpec):
            found.append(spec)
    return found


def _parts(leaf: Any, spec: TypeSpec) -> list[np.ndarray]:
    """The tensors of a leaf."""
    if isinstance(spec, NoneTensorSpec):
        return []
    if isinstance(spec, SparseTensorSpec) or (
        isinstance(spec, RaggedTensorSpec) and spec.ragged_rank
    ):
        return [array_of(x) for x in spec._to_components(leaf_of(leaf))]
    return [array_of(leaf)]


def _leaf(spec: TypeSpec, remaining: Iterator[np.ndarray]) -> Any:
    """A leaf of the next tensors."""
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, SparseTensorSpec) or (
        isinstance(spec, RaggedTensorSpec) and spec.ragged_rank
    ):
        components: Any = spec._component_specs
        return spec._from_components([next(remaining) for _ in components])
    return next(remaining)


# ---------------------------------------------------------------------------------------------
# Writing.


class ElementWriter:
    """A file that elements of a spec are written to. kind: "", "GZIP" or "ZLIB"."""

    def __init__(self, path: str, spec: Any, kind: str = ""):
        self._specs = flatten(spec)
        head = json.dumps({"format": _FORMAT, "spec": described(spec)})
        try:
            self._file: IO[bytes] = open(path, "wb")
        except OSError as error:
            raise file_error(error, path) from None
        self._deflate = None
        if kind:
            self._deflate = zlib.compressobj(wbits=31 if kind == "GZIP" else 15)
        self.count = 0
        self._put(head.encode() + b"\n")

    def _put(self, data: bytes) -> None:
        self._file.write(data if self._deflate is None else self._deflate.compress(data))

    def write(self, element: Element) -> None:
        """Add an element."""
        found = [b"\1"]
        for leaf, spec in zip(element, self._specs, strict=True):
            for array in _parts(leaf, spec):
                _encode(array, found)
        self._put(b"".join(found))
        self.count += 1

    def close(self, whole: bool = True) -> None:
        """Close the file, which is whole then or not."""
        if self._file.closed:
            return
        if whole:
            self._put(b"\0")
        if self._deflate is not None:
            self._file.write(self._deflate.flush())
        self._file.close()


def _encode(array: np.ndarray, found: list[bytes]) -> None:
    found.append(struct.pack(f"<B{array.ndim}q", array.ndim, *array.shape))
    if array.dtype == object:
        texts = array.ravel().tolist()
        found.append(np.array(list(map(len, texts)), "<i8").tobytes())
        found += texts
    else:
        found.append(array.tobytes())


# ---------------------------------------------------------------------------------------------
# Reading.


class _Reader:
    """A file of elements, read in large blocks."""

    def __init__(self, path: str, kind: str):
        self._path, self._file = path, opened(path, kind)
        self._held, self._at = b"", 0

    def take(self, size: int) -> memoryview:
        """The next bytes. Raises DataLossError where there are fewer."""
        end = self._at + size
        if end > len(self._held):
            self._held, self._at = self._held[self._at :], 0
            parts = [self._held]
            missing = size - len(self._held)
            while missing > 0:
                block = self._read(max(missing, 1 << 16))
                if not block:
                    raise self._damaged("it ends too early")
                parts.append(block)
                missing -= len(block)
            self._held, end = b"".join(parts), size
        found = memoryview(self._held)[self._at : end]
        self._at = end
        return found

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, why: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{self._path} is no whole file of elements: {why}")

    def head(self) -> dict[str, Any]:
        """What the first line says."""
        line = bytearray()
        while not line.endswith(b"\n"):
            line += self.take(1)
        try:
            found = json.loads(line)
            assert found["format"] == _FORMAT
        except (ValueError, KeyError, TypeError, AssertionError):
            raise self._damaged("it has another format") from None
        return found

    def array(self, dtype: DType) -> np.ndarray:
        """The next tensor."""
        (rank,) = self.take(1)
        shape = struct.unpack(f"<{rank}q", self.take(8 * rank))
        count = int(np.prod(shape, dtype=np.int64))
        if dtype is not dtypes.string:
            kind = np.dtype(dtype.np_dtype)
            return np.frombuffer(self.take(count * kind.itemsize), kind).reshape(shape)
        lengths = np.frombuffer(self.take(8 * count), "<i8").tolist()
        array = np.empty(count, object)
        for i, length in enumerate(lengths):
            array[i] = bytes(self.take(length))
        return array.reshape(shape)

    def close(self) -> None:
        self._file.close()


def read_elements(path: str, spec: Any, kind: str = "") -> Iterator[Element]:
    """The elements in a file, which must fit a spec.

    Raises: InvalidArgumentError if they do not; DataLossError where the file is damaged.
    """
    reader = _Reader(path, kind)
    try:
        held = flatten(spec_of_json(reader.head()["spec"]))
        _check_held(_tensors(held), _tensors(flatten(spec)))
        kinds = [tensor.dtype for tensor in _tensors(held)]
        leaves = flatten(spec)
        while reader.take(1)[0]:
            arrays = iter([reader.array(kind) for kind in kinds])
            yield tuple([_leaf(leaf, arrays) for leaf in leaves])
    finally:
        reader.close()


def _check_held(held: list[TensorSpec], wanted: list[TensorSpec]) -> None:
    """Refuse elements that are not those expected."""
    op = "[Op:IteratorGetNext]"
    if len(held) != len(wanted):
        message = f"Number of components mismatch: expected {len(wanted)} but got {len(held)}. {op}"
        raise errors.InvalidArgumentError(None, None, message)
    for i, (have, want) in enumerate(zip(held, wanted, strict=True)):
        if have.dtype is not want.dtype:
            names = ["float" if x.dtype is dtypes.float32 else x.dtype.name for x in (want, have)]
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Data type mismatch at component {i}: expected {names[0]} but got {names[1]}. "
                f"{op}",
            )
        if not have.shape.is_compatible_with(want.shape):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Incompatible shapes at component {i}: expected {want.shape} but got "
                f"{have.shape}. {op}",
            )

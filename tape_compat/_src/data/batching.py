"""Batches of consecutive elements: batch, padded_batch, unbatch, rebatch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensorSpec
from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.shapes import TensorShape, as_shape
from ..values.composite import TypeSpec
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from .composites import Column, has_ragged_rows, stack_leaf, stacked_rows
from .mapping import Map
from .pipeline import (
    UNKNOWN,
    Draws,
    IndexStream,
    Pipeline,
    Rows,
    Stream,
    StreamOf,
    passed,
    stacked_by,
)
from .specs import DatasetSpec
from .structure import Element, array_of, children_of, flatten_up_to, map_leaves


class Batch(Pipeline):
    """Consecutive elements, stacked; the last ones may be fewer unless they are dropped."""

    name = "BatchDataset"
    #: Whether a batch over a map is lost whole if one of its elements cannot be made.
    _whole = True

    def __init__(self, source: Pipeline, size: int, drop_remainder: bool):
        super().__init__(source)
        self.batch_size, self._drop = size, drop_remainder

    def _spec(self) -> Any:
        size = self._static_size()
        return map_leaves(lambda spec: spec._batch(size), self.inputs[0].spec)

    def _static_size(self) -> int | None:
        return self.batch_size if self._drop else None

    def size(self) -> int:
        size = self.inputs[0].size()
        if size < 0:
            return size
        return size // self.batch_size if self._drop else -(-size // self.batch_size)

    def _rows(self, source: Stream) -> Rows | None:
        specs = self._ragged_specs
        if specs is None or isinstance(source, IndexStream):  # its columns know what is ragged
            return source.rows(self.batch_size)
        found = source.elements(self.batch_size)
        return (len(found), stacked_by(specs, found)) if found else None

    @cached_property
    def _ragged_specs(self) -> Sequence[TypeSpec] | None:
        """The specs of the elements, if it takes them to know what becomes ragged."""
        source = self.inputs[0]
        known = source.spec_is_known() and has_ragged_rows(source.layout.specs)
        return source.layout.specs if known else None

    def _open(self, draws: Draws) -> Stream:
        source, least = self.inputs[0].open(draws.of(0)), self.batch_size if self._drop else 1
        whole = self._whole and isinstance(self.inputs[0], Map)

        def step() -> Element:
            try:
                rows = self._rows(source)
            except Exception:
                if whole:
                    passed(source, self.batch_size - source.lost)
                raise
            if rows is None or rows[0] < least:
                raise StopIteration
            return rows[1]

        def leave_out(count: int) -> int:
            rows = source.skip(count * self.batch_size)
            return rows // self.batch_size if self._drop else -(-rows // self.batch_size)

        return StreamOf(step, leave_out)


# ---------------------------------------------------------------------------------------------
# Padding.


class Padding:
    """To which shapes, and with which values, the leaves of elements are filled up."""

    def __init__(self, spec: Any, shapes: Any, values: Any):
        specs = flatten_up_to(spec, spec)
        self.shapes = self._shapes(spec, specs, shapes)
        self.values = self._values(spec, specs, values)

    @staticmethod
    def _shapes(spec: Any, specs: list[TypeSpec], shapes: Any) -> list[TensorShape]:
        for i, each in enumerate(specs):
            if isinstance(each, DatasetSpec):
                raise TypeError("`padded_batch` is not supported for datasets of datasets")
            if not isinstance(each, TensorSpec):
                raise TypeError(
                    "`padded_batch` is only supported for datasets that produce tensor elements "
                    "but type spec of elements in the input dataset is not a subclass of "
                    f"TensorSpec: `{each}`."
                )
            if shapes is None and each.shape.rank is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {i} has unknown "
                    "rank."
                )
        if shapes is None:
            return [each.shape for each in specs]  # type: ignore[attr-defined]
        found = []
        for each, given in zip(specs, flatten_up_to(spec, shapes), strict=True):
            shape = padded_shape(given)
            if not _holds(shape, each.shape):  # type: ignore[attr-defined]
                raise ValueError(
                    f"The padded shape {shape} is not compatible with the shape {each.shape} of "  # type: ignore[attr-defined]
                    "the corresponding input component."
                )
            found.append(shape)
        return found

    @staticmethod
    def _values(spec: Any, specs: list[TypeSpec], values: Any) -> list[Any]:
        if values is None or children_of(values) is None:
            given = [values] * len(specs)
        else:
            given = flatten_up_to(spec, values)
        return [_padding_value(v, s.dtype) for v, s in zip(given, specs)]  # type: ignore[attr-defined]

    def stacked(self, elements: list[Element]) -> tuple[Any, ...]:
        """Elements, each leaf filled up and stacked."""
        columns = zip(zip(*elements), self.shapes, self.values, strict=True)
        return tuple([_padded([array_of(x) for x in column], s, v) for column, s, v in columns])


def _holds(shape: TensorShape, inner: TensorShape) -> bool:
    """Whether tensors of a shape may be filled up to another one."""
    if inner.rank is None:
        return True
    return inner.rank == shape.rank and all(
        size is None or most is None or size <= most
        for size, most in zip(inner.as_list(), shape.as_list(), strict=True)
    )


def padded_shape(given: Any) -> TensorShape:
    """A shape that the user gave; None and -1 stand for any size."""
    if isinstance(given, (Tensor, np.ndarray)):
        given = np.asarray(given).tolist()
    if isinstance(given, TensorShape):
        return given
    if not isinstance(given, (list, tuple)):
        return as_shape(given)
    return TensorShape([None if size is None or int(size) < 0 else int(size) for size in given])


def _padding_value(value: Any, dtype: DType) -> Any:
    """The scalar to fill up with, by default zero or the empty text."""
    if value is None:
        return b"" if dtype is dtypes.string else np.zeros((), dtype.np_dtype)
    tensor = convert(value)
    if tensor.shape.rank != 0:
        raise ValueError(
            "Invalid `padding_values`. `padding_values` values should be scalars, but got "
            f"{tensor.shape}."
        )
    if tensor.dtype is not dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {tensor.dtype} does not "
            f"match type {dtype} of the corresponding input component."
        )
    return tensor._value()[()]


def _padded(arrays: list[np.ndarray], shape: TensorShape, value: Any) -> np.ndarray:
    rank = shape.rank
    for array in arrays:
        if array.ndim != rank:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"All elements in a batch must have the same rank as the padded shape {shape}: "
                f"found an element of shape {list(array.shape)}.",
            )
    sizes = []
    for i, size in enumerate(shape):
        longest = max(array.shape[i] for array in arrays)
        if size is not None and longest > size:
            raise errors.DataLossError(
                None, None, "Attempted to pad to a smaller size than the input element."
            )
        sizes.append(longest if size is None else size)
    out = np.empty((len(arrays), *sizes), arrays[0].dtype)
    out.fill(value)
    for i, array in enumerate(arrays):
        out[(i, *map(slice, array.shape), ...)] = array
    return out


class PaddedBatch(Batch):
    """Consecutive elements, filled up to one shape and stacked."""

    name = "PaddedBatchDataset"
    _whole = False

    def __init__(self, source: Pipeline, size: int, padding: Padding, drop_remainder: bool):
        super().__init__(source, size, drop_remainder)
        self._padding = padding

    def _spec(self) -> Any:
        return padded_spec(self.inputs[0].spec, self._padding.shapes, self._static_size())

    def _rows(self, source: Stream) -> Rows | None:
        found = source.elements(self.batch_size)
        return (len(found), self._padding.stacked(found)) if found else None


def padded_spec(spec: Any, shapes: list[TensorShape], size: int | None) -> Any:
    """The specs of a batch of elements that are filled up to these shapes."""
    given = iter(shapes)
    return map_leaves(lambda leaf: TensorSpec([size, *next(given)], leaf.dtype), spec)


# ---------------------------------------------------------------------------------------------
# Taking batches apart.


_OF_SHAPES = (TensorSpec, RaggedTensorSpec)


def has_scalars(specs: Sequence[Any]) -> bool:
    """Whether a tensor of the elements has no rows."""
    return any(isinstance(spec, _OF_SHAPES) and spec.shape.rank == 0 for spec in specs)


class Unbatch(Pipeline):
    """The rows of the elements."""

    name = "UnbatchDataset"

    def _spec(self) -> Any:
        specs = self.inputs[0].layout.specs
        if has_scalars(specs):
            raise ValueError("Cannot unbatch an input with scalar components.")
        counts = [s.shape[0] for s in specs if isinstance(s, _OF_SHAPES) and s.shape.rank]
        known = [count for count in counts if count is not None]
        for count in known:
            if count != known[0]:
                raise ValueError(
                    "`unbatch()` is only supported for datasets of elements whose components have "
                    f"a matching leading dimension. Encountered both {known[0]} and {count}."
                )
        return map_leaves(lambda spec: spec._unbatch(), self.inputs[0].spec)

    def size(self) -> int:
        size, rows = self.inputs[0].size(), self._static_rows()
        if size < 0:
            return size
        return UNKNOWN if rows is None else size * rows

    def _static_rows(self) -> int | None:
        """How many rows each element has, if that is known."""
        specs = self.inputs[0].layout.specs
        shapes = [s.shape for s in specs if isinstance(s, (TensorSpec, RaggedTensorSpec))]
        known = [s[0] for s in shapes if s.rank is not None and s[0] is not None]
        return known[0] if known else None

    def _open(self, draws: Draws) -> Stream:
        source = self.inputs[0].open(draws.of(0))
        columns: list[Any] = []
        count = at = 0

        def step() -> Element:
            nonlocal columns, count, at
            while at >= count:
                columns, count = split_columns(source.step())
                at = 0
            at += 1
            return row_of(columns, at - 1)

        return StreamOf(step)


def row_of(columns: Sequence[Column | None], i: int) -> Element:
    """A row of a batch."""
    return tuple([None if x is None else x[i] for x in columns])


def split_columns(leaves: Sequence[Any]) -> tuple[list[Column | None], int]:
    """The rows of the leaves of a batch, and how many they are."""
    columns = [None if x is None else Column.of(x) for x in leaves]
    counts = [x.size for x in columns if x is not None]
    if not counts or -1 in counts:
        raise errors.InvalidArgumentError(
            None, None, "Unbatching a tensor is only supported for rank >= 1"
        )
    for i, count in enumerate(counts):
        if count != counts[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input element must have the same batch size in each component. Component 0 had "
                f"size {counts[0]} but component {i} had size, {count}.",
            )
    return columns, counts[0]


class Rebatch(Pipeline):
    """The rows of the elements, stacked in batches of other sizes, which are used in turn."""

    name = "RebatchDataset"

    def __init__(self, source: Pipeline, sizes: list[int], drop_remainder: bool):
        super().__init__(source)
        self._sizes, self._drop = sizes, drop_remainder

    def _spec(self) -> Any:
        if has_scalars(self.inputs[0].layout.specs):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        rows = Unbatch(*self.inputs)._static_rows()
        known: int | None = None
        if len(set(self._sizes)) == 1:
            size = self._sizes[0]
            if self._drop or (rows is not None and rows % size == 0):
                known = size
        return map_leaves(lambda s: s._unbatch()._batch(known), self.inputs[0].spec)

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        source = self.inputs[0].open(draws.of(0))
        specs = [spec._unbatch() for spec in self.inputs[0].layout.specs]
        parts: list[list[Any]] = []
        held = turn = 0

        def step() -> Element:
            nonlocal held, turn
            wanted = self._sizes[turn % len(self._sizes)]
            while held < wanted:
                try:
                    columns, count = split_columns(source.step())
                except StopIteration:
                    break
                except Exception:  # what was taken for this batch is lost
                    parts[:], held = [], 0
                    raise
                parts.append([None if x is None else x.part() for x in columns])
                held += count
            if not held or (self._drop and held < wanted):
                raise StopIteration
            turn += 1
            joined = [_joined(column) for column in zip(*parts)]
            size = min(wanted, held)
            held -= size
            parts[:] = [[None if x is None else x[size:] for x in joined]] if held else []
            return tuple([_whole(x, size, i, specs[i]) for i, x in enumerate(joined)])

        return StreamOf(step)


def _joined(parts: Sequence[Any]) -> Any:
    """Rows of several batches: an array, or a list of rows of composites."""
    if parts[0] is None or len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    return np.concatenate(parts)


def _whole(rows: Any, size: int, place: int, spec: TypeSpec) -> Any:
    """A leaf of the first rows."""
    if not isinstance(rows, list):
        return None if rows is None else rows[:size]
    if isinstance(spec, RaggedTensorSpec):
        return stacked_rows(rows[:size], spec)
    return stack_leaf(tuple(rows[:size]), place)

"""Where elements come from: arrays, ranges, generators."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType, as_dtype
from ..core.errors import user_location
from ..core.shapes import TensorShape
from ..values.composite import CompositeTensor, TypeSpec
from ..values.convert import convert, to_numpy
from ..values.spec import NoneTensorSpec, TensorSpec
from ..values.tensor import Tensor
from .composites import Column, row_count
from .pipeline import (
    INFINITE,
    UNKNOWN,
    Chunk,
    Draws,
    Pipeline,
    Selection,
    Stream,
    StreamOf,
    refused,
)
from .selecting import Seeds
from .specs import Datasets
from .structure import (
    Element,
    array_of,
    children_of,
    flatten_up_to,
    leaf_of,
    map_leaves,
    pack,
    spec_of,
    taken_apart,
)


class Single(Pipeline):
    """One element."""

    name = "TensorDataset"

    def __init__(self, value: Any):
        super().__init__()
        self._specs, self._leaves = taken_apart(value)
        if not self._leaves:
            raise ValueError("Invalid `element`. `element` should not be empty.")

    def _spec(self) -> Any:
        return self._specs

    def size(self) -> int:
        return 1

    def _open(self, draws: Draws) -> Stream:
        for leaf in self._leaves:
            _check_value(leaf)
        given = iter([tuple(self._leaves)])
        return StreamOf(given.__next__)


def _check_value(leaf: Any) -> None:
    if isinstance(leaf, Tensor) and leaf._is_symbolic():
        raise errors.NeedsPython(
            f"the elements of a dataset are known when {leaf} is (at {user_location()})"
        )


class Slices(Pipeline):
    """The rows of tensors."""

    name = "TensorSliceDataset"

    def __init__(self, value: Any):
        super().__init__()
        specs, self._leaves = taken_apart(value)
        if all(leaf is None for leaf in self._leaves):
            raise ValueError("Invalid `element`. `element` should not be empty.")
        self._specs = map_leaves(lambda spec: spec._unbatch(), specs)
        sizes = [row_count(leaf) for leaf in self._leaves if leaf is not None]
        known = [size for size in sizes if size is not None]
        for size in known:
            if size != known[0]:
                raise ValueError(f"Dimensions {known[0]} and {size} are not compatible")
        self._count = known[0] if known else None

    def _spec(self) -> Any:
        return self._specs

    def size(self) -> int:
        return UNKNOWN if self._count is None else self._count

    def _selection(self) -> Selection:
        for leaf in self._leaves:
            _check_value(leaf)
        if any(isinstance(leaf, (CompositeTensor, Datasets)) for leaf in self._leaves):
            return _of_columns(self._leaves)
        arrays = [None if leaf is None else array_of(leaf) for leaf in self._leaves]

        def row(i: int) -> Element:
            return tuple([None if x is None else x[i, ...] for x in arrays])

        def take(numbers: Chunk) -> tuple[Any, ...]:
            return tuple([None if x is None else taken(x, numbers) for x in arrays])

        return Selection(row, take)

    def chunks(self) -> Iterator[Chunk]:
        assert self._count is not None
        yield range(self._count)


def _of_columns(leaves: Sequence[Any]) -> Selection:
    """The rows of leaves of which some are ragged or sparse."""
    columns = [None if leaf is None else Column.of(leaf) for leaf in leaves]

    def row(i: int) -> Element:
        return tuple([None if x is None else x[i] for x in columns])

    def take(numbers: Chunk) -> tuple[Any, ...]:
        return tuple([None if x is None else x.take(numbers, i) for i, x in enumerate(columns)])

    return Selection(row, take)


def taken(array: np.ndarray, numbers: Chunk) -> np.ndarray:
    """Rows of an array; a view where they follow each other."""
    if isinstance(numbers, range):
        first, step = numbers.start, numbers.step
        if step > 0:
            return array[first : numbers.stop : step]
        numbers = np.asarray(numbers)
    return array.take(numbers, axis=0)


#: Where a range ends that TensorFlow takes to have no end.
_LAST = np.iinfo(np.int64).max


class Range(Pipeline):
    """Evenly spaced integers."""

    name = "RangeDataset"

    def __init__(self, args: Sequence[Any], output_type: Any = dtypes.int64):
        super().__init__()
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 but was "
                f"{len(args)}."
            )
        numbers = [_integer(x, "range") for x in args]
        if len(numbers) == 1:
            numbers = [0, *numbers]
        self._dtype = as_dtype(output_type)
        self._numbers: range | None = None
        if None not in numbers:
            if len(numbers) == 3 and numbers[2] == 0:
                raise refused("step must be a non-zero integer. [Op:RangeDataset]")
            self._numbers = range(*numbers)  # type: ignore[arg-type]

    def _spec(self) -> Any:
        return TensorSpec((), self._dtype)

    def size(self) -> int:
        if self._numbers is None:
            return UNKNOWN
        return INFINITE if self._numbers.stop == _LAST else len(self._numbers)

    def _known(self) -> range:
        if self._numbers is None:
            raise errors.NeedsPython(
                f"the limits of a range of elements are not known (at {user_location()})"
            )
        return self._numbers

    def _selection(self) -> Selection:
        numbers, dtype = self._known(), self._dtype.np_dtype
        first, step = numbers.start, numbers.step
        if self._dtype in (dtypes.bool, dtypes.string):
            return Selection(self._refuse, self._refuse)

        def row(i: int) -> Element:
            return (np.array(first + step * i, dtype),)

        def take(chunk: Chunk) -> tuple[Any, ...]:
            places = np.asarray(chunk, np.int64)
            return ((places * step + first).astype(dtype, copy=False),)

        return Selection(row, take)

    def _refuse(self, _: Any) -> Any:
        raise refused(f"Unsupported data type: {self._dtype.name}")

    def chunks(self) -> Iterator[Chunk]:
        yield range(len(self._known()))


def _integer(value: Any, what: str) -> int | None:
    """An integer of the user's; None for a symbolic tensor."""
    tensor = convert(value, dtypes.int64) if not isinstance(value, Tensor) else value
    if tensor._is_symbolic():
        return None
    if tensor.shape.rank != 0 or not tensor.dtype.is_integer:
        raise refused(f"{what} takes integer scalars, not {value!r}")
    return int(tensor)


def integer(value: Any, what: str) -> int:
    """An integer of the user's, of any form. Raises NeedsPython for a symbolic tensor."""
    if type(value) is int:
        return value
    found = _integer(value, what)
    if found is None:
        raise errors.NeedsPython(f"{what} is not known (at {user_location()})")
    return found


class Random(Pipeline):
    """Random integers, without end."""

    name = "RandomDataset"

    def __init__(self, seeds: Seeds):
        super().__init__()
        self._seeds = seeds

    def _spec(self) -> Any:
        return TensorSpec((), dtypes.int64)

    def size(self) -> int:
        return INFINITE

    def _open(self, draws: Draws) -> Stream:
        words = self._seeds.words()

        def step() -> Element:
            return (np.array(next(words), np.int64),)

        return StreamOf(step)


class Counter(Pipeline):
    """Evenly spaced numbers, without end."""

    name = "ScanDataset"

    def __init__(self, start: Any, step: Any, dtype: Any):
        super().__init__()
        self._dtype = as_dtype(dtype)
        self._start, self._step = (convert(x, self._dtype)._value()[()] for x in (start, step))

    def _spec(self) -> Any:
        return TensorSpec((), self._dtype)

    def size(self) -> int:
        return INFINITE

    def _open(self, draws: Draws) -> Stream:
        numbers = itertools.count()

        def step() -> Element:
            value = self._start + self._step * next(numbers)
            return (np.array(value, self._dtype.np_dtype),)

        return StreamOf(step)


# ---------------------------------------------------------------------------------------------
# Generators.


class Generated(Pipeline):
    """What a Python generator yields.

    exact: whether tensors and Python's numbers must be of the dtypes, as where no shapes are given.
    Else they are cast.
    """

    name = "FlatMapDataset"

    def __init__(
        self, generator: Callable[..., Any], signature: Any, args: tuple[Any, ...], exact: bool
    ):
        super().__init__()
        self._generator, self._signature, self._args = generator, signature, args
        self._exact = exact
        self._location = user_location()

    def _spec(self) -> Any:
        return self._signature

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        values: list[Iterator[Any]] = []
        layout = self.layout
        signature, exact = self._signature, self._exact
        count = 0

        def where() -> str:
            return f"element {count - 1} of Dataset.from_generator() at {self._location}"

        def step() -> Element:
            nonlocal count
            count += 1
            try:
                if not values:
                    values.append(iter(self._generator(*[arg.numpy() for arg in self._args])))
                value = next(values[0])
            except StopIteration:
                raise
            except errors.OpError:
                raise
            except Exception as error:
                raise as_op_error(error, where()) from error
            try:
                return yielded(value, signature, layout.specs, exact)
            except TypeError as error:
                raise as_op_error(error, where()) from error

        return StreamOf(step)


def yielded(value: Any, signature: Any, specs: list[TypeSpec], exact: bool) -> Element:
    """What a generator gave, as an element."""
    leaves = []
    try:
        _check_kinds(signature, value)
        parts = flatten_up_to(signature, value)
        made = [_yielded_leaf(part, spec, exact) for part, spec in zip(parts, specs, strict=True)]
    except (_OtherStructureError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {signature}, but the yielded element was {value}."
        ) from error
    for leaf, spec in zip(made, specs, strict=True):
        if isinstance(spec, TensorSpec):
            if not spec.shape.is_compatible_with(leaf.shape):
                found = pack(signature, list(map(spec_of, made)))
                raise TypeError(
                    f"`generator` yielded an element of {found} where an element of {signature} "
                    f"was expected. Its shape {leaf.shape} is not {spec.shape}."
                )
        leaves.append(leaf)
    return tuple(leaves)


class _OtherStructureError(TypeError):
    """A generator gave an element of another structure."""


def _check_kinds(signature: Any, value: Any) -> None:
    """Refuse a list for a tuple, and what has no names for a named tuple."""
    children = children_of(signature)
    if children is None:
        return
    if isinstance(value, list) or (hasattr(signature, "_fields") and not hasattr(value, "_fields")):
        raise _OtherStructureError(f"{value!r} is not structured as {signature!r}")
    parts = children_of(value) or []
    if len(parts) != len(children):
        raise _OtherStructureError(f"{value!r} is not structured as {signature!r}")
    for child, part in zip(children, parts, strict=True):
        _check_kinds(child, part)


def _yielded_leaf(value: Any, spec: TypeSpec, exact: bool) -> Any:
    if not isinstance(spec, TensorSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(
                f"`generator` yielded an element of {value!r} where an element of {spec} was "
                "expected."
            )
        return value
    try:
        if isinstance(value, Tensor):
            if value.dtype is spec.dtype:
                return value
            if exact:
                raise _OtherStructureError("it has another dtype")
            value = value.numpy()
        if isinstance(value, np.ndarray) and _same(value.dtype, spec.dtype):
            return value.copy()
        leaf = leaf_of(value) if hasattr(value, "_as_tensor") else None
        return leaf if leaf is not None else _numpy(value, spec.dtype, exact)
    except _OtherStructureError:
        raise
    except (TypeError, ValueError) as error:
        if exact and not isinstance(value, (np.ndarray, np.generic)):
            raise _OtherStructureError(f"{value!r} is not of {spec.dtype.name}") from error
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The "
            f"expected type was {spec.dtype.name}, but the yielded element was {value}."
        ) from error


def _same(dtype: np.dtype, wanted: DType) -> bool:
    """Whether an array may be taken as it is."""
    return wanted is not dtypes.string and dtype == wanted.np_dtype


def _is_narrower(dtype: DType, kind: str) -> bool:
    """Whether a dtype does not hold Python's numbers of a kind of NumPy's."""
    if kind == "f":
        return dtype.is_integer or dtype.is_bool
    return (kind == "c" and not dtype.is_complex) or (kind in "iu" and dtype.is_bool)


def _numpy(value: Any, dtype: DType, exact: bool) -> np.ndarray:
    if dtype is dtypes.string:
        return to_numpy(value, dtype)
    array = np.asarray(value)
    kind = array.dtype.kind
    if kind in "SUO" and array.size:
        raise TypeError(f"{value!r} is no number")
    typed = array is value or isinstance(value, np.generic)
    if exact and not typed and array.size and _is_narrower(dtype, kind):
        raise TypeError(f"{value!r} is not of {dtype.name}")
    if kind == "f" and dtype.is_integer:
        return array.astype(dtype.np_dtype)
    return np.array(array, dtype.np_dtype)


_CLASSES: tuple[tuple[tuple[type[Exception], ...], Any], ...] = (
    ((ValueError, TypeError), errors.InvalidArgumentError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


def as_op_error(error: Exception, where: str) -> errors.OpError:
    """TensorFlow's error for one of Python's in a generator or in `tf.numpy_function`."""
    found = next((made for kinds, made in _CLASSES if isinstance(error, kinds)), None)
    text = "".join(traceback.format_exception(error))
    message = f"{type(error).__name__}: {error}\nThis was {where}.\n{text}\n [Op:IteratorGetNext]"
    return (found or errors.UnknownError)(None, None, message)


def signature_of(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """The specs of what a generator yields, from the arguments of `from_generator`."""
    for name, given in (("output_types", output_types), ("output_shapes", output_shapes)):
        if given is not None and output_signature is not None:
            raise TypeError(
                f"The `{name}` argument can not be used together with the `output_signature` "
                "argument."
            )
    if output_signature is None:
        if output_types is None:
            raise TypeError(
                "To specify the output signature you need to provide either the "
                "`output_signature` argument or the `output_types` argument."
            )
        kinds = map_leaves(as_dtype, output_types)
        leaves = flatten_up_to(kinds, output_shapes) if output_shapes is not None else None
        return _specs(kinds, leaves)
    for spec in flatten_up_to(output_signature, output_signature):
        if not isinstance(spec, TypeSpec):
            raise TypeError(
                "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
                f"found {type(spec)} which is not."
            )
    return map_leaves(lambda spec: NoneTensorSpec() if spec is None else spec, output_signature)


def _specs(kinds: Any, shapes: list[Any] | None) -> Any:
    given = iter(shapes) if shapes is not None else None
    return map_leaves(
        lambda kind: TensorSpec(TensorShape(None) if given is None else next(given), kind), kinds
    )

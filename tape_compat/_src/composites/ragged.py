"""RaggedTensor: rows of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType, as_dtype, float32, int32, int64
from ..core.errors import InvalidArgumentError, located
from ..core.forwards import forwards
from ..core.shapes import ShapeLike, TensorShape, as_shape
from ..values import operators
from ..values.composite import CompositeTensor, TypeSpec, batched_shape, row_shape
from ..values.convert import convert
from ..values.spec import ShapedSpec, TensorSpec
from ..values.spec_registry import register
from ..values.tensor import Tensor
from .row_partition import RowPartition, host


def as_values(value: Any) -> Any:
    """What may be cut into rows: a RaggedTensor or a Tensor."""
    return value if isinstance(value, RaggedTensor) else convert(value)


def splits_dtype(*values: Any, names: str = "Input RaggedTensors") -> DType:
    """The dtype of the splits of the ragged ones among `values`, int64 without one.

    Raises: ValueError if they have two.
    """
    kinds = {x._partition.dtype for x in values if isinstance(x, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError(
            f"{names} have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    return kinds.pop() if kinds else int64


def _listed(name: str, value: Any) -> Sequence[Any]:
    """An argument that is to be a list of tensors, the innermost first."""
    if isinstance(value, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")
    return value[::-1]


class RaggedTensor(operators.Operators, CompositeTensor):
    """A tensor [rows, (length), ...] whose rows have lengths of their own.

    It is `values` [nvals, ...], a Tensor or again a RaggedTensor, and a partition of them into
    rows. Made by `tf.ragged.constant` and by the `from_` methods; in these `validate` says whether
    the numbers are checked.

    >>> import tape_compat as tf
    >>> tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """

    __array_priority__ = 100
    __slots__ = ("__dict__", "__weakref__", "_partition", "_spec", "_values")

    def __init__(self, values: Any, row_partition: RowPartition, internal: bool = False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        self._values = values
        self._partition = row_partition
        self._spec: Any = None

    @classmethod
    def _cut(
        cls, values: Any, make: Callable[..., RowPartition], *given: Any, validate: bool
    ) -> RaggedTensor:
        """Values cut by the partition that is made of what is given."""
        values = as_values(values)
        hint = values._partition.dtype if isinstance(values, RaggedTensor) else None
        partition = make(*given, validate=validate, dtype_hint=hint)
        if not isinstance(values, RaggedTensor) and values.shape.rank == 0:
            raise ValueError(f"Shape {values.shape} must have rank at least 1")
        if isinstance(values, RaggedTensor) and values._partition.dtype is not partition.dtype:
            raise ValueError(
                "Argument `row_partition` of RaggedTensor with name: partition must have same "
                f"dtype as Argument `values`. ({partition.dtype} vs. {values._partition.dtype})."
            )
        if validate and partition._splits._is_symbolic():
            operators.call("require_row_count", partition._splits, values)
        found, count = partition.static_nvals if validate else None, values.shape[0]
        if found is not None and count is not None and found != count:
            what = "Arguments to _from_row_partition do not form a valid RaggedTensor"
            raise located(
                InvalidArgumentError,
                f"{what}\nCondition x == y did not hold.\nFirst 1 elements of x:\n[{found}]\n"
                f"First 1 elements of y:\n[{count}]",
            )
        return cls(values, partition, internal=True)

    # -- ways to make one -----------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows from where each begins and the last one ends: `row_splits` [nrows + 1].

        Raises: ValueError if `row_splits` is empty; InvalidArgumentError if it does not fit.
        """
        return cls._cut(values, RowPartition.from_row_splits, row_splits, validate=validate)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of these lengths [nrows]. Raises InvalidArgumentError if they do not fit.

        >>> import tape_compat as tf
        >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        return cls._cut(values, RowPartition.from_row_lengths, row_lengths, validate=validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from the row of each value, [nvals]; `nrows` rows if given.

        >>> import tape_compat as tf
        >>> tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)
        <tf.RaggedTensor [[1, 2], [], [3], []]>
        """
        make = RowPartition.from_value_rowids
        return cls._cut(values, make, value_rowids, nrows, validate=validate)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows from where each begins, [nrows]."""
        values, make = as_values(values), RowPartition.from_row_starts
        count = values.shape[0]
        if count is None:
            count = operators.call("count_of_rows", values)
        return cls._cut(values, make, row_starts, count, validate=validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows from where each ends, [nrows]."""
        return cls._cut(values, RowPartition.from_row_limits, row_limits, validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows of one length. Raises ValueError if it does not divide the number of values."""
        values, make = as_values(values), RowPartition.from_uniform_row_length
        given = uniform_row_length, values.shape[0], nrows
        return cls._cut(values, make, *given, validate=validate)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Values cut by the last of the splits, the rows by the one before it, and so on."""
        found = flat_values
        for splits in _listed("nested_row_splits", nested_row_splits):
            found = cls.from_row_splits(found, splits, validate=validate)
        return found

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Values cut by the last of the lengths, the rows by the one before it, and so on."""
        found = flat_values
        for lengths in _listed("nested_row_lengths", nested_row_lengths):
            found = cls.from_row_lengths(found, lengths, validate=validate)
        return found

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Values cut by the last of the lists of rows, the rows by the one before it, and so on."""
        rows = _listed("nested_value_rowids", nested_value_rowids)
        counts = nested_nrows or [None] * len(nested_value_rowids)
        if len(counts) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument "
                "`nested_value_rowids`. len(nested_nrows) = "
                f"{len(counts)} vs. len(nested_values_rowids) = {len(nested_value_rowids)}."
            )
        found = flat_values
        for ids, nrows in zip(rows, reversed(counts)):
            found = cls.from_value_rowids(found, ids, nrows, validate=validate)
        return found

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = int64,
    ) -> RaggedTensor:
        """A Tensor with its rows cut to `lengths`, or after their last value that is not `padding`.

        >>> import tape_compat as tf
        >>> tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
        <tf.RaggedTensor [[1, 2], [3]]>
        """
        args = (tensor, lengths, padding, ragged_rank, as_dtype(row_splits_dtype))
        return operators.call("ragged_from_tensor", *args)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = int64
    ) -> RaggedTensor:
        """A SparseTensor of rank 2 whose rows have their elements at 0, 1, 2, ...

        Raises: TypeError for another class; ValueError for another rank; InvalidArgumentError if a
          row has a gap.
        """
        return operators.call("ragged_from_sparse", st_input, as_dtype(row_splits_dtype))

    # -- what it is -----------------------------------------------------------------------------

    dtype: DType = forwards("_values.dtype", "The dtype of the values.")

    @property
    def shape(self) -> TensorShape:
        """The shape with None for the lengths of ragged rows."""
        if self._spec is not None:
            return self._spec._shape
        inner = self._values.shape
        return TensorShape([self._partition.static_nrows, self._partition._uniform, *inner[1:]])

    @property
    def ragged_rank(self) -> int:
        """How many axes after the first are cut by partitions."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    values: Any = forwards("_values", "The rows end to end: a Tensor or RaggedTensor [nvals, ...].")

    @property
    def flat_values(self) -> Tensor:
        """The Tensor that is innermost."""
        found = self._values
        while isinstance(found, RaggedTensor):
            found = found._values
        return found

    row_splits: Tensor = forwards(
        "_partition._splits", "[nrows + 1]: where each row begins, and the last one ends."
    )

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of each row where it was made with one, else None."""
        return self._partition.uniform_row_length()

    @property
    def _partitions(self) -> list[RowPartition]:
        found, inner = [], self
        while isinstance(inner, RaggedTensor):
            found.append(inner._partition)
            inner = inner._values
        return found

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of this tensor, of its values, and so on."""
        return tuple([p._splits for p in self._partitions])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of the rows of this tensor, of its values, and so on."""
        return tuple([p.row_lengths() for p in self._partitions])

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The rows of the values of this tensor, of its values' values, and so on."""
        return tuple([p.value_rowids() for p in self._partitions])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """[nvals]: the row that each value is in."""
        return self._partition.value_rowids()

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """How many rows there are."""
        partition = self._partition
        if out_type is not None:
            partition = partition.with_dtype(out_type)
        return partition.nrows()

    def row_starts(self, name: str | None = None) -> Tensor:
        """[nrows]: where in `values` each row begins."""
        return self._partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """[nrows]: where in `values` each row ends."""
        return self._partition.row_limits()

    def row_lengths(self, axis: Any = 1, name: str | None = None) -> Any:
        """The lengths of the rows along `axis`, [nrows] for 1, ragged for more."""
        return operators.call("ragged_row_lengths", self, axis)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The smallest shape that holds it, or its sizes along `axis`."""
        return operators.call("ragged_bounding_shape", self, axis, out_type)

    # -- others like it -------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values [nvals, ...]. Raises ValueError for another number."""
        values = as_values(new_values)
        values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(values.shape[:1])
        splits_dtype(self, values, names="self and new_values")
        return RaggedTensor(values, self._partition, internal=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def _gradient_parts(self) -> list[Any]:
        """The innermost values: what a tape differentiates it by."""
        return [self.flat_values]

    def _of_gradients(self, gradients: list[Any]) -> RaggedTensor | None:
        """The rows of a gradient by the innermost values, for a tape; None if there is none."""
        return None if gradients[0] is None else self.with_flat_values(gradients[0])

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with splits of int32 or int64. Raises ValueError for other dtypes."""
        dtype = as_dtype(dtype)
        if dtype not in (int32, int64):
            raise ValueError(
                f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}."
            )
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        partition = self._partition.with_row_splits_dtype(dtype)
        return RaggedTensor(values, partition, internal=True)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """With the axes from `outer_axis` to `inner_axis` made into one."""
        return operators.call("ragged_merge_dims", self, outer_axis, inner_axis)

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Tensor:
        """A Tensor with the rows filled up with `default_value` (zero), or cut, to `shape`.

        >>> import tape_compat as tf
        >>> tf.ragged.constant([[1, 2], [3]]).to_tensor(-1).numpy().tolist()
        [[1, 2], [3, -1]]
        """
        return operators.call("ragged_to_tensor", self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """A SparseTensor with the same elements."""
        return operators.call("ragged_to_sparse", self)

    def to_list(self) -> list[Any]:
        """Nested lists. Raises ValueError inside a function that is being recorded."""
        if self._is_symbolic():
            raise ValueError("to_list can only be used in eager mode.")
        values = self._values
        items = values.to_list() if isinstance(values, RaggedTensor) else values.numpy().tolist()
        splits = host(self.row_splits).tolist()
        return [items[a:b] for a, b in zip(splits, splits[1:])]

    def numpy(self) -> np.ndarray:
        """A NumPy array, of objects if rows differ in length."""
        if self._is_symbolic():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values = self._values.numpy()
        rows = np.split(values, host(self.row_splits)[1:-1]) if self.row_splits.shape[0] > 1 else []
        if not rows:
            return np.array([], values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.array(rows)
        out = np.empty(len(rows), object)
        out[:] = rows
        return out

    def _is_symbolic(self) -> bool:
        parts = (self.flat_values, *self.nested_row_splits)
        return any(isinstance(x, Tensor) and x._is_symbolic() for x in parts)

    # -- Python's protocols ---------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return operators.call("ragged_getitem", self, key)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(int(host(self.nrows()))))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self) -> str:
        if self._is_symbolic():
            return f"tf.RaggedTensor(values={self._values!s}, row_splits={self.row_splits!s})"
        return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    # -- as a composite -------------------------------------------------------------------------

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        if self._spec is not None:
            return self._spec
        kind = self._partition.dtype
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, kind)


def _shown(x: Any) -> str:
    """Elements of nested arrays with commas between them."""
    if not isinstance(x, np.ndarray):
        return str(x)
    if not x.size:
        return repr(x.tolist())
    with np.printoptions(formatter={"all": _shown}):
        return np.array2string(x, separator=", ")


@register("tf.RaggedTensorSpec")
class RaggedTensorSpec(ShapedSpec):
    """What is known of a RaggedTensor beforehand.

    Args:
      shape: with None for ragged axes.
      ragged_rank: how many axes after the first are cut by partitions; by default all.
      flat_values_spec: the spec of the innermost values, by default of a Tensor.
    Raises: ValueError if neither `shape` nor `ragged_rank` says how many axes are ragged.

    >>> import tape_compat as tf
    >>> tf.RaggedTensorSpec([None, None], tf.int32)
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_ragged_rank", "_row_splits_dtype")

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: Any = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = int64,
        flat_values_spec: Any = None,
    ) -> None:
        if flat_values_spec is not None:
            if dtype is None:
                dtype = flat_values_spec.dtype
            elif as_dtype(dtype) != flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank

    ragged_rank: int = forwards(
        "_ragged_rank", "How many axes after the first are cut by partitions."
    )
    row_splits_dtype: DType = forwards("_row_splits_dtype", "The dtype of the splits.")

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the innermost values; None for a Tensor."""
        return None

    @property
    def value_type(self) -> type:
        """`tf.RaggedTensor`, `tf.Tensor` if no axis is ragged."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a RaggedTensor, or of a Tensor with no ragged axis."""
        if isinstance(value, RaggedTensor):
            return value._type_spec
        tensor = convert(value)
        return cls(tensor.shape, tensor.dtype, 0)

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = batched_shape(self._shape, batch_size)
        rank = self._ragged_rank + 1
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def _unbatch(self) -> TypeSpec:
        shape = row_shape(self._shape)
        if not self._ragged_rank:
            return TensorSpec(shape, self._dtype)
        rank = self._ragged_rank - 1
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> Any:
        sizes = self._shape.as_list() if self._shape.rank is not None else None
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        inner = None if sizes is None else [None, *sizes[self._ragged_rank + 1 :]]
        rows = None if sizes is None or sizes[0] is None else sizes[0] + 1
        splits = [
            TensorSpec([rows if i == 0 else None], self._row_splits_dtype)
            for i in range(self._ragged_rank)
        ]
        return [TensorSpec(inner, self._dtype), *splits]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Any) -> Any:
        if not self._ragged_rank:
            return components[0]
        found, *splits = components
        real = all(isinstance(x, (Tensor, np.ndarray)) for x in components)
        if real:
            found, splits = convert(found), [convert(x) for x in splits]
        sizes = [None] * (self._ragged_rank + 1) if self._shape.rank is None else self._shape
        for i in reversed(range(self._ragged_rank)):
            found = RaggedTensor(found, RowPartition(splits[i], sizes[i + 1]), internal=True)
            if not real:
                found._spec = self
        return found

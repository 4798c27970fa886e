"""RowPartition: how a list of values is cut into rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import DType, as_dtype, int32, int64
from ..core.errors import InvalidArgumentError, refusal, user_location
from ..core.forwards import forwards
from ..values import operators
from ..values.convert import convert, to_numpy
from ..values.sizes import number_of
from ..values.tensor import Tensor, concrete


def host(value: Any) -> np.ndarray:
    """A vector of numbers on the host. Raises NeedsValue where it is not known."""
    return number_of(value) if isinstance(value, Tensor) else np.asarray(to_numpy(value))


def _refused(
    what: str, condition: str, found: Any, kind: str = "RowPartition.\n"
) -> InvalidArgumentError:
    return refusal(
        f"Arguments to {what} do not form a valid {kind}Condition {condition} did not hold: "
        f"{np.asarray(found).tolist()} (at {user_location()})"
    )


def _numbers(value: Any, name: str, dtype: DType | None, hint: DType | None) -> Tensor:
    """int32 or int64 [n]; `hint`, which is int64 if not given, if it is no tensor."""
    if isinstance(value, (list, tuple)) and any(isinstance(x, Tensor) for x in value):
        value = convert(value)
    if not isinstance(value, Tensor) and not hasattr(value, "_as_tensor"):
        array = np.asarray(to_numpy(value))
        _check_whole(value, array, name)
        narrow = array.dtype == np.int32 and isinstance(value, np.ndarray)
        tensor = concrete(array if narrow else array.astype((hint or int64).np_dtype))
    else:
        tensor = convert(value)
    if tensor.dtype not in (int32, int64):
        raise ValueError(f"{name} must have dtype int32 or int64, not {tensor.dtype.name}")
    if dtype is not None and tensor.dtype is not dtype:
        tensor = _cast(tensor, dtype)
    tensor.shape.assert_has_rank(1)
    return tensor


def _cast(tensor: Tensor, dtype: DType) -> Tensor:
    if tensor._is_symbolic():
        return operators.call("cast", tensor, dtype)
    return concrete(host(tensor).astype(dtype.np_dtype))


def _check_whole(value: Any, array: np.ndarray, name: str) -> None:
    """Arrays of floats are cast, numbers of Python are not."""
    if not isinstance(value, np.ndarray) and array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must have dtype int32 or int64, not {array.dtype}")


def splits_of_lengths(lengths: Any, dtype: Any = np.int64) -> np.ndarray:
    """Where each row begins, and where the last one ends."""
    out = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=out[1:])
    return out


class RowPartition:
    """How `nvals` values are cut into `nrows` rows: row i is values[splits[i] : splits[i + 1]].

    Made by `from_row_splits` and the other `from_` methods.

    >>> import tape_compat as tf
    >>> tf.experimental.RowPartition.from_row_lengths([2, 0, 1]).row_splits().numpy().tolist()
    [0, 2, 2, 3]
    """

    __slots__ = ("_splits", "_uniform")

    def __init__(self, row_splits: Tensor, uniform_row_length: int | None = None) -> None:
        self._splits = row_splits
        self._uniform = uniform_row_length

    # -- ways to make one -----------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls,
        row_splits: Any,
        validate: bool = True,
        dtype: DType | None = None,
        dtype_hint: DType | None = None,
    ) -> RowPartition:
        """Rows from where each begins and the last one ends: [nrows + 1], not decreasing, from 0.

        Raises: ValueError if it is empty; InvalidArgumentError if the numbers are none such.
        """
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        splits = _numbers(row_splits, "row_splits", dtype, dtype_hint)
        if splits._aval.shape[0] == 0:
            raise ValueError("row_splits tensor may not be empty.")
        if validate and not splits._is_symbolic():
            known = host(splits)
            if known[0] != 0:
                raise _refused("from_row_splits", "x == y", known, "RaggedTensor:zero\n")
            if (np.diff(known) < 0).any():
                kind = "RaggedTensor:monotonic.\n"
                raise _refused("from_row_splits", "x >= 0", np.diff(known), kind)
        return cls(splits)

    @classmethod
    def from_row_lengths(
        cls,
        row_lengths: Any,
        validate: bool = True,
        dtype: DType | None = None,
        dtype_hint: DType | None = None,
    ) -> RowPartition:
        """Rows of these lengths [nrows]. Raises InvalidArgumentError for one below 0."""
        lengths = _numbers(row_lengths, "row_lengths", dtype, dtype_hint)
        if lengths._is_symbolic():
            return cls(operators.call("row_splits_of_lengths", lengths, validate))
        known = host(lengths)
        if validate and (known < 0).any():
            raise _refused("from_row_lengths", "x >= 0", known)
        return cls(concrete(splits_of_lengths(known, known.dtype)))

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: DType | None = None,
        dtype_hint: DType | None = None,
    ) -> RowPartition:
        """Rows from the row of each value [nvals], not decreasing.

        Raises: ValueError if there are fewer than `nrows` rows; InvalidArgumentError if the rows
          decrease.
        """
        ids = _numbers(value_rowids, "value_rowids", dtype, dtype_hint)
        if ids._is_symbolic() or (isinstance(nrows, Tensor) and nrows._is_symbolic()):
            return cls(operators.call("row_splits_of_ids", ids, nrows, validate))
        known = host(ids)
        last = int(known[-1]) if known.size else -1
        if nrows is None:
            count = last + 1
        else:
            count = int(host(nrows))
            if count < 0:
                raise ValueError(f"Expected nrows >= 0; got {count}")
            if count < last + 1:
                raise ValueError(
                    f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
                    f"value_rowids[-1]={last}"
                )
        if validate and ((known < 0).any() or (np.diff(known) < 0).any()):
            raise _refused("from_value_rowids", "x >= 0", known)
        lengths = np.bincount(known.astype(np.int64), minlength=count)
        return cls(concrete(splits_of_lengths(lengths, known.dtype)))

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: bool = True,
        dtype: DType | None = None,
        dtype_hint: DType | None = None,
    ) -> RowPartition:
        """Rows from where each begins [nrows], the first at 0, and the number of values."""
        given = _numbers(row_starts, "row_starts", dtype, dtype_hint)
        if given._is_symbolic() or (isinstance(nvals, Tensor) and nvals._is_symbolic()):
            return cls(operators.call("row_splits_of_starts", given, nvals, validate))
        starts = host(given)
        if validate and starts.size and starts[0] != 0:
            raise _refused("from_row_starts", "x == y", starts)
        splits = np.append(starts, np.asarray(host(nvals), starts.dtype)).astype(starts.dtype)
        if validate and (np.diff(splits) < 0).any():
            raise _refused("from_row_starts", "x >= 0", splits)
        return cls(concrete(splits))

    @classmethod
    def from_row_limits(
        cls,
        row_limits: Any,
        validate: bool = True,
        dtype: DType | None = None,
        dtype_hint: DType | None = None,
    ) -> RowPartition:
        """Rows from where each ends [nrows]."""
        given = _numbers(row_limits, "row_limits", dtype, dtype_hint)
        if given._is_symbolic():
            return cls(operators.call("row_splits_of_limits", given, validate))
        limits = host(given)
        splits = np.concatenate([np.zeros(1, limits.dtype), limits])
        if validate and (np.diff(splits) < 0).any():
            raise _refused("from_row_limits", "x >= 0", splits)
        return cls(concrete(splits))

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: DType | None = None,
        dtype_hint: DType | None = None,
    ) -> RowPartition:
        """Rows of one length.

        Raises: ValueError if neither `nvals` nor `nrows` is given, where `nrows` is needed, or if
          they do not go together.
        """
        given = np.asarray(host(uniform_row_length))
        _check_whole(uniform_row_length, given, "UniformRowLength")
        length = int(given)
        if length < 0:
            raise ValueError(f"uniform_row_length must be >= 0. It is {length}.")
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        values = None if nvals is None else int(host(nvals))
        if nrows is None:
            if values is None or (length == 0 and values == 0):
                rows = 0
            else:
                rows = values // length if length else 1
        else:
            rows = int(host(nrows))
        if validate and values is not None and rows * length != values:
            raise ValueError(
                f"uniform_row_length={length} times nrows={rows} must equal nvals={values}"
            )
        kind = (dtype or dtype_hint or int64).np_dtype
        return cls(concrete(np.arange(rows + 1, dtype=kind) * kind.type(length)), length)

    # -- what it is -----------------------------------------------------------------------------

    dtype: DType = forwards("_splits.dtype", "int32 or int64.")

    @property
    def static_nrows(self) -> int | None:
        """How many rows there are."""
        n = self._splits.shape[0]
        return None if n is None else n - 1

    static_uniform_row_length: int | None = forwards(
        "_uniform", "The length of each row, if it was said to be one."
    )

    @property
    def static_nvals(self) -> int | None:
        """How many values there are, if it is known."""
        return None if self._splits._is_symbolic() else int(host(self._splits)[-1])

    def row_splits(self) -> Tensor:
        """[nrows + 1]: where each row begins, and where the last one ends."""
        return self._splits

    def row_lengths(self) -> Tensor:
        """[nrows]: how many values each row has."""
        if self._splits._is_symbolic():
            return self._splits[1:] - self._splits[:-1]
        return concrete(np.diff(host(self._splits)))

    def value_rowids(self) -> Tensor:
        """[nvals]: the row of each value."""
        if self._splits._is_symbolic():
            return operators.call("row_ids", self._splits)
        splits = host(self._splits)
        return concrete(np.repeat(np.arange(splits.size - 1, dtype=splits.dtype), np.diff(splits)))

    def row_starts(self) -> Tensor:
        """[nrows]: where each row begins."""
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        """[nrows]: where each row ends."""
        return self._splits[1:]

    def nrows(self) -> Tensor:
        """How many rows there are."""
        rows = self.static_nrows
        if rows is None:
            return operators.call("row_count", self._splits)
        return concrete(np.array(rows, self.dtype.np_dtype))

    def nvals(self) -> Tensor:
        """How many values there are."""
        return self._splits[-1]

    def uniform_row_length(self) -> Tensor | None:
        """The length of each row, if it was said to be one; else None."""
        if self._uniform is None:
            return None
        return concrete(np.array(self._uniform, self.dtype.np_dtype))

    def is_uniform(self) -> bool:
        """Whether it was said that all rows have one length."""
        return self._uniform is not None

    def offsets_in_rows(self) -> Tensor:
        """[nvals]: the place of each value in its row.

        >>> import tape_compat as tf
        >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 1])
        >>> rows.offsets_in_rows().numpy().tolist()
        [0, 1, 0]
        """
        if self._splits._is_symbolic():
            return operators.call("row_offsets", self._splits)
        splits = host(self._splits)
        firsts = np.repeat(splits[:-1], np.diff(splits))
        return concrete(np.arange(splits[-1], dtype=splits.dtype) - firsts)

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same with splits of int32 or int64. Raises ValueError for another dtype."""
        kind = as_dtype(dtype)
        if kind not in (int32, int64):
            raise ValueError("dtype must be int32 or int64")
        return self.with_row_splits_dtype(kind)

    def with_row_splits_dtype(self, dtype: DType) -> RowPartition:
        """The same with splits of int32 or int64."""
        if dtype is self.dtype:
            return self
        return RowPartition(_cast(self._splits, dtype), self._uniform)

    def __repr__(self) -> str:
        if self._splits._is_symbolic():
            return f"tf.RowPartition(row_splits={self._splits})"
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform})"
        return f"tf.RowPartition(row_splits={host(self._splits)})"

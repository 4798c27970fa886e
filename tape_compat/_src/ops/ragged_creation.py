"""Ragged tensors: from lists, dense and sparse tensors, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, splits_dtype
from ..composites.row_partition import RowPartition, host, splits_of_lengths
from ..core import dtypes
from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError, user_location
from ..core.refuse import invalid
from ..core.shapes import TensorShape
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from .arguments import as_int, as_tensor, known_value
from .ragged_places import masked
from .ragged_rows import Rows, ragged, rows_of, select, spans
from .shapes import reshape

# ---------------------------------------------------------------------------------------------
# From Python.


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A RaggedTensor of nested lists; a Tensor of a list of numbers.

    Args:
      ragged_rank: how many axes after the first are ragged; by default all but the innermost ones
        that `inner_shape` names.
      inner_shape: the shape of each innermost value.
    Raises: ValueError if the numbers are not all at one depth.

    >>> import tape_compat as tf
    >>> tf.ragged.constant([[1, 2], [], [3]])
    <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    dtype = None if dtype is None else as_dtype(dtype)
    kind = as_dtype(row_splits_dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError("row_splits must have dtype int32 or int64")
    pylist = _plain(pylist)
    if not isinstance(pylist, list):
        if ragged_rank is not None and ragged_rank != 0:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return convert(pylist, dtype)
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    scalars, most = _depths(pylist)
    inner = _inner_shape(pylist, ragged_rank, inner_shape, scalars, most)
    rank = ragged_rank
    if rank is None:
        rank = max(1, most - 1) if inner_shape is None else max(most - 1 - len(inner), 0)
        if most <= 1:
            rank = 0
    _check_depths(scalars, most, rank, ragged_rank, inner)
    return _nested(pylist, dtype, rank, inner, kind)


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists."""
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, np.ndarray):
        return (
            _plain(value.tolist() if value.dtype == object else list(value))
            if value.ndim
            else value[()]
        )
    return value


def _depths(value: Any) -> tuple[int | None, int]:
    """The depth of numbers, None if there are none, and of the deepest list."""
    if not isinstance(value, list):
        return 0, 0
    scalars: set[int] = set()
    most = 1
    for item in value:
        depth, deepest = _depths(item)
        if depth is not None:
            scalars.add(depth + 1)
        most = max(most, deepest + 1)
    if len(scalars) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return (scalars.pop() if scalars else None), most


def _check_depths(
    scalars: int | None, most: int, rank: int, given: int | None, inner: tuple[int, ...]
) -> None:
    if scalars is not None and scalars < most:
        raise ValueError("Invalid pylist: empty list nesting is greater than scalar value nesting")
    if given is not None and scalars is not None and given >= scalars:
        raise ValueError(
            f"pylist has scalar values depth {scalars}, but ragged_rank={given} requires scalar "
            f"value depth greater than {given}"
        )
    if inner and scalars is not None and rank + len(inner) + 1 != scalars:
        raise ValueError("inner_shape does not match the nesting of pylist")


def _inner_shape(
    pylist: Any, rank: int | None, inner: Any, scalars: int | None, most: int
) -> tuple[int, ...]:
    if inner is not None:
        if isinstance(inner, TensorShape):
            inner = inner.as_list()
        return tuple(inner) if isinstance(inner, (list, tuple)) else (inner,)
    if rank is None:
        return ()
    leaves = pylist
    if scalars is not None and rank >= scalars:
        return ()
    for _ in range(rank):
        leaves = [x for row in leaves for x in row]
    shape: list[int] = []
    level = leaves
    for _ in range((scalars or most) - 1 - rank):
        sizes = {len(x) for x in level if isinstance(x, list)}
        if len(sizes) > 1:
            raise ValueError("inner values have inconsistent shape")
        shape.append(sizes.pop() if sizes else 0)
        level = [y for x in level for y in x]
    return tuple(shape)


def _nested(pylist: list, dtype: Any, rank: int, inner: tuple[int, ...], kind: Any) -> Any:
    splits, level = [], pylist
    for _ in range(rank):
        splits.append(splits_of_lengths([len(row) for row in level], kind.np_dtype))
        level = [x for row in level for x in row]
    flat = convert(level, dtype)
    if flat._aval.shape != (len(level), *inner):
        flat = reshape(flat, [len(level), *inner])
    for each in reversed(splits):
        flat = RaggedTensor(flat, RowPartition(concrete(each)), internal=True)
    return flat


def ragged_range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """Rows that count from `starts` up to, without, `limits` by `deltas`, vectors or scalars.

    Raises: InvalidArgumentError for a step of 0, vectors of other lengths, or more axes.

    >>> import tape_compat as tf
    >>> tf.ragged.range([0, 5], [3, 6])
    <tf.RaggedTensor [[0, 1, 2], [5]]>
    """
    if limits is None:
        starts, limits = 0, starts
    hint = None if dtype is None else as_dtype(dtype)
    given = [as_tensor(x) if hint is None else convert(x, hint) for x in (starts, limits, deltas)]
    kind = hint or _widest([x.dtype for x in given])
    known = [known_value(x) for x in given]
    for what, each in zip(("starts", "limits", "deltas"), known):
        if each.ndim > 1:
            raise invalid(f"{what} must be a scalar or vector", "RaggedRange")
    if len({each.shape for each in known if each.ndim}) > 1:
        raise invalid("starts, limits, and deltas must have the same shape", "RaggedRange")
    low, high, step = np.broadcast_arrays(*map(np.atleast_1d, known))
    if (step == 0).any():
        raise invalid("Requires delta != 0", "RaggedRange")
    gap = (high.astype(np.float64) - low) / step if kind.is_floating else -((low - high) // step)
    lengths = np.maximum(np.ceil(gap), 0).astype(np.int64)
    steps = spans(np.zeros(len(lengths), np.int64), lengths)
    values = np.repeat(low, lengths) + steps * np.repeat(step, lengths)
    splits = splits_of_lengths(lengths, as_dtype(row_splits_dtype).np_dtype)
    flat = concrete(values.astype(kind.np_dtype))
    return RaggedTensor(flat, RowPartition(concrete(splits)), internal=True)


def _widest(kinds: Sequence[Any]) -> Any:
    order = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
    return order[max(order.index(k) if k in order else 0 for k in kinds)]


# ---------------------------------------------------------------------------------------------
# The rest of `tf.ragged`.


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the innermost values of the RaggedTensors among the arguments, in their rows.

    Raises: ValueError if the result has another number of values; InvalidArgumentError if rows
      differ.

    >>> import tape_compat as tf
    >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[1, 4], [9]]>
    """
    found: list[RaggedTensor] = []

    def inner(x: Any) -> Any:
        if isinstance(x, RaggedTensor):
            found.append(x)
            return x.flat_values
        if isinstance(x, (list, tuple)):
            return type(x)(map(inner, x))
        return x

    plain = [inner(x) for x in args]
    named = {key: inner(x) for key, x in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    splits_dtype(*found)
    for other in found[1:]:
        check_same_rows(found[0], other)
    result = op(*plain, **named)
    count, given = found[0].flat_values.shape[0], result.shape[0] if len(result.shape) else None
    if not len(result.shape) or (None not in (count, given) and count != given):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-"
            f"dimension size as flat_values of any ragged inputs. (output shape: {result.shape}; "
            f"expected outer dimension size: {count})"
        )
    return found[0].with_flat_values(result)


def same_rows(x: RaggedTensor, y: RaggedTensor) -> bool:
    """Whether two tensors are cut into rows alike."""
    ours, theirs = x.nested_row_splits, y.nested_row_splits
    return len(ours) == len(theirs) and all(
        a is b or np.array_equal(host(a), host(b)) for a, b in zip(ours, theirs)
    )


def check_same_rows(x: RaggedTensor, y: RaggedTensor) -> None:
    """TensorFlow's error for tensors that are not."""
    if x.ragged_rank != y.ragged_rank:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    if not same_rows(x, y):
        raise InvalidArgumentError(
            None,
            None,
            "RowPartition._merge_precomputed_encodings: partitions have incompatible row_splits\n"
            f"Condition x == y did not hold. (at {user_location()})",
        )


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of `data` where `mask` is true, in rows along all but the last axis of `mask`.

    Raises: ValueError for a scalar mask, or one that has more axes than `data` or another size;
      InvalidArgumentError for one of other rows.

    >>> import tape_compat as tf
    >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    mask = mask if isinstance(mask, RaggedTensor) else convert(mask, dtypes.bool)
    data = data if isinstance(data, RaggedTensor) else convert(data)
    rank = len(mask.shape)
    if not rank:
        raise ValueError("mask cannot be scalar.")
    dense = isinstance(mask, Tensor) and isinstance(data, Tensor)
    if (rank == 1 or dense) and not data.shape[:rank].is_compatible_with(mask.shape):
        raise ValueError(f"Shapes {data.shape[:rank]} and {mask.shape} are incompatible")
    if isinstance(mask, Tensor) and isinstance(data, Tensor) and rank == 2:
        if mask._is_symbolic() or data._is_symbolic():
            return masked(data, mask, dtypes.int64)
    form, chosen = rows_of(data, rank - 1), rows_of(mask, rank - 1)
    for ours, theirs in zip(form.splits, chosen.splits):
        if len(ours) != len(theirs):
            raise invalid(f"Incompatible shapes: [{len(theirs)}] vs. [{len(ours)}]", "Equal")
        if not np.array_equal(ours, theirs):
            raise invalid(
                "Inputs must have identical ragged splits\nCondition x == y did not hold.", "Mask"
            )
    keep = known_value(chosen.flat)
    level = rank - 1
    found = select(form, np.flatnonzero(keep), level)
    if not level:
        return ragged(found, splits_dtype(data))
    last = form.splits[level - 1]
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
    splits = [*form.splits[: level - 1], totals[last], *found.splits]
    uniform = [*form.uniform[: level - 1], None, *found.uniform]
    return ragged(Rows(splits, uniform, found.flat), splits_dtype(data, mask))


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value, from where the rows begin and the last one ends.

    >>> import tape_compat as tf
    >>> tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]).numpy().tolist()
    [0, 0, 2]
    """
    if isinstance(splits, (list, tuple)) and not splits:
        raise ValueError(f"Invalid row_splits: {splits}")
    if convert(splits).dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("splits must have dtype int32 or int64")
    partition = RowPartition.from_row_splits(splits, validate=False)
    ids = host(partition.value_rowids())
    return concrete(ids if out_type is None else ids.astype(as_dtype(out_type).np_dtype))


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Where the rows begin and the last one ends, from the row of each value.

    >>> import tape_compat as tf
    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy().tolist()
    [0, 2, 2, 3]
    """
    ids = convert(segment_ids)
    if not ids.dtype.is_integer and ids.shape != (0,):
        raise TypeError(
            "Argument `tensor` (name: segment_ids) must be of type integer. Received `tensor` = "
            f"{segment_ids} of dtype: {ids.dtype!r}"
        )
    if (known_value(ids) < 0).any():
        raise invalid("Input arr must be non-negative!", "DenseBincount")
    partition = RowPartition.from_value_rowids(segment_ids, num_segments, validate=False)
    splits = host(partition.row_splits())
    return concrete(splits if out_type is None else splits.astype(as_dtype(out_type).np_dtype))


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """The rows of `data` by the numbers in `partitions`, [num_partitions, (count), ...].

    Args:
      partitions: int32 or int64, of the shape of `data`, or of its outer axes; ragged as it is.
    Raises: ValueError for another shape or dtype; InvalidArgumentError for a number that is not
      within [0, num_partitions).

    >>> import tape_compat as tf
    >>> tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 2, 0], 3)
    <tf.RaggedTensor [[1, 3], [], [2]]>
    """
    values = data if isinstance(data, RaggedTensor) else as_tensor(data)
    given = partitions if isinstance(partitions, RaggedTensor) else as_tensor(partitions)
    outer = values.shape[: len(given.shape)]
    if not given.shape.is_compatible_with(outer):
        raise ValueError(f"Shapes {given.shape} and {outer} are incompatible")
    composite = isinstance(given, RaggedTensor) or isinstance(values, RaggedTensor)
    rows = splits_dtype(values, given) if composite else None
    while isinstance(given, RaggedTensor):
        form = rows_of(values, 1)
        if not np.array_equal(form.splits[0], rows_of(given).splits[0]):
            raise invalid(
                "data and partitions have incompatible ragged shapes\n"
                "Condition x == y did not hold.",
                "Assert",
            )
        given, values = given.values, ragged(Rows(form.splits[1:], form.uniform[1:], form.flat))
    if given.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("value_rowids must have dtype int32 or int64")
    numbers, count = known_value(given), as_int(num_partitions)
    if (numbers < 0).any():
        raise invalid("partitions must be non-negative..\nCondition x >= 0 did not hold", "Assert")
    if (numbers >= count).any():
        raise invalid(
            "partitions must be less than num_partitions\nCondition x < y did not hold.", "Assert"
        )
    if numbers.ndim != 1:
        values = reshape(values, [-1, *values.shape[numbers.ndim :]])
        numbers = numbers.ravel()
    order = np.argsort(numbers, kind="stable")
    moved = ragged(select(rows_of(values), order), splits_dtype(values))
    kind = numbers.dtype if rows is None else rows.np_dtype
    return RaggedTensor.from_value_rowids(moved, numbers[order].astype(kind), count)

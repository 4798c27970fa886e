"""Ragged tensors: from lists, dense and sparse tensors, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError, user_location
from ..core.refuse import invalid
from ..core.shapes import TensorShape
from ..values import operators
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.ragged import RaggedTensor
from ..values.row_partition import RowPartition, host, splits_of_lengths
from ..values.sparse import SparseTensor, known_dense_shape
from ..values.tensor import Tensor, concrete
from .arguments import as_int, as_tensor, known_value, sketched
from .creation import fill
from .gather_scatter import tensor_scatter_nd_update
from .ragged_rows import Rows, axis_of, ragged, rows_of, select, spans, splits_dtype
from .repeating import broadcast_to
from .shapes import reshape
from .sparse_layout import made, on_hand, positions, taken

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

    Raises: InvalidArgumentError for a step of 0.

    >>> import tape_compat as tf
    >>> tf.ragged.range([0, 5], [3, 6])
    <tf.RaggedTensor [[0, 1, 2], [5]]>
    """
    if limits is None:
        starts, limits = 0, starts
    hint = None if dtype is None else as_dtype(dtype)
    given = [as_tensor(x) if hint is None else convert(x, hint) for x in (starts, limits, deltas)]
    kind = hint or _widest([x.dtype for x in given])
    low, high, step = np.broadcast_arrays(*[np.atleast_1d(known_value(x)) for x in given])
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
# From tensors.


def from_tensor(tensor: Any, lengths: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    """See `RaggedTensor.from_tensor`."""
    tensor = as_tensor(tensor)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    rank = len(tensor._aval.shape)
    if rank <= 1:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have "
            f"ragged dimensions. Received argument `tensor` with rank {rank}."
        )
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    rows = rows_of(tensor, ragged_rank)
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
        nested = [known_value(x).astype(np.int64) for x in lengths]
        return _cut_nested(tensor, nested, kind)
    if padding is not None:
        return _without_padding(rows, padding, kind)
    if lengths is None:
        splits = [s.astype(kind.np_dtype) for s in rows.splits]
        return ragged(Rows(splits, rows.uniform, rows.flat), kind)
    given = known_value(lengths).astype(np.int64)
    size = tensor._aval.shape[1]
    limited = np.clip(given, 0, size)
    return _cut(rows, len(rows.splits) - 1, np.broadcast_to(limited, (rows.height,)), kind)


def _cut(rows: Rows, level: int, lengths: np.ndarray, kind: Any) -> Any:
    """The rows along an axis cut to lengths."""
    starts = rows.splits[level][:-1]
    if len(lengths) != len(starts):
        raise invalid(f"lengths has {len(lengths)} numbers for {len(starts)} rows", "FromTensor")
    inner = select(rows, spans(starts, lengths), level + 1)
    splits = [*rows.splits[:level], splits_of_lengths(lengths), *inner.splits]
    return ragged(Rows(splits, [None] * len(splits), inner.flat), kind)


def _cut_nested(tensor: Tensor, nested: list[np.ndarray], kind: Any) -> Any:
    """A tensor cut to lengths for several axes."""
    rows = rows_of(tensor, len(nested))
    index = np.arange(rows.height)
    splits = []
    for old, lengths in zip(rows.splits, nested):
        splits.append(splits_of_lengths(lengths))
        index = spans(old[index], lengths)
    return ragged(Rows(splits, [None] * len(splits), taken(rows.flat, index)), kind)


def _without_padding(rows: Rows, padding: Any, kind: Any) -> Any:
    """Rows cut after their last value that is not the padding."""
    pad = known_value(convert(padding, rows.flat.dtype))
    flat = known_value(rows.flat)
    if pad.shape != flat.shape[1:]:
        raise ValueError(f"Shapes {pad.shape} and {flat.shape[1:]} are incompatible")
    real = (flat != pad).reshape(len(flat), -1).any(1) if flat.ndim > 1 else flat != pad
    splits = rows.splits[-1]
    within = spans(np.ones(len(splits) - 1, np.int64), np.diff(splits))
    lengths = np.zeros(len(splits) - 1, np.int64)
    np.maximum.at(lengths, np.repeat(np.arange(len(lengths)), np.diff(splits)), within * real)
    return _cut(rows, len(rows.splits) - 1, lengths, kind)


def from_sparse(st_input: Any, kind: Any) -> RaggedTensor:
    """See `RaggedTensor.from_sparse`."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            "Argument `st_input` must be of type SparseTensor, but is of type "
            f"{type(st_input).__name__}."
        )
    shape = known_dense_shape(st_input)
    if len(shape) != 2:
        raise ValueError(f"st_input must have rank 2, but has rank {len(shape)}.")
    indices = positions(st_input)
    counts = np.bincount(indices[:, 0], minlength=shape[0])
    want = spans(np.zeros(shape[0], np.int64), counts)
    if (
        not np.array_equal(indices[:, 0], np.repeat(np.arange(shape[0]), counts))
        or (indices[:, 1] != want).any()
    ):
        raise InvalidArgumentError(
            None,
            None,
            "SparseTensor is not right-ragged. SparseTensor.indices = "
            f"{indices.tolist()} (at {user_location()})",
        )
    splits = splits_of_lengths(counts, kind.np_dtype)
    return RaggedTensor(st_input.values, RowPartition(concrete(splits)), internal=True)


# ---------------------------------------------------------------------------------------------
# To tensors.


def coordinates(rows: Rows) -> np.ndarray:
    """For each innermost value its position along the ragged axes: [n, axes]."""
    places = np.arange(rows.height)[:, None]
    for splits in rows.splits:
        lengths = np.diff(splits)
        within = spans(np.zeros(len(lengths), np.int64), lengths)
        places = np.concatenate([np.repeat(places, lengths, 0), within[:, None]], 1)
    return places


def bounding_sizes(rows: Rows) -> list[int]:
    """The longest row along each axis."""
    longest = [int(np.diff(s).max()) if len(s) > 1 else 0 for s in rows.splits]
    given = [n if u is None else u for n, u in zip(longest, rows.uniform)]
    return [rows.height, *given, *rows.flat._aval.shape[1:]]


def _outline(x: RaggedTensor, sketch: Any, shape: Any) -> Tensor:
    """What stands for the tensor of rows that are not known yet."""
    depth, inner = len(x._partitions), x.flat_values._aval.shape[1:]
    sizes = [x._partitions[0]._splits._aval.shape[0] - 1, *[None] * depth, *inner]
    wanted = shape.as_list() if isinstance(shape, TensorShape) else shape
    for i, size in enumerate(wanted or ()):
        sizes[i] = sizes[i] if size is None or size == -1 else size
    return sketch.tensor(sizes, x.dtype)


@by_host()
def to_tensor(x: RaggedTensor, default_value: Any, shape: Any) -> Tensor:
    """See `RaggedTensor.to_tensor`."""
    sketch = sketched(*[p._splits for p in x._partitions])
    if sketch is not None and not isinstance(shape, Tensor):
        return _outline(x, sketch, shape)
    rows = rows_of(x)
    sizes = bounding_sizes(rows)
    if shape is not None:
        wanted = shape.as_list() if isinstance(shape, TensorShape) else _listed(shape)
        if len(wanted) != len(sizes):
            raise ValueError(f"rank {len(wanted)} of shape {shape} differs from {len(sizes)}")
        sizes = [n if w is None or w == -1 else w for n, w in zip(sizes, wanted)]
    if default_value is None:
        default = convert(b"" if x.dtype is dtypes.string else x.dtype.np_dtype.type(0), x.dtype)
    else:
        default = convert(default_value, x.dtype)
    depth = len(rows.splits) + 1
    inner = sizes[depth:]
    if list(default._aval.shape) and default._aval.shape != tuple(inner):
        default = broadcast_to(default, inner)
    if depth == 2:
        found = _side_by_side(rows, sizes, default)
        if found is not None:
            return found
    places = coordinates(rows)
    keep = np.flatnonzero((places < np.array(sizes[:depth])).all(1))
    strides = np.append(np.cumprod(np.array(sizes[1:depth], np.int64)[::-1])[::-1], 1)
    flat = (places[keep] * strides).sum(1)
    total = int(np.prod(sizes[:depth], dtype=np.int64))
    values = taken(rows.flat, keep)
    if tuple(values._aval.shape[1:]) != tuple(inner):
        raise ValueError(f"the inner shape {values._aval.shape[1:]} is not that of {sizes}")
    found = _scattered(values, flat, total, default, inner)
    return reshape(found, sizes)


def _on_host(tensor: Tensor) -> np.ndarray | None:
    """Its value if it is on the host, as all texts are."""
    return tensor._value() if tensor.dtype is dtypes.string else on_hand(tensor)


def _side_by_side(rows: Rows, sizes: Sequence[int], default: Tensor) -> Tensor | None:
    """Rows of one ragged axis, cut or with the default behind them, if all is on the host."""
    splits, width = rows.splits[0], sizes[1]
    lengths = np.diff(splits)
    if sizes[0] < rows.height:
        return None
    held, other = _on_host(rows.flat), _on_host(default)
    if held is None or other is None or list(held.shape[1:]) != list(sizes[2:]):
        return None
    if len(lengths) and lengths.max() > width:
        held = held[np.arange(splits[-1]) - np.repeat(splits[:-1], lengths) < width]
    out = np.empty(sizes, held.dtype)
    out[...] = other
    out[: rows.height][np.arange(width) < lengths[:, None]] = held
    return concrete(out, Aval.of(out.shape, rows.flat._aval.dtype))


def _listed(shape: Any) -> list[int | None]:
    if isinstance(shape, (list, tuple)):
        return [None if n is None else as_int(n) for n in shape]
    return known_value(shape).tolist()


def _scattered(
    values: Tensor, places: np.ndarray, total: int, default: Tensor, inner: Sequence[int]
) -> Tensor:
    """[total, ...] with values at places and the default elsewhere."""
    held, other = _on_host(values), _on_host(default)
    if held is not None and other is not None:
        out = np.empty([total, *inner], held.dtype)
        out[...] = other
        out[places] = held
        return concrete(out, Aval.of(out.shape, values._aval.dtype))
    if not default._aval.shape:
        start = fill([total, *inner], default)
    else:
        start = broadcast_to(default, [total, *inner])
    if not len(places):
        return start
    return tensor_scatter_nd_update(start, concrete(places[:, None].astype(np.int64)), values)


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """See `RaggedTensor.to_sparse`."""
    rows = rows_of(x)
    inner = rows.flat._aval.shape[1:]
    places = coordinates(rows)
    flat = rows.flat
    if inner:
        within = np.stack(np.unravel_index(np.arange(int(np.prod(inner))), inner), 1)
        places = np.concatenate(
            [np.repeat(places, len(within), 0), np.tile(within, (len(places), 1))], 1
        )
        flat = reshape(flat, [-1])
    return made(places, flat, bounding_sizes(rows))


def row_lengths(x: RaggedTensor, axis: Any) -> Any:
    """See `RaggedTensor.row_lengths`."""
    along = axis_of(axis, len(x.shape))
    if along == 0:
        return x.nrows()
    if along == 1:
        return x._partition.row_lengths()
    if isinstance(x.values, RaggedTensor):
        return x.with_values(row_lengths(x.values, along - 1))
    sizes = x.values._aval.shape
    count = concrete(np.full(sizes[: along - 1], sizes[along - 1], x._partition.dtype.np_dtype))
    return x.with_values(count)


def bounding_shape(x: RaggedTensor, axis: Any, out_type: Any) -> Tensor:
    """See `RaggedTensor.bounding_shape`."""
    kind = x._partition.dtype if out_type is None else as_dtype(out_type)
    sizes = np.array(bounding_sizes(rows_of(x)), kind.np_dtype)
    return concrete(sizes if axis is None else np.asarray(sizes[known_value(axis)]))


def merge_dims(x: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """See `RaggedTensor.merge_dims`."""
    rank = len(x.shape)
    low, high = axis_of(outer_axis, rank, "outer_axis"), axis_of(inner_axis, rank, "inner_axis")
    if low >= high:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than inner_axis ({inner_axis})"
        )
    rows = rows_of(x, high)
    splits = list(rows.splits)
    if low == 0:
        return ragged(Rows(splits[high:], rows.uniform[high:], rows.flat), splits_dtype(x))
    merged = splits[low - 1]
    for each in splits[low:high]:
        merged = each[merged]
    form = Rows(
        [*splits[: low - 1], merged, *splits[high:]],
        [*rows.uniform[: low - 1], None, *rows.uniform[high:]],
        rows.flat,
    )
    return ragged(form, splits_dtype(x))


operators.define(
    ragged_from_tensor=from_tensor,
    ragged_from_sparse=from_sparse,
    ragged_to_tensor=to_tensor,
    ragged_to_sparse=to_sparse,
    ragged_row_lengths=row_lengths,
    ragged_bounding_shape=bounding_shape,
    ragged_merge_dims=merge_dims,
)


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

    Raises: ValueError for a scalar mask, or one that has more axes than `data`.

    >>> import tape_compat as tf
    >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    mask = mask if isinstance(mask, RaggedTensor) else convert(mask, dtypes.bool)
    data = data if isinstance(data, RaggedTensor) else convert(data)
    rank = len(mask.shape)
    if not rank:
        raise ValueError("mask cannot be scalar.")
    form, chosen = rows_of(data, rank - 1), rows_of(mask, rank - 1)
    for ours, theirs in zip(form.splits, chosen.splits):
        if not np.array_equal(ours, theirs):
            raise invalid(
                "data and mask have different rows\nCondition x == y did not hold.", "Mask"
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
    partition = RowPartition.from_value_rowids(segment_ids, num_segments, validate=False)
    splits = host(partition.row_splits())
    return concrete(splits if out_type is None else splits.astype(as_dtype(out_type).np_dtype))


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """The rows of `data` by the numbers in `partitions`, [num_partitions, (count), ...].

    >>> import tape_compat as tf
    >>> tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 2, 0], 3)
    <tf.RaggedTensor [[1, 3], [], [2]]>
    """
    numbers = known_value(partitions)
    count = as_int(num_partitions)
    values = data if isinstance(data, RaggedTensor) else as_tensor(data)
    if numbers.ndim != 1:
        values = reshape(values, [-1, *values.shape[numbers.ndim :]])
        numbers = numbers.ravel()
    order = np.argsort(numbers, kind="stable")
    moved = ragged(select(rows_of(values), order), splits_dtype(values))
    kind = numbers.dtype if numbers.dtype == np.int32 else np.int64
    return RaggedTensor.from_value_rowids(moved, numbers[order].astype(kind), count)

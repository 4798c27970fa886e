"""Ragged tensors from tensors, and tensors from ragged ones."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..composites.ragged import RaggedTensor, splits_dtype
from ..composites.row_partition import RowPartition, splits_of_lengths
from ..composites.sparse import SparseTensor, known_dense_shape
from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError, user_location
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..core.shapes import TensorShape
from ..values import operators
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arguments import as_int, as_tensor, known_value, sketched
from .casting import cast
from .creation import fill, range as range_of
from .gather_scatter import gather, tensor_scatter_nd_update
from .joining import concat, stack
from .ragged_places import of_tensor, outer_row_ids
from .ragged_rows import Rows, axis_of, ragged, rows_of, select, spans
from .repeating import broadcast_to
from .shapes import reshape, shape as shape_of
from .sparse_layout import made, on_hand, positions, taken

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
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
        nested = [known_value(x).astype(np.int64) for x in lengths]
        return _cut_nested(tensor, nested, kind)
    if ragged_rank == 1 and _are_symbolic(tensor, lengths):
        return of_tensor(tensor, lengths, padding, kind)
    rows = rows_of(tensor, ragged_rank)
    if padding is not None:
        return _without_padding(rows, padding, kind)
    if lengths is None:
        splits = [s.astype(kind.np_dtype) for s in rows.splits]
        return ragged(Rows(splits, rows.uniform, rows.flat), kind)
    given = known_value(lengths)
    if given.dtype.kind == "f" and given.size:
        raise TypeError(f"Argument `tensor` (name: lengths) must be of type integer, not {lengths}")
    if given.ndim != 1:
        raise ValueError(f"Shape {given.shape} must have rank 1")
    if len(given) != len(rows.splits[-1]) - 1:
        flat = (len(rows.splits[-1]) - 1, *tensor.shape[ragged_rank:])
        raise ValueError(f"Shapes {flat} and {(len(given), *flat[1:])} are incompatible")
    limited = np.clip(given.astype(np.int64), 0, tensor._aval.shape[ragged_rank])
    return _cut(rows, len(rows.splits) - 1, limited, kind)


def _are_symbolic(*values: Any) -> bool:
    return any(isinstance(x, Tensor) and x._is_symbolic() for x in values)


def _cut(rows: Rows, level: int, lengths: np.ndarray, kind: Any) -> Any:
    """The rows along an axis cut to lengths."""
    starts = rows.splits[level][:-1]
    inner = select(rows, spans(starts, lengths), level + 1)
    splits = [*rows.splits[:level], splits_of_lengths(lengths), *inner.splits]
    uniform = [*rows.uniform[:level], None, *inner.uniform]
    return ragged(Rows(splits, uniform, inner.flat), kind)


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
        raise ValueError(f"rank(st_input) must be 2. It is {len(shape)}.")
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
            text = str(wanted).replace(" ", "")
            raise invalid(
                f"rt_input.shape and shape={text} are incompatible: rt_input.rank = {len(sizes)} "
                f"but shape.rank = {len(wanted)}",
                "RaggedTensorToTensor",
            )
        sizes = [n if w is None or w == -1 else w for n, w in zip(sizes, wanted)]
    if default_value is None:
        default = convert(b"" if x.dtype is dtypes.string else x.dtype.np_dtype.type(0), x.dtype)
    else:
        default = convert(default_value, x.dtype)
    depth = len(rows.splits) + 1
    inner = sizes[depth:]
    if default._aval.shape and default._aval.shape != tuple(inner):
        default = _broadcast_default(default, rows.flat, inner)
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


def _broadcast_default(default: Tensor, flat: Tensor, inner: list[int]) -> Tensor:
    """What rows are filled up with, as large as one of their elements."""
    have, want = default._aval.shape, flat._aval.shape
    said = f"default_value.shape={shown(have)} and rt_input.flat_values.shape={shown(want)}"
    if len(have) >= len(want):
        said += f" are incompatible: default_value.rank = {len(have)}"
        said += f" must be less than rt_input.flat_values.rank = {len(want)}"
        raise invalid(said, "RaggedTensorToTensor")
    for i in range(1, len(have) + 1):
        if have[-i] not in (1, want[-i]):
            said += f" are incompatible: default_value.shape[-{i}] = {have[-i]}"
            said += f" but rt_input.flat_values.shape[-{i}] = {want[-i]}"
            raise invalid(said, "RaggedTensorToTensor")
    return broadcast_to(default, inner)


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
    inner_axes = len(x.flat_values._aval.shape) - 1
    if not inner_axes and any(splits._is_symbolic() for splits in x.nested_row_splits):
        indices, sizes = _places_of(x)
        return SparseTensor(indices, x.flat_values, cast(concat(sizes, 0), dtypes.int64))
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


def _extent(splits: Any) -> Any:
    """How many rows there are, and the length of the longest, each a vector of one number."""
    lengths = splits[1:] - splits[:-1]
    count = jnp.asarray(lengths.shape[0], splits.dtype)
    return count[None], jnp.max(lengths, keepdims=True, initial=0)


_EXTENT = Op(_extent, "RaggedTensorToSparse", differentiable=False).bind()


def _places_of(x: RaggedTensor) -> tuple[Tensor, list[Tensor]]:
    """Where in the smallest whole the elements of rows are that are known at a call only, and the
    sizes of that."""
    sizes = list(apply(_EXTENT, (x.row_splits,)))
    others: list[Tensor] = []
    if isinstance(x.values, RaggedTensor):
        below, more = _places_of(x.values)
        first, others = below[:, 0], [below[:, 1:]]
        sizes += more[1:]
    else:
        first = range_of(shape_of(x.values, dtypes.int64)[0], dtype=dtypes.int64)
    row = gather(outer_row_ids(x), first)
    start = cast(gather(x.row_splits, row), dtypes.int64)
    columns = stack([cast(row, dtypes.int64), first - start], 1)
    return concat([columns, *others], 1), sizes


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
    for axis, what in ((outer_axis, "outer_axis"), (inner_axis, "inner_axis")):
        if not isinstance(axis, int):
            raise TypeError(f"{what} must be an int; got {type(axis).__name__}")
    low, high = axis_of(outer_axis, rank, "outer_axis"), axis_of(inner_axis, rank, "inner_axis")
    if low > high:
        raise ValueError(f"Expected outer_axis ({low}) to be less than inner_axis ({high})")
    if low == high:
        return x
    flat, at = x.flat_values, x.ragged_rank
    sizes = flat._aval.shape
    if low > at:
        merged = [*sizes[: low - at], -1, *sizes[high - at + 1 :]]
        return x.with_flat_values(reshape(flat, merged))
    if low == 0:  # no row is looked at
        if high > at:
            return reshape(flat, [-1, *sizes[high - at + 1 :]])
        return functools.reduce(lambda found, _: found.values, range(high), x)
    rows = rows_of(x, high)
    splits = list(rows.splits)
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

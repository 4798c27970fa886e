"""Choosing elements by condition, mask, partition or value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Shape, Size, broadcast, differ, fit, is_symbolic, product
from ..core.dtypes import as_dtype
from ..core.op import Op
from ..core.refuse import check_dtype_of, invalid, not_allowed, shown
from ..core.shapes import TensorShape
from ..values.bounds import not_empty, refuse_rows
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.effects import require
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arguments import (
    as_int,
    as_tensor,
    int_attribute,
    is_text,
    known_value,
    move_text,
    sketched,
    value_if_known,
)
from .comparison import equal, greater_equal, less, logical_and, not_equal
from .declare import matching
from .gather_scatter import gather_nd
from .joining import concat
from .reductions import reduce_prod
from .shapes import expand_dims, reshape, set_sizes


def _check_where(avals: tuple[Aval, ...]) -> None:
    condition, x, y = avals
    for i, aval, wanted in ((0, condition, dtypes.bool), (2, y, x.dtype)):
        check_dtype_of(aval, i, wanted, "SelectV2")
    if broadcast([aval.shape for aval in avals]) is None:
        raise invalid(
            f"condition {shown(condition.shape)}, then {shown(x.shape)}, and else {shown(y.shape)} "
            "must be broadcastable",
            "SelectV2",
        )


_WHERE = Op(jnp.where, "SelectV2", check=_check_where, broadcasts=True).bind()


@takes_composites
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`x` where `condition` is true, `y` elsewhere, all three broadcast.

    With `condition` alone: the indices [n, rank] (int64) of what is true or not zero in it.

    >>> import tape_compat as tf
    >>> tf.where([True, False], [1, 2], 0).numpy().tolist()
    [1, 0]
    >>> tf.where([0, 3, 4]).numpy().tolist()
    [[1], [2]]
    """
    if x is None and y is None:
        known = value_if_known(condition)
        return _true_places(condition) if known is None else _places_of(known)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if condition.__class__ is not Tensor:
        condition = convert(condition, hint=dtypes.bool)
    x, y = matching((x, y))
    if is_text(x) and is_text(y):
        return move_text(lambda p, q, c: where(c, p, q), x, y, by=(condition,))
    return apply(_WHERE, (condition, x, y))


def _places_of(known: np.ndarray) -> Tensor:
    return concrete(np.argwhere(known).astype(np.int64))


@by_host()
def _true_places(condition: Tensor) -> Tensor:
    sketch = sketched(condition)
    if sketch is not None:
        return sketch.tensor((None, condition.shape.rank), dtypes.int64)
    return _places_of(known_value(condition))


@by_host()
def _flat_places(mask: Tensor, size: Tensor | None = None) -> Tensor:
    """Where a mask is true, in its elements one after the other. size: how many there are in what
    is masked, if that may be another number; a place beyond is refused."""
    sketch = sketched(mask)
    if sketch is not None:
        return sketch.tensor((None,), dtypes.int32)
    places = _flat_places_of(known_value(mask))
    if size is not None:
        refuse_rows(places, int(known_value(size)), "GatherV2")
    return places


def _flat_places_of(known: np.ndarray) -> Tensor:
    return concrete(np.flatnonzero(known).astype(np.int32))


def _masked(x: Any, places: Any, axis: int, count: int) -> Any:
    """The elements at places along so many axes from `axis` on, taken as one."""
    one = product(x.shape[axis : axis + count])
    joined = x.reshape(*x.shape[:axis], one, *x.shape[axis + count :])
    if one.__class__ is int and not one:  # there is no place
        return joined
    return jnp.take(not_empty(joined, (axis,)), places, axis=axis, mode="clip")


_MASKED = Op(_masked, "GatherV2")


@takes_composites
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements or slices of `tensor` where `mask` is true.

    The axes of `mask` stand for those of `tensor` from `axis` (default 0), and become one.
    Raises: ValueError if `mask` is a scalar or its shape does not fit.

    >>> import tape_compat as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
    [1, 3]
    """
    x, known = as_tensor(tensor), value_if_known(mask)
    axis = 0 if axis is None else as_int(axis)
    sizes = as_tensor(mask)._aval.shape if known is None else known.shape
    if not sizes:
        raise ValueError("mask cannot be scalar.")
    have = x._aval.shape
    if axis < 0:
        axis += len(have)
    if not fit(have[axis : axis + len(sizes)], sizes):
        part, of_mask = x.shape[axis : axis + len(sizes)], TensorShape(sizes)
        raise ValueError(f"Shapes {part} and {of_mask} are incompatible")
    x = _of_mask(x, axis, sizes)
    if is_text(x):
        by = convert(mask) if known is None else known
        return move_text(lambda p, m: boolean_mask(p, m, axis), x, by=(by,))
    take = _MASKED.bind(axis=axis, count=len(sizes))
    if known is not None:
        return apply(take, (x, _flat_places_of(known)))
    part = x._aval.shape[axis : axis + len(sizes)]
    size = None if part == sizes else as_tensor(product(part))
    return apply(take, (x, _flat_places(mask, size)))


def _of_mask(x: Tensor, axis: int, mask: Sequence[Size]) -> Tensor:
    """`x`, whose axes from `axis` on are known to have the sizes of a mask."""
    have = x._aval.shape
    if have[axis : axis + len(mask)] == tuple(mask) or any(map(is_symbolic, mask)):
        return x
    return set_sizes(x, (*have[:axis], *mask, *have[axis + len(mask) :]))


@takes_composites
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The parts of `data` where `partitions` is 0, 1, ..., in order.

    Args:
      data: tensor [*partitions.shape, ...].
      partitions: integers in [0, num_partitions).
    Raises: InvalidArgumentError for other values or shapes.

    >>> import tape_compat as tf
    >>> [t.numpy().tolist() for t in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    num_partitions = int_attribute(num_partitions, "num_partitions")
    if num_partitions < 1:
        raise invalid(
            f"Value for attr 'num_partitions' of {num_partitions} must be at least minimum 1",
            "DynamicPartition",
        )
    x, known = as_tensor(data), value_if_known(partitions)
    if known is not None and known.size and known.dtype.kind not in "iu":
        raise TypeError(f"Cannot convert {known.tolist()} to EagerTensor of dtype int32")
    sizes = as_tensor(partitions)._aval.shape if known is None else known.shape
    have = x._aval.shape
    if not fit(have[: len(sizes)], sizes):
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = {shown(have)}, "
            f"partitions.shape = {shown(sizes)}",
            "DynamicPartition",
        )
    numbers: Any = as_tensor(partitions) if known is None else known
    if known is None:
        inside = logical_and(greater_equal(numbers, 0), less(numbers, num_partitions))
        require(inside, (numbers,), lambda _, x: str(_outside(x, num_partitions)))
    elif (error := _outside(known, num_partitions)) is not None:
        raise error
    if not sizes:
        x, numbers = reshape(x, (1, *have)), reshape(numbers, (1,))
    return [boolean_mask(x, equal(numbers, i)) for i in range(num_partitions)]


def _outside(partitions: np.ndarray, count: int) -> Exception | None:
    """What is wrong with numbers of partitions."""
    bad = np.argwhere((partitions < 0) | (partitions >= count))
    if not bad.size:
        return None
    at = tuple(bad[0])
    place = f"[{','.join(map(str, at))}]" if at else ""
    text = f"partitions{place} = {partitions[at]} is not in [0, {count})"
    return invalid(text, "DynamicPartition")


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """Rows put together: `data[m][i]` stands at `indices[m][i]`, the last one where several do.

    Args:
      indices: list of integer tensors.
      data: list of tensors [*indices[m].shape, ...].
    Returns: [1 + the largest index, ...]; zeros where no index points.
    Raises: InvalidArgumentError if a shape does not start with that of its indices, or the rest of
      it is not that of the others, and for negative indices; ValueError for lists of two lengths.

    >>> import tape_compat as tf
    >>> tf.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]).numpy().tolist()
    [1, 2, 3]
    """
    if len(indices) != len(data):
        raise ValueError(
            f"List argument 'data' to 'dynamic_stitch' Op with length {len(data)} must match "
            f"length {len(indices)} of argument 'indices'."
        )
    places, parts = [convert(i, hint=dtypes.int32) for i in indices], matching(list(data))
    for m, (at, part) in enumerate(zip(places, parts, strict=True)):
        sizes = at._aval.shape
        if not fit(part._aval.shape[: len(sizes)], sizes):
            raise invalid(
                f"data[{m}].shape = {shown(part._aval.shape)} does not start with "
                f"indices[{m}].shape = {shown(sizes)}",
                "DynamicStitch",
            )
    rest = _rows_stitched([at._aval.shape for at in places], [part._aval.shape for part in parts])
    rows = [(product(at._aval.shape), *rest) for at in places]
    whole = concat([reshape(p, shape) for p, shape in zip(parts, rows)], 0)
    flat = concat([reshape(at, (-1,)) for at in places], 0)
    known = value_if_known(flat)
    last = _last_places(flat) if known is None else _last_places_of(known)
    return gather_nd(whole, expand_dims(last, 1), bad_indices_policy="IGNORE")


def _rows_stitched(indices: Sequence[Shape], data: Sequence[Shape]) -> Shape:
    """The shape of a row, which all have."""
    rest, *others = [part[len(at) :] for at, part in zip(indices, data, strict=True)]
    for m, other in enumerate(others, 1):
        if len(other) != len(rest) or any(map(differ, other, rest)):
            raise invalid(
                f"Need data[0].shape[{len(indices[0])}:] = data[{m}].shape[{len(indices[m])}:], "
                f"got data[0].shape = {shown(data[0])}, data[{m}].shape = {shown(data[m])}, "
                f"indices[0].shape = {shown(indices[0])}, indices[{m}].shape = "
                f"{shown(indices[m])}",
                "DynamicStitch",
            )
    return rest


@by_host()
def _last_places(numbers: Tensor) -> Tensor:
    """For each number the last place where it stands; -1, which no row has, where it does not."""
    sketch = sketched(numbers)
    if sketch is not None:
        return sketch.tensor((None,), dtypes.int32)
    return _last_places_of(known_value(numbers))


def _last_places_of(known: np.ndarray) -> Tensor:
    if known.min(initial=0) < 0:
        raise invalid(f"indices[{int(np.argmin(known))}] is out of range", "DynamicStitch")
    last = np.full(int(known.max()) + 1 if known.size else 0, -1, np.int32)
    last[known] = np.arange(known.size, dtype=np.int32)
    return concrete(last)


class Unique(NamedTuple):
    """Distinct values, and for each element the place of its value among them."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """Distinct values, each element's place among them, and how often each occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


@by_host()
def unique_with_counts(
    x: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """The distinct values of a vector in order of appearance, positions and counts.

    Raises InvalidArgumentError if it is not a vector.

    >>> import tape_compat as tf
    >>> [t.numpy().tolist() for t in tf.unique_with_counts([3, 1, 3])]
    [[3, 1], [0, 1, 0], [2, 1]]
    """
    if as_dtype(out_idx) not in (dtypes.int32, dtypes.int64):
        raise not_allowed(as_dtype(out_idx), "int32, int64", "UniqueWithCounts", "out_idx")
    sketch = sketched(x)
    if sketch is not None and len(x._aval.shape) == 1:
        distinct, kind = (sketch.size(),), as_dtype(out_idx)
        return UniqueWithCounts(
            sketch.tensor(distinct, x.dtype),
            sketch.tensor(x._aval.shape, kind),
            sketch.tensor(distinct, kind),
        )
    known = known_value(x)
    if known.ndim != 1:
        raise invalid("unique expects a 1D vector.", "Unique")
    first, places = _in_order_of_appearance(known)
    dtype, values = as_dtype(out_idx).np_dtype, known[first]
    kind = Aval.of(values.shape, dtypes.string) if known.dtype == object else None
    return UniqueWithCounts(
        concrete(values, kind),
        concrete(places.astype(dtype)),
        concrete(np.bincount(places, minlength=first.size).astype(dtype)),
    )


def _in_order_of_appearance(known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct value of a vector stands first, in that order, and for each element the
    place of its value among them."""
    integers = known.dtype.kind in "iu" and known.size
    if integers and int(known.max()) - int(known.min()) <= 4 * known.size:
        # A table of the values in question is ten times as fast as to sort them.
        numbers = known.astype(np.int64) - known.min().astype(np.int64)
        places = np.full(int(numbers.max()) + 1, known.size)
        places[numbers[::-1]] = np.arange(known.size)[::-1]  # the first one is written last
        first = np.sort(places[places < known.size])
        places[numbers[first]] = np.arange(first.size)
        return first, places[numbers]
    _, first, inverse = np.unique(known, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return first[order], places[inverse]


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct values of a vector in order of appearance, and each element's place among them.

    The values of `x` must be known. Raises InvalidArgumentError if it is not a vector.

    >>> import tape_compat as tf
    >>> [t.numpy().tolist() for t in tf.unique([3, 1, 3])]
    [[3, 1], [0, 1, 0]]
    """
    return Unique(*unique_with_counts(x, out_idx)[:2])


def _unravel_index(indices: Any, dims: Any) -> Any:
    lead = (-1,) + (1,) * indices.ndim
    strides = jnp.flip(jnp.cumprod(jnp.flip(jnp.concatenate([dims[1:], jnp.ones_like(dims[:1])]))))
    strides = strides.astype(dims.dtype)
    return lax.rem(
        lax.div(*jnp.broadcast_arrays(indices, strides.reshape(lead))),
        jnp.broadcast_to(dims.reshape(lead), (dims.size, *indices.shape)),
    )


def _check_unravel_index(avals: tuple[Aval, ...]) -> None:
    indices, sizes = avals
    if indices.dtype not in (dtypes.int32, dtypes.int64):
        raise not_allowed(indices.dtype, "int32, int64", "UnravelIndex", "Tidx")
    if len(indices.shape) > 1:
        text = f'The indices can only be scalar or vector, got "{shown(indices.shape)}"'
        raise invalid(text, "UnravelIndex")
    if len(sizes.shape) != 1:
        raise invalid(f'The indices can only be 1-D, got "{shown(sizes.shape)}"', "UnravelIndex")


_UNRAVEL = Op(
    _unravel_index, "UnravelIndex", check=_check_unravel_index, differentiable=False
).bind()


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Where elements stand in an array of shape `dims` [rank], by their numbers `indices` in the
    flat array, a scalar or [n]: a tensor [rank] or [rank, n] of their dtype, int32 or int64.

    Raises: InvalidArgumentError for a number beyond the array, or a size of 0.

    >>> import tape_compat as tf
    >>> tf.unravel_index([5, 1], [2, 3]).numpy().tolist()
    [[1, 0], [2, 1]]
    """
    indices, dims = matching((indices, dims))
    found = apply(_UNRAVEL, (indices, dims))
    require(not_equal(dims, 0), (dims,), _size_of_zero)
    require(less(indices, reduce_prod(dims)), (indices,), _out_of_bound)
    return found


def _size_of_zero(_: Any, dims: Any) -> str:
    place = int(np.argmin(dims != 0))
    return (
        f"Input dims cannot contain a dim of zero, but dims contains zero at index {place} "
        "[Op:UnravelIndex]"
    )


def _out_of_bound(*_: Any) -> str:
    return "index is out of bound as with dims [Op:UnravelIndex]"

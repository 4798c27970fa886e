"""What plain ops do with ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.ragged import RaggedTensor, splits_dtype
from ..composites.row_partition import host, splits_of_lengths
from ..core import dtypes
from ..core.errors import InvalidArgumentError, user_location
from ..values import dispatch
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from . import (
    activations,
    arithmetic,
    casting,
    comparison,
    counting,
    creation,
    elementwise,
    gather_scatter,
    reductions,
    segments,
    selection,
    shapes,
)
from .arguments import known_value
from .dynamic_shape import DynamicRaggedShape
from .joining import split
from .ragged_conversions import coordinates
from .ragged_creation import same_rows
from .ragged_gather import gather
from .ragged_places import are_unknown, row_ids
from .ragged_rows import (
    Rows,
    axis_of,
    concat,
    expand_dims,
    getitem,
    ragged,
    reverse,
    rows_of,
    spans,
    stack,
    tile,
)
from .sparse_arithmetic import bincount
from .sparse_layout import taken, to_dense

# ---------------------------------------------------------------------------------------------
# Elementwise, with broadcasting.


def _is_scalar(x: Any) -> bool:
    if isinstance(x, RaggedTensor):
        return False
    return isinstance(x, (bool, int, float, complex, str, bytes)) or not len(np.shape(x))


def _elementwise(op: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    named = {k: x for k, x in kwargs.items() if isinstance(x, (RaggedTensor, Tensor))}
    if named:
        return _elementwise(_by_name(op, len(args), [*named]), [*args, *named.values()],
                            {k: x for k, x in kwargs.items() if k not in named})  # fmt: skip
    operands = [x for x in args if isinstance(x, RaggedTensor)]
    if not operands:
        return NotImplemented
    splits_dtype(*operands)
    first = operands[0]
    plain = [x if isinstance(x, RaggedTensor) or x is None else _operand(x, first) for x in args]
    each = [_by_value(x, first) for x in plain]
    if any(x is None and given is not None for x, given in zip(each, plain, strict=True)):
        plain = broadcast(plain)
        operands = [x for x in plain if isinstance(x, RaggedTensor)]
        first = operands[0]
    else:
        plain = each
    flat = [x.flat_values if isinstance(x, RaggedTensor) else x for x in plain]
    return first.with_flat_values(op(*flat, **kwargs))


def _by_name(op: Callable[..., Any], count: int, names: list[str]) -> Callable[..., Any]:
    """An op whose arguments after the first `count` are those of these names."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return op(*args[:count], **dict(zip(names, args[count:])), **kwargs)

    return call


def _operand(x: Any, like: RaggedTensor) -> Any:
    if isinstance(x, (bool, int, float, complex)):
        return x
    return convert(x, hint=like.dtype)


def _by_value(x: Any, like: RaggedTensor) -> Any:
    """An operand as it meets each innermost value; None if it is to be broadcast to the rows."""
    if x is None or x is like or _is_scalar(x):
        return x
    if isinstance(x, RaggedTensor):
        return x if same_form(x, like) else None
    outer = len(x.shape) - len(like.flat_values.shape) + 1
    if outer <= 0:
        return x
    fits = len(x.shape) <= len(like.shape) and x._aval.shape[:outer] == (1,) * outer
    return shapes.squeeze(x, list(range(outer))) if fits else None


def same_form(x: Any, y: RaggedTensor) -> bool:
    """Whether two ragged tensors are cut alike, so that their values stand side by side."""
    return (
        isinstance(x, RaggedTensor)
        and x.ragged_rank == y.ragged_rank
        and len(x.shape) == len(y.shape)
        and same_rows(x, y)
    )


def broadcast(values: Sequence[Any]) -> list[Any]:
    """Ragged tensors and others, all but scalars broadcast to the same rows."""
    full = [x for x in values if not _is_scalar(x)]
    rank = max(len(x.shape) for x in full)
    depth = 0
    padded = []
    for x in full:
        if isinstance(x, RaggedTensor):
            depth = max(depth, x.ragged_rank + rank - len(x.shape))
        for _ in range(rank - len(x.shape)):
            x = expand_dims(x, 0)
        padded.append(x)
    forms = iter(_together([rows_of(x, depth) for x in padded], splits_dtype(*full)))
    return [x if _is_scalar(x) else next(forms) for x in values]


def _together(forms: list[Rows], kind: Any) -> list[Any]:
    counts = [f.height for f in forms]
    count = max(counts) if 0 not in counts else 0
    for n in counts:
        if n not in (1, count):
            raise _mismatch(n, count)
    index = [np.zeros(count, np.int64) if n == 1 else np.arange(count) for n in counts]
    splits, uniform = [], []
    for level in range(len(forms[0].splits)):
        lengths, length = _lengths(forms, index, level)
        splits.append(splits_of_lengths(lengths))
        uniform.append(length)
        for i, form in enumerate(forms):
            starts = form.splits[level][index[i]]
            own = form.splits[level][index[i] + 1] - starts
            step = 0 if form.uniform[level] == 1 else 1
            if step and not np.array_equal(own, lengths):
                raise _mismatch(own.tolist(), lengths.tolist())
            index[i] = spans(starts, lengths, step)
    return [ragged(Rows(splits, uniform, taken(f.flat, i)), kind) for f, i in zip(forms, index)]


def _lengths(
    forms: list[Rows], index: list[np.ndarray], level: int
) -> tuple[np.ndarray, int | None]:
    """The lengths of the rows along an axis, and the one that they all have."""
    for form, i in zip(forms, index):
        if form.uniform[level] is None:
            return np.diff(form.splits[level])[i], None
    given = [f.uniform[level] or 0 for f in forms]
    others = [n for n in given if n != 1]
    longest = max(others) if others else 1
    return np.full(len(index[0]), longest, np.int64), longest


def _mismatch(x: Any, y: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"Condition x == y did not hold.\nx: {x}, y: {y} (at {user_location()})"
    )


dispatch.define_elementwise(RaggedTensor, _elementwise)


# ---------------------------------------------------------------------------------------------
# Reductions.


def _without_axis(rows: Rows, axis: int) -> tuple[np.ndarray, Rows]:
    """Which element of the result each innermost value is of, and the form of the result, whose
    values are missing."""
    levels = [np.arange(rows.height)[:, None]]
    for splits in rows.splits:
        lengths = np.diff(splits)
        within = spans(np.zeros(len(lengths), np.int64), lengths)
        levels.append(np.concatenate([np.repeat(levels[-1], lengths, 0), within[:, None]], 1))
    kept: list[np.ndarray] = []
    place = np.zeros(0, np.int64)
    for level, places in enumerate(levels):
        if level < axis:
            kept.append(places)
            continue
        if level == axis and axis:
            continue
        rest = np.delete(places, axis, 1)
        if not rest.shape[1]:
            continue
        found, place = np.unique(rest, axis=0, return_inverse=True)
        kept.append(found)
    if axis == len(rows.splits):
        place = np.repeat(np.arange(len(levels[-2])), np.diff(rows.splits[-1]))
    splits = []
    for above, below in zip(kept, kept[1:]):
        index = {tuple(row): i for i, row in enumerate(above.tolist())}
        parents = np.array([index[tuple(row[:-1])] for row in below.tolist()], np.int64)
        splits.append(splits_of_lengths(np.bincount(parents, minlength=len(above))))
    uniform: list[int | None] = [u for i, u in enumerate(rows.uniform) if i != axis - 1]
    uniform = uniform[: len(splits)]
    count = len(kept[-1]) if kept else 0
    uniform += [None] * (len(splits) - len(uniform))
    if axis == 0:
        uniform = [None] * len(splits)
    return place.ravel(), Rows(splits, uniform, concrete(np.zeros(count)))


_Segment = Callable[[Tensor, Tensor, int], Tensor]


def _reduced(x: Any, axis: int, segment: _Segment, dense: Callable[..., Any]) -> Any:
    if not isinstance(x, RaggedTensor):
        return dense(x, axis)
    if axis > x.ragged_rank:
        return x.with_flat_values(dense(x.flat_values, axis - x.ragged_rank))
    if axis == x.ragged_rank and are_unknown(x):
        *outer, inner = x._partitions
        found: Any = segment(x.flat_values, row_ids(x), inner._splits._aval.shape[0] - 1)
        for partition in reversed(outer):
            found = RaggedTensor(found, partition, internal=True)
        return found
    place, form = _without_axis(rows_of(x), axis)
    count = form.flat._aval.shape[0]
    flat = segment(x.flat_values, concrete(place.astype(np.int64)), count)
    return ragged(Rows(form.splits, form.uniform, flat), splits_dtype(x))


def _axes(x: RaggedTensor, axis: Any) -> list[int] | None:
    if axis is None:
        return None
    rank = len(x.shape)
    given = np.atleast_1d(known_value(axis)).tolist()
    return sorted([axis_of(i, rank) for i in given], reverse=True)


def reduction(segment: _Segment, dense: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of ragged tensors, from one of segments and one of tensors."""

    def form(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
        axes = _axes(input_tensor, axis)
        if axes is None:
            found = dense(input_tensor.flat_values)
            return with_axes(found, range(len(input_tensor.shape))) if keepdims else found
        found = input_tensor
        for i in axes:  # one that is named twice is taken away twice, as in TensorFlow
            found = _reduced(found, axis_of(i, len(found.shape)), segment, dense)
            found = expand_dims(found, i) if keepdims else found
        return found

    return form


def with_axes(found: Any, axes: Any) -> Any:
    """With axes of one element put in at these places, one after the other."""
    for i in axes:
        found = expand_dims(found, i)
    return found


def _logical(segment: _Segment, flip: bool) -> _Segment:
    def call(values: Tensor, ids: Tensor, count: int) -> Tensor:
        chosen = comparison.logical_not(values) if flip else values
        total = segment(casting.cast(chosen, dtypes.int32), ids, count)
        return comparison.equal(total, 0) if flip else comparison.greater(total, 0)

    return call


def _of_truths(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """The reduction `reduce` of booleans, of numbers too: whether they are other than 0."""

    def form(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
        truths = casting.cast(input_tensor.flat_values, dtypes.bool)
        return reduce(input_tensor.with_flat_values(truths), axis, keepdims)

    return form


_sum = reduction(segments.unsorted_segment_sum, reductions.reduce_sum)


def mean_of(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    total = _sum(input_tensor, axis, keepdims)
    ones = input_tensor.with_flat_values(creation.ones_like(input_tensor.flat_values))
    return arithmetic.divide(total, _sum(ones, axis, keepdims))


def _variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    if input_tensor.dtype.is_complex:
        raise ValueError("reduce_variance is not supported for RaggedTensors with complex dtypes.")
    squares = mean_of(arithmetic.multiply(input_tensor, input_tensor), axis, keepdims)
    mean = mean_of(input_tensor, axis, keepdims)
    return arithmetic.maximum(arithmetic.subtract(squares, arithmetic.multiply(mean, mean)), 0.0)


def _std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    return elementwise.sqrt(_variance(input_tensor, axis, keepdims))


dispatch.define(
    RaggedTensor,
    reduce_sum=_sum,
    reduce_mean=mean_of,
    reduce_variance=_variance,
    reduce_std=_std,
    reduce_prod=reduction(segments.unsorted_segment_prod, reductions.reduce_prod),
    reduce_max=reduction(segments.unsorted_segment_max, reductions.reduce_max),
    reduce_min=reduction(segments.unsorted_segment_min, reductions.reduce_min),
    reduce_any=_of_truths(
        reduction(_logical(segments.unsorted_segment_sum, False), reductions.reduce_any)
    ),
    reduce_all=_of_truths(
        reduction(_logical(segments.unsorted_segment_sum, True), reductions.reduce_all)
    ),
)


# ---------------------------------------------------------------------------------------------
# Choosing and counting.


def _where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        rows = rows_of(condition)
        places = coordinates(rows)
        flat = known_value(rows.flat)
        inner = np.argwhere(flat)
        return concrete(np.concatenate([places[inner[:, 0]], inner[:, 1:]], 1).astype(np.int64))
    if not isinstance(condition, RaggedTensor):
        condition = convert(condition, dtypes.bool)
    hint = next((v.dtype for v in (x, y) if isinstance(v, (RaggedTensor, Tensor))), None)
    x, y = (v if isinstance(v, RaggedTensor) else convert(v, hint=hint) for v in (x, y))
    return _elementwise(selection.where, (condition, x, y), {})


def _size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    return shapes.size(input.flat_values, out_type)


def _shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    return DynamicRaggedShape.from_tensor(input, out_type)


def _rank(input: Any, name: str | None = None) -> Tensor:
    return convert(len(input.shape))


def _one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    if axis is not None and axis != -1:
        along = axis_of(axis, len(indices.shape) + 1)
        if along <= indices.ragged_rank:
            raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank")
        axis = along - indices.ragged_rank
    return indices.with_flat_values(
        creation.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype)
    )


def _cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    return x.with_flat_values(casting.cast(x.flat_values, dtype))


def _zeros_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    return input.with_flat_values(creation.zeros_like(input.flat_values, dtype))


def _ones_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    return input.with_flat_values(creation.ones_like(input.flat_values, dtype))


def _identity(input: Any, name: str | None = None) -> Any:
    return input.with_flat_values(shapes.identity(input.flat_values))


def _squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted({axis_of(i, len(input.shape)) for i in np.atleast_1d(known_value(axis)).tolist()})
    found = input
    for i in reversed(axes):
        found = _squeezed(found, i)
    return found


def _squeezed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return shapes.squeeze(x, [axis])
    if axis > 1:
        return x.with_values(_squeezed(x.values, axis - 1))
    lengths = [x._partition.static_nrows] if not axis else known_value(x.row_lengths()).tolist()
    if any(n != 1 for n in lengths):
        raise InvalidArgumentError(
            None,
            None,
            "Can not squeeze dim["
            f"{axis}], expected a dimension of 1, got {lengths} (at {user_location()})",
        )
    return x.values


def _split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split"
) -> list[Any]:
    along = axis_of(axis, len(value.shape))
    if along > value.ragged_rank:
        flats = split(value.flat_values, num_or_size_splits, along - value.ragged_rank)
        return [value.with_flat_values(flat) for flat in flats]
    if along:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` "
            f"{along}."
        )
    count = rows_of(value).height
    given = known_value(num_or_size_splits)
    if given.ndim:
        sizes = given.tolist()
    else:
        if count % int(given):
            raise InvalidArgumentError(
                None,
                None,
                "Cannot exactly split the `axis` dimension of `value` with the given "
                f"`num_or_size_split`: {count} rows, {int(given)} parts (at {user_location()})",
            )
        sizes = [count // int(given)] * int(given)
    ends = np.cumsum([0, *sizes])
    return [getitem(value, slice(int(a), int(b))) for a, b in zip(ends, ends[1:])]


def _softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    along = axis_of(-1 if axis is None else axis, len(logits.shape))
    if along > logits.ragged_rank:
        return logits.with_flat_values(
            elementwise.softmax(logits.flat_values, along - logits.ragged_rank)
        )
    if along != logits.ragged_rank:
        raise NotImplementedError("tf.nn.softmax along an outer axis of a ragged tensor")
    places = row_ids(logits) if are_unknown(logits) else concrete(np.repeat(*_innermost(logits)))
    count = logits._partitions[-1]._splits._aval.shape[0] - 1
    flat = logits.flat_values
    top = gather_scatter.gather(segments.unsorted_segment_max(flat, places, count), places)
    powers = elementwise.exp(arithmetic.subtract(flat, top))
    total = gather_scatter.gather(segments.unsorted_segment_sum(powers, places, count), places)
    return logits.with_flat_values(arithmetic.divide(powers, total))


def _innermost(x: RaggedTensor) -> tuple[np.ndarray, np.ndarray]:
    """The innermost rows' numbers and lengths."""
    lengths = np.diff(host(x.nested_row_splits[-1])).astype(np.int64)
    return np.arange(len(lengths)), lengths


def _bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    if axis is None or axis == 0:
        flat = None if weights is None else weights.flat_values
        return counting.bincount(
            arr.flat_values, flat, minlength, maxlength, dtype, binary_output=binary_output
        )
    if arr.flat_values._is_symbolic() and maxlength is not None and minlength == maxlength:
        filled = arr.to_tensor(casting.cast(maxlength, arr.dtype))  # which is not counted
        given = None if weights is None else weights.to_tensor()
        return counting.bincount(
            filled, given, minlength, maxlength, dtype, name, axis, binary_output
        )
    found = bincount(arr, weights, axis, minlength, maxlength, binary_output)
    return to_dense(found if weights is not None else _cast_values(found, dtype))


def _cast_values(found: Any, dtype: Any) -> Any:
    return found.with_values(casting.cast(found.values, dtype))


def _map(op: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _elementwise(op, args, kwargs)


_ROWS = (
    *(activations.relu, activations.relu6, activations.elu, activations.selu),
    *(comparison.logical_and, comparison.logical_or, comparison.logical_xor),
    *(comparison.logical_not, elementwise.softplus),
)
dispatch.define(RaggedTensor, **{op.__name__: _map(op) for op in _ROWS})


dispatch.define(
    RaggedTensor,
    bincount=_bincount,
    cast=_cast,
    concat=concat,
    expand_dims=expand_dims,
    gather=gather,
    identity=_identity,
    one_hot=_one_hot,
    ones_like=_ones_like,
    rank=_rank,
    reverse=reverse,
    shape=_shape,
    size=_size,
    softmax=_softmax,
    split=_split,
    squeeze=_squeeze,
    stack=stack,
    tile=tile,
    where=_where,
    zeros_like=_zeros_like,
)

"""Slices by functions: strided_slice and slice."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any

from jax import lax

from ..core.avals import Aval
from ..core.dimensions import Shape, is_unknown, less
from ..core.errors import NeedsValue
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.bounds import present_value
from ..values.host_steps import without_steps
from ..values.record import apply
from ..values.tensor import Tensor, mark_slice
from ..values.variable import Variable
from .arguments import as_tensor, cast_as_default, dims, is_scalar, is_text, move_text
from .indexing import at, spec_of


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin[0]:end[0]:strides[0], ...]`; bit i of a mask changes what entry i means.

    Args:
      begin, end, strides: integer vectors of equal length; strides are 1 by default.
      begin_mask, end_mask: the whole range on that side.
      ellipsis_mask, new_axis_mask, shrink_axis_mask: an `...`, a new axis, a single index.
      var: the variable that `input_` is read from; the result's `assign` puts values into it.

    >>> import tape_compat as tf
    >>> tf.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy().tolist()
    [1, 3]
    """
    if is_scalar(begin) and is_scalar(end):
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes [], [], "
            "and [] instead.",
            "StridedSlice",
        )
    try:
        with without_steps():
            starts, stops = (dims(x, "Index", "StridedSlice") for x in (begin, end))
    except NeedsValue:
        starts, stops = _scalars(begin), _scalars(end)
    steps = (1,) * len(starts) if strides is None else dims(strides)
    counts = [len(starts), len(stops), len(steps)]
    if len(set(counts)) > 1:
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"[{counts[0]}], [{counts[1]}], and [{counts[2]}] instead.",
            "StridedSlice",
        )
    spec: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            spec.append(Ellipsis)
        elif new_axis_mask & bit:
            spec.append(None)
        elif shrink_axis_mask & bit:
            if isinstance(step, int) and step <= 0:
                raise invalid("only stride 1 allowed on non-range indexing.", "StridedSlice")
            spec.append(0 if begin_mask & bit else start)
        else:
            spec.append(
                builtins.slice(
                    None if begin_mask & bit else start, None if end_mask & bit else stop, step
                )
            )
    x = as_tensor(input_)
    found, places = spec_of(tuple(spec), x)
    part = at(x, found, places)
    if var is not None:
        mark_slice(part, var, found, places)
    return part


def _scalars(vector: Any) -> tuple[Any, ...]:
    """The entries of a vector of which some are not known."""
    if isinstance(vector, (list, tuple)):
        return tuple(vector)
    vector = as_tensor(vector)
    return tuple([vector[i] for i in range(vector._aval.shape[0])])


def _check_slice(
    have: tuple[int, ...], count: tuple[int, ...], begin: Sequence[int], size: tuple[int, ...]
) -> None:
    """`count` is the shape of begin, and `begin` its numbers, zeros where they are not known."""
    if count != (len(have),) or len(size) != len(have):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {len(have)}, but got "
            f"shapes {shown(count)} and {shown((len(size),))} instead.",
            "Slice",
        )
    for i, (n, start) in enumerate(zip(have, begin)):
        if less(start, 0) or less(n, start):
            raise invalid(f"Expected begin[{i}] in [0, {n}], but got {start}", "Slice")
        if size[i] != -1 and (less(size[i], 0) or less(n - start, size[i])):
            raise invalid(f"Expected size[{i}] in [0, {n - start}], but got {size[i]}", "Slice")


_SLICE = Op(
    lambda x, begin, size: lax.dynamic_slice(x, [*begin], size),
    "Slice",
    check=lambda avals, size: _check_slice(avals[0].shape, avals[1].shape, [0] * len(size), size),
)


def _slice_shape(have: Shape, begin: Shape, size: Shape) -> Shape:
    return tuple([n - b if s == -1 else s for b, s, n in zip(begin, size, have, strict=True)])


#: A slice at places that are given, of what has an unknown size or is to have one.
_SLICE_UNKNOWN = Op(
    lambda x, begin, size: lax.dynamic_slice(x, begin, _slice_shape(x.shape, begin, size)),
    "Slice",
    check=lambda avals, begin, size: _check_slice(avals[0].shape, (len(begin),), begin, size),
    shapes=lambda avals, begin, size: Aval.of(
        _slice_shape(avals[0].shape, begin, size), avals[0].dtype
    ),
    of_sizes=lambda x, begin, size: x[
        tuple(
            builtins.slice(b, b + n)
            for b, n in zip(begin, _slice_shape(x.shape, begin, size), strict=True)
        )
    ],
)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of `input_` that starts at `begin` and has `size`; -1 there: all that is left.

    `begin` may be a tensor that is pending, if no size is -1.
    Raises: InvalidArgumentError if the part does not lie inside.

    >>> import tape_compat as tf
    >>> tf.slice([1, 2, 3, 4], [1], [2]).numpy().tolist()
    [2, 3]
    """
    if is_scalar(begin) or is_scalar(size):
        found = [shown(as_tensor(x)._aval.shape) for x in (begin, size)]
        raise invalid(
            "Expected begin and size arguments to be 1-D tensors of size "
            f"{len(as_tensor(input_)._aval.shape)}, but got shapes {found[0]} and {found[1]} "
            "instead.",
            "Slice",
        )
    if not isinstance(begin, (Iterable, Variable)):
        begin = dims(begin, "Index", "Slice")
    x, extent = as_tensor(input_), dims(cast_as_default(size), "Index", "Slice")
    if is_text(x):
        return move_text(lambda p, b: slice(p, b, size), x, by=(begin,))
    fixed = not isinstance(begin, (Tensor, Variable)) and not any(
        isinstance(b, (Tensor, Variable)) for b in begin
    )
    have = x._aval.shape
    if fixed or -1 in extent:
        first = dims(begin, "Index", "Slice")
        if is_unknown((*have, *first, *extent)):
            return apply(_SLICE_UNKNOWN.bind(begin=first, size=extent), (x,))
        _check_slice(have, (len(first),), first, extent)
        ends = [n if s == -1 else b + s for b, s, n in zip(first, extent, have)]
        return at(x, tuple((b, end, 1) for b, end in zip(first, ends)), ())
    start = as_tensor(begin)
    known = present_value(start)
    if known is not None:
        first = dims(known)
        _check_slice(have, (len(first),), first, extent)
    return apply(_SLICE.bind(size=extent), (x, start))


_DYNAMIC_SLICE = Op(
    lambda x, *starts, size: lax.dynamic_slice(x, starts, size, allow_negative_indices=False),
    "XlaDynamicSlice",
    shapes=lambda avals, size: Aval.of(size, avals[0].dtype),
)


def dynamic_slice(x: Any, starts: Any, sizes: Any) -> Tensor:
    """The part of `x` of `sizes` from `starts` on, which are moved so that it fits.

    Args:
      x: a tensor.
      starts: an integer vector, the place of the first element.
      sizes: as many integers, none larger than `x` is there.

    Raises: InvalidArgumentError if there are not as many starts or sizes as `x` has dimensions, or
      if a size is negative or larger than that of `x`.

    >>> from tape_compat._src.ops.slicing import dynamic_slice
    >>> dynamic_slice([1, 2, 3, 4], [3], [2]).numpy().tolist()
    [3, 4]
    """
    x, places, extent = as_tensor(x), as_tensor(starts), dims(sizes)
    if places.shape.as_list() not in ([x.ndim], [None]) or len(extent) != x.ndim:
        raise invalid(
            f"a start and a size are needed for each of the {x.ndim} dimensions, not starts of "
            f"shape {places.shape} and sizes {shown(sizes)}",
            "XlaDynamicSlice",
        )
    for n, have in zip(extent, x._aval.shape):
        if not (is_unknown((n, have)) or 0 <= n <= have):
            raise invalid(f"sizes {shown(sizes)}: {n} of {have} elements", "XlaDynamicSlice")
    return apply(_DYNAMIC_SLICE.bind(size=extent), (x, *[places[i] for i in range(x.ndim)]))


def _update_slice(x: Any, updates: Any, *starts: Any) -> Any:
    return lax.dynamic_update_slice(x, updates, starts, allow_negative_indices=False)


_UPDATE_SLICE = Op(_update_slice, "XlaDynamicUpdateSlice")


def dynamic_update_slice(input: Any, update: Any, indices: Any) -> Tensor:
    """`input` with `update` in it from `indices` on, which are moved so that it fits.

    Args:
      input: a tensor. update: a tensor of its dtype and rank, and no larger.
      indices: an integer vector, the place of the first element of `update`.

    >>> from tape_compat._src.ops.slicing import dynamic_update_slice
    >>> dynamic_update_slice([1, 2, 3, 4], [7, 8], [1]).numpy().tolist()
    [1, 7, 8, 4]
    """
    x = as_tensor(input)
    value = as_tensor(update)
    places = as_tensor(indices)
    return apply(_UPDATE_SLICE.bind(), (x, value, *[places[i] for i in range(x.ndim)]))

"""Reversing, rolling, sorting, and searching in what is sorted."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import differ, is_unknown, less
from ..core.dtypes import DType, as_dtype, from_numpy
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.bounds import along, present_value
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import as_int, as_tensor, dims, is_text, known_value, move_text
from .declare import allowed, check_same_dtype
from .order_kernel import order
from .shapes import identity, reshape


def _check_reverse(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> None:
    n = len(avals[0].shape)
    seen = set()
    for i, d in enumerate(axis):
        if not -n <= d < n:
            raise invalid(f"'axis'[{i}] = {d} is out of valid range [0, {n - 1}", "ReverseV2")
        if d % n in seen:
            raise invalid(f"axis {d % n} specified more than once.", "ReverseV2")
        seen.add(d % n)


_REVERSE = Op(
    lambda x, axis: lax.rev(x, tuple(d % x.ndim for d in axis)), "ReverseV2", check=_check_reverse
)


@takes_composites
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` reversed along the axes of the list `axis`.

    >>> import tape_compat as tf
    >>> tf.reverse([1, 2, 3], [0]).numpy().tolist()
    [3, 2, 1]
    """
    x = as_tensor(tensor)
    known = known_value(axis)
    if known.dtype.kind not in "iub" and known.size:
        raise not_allowed(from_numpy(known.dtype), "int32, int64", "ReverseV2", "Tidx")
    if not x._aval.shape:
        return identity(x)
    if known.ndim != 1:
        raise invalid(f"'dims' must be 1-dimension, not {known.ndim}", "ReverseV2")
    axes = tuple(known.astype(np.int64).tolist())
    if is_text(x):
        return move_text(lambda p: reverse(p, axes), x)
    return apply(_REVERSE.bind(axis=axes), (x,))


def _reverse_sequence(x: Any, lengths: Any, axis: int, batch_axis: int) -> Any:
    rows, lengths = jnp.moveaxis(x, (batch_axis, axis), (0, 1)), lengths[:, None]
    place = jnp.arange(rows.shape[1], dtype=lengths.dtype)
    place = jnp.where(place < lengths, lengths - 1 - place, place)
    place = place.reshape(*place.shape, *[1] * (rows.ndim - 2))
    return jnp.moveaxis(jnp.take_along_axis(rows, place, 1), (0, 1), (batch_axis, axis))


def _check_reverse_sequence(avals: tuple[Aval, ...], axis: int, batch_axis: int) -> None:
    have, lengths = (aval.shape for aval in avals)
    kernel = "ReverseSequence"
    if len(lengths) != 1:
        raise invalid(f"seq_lengths must be 1-dim, not {len(lengths)}", kernel)
    if axis % max(len(have), 1) == batch_axis % max(len(have), 1):
        raise invalid(f"batch_dim == seq_dim == {axis}", kernel)
    for which, d in (("seq_dim", axis), ("batch_dim", batch_axis)):
        if not -len(have) <= d < len(have):
            raise invalid(f"{which} must be < input rank ( {d} vs. {len(have)})", kernel)
    if lengths[0] != have[batch_axis]:
        raise invalid(
            f"Length of seq_lengths != input.dims({batch_axis}), ({lengths[0]} vs. "
            f"{have[batch_axis]})",
            kernel,
        )


_REVERSE_SEQUENCE = Op(_reverse_sequence, "ReverseSequence", check=_check_reverse_sequence)


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` places of `seq_axis` reversed in each batch i.

    Args:
      seq_lengths: integer vector, one for each place along `batch_axis` (default 0).
    Raises: InvalidArgumentError for known lengths below 0 or above the size of `seq_axis`.

    >>> import tape_compat as tf
    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    closure = _REVERSE_SEQUENCE.bind(
        axis=as_int(seq_axis), batch_axis=0 if batch_axis is None else as_int(batch_axis)
    )
    x, lengths = as_tensor(input), convert(seq_lengths, hint=dtypes.int32)
    if is_text(x):
        return move_text(
            lambda p, n: reverse_sequence(p, n, seq_axis, batch_axis), x, by=(lengths,)
        )
    found, known = apply(closure, (x, lengths)), present_value(lengths)
    if known is not None:
        most = x._aval.shape[closure.attributes["axis"]]
        for i, n in enumerate(known.tolist()):
            if n < 0 or less(most, n):
                axis = closure.attributes["axis"]
                raise invalid(
                    f"seq_lens({i}) {'< 0' if n < 0 else f'> input.dims({axis})'}", closure.name
                )
    return found


def _check_roll(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> None:
    n = len(avals[0].shape)
    if not n:
        raise invalid("input must be 1-D or higher", "Roll")
    for d in axis:
        if not -n <= d < n:
            raise invalid(f"axis {d + n if d < 0 else d} is out of range", "Roll")


_ROLL = Op(
    lambda x, shift, axis: jnp.roll(x, tuple(shift[i] for i in range(len(axis))), axis),
    "Roll",
    check=_check_roll,
    shapes=lambda avals, axis: avals[0],
)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` moved by `shift` places along `axis`, what leaves at one end coming in at the other.

    Both may be lists of equal length; shifts along one axis add up.

    >>> import tape_compat as tf
    >>> tf.roll([1, 2, 3], 1, 0).numpy().tolist()
    [3, 1, 2]
    """
    x, shifts = as_tensor(input), as_tensor(shift)
    known = known_value(axis)
    if not shifts.dtype.is_integer:
        raise not_allowed(shifts.dtype, "int32, int64", "Roll", "Tshift")
    if known.dtype.kind not in "iu":
        raise not_allowed(from_numpy(known.dtype), "int32, int64", "Roll", "Taxis")
    axes = dims(known)
    if len(shifts._aval.shape) == known.ndim == 0:
        shifts = reshape(shifts, (1,))
    elif len(shifts._aval.shape) != known.ndim or differ(shifts._aval.size, len(axes)):
        raise invalid("shift and axis must have the same size", "Roll")
    if is_text(x):
        return move_text(lambda p, n: roll(p, n, axes), x, by=(shifts,))
    return apply(_ROLL.bind(axis=axes), (x, shifts))


def _sort(x: Any, axis: int, descending: bool) -> Any:
    return along(x, order(lax.stop_gradient(x), axis, descending), axis)


def _check_sort(avals: tuple[Aval, ...], axis: int, descending: bool) -> None:
    if avals[0].dtype.name not in _REAL:
        raise not_allowed(avals[0].dtype, _REAL, "TopKV2")
    n = len(avals[0].shape)
    if not -n <= axis < n:
        axis = axis + n if axis < 0 else axis
        raise invalid(f"slice index {axis} of dimension 0 out of bounds.", "StridedSlice")


_REAL = allowed("float integer")
_SORT = Op(_sort, "TopKV2", check=_check_sort, kernels=True)
_ARGSORT = Op(order, "TopKV2", differentiable=False, check=_check_sort, kernels=True)


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. "
            f"Received: direction={direction}"
        )
    return direction == "DESCENDING"


def _sorted_axis(axis: Any) -> int:
    if np.ndim(axis):
        raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
    return as_int(axis)


def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """`values` sorted along `axis`, "ASCENDING" or "DESCENDING".

    >>> import tape_compat as tf
    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy().tolist()
    [3, 2, 1]
    """
    options = {"axis": _sorted_axis(axis), "descending": _descending(direction)}
    return apply(_SORT.bind(**options), (as_tensor(values),))


def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The positions (int32) that sort `values` along `axis`; equal values keep their order.

    They do so whether `stable` asks for it or not.

    >>> import tape_compat as tf
    >>> tf.argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    options = {"axis": _sorted_axis(axis), "descending": _descending(direction)}
    return apply(_ARGSORT.bind(**options), (as_tensor(values),))


def _counted_below(rows: Any, values: Any, side: str) -> Any:
    """How many elements of rows lie below values, or not above them: all not above NaN."""
    counts = rows < values if side == "left" else (rows <= values) | (values != values)
    return jnp.sum(counts, -1)


def _searchsorted(rows: Any, values: Any, side: str, dtype: DType) -> Any:
    if 0 in rows.shape or 0 in values.shape:
        return jnp.zeros(values.shape, dtype.np_dtype)
    flat_rows = rows.reshape(-1, rows.shape[-1])
    flat_values = values.reshape(-1, values.shape[-1])
    if is_unknown(rows.shape):  # which JAX cannot halve
        below = _counted_below(flat_rows[:, None], flat_values[..., None], side)
        return below.reshape(values.shape).astype(dtype.np_dtype)
    found = jax.vmap(lambda r, v: jnp.searchsorted(r, v, side=side))(flat_rows, flat_values)
    if side == "left":  # NaN is above no element, where JAX sorts it behind all
        found = jnp.where(flat_values != flat_values, 0, found)
    return found.reshape(values.shape).astype(dtype.np_dtype)


def _check_searchsorted(avals: tuple[Aval, ...], side: str, dtype: DType) -> None:
    kernel = "LowerBound" if side == "left" else "UpperBound"
    if dtype.name not in ("int32", "int64"):
        raise not_allowed(dtype, "int32, int64", kernel, "out_type")
    check_same_dtype(avals, kernel)
    rows, values = (a.shape for a in avals)
    if rows[:-1] != values[:-1]:
        raise invalid(
            f"Leading dim_size of both tensors must match: {shown(rows)} vs. {shown(values)}",
            kernel,
        )


_SEARCH = Op(_searchsorted, "LowerBound", differentiable=False, check=_check_searchsorted)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where each of `values` [..., m] would go in the sorted rows of `sorted_sequence` [..., n].

    `side`: before ("left") or behind ("right") equal values. A single row serves all values.

    >>> import tape_compat as tf
    >>> tf.searchsorted([1, 3, 5], [3, 4]).numpy().tolist()
    [1, 2]
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    rows, values = as_tensor(sorted_sequence), as_tensor(values)
    closure = _SEARCH.bind(
        side=side, dtype=dtypes.int32 if out_type is None else as_dtype(out_type)
    )
    if len(rows._aval.shape) == 1 and len(values._aval.shape) != 1:
        found = apply(closure, (rows, reshape(values, (-1,))))
        return reshape(found, values._aval.shape)
    return apply(closure, (rows, values))

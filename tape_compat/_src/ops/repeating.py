"""Repeating: broadcast, tile, repeat."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Shape, Size, differ, is_symbolic, less
from ..core.dtypes import as_dtype
from ..core.errors import NeedsValue, user_location
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.bounds import not_empty
from ..values.dispatch import refusal, takes_composites
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arguments import (
    as_int,
    as_tensor,
    dims,
    is_scalar,
    is_text,
    known_sizes,
    known_value,
    move_text,
    sketched,
    value_if_known,
)
from .dynamic_shape import DynamicRaggedShape
from .shapes import reshape, set_sizes


def _check_broadcast_to(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> None:
    have = avals[0].shape
    if len(have) > len(shape):
        raise invalid(
            f"Rank of input ({len(have)}) must be no greater than rank of output shape "
            f"({len(shape)}).",
            "BroadcastTo",
        )
    for a, b in zip(reversed(have), reversed(shape)):
        if differ(a, 1) and differ(a, b):
            raise invalid(f"Incompatible shapes: {shown(have)} vs. {shown(shape)}", "BroadcastTo")


_BROADCAST = Op(
    jnp.broadcast_to,
    "BroadcastTo",
    check=_check_broadcast_to,
    shapes=lambda avals, shape: Aval.of(shape, avals[0].dtype),
    of_sizes=np.broadcast_to,
)


@takes_composites
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along axes of size 1 and new leading axes, to `shape`.

    >>> import tape_compat as tf
    >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    if shape.__class__ is DynamicRaggedShape:
        raise refusal(shape)
    if is_scalar(shape):
        raise invalid("shape must be a vector of {int32,int64}, got shape []", "BroadcastTo")
    x, wanted = as_tensor(input), dims(shape, "Tidx", "BroadcastTo")
    if is_text(x):
        return move_text(lambda p: broadcast_to(p, wanted), x)
    return apply(_BROADCAST.bind(shape=wanted), (x,))


def _check_tile(avals: tuple[Aval, ...], multiples: tuple[int, ...]) -> None:
    n = len(avals[0].shape)
    if len(multiples) != n:
        raise invalid(
            f"Expected multiples argument to be a vector of length {n} but got length "
            f"{len(multiples)}",
            "Tile",
        )
    for i, m in enumerate(multiples):
        if less(m, 0):
            raise invalid(f"Expected multiples[{i}] >= 0, but got {m}", "Tile")


def _tiled(avals: tuple[Aval, ...], multiples: Shape) -> Aval:
    sizes = zip(avals[0].shape, multiples, strict=True)
    return Aval.of(tuple([n * times for n, times in sizes]), avals[0].dtype)


_TILE = Op(
    lambda x, multiples: jnp.tile(x, multiples),
    "Tile",
    check=_check_tile,
    shapes=_tiled,
    of_sizes=np.tile,
)


@takes_composites
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` laid `multiples[i]` times along each axis i.

    >>> import tape_compat as tf
    >>> tf.tile([1, 2], [2]).numpy().tolist()
    [1, 2, 1, 2]
    """
    if is_scalar(multiples):
        raise invalid("Expected multiples to be 1-D, but got shape []", "Tile")
    x, times = as_tensor(input), dims(multiples, "Tmultiples", "Tile")
    if is_text(x):
        return move_text(lambda p: tile(p, times), x)
    return apply(_TILE.bind(multiples=times), (x,))


def _check_repeat_axis(x: Tensor, axis: int) -> int:
    n = len(x._aval.shape)
    if not -n <= axis < n:
        raise ValueError(f"axis={axis} out of bounds: expected -{n}<=axis<{n}")
    return axis % n


def _repeat(x: Any, times: Size, axis: int) -> Any:
    wide = jnp.expand_dims(x, axis + 1)
    wide = jnp.broadcast_to(wide, (*x.shape[: axis + 1], times, *x.shape[axis + 1 :]))
    return wide.reshape(_repeated_shape(x.shape, times, axis))


def _repeated_shape(shape: Shape, times: Size, axis: int) -> Shape:
    return (*shape[:axis], shape[axis] * times, *shape[axis + 1 :])


#: Each element equally often: without places the gradient is a sum.
_REPEAT = Op(
    _repeat,
    "BroadcastTo",
    shapes=lambda avals, times, axis: Aval.of(
        _repeated_shape(avals[0].shape, times, axis), avals[0].dtype
    ),
)


def _take(x: Any, places: Any, axis: int) -> Any:
    return jnp.take(not_empty(x, (axis,)), places, axis=axis, mode="clip")


_TAKE = Op(_take, "GatherV2")


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Each element along `axis` (of the flattened input by default) `repeats` times.

    Args:
      repeats: one integer, or one for each place along `axis`, of which those below 0 count as 0.
    Raises: TypeError if `repeats` are no integers; ValueError if they are not as many as places;
      InvalidArgumentError if the one is negative.

    >>> import tape_compat as tf
    >>> tf.repeat([1, 2], [1, 2]).numpy().tolist()
    [1, 2, 2]
    """
    x = as_tensor(input)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    if not isinstance(axis, (int, np.integer, Tensor)):
        kind = axis.__class__.__name__
        raise TypeError(f"Argument `axis` must be an int. Received `axis` = {axis} of type {kind}")
    x = reshape(x, (1,)) if not x._aval.shape else x
    axis = _check_repeat_axis(x, as_int(axis))
    length = x._aval.shape[axis]
    if _holds_tensors(repeats):
        return repeat(x, as_tensor(repeats), axis)
    if _tells_at_call(repeats):
        if differ(repeats._aval.shape[0], length):
            raise ValueError(f"Dimensions {length} and {repeats.shape[0]} are not compatible")
        places, take = _repeated_places(repeats, as_tensor(length)), _TAKE.bind(axis=axis)
        if is_text(x):
            return move_text(lambda p, at: apply(take, (p, at))[0], x, by=(places,))
        return apply(take, (x, places))
    times = known_sizes(repeats)
    if not times.size and not isinstance(repeats, Tensor):
        times = times.astype(np.int32)  # no number says that it is a float
    if times.dtype.kind not in "iubO":
        raise TypeError(
            f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
            f"{times} of dtype: {as_dtype(times.dtype)!s} (at {user_location()})."
        )
    if times.ndim > 1:
        raise ValueError(f"Shape {times.shape} must have rank at most 1")
    times = times.ravel()
    if times.size != 1 and differ(times.size, length):
        raise ValueError(f"Dimensions {length} and {times.size} are not compatible")
    if times.size != 1 and is_symbolic(length):
        x = set_sizes(x, tuple(times.size if i == axis else None for i in range(x.ndim)))
        length = times.size
    if is_symbolic(length) or times.dtype == object:
        if times.size != 1:
            raise NeedsValue("tf.repeat() needs to know how often each element is repeated")
        return apply(_REPEAT.bind(times=times.item(), axis=axis), (x,))
    if is_text(x):
        return move_text(lambda p: repeat(p, times, axis), x)
    if times.size == 1:
        if times.item() < 0:
            message = f"Expected multiples[{axis + 1}] >= 0, but got {times.item()}"
            raise invalid(message, "Tile")
        return apply(_REPEAT.bind(times=int(times.item()), axis=axis), (x,))
    places = np.repeat(np.arange(length, dtype=np.int32), np.maximum(times, 0))
    return apply(_TAKE.bind(axis=axis), (x, concrete(places)))


def _holds_tensors(repeats: Any) -> bool:
    return isinstance(repeats, (list, tuple)) and any(isinstance(n, Tensor) for n in repeats)


def _tells_at_call(repeats: Any) -> bool:
    """Whether it is a number for each element that only a call shows."""
    if not isinstance(repeats, Tensor) or len(repeats._aval.shape) != 1:
        return False
    return repeats._aval.shape[0] != 1 and value_if_known(repeats) is None


@by_host()
def _repeated_places(repeats: Tensor, length: Tensor) -> Tensor:
    """Each of so many places as often as it is repeated."""
    sketch = sketched(repeats)
    if sketch is not None:
        return sketch.tensor((None,), dtypes.int32)
    places = np.arange(int(known_value(length)), dtype=np.int32)
    return concrete(np.repeat(places, np.maximum(known_value(repeats), 0)))

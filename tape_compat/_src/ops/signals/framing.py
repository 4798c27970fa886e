"""Signals cut into frames that overlap, and put together again."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.avals import Aval
from ...core.dimensions import Size, is_symbolic, maximum
from ...core.op import Op
from ...core.refuse import invalid
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import as_int, is_text, known_value, move_text


def _count(samples: Size, length: int, step: int, pad_end: bool) -> Size:
    """How many frames there are."""
    if pad_end:
        return -(-samples // step)
    return maximum(1 + (samples - length) // step, 0)


def _frames(x: Any, fill: Any, length: int, step: int, pad_end: bool, axis: int) -> Any:
    samples = x.shape[axis]
    count = _count(samples, length, step, pad_end)
    if pad_end:
        more = maximum(length + step * (count - 1) - samples, 0)
        pairs = [(0, more if i == axis else 0) for i in range(x.ndim)]
        x = jnp.pad(x, pairs, constant_values=fill)
    counted = jnp if is_symbolic(count) else np
    index = counted.arange(count)[:, None] * step + np.arange(length)
    if not is_symbolic(count) and index.size == 0:
        return jnp.zeros((*x.shape[:axis], count, length, *x.shape[axis + 1 :]), x.dtype)
    return jnp.take(x, index, axis=axis)


def _shape(avals: tuple[Aval, ...], length: int, step: int, pad_end: bool, axis: int) -> Aval:
    shape = avals[0].shape
    count = _count(shape[axis], length, step, pad_end)
    return Aval.of((*shape[:axis], count, length, *shape[axis + 1 :]), avals[0].dtype)


_FRAMES = Op(_frames, "GatherV2", shapes=_shape, through=(0,))


def scalar(value: Any) -> int:
    """A number that must be known.

    Raises: ValueError if it is no scalar.
    """
    if value.__class__ is int:
        return value
    known = known_value(value)
    if known.ndim:
        raise ValueError(f"Shape {known.shape} must have rank 0")
    return int(known)


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Frames of `frame_length` samples every `frame_step`: [..., n, ...] to [..., frames, length].

    Args:
      pad_end: whether to add `pad_value` at the end, so that each step has a frame; else the
        samples that fill no frame are left out.
      axis: the axis of the samples.
    Raises: ValueError for a scalar `signal`.

    >>> import tape_compat as tf
    >>> tf.signal.frame([1, 2, 3, 4, 5], 3, 2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    x = convert(signal)
    rank = len(x._aval.shape)
    if not rank:
        raise ValueError(f"Shape {x.shape} must have rank at least 1")
    length, step = scalar(frame_length), scalar(frame_step)
    place = range(rank)[as_int(axis)]
    if not step:
        raise invalid("Integer division by zero", "FloorDiv")
    if is_text(x):
        if pad_end:
            raise NotImplementedError("tf.signal.frame of strings with pad_end")
        return move_text(lambda p: frame(p, length, step, axis=place), x)
    closure = _FRAMES.bind(length=length, step=step, pad_end=bool(pad_end), axis=place)
    filler = pad_value if pad_end else np.zeros((), x.dtype.np_dtype)
    return apply(closure, (x, convert(filler, x.dtype)))


def _added(x: Any, step: int) -> Any:
    """Each frame is cut into pieces of one step; pieces at the same place are added."""
    *outer, frames, length = x.shape
    total = length + step * (frames - 1)
    pieces = -(-length // step)
    edges = [(0, 0)] * len(outer)
    x = jnp.pad(x, [*edges, (0, pieces), (0, pieces * step - length)])
    x = x.reshape(*outer, frames + pieces, pieces, step)
    x = jnp.swapaxes(x, -3, -2).reshape(*outer, (frames + pieces) * pieces, step)
    # One row less for each piece: what was below one another is now a place further each.
    x = x[..., : (frames + pieces - 1) * pieces, :]
    x = x.reshape(*outer, pieces, frames + pieces - 1, step).sum(-3).astype(x.dtype)
    return x.reshape(*outer, (frames + pieces - 1) * step)[..., :total]


def _added_shape(avals: tuple[Aval, ...], step: int) -> Aval:
    *outer, frames, length = avals[0].shape
    return Aval.of((*outer, length + step * (frames - 1)), avals[0].dtype)


_ADDED = Op(_added, "Sum", shapes=_added_shape)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Frames [..., frames, length], each `frame_step` after the one before, added: [..., n].

    Raises: ValueError for another rank or a step that is no integer.

    >>> import tape_compat as tf
    >>> tf.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], 2).numpy().tolist()
    [1, 2, 13, 20, 30]
    """
    x = convert(signal)
    if len(x._aval.shape) < 2:
        raise ValueError(f"Shape {x.shape} must have rank at least 2")
    step = convert(frame_step)
    if not step.dtype.is_integer:
        raise ValueError(f"frame_step must be an integer. Got {step.dtype!r}")
    return apply(_ADDED.bind(step=scalar(frame_step)), (x,))

"""Boxes of each image chosen by their scores, filled up to a size that is known.

It runs where tensors are, and is recorded in functions.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core import dtypes
from ...core.avals import Aval
from ...core.op import Op
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import as_int
from ..shapes import reshape

_LITTLE = np.float32(1e-8)


def _sides(boxes: Any) -> tuple[Any, Any]:
    """Heights and widths."""
    return boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]


def _shared(box: Any, others: Any) -> Any:
    """The area that boxes [y_min, x_min, y_max, x_max] share with one, by the area of both."""
    low, high = jnp.maximum(box[:2], others[:, :2]), jnp.minimum(box[2:], others[:, 2:])
    sides = jnp.maximum(high - low, 0)
    both = sides[:, 0] * sides[:, 1]
    (h, w), (heights, widths) = _sides(box), _sides(others)
    return both / (h * w + heights * widths - both + _LITTLE)


def greedy(boxes: Any, usable: Any, shows: Any, suppresses: Any, most: int) -> tuple[Any, Any]:
    """The first `most` of `boxes`, in their order, that none chosen before suppresses.

    usable: which may be chosen. shows: which of them count. Gives places [most], filled up with 0,
    and how many there are.
    """
    count = boxes.shape[0]

    def going(state: tuple) -> Any:
        left, _, found = state
        return (found < most) & jnp.any(left)

    def step(state: tuple) -> tuple:
        left, places, found = state
        place = jnp.argmax(left).astype(np.int32)
        left = left & ~suppresses(boxes[place], boxes) & (jnp.arange(count) != place)
        counts = shows[place]
        to = jnp.where(counts, found, most)
        return left, places.at[to].set(place, mode="drop"), found + counts.astype(np.int32)

    start = usable, jnp.zeros((most,), np.int32), jnp.zeros((), np.int32)
    if not count or not most:
        return start[1:]
    return lax.while_loop(going, step, start)[1:]


def _padded(
    boxes: Any, scores: Any, limit: Any, least: Any, most: int, ordered: bool, cornered: bool
) -> tuple[Any, Any]:
    batch, count = boxes.shape[:-2], boxes.shape[-2]
    boxes = boxes.reshape(-1, count, 4).astype(np.float32)
    scores = scores.reshape(-1, count).astype(np.float32)
    usable = (scores > least) | (least == -jnp.inf)
    scores, boxes = jnp.where(usable, scores, 0), jnp.where(usable[..., None], boxes, 0)
    if not cornered and boxes.size:  # TensorFlow looks at the first box of all
        first = boxes[0, 0]
        boxes = jnp.where(first[0] <= first[2], boxes, boxes[..., np.array([2, 1, 0, 3])])
        boxes = jnp.where(first[1] <= first[3], boxes, boxes[..., np.array([0, 3, 2, 1])])
    order = jnp.broadcast_to(jnp.arange(count, dtype=np.int32), scores.shape)
    if not ordered:
        order = jnp.argsort(scores, axis=1, stable=True, descending=True).astype(np.int32)
        boxes = jnp.take_along_axis(boxes, order[..., None], 1)
    shows = jnp.any(boxes > 0, -1)

    def suppresses(box: Any, others: Any) -> Any:
        shared = _shared(box, others)
        return (shared >= limit) & (shared > 0)

    def choose(boxes: Any, shows: Any) -> tuple[Any, Any]:
        return greedy(boxes, jnp.ones(count, bool), shows, suppresses, most)

    places, found = jax.vmap(choose)(boxes, shows)
    if count:
        valid = jnp.arange(most) < found[:, None]
        places = jnp.where(valid, jnp.take_along_axis(order, places, 1), 0)
    return places.reshape(*batch, most), found.reshape(batch)


def _padded_shape(avals: tuple[Aval, ...], most: int, **_: Any) -> tuple[Aval, Aval]:
    batch = avals[0].shape[:-2]
    return Aval.of((*batch, most), dtypes.int32), Aval.of(batch, dtypes.int32)


_PADDED = Op(_padded, "NonMaxSuppressionV4", differentiable=False, shapes=_padded_shape)


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """The boxes of the highest scores that overlap with none chosen before, and how many.

    Args:
      boxes: [..., n, 4]: two opposite corners each, the same ones in all. scores: [..., n].
      max_output_size: how many are chosen at most; a size of the result, so it must be known.
      iou_threshold: the share of their joint area from which on boxes overlap.
      score_threshold: boxes of at most this score are left out.
      pad_to_max_output_size: whether to fill up with 0. Without, there must be one image, and
        the result is computed now.
      sorted_input: whether the highest scores are first already.
      canonicalized_coordinates: whether corners are y_min, x_min, y_max, x_max.
      tile_size: of TensorFlow's way to compute it; changes nothing.
    Returns: int32 [..., max_output_size], int32 [...].
    Raises: ValueError for several images without `pad_to_max_output_size`.

    >>> import tape_compat as tf
    >>> boxes = tf.constant([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 3.0, 4.0, 4.0]])
    >>> found = tf.image.non_max_suppression_padded(
    ...     boxes, [0.5, 0.9, 0.1], 3, pad_to_max_output_size=True
    ... )
    >>> [x.numpy().tolist() for x in found]
    [[1, 2, 0], 2]
    """
    corners = convert(boxes)
    if not pad_to_max_output_size and len(corners._aval.shape) > 2:
        raise ValueError(
            f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for batched "
            "input"
        )
    most = as_int(max_output_size)
    closure = _PADDED.bind(
        most=most, ordered=bool(sorted_input), cornered=bool(canonicalized_coordinates)
    )
    numbers = (convert(x, "float32") for x in (iou_threshold, score_threshold))
    values = reshape(convert(scores), corners._aval.shape[:-1])
    places, found = apply(closure, (corners, values, *numbers))
    if not pad_to_max_output_size:
        return places[:found], found
    return places, found

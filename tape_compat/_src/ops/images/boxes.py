"""Boxes in images: cut out, and chosen among those that overlap."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core import dtypes, errors
from ...core.avals import Aval
from ...core.dimensions import Shape, differ, less
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.bounds import present_value
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.record import apply
from ...values.tensor import Tensor, concrete
from ..arguments import dims, known_value, sketched

_KERNEL = "CropAndResize"


def _positions(first: Any, last: Any, count: int, size: int) -> Any:
    """Where the pixels of crops lie along an axis, [boxes, count]."""
    edge = size - 1
    if count == 1:
        return (0.5 * (first + last) * edge)[:, None]
    step = (last - first) * edge / (count - 1)
    return (first * edge)[:, None] + lax.iota(np.float32, count) * step[:, None]


def _crop(
    image: Any, boxes: Any, indices: Any, outside: Any, size: tuple[int, int], nearest: bool
) -> Any:
    _, height, width, _ = image.shape
    y = _positions(boxes[:, 0], boxes[:, 2], size[0], height)[:, :, None]
    x = _positions(boxes[:, 1], boxes[:, 3], size[1], width)[:, None, :]
    inside = (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)
    which = jnp.where((indices >= 0) & (indices < image.shape[0]), indices, 0)[:, None, None]
    image = image.astype(np.float32)

    def read(rows: Any, columns: Any) -> Any:
        rows = jnp.clip(rows, 0, height - 1).astype(np.int32)
        columns = jnp.clip(columns, 0, width - 1).astype(np.int32)
        return image[which, rows, columns]

    if nearest:
        found = read(*[jnp.trunc(p + jnp.copysign(np.float32(0.5), p)) for p in (y, x)])
    else:
        top, left = jnp.floor(y), jnp.floor(x)
        down, along = (y - top)[..., None], (x - left)[..., None]
        bottom, right = jnp.ceil(y), jnp.ceil(x)
        upper_left, lower_left = read(top, left), read(bottom, left)
        upper = upper_left + (read(top, right) - upper_left) * along
        lower = lower_left + (read(bottom, right) - lower_left) * along
        found = upper + (lower - upper) * down
    return jnp.where(inside[..., None], found, outside)


def _check(avals: tuple[Aval, ...], size: Shape, nearest: bool) -> None:
    image, boxes, indices, _outside = avals
    if len(image.shape) != 4:
        raise invalid(f"input image must be 4-D{shown(image.shape)}", _KERNEL)
    if any(less(n, 1) for n in image.shape[1:3]):
        raise invalid("image dimensions must be positive", _KERNEL)
    if len(boxes.shape) != 2:
        raise invalid(f"boxes must be 2-D{shown(boxes.shape)}", _KERNEL)
    if differ(boxes.shape[1], 4):
        raise invalid("boxes must have 4 columns", _KERNEL)
    if len(indices.shape) != 1:
        raise invalid(f"box_index must be 1-D{shown(indices.shape)}", _KERNEL)
    if differ(indices.shape[0], boxes.shape[0]):
        raise invalid("box_index has incompatible shape", _KERNEL)
    if any(less(n, 1) for n in size):
        raise invalid("crop dimensions must be positive", _KERNEL)


_CROP = Op(_crop, _KERNEL, check=_check, through=(0, 1))


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Parts of images [n, h, w, c], each resized to `crop_size`; float32 [boxes, ch, cw, c].

    Args:
      boxes: float32 [boxes, 4]: y1, x1, y2, x2, where 0 is the first pixel and 1 the last.
      box_indices: int32 [boxes], the image of each box.
      method: "bilinear" or "nearest".
      extrapolation_value: of what lies outside of the image.
    Raises: InvalidArgumentError if the shapes do not fit; OutOfRangeError for a known index of no
      image (one that is not known yet counts as 0).

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]).numpy().ravel().tolist()
    [0.0, 2.0, 6.0, 8.0]
    """
    size = dims(crop_size)
    if len(size) != 2:
        raise invalid(f"crop_size must have two elements{shown((len(size),))}", _KERNEL)
    if method not in ("bilinear", "nearest"):
        raise not_allowed(f'"{method}"', '"bilinear", "nearest"', _KERNEL, "method")
    image, indices = convert(image), convert(box_indices, "int32")
    known, count = present_value(indices), image._aval.shape[0] if image._aval.shape else 0
    if known is not None and known.size and count.__class__ is int:
        if known.min() < 0 or known.max() >= count:
            raise errors.OutOfRangeError(
                None,
                None,
                f"box_index has values outside [0, batch_size) [Op:{_KERNEL}] "
                f"(at {errors.user_location()})",
            )
    outside = convert(extrapolation_value, "float32")
    closure = _CROP.bind(size=size, nearest=method == "nearest")
    return apply(closure, (image, convert(boxes, "float32"), indices, outside))


def overlap(boxes: Any, others: Any, numpy: Any = np) -> Any:
    """The area that boxes share with others, by the area of both together."""

    def corners(b: Any) -> tuple[Any, Any]:
        return numpy.minimum(b[..., :2], b[..., 2:]), numpy.maximum(b[..., :2], b[..., 2:])

    (low, high), (lows, highs) = corners(boxes), corners(others)
    area, areas = numpy.prod(high - low, -1), numpy.prod(highs - lows, -1)
    sides = numpy.maximum(numpy.minimum(high, highs) - numpy.maximum(low, lows), 0)
    shared = numpy.prod(sides, -1)
    either = area + areas - shared
    usable = (area > 0) & (areas > 0)
    return numpy.where(usable, shared / numpy.where(usable, either, 1), 0)


#: So many boxes are held against each other at once.
_BLOCK = 64


def how_many(max_output_size: Any, kernel: str) -> int:
    """How many boxes may be chosen."""
    most = known_value(max_output_size)
    if most.shape:
        raise invalid(f"max_output_size must be 0-D, got shape {shown(most.shape)}", kernel)
    if most < 0:
        raise invalid("output size must be non-negative", kernel)
    return int(most)


def without_overlaps(
    boxes: np.ndarray, scores: np.ndarray, most: int, limit: Any, least: Any
) -> list[int]:
    """The places of at most `most` boxes [n, 4] whose scores are above `least`, the highest first,
    without those that share more than `limit` with one before; as TensorFlow, in float32."""
    boxes = boxes.astype(np.float32)
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > least]
    chosen: list[int] = []
    for start in range(0, len(order) if most > 0 else 0, _BLOCK):
        block = order[start : start + _BLOCK]
        if chosen:
            shared = overlap(boxes[block, None], boxes[chosen])
            block = block[~(shared > limit).any(1)]
        shares = overlap(boxes[block, None], boxes[block]) > limit
        left = np.ones(len(block), bool)
        for i, place in enumerate(block.tolist()):
            if left[i]:
                chosen.append(place)
                if len(chosen) == most:
                    return chosen
                left &= ~shares[i]
    return chosen


@by_host()
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The boxes of the highest scores that overlap with none chosen before; int32 indices.

    Args:
      boxes: [n, 4]: two opposite corners each. scores: [n].
      iou_threshold: the share of their joint area, in [0, 1], above which boxes overlap.
      score_threshold: boxes of at most this score are left out.
    Raises: InvalidArgumentError if the shapes do not fit or a threshold is outside.

    >>> import tape_compat as tf
    >>> boxes = [[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 3.0, 4.0, 4.0]]
    >>> tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.1], 3).numpy().tolist()
    [1, 2]
    """
    sketch = sketched(boxes, scores, max_output_size, iou_threshold, score_threshold)
    if sketch is not None:
        return sketch.tensor((None,), dtypes.int32)
    kernel = "NonMaxSuppressionV3"
    limit, least = (np.float32(known_value(x)) for x in (iou_threshold, score_threshold))
    if not 0 <= limit <= 1:
        raise invalid("iou_threshold must be in [0, 1]", kernel)
    corners, values = known_value(boxes), known_value(scores)
    if corners.ndim != 2 or corners.shape[1] != 4:
        raise invalid(f"boxes must have 4 columns{shown(corners.shape)}", kernel)
    if values.shape != corners.shape[:1]:
        raise invalid("scores has incompatible shape", kernel)
    most = how_many(max_output_size, kernel)
    chosen = without_overlaps(corners, values, most, limit, least)
    return concrete(np.asarray(chosen, np.int32))

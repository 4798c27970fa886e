"""Parts of images drawn at random that hold enough of what is to be seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...core import dtypes
from ...core.avals import Aval
from ...core.dimensions import differ
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.bounds import present_value
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..declare import static
from ..random_keys import next_key, seed_tensor, typed_key

_STATEFUL, _STATELESS = "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox"
#: Boxes of a smaller area, in pixels, hold nothing.
_LEAST_AREA = 1.0


class SampleDistortedBoundingBoxV2(NamedTuple):
    """Where a part begins, its size, and the part as a box [1, 1, 4]."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


class StatelessSampleDistortedBoundingBox(NamedTuple):
    """Where a part begins, its size, and the part as a box [1, 1, 4]."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


def _whole_numbers(u: Any, count: Any) -> Any:
    """Of u in [0, 1): one of 0, ..., count - 1."""
    count = jnp.maximum(count, 1)
    return jnp.minimum(jnp.floor(u * count), count - 1)


def _candidates(
    draws: Any, height: Any, width: Any, ratios: tuple[float, float], areas: tuple[float, float]
) -> tuple[Any, ...]:
    """Tops, lefts, heights and widths of parts [attempts], and which of them are as wanted."""
    ratio = np.float32(ratios[0]) + draws[0] * np.float32(ratios[1] - ratios[0])
    least, most = (np.float32(area) * height * width for area in areas)
    low, high = (jnp.round(jnp.sqrt(area / ratio)) for area in (least, most))
    # The tallest part of this ratio that is no wider than the image.
    fits = jnp.floor((width + np.float32(0.4999)) / ratio)
    high = jnp.where(jnp.round(high * ratio) > width, fits, high)
    high = jnp.minimum(high, height)
    tall = jnp.minimum(low, high)
    tall = tall + _whole_numbers(draws[1], high - tall + 1)
    tall = jnp.where(jnp.round(tall * ratio) * tall < least, tall + 1, tall)
    tall = jnp.where(jnp.round(tall * ratio) * tall > most, tall - 1, tall)
    wide = jnp.round(tall * ratio)
    area = tall * wide
    good = (area >= least) & (area <= most) & (tall > 0) & (wide > 0)
    good = good & (tall <= height) & (wide <= width) & (areas[0] <= areas[1])
    top = _whole_numbers(draws[2], height - tall)
    left = _whole_numbers(draws[3], width - wide)
    return top, left, tall, wide, good


def _covered(parts: tuple[Any, ...], boxes: Any, least: Any) -> Any:
    """Which of the parts [attempts] hold a share `least` of one of the boxes [n, 4], in pixels."""
    top, left, tall, wide = (x[:, None] for x in parts)
    y1, x1, y2, x2 = boxes.T
    areas = jnp.maximum(y2 - y1, 0) * jnp.maximum(x2 - x1, 0)
    rows = jnp.maximum(jnp.minimum(top + tall, y2) - jnp.maximum(top, y1), 0)
    columns = jnp.maximum(jnp.minimum(left + wide, x2) - jnp.maximum(left, x1), 0)
    seen = areas >= _LEAST_AREA
    share = rows * columns / jnp.where(seen, areas, 1)
    return jnp.any(seen & (share >= least), 1)


def _sample(
    key: Any,
    image_size: Any,
    boxes: Any,
    covered: Any,
    ratios: tuple[float, float],
    areas: tuple[float, float],
    attempts: int,
) -> tuple[Any, Any, Any]:
    height, width = (image_size[i].astype(np.float32) for i in (0, 1))
    boxes = boxes.reshape(-1, 4)
    if not boxes.shape[0]:
        boxes = jnp.asarray([[0.0, 0.0, 1.0, 1.0]], np.float32)
    pixels = jnp.trunc(boxes * jnp.stack([height, width] * 2))
    draws = jax.random.uniform(typed_key(key), (4, attempts), np.float32)
    *parts, good = _candidates(draws, height, width, ratios, areas)
    good = good & _covered(tuple(parts), pixels, covered)
    first, found = jnp.argmax(good), jnp.any(good)
    whole = (0, 0, height, width)
    top, left, tall, wide = (
        jnp.where(found, part[first], other) for part, other in zip(parts, whole, strict=True)
    )
    begin = jnp.stack([top, left, jnp.zeros_like(top)]).astype(image_size.dtype)
    size = jnp.stack([tall, wide, -jnp.ones_like(tall)]).astype(np.int32).astype(image_size.dtype)
    box = [top / height, left / width, (top + tall) / height, (left + wide) / width]
    return begin, size, jnp.stack(box).reshape(1, 1, 4)


def _check(avals: tuple[Aval, ...], kernel: str) -> None:
    size, boxes = avals
    if size.dtype.name not in ("uint8", "int8", "int16", "int32", "int64"):
        raise not_allowed(size.dtype, "uint8, int8, int16, int32, int64", kernel)
    if len(size.shape) != 1:
        raise invalid(f"image_size must be 1-dimensional{shown(size.shape)}", kernel)
    if differ(size.shape[0], 3):
        raise invalid(f"image_size must contain 3 elements{shown(size.shape)}", kernel)
    if len(boxes.shape) != 3:
        raise invalid(
            f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {shown(boxes.shape)}",
            kernel,
        )
    if differ(boxes.shape[2], 4):
        raise invalid(
            f"bounding boxes must have shape [4] or [*, 4], got {shown(boxes.shape)}", kernel
        )


def _sampled_shapes(avals: tuple[Aval, ...], **_: Any) -> tuple[Aval, ...]:
    size = avals[1]
    return size, size, Aval.of((1, 1, 4), dtypes.float32)


def _named(kernel: str) -> Op:
    return Op(_sample, kernel, shapes=_sampled_shapes, differentiable=False, host_foldable=False)


_SAMPLE = {kernel: _named(kernel) for kernel in (_STATEFUL, _STATELESS)}


def _range(value: Any, default: tuple[float, float], what: str, kernel: str) -> Any:
    found = default if value is None else static(value)
    if len(found) != 2:
        raise invalid(f"{what} range field must specify 2 dimensions", kernel)
    if min(found) <= 0:
        raise invalid(f"{what} range must be non-negative: [{found[0]:g}, {found[1]:g}]", kernel)
    return float(found[0]), float(found[1])


def _drawn(
    kernel: str,
    key: Tensor,
    image_size: Any,
    bounding_boxes: Any,
    covered: Any,
    ratios: Any,
    areas: Any,
    max_attempts: Any,
    whole_if_none: Any,
) -> Any:
    size, boxes = convert(image_size), convert(bounding_boxes, "float32")
    _check((size._aval, boxes._aval), kernel)
    _check_values(size, boxes, kernel)
    least = convert(covered, "float32")
    if not isinstance(covered, Tensor) and covered < 0:
        raise invalid(f"Min object covered must be non-negative: {covered:g}", kernel)
    ratios = _range(ratios, (0.75, 1.33), "Aspect ratio", kernel)
    areas = _range(areas, (0.05, 1.0), "Area", kernel)
    if max(areas) > 1:
        raise invalid(
            f"Area range must be less then or equal to 1.0: [{areas[0]:g}, {areas[1]:g}]", kernel
        )
    attempts = 100 if max_attempts is None else int(static(max_attempts))
    if attempts <= 0:
        raise invalid(f"Max attempts must be non-negative: {attempts}", kernel)
    if 0 in boxes._aval.shape and not whole_if_none:
        raise invalid(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes "
            "if you wish to not provide any bounding boxes.",
            kernel,
        )
    closure = _SAMPLE[kernel].bind(ratios=ratios, areas=areas, attempts=attempts)
    return apply(closure, (key, size, boxes, least))


def _check_values(size: Tensor, boxes: Tensor, kernel: str) -> None:
    """Refuse what is known to be no size or no box."""
    sizes, corners = present_value(size), present_value(boxes)
    if sizes is not None:
        for number, what in zip(sizes, ("height", "width"), strict=False):
            if number < 0:
                raise invalid(f"image {what} cannot be >= int32 max", kernel)
    if corners is not None and corners.size:
        bad = corners[(corners < 0) | (corners > 1)]
        if bad.size:
            raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {bad[0]:g}", kernel)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = 0,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: str | None = None,
) -> SampleDistortedBoundingBoxV2:
    """A part of an image, drawn at random, that holds enough of one of the boxes.

    Args:
      image_size: integers [3]: height, width, channels.
      bounding_boxes: float32 [n, boxes, 4]: y_min, x_min, y_max, x_max, in [0, 1].
      seed: of the op; 0 for another part at each call.
      min_object_covered: the share of a box that lies inside of the part.
      aspect_ratio_range: of width by height; by default [0.75, 1.33].
      area_range: of the part's share of the image; by default [0.05, 1].
      max_attempts: 100 by default; after them it is the whole image.
      use_image_if_no_bounding_boxes: whether the whole image is the box if there is none.
    Returns: `begin` and `size` [3], for `tf.slice`, of the dtype of `image_size`; float32
      [1, 1, 4], the part as a box.
    Raises: InvalidArgumentError if shapes or numbers do not fit.

    >>> import tape_compat as tf
    >>> begin, size, box = tf.image.sample_distorted_bounding_box(
    ...     [20, 30, 3], tf.constant([[[0.1, 0.2, 0.6, 0.7]]]), min_object_covered=0.5
    ... )
    >>> tf.slice(tf.zeros([20, 30, 3]), begin, size).shape[2], box.shape
    (3, TensorShape([1, 1, 4]))
    """
    options = (min_object_covered, aspect_ratio_range, area_range, max_attempts)
    key = next_key(_STATEFUL, seed if seed else None)
    found = _drawn(
        _STATEFUL, key, image_size, bounding_boxes, *options, use_image_if_no_bounding_boxes
    )
    return SampleDistortedBoundingBoxV2(*found)


def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: str | None = None,
) -> StatelessSampleDistortedBoundingBox:
    """`sample_distorted_bounding_box`, the same for the same `seed` [2]."""
    options = (min_object_covered, aspect_ratio_range, area_range, max_attempts)
    found = _drawn(
        _STATELESS,
        seed_tensor(seed),
        image_size,
        bounding_boxes,
        *options,
        use_image_if_no_bounding_boxes,
    )
    return StatelessSampleDistortedBoundingBox(*found)

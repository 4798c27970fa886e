"""Boxes drawn into images, and glimpses of images."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.avals import Aval
from ...core.dimensions import differ, less
from ...core.dtypes import float32
from ...core.op import Op
from ...core.refuse import invalid, not_allowed, shown
from ...values.convert import convert, preferring
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import dims
from ..casting import cast
from ..random_keys import next_key, typed_key
from ..shapes import shape as shape_of

#: Colors of boxes one after the other where none are given.
_COLORS = np.array(
    [
        *((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1)),
        *((0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1)),
    ],
    np.float32,
)


def _draw(images: Any, boxes: Any, colors: Any = None) -> Any:
    _, height, width, depth = images.shape
    if colors is None or 0 in colors.shape:
        table = _COLORS.copy()
        if depth == 1:
            table[:, 0] = 1
        colors = jnp.asarray(table)
    colors = colors[:, :depth].astype(images.dtype)
    edges = np.array([height - 1, width - 1] * 2, np.float32)
    places = jnp.trunc(boxes.astype(np.float32) * edges).astype(np.int32)
    rows, columns = jnp.arange(height)[:, None], jnp.arange(width)

    def draw_one(image: Any, places: Any) -> Any:
        def step(image: Any, box: Any) -> tuple[Any, None]:
            (top, left, bottom, right), number = box
            within = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
            border = (rows == top) | (rows == bottom) | (columns == left) | (columns == right)
            color = colors[number % colors.shape[0]]
            return jnp.where((within & border)[..., None], color, image), None

        return lax.scan(step, image, (places, jnp.arange(places.shape[0])))[0]

    return jax.vmap(draw_one)(images, places)


def _check_drawing(avals: tuple[Aval, ...]) -> None:
    images, boxes, *colors = avals
    kernel = "DrawBoundingBoxesV2" if colors else "DrawBoundingBoxes"
    if len(images.shape) != 4:
        raise invalid("The rank of the images should be 4", kernel)
    if len(boxes.shape) != 3:
        raise invalid("The rank of the boxes tensor should be 3", kernel)
    if differ(images.shape[0], boxes.shape[0]):
        raise invalid("The batch sizes should be the same", kernel)
    depth = images.shape[3]
    if all(differ(depth, n) for n in (1, 3, 4)):
        raise invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)", kernel)
    if differ(boxes.shape[2], 4):
        raise invalid(
            f"The size of the third dimension of the box must be 4. Received: {boxes.shape[2]}",
            kernel,
        )
    for aval in colors:
        if len(aval.shape) != 2:
            raise invalid(f"colors must be a 2-D matrix{shown(aval.shape)}", kernel)
        if less(aval.shape[1], depth):
            raise invalid(
                "colors must have equal or more channels than the image provided: "
                f"{shown(aval.shape)}",
                kernel,
            )


def _as_images(avals: tuple[Aval, ...]) -> Aval:
    return avals[0]


_DRAW = Op(_draw, "DrawBoundingBoxesV2", check=_check_drawing, shapes=_as_images,
           differentiable=False)  # fmt: skip


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """Images [n, h, w, 1, 3 or 4] with the borders of boxes drawn into them.

    Args:
      images: float32 or float16.
      boxes: float32 [n, boxes, 4]: y_min, x_min, y_max, x_max, where 0 is the first pixel and 1
        the last. One of which nothing lies inside of the image is left out.
      colors: [colors, channels], taken in turn; None for ten of TensorFlow's.
    Raises: InvalidArgumentError if the shapes do not fit.

    >>> import tape_compat as tf
    >>> box = [[[0.0, 0.0, 1.0, 1.0]]]
    >>> found = tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), box, [[1.0]])
    >>> found.numpy()[0, :, :, 0].tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    kernel = "DrawBoundingBoxes" if colors is None else "DrawBoundingBoxesV2"
    # The kernel without colors takes arrays as float32 only, as TensorFlow's does.
    x = preferring(images, float32, ("float32",) if colors is None else ("float32", "float16"))
    if x.dtype.name not in ("float32", "float16"):
        raise not_allowed(x.dtype, "float, half", kernel)
    given = () if colors is None else (convert(colors, "float32"),)
    return apply(_DRAW.bind(), (x, convert(boxes, "float32"), *given))


# -- glimpses --------------------------------------------------------------------------------------

_GLIMPSE = "ExtractGlimpseV2"
_NOISES = ("uniform", "gaussian", "zero")


def _corner(
    offsets: Any, sizes: tuple[int, int], size: tuple[int, int], centered: bool, normalized: bool
) -> Any:
    """Where glimpses begin: rows and columns [n, 2]."""
    whole, part = (np.asarray(pair, np.float32) for pair in (sizes, size))
    at = offsets.astype(np.float32)
    if normalized:
        at = at * whole
    if centered:
        at = at / 2 + whole / 2 - part / 2 if normalized else at + whole / 2
    return jnp.trunc(at).astype(np.int32)


def _noise_of(key: Any, image: Any, shape: tuple[int, ...], noise: str) -> Any:
    low, high = (jnp.min(image), jnp.max(image)) if image.size else (0, 0)
    if noise == "uniform":
        return jax.random.uniform(key, shape, np.float32) * (high - low) + low
    drawn = jax.random.normal(key, shape, np.float32) * jnp.std(image) + jnp.mean(image)
    return jnp.clip(drawn, low, high)


def _glimpse(
    images: Any,
    offsets: Any,
    key: Any = None,
    *,
    size: tuple[int, int],
    centered: bool,
    normalized: bool,
    noise: str,
) -> Any:
    count, height, width, channels = images.shape
    images = images.astype(np.float32)
    corner = _corner(offsets, (height, width), size, centered, normalized)
    keys = None if key is None else jax.random.split(typed_key(key), count)

    def one(image: Any, corner: Any, key: Any = None) -> Any:
        rows, columns = (corner[i] + jnp.arange(size[i], dtype=np.int32) for i in (0, 1))
        inside = ((rows >= 0) & (rows < height))[:, None] & (columns >= 0) & (columns < width)
        shape = (*size, channels)
        filled = jnp.zeros(shape, np.float32)
        if key is not None:
            filled = _noise_of(key, image, shape, noise)
        if not height or not width:
            return filled
        rows, columns = jnp.clip(rows, 0, height - 1), jnp.clip(columns, 0, width - 1)
        return jnp.where(inside[..., None], image[rows[:, None], columns], filled)

    return jax.vmap(one)(images, corner, *(() if keys is None else (keys,)))


def _check_glimpse(avals: tuple[Aval, ...], **_: Any) -> None:
    images, offsets, *_rest = avals
    if len(images.shape) != 4:
        raise invalid(
            f"input must be 4-dimensional (batch_size, height, width, depth){shown(images.shape)}",
            _GLIMPSE,
        )
    if len(offsets.shape) != 2:
        raise invalid(f"input must be a matrix{shown(offsets.shape)}", _GLIMPSE)
    if differ(offsets.shape[0], images.shape[0]):
        raise invalid(f"first dimension should be batch{shown(offsets.shape)}", _GLIMPSE)
    if differ(offsets.shape[1], 2):
        raise invalid(f"second dimension should be of size 2 (y,x){shown(offsets.shape)}", _GLIMPSE)


def _glimpse_shape(avals: tuple[Aval, ...], size: tuple[int, int], **_: Any) -> Aval:
    count, _, _, channels = avals[0].shape
    return Aval.of((count, *size, channels), float32)


_EXTRACT = Op(_glimpse, _GLIMPSE, check=_check_glimpse, shapes=_glimpse_shape,
              differentiable=False, host_foldable=False)  # fmt: skip


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A part of each image: float32 [n, height, width, c] of `input` [n, h, w, c].

    Args:
      size: height and width of a glimpse; must be known.
      offsets: [n, 2], of each: from the first pixel to its first one, or with `centered` from the
        middle of the image to its own, if `normalized` as well, and else to its first pixel.
      centered: whether offsets count from the middle, and 1 is the edge.
      normalized: whether offsets are in sizes of the image, not in pixels.
      noise: of what lies outside: "uniform" between the least and the largest of the image,
        "gaussian" of its mean and deviation, "zero".
    Raises: InvalidArgumentError if the shapes do not fit or for another noise.

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> found = tf.image.extract_glimpse(x, [1, 2], [[2.0, 0.0]], False, False)
    >>> found.numpy().ravel().tolist()
    [6.0, 7.0]
    """
    if noise not in _NOISES:
        raise invalid(f"The noise could only be uniform, gaussian, or zero, got{noise}", _GLIMPSE)
    sizes = dims(size)
    if len(sizes) != 2:
        raise invalid(
            f"input must be a vector of size 2 (height, width){shown((len(sizes),))}", _GLIMPSE
        )
    closure = _EXTRACT.bind(
        size=sizes, centered=bool(centered), normalized=bool(normalized), noise=noise
    )
    key = () if noise == "zero" else (next_key(_GLIMPSE, None),)
    return apply(closure, (convert(input), convert(offsets, "float32"), *key))


def extract_glimpse_around(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
) -> Tensor:
    """The same around the points at `offsets`, as TensorFlow 1 has it; with `centered` they count
    in halves from the middle of the image.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.images.drawing import extract_glimpse_around
    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> extract_glimpse_around(x, [1, 1], [[0.0, 0.0]]).numpy().item()
    4.0
    """
    x, at = convert(input), convert(offsets, "float32")
    whole = cast(shape_of(x)[1:3], float32)
    if normalized:
        at = at * whole
    if centered:
        at = at / 2.0 + whole / 2.0
    at = at - cast(convert(size), float32) / 2.0
    return extract_glimpse(x, size, at, False, False, noise)

"""Images turned, cut and padded."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core import dtypes
from ...core.dimensions import Size, is_unknown, less, maximum, minimum
from ...core.op import Op
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import as_int, as_size, dims, known_value, no_float, sketched, value_if_known
from ..joining import pad
from ..ordering import reverse
from ..shapes import expand_dims, host_shape, identity, squeeze, transpose as permute
from ..slicing import slice as cut
from .resize import ResizeMethod, resize, resize_and_pad, within


def checked(image: Any) -> Tensor:
    """An image, or several, as a tensor.

    Raises: ValueError if it has fewer than 3 axes or is empty.
    """
    x = convert(image)
    if len(x._aval.shape) < 3:
        raise ValueError(f"'image' (shape {x.shape}) must be at least three-dimensional.")
    if any(n.__class__ is int and n == 0 for n in x._aval.shape[-3:]):
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {x.shape}")
    return x


def rank_of(x: Tensor, between: str = " ") -> int:
    """3 or 4.

    Raises: ValueError for another rank.
    """
    rank = len(x._aval.shape)
    if rank not in (3, 4):
        raise ValueError(f"'image' (shape {x.shape}){between}must have either 3 or 4 dimensions.")
    return rank


def flip_left_right(image: Any) -> Tensor:
    """Images [n, h, w, c] or [h, w, c] with left and right exchanged.

    Raises: ValueError for another rank.

    >>> import tape_compat as tf
    >>> tf.image.flip_left_right([[[1], [2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    x = checked(image)
    return reverse(x, [rank_of(x, "") - 2])


def flip_up_down(image: Any) -> Tensor:
    """Images with top and bottom exchanged; see `flip_left_right`."""
    x = checked(image)
    return reverse(x, [rank_of(x, "") - 3])


def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with rows and columns exchanged.

    >>> import tape_compat as tf
    >>> tf.image.transpose(tf.ones([2, 3, 1])).shape
    TensorShape([3, 2, 1])
    """
    x = checked(image)
    return permute(x, [1, 0, 2] if rank_of(x) == 3 else [0, 2, 1, 3])


def _turned(x: Any, k: Any, axis: int) -> Any:
    branches = [functools.partial(jnp.rot90, k=turns, axes=(axis, axis + 1)) for turns in range(4)]
    return lax.switch(k % 4, branches, x)


#: Square images, for which every turn has one shape.
_TURNED = Op(_turned, "StatelessCase", shapes=lambda avals, axis: avals[0])


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Images turned by `k` times 90 degrees, counter-clockwise.

    A function whose `k` only the call tells is recorded for square images; for others its Python
    runs at each call. Raises: ValueError for another rank than 3 or 4.

    >>> import tape_compat as tf
    >>> tf.image.rot90([[[1], [2]], [[3], [4]]]).numpy()[..., 0].tolist()
    [[2, 4], [1, 3]]
    """
    x = checked(image)
    columns = rank_of(x) - 2
    height, width = x._aval.shape[columns - 1 : columns + 1]
    square = height.__class__ is int and height == width
    if isinstance(k, Tensor) and square and value_if_known(k) is None:
        return apply(_TURNED.bind(axis=columns - 1), (x, k))
    turns = as_int(no_float(k)) % 4
    if turns == 1:
        return transpose(reverse(x, [columns]))
    if turns == 2:
        return reverse(x, [columns - 1, columns])
    return reverse(transpose(x), [columns]) if turns == 3 else identity(x)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _batch(image: Any) -> tuple[Tensor, int]:
    """The images with a batch axis, and the rank that they had."""
    x = convert(image)
    rank = rank_of(x)
    return (expand_dims(x, 0) if rank == 3 else x), rank


def _cropped(x: Tensor, top: Any, left: Any, height: Size, width: Size) -> Tensor:
    n, _, _, channels = x._aval.shape
    return cut(x, [0, top, left, 0], [n, height, width, channels])


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The part of images that starts at the offsets and is of the target size.

    The offsets may be tensors that are computed. Raises: ValueError if the part is not inside.

    >>> import tape_compat as tf
    >>> tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2).numpy().ravel().tolist()
    [2, 3]
    """
    x, rank = _batch(image)
    checked(x)
    _, have_height, have_width, _ = x._aval.shape
    height, width = as_size(target_height), as_size(target_width)
    offsets = [_offset(offset_height), _offset(offset_width)]
    for value, what in zip(reversed(offsets), ("width", "height"), strict=True):
        _require(isinstance(value, Tensor) or not less(value, 0), f"offset_{what} must be >= 0.")
    _require(not less(width, 1), "target_width must be > 0.")
    _require(not less(height, 1), "target_height must be > 0.")
    for have, want, offset, what in (
        (have_width, width, offsets[1], "width"),
        (have_height, height, offsets[0], "height"),
    ):
        start = 0 if isinstance(offset, Tensor) else offset
        _require(not less(have, want + start), f"{what} must be >= target + offset.")
    found = _cropped(x, offsets[0], offsets[1], height, width)
    return squeeze(found, [0]) if rank == 3 else found


def _offset(value: Any) -> Any:
    """An offset as a size, or as the tensor if it is known only when it is computed."""
    if isinstance(value, Tensor) and value._is_symbolic():
        return value
    return as_size(no_float(value))


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Images with zeros around them: the offsets above and left, to the target size in all.

    Raises: ValueError if the images do not fit.

    >>> import tape_compat as tf
    >>> tf.image.pad_to_bounding_box([[[7]]], 0, 1, 1, 3).numpy().ravel().tolist()
    [0, 7, 0]
    """
    x, rank = _batch(image)
    checked(x)
    _, have_height, have_width, _ = x._aval.shape
    given = (offset_height, offset_width, target_height, target_width)
    top, left, whole_height, whole_width = (as_size(no_float(size)) for size in given)
    below = whole_height - top - have_height
    right = whole_width - left - have_width
    _require(not less(top, 0), "offset_height must be >= 0")
    _require(not less(left, 0), "offset_width must be >= 0")
    _require(not less(right, 0), "width must be <= target - offset")
    _require(not less(below, 0), "height must be <= target - offset")
    found = pad(x, [[0, 0], [top, below], [left, right], [0, 0]])
    return squeeze(found, [0]) if rank == 3 else found


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Images cut or padded with zeros at both sides to the target size.

    Raises: ValueError for a size below 1.

    >>> import tape_compat as tf
    >>> tf.image.resize_with_crop_or_pad([[[1], [2], [3]]], 1, 1).numpy().ravel().tolist()
    [2]
    """
    x, rank = _batch(image)
    checked(x)
    height, width = as_size(no_float(target_height)), as_size(no_float(target_width))
    _require(not less(width, 1), "target_width must be > 0.")
    _require(not less(height, 1), "target_height must be > 0.")
    pairs: list[Any] = [[0, 0]]
    begin: list[Any] = [0]
    sizes: list[Any] = [x._aval.shape[0]]
    for want, have in zip((height, width), x._aval.shape[1:3], strict=True):
        kept = minimum(want, have)
        begin.append(maximum((have - want) // 2, 0))
        sizes.append(kept)
        before = maximum((want - have) // 2, 0)
        pairs.append([before, want - before - kept])
    found = cut(x, [*begin, 0], [*sizes, x._aval.shape[3]])
    if pairs != [[0, 0]] * 3:
        found = pad(found, [*pairs, [0, 0]])
    return squeeze(found, [0]) if rank == 3 else found


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images resized in their own proportions, then padded with zeros to the target size.

    Raises: ValueError for a size below 1; NotImplementedError for one that is unknown.

    >>> import tape_compat as tf
    >>> tf.image.resize_with_pad([[[1.0], [1.0]]], 2, 2).numpy()[..., 0].tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    x, rank = _batch(image)
    checked(x)
    target = [as_size(target_height), as_size(target_width)]
    _require(not less(target[1], 1), "target_width must be > 0.")
    _require(not less(target[0], 1), "target_height must be > 0.")
    if is_unknown(target):
        raise NotImplementedError("tf.image.resize_with_pad to a size that is unknown")
    height, width = map(int, target)
    if is_unknown(x._aval.shape[1:3]):
        found = resize_and_pad(x, (height, width), method, antialias)
    else:
        size, offset = within(x._aval.shape[1:3], target)
        found = resize(x, size, method, antialias=antialias)
        found = pad_to_bounding_box(found, *offset, height, width)
    return squeeze(found, [0]) if rank == 3 else found


def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The middle of images, a fraction in (0, 1] of their height and width.

    The fraction may be a tensor that is computed. Raises: ValueError for another fraction or rank.

    >>> import tape_compat as tf
    >>> tf.image.central_crop(tf.reshape(tf.range(16), [4, 4, 1]), 0.5).numpy()[..., 0].tolist()
    [[5, 6], [9, 10]]
    """
    x = convert(image)
    fraction = value_if_known(central_fraction)
    if fraction is not None and not 0 < fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    if fraction == 1:
        return x
    x = checked(x)
    rank = len(x._aval.shape)
    if rank not in (3, 4):
        raise ValueError(
            f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
        )
    begin, sizes = [0] * rank, list(x._aval.shape)
    have = host_shape(x._aval.shape[-3:-1], dtypes.int32)
    begin[-3:-1] = dims(_middle(have, convert(central_fraction)))
    for axis in (rank - 3, rank - 2):
        sizes[axis] -= 2 * begin[axis]
    return cut(x, begin, sizes)


@by_host()
def _middle(sizes: Tensor, fraction: Tensor) -> Tensor:
    """Where the middle of axes of these sizes begins, int32."""
    sketch = sketched(sizes, fraction)
    if sketch is not None:
        return sketch.tensor(sizes._aval.shape, dtypes.int32)
    have = known_value(sizes).astype(np.float64)
    rest = have - have * float(known_value(fraction))
    return convert((rest / 2).astype(np.int32))

"""`tf.compat.v1.image`: sizes of images, and functions whose parameters differ."""

from __future__ import annotations

from typing import Any

from ...composites.ragged import RaggedTensor
from ...core.dimensions import is_unknown
from ...ops.arguments import dims
from ...ops.images import boxes, distortions, drawing, geometry, patches
from ...ops.images.resize import of_ragged, within
from ...ops.images.resize_corners import resized
from ...ops.shapes import expand_dims, squeeze
from ...values import dispatch
from ...values.convert import convert
from ...values.tensor import Tensor
from ..raw.calls import raw_op
from .renamed import renamed


class ResizeMethod:
    """The methods of `resize_images`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = ("bilinear", "nearest", "bicubic", "area")


def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images [n, h, w, c] of another size, between the two nearest pixels each way; float32.

    >>> import tape_compat as tf
    >>> x = tf.constant([0.0, 4.0], shape=[1, 1, 2, 1])
    >>> tf.compat.v1.image.resize_bilinear(x, [1, 3], True).numpy().ravel().tolist()
    [0.0, 2.0, 4.0]
    """
    return resized(images, size, "bilinear", align_corners, half_pixel_centers)


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images [n, h, w, c] of another size, of the nearest pixels."""
    return resized(images, size, "nearest", align_corners, half_pixel_centers)


def resize_bicubic(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Images [n, h, w, c] of another size, by cubics through four pixels each way; float32."""
    return resized(images, size, "bicubic", align_corners, half_pixel_centers)


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Images [n, h, w, c] of another size, of means over what a new pixel covers; float32."""
    return resized(images, size, "area", align_corners)


def _method(method: Any) -> str:
    if method in _METHODS:
        return method
    if method not in range(len(_METHODS)):
        raise ValueError(f"Resize method is not implemented: {method}")
    return _METHODS[method]


def _refuse_unknown(sizes: Any) -> None:
    if is_unknown(sizes):
        raise NotImplementedError("tf.compat.v1.image: proportions of images of unknown size")


@dispatch.takes_composites
def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images [n, h, w, c] or [h, w, c] of another size; what has the size stays as it is.

    Args:
      method: a `ResizeMethod`.
      align_corners: whether the last pixels lie on each other, not only the first ones.
      preserve_aspect_ratio: whether to fit the images into `size` with their own proportions.
    Raises: ValueError for another rank, size or method.
    """
    x = convert(images)
    rank = len(x.shape)
    if rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    wanted = dims(size)
    if len(wanted) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    have = x._aval.shape[-3:-1]
    if preserve_aspect_ratio:
        _refuse_unknown((*wanted, *have))
        scale = min(wanted[0] / have[0], wanted[1] / have[1])
        wanted = tuple(round(scale * each) for each in have)
    if tuple(have) == tuple(wanted):
        return x
    batch = expand_dims(x, 0) if rank == 3 else x
    found = resized(batch, wanted, _method(method), align_corners)
    return squeeze(found, [0]) if rank == 3 else found


resize = resize_images
dispatch.define(RaggedTensor, resize_images=of_ragged(resize_images))


def resize_image_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Images resized in their own proportions, then padded with zeros to the target size."""
    x = convert(image)
    target = [int(target_height), int(target_width)]
    for name, size in (("target_width", target[1]), ("target_height", target[0])):
        if size < 1:
            raise ValueError(f"{name} must be > 0.")
    have = x._aval.shape[-3:-1]
    _refuse_unknown(have)
    size, offset = within(have, target)
    found = resize_images(x, size, method, align_corners)
    return geometry.pad_to_bounding_box(found, *offset, *target)


crop_and_resize = renamed(
    boxes.crop_and_resize,
    "image boxes box_ind:box_indices crop_size=None method='bilinear' extrapolation_value=0 "
    "name=None box_indices=None",
)
extract_image_patches = renamed(
    patches.extract_patches,
    "images ksizes:sizes strides=None rates=None padding=None name=None sizes=None",
    "extract_image_patches",
)
_SAMPLED = (
    "image_size bounding_boxes seed=None ~seed2=None min_object_covered=0.1 "
    "aspect_ratio_range=None area_range=None max_attempts=None "
    "use_image_if_no_bounding_boxes=None name=None"
)
sample_distorted_bounding_box = renamed(distortions.sample_distorted_bounding_box, _SAMPLED)


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """See `tf.image.draw_bounding_boxes`."""
    return drawing.draw_bounding_boxes(images, boxes, colors)


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """Windows of `size` of images [n, h, w, c] around `offsets` [n, 2]; noise is outside of them.

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.compat.v1.image.extract_glimpse(x, [1, 1], [[0.0, 0.0]]).numpy().item()
    4.0
    """
    return raw_op("ExtractGlimpse")(
        input=input,
        size=size,
        offsets=offsets,
        centered=bool(centered),
        normalized=bool(normalized),
        uniform_noise=bool(uniform_noise),
    )

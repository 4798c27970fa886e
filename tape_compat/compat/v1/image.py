"""`tf.compat.v1.image`: names whose arguments differ from those of `tf.image`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.images import (
    ResizeMethod as ResizeMethod,
    crop_and_resize as crop_and_resize,
    draw_bounding_boxes as draw_bounding_boxes,
    extract_glimpse as extract_glimpse,
    extract_image_patches as extract_image_patches,
    resize as resize,
    resize_area as resize_area,
    resize_bicubic as resize_bicubic,
    resize_bilinear as resize_bilinear,
    resize_image_with_pad as resize_image_with_pad,
    resize_images as resize_images,
    resize_nearest_neighbor as resize_nearest_neighbor,
    sample_distorted_bounding_box as sample_distorted_bounding_box,
)

_face(__name__)

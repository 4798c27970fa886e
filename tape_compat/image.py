"""`tf.image`: sizes, colors, geometry, measures and files of images."""

from ._src.interop.names import face as _face
from ._src.ops.images.patches import extract_patches as extract_patches

_face(__name__)

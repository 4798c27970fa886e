"""`tf.sets`: rows of tensors as sets."""

from ._src.interop.names import face as _face
from ._src.ops.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)

_face(__name__)

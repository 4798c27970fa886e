"""`tf.compat.v1.manip`: functions of arrays."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.arrays import (
    batch_to_space_nd as batch_to_space_nd,
)
from ..._src.library.version1.calls import (
    gather_nd as gather_nd,
)

_face(__name__)

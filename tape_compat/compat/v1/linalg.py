"""`tf.compat.v1.linalg`: names whose arguments differ from those of `tf.linalg`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.arrays import (
    norm as norm,
)

_face(__name__)

"""`tf.compat.v1.math`: names whose arguments differ from those of `tf.math`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.calls import in_top_k as in_top_k

_face(__name__)

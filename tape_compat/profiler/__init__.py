"""`tf.profiler`: where time goes."""

from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)

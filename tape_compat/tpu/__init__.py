"""`tf.tpu`: what programs call before they use TPUs."""

from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)

"""`tf.tpu`: what programs call before they use TPUs."""

from .._src.interop.names import face as _face
from .._src.library.tpus import XLAOptions as XLAOptions
from . import experimental as experimental

_face(__name__)

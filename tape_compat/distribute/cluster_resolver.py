"""`tf.distribute.cluster_resolver`: what a program asks whether there is a TPU; there is none."""

from .._src.interop.names import face as _face
from .._src.library.distribute import TPUClusterResolver as TPUClusterResolver

_face(__name__)

"""`tf.compat`: names of other versions of TensorFlow."""

from .._src.interop.names import face as _face
from . import v1 as v1

_face(__name__)

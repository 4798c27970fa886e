"""`tf.types`: types for annotations."""

from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)

"""`tf.xla`: what is to be compiled by XLA."""

from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)

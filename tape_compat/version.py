"""`tf.version`: the TensorFlow whose names and behaviour these are."""

from ._src.interop.names import face as _face
from ._src.standin.table import GIT_VERSION as GIT_VERSION, VERSION as VERSION

_face(__name__)

"""`tf.compat.v1.test`: a folder for tests, and what `tf.test` has."""

from ..._src.interop.version1 import face as _face
from ..._src.library.testing.files import get_temp_dir as get_temp_dir

_face(__name__)

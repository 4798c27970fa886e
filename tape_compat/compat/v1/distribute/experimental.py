"""`tf.compat.v1.distribute.experimental`: a strategy."""

from ...._src.interop.version1 import face as _face
from ...._src.library.distribute import CentralStorageStrategy as CentralStorageStrategy

_face(__name__)

"""`tf.compat.v1.distribute`: strategies."""

from ...._src.interop.version1 import face as _face
from ...._src.library.distribute import (
    MirroredStrategy as MirroredStrategy,
    OneDeviceStrategy as OneDeviceStrategy,
    ReplicaContext as ReplicaContext,
    Strategy as Strategy,
)
from . import experimental as experimental

_face(__name__)

"""`tf.test.experimental`."""

from .._src.interop.names import face as _face
from .._src.library.synchronization import sync_devices as sync_devices

_face(__name__)

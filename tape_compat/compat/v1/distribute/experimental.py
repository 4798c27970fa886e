"""`tf.compat.v1.distribute.experimental`: strategies."""

from ...._src.interop.version1 import face as _face
from ...._src.library.distribute import CentralStorageStrategy as CentralStorageStrategy
from ...._src.standin.keras2 import SeveralDevices as ParameterServerStrategy

_face(__name__)

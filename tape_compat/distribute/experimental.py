"""`tf.distribute.experimental`: strategies under their older names."""

from .._src.interop.names import face as _face
from .._src.library.distribute import (
    CentralStorageStrategy as CentralStorageStrategy,
    CommunicationImplementation as CollectiveCommunication,
    CommunicationImplementation as CommunicationImplementation,
    CommunicationOptions as CommunicationOptions,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    TPUStrategy as TPUStrategy,
    ValueContext as ValueContext,
)

_face(__name__)

"""`tf.distribute.experimental`: strategies under their older names."""

from .._src.interop.names import face as _face
from .._src.library.distribute import (
    CentralStorageStrategy as CentralStorageStrategy,
    CommunicationImplementation as CollectiveCommunication,
    CommunicationImplementation as CommunicationImplementation,
    CommunicationOptions as CommunicationOptions,
    OlderMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    ValueContext as ValueContext,
)
from .._src.library.tpus import TPUStrategy as TPUStrategy

_face(__name__)

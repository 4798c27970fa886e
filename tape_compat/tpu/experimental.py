"""`tf.tpu.experimental`: what programs call before they use TPUs."""

from .._src.interop.names import face as _face
from .._src.library.tpus import (
    initialize_tpu_system as initialize_tpu_system,
    shutdown_tpu_system as shutdown_tpu_system,
)

_face(__name__)

"""`tf.compat.v1.app`: what runs a program."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.app import (
    run as run,
)
from . import flags as flags

_face(__name__)

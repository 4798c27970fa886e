"""`tf.profiler.experimental.server`: profiles that are asked for from outside."""

from ..._src.diagnostics.profiler import start_server as start
from ..._src.interop.names import face as _face

_face(__name__)

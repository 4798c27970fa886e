"""`tf.profiler.experimental`: profiles that TensorBoard shows."""

from ..._src.diagnostics.profiler import (
    Profile as Profile,
    ProfilerOptions as ProfilerOptions,
    Trace as Trace,
    start as start,
    stop as stop,
)
from ..._src.interop.names import face as _face
from . import server as server

_face(__name__)

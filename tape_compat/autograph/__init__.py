"""`tf.autograph`: what `tf.function` does to the functions that it traces."""

from .._src.function.autograph.inspect_code import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)

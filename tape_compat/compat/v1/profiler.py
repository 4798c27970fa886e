"""`tf.compat.v1.profiler`: float operations of functions."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.profiling import (
    GraphNodeProto as GraphNodeProto,
    MultiGraphNodeProto as MultiGraphNodeProto,
    ProfileOptionBuilder as ProfileOptionBuilder,
    profile as profile,
)

_face(__name__)

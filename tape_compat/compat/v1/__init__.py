"""`tf.compat.v1`: the names of TensorFlow 1 that libraries use in code for TensorFlow 2."""

from ..._src.function.grouping import (
    Graph as Graph,
    get_default_graph as get_default_graph,
    placeholder as placeholder,
    reset_default_graph as reset_default_graph,
)
from ..._src.interop.names import face as _face
from . import nn as nn

_face(__name__)

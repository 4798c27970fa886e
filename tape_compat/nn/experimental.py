"""`tf.nn.experimental`: dropout by a seed or by given numbers."""

from .._src.interop.names import face as _face
from .._src.ops.embedding import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)

_face(__name__)

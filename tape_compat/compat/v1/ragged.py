"""`tf.compat.v1.ragged`: ragged tensors as arrays, and the names of `tf.ragged`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.testing.values import (
    RaggedTensorValue as RaggedTensorValue,
    constant_value as constant_value,
)

_face(__name__)

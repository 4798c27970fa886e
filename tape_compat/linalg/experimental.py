"""`tf.linalg.experimental`: solutions by iteration."""

from .._src.interop.names import face as _face
from .._src.library.linear_operator.conjugate_gradient import (
    conjugate_gradient as conjugate_gradient,
)

_face(__name__)

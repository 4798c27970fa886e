"""`tf.math.special`: Bessel functions."""

from .._src.interop.names import face as _face
from .._src.ops.elementwise import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
)

_face(__name__)

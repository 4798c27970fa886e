"""`tf.experimental.numpy.random`: random numbers by the global seed."""

from ..._src.interop.names import face as _face
from ..._src.ops.numpy.sampling import (
    poisson as poisson,
    rand as rand,
    randint as randint,
    randn as randn,
    random as random,
    seed as seed,
    standard_normal as standard_normal,
    uniform as uniform,
)

_face(__name__)

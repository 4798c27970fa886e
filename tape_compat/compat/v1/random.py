"""`tf.compat.v1.random`: names whose arguments differ from those of `tf.random`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.arrays import (
    multinomial as multinomial,
    random_poisson as poisson,
    set_random_seed as set_random_seed,
    stateless_multinomial as stateless_multinomial,
)
from ..._src.ops.random_keys import get_seed as get_seed

_face(__name__)

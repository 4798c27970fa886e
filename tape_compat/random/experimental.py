"""`tf.random.experimental`: older names of what is in `tf.random`, and a shuffle by a seed."""

from .._src.interop.names import face as _face
from .._src.ops.index_shuffle import index_shuffle as index_shuffle
from .._src.ops.random_generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from .._src.ops.random_keys import Algorithm as Algorithm
from .._src.ops.random_stateless import (
    fold_in as stateless_fold_in,
    split as stateless_split,
    stateless_shuffle as stateless_shuffle,
)

_face(__name__)

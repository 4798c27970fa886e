"""`tf.config.threading`: how many threads ops use, which the system chooses."""

from .._src.interop.names import face as _face
from .._src.library.config import (
    get_inter_op_parallelism_threads as get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads as get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads as set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads as set_intra_op_parallelism_threads,
)

_face(__name__)

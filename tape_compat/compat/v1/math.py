"""`tf.compat.v1.math`: names whose arguments differ from those of `tf.math`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.arrays import (
    argmax as argmax,
    argmin as argmin,
    bincount as bincount,
    confusion_matrix as confusion_matrix,
    count_nonzero as count_nonzero,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from ..._src.library.version1.calls import in_top_k as in_top_k
from ..._src.library.version1.nn import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from ..._src.ops.sums import (
    scalar_mul as scalar_mul,
)

_face(__name__)

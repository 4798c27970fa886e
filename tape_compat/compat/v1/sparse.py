"""`tf.compat.v1.sparse`: names whose arguments differ from those of `tf.sparse`."""

from ..._src.function.grouping import (
    sparse_placeholder as placeholder,
)
from ..._src.interop.version1 import face as _face
from ..._src.library.version1.texts_and_sparse import (
    sparse_add as add,
    sparse_concat as concat,
    sparse_merge as merge,
    sparse_reduce_max as reduce_max,
    sparse_reduce_max_sparse as reduce_max_sparse,
    sparse_reduce_sum as reduce_sum,
    sparse_reduce_sum_sparse as reduce_sum_sparse,
    sparse_segment_mean as segment_mean,
    sparse_segment_sqrt_n as segment_sqrt_n,
    sparse_segment_sum as segment_sum,
    sparse_split as split,
)

_face(__name__)

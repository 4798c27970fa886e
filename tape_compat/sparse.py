"""`tf.sparse`: tensors of which most elements are zero."""

from ._src.interop.names import face as _face
from ._src.ops.crosses import (
    sparse_cross as cross,
    sparse_cross_hashed as cross_hashed,
)
from ._src.ops.sparse_arithmetic import (
    SparseTensor as SparseTensor,
    add as add,
    bincount as bincount,
    maximum as maximum,
    minimum as minimum,
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
    softmax as softmax,
    sparse_dense_matmul as sparse_dense_matmul,
)
from ._src.ops.sparse_layout import (
    concat as concat,
    expand_dims as expand_dims,
    eye as eye,
    fill_empty_rows as fill_empty_rows,
    from_dense as from_dense,
    map_values as map_values,
    mask as mask,
    reorder as reorder,
    reset_shape as reset_shape,
    reshape as reshape,
    retain as retain,
    slice as slice,
    split as split,
    to_dense as to_dense,
    to_indicator as to_indicator,
    transpose as transpose,
)
from ._src.ops.sparse_products import (
    sampled_addmm as sampled_addmm,
)
from ._src.ops.sparse_segments import (
    segment_mean as segment_mean,
    segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum,
)

_face(__name__)

"""`tf.ragged`: tensors whose rows differ in length."""

from ._src.interop.names import face as _face
from ._src.ops.crosses import (
    ragged_cross as cross,
    ragged_cross_hashed as cross_hashed,
)
from ._src.ops.ragged_creation import (
    boolean_mask as boolean_mask,
    constant as constant,
    map_flat_values as map_flat_values,
    ragged_range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from ._src.ops.ragged_rows import stack as stack

_face(__name__)

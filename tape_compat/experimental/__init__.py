"""`tf.experimental`: names that may still change in TensorFlow."""

from .._src.composites.extension_type import (
    BatchableExtensionType as BatchableExtensionType,
    ExtensionType as ExtensionType,
    ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder,
    ExtensionTypeSpec as ExtensionTypeSpec,
)
from .._src.composites.row_partition import RowPartition as RowPartition
from .._src.core.dtypes import (
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    int4 as int4,
    uint4 as uint4,
)
from .._src.data.optional import Optional as Optional
from .._src.interop.dispatch import (
    dispatch_for_api as dispatch_for_api,
    dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for as unregister_dispatch_for,
)
from .._src.interop.names import face as _face
from .._src.library.synchronization import (
    async_clear_error as async_clear_error,
    async_scope as async_scope,
)
from .._src.ops.ragged_shapes import DynamicRaggedShape as DynamicRaggedShape
from . import dlpack as dlpack, extension_type as extension_type, numpy as numpy

_face(__name__)

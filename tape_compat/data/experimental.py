"""`tf.data.experimental`: further datasets and settings."""

from .._src.data.optional import Optional as Optional
from .._src.data.options import (
    AutoShardPolicy as AutoShardPolicy,
    AutotuneAlgorithm as AutotuneAlgorithm,
    AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions,
    ExternalStatePolicy as ExternalStatePolicy,
    OptimizationOptions as OptimizationOptions,
    ServiceOptions as ServiceOptions,
    ThreadingOptions as ThreadingOptions,
)
from .._src.data.pipeline import (
    AUTOTUNE as AUTOTUNE,
    INFINITE as INFINITE_CARDINALITY,
    UNKNOWN as UNKNOWN_CARDINALITY,
)
from .._src.interop.names import face as _face

_face(__name__)

"""`tf.distribute.cluster_resolver`: which cluster a process is of, and whether it has TPUs."""

from .._src.interop.names import face as _face
from .._src.library.cluster_resolvers import (
    ClusterResolver as ClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    UnionResolver as UnionResolver,
)
from .._src.library.tpus import TPUClusterResolver as TPUClusterResolver

_face(__name__)

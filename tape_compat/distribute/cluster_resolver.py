"""`tf.distribute.cluster_resolver`: which cluster a process is of; of TPUs there is none."""

from .._src.interop.names import face as _face
from .._src.library.cluster_resolvers import (
    ClusterResolver as ClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    UnionResolver as UnionResolver,
)
from .._src.library.distribute import TPUClusterResolver as TPUClusterResolver

_face(__name__)

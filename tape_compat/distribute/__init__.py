"""`tf.distribute`: one replica, in which everything is done once, on one device or on several."""

from .._src.interop.names import face as _face
from .._src.library.distribute import (
    CrossDeviceOps as CrossDeviceOps,
    DistributedDataset as DistributedDataset,
    DistributedIterator as DistributedIterator,
    DistributedValues as DistributedValues,
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    InputContext as InputContext,
    InputOptions as InputOptions,
    InputReplicationMode as InputReplicationMode,
    MirroredStrategy as MirroredStrategy,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
    NcclAllReduce as NcclAllReduce,
    OneDeviceStrategy as OneDeviceStrategy,
    ReduceOp as ReduceOp,
    ReductionToOneDevice as ReductionToOneDevice,
    ReplicaContext as ReplicaContext,
    RunOptions as RunOptions,
    Strategy as Strategy,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)
from .._src.library.tpus import TPUStrategy as TPUStrategy
from . import cluster_resolver as cluster_resolver, experimental as experimental

_face(__name__)

"""`tf.compat.v1`: the names of TensorFlow 1, for eager code and `tf.function`."""

from ..._src.diagnostics.summary.protos import (
    Event as Event,
    HistogramProto as HistogramProto,
    Summary as Summary,
    SummaryMetadata as SummaryMetadata,
)
from ..._src.function.functional_ops import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
)
from ..._src.function.grouping import (
    get_default_graph as get_default_graph,
    placeholder as placeholder,
)
from ..._src.interop.version1 import face as _face
from ..._src.library.version1.calls import (
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    boolean_mask as boolean_mask,
    cond as cond,
    gather as gather,
    gather_nd as gather_nd,
    gradients as gradients,
    pad as pad,
    where as where,
    while_loop as while_loop,
)
from ..._src.library.version1.collections import (
    GraphKeys as GraphKeys,
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
    reset_default_graph as reset_default_graph,
)
from ..._src.library.version1.dimension import Dimension as Dimension
from ..._src.library.version1.initializers import (
    Constant as constant_initializer,
    GlorotNormal as glorot_normal_initializer,
    GlorotUniform as glorot_uniform_initializer,
    Ones as ones_initializer,
    Orthogonal as orthogonal_initializer,
    RandomNormal as random_normal_initializer,
    RandomUniform as random_uniform_initializer,
    TruncatedNormal as truncated_normal_initializer,
    VarianceScaling as variance_scaling_initializer,
    Zeros as zeros_initializer,
)
from . import (
    initializers as initializers,
    io as io,
    keras as keras,
    logging as logging,
    losses as losses,
    math as math,
    nn as nn,
    train as train,
)

_face(__name__)

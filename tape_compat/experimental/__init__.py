"""`tf.experimental`: names that may still change in TensorFlow."""

from .._src.data.optional import Optional as Optional
from .._src.interop.names import face as _face
from .._src.values.ragged_shape import DynamicRaggedShape as DynamicRaggedShape
from .._src.values.row_partition import RowPartition as RowPartition
from . import dlpack as dlpack, numpy as numpy

_face(__name__)

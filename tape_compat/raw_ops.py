"""`tf.raw_ops`: a few ops under the names of their kernels, by keyword arguments."""

from ._src.interop.names import face as _face
from ._src.ops.raw import (
    BatchToSpaceND as BatchToSpaceND,
    Bucketize as Bucketize,
    DepthToSpace as DepthToSpace,
    ImageProjectiveTransformV3 as ImageProjectiveTransformV3,
    SpaceToBatchND as SpaceToBatchND,
    SpaceToDepth as SpaceToDepth,
    UniqueV2 as UniqueV2,
    UniqueWithCountsV2 as UniqueWithCountsV2,
)

_face(__name__)

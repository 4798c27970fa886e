"""`tf.train`: examples as protocol buffers."""

from ._src.data.io.messages import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from ._src.interop.names import face as _face

_face(__name__)

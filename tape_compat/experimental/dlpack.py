"""`tf.experimental.dlpack`: memory shared with other libraries."""

from .._src.interop.dlpack import from_dlpack as from_dlpack, to_dlpack as to_dlpack
from .._src.interop.names import face as _face

_face(__name__)

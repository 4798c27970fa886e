"""`tf.compat.v1.train`: the events of files."""

from ..._src.diagnostics.summary.iterate import summary_iterator as summary_iterator
from ..._src.interop.version1 import face as _face

_face(__name__)

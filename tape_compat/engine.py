"""What is ours and not TensorFlow's: `as_op`, `functional`, `counters`, `clear_caches`."""

from ._src.core.counters import COUNTERS as counters
from ._src.interop.functional import functional as functional
from ._src.interop.jax import as_op as as_op
from ._src.interop.names import face as _face
from ._src.values.context import clear_caches as clear_caches

_face(__name__)

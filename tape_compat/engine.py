"""What is ours and not TensorFlow's: `as_op`, `counters`."""

from ._src.core.counters import COUNTERS as counters
from ._src.interop.jax import as_op as as_op

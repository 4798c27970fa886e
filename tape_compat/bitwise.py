"""`tf.bitwise`: operations on the bits of integers."""

from ._src.interop.names import face as _face
from ._src.ops.comparison import (
    bitwise_and as bitwise_and,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    invert as invert,
    left_shift as left_shift,
    right_shift as right_shift,
)

_face(__name__)

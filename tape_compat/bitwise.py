"""`tf.bitwise`: operations on the bits of integers."""

from .math import bitwise_and as bitwise_and
from .math import bitwise_or as bitwise_or
from .math import bitwise_xor as bitwise_xor
from .math import invert as invert
from .math import left_shift as left_shift
from .math import right_shift as right_shift

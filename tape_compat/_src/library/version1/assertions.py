"""`tf.debugging.assert_*` with the parameters of TensorFlow 1, in which `data` is printed only."""

from __future__ import annotations

from ...diagnostics import assertions
from .renamed import renamed

_PAIR = "x y ~data=None summarize=None message=None name=None"
assert_equal = renamed(assertions.assert_equal, _PAIR)
assert_greater = renamed(assertions.assert_greater, _PAIR)
assert_greater_equal = renamed(assertions.assert_greater_equal, _PAIR)
assert_less = renamed(assertions.assert_less, _PAIR)
assert_less_equal = renamed(assertions.assert_less_equal, _PAIR)
assert_none_equal = renamed(assertions.assert_none_equal, _PAIR)
assert_near = renamed(
    assertions.assert_near,
    "x y rtol=None atol=None ~data=None summarize=None message=None name=None",
)
_ONE = "x ~data=None summarize=None message=None name=None"
assert_negative = renamed(assertions.assert_negative, _ONE)
assert_non_negative = renamed(assertions.assert_non_negative, _ONE)
assert_non_positive = renamed(assertions.assert_non_positive, _ONE)
assert_positive = renamed(assertions.assert_positive, _ONE)
_RANK = "x rank ~data=None ~summarize=None message=None name=None"
assert_rank = renamed(assertions.assert_rank, _RANK)
assert_rank_at_least = renamed(assertions.assert_rank_at_least, _RANK)
assert_rank_in = renamed(
    assertions.assert_rank_in, "x ranks ~data=None ~summarize=None message=None name=None"
)
assert_integer = renamed(assertions.assert_integer, "x message=None name=None")
assert_scalar = renamed(assertions.assert_scalar, "tensor name=None message=None")
assert_shapes = renamed(
    assertions.assert_shapes, "shapes ~data=None summarize=None message=None name=None"
)
assert_type = renamed(assertions.assert_type, "tensor tf_type message=None name=None")

"""`tf.debugging.assert_*` with the parameters of TensorFlow 1, in which `data` is printed only."""

from __future__ import annotations

from typing import Any

from ...diagnostics import assertions
from ...values.convert import convert
from ...values.effects import checking
from ...values.tensor import Tensor
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
assert_integer = renamed(checking(assertions.assert_integer), "x message=None name=None")


def assert_scalar(tensor: Any, name: str | None = None, message: Any = None) -> Tensor:
    """A tensor without axes as it is. Raises: ValueError for one that has axes.

    >>> import tape_compat as tf
    >>> tf.compat.v1.assert_scalar(2.0).shape
    TensorShape([])
    """
    tensor = convert(tensor)
    assertions.assert_scalar(tensor, message)
    return tensor


assert_shapes = renamed(
    checking(assertions.assert_shapes), "shapes ~data=None summarize=None message=None name=None"
)
assert_type = renamed(checking(assertions.assert_type), "tensor tf_type message=None name=None")

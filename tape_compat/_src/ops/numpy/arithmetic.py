"""Functions of the elements of two arrays: sums, quotients, powers, extremes, bits."""

from __future__ import annotations

import numbers
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.op import Op
from ...values.record import apply
from ...values.tensor import Tensor
from .. import arithmetic as _of
from ..activations import relu
from ..casting import cast
from ..clipping import clip_by_value
from ..comparison import (
    bitwise_and as _and,
    bitwise_or as _or,
    bitwise_xor as _xor,
    less,
    logical_and,
    logical_or,
    not_equal,
)
from ..declare import check_broadcast
from ..selection import where
from .arrays import as_inexact, promoted
from .declare import name_rows, of_two
from .elementwise import abs as _abs, exp, exp2, isnan, log1p, sqrt, square
from .shapes import broadcast_arrays

add = of_two(_of.add, "x1 + x2; of bools, or.", of_bools=logical_or)
subtract = of_two(_of.subtract, "x1 - x2.")
multiply = of_two(_of.multiply, "x1 * x2; of bools, and.", of_bools=logical_and)
true_divide = of_two(_of.truediv, "x1 / x2, of integers as floats.", bools_as=float)
divide = of_two(_of.truediv, "The same as `true_divide`.", bools_as=float)
floor_divide = of_two(_of.floordiv, "x1 / x2, rounded down.", bools_as="int8")
mod = of_two(_of.mod, "x1 - floor_divide(x1, x2) * x2: has the sign of x2.", bools_as="int8")
remainder = of_two(_of.mod, "The same as `mod`.", bools_as="int8")
power = of_two(_of.pow, "x1 to the power x2. Raises for integers to negative ones.")
float_power = of_two(_of.pow, "The same as `power`; integers stay such.")
arctan2 = of_two(_of.atan2, "Angle of the point (x2, x1), in radians, of floats.")
nextafter = of_two(_of.nextafter, "Next number after x1 towards x2.")
minimum = of_two(_of.minimum, "Smaller of x1 and x2; of bools, and.", of_bools=logical_and)
_MAXIMUM = of_two(_of.maximum, "", of_bools=logical_or)
bitwise_and = of_two(_and, "Bits set in both; of bools, and.", of_bools=logical_and)
bitwise_or = of_two(_or, "Bits set in one; of bools, or.", of_bools=logical_or)
bitwise_xor = of_two(_xor, "Bits set in exactly one; of bools, either.", of_bools=not_equal)


def maximum(x1: Any, x2: Any) -> Tensor:
    """Larger of x1 and x2; of bools, or. `maximum(x, 0)` is `tf.nn.relu(x)`, for its gradient too.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.maximum([1, 5], 3).numpy().tolist()
    [3, 5]
    """
    if isinstance(x2, numbers.Real) and not isinstance(x2, bool) and x2 == 0:
        if x1.__class__ is Tensor and not x1.dtype.is_bool:
            return relu(x1)
    return _MAXIMUM(x1, x2)


def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """`floor_divide` and `mod` of x1 and x2.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.divmod([7, -7], 3)]
    [[2, -3], [1, 2]]
    """
    x1, x2 = promoted(x1, x2)
    return floor_divide(x1, x2), mod(x1, x2)


def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """`a` with what is outside the bounds, either of which may be None, set to the bound.

    Raises: ValueError if both are None.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.clip([1, 5, 9], 2, 6).numpy().tolist()
    [2, 5, 6]
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    x, low, high = broadcast_arrays(*promoted(a, a_min, a_max))
    return clip_by_value(x, low, high)


def heaviside(x1: Any, x2: Any) -> Tensor:
    """0 where x1 < 0, x2 where it is 0, 1 above; floats.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.heaviside([-1.0, 0.0, 2.0], 0.5).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    x1, x2 = promoted(x1, x2)
    zero, one = cast(0, x2.dtype), cast(1, x2.dtype)
    return as_inexact(where(less(x1, zero), zero, where(less(zero, x1), one, x2)))


def hypot(x1: Any, x2: Any) -> Tensor:
    """sqrt(x1**2 + x2**2).

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.hypot(3, 4))
    5.0
    """
    return sqrt(add(square(x1), square(x2)))


def logaddexp(x1: Any, x2: Any) -> Tensor:
    """log(exp(x1) + exp(x2)), exact for large numbers.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.logaddexp(1000.0, 0.0))
    1000.0
    """
    x1, x2 = promoted(x1, x2)
    apart = _of.subtract(x1, x2)
    both = maximum(x1, x2) + log1p(exp(-_abs(apart)))
    return _of_infinities(apart, x1, x2, both)


def logaddexp2(x1: Any, x2: Any) -> Tensor:
    """log2(2**x1 + 2**x2), exact for large numbers.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.logaddexp2(3.0, 3.0))
    4.0
    """
    x1, x2 = promoted(x1, x2)
    apart = _of.subtract(x1, x2)
    both = maximum(x1, x2) + log1p(exp2(-_abs(apart))) / np.log(2)
    return _of_infinities(apart, x1, x2, both)


def _of_infinities(apart: Tensor, x1: Tensor, x2: Tensor, both: Tensor) -> Tensor:
    """`both`, and the sum where the distance is NaN: of two infinities, or of NaN."""
    total, both = promoted(_of.add(x1, x2), both)
    return where(isnan(apart), total, both)


def _check_integers(avals: tuple[Any, ...]) -> None:
    if not avals[0].dtype.is_integer:
        raise ValueError("Arguments to gcd must be integers.")
    check_broadcast(avals[0], avals[1], "BroadcastTo")


_GCD = Op(jnp.gcd, "Gcd", differentiable=False, check=_check_integers).bind()
_LCM = Op(jnp.lcm, "Lcm", differentiable=False, check=_check_integers).bind()
gcd = of_two(
    lambda x1, x2: apply(_GCD, tuple(promoted(x1, x2))), "Greatest common divisor of integers."
)
lcm = of_two(
    lambda x1, x2: apply(_LCM, tuple(promoted(x1, x2))), "Lowest common multiple of integers."
)

name_rows(globals())

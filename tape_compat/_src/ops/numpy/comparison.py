"""Comparison and logic, with operands brought to one dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...values.tensor import Tensor, concrete
from .. import comparison as _of
from ..arithmetic import subtract
from ..casting import cast
from ..elementwise import abs as _abs, is_nan
from ..reductions import reduce_all
from .arrays import as_array, converted, is_inexact, promoted
from .declare import name_rows, of_one, of_two

equal = of_two(_of.equal, "Where x1 equals x2.")
not_equal = of_two(_of.not_equal, "Where x1 differs from x2.")
greater = of_two(_of.greater, "Where x1 > x2.", bools_as="int32")
greater_equal = of_two(_of.greater_equal, "Where x1 >= x2.", bools_as="int32")
less = of_two(_of.less, "Where x1 < x2.", bools_as="int32")
less_equal = of_two(_of.less_equal, "Where x1 <= x2.", bools_as="int32")


def _bools(x: Any) -> Tensor:
    return cast(as_array(x), dtypes.bool)


def logical_and(x1: Any, x2: Any) -> Tensor:
    """Where both are true, that is not 0.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.logical_and([0, 2], True).numpy().tolist()
    [False, True]
    """
    return _of.logical_and(_bools(x1), _bools(x2))


def logical_or(x1: Any, x2: Any) -> Tensor:
    """Where one is true, that is not 0.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.logical_or([0, 2], False).numpy().tolist()
    [False, True]
    """
    return _of.logical_or(_bools(x1), _bools(x2))


def logical_xor(x1: Any, x2: Any) -> Tensor:
    """Where exactly one is true, that is not 0.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.logical_xor([0, 2], True).numpy().tolist()
    [True, False]
    """
    return _of.logical_xor(_bools(x1), _bools(x2))


logical_not = of_one(lambda x: _of.logical_not(_bools(x)), "Where x is 0.")


def array_equal(a1: Any, a2: Any) -> Tensor:
    """Whether both have one shape and equal elements, a bool tensor.

    >>> import tape_compat as tf
    >>> bool(tf.experimental.numpy.array_equal([1, 2], [1.0, 2.0]))
    True
    """
    a1, a2 = promoted(a1, a2)
    if not a1.shape.is_compatible_with(a2.shape):
        return concrete(np.array(False))
    return reduce_all(_of.equal(a1, a2))


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Where |a - b| <= atol + rtol |b|; of integers, where they are equal.

    equal_nan: whether NaN is close to NaN.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.isclose([1.0, 2.0], [1.0, 2.1]).numpy().tolist()
    [True, False]
    """
    a, b = promoted(a, b)
    if not is_inexact(a):
        return _of.equal(a, b)
    real = a.dtype.real_dtype
    bound = converted(atol, real) + converted(rtol, real) * _abs(b)
    close = _of.less_equal(_abs(subtract(a, b)), bound)
    if equal_nan:
        close = _of.logical_or(close, _of.logical_and(is_nan(a), is_nan(b)))
    return close


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether `isclose` everywhere, a bool tensor.

    >>> import tape_compat as tf
    >>> bool(tf.experimental.numpy.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]))
    True
    """
    return reduce_all(isclose(a, b, rtol, atol, equal_nan))


name_rows(globals())

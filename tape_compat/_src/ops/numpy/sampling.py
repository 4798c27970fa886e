"""`tf.experimental.numpy.random`: random numbers by the global seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...values.tensor import Tensor
from .. import random_stateful as _of
from ..random_keys import set_seed
from ..shapes import broadcast_dynamic_shape, shape
from .arrays import converted, isscalar
from .dtypes import result_type


def seed(s: Any) -> None:
    """Set the global seed: `tf.random.set_seed`. Raises ValueError for what is no number.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.seed(1)
    """
    try:
        s = int(s)
    except TypeError:
        raise ValueError(
            f"Argument `s` got an invalid value {s}. Only integers are supported."
        ) from None
    set_seed(s)


def _sizes(size: Any) -> Any:
    if size is None:
        return ()
    return (size,) if isscalar(size) else size


def standard_normal(size: Any = None) -> Tensor:
    """Normal random numbers of mean 0 and deviation 1, float64.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.standard_normal(3).shape
    TensorShape([3])
    """
    return _of.normal(_sizes(size), dtype=result_type(float))


def randn(*args: Any) -> Tensor:
    """`standard_normal` of the shape that the arguments are.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.randn(2, 3).shape
    TensorShape([2, 3])
    """
    return standard_normal(size=args)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Random numbers from `low` up to but without `high`, float64.

    size: a shape; by default that of `low` and `high` broadcast.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.uniform([0.0, 10.0], [1.0, 20.0]).shape
    TensorShape([2])
    """
    dtype = result_type(float)
    low, high = converted(low, dtype), converted(high, dtype)
    if size is None:
        size = broadcast_dynamic_shape(shape(low), shape(high))
    return _of.uniform(size, low, high, dtype)


def random(size: Any = None) -> Tensor:
    """`uniform` from 0 to 1.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.random([2]).shape
    TensorShape([2])
    """
    return uniform(0.0, 1.0, size)


def rand(*size: Any) -> Tensor:
    """`uniform` from 0 to 1 of the shape that the arguments are.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.rand(2, 3).shape
    TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size)


def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers drawn from the Poisson distribution of rate `lam`, int64.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.random.poisson(2.0, 3).dtype
    tf.int64
    """
    return _of.poisson(_sizes(size), lam, dtype=np.int_)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Tensor:
    """Random integers from `low` up to but without `high`; from 0 up to `low` if that is None.

    Raises: ValueError for a dtype that is neither int32 nor int64.

    >>> import tape_compat as tf
    >>> x = tf.experimental.numpy.random.randint(5, size=100).numpy()
    >>> bool(x.min() >= 0 and x.max() < 5)
    True
    """
    low, high = (0, low) if high is None else (low, high)
    kind = result_type(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. Only those convertible to "
            f"{(np.int32, np.int64)} are supported."
        )
    return _of.uniform(_sizes(size), int(low), int(high), kind)

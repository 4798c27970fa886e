"""Initializers: functions from a shape to the first value of a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import DType, as_dtype
from ..ops import random_stateful, random_stateless
from ..ops.creation import constant, ones, zeros
from ..ops.declare import Number
from ..values.tensor import Tensor


class Initializer:
    """The base: `get_config` gives the arguments, and `from_config` takes them."""

    _arguments: tuple[str, ...] = ()

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {name: getattr(self, name) for name in self._arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The initializer with these arguments.

        >>> import tape_compat as tf
        >>> config = tf.constant_initializer(3.0).get_config()
        >>> tf.constant_initializer.from_config(config)([2]).numpy().tolist()
        [3.0, 3.0]
        """
        return cls(**{name: value for name, value in config.items() if name != "dtype"})

    def _shape(self, shape: Any, parts: dict[str, Any], allowed: bool = True) -> Any:
        """The shape that is asked for: of a part, where a value is made in parts."""
        for name in parts:
            if name not in ("partition_shape", "partition_offset"):
                raise TypeError(
                    "Keyword argument should be one of ['partition_shape', 'partition_offset']. "
                    f"Received: {name}"
                )
            if not allowed:
                raise ValueError(
                    f"{type(self).__name__} initializer doesn't support partition-related arguments"
                )
        return parts.get("partition_shape", shape)


def _number(dtype: Any, fits: Any) -> DType:
    found = as_dtype(dtype)
    if not fits(found):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {found}.")
    return found


def _any_number(dtype: DType) -> bool:
    return dtype.is_numpy_compatible and dtype is not dtypes.string


class Zeros(Initializer):
    """Zeros.

    >>> import tape_compat as tf
    >>> tf.zeros_initializer()([2]).numpy().tolist()
    [0.0, 0.0]
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Zeros of a shape. Raises ValueError for strings."""
        shape = self._shape(shape, kwargs)
        return zeros(shape, _number(dtype, _any_number))


class Ones(Initializer):
    """Ones.

    >>> import tape_compat as tf
    >>> tf.ones_initializer()([2], tf.int32).numpy().tolist()
    [1, 1]
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Ones of a shape. Raises ValueError for strings."""
        shape = self._shape(shape, kwargs)
        return ones(shape, _number(dtype, _any_number))


class Constant(Initializer):
    """A value: one number for all elements, or as many as there are.

    Args: `support_partition`: whether values may be made in parts; each is given `value`.
    Raises: TypeError if `value` is no scalar, list, tuple or NumPy array.

    >>> import tape_compat as tf
    >>> tf.constant_initializer([1, 2, 3, 4])([2, 2]).numpy().tolist()
    [[1, 2], [3, 4]]
    """

    _arguments = ("value",)

    def __init__(self, value: Any = 0, support_partition: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """The value in a shape. Raises TypeError if it has another number of elements."""
        self._shape(shape, kwargs, self.support_partition)
        return constant(self.value, dtype, shape)


class RandomUniform(Initializer):
    """Numbers of [minval, maxval), the same at each call if there is a seed.

    >>> import tape_compat as tf
    >>> x = tf.random_uniform_initializer(-1.0, 1.0, seed=3)([100])
    >>> bool(tf.reduce_all(tf.abs(x) <= 1.0))
    True
    """

    _arguments = ("minval", "maxval", "seed")

    def __init__(self, minval: Number = -0.05, maxval: Number = 0.05, seed: int | None = None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Numbers in a shape. Raises ValueError for a dtype that is not floating or integer."""
        shape = self._shape(shape, kwargs)
        kind = _number(dtype, lambda dtype: dtype.is_floating or dtype.is_integer)
        if self.seed is None:
            return random_stateful.uniform(shape, self.minval, self.maxval, kind)
        seed = [self.seed, 0]
        return random_stateless.stateless_uniform(shape, seed, self.minval, self.maxval, kind)


class RandomNormal(Initializer):
    """Normally distributed numbers, the same at each call if there is a seed.

    >>> import tape_compat as tf
    >>> initializer = tf.random_normal_initializer(mean=1.0, stddev=2.0, seed=3)
    >>> bool(tf.reduce_all(initializer([5]) == initializer([5])))
    True
    """

    _arguments = ("mean", "stddev", "seed")

    def __init__(self, mean: Number = 0.0, stddev: Number = 0.05, seed: int | None = None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Numbers in a shape. Raises ValueError for a dtype that is not floating."""
        shape, kind = self._shape(shape, kwargs), as_dtype(dtype)
        if not kind.is_floating:
            raise ValueError(
                f"Argument `dtype` is expected to be floating point. Received: {kind}."
            )
        if self.seed is None:
            return random_stateful.normal(shape, self.mean, self.stddev, kind)
        seed = [self.seed, 0]
        return random_stateless.stateless_normal(shape, seed, self.mean, self.stddev, kind)

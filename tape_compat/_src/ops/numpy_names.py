"""What there is of `tf.experimental.numpy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType, as_dtype
from ..values.convert import convert
from ..values.tensor import Tensor
from .casting import cast
from .selection import where


def _numpy_dtype(dtype: Any) -> Any:
    return dtype.np_dtype if isinstance(dtype, DType) else dtype


def finfo(dtype: Any) -> np.finfo:
    """`numpy.finfo` of a floating dtype, given as NumPy's or TensorFlow's.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.finfo(tf.float32).eps)
    1.1920928955078125e-07
    """
    return np.finfo(_numpy_dtype(dtype))


def iinfo(int_type: Any) -> np.iinfo:
    """`numpy.iinfo` of an integer dtype, given as NumPy's or TensorFlow's.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.iinfo(tf.int8).max)
    127
    """
    return np.iinfo(_numpy_dtype(int_type))


def _array(value: Any) -> Tensor:
    """A tensor as NumPy would make it: Python numbers are of 64 bits."""
    if isinstance(value, (int, float, complex, list, tuple)):
        return convert(np.asarray(value))
    return convert(value)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """Of `choicelist` each time the element whose condition is the first that holds.

    Args:
      condlist: bool arrays, which broadcast with the choices.
      default: where none of the conditions holds.
    Raises: ValueError if the lists differ in length or are empty.

    >>> import tape_compat as tf
    >>> x = tf.range(5)
    >>> tf.experimental.numpy.select([x < 2, x > 3], [x, x * 10], -1).numpy().tolist()
    [0, 1, -1, -1, 40]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must be non-empty")
    choices = [_array(choice) for choice in choicelist]
    plain = isinstance(default, (int, float, complex))
    other = default if plain else _array(default).dtype.np_dtype
    dtype = as_dtype(np.result_type(*[c.dtype.np_dtype for c in choices], other))
    found = cast(convert(default), dtype) if not plain else convert(default, dtype)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        found = where(cast(condition, "bool"), cast(choice, dtype), found)
    return found


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Not available: tensors keep TensorFlow's operators and promotion.

    Raises: NotImplementedError.
    """
    raise NotImplementedError(
        "tf.experimental.numpy.experimental_enable_numpy_behavior: tensors do not have NumPy's "
        "methods and type promotion; use the functions of tf, and tf.cast."
    )

"""What AutoGraph asks of a value: is it a tensor, is it to become part of a traced function?"""

from __future__ import annotations

from typing import Any

import numpy as np
from malt.operators.variables import Undefined, UndefinedReturnValue

from ...core import dtypes
from ...ops.creation import is_tensor as _is_tensor
from ...ops.shapes import reshape
from ...values.convert import convert
from ...values.tensor import Tensor
from ..recording import recording as tracing


def is_undefined(value: Any) -> bool:
    """Whether a variable of the user's has no value yet, or a function has not returned one."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def is_tensor(value: Any) -> bool:
    """Whether a value is a Tensor, a Variable or another of TensorFlow's kinds of tensors."""
    return not is_undefined(value) and _is_tensor(value)


def staged(value: Any) -> bool:
    """Whether what depends on a value is decided when the function runs, not while it is traced.

    As in TensorFlow that is so for every tensor inside a function, also one with a known value.
    """
    return tracing() and is_tensor(value)


def condition(value: Any, statement: str) -> Tensor:
    """A tensor as the condition of a statement: a scalar bool.

    Raises: ValueError if it is none. Source: TF autograph control_flow.py, _verify_tf_condition.
    """
    tensor = convert(value)
    hint = "to check for None, use `is not None`"
    if tensor.dtype is not dtypes.bool:
        raise ValueError(
            f"condition of {statement} expected to be `tf.bool` scalar, got {tensor!s}; to use as "
            f"boolean Tensor, use `tf.cast`; {hint}"
        )
    if tensor.shape.rank == 0:
        return tensor
    if tensor.shape.rank is not None:
        sizes = [size for size in tensor.shape.as_list() if size is not None]
        if np.prod(sizes) > 1:
            raise ValueError(
                f"condition of {statement} expected to be `tf.bool` scalar, got {tensor!s}; {hint}"
            )
    return reshape(tensor, ())

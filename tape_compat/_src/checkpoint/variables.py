"""Variables as checkpoints know them: ours, and those of Keras, which hold one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..values.convert import convert
from ..values.variable import VALUE_KEY, Variable


def is_variable(value: Any) -> bool:
    """Whether an object is a Variable, or one of Keras."""
    return isinstance(value, Variable) or getattr(value, "_should_act_as_resource_variable", False)


def variable_of(value: Any) -> Variable | None:
    """The Variable that an object is or holds; None for another object, and for a variable of Keras
    that has been declared but not initialized."""
    found = value if isinstance(value, Variable) else getattr(value, "_value", None)
    return found if is_variable(value) and isinstance(found, Variable) else None


def full_name(value: Any) -> str:
    """The name of a variable, by which TensorFlow 1 finds it; '' for another object."""
    variable = variable_of(value)
    return "" if variable is None else variable._shared_name


def check_dtype(value: Any, found: DType | None, key: str) -> None:
    """Raises InvalidArgumentError if a checkpoint has another dtype for a variable."""
    dtype = dtypes.as_dtype(value.dtype)
    if found is not None and found is not dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"tensor_name = {key}; expected dtype {_title(dtype)} does not equal original dtype "
            f"{_title(found)} [Op:RestoreV2]",
        )


def _title(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def check_shape(value: Any, array: np.ndarray) -> None:
    """Raises ValueError if a variable cannot have the shape that a checkpoint has."""
    shape = TensorShape(value.shape)
    if not shape.is_compatible_with(array.shape):
        name = value.name if (inner := variable_of(value)) is None else inner.name
        raise ValueError(
            f"Received incompatible tensor with shape {array.shape} when attempting to restore "
            f"variable with shape {shape} and name {name}."
        )


def put_value(value: Any, array: np.ndarray) -> None:
    """Give a variable a value. One that is not initialized is initialized with it."""
    variable = variable_of(value)
    if variable is not None:
        variable._restore_from_tensors({VALUE_KEY: convert(array)})
        return

    def initializer(shape: Any, dtype: Any = None) -> Any:
        return convert(array)

    value._initializer = initializer

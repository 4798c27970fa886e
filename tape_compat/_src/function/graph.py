"""FuncGraph: the record of a function."""

from __future__ import annotations

from typing import Any

from ..core import errors
from ..core.state import ThreadState
from ..values.capture import SymbolicProgram, leaving, lifted
from ..values.tensor import Tensor
from ..values.variable import Variable, initial_tensor

_SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
    "tf.Variable is only created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
)


class FuncGraph(SymbolicProgram):
    """The record of a function. created: the variables made meanwhile; None if none may be."""

    __slots__ = ("created",)

    def __init__(self, owner: ThreadState, name: str, creates: bool):
        super().__init__(owner, name)
        self.in_function = True
        self.created: list[Variable] | None = [] if creates else None

    def initial(self, value: Any, dtype: Any, variable: Variable) -> Tensor:
        """The initial value of a variable that is made meanwhile, worked out at once.

        Raises: ValueError if this is not the first call, or the value depends on an argument.
        """
        if self.created is None:
            raise ValueError(f"{_SINGLETON} At {errors.user_location()}.")
        self.created.append(variable)
        if not callable(value):
            return lifted(initial_tensor(value, dtype))
        with leaving():
            return initial_tensor(value, dtype)

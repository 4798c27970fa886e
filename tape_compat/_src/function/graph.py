"""FuncGraph: the record of a function."""

from __future__ import annotations

from typing import Any

from ..core import dimensions, errors
from ..core.avals import Aval
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.state import ThreadState
from ..values.capture import SymbolicProgram, leaving, lifted
from ..values.tensor import Tensor
from ..values.variable import Handle, Variable, initial_tensor

_SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
    "tf.Variable is only created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
)


class FuncGraph(SymbolicProgram):
    """The record of a function.

    created: the variables made meanwhile; None if none may be. inputs: the symbolic ones; values:
    theirs in the call that is recorded, as far as they have one. variable_avals: those of variables
    of unknown shape.
    """

    __slots__ = ("_unknown", "created", "inputs", "values_given", "variable_avals")

    def __init__(self, owner: ThreadState, name: str, creates: bool):
        super().__init__(owner, name)
        self.in_function = True
        self.created: list[Variable] | None = [] if creates else None
        self.inputs: list[Tensor] = []
        self.values_given: dict[int, Tensor] = {}
        self.variable_avals: dict[Handle, Aval] = {}
        self._unknown = 0

    def aval(self, shape: TensorShape, dtype: DType) -> Aval:
        """An aval with an unknown size for each None.

        Raises: NeedsValue if the rank is unknown.
        """
        if shape.rank is None:
            raise errors.NeedsValue(
                "a tensor of unknown rank cannot be recorded: give the number of axes, as in "
                f"tf.TensorSpec([None, None]). At {errors.user_location()}."
            )
        sizes = []
        for size in shape.as_list():
            sizes.append(dimensions.variable(self._unknown) if size is None else size)
            self._unknown += size is None
        return Aval.of(tuple(sizes), dtype)

    def _aval_of(self, handle: Handle) -> Aval:
        if handle.shape.is_fully_defined():
            return super()._aval_of(handle)
        found = self.variable_avals.get(handle)
        if found is None:
            shape = handle.shape
            if shape.rank is None:  # then the rank that it has counts
                shape = TensorShape([None] * len(super()._aval_of(handle).shape))
            found = self.variable_avals[handle] = self.aval(shape, handle.dtype)
        return found

    def next_draw(self) -> int:
        """The number of a draw in this function."""
        self.draws += 1
        return self.draws

    def initial(self, value: Any, dtype: Any, variable: Variable) -> Tensor:
        """The initial value of a variable that is made meanwhile, worked out at once.

        Raises: ValueError if this is not the first call, or the value depends on an argument that
          has none.
        """
        if self.created is None:
            raise ValueError(f"{_SINGLETON} At {errors.user_location()}.")
        self.created.append(variable)
        if callable(value):
            with leaving():
                return initial_tensor(value, dtype)
        known = [x for x in self.inputs if id(x) in self.values_given]
        values = [self.values_given[id(x)] for x in known]
        return lifted(initial_tensor(value, dtype), known, values)

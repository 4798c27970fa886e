"""Concrete functions whose variables are constants: `convert_variables_to_constants_v2`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import user_location
from ..core.op import Closure
from ..function.concrete import ConcreteFunction
from ..function.function import function
from ..function.graph_def import GraphDef
from ..values.capture import value_of
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from ..values.variable import Handle


def _applied(closure: Closure, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    found = apply(closure, inputs)
    return found if isinstance(found, tuple) else (found,)


def convert_variables_to_constants_v2(
    func: Any, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> ConcreteFunction:
    """A concrete function that does what `func` does now, with constants for its variables.

    It takes the tensors that `func` takes and gives a list of those that it gives. What `func`
    calls stands in its graph op by op, its loops and conditionals as they were.

    Raises: ValueError for a function that assigns to variables; NotImplementedError for one that is
      not a single program.
    """
    if not isinstance(func, ConcreteFunction):
        raise NotImplementedError(
            f"convert_variables_to_constants: {func!r} has no graph of its own (at "
            f"{user_location()})"
        )
    trace = func._trace
    trace.require_one_program("Constants for the variables")
    captured = trace.captured
    if captured.cells:
        raise ValueError(
            f"{func._function_name} assigns to variables, which cannot be constants (at "
            f"{user_location()})"
        )
    held = [np.array(s.tensor.numpy()) if isinstance(s, Handle) else s for s in captured.sources]

    def frozen(*tensors: Tensor) -> list[Tensor]:
        given = [convert(x) if isinstance(x, np.ndarray) else value_of(x) for x in held]
        return captured.closure.flat.interpret(_applied, [*tensors, *given])

    frozen.__name__ = func._function_name
    recorded = function(frozen, autograph=False)
    return recorded.get_concrete_function(*func._input_specs)


def convert_variables_to_constants_v2_as_graph(
    func: Any, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> tuple[ConcreteFunction, GraphDef]:
    """The same, and the nodes of its graph."""
    found = convert_variables_to_constants_v2(func, lower_control_flow, aggressive_inlining)
    return found, found.graph.as_graph_def()

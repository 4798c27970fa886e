"""How an operator is taken apart into its parameters and made again, for functions and tapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.creation import get_static_value
from ...values import nest
from ...values.composite import CompositeTensor, TypeSpec
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from ...values.variable import Variable
from .hints import NAMES

_MISSING = object()


class LinearOperatorSpec(TypeSpec):
    """What is known of an operator beforehand: its class, hints, and what its parameters are like.

    Args:
      param_specs: nests of specs, by the names of parameters that are tensors or operators.
      non_tensor_params: the other parameters, by name.
      prefer_static_fields: names of parameters that are numbers where they are known.
    """

    __slots__ = ("_non_tensor_params", "_param_specs", "_prefer_static_fields")

    #: The class of the operators; each class of operators has a class of specs.
    _operators: type = object

    def __init__(
        self,
        param_specs: dict[str, Any],
        non_tensor_params: dict[str, Any],
        prefer_static_fields: tuple[str, ...] = (),
    ) -> None:
        self._param_specs = param_specs
        self._non_tensor_params = non_tensor_params
        self._prefer_static_fields = prefer_static_fields

    @property
    def value_type(self) -> type:
        return self._operators

    @classmethod
    def from_operator(cls, operator: Any) -> LinearOperatorSpec:
        """The spec of an operator.

        Raises: NotImplementedError if its class does not say what it is made of.
        """
        fields = operator._composite_tensor_fields
        static = operator._composite_tensor_prefer_static_fields
        if not fields:
            raise NotImplementedError(
                f"{type(operator).__name__} has no `_composite_tensor_fields`, the names of the "
                "parameters it is made of, and so cannot be an argument or result of a function; "
                "use it inside without passing it."
            )
        tensors, others = {}, {}
        for name in dict.fromkeys((*fields, *NAMES)):
            value = _parameter(operator, name, name in static)
            spec = _spec_of(value)
            leaves = [isinstance(leaf, TypeSpec) for leaf in nest.flatten(spec)]
            if all(leaves):
                tensors[name] = spec
            elif not any(leaves):
                others[name] = value
            else:
                raise NotImplementedError(
                    f"Field {name} contains a mix of `Tensor` and  non-`Tensor` values."
                )
        return cls(tensors, others, tuple(static))

    def _serialize(self) -> tuple[Any, ...]:
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    @property
    def _component_specs(self) -> Any:
        return self._param_specs

    def _to_components(self, value: Any) -> Any:
        static = self._prefer_static_fields
        return {name: _parameter(value, name, name in static) for name in self._param_specs}

    def _from_components(self, components: Any) -> Any:
        """The operator; of what are no tensors, as specs, one that only holds them."""
        parameters = {**self._non_tensor_params, **components}
        if all(map(_is_made, nest.flatten(components))):
            return self._operators(**parameters)
        holder: Any = object.__new__(self._operators)
        vars(holder).update(_parameters=parameters, _held_spec=self)
        return holder


def _is_made(value: Any) -> bool:
    """Whether an operator can have this as a parameter."""
    if isinstance(value, CompositeTensor):
        return "_held_spec" not in vars(value)
    return isinstance(value, (Tensor, Variable, np.ndarray)) or hasattr(value, "_as_tensor")


def _parameter(operator: Any, name: str, static: bool) -> Any:
    """A parameter as the constructor takes it; its value instead of a tensor if that is preferred.

    Raises: ValueError if the operator does not keep it.
    """
    value = getattr(operator, name, _MISSING)
    if value is _MISSING:
        value = getattr(operator, "_" + name, _MISSING)
    if value is _MISSING:
        value = operator.parameters.get(name, _MISSING)
    if value is _MISSING:
        raise ValueError(
            f"Could not determine an appropriate value for field `{name}` in object  `{operator}`. "
            f"Looked for \n 1. an attr called `{name}`,\n 2. an attr called `_{name}`,\n 3. an "
            f"entry in `op.parameters` with key '{name}'."
        )
    if static and isinstance(value, Tensor):
        known = get_static_value(value)
        value = value if known is None else known
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _spec_of(value: Any) -> Any:
    """A value with specs instead of the tensors, variables and operators in it."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, (Tensor, Variable)):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (list, tuple)):
        return [_spec_of(part) for part in value]
    return value

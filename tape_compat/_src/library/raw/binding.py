"""The arguments of a call of an op as its kernel takes them: tensors and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.dtypes import DType, as_dtype
from ...core.refuse import wrong_dtype_text
from ...values.context import inside_function
from ...values.convert import convert, preferring
from ...values.tensor import Tensor
from ...values.variable import Handle
from .attributes import attribute_or_default, check_allowed
from .definitions import MISSING, Argument, Definition
from .refusals import refused

Bound = tuple[list[Tensor], dict[str, Any]]


def bind(definition: Definition, given: Mapping[str, Any]) -> Bound:
    """The tensors, those of lists among them, and the attributes by their names."""
    names = {own: known for known, own in definition.parameters.items()}
    attributes = {
        own: attribute_or_default(definition, own, given.get(known, MISSING), known)
        for own, known in names.items()
        if own in definition.attributes
    }
    return _Inputs(definition, attributes, names).of(given)


class _Inputs:
    """The inputs of one call, and what they say of dtypes and counts."""

    def __init__(
        self, definition: Definition, attributes: dict[str, Any], names: Mapping[str, str]
    ):
        self.definition, self.attributes, self.names = definition, attributes, names
        self.tensors: list[Any] = []

    def of(self, given: Mapping[str, Any]) -> Bound:
        values = [(each, given[self.names[each.name]]) for each in self.definition.inputs]
        items = [(each, self.items(each, value)) for each, value in values]
        kinds = self.dtypes(items)
        for argument, several in items:
            if argument.kind.startswith("["):
                self.any(argument, several)
            else:
                for item in several:
                    self.tensors.append(self.tensor(argument, item, kinds))
        return self.tensors, self.attributes

    def items(self, argument: Argument, value: Any) -> Sequence[Any]:
        """The values for an input, one or several, and how many there are."""
        if not argument.several:
            return (value,)
        if not isinstance(value, (list, tuple)):
            if isinstance(value, Tensor) and value._aval.shape and not inside_function():
                value = list(value)
            else:
                raise TypeError(
                    f"Expected list for '{self.names[argument.name]}' argument to "
                    f"'{self.definition.function}' Op, not {value}."
                )
        if argument.count:
            self.count(argument, len(value))
        return value

    def count(self, argument: Argument, number: int) -> None:
        known = self.attributes.setdefault(argument.count, number)
        name, function = argument.name, self.definition.function
        if known != number:
            first = next(x.name for x in self.definition.inputs if x.count == argument.count)
            raise ValueError(
                f"List argument '{name}' to '{function}' Op with length {number} must match "
                f"length {known} of argument '{first}'."
            )
        least = self.definition.attributes[argument.count].minimum
        if least is not None and number < least:
            op = self.definition.name
            text = f"List argument '{name}' to '{op}' Op with length {number} shorter than minimum"
            raise refused(
                f"Value for attr '{argument.count}' of {number} must be at least minimum {least}",
                op,
                ValueError(f"{text} length {least}."),
            )

    def dtypes(self, items: Sequence[tuple[Argument, Sequence[Any]]]) -> dict[str, DType]:
        """The dtypes that tensors among the values have, by the attributes that say them."""
        found: dict[str, DType] = {
            name: value for name, value in self.attributes.items() if isinstance(value, DType)
        }
        for argument, several in items:
            for item in several:
                dtype = _dtype_of(item)
                if dtype is not None and argument.kind in self.definition.attributes:
                    found.setdefault(argument.kind, dtype)
        return found

    def tensor(self, argument: Argument, value: Any, kinds: dict[str, DType]) -> Any:
        """A value as a tensor of the dtype that the input has, or is to have; a handle as it is."""
        if argument.kind == "resource":
            if isinstance(value, Handle):
                return value
            raise self.other(argument, as_dtype("resource"), convert(value)._aval.dtype)
        attribute = self.definition.attributes.get(argument.kind)
        wanted = as_dtype(argument.kind) if attribute is None else kinds.get(argument.kind)
        have = _dtype_of(value)
        if have is not None and wanted is not None and have is not wanted:
            raise self.other(argument, wanted, have)
        if wanted is not None or attribute is None or attribute.default is MISSING:
            found = convert(value, wanted)
        else:
            found = preferring(value, as_dtype(attribute.default), attribute.allowed)
        if attribute is not None:
            kinds[argument.kind] = self.attributes[argument.kind] = found._aval.dtype
            check_allowed(self.definition, attribute, found._aval.dtype, argument.name)
        return found

    def other(self, argument: Argument, wanted: DType, have: DType) -> Exception:
        """The error for a tensor of another dtype than the input has."""
        op, place = self.definition.name, len(self.tensors)
        text = f"Input '{argument.name}' of '{op}' Op has type {have.name} that does not match"
        first = next((x for x in self.definition.inputs if x.kind == argument.kind), argument)
        if argument.kind not in self.definition.attributes:
            within = f"{text} expected type of {wanted.name}."
        elif first is argument:
            within = (
                f"Tensors in list passed to '{argument.name}' of '{op}' Op have types "
                f"[{wanted.name}, {have.name}] that don't all match."
            )
        else:
            within = f"{text} type {wanted.name} of argument '{first.name}'."
        return refused(wrong_dtype_text(have, place, wanted, op), op, TypeError(within))

    def any(self, argument: Argument, several: Sequence[Any]) -> None:
        """Tensors of whatever dtypes."""
        found = list(map(convert, several))
        self.tensors += found
        name = argument.kind[1:-1]
        attribute = self.definition.attributes[name]
        if attribute.minimum is not None and len(found) < attribute.minimum:
            raise refused(
                f"Length for attr '{name}' of {len(found)} must be at least minimum "
                f"{attribute.minimum}",
                self.definition.name,
                ValueError(
                    f"List argument '{argument.name}' to '{self.definition.name}' Op with length "
                    f"{len(found)} shorter than minimum length {attribute.minimum}."
                ),
            )
        self.attributes[name] = [x._aval.dtype for x in found]
        for dtype in self.attributes[name]:
            check_allowed(self.definition, attribute, dtype, argument.name)


def _dtype_of(value: Any) -> DType | None:
    """The dtype of a tensor or a variable; None for what is to become one."""
    if isinstance(value, Tensor):
        return value._aval.dtype
    return value.dtype if hasattr(value, "_as_tensor") else None

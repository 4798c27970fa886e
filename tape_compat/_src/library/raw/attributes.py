"""What the attributes of ops may be, with TensorFlow's errors for what they may not."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import DType, as_dtype
from ...core.refuse import not_allowed_text, tf_dtype_name
from ...core.shapes import TensorShape
from .definitions import MISSING, Attribute, Definition
from .refusals import refused


def attribute_value(definition: Definition, attribute: Attribute, given: Any, name: str) -> Any:
    """An attribute as a kernel takes it. name: of the parameter that it was given for."""
    kind = attribute.kind
    if not kind.startswith("list("):
        value = _value(kind, given, name)
        _check(definition, attribute, [value], value)
        return value
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"Expected list for '{name}' argument to '{definition.function}' Op, not {given}."
        )
    values = [_value(kind[5:-1], item, name) for item in given]
    _check(definition, attribute, values, len(values))
    return values


def attribute_or_default(definition: Definition, own: str, given: Any, name: str) -> Any:
    """An attribute by its own name: what is given, else its default if it has one."""
    attribute = definition.attributes[own]
    if given is MISSING or (given is None and attribute.default is not MISSING):
        given = attribute.default
    return attribute_value(definition, attribute, given, name)


def _value(kind: str, given: Any, name: str) -> Any:
    if kind == "shape":
        return _shape(given)
    if kind == "type":
        return _type(given, name)
    if kind == "bool":
        right = isinstance(given, bool)
    elif kind == "string":
        right = isinstance(given, (str, bytes))
    else:
        right = True
    try:
        if right:
            return {"int": int, "float": float}.get(kind, _same)(given)
    except (TypeError, ValueError):
        pass
    shown = repr(given)
    raise TypeError(f"Expected {kind} for argument '{name}' not {shown}.")


def _same(value: Any) -> Any:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


def _type(given: Any, name: str) -> DType:
    try:
        return as_dtype(given)
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{name}' not {given!r}.") from None


def _shape(given: Any) -> TensorShape:
    try:
        return TensorShape(given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Error converting shape to a TensorShape: {error}.") from None


def _check(definition: Definition, attribute: Attribute, values: list[Any], size: Any) -> None:
    name, minimum = attribute.name, attribute.minimum
    if minimum is not None and size < minimum:
        what = "Length" if attribute.kind.startswith("list(") else "Value"
        raise refused(
            f"{what} for attr '{name}' of {size} must be at least minimum {minimum}",
            definition.name,
            ValueError(
                f"Attr '{name}' of '{definition.name}' Op passed {size} less than minimum "
                f"{minimum}."
            ),
        )
    for value in values if attribute.allowed else ():
        check_allowed(definition, attribute, value, name)


def check_allowed(definition: Definition, attribute: Attribute, value: Any, parameter: str) -> None:
    """Raise TensorFlow's error for a dtype, or a text, that an attribute may not be."""
    allowed = attribute.allowed
    if isinstance(value, DType):
        if not allowed or value.name in allowed:
            return
        shown = ", ".join(tf_dtype_name(as_dtype(each)) for each in allowed)
        text = not_allowed_text(value, shown, definition.name, attribute.name)
        raise refused(
            text,
            definition.name,
            TypeError(
                f"Value passed to parameter '{parameter}' has DataType {value.name} not in list of "
                f"allowed values: {', '.join(allowed)}"
            ),
        )
    if value not in allowed:
        shown = ", ".join(f'"{each}"' for each in allowed)
        raise refused(
            not_allowed_text(f'"{value}"', shown, definition.name, attribute.name),
            definition.name,
            ValueError(
                f"Attr '{attribute.name}' of '{definition.name}' Op passed string '{value}' not "
                f"in: {shown}."
            ),
        )

"""Fields of extension types: what an annotation allows, and values of them."""

from __future__ import annotations

import inspect
import types
import typing
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Union

from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape
from ..values import nest
from ..values.composite import CompositeTensor, TypeSpec
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor

#: Stands for the default value of a field that has none.
NO_DEFAULT = inspect.Parameter.empty

#: Values of these are part of a spec.
_PLAIN = (int, float, str, bytes, bool, type(None))
_KEYS = (*_PLAIN, DType, TensorShape)


class Field(NamedTuple):
    """A field that a class declares: its name, its annotation, its default or `NO_DEFAULT`."""

    name: str
    annotation: Any
    default: Any


class ImmutableDict(Mapping):
    """A mapping that nobody can change, which is what fields that are mappings become.

    >>> ImmutableDict({"a": 1})
    ImmutableDict({'a': 1})
    """

    def __init__(self, pairs: Any = ()) -> None:
        self._held = dict(pairs)

    def __getitem__(self, key: Any) -> Any:
        return self._held[key]

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._held!r})"


def _shown(annotation: Any) -> str:
    return repr(annotation.__name__ if isinstance(annotation, type) else annotation)


def check_annotation(annotation: Any, forward: bool = True) -> None:
    """Refuse an annotation that says nothing of tensors and plain values.

    forward: whether the name of a class may stand for it.
    Raises: TypeError.
    """
    if annotation is None or annotation in (*_KEYS, Tensor):
        return
    if isinstance(annotation, (str, typing.ForwardRef)) and forward:
        return
    if not isinstance(annotation, types.GenericAlias) and isinstance(annotation, type):
        if issubclass(annotation, CompositeTensor):
            return
        raise TypeError(f"Unsupported type annotation {_shown(annotation)}")
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is abc.Mapping and inner and inner[0] in _KEYS:
        check_annotation(inner[1], forward)
    elif inner and (origin in (Union, types.UnionType) or origin is tuple):
        for part in inner[:1] if origin is tuple and inner[1:] == (...,) else inner:
            check_annotation(part, forward)
    else:
        raise TypeError(f"Unsupported type annotation {_shown(annotation)}")


def converted(value: Any, annotation: Any, path: str, of_spec: bool = False) -> Any:
    """A value as its field keeps it: a Tensor for a list, a tuple, an `ImmutableDict`.

    path: what errors call it. of_spec: whether it describes the value, and is a spec where that is
    made of tensors.
    Raises: TypeError if the annotation does not allow it.
    """
    origin = typing.get_origin(annotation)
    if annotation is Tensor:
        return _tensor(value, path, of_spec)
    if origin in (Union, types.UnionType):
        for choice in typing.get_args(annotation):
            try:
                return converted(value, choice, path, of_spec)
            except TypeError:
                continue
        raise TypeError(f"{path}: expected {annotation!r}, got {_kind(value)}")
    if origin is tuple:
        return _tuple(value, typing.get_args(annotation), path, of_spec)
    if origin is abc.Mapping:
        if not isinstance(value, abc.Mapping):
            raise TypeError(f"{path}: expected mapping, got {_kind(value)}")
        of_key, of_value = typing.get_args(annotation)
        return ImmutableDict(
            (
                converted(key, of_key, f"{path}[<key>]", of_spec),
                converted(part, of_value, f"{path}[{key!r}]", of_spec),
            )
            for key, part in value.items()
        )
    if annotation in (TensorShape, DType):
        make: Callable[[Any], Any] = TensorShape if annotation is TensorShape else as_dtype
        try:
            return make(value)
        except (TypeError, ValueError):
            wanted = f"tf.{annotation.__name__}"
            raise TypeError(f"{path}: expected {wanted!r}, got {_kind(value)}") from None
    if annotation is None:
        annotation = type(None)
    if of_spec and issubclass(annotation, CompositeTensor):
        if isinstance(value, TypeSpec) and issubclass(value.value_type, annotation):
            return value
        raise TypeError(
            f"{path}: expected a TypeSpec for {annotation.__name__!r}, got {_kind(value)}"
        )
    if not isinstance(value, annotation):
        raise TypeError(f"{path}: expected {annotation.__name__!r}, got {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return repr(type(value).__name__)


def _tensor(value: Any, path: str, of_spec: bool) -> Any:
    if of_spec:
        if isinstance(value, TensorSpec):
            return value
        raise TypeError(f"{path}: expected a TensorSpec, got {_kind(value)}")
    try:
        return convert(value)
    except (TypeError, ValueError):
        raise TypeError(f"{path}: expected a Tensor, got {_kind(value)}") from None


def _tuple(value: Any, parts: tuple[Any, ...], path: str, of_spec: bool) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{path}: expected tuple, got {_kind(value)}")
    if parts[1:] == (...,):
        parts = parts[:1] * len(value)
    elif len(parts) != len(value):
        # The bracket is TensorFlow's.
        raise TypeError(f"{path}: expected tuple with length {len(parts)}, got {_kind(value)})")
    return tuple(
        converted(part, annotation, f"{path}[{i}]", of_spec)
        for i, (part, annotation) in enumerate(zip(value, parts, strict=True))
    )


def spec_of(value: Any) -> Any:
    """A field, or a part of a result, with specs instead of what is made of tensors."""

    def leaf(x: Any) -> Any:
        if isinstance(x, Tensor):
            return TensorSpec(x.shape, x.dtype)
        return x._type_spec if isinstance(x, CompositeTensor) else x

    return nest.map_structure(leaf, value)


def specs_in(spec: Any) -> list[TypeSpec]:
    """The specs in what describes a field."""
    return [found for found, _ in pairs(spec, spec)]


def pairs(spec: Any, value: Any) -> Iterator[tuple[TypeSpec, Any]]:
    """The specs in what describes a field, each with the part of the field's value."""
    for one, part in zip(nest.flatten(spec), nest.flatten_up_to(spec, value), strict=True):
        if isinstance(one, TypeSpec):
            yield one, part


def mapped(
    function: Callable[[TypeSpec], Any],
    spec: Any,
    of_shape: Callable[[TensorShape], TensorShape] | None = None,
) -> Any:
    """What describes a field, with what `function` makes of each spec in it, in the order of
    `pairs`, and `of_shape` of each shape."""

    def leaf(part: Any) -> Any:
        if isinstance(part, TypeSpec):
            return function(part)
        return of_shape(part) if isinstance(part, TensorShape) and of_shape is not None else part

    return nest.map_structure(leaf, spec)


def plain(part: Any) -> Any:
    """The same with dicts for mappings that nobody can change."""
    if isinstance(part, tuple):
        return tuple(map(plain, part))
    return {k: plain(v) for k, v in part.items()} if isinstance(part, ImmutableDict) else part


def unchangeable(part: Any) -> Any:
    """The inverse of `plain`."""
    if isinstance(part, (tuple, list)):
        return tuple(map(unchangeable, part))
    if isinstance(part, dict):
        return ImmutableDict((key, unchangeable(value)) for key, value in part.items())
    return part

"""Ops on values that are made of several tensors.

`convert` refuses such a value with `CompositeOperand`, a plain error to whoever does not expect it.
An op that has a form for sparse or ragged tensors catches it and looks that form up here, so that
plain tensors pay nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import targets
from .composite import CompositeTensor

_Function = TypeVar("_Function", bound=Callable[..., Any])


class CompositeOperand(ValueError):
    """A composite stands where a tensor is wanted."""


CompositeOperand.__name__ = ValueError.__name__


def refusal(value: Any) -> CompositeOperand:
    """TensorFlow's error for a composite that is no tensor."""
    return CompositeOperand(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a "
        "Tensor."
    )


#: The forms of ops by class and by the op's name; those of a base serve its subclasses.
_FORMS: dict[tuple[type, str], Callable[..., Any]] = {}

#: The classes that ops have forms for.
_FORMED: set[type] = set()

#: By class, what calls an elementwise op on arguments of which one is of the class.
_ELEMENTWISE: dict[type, Callable[..., Any]] = {}


def define(cls: type, **forms: Callable[..., Any]) -> None:
    """Say what ops do with composites of a class, by their names."""
    for name, form in forms.items():
        if (cls, name) in _FORMS:
            raise ValueError(f"The op {name!r} has a form for {cls.__name__} already.")
        _FORMS[cls, name] = form
    _FORMED.add(cls)


def define_elementwise(cls: type, form: Callable[..., Any]) -> None:
    """Say how elementwise ops are called on composites of a class: `form(op, args, kwargs)`."""
    _ELEMENTWISE[cls] = form


def composites(values: Iterable[Any], depth: int = 2) -> Iterable[Any]:
    """The composites among values, and in lists among them."""
    for value in values:
        if isinstance(value, CompositeTensor) or value.__class__ in _FORMED:
            yield value
        elif depth and isinstance(value, (list, tuple)):
            yield from composites(value, depth - 1)


def elementwise(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """An elementwise op of arguments, one of which is a composite. NotImplemented if none is that
    has a form."""
    found = targets.called(function, args, kwargs)
    if found is not NotImplemented:
        return found
    for value in composites((*args, *kwargs.values()), 1):
        form = _ELEMENTWISE.get(value.__class__)
        if form is not None:
            found = form(function, args, kwargs)
            if found is not NotImplemented:
                return found
    return NotImplemented


def called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op of arguments, one of which is a composite. NotImplemented if it has no form."""
    found = targets.called(function, args, kwargs)
    if found is not NotImplemented:
        return found
    for value in composites((*args, *kwargs.values())):
        for cls in value.__class__.__mro__:
            form = _FORMS.get((cls, function.__name__))
            if form is not None:
                return form(*args, **kwargs)
    return NotImplemented


def takes_composites(function: _Function) -> _Function:
    """Decorate an op that has forms for composites under its own name."""
    return _taking(function, called)


def maps_composites(function: _Function) -> _Function:
    """Decorate an elementwise op that is no row of a table."""
    return _taking(function, lambda call, args, kwargs: elementwise(call, *args, **kwargs))


def maps_first(function: _Function) -> _Function:
    """Decorate an op that is elementwise by its first argument and has settings after it."""

    def form(call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = targets.called(call, args, kwargs)
        if found is not NotImplemented or not args:
            return elementwise(call, *args, **kwargs) if found is NotImplemented else found
        return elementwise(lambda first: call(first, *args[1:], **kwargs), args[0])

    return _taking(function, form)


def _taking(function: Any, form: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except CompositeOperand:
            found = form(call, args, kwargs)
            if found is NotImplemented:
                raise
            return found

    call.takes_composites = True  # type: ignore[attr-defined]
    return call

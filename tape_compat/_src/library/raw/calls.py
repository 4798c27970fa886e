"""The functions of `tf.raw_ops`, made when they are first asked for."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from ...values.operation import done
from ..saved_model.registry import attributes_of
from . import binding, kernels
from .definitions import MISSING, Argument, Definition, definition, names

_MODULE = f"{__name__.partition('.')[0]}.raw_ops"


@cache
def raw_op(name: str) -> Callable[..., Any]:
    """The op of this name, which takes keyword arguments only.

    Raises: KeyError if there is none.
    """
    found = definition(name)
    if found is None:
        raise KeyError(name)
    return _function(found, True)


@cache
def function(name: str) -> Callable[..., Any]:
    """The op that TensorFlow calls so in Python, 'mat_mul', which takes any arguments.

    Raises: KeyError if there is none.
    """
    found = definition(_by_function()[name])
    assert found is not None
    return _function(found, False)


@cache
def _by_function() -> dict[str, str]:
    return {found.function: found.name for found in map(definition, names()) if found is not None}


def _function(op: Definition, by_keywords: bool) -> Callable[..., Any]:
    signature = _signature(op)
    keys = list(signature.parameters)
    required = [p.name for p in signature.parameters.values() if p.default is Parameter.empty]
    kernel = kernels.SERVED[op.name]
    wanted = attributes_of(kernel)
    several = namedtuple(op.name, [x.name for x in op.outputs], module=_MODULE)  # type: ignore[misc]

    def call(*args: Any, **kwargs: Any) -> Any:
        if args and not by_keywords:
            try:
                kwargs = dict(signature.bind_partial(*args, **kwargs).arguments)
            except TypeError as error:
                raise TypeError(f"{op.function}() got {error}") from None
            args = ()
        if args:
            raise TypeError(
                f"{op.function} only takes keyword args (possible keys: {keys}). "
                "Please pass these args as kwargs instead."
            )
        for key in kwargs:
            if key not in keys:
                raise TypeError(f"{op.function}() got an unexpected keyword argument '{key}'")
        if missing := [key for key in required if key not in kwargs]:
            raise TypeError(_missing(op.function, missing))
        inputs, attributes = binding.bind(op, kwargs)
        given = {name: value for name, value in attributes.items() if name in wanted}
        outputs = _grouped(op.outputs, kernel(*inputs, **given), attributes)
        if len(outputs) > 1:
            return several(*outputs)
        return outputs[0] if outputs else done(op.name)

    call.__name__ = call.__qualname__ = op.function
    call.__module__ = _MODULE
    only = " It takes keyword arguments only." if by_keywords else ""
    call.__doc__ = f"The kernel `{op.name}` of TensorFlow.{only}"
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _signature(op: Definition) -> Signature:
    parameters = []
    for known, own in [*op.parameters.items(), ("name", "")]:
        attribute = op.attributes.get(own)
        default: Any = MISSING if attribute is None else attribute.default
        if not own:
            default = None
        default = Parameter.empty if default is MISSING else default
        parameters.append(Parameter(known, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    return Signature(parameters)


def _missing(function: str, arguments: Sequence[str]) -> str:
    """Python's words for arguments that are missing."""
    shown = list(map(repr, arguments))
    several = "s" if len(shown) > 1 else ""
    if len(shown) > 2:
        listed = f"{', '.join(shown[:-1])}, and {shown[-1]}"
    else:
        listed = " and ".join(shown)
    return f"{function}() missing {len(shown)} required positional argument{several}: {listed}"


def _grouped(outputs: Sequence[Argument], found: Any, attributes: dict[str, Any]) -> list[Any]:
    """What a kernel gives, by the outputs: lists of those that are several tensors."""
    if found is None:
        return []
    flat = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(outputs) == 1:
        return [flat] if outputs[0].several else flat
    grouped: list[Any] = []
    for output in outputs:
        if output.several:
            size = attributes[output.count] if output.count else len(attributes[output.kind[1:-1]])
            grouped.append(flat[:size])
            flat = flat[size:]
        else:
            grouped.append(flat.pop(0))
    return grouped

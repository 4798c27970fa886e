"""What the arguments of a function are: how they are bound, and what a trace of it is known by.

Tensors count by dtype and shape, variables by these and by which of them are the same, numbers and
strings by value, structures by their kind, other objects by equality, held weakly.
"""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..values import nest
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.variable import Variable

_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)

#: Classes of Python values that are a part of the key as they are.
_LITERALS = frozenset((bool, int, float, complex, str, bytes, type(None), slice, type(Ellipsis)))


class Arguments:
    """The arguments of one call, taken apart.

    parts: what a trace is known by. tensors: in order. variables: the different ones, in order.
    """

    __slots__ = ("parts", "tensors", "variables")

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.tensors: list[Tensor] = []
        self.variables: list[Variable] = []

    def add(self, value: Any) -> None:
        """Take one argument apart."""
        cls = value.__class__
        if cls is Tensor:
            self._tensor(value)
        elif cls in _LITERALS:
            self.parts.append(value)
        elif isinstance(value, Variable):
            self._variable(value)
        elif isinstance(value, (np.ndarray, np.generic, jax.Array)):
            self._tensor(convert(value))
        elif isinstance(value, TensorSpec):
            self._spec(value)
        else:
            children = nest.children_of(value)
            if children is None:
                self._object(value)
            else:
                self._nest(value, children)

    def _tensor(self, x: Tensor) -> None:
        if x._aval.dtype is dtypes.string:  # the host computes with its value
            values = x._value()
            self.parts.append((str, values.shape, tuple(values.ravel().tolist())))
            return
        self.parts.append(x._aval)
        self.tensors.append(x)

    def _spec(self, spec: TensorSpec) -> None:
        """A spec without None counts as a tensor of its shape and dtype."""
        shape = spec.shape
        if shape.is_fully_defined():
            self.parts.append(Aval.of(tuple(shape.as_list()), spec.dtype))
        else:
            self.parts.append((TensorSpec, shape, spec.dtype))

    def _variable(self, variable: Variable) -> None:
        handle = variable._handle
        for i, known in enumerate(self.variables):
            if known._handle is handle:
                self.parts.append((Variable, i))
                return
        kind = (handle.shape, handle.dtype, variable.trainable)
        self.parts.append((Variable, len(self.variables), *kind))
        self.variables.append(variable)

    def _nest(self, value: Any, children: list[Any]) -> None:
        names = tuple(sorted(value)) if isinstance(value, dict) else len(children)
        self.parts += (value.__class__, names)
        for child in children:
            self.add(child)

    def _object(self, value: Any) -> None:
        if hasattr(value, "_as_tensor") or hasattr(value, "__array__"):
            self._tensor(convert(value))
            return
        try:
            hash(value)
        except TypeError:
            self.parts.append((object, id(value)))
            return
        try:
            self.parts.append(weakref.ref(value))
        except TypeError:
            self.parts.append(value)


def rebuilt(value: Any, tensors: Callable[[Any], Any]) -> Any:
    """An argument with what `tensors` makes of each tensor, and of what becomes one. Structures are
    new, so that a function may change them; variables and other objects are the same."""
    if value.__class__ in _LITERALS or isinstance(value, Variable):
        return value
    if isinstance(value, (Tensor, np.ndarray, np.generic, jax.Array, TensorSpec)):
        return tensors(value)
    children = nest.children_of(value)
    if children is not None:
        return nest.rebuilt(value, [rebuilt(child, tensors) for child in children])
    if hasattr(value, "_as_tensor") or hasattr(value, "__array__"):
        return tensors(value)
    return value


class Signature:
    """The parameters of a Python function, and what of them is given beforehand.

    input_signature: a sequence of nests of TensorSpecs, for the first parameters.
    """

    def __init__(self, function: Callable[..., Any], input_signature: Sequence[Any] | None):
        self.function = function
        if not isinstance(input_signature, (list, tuple, type(None))):
            raise TypeError(
                f"input_signature must be either a tuple or a list, got {type(input_signature)}."
            )
        self.specs = None if input_signature is None else tuple(input_signature)
        try:
            self.python = inspect.signature(function)
        except (TypeError, ValueError):
            self.python = inspect.Signature(
                [
                    inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
                    inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
                ]
            )
        parameters = list(self.python.parameters.values())
        self.names = tuple([p.name for p in parameters if p.kind not in _BY_NAME])
        plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        #: How many arguments a call has that needs no binding; -1: each does.
        self.count = len(parameters) if plain and self.specs is None else -1
        if self.specs is not None:
            self._check_specs(parameters)

    def _check_specs(self, parameters: list[inspect.Parameter]) -> None:
        assert self.specs is not None
        kinds = [p for p in parameters if p.kind not in _BY_NAME]
        several = any(p.kind is p.VAR_POSITIONAL for p in kinds)
        extra = len(self.specs) - len(kinds)
        if extra > 0 and not several:
            s = "s" if extra > 1 else ""
            raise TypeError(f"input_signature contains {extra} extra type constraint{s}.")

    @property
    def shown(self) -> str:
        """The function with its parameters, and what is known of them."""
        parts = []
        for i, p in enumerate(self.python.parameters.values()):
            part = str(p.replace(annotation=p.empty, default=p.empty))
            if p.default is not p.empty:
                part += "=<captured_default_value>"
            if self.specs is not None and i < len(self.specs):
                part = f"{p.name}: {self.specs[i]}"
            parts.append(part)
        return f"({', '.join(parts)})"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """The arguments of a call by position and name, with defaults.

        Raises: TypeError, as TensorFlow words it, if they do not fit.
        """
        try:
            found = self.python.bind(*args, **kwargs)
            found.apply_defaults()
            args = found.args if self.specs is None else self._cast(found.args, self.specs)
            return Bound(args, tuple(sorted(found.kwargs.items())), self.names)
        except TypeError as error:
            raise self.refusal(error, args, kwargs) from None

    def refusal(
        self, error: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> TypeError:
        return TypeError(
            f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
            f"kwargs: {kwargs or {}} for signature: {self.shown}."
        )

    def _cast(self, args: tuple[Any, ...], specs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments as the specs want them."""
        if len(args) < len(specs):
            raise TypeError("missing a required argument")
        return (*map(cast_to, specs, args), *args[len(specs) :])

    def key(self, bound: Bound, arguments: Arguments) -> tuple:
        """What a trace for arguments is known by, which are taken apart."""
        return tuple(arguments.parts) if self.specs is None else self.general(bound).key

    def general(self, bound: Bound) -> Bound:
        """Arguments with what is known of them beforehand instead."""
        if self.specs is None:
            return bound
        return bound._replace(args=(*self.specs, *bound.args[len(self.specs) :]))


class Bound(NamedTuple):
    """Arguments by position, those by name in the order of the names, and names for the first."""

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]

    @property
    def named(self) -> list[tuple[str, Any]]:
        """The arguments by position with their names."""
        more = (f"{self.names[-1] if self.names else 'args'}_{i}" for i in itertools.count(1))
        return list(zip(itertools.chain(self.names, more), self.args))

    @property
    def key(self) -> tuple:
        """What a trace for them is known by."""
        return tuple(self.taken_apart().parts)

    def taken_apart(self) -> Arguments:
        arguments = Arguments()
        for value in self.args:
            arguments.add(value)
        for name, value in self.kwargs:
            arguments.parts.append((str, name))
            arguments.add(value)
        return arguments


def cast_to(spec: Any, value: Any) -> Any:
    """A value as a nest of specs wants it: tensors that fit."""
    specs = nest.children_of(spec)
    if specs is not None:
        children = nest.children_of(value)
        if children is None or len(children) != len(specs):
            raise TypeError(f"Can not cast {value!r} to {spec!r}")
        return nest.rebuilt(spec, [cast_to(s, c) for s, c in zip(specs, children)])
    if not isinstance(spec, TensorSpec):
        return value
    if isinstance(value, TensorSpec):
        given = value
    else:
        if not isinstance(value, Tensor):
            try:
                value = convert(value, None if hasattr(value, "dtype") else spec.dtype)
            except (TypeError, ValueError) as error:
                raise TypeError(f"Can not cast {value!r} to {spec!r}") from error
        given = TensorSpec(value.shape, value.dtype)
    if given.dtype is not spec.dtype or not spec.shape.is_compatible_with(given.shape):
        raise TypeError(f"Can not cast {given!r} to {spec!r}")
    return value


def spec_of(aval: Aval, name: str | None = None) -> TensorSpec:
    return TensorSpec(aval.tensor_shape, aval.dtype, name)

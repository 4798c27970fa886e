"""What a SavedModel gives when it is loaded: objects with their parts, and functions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...checkpoint.tracking import AutoTrackable
from ...core.dtypes import as_dtype
from ...core.errors import NeedsValue, user_location
from ...function.any_rank import ConcreteFunctionOfAnyRank
from ...function.concrete import ConcreteFunction
from ...function.function import Function
from ...values import nest
from ...values.composite import TypeSpec
from ...values.convert import convert
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from ...values.trackable import Trackable
from ...values.variable import Variable
from .messages import FunctionSpec, SavedConcreteFunction
from .nodes import GraphFunction
from .structured import decoded, signature_of


class RestoredObject(AutoTrackable):
    """An object of a SavedModel: its parts are its attributes."""

    #: Its class when it was saved, as the file names it.
    _identifier = ""


class RestoredCallable(RestoredObject):
    """One that could be called when it was saved."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


class Signatures(Mapping[str, ConcreteFunction], Trackable):
    """The functions that a SavedModel gives to those who serve it, by their names."""

    def __init__(self) -> None:
        self._functions: dict[str, Any] = {}

    def put(self, name: str, function: Any) -> None:
        self._functions[name] = function

    def __getitem__(self, name: str) -> ConcreteFunction:
        found: ConcreteFunction = self._functions[name].concrete
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({dict(self)})"


class Case:
    """A function of the graph for arguments of one kind.

    args, kwargs, output: the arguments and the result, with a TensorSpec for each tensor. captured:
    what it takes beside them.
    """

    def __init__(self, function: GraphFunction, saved: SavedConcreteFunction, captured: list[Any]):
        self.args, self.kwargs = decoded(saved.canonicalized_input_signature)
        self._function, self._captured = function, captured
        self._leaves = nest.flatten((self.args, self.kwargs))
        self.output = decoded(saved.output_signature)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it takes."""
        return tuple([x for x in self._captured if isinstance(x, Variable)])

    def takes(self, args: tuple[Any, ...], kwargs: dict[str, Any], converts: bool) -> bool:
        """Whether arguments are of its kind; converts: or can be made tensors of it."""
        try:
            given = self._apart(args, kwargs)
        except (ValueError, TypeError):
            return False
        return all(
            _fits(x, wanted, converts) for x, wanted in zip(given, self._leaves, strict=True)
        )

    def _apart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments where its kind has tensors and values; a list of numbers may be a tensor.

        Raises: ValueError or TypeError for arguments that are structured otherwise.
        """
        return nest.flatten_up_to((self.args, self.kwargs), (args, kwargs))

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What it gives for arguments of its kind."""
        pairs = zip(self._apart(args, kwargs), self._leaves, strict=True)
        tensors = [part for value, wanted in pairs for part in _tensors(value, wanted)]
        return nest.pack_sequence_as(self.output, self.results(tensors))

    def results(self, tensors: list[Any]) -> list[Any]:
        """What it gives of the tensors of its arguments, one after the other."""
        outputs = iter(self._function(*tensors, *self._captured))
        return [_result(leaf, outputs) for leaf in nest.flatten(self.output)]


def _tensors(value: Any, wanted: Any) -> list[Tensor]:
    """The tensors of an argument of a kind."""
    if isinstance(wanted, TensorSpec):
        return [convert(value, wanted.dtype)]
    return nest.flatten(value, expand_composites=True) if isinstance(wanted, TypeSpec) else []


def _result(kind: Any, outputs: Iterator[Tensor]) -> Any:
    """What a function gives of a kind, which it takes from its tensors."""
    if isinstance(kind, TensorSpec):
        return next(outputs)
    if not isinstance(kind, TypeSpec):
        return kind
    specs = kind._component_specs
    return kind._from_components(nest.map_structure(lambda spec: _result(spec, outputs), specs))


def _fits(value: Any, wanted: Any, converts: bool) -> bool:
    if isinstance(wanted, TypeSpec) and not isinstance(wanted, TensorSpec):
        return wanted.is_compatible_with(value)
    if not isinstance(wanted, TensorSpec):
        same = value is wanted or (not isinstance(value, Tensor) and value == wanted)
        return bool(same)
    if isinstance(value, TensorSpec):
        return wanted.is_compatible_with(value)
    if not isinstance(value, (Tensor, Variable)):
        if not converts or value is None:
            return False
        try:
            value = convert(value, wanted.dtype)
        except (TypeError, ValueError):
            return False
    return as_dtype(value.dtype) is wanted.dtype and wanted.shape.is_compatible_with(value.shape)


class RestoredFunction(Function):
    """A `tf.function` of a SavedModel, for the kinds of arguments that it was recorded for."""

    def __init__(self, name: str, spec: FunctionSpec, cases: Sequence[Case]):
        self._cases = list(cases)

        signature = signature_of(spec)

        def restored(*args: Any, **kwargs: Any) -> Any:
            try:  # as the kinds were recorded, by position
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
            bound.apply_defaults()
            return self._case(bound.args, bound.kwargs).call(bound.args, bound.kwargs)

        restored.__name__ = restored.__qualname__ = name
        restored.__signature__ = signature  # type: ignore[attr-defined]
        specs = decoded(spec.input_signature)
        jit = {1: True, 2: False}.get(spec.jit_compile)
        super().__init__(restored, name, specs, autograph=False, jit_compile=jit)

    def _case(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Case:
        if not self._cases:
            raise ValueError("Found zero restored functions for caller function.")
        for converts in (False, True):
            for case in self._cases:
                if case.takes(args, kwargs, converts):
                    return case
        options = "\n\n".join(
            f"Option {i}:\n{_listed(case.args, case.kwargs)}"
            for i, case in enumerate(self._cases, 1)
        )
        raise ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"{_listed(args, kwargs)}\n\n Expected these arguments to match one of the following "
            f"{len(self._cases)} option(s):\n\n{options}"
        )

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """One for each kind of arguments."""
        return [_concrete_of_case(self, case) for case in self._cases]

    def _concretes(self) -> list[ConcreteFunction]:
        return self.concrete_functions


def _listed(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    lines = [f"  Positional arguments ({len(args)} total):"]
    lines += [f"    * {_shown(value)}" for value in args]
    return "\n".join([*lines, f"  Keyword arguments: {dict(kwargs)}"])


def _shown(value: Any) -> str:
    if isinstance(value, Tensor) and value._is_symbolic():
        return f"<tf.Tensor {value.name!r} shape={value.shape} dtype={value.dtype.name}>"
    return repr(value)


class _Unrecorded(ConcreteFunctionOfAnyRank):
    """One whose nodes are done at each call, as what they give needs values."""

    #: The variables that its nodes take.
    captured: tuple[Variable, ...] = ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it may read or assign to."""
        return self.captured

    def of_each_rank(self) -> Any:
        """Raises: NotImplementedError."""
        raise NotImplementedError(
            f"{self._function_name} needs values to be recorded: its nodes are done at each call, "
            f"and it has no record that could be looked at or saved (at {user_location()})."
        )

    @property
    def _trace(self) -> Any:  # type: ignore[override]
        return self.of_each_rank()


def concrete_of(
    function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ConcreteFunction:
    """A concrete function; one that does its work at each call if that needs values."""
    try:
        return function.get_concrete_function(*args, **kwargs)
    except NeedsValue:
        signature = function._signature
        bound = signature.general(signature.bind(tuple(args), dict(kwargs)))
        return _Unrecorded(function, signature, bound, function.name)


def _concrete_of_case(function: Function, case: Case) -> ConcreteFunction:
    """The concrete function for arguments of one kind."""
    found = concrete_of(function, case.args, case.kwargs)
    if isinstance(found, _Unrecorded):
        found.captured = case.variables
    found.told_outputs = case.output
    return found


class RestoredConcrete:
    """A function of a SavedModel for one kind of arguments; it is recorded when it is asked for."""

    def __init__(self, name: str, signature: inspect.Signature, case: Any):
        self._name, self._case, self._signature = name, case, signature
        self._found: ConcreteFunction | None = None

    @property
    def concrete(self) -> ConcreteFunction:
        """The function."""
        if self._found is None:
            case = self._case

            def restored(*args: Any, **kwargs: Any) -> Any:
                return case.call(args, kwargs)

            restored.__name__ = restored.__qualname__ = self._name
            restored.__signature__ = self._signature  # type: ignore[attr-defined]
            function = Function(restored, self._name, autograph=False)
            self._found = _concrete_of_case(function, case)
        return self._found


def by_keyword(names: Sequence[str]) -> inspect.Signature:
    """The parameters of a function that takes arguments by these names."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])

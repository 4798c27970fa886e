"""ConcreteFunction: one trace of a function as an object of its own."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..core import errors
from ..core.avals import Aval
from ..core.dtypes import resource, string
from ..core.refuse import check_dtype_of, tf_dtype_name
from ..core.shapes import TensorShape
from ..values import nest
from ..values.composite import CompositeTensor, TypeSpec
from ..values.convert import convert
from ..values.spec import TensorSpec, VariableSpec
from ..values.tensor import Tensor
from ..values.trackable import Recorded
from ..values.variable import Handle, Variable
from .function_type import FunctionType, Parameter, type_of
from .signature import (
    Arguments,
    Bound,
    Described,
    Signature,
    parameter_name,
    parts_as,
    rebuilt,
    texts_in,
)
from .trace import Trace

#: What names of inputs do not have.
_NO_NAME = re.compile(r"\W")

#: The default of a parameter that takes tensors, which may follow one that takes none.
_NOT_GIVEN = object()


class ConcreteFunction(Recorded):
    """One trace of a `tf.function`, made by its `get_concrete_function`.

    It is called with the arguments of the function by position and name, or with the tensors among
    them alone, by position or by their names.

    Raises: TypeError for arguments that do not fit; InvalidArgumentError for a tensor of another
      dtype.

    >>> import tape_compat as tf
    >>> square = tf.function(lambda x: x * x)
    >>> concrete = square.get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> concrete(tf.constant(3.0)).numpy().item(), concrete.structured_input_signature
    (9.0, ((TensorSpec(shape=(), dtype=tf.float32, name='x'),), {}))
    """

    def __init__(
        self,
        trace: Trace,
        signature: Signature,
        bound: Bound,
        name: str,
        of_zeros: Callable[[Sequence[Tensor]], Trace] | None = None,
    ):
        """of_zeros: gives the trace for tensors without elements, if there is the Python for it."""
        self._trace = trace
        self._of_zeros = of_zeros if trace.shapes is not None else None
        #: The traces for tensors without elements, by the sizes that are 0.
        self._empty: dict[Any, Trace] = {}
        self._signature = signature
        self._bound = bound
        self._name = f"__inference_{name}_{id(trace) % 10**6}"
        self._function_name = name
        #: What it gives, with specs, where a file told it.
        self.told_outputs: Any = None
        #: The texts that it was recorded for.
        self._texts = texts_in(bound.taken_apart(specs=True).parts)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._given(args, kwargs)
        if isinstance(given, TypeError):
            tensors, variables = self._flat(args, kwargs, given), self._trace.variables
        else:
            arguments = given.taken_apart()
            tensors, variables = arguments.tensors, arguments.variables
            self._refuse_other_texts(arguments)
        for i, (x, wanted) in enumerate(zip(tensors, self._trace.inputs, strict=True)):
            check_dtype_of(x._aval, i, wanted.dtype, self._name)
        return self._trace_for(tensors).call(tensors, variables)

    def _trace_for(self, tensors: Sequence[Tensor]) -> Trace:
        """The trace, or another one for tensors that have no elements: sizes that are computed of
        sizes of 0 may be others than it has."""
        if self._of_zeros is None or all(0 not in x._aval.shape for x in tensors):
            return self._trace
        zeros = tuple([tuple([n == 0 for n in x._aval.shape]) for x in tensors])
        if zeros not in self._empty:
            self._empty[zeros] = self._of_zeros(tensors)
        return self._empty[zeros]

    @property
    def record_id(self) -> Any:
        """What tells its record from others."""
        return id(self._trace)

    def _called(self, tensors: list[Tensor]) -> Any:
        """What it gives for its tensors, in order."""
        return self._trace_for(tensors).call(tensors, self._trace.variables)

    def _refuse_other_texts(self, arguments: Arguments) -> None:
        """Texts are computed with when the function is recorded: they must be those."""
        given, recorded = texts_in(arguments.parts), self._texts
        if len(given) < len(recorded):
            raise errors.refusal(
                f"cannot compute {self._name} as an input was expected to be a string tensor but "
                f"is a {tf_dtype_name(arguments.tensors[0].dtype)} tensor [Op:{self._name}] "
                f"(at {errors.user_location()})"
            )
        if given != recorded:
            shown = ", ".join(repr(text) for _, _, texts in recorded for text in texts)
            raise NotImplementedError(
                f"{self._name} was recorded for the texts {shown}: call {self._function_name} for "
                f"others (at {errors.user_location()})"
            )

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound | TypeError:
        """The arguments by the parameters of the function; those that were no tensors may be left
        out, and must else be the same."""
        by_name = {n if n.isidentifier() else parameter_name(n): v for n, v in kwargs.items()}
        try:
            found = self._python_signature().bind(*args, **by_name)
            found.apply_defaults()
            for name, value in found.arguments.items():
                if value is _NOT_GIVEN:
                    raise TypeError(f"missing a required argument: {name!r}")
            given = self._signature.bound(found.args, found.kwargs)
            self._check_count(given)
            values = [cast(s, v) for s, v in zip(self._bound.args, given.args, strict=True)]
            named = [
                (n, cast(s, v))
                for (n, s), (_, v) in zip(self._bound.kwargs, given.kwargs, strict=True)
            ]
            return Bound(tuple(values), tuple(named), given.names, self._bound.known_texts)
        except (TypeError, ValueError) as error:
            return TypeError(str(error))

    def _check_count(self, given: Bound) -> None:
        """Refuse another number of arguments than it was recorded for, of a function that takes any
        number."""
        mine, others = self._bound, given
        for name in mine.names[len(others.args) : len(mine.args)]:
            raise TypeError(f"missing a required argument: {name!r}")
        if len(others.args) > len(mine.args):
            raise TypeError("too many positional arguments")
        have, want = dict(others.kwargs), dict(mine.kwargs)
        for name in want.keys() - have.keys():
            raise TypeError(f"missing a required argument: {name!r}")
        for name in have.keys() - want.keys():
            raise TypeError(f"got an unexpected keyword argument {name!r}")

    def _python_signature(self) -> inspect.Signature:
        """That of the function, with what was given when it was recorded as defaults."""
        known = dict(self._bound.named) | dict(self._bound.kwargs)
        parameters = []
        for p in self._signature.python.parameters.values():
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                tensors = _tensors_in(known.get(p.name))
                default = _NOT_GIVEN if tensors else known.get(p.name)
                p = p.replace(default=default, annotation=p.empty)
            parameters.append(p)
        return self._signature.python.replace(
            parameters=parameters, return_annotation=inspect.Signature.empty
        )

    def _flat(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], error: TypeError
    ) -> list[Tensor]:
        """The tensors by position, then by name."""
        names = self._input_names
        call = f"{self._function_name}({', '.join(names)})"
        left = dict(kwargs)
        values = [*args, *[left.pop(name) for name in names[len(args) :] if name in left]]
        problem = None
        if len(args) > len(names):
            problem = f"{call} takes {len(names)} positional arguments, got {len(args)}."
        elif left:
            problem = f"{call} got unexpected keyword arguments: {', '.join(left)}."
        elif len(values) < len(names):
            missing = [name for name in names[len(args) :] if name not in kwargs]
            problem = f"{call} missing required arguments: {', '.join(missing)}."
        for i, value in enumerate(values):
            if problem is None and not isinstance(value, (Tensor, Variable)):
                problem = (
                    f"{call}: expected argument #{i}(zero-based) to be a Tensor; got "
                    f"{type(value).__name__} ({value})."
                )
        if problem is not None:
            shown = self.pretty_printed_signature(False)
            raise TypeError(
                f"{self._signature.refusal(error, args, kwargs, shown)}\n"
                f"Fallback to flat signature also failed due to: {problem}"
            )
        return [convert(value) for value in values]

    @property
    def _input_names(self) -> list[str]:
        graph = self._trace.graph
        return [graph.argument_names[x._at[1]] for x in self._trace.inputs]

    # -- what it is -----------------------------------------------------------------------------

    @property
    def name(self) -> bytes:
        """A name of its own."""
        return self._name.encode()

    @property
    def graph(self) -> Any:
        """The record of the function."""
        graph = self._trace.graph
        graph.structured_input_signature = self.structured_input_signature
        return graph

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position and by name, with a spec for each tensor and composite."""
        return self._structured_inputs(as_name)

    def _structured_inputs(
        self, named: Callable[[str], str | None]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same. named: what names the specs that have no name of their own, by the argument."""
        specs = iter(self._input_specs)
        variables = self._bound.taken_apart(specs=True).variables
        handles = [variable._handle for variable in variables]
        by_position = [name for name, _ in self._bound.named]

        def spec(value: Any, name: str) -> TensorSpec:
            if self._bound.known_texts and getattr(value, "dtype", None) is string:  # no input
                return TensorSpec(value.shape, string, name)
            found, own = next(specs), value.name if isinstance(value, TensorSpec) else None
            return TensorSpec(found.shape, found.dtype, own or named(name))

        def specs_in(value: Any, name: str) -> Any:
            if isinstance(value, Variable):
                number = handles.index(value._handle)
                return VariableSpec(value.shape, value.dtype, value.trainable, number)
            if isinstance(value, CompositeTensor):
                value = value._type_spec
            if isinstance(value, Described):
                value = value.spec
            if isinstance(value, TypeSpec) and not isinstance(value, TensorSpec):
                rebuilt(value._component_specs, lambda x: spec(x, name))
                return value
            children = nest.children_of(value)
            if children is not None:
                named = zip(nest.keys_of(value), children, strict=True)
                return nest.rebuilt(value, [specs_in(x, f"{name}_{key}") for key, x in named])
            return rebuilt(value, lambda x: spec(x, name))

        names = itertools.chain(by_position, itertools.repeat("args"))
        args = tuple([specs_in(value, name) for value, name in zip(self._bound.args, names)])
        by_name = {name: specs_in(value, name) for name, value in self._bound.kwargs}
        declared = [name for name in self._signature.python.parameters if name in by_name]
        return args, {name: by_name[name] for name in dict.fromkeys([*declared, *by_name])}

    @property
    def function_type(self) -> FunctionType:
        """The types of its parameters, of what it gives and of what it captures."""
        given = {id(v._handle) for v in self._bound.taken_apart(specs=True).variables}
        captures = {id(x): _source_spec(x) for x in self.captured_inputs if id(x) not in given}
        output = type_of(_as_specs(self.structured_outputs))
        return FunctionType(self._parameters(), captures, return_annotation=output)

    def _parameters(self) -> list[inspect.Parameter]:
        args, kwargs = self._structured_inputs(lambda _: None)
        kinds = {p.name: p.kind for p in self._signature.python.parameters.values()}
        only = inspect.Parameter.POSITIONAL_ONLY
        several = any(kind is inspect.Parameter.VAR_POSITIONAL for kind in kinds.values())
        by_name = inspect.Parameter.KEYWORD_ONLY
        return [
            *[
                Parameter(name, only if several else kinds.get(name, only), False, type_of(value))
                for (name, _), value in zip(self._bound.named, args, strict=True)
            ],
            *[Parameter(name, by_name, False, type_of(v)) for name, v in kwargs.items()],
        ]

    @property
    def _input_specs(self) -> list[TensorSpec]:
        pairs = zip(self._trace.inputs, self._input_names, strict=True)
        return [TensorSpec(x.shape, x.dtype, name) for x, name in pairs]

    @property
    def inputs(self) -> list[Tensor]:
        """The symbolic tensors of its arguments."""
        return list(self._trace.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The symbolic tensors that it gives."""
        return list(self._trace.results.outputs)

    @property
    def structured_outputs(self) -> Any:
        """What the function returned, of symbolic tensors; of specs if it was read from a file."""
        return self.recorded_outputs if self.told_outputs is None else self.told_outputs

    @property
    def recorded_outputs(self) -> Any:
        """What the function returned, of symbolic tensors."""
        return self._trace.results.packed(self._trace.results.outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it gives, an unknown one where it gives no tensor."""
        unknown = TensorShape(None)
        return nest.map_structure(lambda x: getattr(x, "shape", unknown), self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it gives, None where it gives no tensor."""
        return nest.map_structure(lambda x: getattr(x, "dtype", None), self.structured_outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """What it reads beside its arguments: tensors, and the handles of variables."""
        graph = self._trace.graph
        return [
            source
            for source in self._trace.captured.sources
            if isinstance(source, Handle)
            or (isinstance(source, Tensor) and not graph.is_of_itself(source))
        ]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads or assigns to."""
        return self._trace.captured.variables

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of its variables that are trainable."""
        return tuple([v for v in self.variables if v.trainable])

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Its parameters, what it gives and what it captures, as text; without the last, in a line,
        if not `verbose`."""
        return repr(self.function_type) if verbose else str(self.function_type)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(False)} at 0x{id(self):X}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"


def as_name(name: str) -> str:
    """A name of an argument as TensorFlow's signatures have it."""
    found = _NO_NAME.sub("_", name).lower()
    return found if found[:1].isalpha() else f"tensor_{found}"


def _tensors_in(value: Any) -> bool:
    arguments = Arguments(specs=True)
    arguments.add(value)
    specs = any(isinstance(p, tuple) and p[:1] == (TensorSpec,) for p in arguments.parts)
    avals = any(isinstance(p, Aval) for p in arguments.parts)
    return avals or bool(arguments.variables) or specs or bool(texts_in(arguments.parts))


def cast(wanted: Any, value: Any) -> Any:
    """A value where one like `wanted` was when the function was recorded."""
    if isinstance(wanted, (Tensor, TensorSpec)):
        if not isinstance(value, Tensor):
            return convert(value, wanted.dtype)
        if value.dtype is not wanted.dtype:
            specs = [TensorSpec(x.shape, x.dtype) for x in (value, wanted)]
            raise TypeError(f"Can not cast {specs[0]!r} to {specs[1]!r}")
        return value
    if isinstance(wanted, TypeSpec):
        if not wanted.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {wanted!r}")
        return value
    if isinstance(wanted, Variable):
        if not isinstance(value, Variable):
            raise TypeError(f"Can not cast {value!r} to a Variable")
        return value
    children = nest.children_of(wanted)
    if children is not None:
        return nest.rebuilt(
            wanted, [cast(*pair) for pair in zip(children, parts_as(wanted, value))]
        )
    if value is not wanted and value != wanted:
        raise TypeError(f"Can not cast {value!r} to Literal[{wanted!r}]")
    return wanted


def _as_specs(value: Any) -> Any:
    """A nest of results with specs of the tensors and composites in it."""
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, CompositeTensor):
        return value._type_spec
    children = nest.children_of(value)
    if children is not None:
        return nest.rebuilt(value, list(map(_as_specs, children)))
    return rebuilt(value, lambda x: TensorSpec(x.shape, x.dtype))


def _source_spec(source: Any) -> TensorSpec:
    if isinstance(source, Handle):
        return TensorSpec([], resource)
    return TensorSpec(source.shape, source.dtype)

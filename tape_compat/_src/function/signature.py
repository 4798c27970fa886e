"""What the arguments of a function are: how they are bound, and what a trace of it is known by.

Tensors count by dtype and shape, variables by these and by which of them are the same, numbers and
strings by value, structures by their kind, other objects by equality, held weakly.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from math import inf
from typing import Any, NamedTuple

import jax
import numpy as np

from ..composites.extension_type import ExtensionTypeSpec
from ..core import dtypes, limits
from ..core.avals import Aval
from ..core.caches import keep
from ..values import nest
from ..values.composite import CompositeTensor, Opaque, TypeSpec
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.variable import Variable
from .tensor_array import TensorArray, TensorArraySpec

_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)

#: Kinds of parameters that a call by position needs no binding for.
_PLAIN = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)

#: Classes of Python values that are a part of the key as they are.
LITERALS = frozenset((bool, int, float, complex, str, bytes, type(None), type(Ellipsis)))

#: Where the composites are that can be made of specs as well.
_OURS = tuple([f"{__name__.partition('.')[0]}._src.{name}." for name in ("values", "composites")])


class Arguments:
    """The arguments of one call, taken apart.

    parts: what a trace is known by. tensors: in order. variables: the different ones, in order.
    specs: whether TensorSpecs may stand for tensors. known_texts: see `Bound`. has_texts: whether
    there are tensors of texts.
    """

    __slots__ = ("has_texts", "known_texts", "parts", "specs", "tensors", "variables")

    def __init__(self, specs: bool = False, known_texts: bool = False) -> None:
        self.specs, self.known_texts = specs, known_texts
        self.has_texts = False
        self.parts: list[Any] = []
        self.tensors: list[Tensor] = []
        self.variables: list[Variable] = []

    def add(self, value: Any) -> None:
        """Take one argument apart."""
        cls = value.__class__
        if cls is Tensor:
            self._tensor(value)
        elif cls in LITERALS:
            self.parts.append(value)
        elif cls is tuple:
            self._nest(value, value)
        elif isinstance(value, Variable):
            self._variable(value)
        elif isinstance(value, (np.ndarray, np.generic, jax.Array)):
            self._tensor(convert(value))
        elif isinstance(value, TensorSpec):
            self._spec(value)
        elif isinstance(value, TensorArray):
            self._array(value)
        elif isinstance(value, TypeSpec):
            self._composite_spec(value)
        elif cls is Described:
            self.parts += (value.spec.value_type, 1, value.spec)
            self.add(value.components)
        elif hasattr(cls, "__tf_tracing_type__"):
            kind = value.__tf_tracing_type__(None)
            self.parts.append(kind)
            for x in kind.to_tensors(value):
                self._tensor(convert(x))
        else:
            children = nest.children_of(value)
            if children is None:
                self._object(value)
            else:
                self._nest(value, children)

    def _tensor(self, x: Tensor) -> None:
        if x._aval.dtype is dtypes.string:
            self.has_texts = True
            if self.known_texts:
                values = x._value()
                self.parts.append((str, values.shape, tuple(values.ravel().tolist())))
                return
        self.parts.append(x._aval)
        self.tensors.append(x)

    def _spec(self, spec: TensorSpec) -> None:
        """A spec without None counts as a tensor of its shape and dtype."""
        if not self.specs:
            raise ValueError(
                f"Attempt to convert a value ({spec!r}) with an unsupported type ({type(spec)}) to "
                "a Tensor."
            )
        shape = spec.shape
        self.has_texts = self.has_texts or spec.dtype is dtypes.string
        if shape.is_fully_defined():
            self.parts.append(Aval.of(tuple(shape.as_list()), spec.dtype))
        else:
            self.parts.append((TensorSpec, shape, spec.dtype))

    def _composite_spec(self, spec: TypeSpec) -> None:
        """A spec of a composite, in the form that `_nest` gives the composite."""
        if isinstance(spec.value_type, type) and issubclass(spec.value_type, Opaque):
            self.parts.append((spec.value_type, spec))
            return
        self.parts += (
            (spec, -1) if isinstance(spec, TensorArraySpec) else (spec.value_type, 1, spec)
        )
        self.add(spec._component_specs)

    def _array(self, array: TensorArray) -> None:
        """A TensorArray counts as a tensor of its elements."""
        buffer = array._as_buffer()
        size = int(array.size()) if buffer is None else -1
        self.parts += (array._type_spec, size)
        if buffer is not None:
            self._tensor(buffer)

    def _variable(self, variable: Variable) -> None:
        handle = getattr(variable, "_handle", None)
        if handle is None:  # of a library's class that only passes for one
            self.parts.append(weakref.ref(variable))
            return
        for i, known in enumerate(self.variables):
            if known._handle is handle:
                self.parts.append((Variable, i))
                return
        kind = (handle.shape, handle.dtype, variable.trainable)
        self.parts.append((Variable, len(self.variables), *kind))
        self.variables.append(variable)

    def _nest(self, value: Any, children: Sequence[Any]) -> None:
        if isinstance(value, dict):
            self.parts += (dict, tuple(sorted(value)))
        else:
            self.parts += (value.__class__, len(children))
            if isinstance(value, CompositeTensor):
                self.parts.append(value._type_spec)
            metadata = nest.metadata_of(value)
            if metadata is not None:
                self.parts.append(_Metadata(metadata))
        for child in children:
            self.add(child)

    def _object(self, value: Any) -> None:
        if isinstance(value, Opaque):
            self.parts.append((type(value), value._trace_part()))
            return
        if _becomes_tensor(value):
            self._tensor(convert(value))
            return
        if isinstance(value, weakref.ref):
            raise TypeError(f"weakref input {value} not supported for tf.function.")
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"Could not generate a generic TraceType for {value!r}. Please verify that it is "
                "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
            ) from None
        try:
            self.parts.append(weakref.ref(value))
        except TypeError:
            self.parts.append(value)


def _becomes_tensor(value: Any) -> bool:
    """Whether it counts as the tensor that is made of it: an object, and not its class."""
    found = hasattr(value, "_as_tensor") or hasattr(value, "__array__")
    return found and not isinstance(value, type)


class _Metadata:
    """What a structure of a user's class is beside its components. It need not have a hash."""

    __slots__ = ("_value",)

    def __init__(self, value: Any):
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Metadata) and bool(self._value == other._value)

    def __hash__(self) -> int:
        return hash(_Metadata)


class Described(NamedTuple):
    """Stands for a composite, of a library or a linear operator, with specs in the place of its
    tensors: it need not be possible to make one of those."""

    spec: TypeSpec
    components: Any


def holds_anything(spec: TypeSpec) -> bool:
    """Whether a composite of this spec can be made with something else in the place of its tensors:
    one of ours, not of a library or a linear operator."""
    return isinstance(spec, ExtensionTypeSpec) or type(spec).__module__.startswith(_OURS)


def _describes(components: Any) -> bool:
    """Whether there are specs in the place of tensors."""
    if isinstance(components, (TensorSpec, Described)):
        return True
    return any(map(_describes, nest.children_of(components, True) or ()))


def _composite(spec: TypeSpec, components: Any) -> Any:
    """The composite that is made of tensors, or what stands for it if they are specs."""
    if not holds_anything(spec) and _describes(components):
        return Described(spec, components)
    return spec._from_components(components)


def rebuilt(value: Any, tensors: Callable[[Any], Any]) -> Any:
    """An argument with what `tensors` makes of each tensor, and of what becomes one. Structures are
    new, so that a function may change them; variables and other objects are the same."""
    if value.__class__ in LITERALS or isinstance(value, Variable):
        return value
    if isinstance(value, (Tensor, np.ndarray, np.generic, jax.Array, TensorSpec)):
        return tensors(value)
    if isinstance(value, TensorArray):
        return value._as_argument(tensors)
    if isinstance(value, TypeSpec) and isinstance(value.value_type, type):
        if issubclass(value.value_type, Opaque):
            return value._stand_in()  # type: ignore[attr-defined]
    if isinstance(value, TypeSpec):
        return value._from_components(rebuilt(value._component_specs, tensors))
    if hasattr(value.__class__, "__tf_tracing_type__"):
        kind = value.__tf_tracing_type__(None)
        given = [tensors(x) for x in kind.to_tensors(value)]
        return kind.from_tensors(iter(given)) if given else kind.placeholder_value(None)
    children = nest.children_of(value)
    has_spec = isinstance(value, CompositeTensor) and not isinstance(value, IndexedSlices)
    if children is not None and has_spec:
        return _composite(value._type_spec, rebuilt(children[0], tensors))
    if isinstance(value, Described):
        return _composite(value.spec, rebuilt(value.components, tensors))
    if children is not None:
        return nest.rebuilt(value, [rebuilt(child, tensors) for child in children])
    return tensors(value) if _becomes_tensor(value) else value


class _Place(NamedTuple):
    """Stands for the argument of a call at this place."""

    number: int


class _Form(NamedTuple):
    """Where calls of one form have the arguments of a function: among those given by position,
    those given by name in the order of the call, and then the defaults."""

    by_position: tuple[int, ...]
    by_name: tuple[tuple[str, int], ...]
    defaults: tuple[Any, ...]
    names: tuple[str, ...]


def parameter_name(name: str) -> str:
    """The name of a parameter for a tensor of any name.

    >>> parameter_name("0/step type"), parameter_name("x")
    ('arg_0_step_type', 'x')
    """
    plain = "".join([c if c.isalnum() else "_" for c in name])
    return plain if plain[:1].isalpha() else f"arg_{plain}"


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
        by_position = [p for p in parameters if p.kind not in _BY_NAME]
        self.names = tuple([p.name for p in by_position if p.kind is not p.VAR_POSITIONAL])
        #: The name of what takes further arguments by position.
        self.rest = next((p.name for p in by_position if p.kind is p.VAR_POSITIONAL), "args")
        self._by_position = by_position
        #: How many arguments a call has, at least and at most, that needs no binding.
        self.plain: tuple[float, float] = (inf, -inf)
        if self.specs is None and all(p.kind in _PLAIN for p in parameters):
            least = len(self.names)
            self.plain = (least, least if len(by_position) == least else inf)
        self._forms: dict[tuple[Any, ...], _Form] = {}
        if self.specs is not None:
            self._check_specs(self.specs)

    def _check_specs(self, specs: tuple[Any, ...]) -> None:
        leaves = nest.flatten(specs)
        wrong = [x for x in leaves if not isinstance(x, TypeSpec)]
        if wrong:
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got "
                f"invalid args {wrong} with types {[type(x) for x in wrong]}."
            )
        extra = len(specs) - len(self._by_position)
        several = any(p.kind is p.VAR_POSITIONAL for p in self._by_position)
        if extra > 0 and not several:
            s = "s" if extra > 1 else ""
            raise TypeError(f"input_signature contains {extra} extra type constraint{s}.")
        own = [p for p in self._by_position if p.name != "self" and p.kind is not p.VAR_POSITIONAL]
        for p in own[len(specs) :]:
            if p.default is p.empty:
                raise TypeError(f"input_signature missing type constraint for {p.name}")
        for p in self.python.parameters.values():
            if p.kind is p.KEYWORD_ONLY and p.default is p.empty:
                raise TypeError(
                    f"Since input_signature is defined, keyword-only parameter `{p.name}` must "
                    "have a default value"
                )

    def _left(self, args: tuple[Any, ...], specs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that there are no specs for: they must be the defaults."""
        for p, value in zip(self._by_position[len(specs) :], args[len(specs) :]):
            if p.default is p.empty:
                raise TypeError(f"input_signature missing type constraint for {p.name}")
            if not _same(value, p.default):
                raise TypeError(f"Can not cast {value!r} to Literal[{p.default!r}]")
        return args[len(specs) :]

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
            form = self._forms.get((len(args), *kwargs)) or self._form(len(args), tuple(kwargs))
            values = (*args, *kwargs.values(), *form.defaults)
            by_position = tuple([values[i] for i in form.by_position])
            if self.specs is not None:
                if len(by_position) < len(self.specs):
                    raise TypeError("missing a required argument")
                left = self._left(by_position, self.specs)
                by_position = (*map(cast_to, self.specs, by_position), *left)
            by_name = tuple([(name, values[i]) for name, i in form.by_name])
            return Bound(by_position, by_name, form.names)
        except TypeError as error:
            raise self.refusal(error, args, kwargs) from None

    def taken(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the Python function is called with: tensors of the `input_signature`, if any."""
        if self.specs is None:
            return args, kwargs
        bound = self.bind(args, kwargs)
        return bound.args, dict(bound.kwargs)

    def _form(self, count: int, names: tuple[str, ...]) -> _Form:
        """The form of calls with `count` arguments by position and those of these names."""
        places = list(map(_Place, range(count + len(names))))
        found = self.python.bind(*places[:count], **dict(zip(names, places[count:])))
        found.apply_defaults()
        defaults: list[Any] = []

        def index(value: Any) -> int:
            if isinstance(value, _Place):
                return value.number
            defaults.append(value)
            return len(places) + len(defaults) - 1

        by_position = tuple(map(index, found.args))
        by_name = tuple([(name, index(value)) for name, value in sorted(found.kwargs.items())])
        form = _Form(by_position, by_name, tuple(defaults), self.shown_names(len(by_position)))
        return keep(self._forms, (count, *names), form, limits.MAX_CALL_FORMS)

    def shown_names(self, count: int) -> tuple[str, ...]:
        """Names for `count` arguments by position."""
        return (*self.names, *[f"{self.rest}_{i}" for i in range(count - len(self.names))])

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """Arguments that are bound, with their names."""
        return Bound(args, tuple(sorted(kwargs.items())), self.shown_names(len(args)))

    def refusal(
        self,
        error: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        shown: str | None = None,
    ) -> TypeError:
        return TypeError(
            f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
            f"kwargs: {kwargs or {}} for signature: {shown or self.shown}."
        )

    def general(self, bound: Bound) -> Bound:
        """Arguments with what is known of them beforehand instead."""
        if self.specs is None:
            return bound
        return bound._replace(args=(*self.specs, *bound.args[len(self.specs) :]))


class Bound(NamedTuple):
    """Arguments by position, arguments by name in order of the names, and names of the first.

    known_texts: whether the values of tensors of texts are parts of what is recorded, because it
    could not be recorded without.
    """

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    known_texts: bool = False

    @property
    def named(self) -> list[tuple[str, Any]]:
        """The arguments by position with their names."""
        return list(zip(self.names, self.args))

    @property
    def key(self) -> tuple:
        """What a trace for them is known by."""
        return tuple(self.taken_apart(specs=True).parts)

    @property
    def has_unknown(self) -> bool:
        """Whether a size of an argument is not known."""
        given = self.args, tuple([value for _, value in self.kwargs])
        values = nest.flatten(given, expand_composites=True)
        tensors = [x for x in values if isinstance(x, (Tensor, TensorSpec))]
        return not all(x.shape.is_fully_defined() for x in tensors)

    def taken_apart(self, specs: bool = False) -> Arguments:
        arguments = Arguments(specs, self.known_texts)
        parts, tensors = arguments.parts, arguments.tensors
        for value in self.args:
            if value.__class__ is Tensor and value._aval.dtype is not dtypes.string:
                parts.append(value._aval)
                tensors.append(value)
            else:
                arguments.add(value)
        for name, value in self.kwargs:
            arguments.parts.append((str, name))
            arguments.add(value)
        return arguments


def texts_in(parts: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Those of the parts that are tensors of texts: (str, shape, texts). Names of arguments are
    pairs with `str`."""
    return [p for p in parts if p.__class__ is tuple and p[:1] == (str,) and len(p) == 3]


def serves(general: tuple, key: tuple) -> bool:
    """Whether what is known by `general`, with None for some sizes, is right for `key`."""
    return len(general) == len(key) and all(map(_fits, general, key))


def _fits(wanted: Any, given: Any) -> bool:
    if given.__class__ is Aval and wanted.__class__ is tuple and wanted[:1] == (TensorSpec,):
        _, shape, dtype = wanted
        return dtype is given.dtype and shape.is_compatible_with(given.tensor_shape)
    if isinstance(wanted, TypeSpec) and isinstance(given, TypeSpec):
        return wanted.is_compatible_with(given)
    return wanted == given


def _same(x: Any, y: Any) -> bool:
    return x is y or (x.__class__ is y.__class__ and x.__class__ in LITERALS and x == y)


def check_unchanged(
    before: Sequence[Any], after: Sequence[Any], names: Sequence[str], function: Any
) -> None:
    """Refuse that a function has changed lists or dicts that it was given.

    before: copies of the arguments `after`, by name.
    """
    changed = [name for x, y, name in zip(before, after, names) if not _unchanged(x, y)]
    if changed:
        shown = f"{getattr(function, '__qualname__', function)}{inspect.signature(function)}"
        raise ValueError(
            f"{shown} should not modify its Python input arguments. Modifying a copy is allowed. "
            f"The following parameter(s) were modified: {', '.join(changed)}"
        )


def _unchanged(x: Any, y: Any) -> bool:
    parts, others = nest.children_of(x), nest.children_of(y)
    if parts is None or others is None:
        return x is y or _same(x, y)
    return nest.keys_of(x) == nest.keys_of(y) and all(map(_unchanged, parts, others))


def spec_names(bound: Bound) -> tuple[str | None, ...]:
    """The names that specs among arguments give to what stands in their places, None for others."""
    leaves = nest.flatten((bound.args, tuple([value for _, value in bound.kwargs])))
    return tuple([x.name if isinstance(x, TensorSpec) else None for x in leaves])


def copied(value: Any) -> Any:
    """An argument with structures of its own."""
    children = nest.children_of(value)
    if children is None or isinstance(value, (Tensor, Variable)):
        return value
    return nest.rebuilt(value, [copied(child) for child in children])


def parts_as(wanted: Any, value: Any) -> list[Any]:
    """What `value` consists of, for a structure like `wanted`: a list for a list, a tuple for a
    tuple, a dict of the same keys for a dict.

    Raises: TypeError for another one.
    """
    if isinstance(wanted, dict):
        if not isinstance(value, MutableMapping):
            raise TypeError(f"Can not cast {value!r} to a Dict type.")
        if wanted.keys() != value.keys():
            raise TypeError(f"{value!r} has different keys with the TraceType {type_text(wanted)}.")
        return [value[key] for key in nest.keys_of(wanted)]
    names = getattr(wanted, "_fields", None) if isinstance(wanted, tuple) else None
    if names is not None:
        others = getattr(value, "_fields", None) if isinstance(value, tuple) else None
        if others is None:
            raise TypeError(f"Cannot cast {value!r} to type {type(wanted)}.")
        if set(names) != set(others):
            raise TypeError(f"{value!r} has different attributes with the TraceType {wanted!r}")
        return [getattr(value, name) for name in names]
    for kind in (list, tuple):
        if isinstance(wanted, kind) and not isinstance(value, kind):
            raise TypeError(f"Can not cast {value!r} to {kind.__name__} type.")
    metadata = nest.metadata_of(wanted)
    if metadata is not None:
        if not isinstance(value, type(wanted)):
            raise TypeError(f"[{value!r}] is not of type {type(wanted)}.")
        if metadata != (other := nest.metadata_of(value)):
            raise TypeError(f"Metadata mismatch: [{metadata!r}] != [{other!r}].")
    parts, count = nest.children_of(value), len(nest.keys_of(wanted))
    if parts is None:
        raise TypeError(f"Can not cast {value!r} to {wanted!r}")
    if len(parts) != count:
        raise TypeError(f"Expected {value!r} to have length of {count}")
    return parts


def type_text(value: Any) -> str:
    """A type of arguments or results as TensorFlow writes it.

    >>> type_text({"a": 1, "b": [TensorSpec([2])]})
    "Dict[['a', Literal[1]], ['b', List[TensorSpec(shape=(2,), dtype=tf.float32, name=None)]]]"
    """
    if isinstance(value, TypeSpec):
        return repr(value)
    if isinstance(value, dict):
        items = [f"[{key!r}, {type_text(v)}]" for key, v in value.items()]
        return f"Dict[{', '.join(items)}]"
    if isinstance(value, (list, tuple)):
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[{', '.join(map(type_text, value))}]"
    return f"Literal[{value!r}]"


def cast_to(spec: Any, value: Any) -> Any:
    """A value as a nest of specs wants it: tensors that fit."""
    specs = nest.children_of(spec)
    if specs is not None:
        parts = parts_as(spec, value)
        return nest.rebuilt(spec, [cast_to(s, c) for s, c in zip(specs, parts)])
    if not isinstance(spec, TensorSpec):
        if isinstance(spec, TypeSpec) and not spec.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {spec!r}")
        if isinstance(value, TensorArray) and value._as_buffer() is None:
            raise TypeError(f"Can not cast a TensorArray that holds nothing to {spec!r}")
        return value
    if isinstance(value, TensorSpec):
        given = value
    else:
        if not isinstance(value, Tensor):
            try:
                value = convert(value, None if isinstance(value, Variable) else spec.dtype)
            except (TypeError, ValueError) as error:
                raise TypeError(f"Can not cast {value!r} to {spec!r}") from error
        given = TensorSpec(value.shape, value.dtype)
    if given.dtype is not spec.dtype or not spec.shape.is_compatible_with(given.shape):
        raise TypeError(f"Can not cast {given!r} to {spec!r}")
    return value

"""`tf.experimental.ExtensionType`: classes of users whose values are made of tensors.

A class declares fields by annotations. From these come its constructor, the class of its specs, by
which functions, loops and datasets take its values apart, and the comparison of values.
"""

from __future__ import annotations

import abc
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ..core.errors import user_location
from ..core.shapes import TensorShape
from ..values import operators, spec_registry
from ..values.composite import CompositeTensor, TypeSpec, batched_shape
from ..values.nest import flatten
from ..values.tensor import Tensor
from . import fields as _fields
from .fields import NO_DEFAULT, Field

_RESERVED = ("self", "Spec", "_type_spec")

#: In the dict of a value whose constructor runs.
_OPEN = "_in_constructor"
_CACHED = "_cached_type_spec"


class _Declared(abc.ABCMeta):
    """The class of classes of which values cannot change once their constructor has ended."""

    def __call__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = cls.__new__(cls) if cls.__new__ is object.__new__ else cls.__new__(cls, *args)
        vars(made)[_OPEN] = True
        try:
            made.__init__(*args, **kwargs)
        finally:
            vars(made).pop(_OPEN, None)
        made._finish()
        return made

    @property
    def __signature__(cls: Any) -> inspect.Signature:
        """That of the constructor, for `inspect`."""
        found = inspect.signature(cls.__init__)
        return found.replace(parameters=[*found.parameters.values()][1:])


class ExtensionTypeMetaclass(_Declared):
    """Adds to a class its constructor and the class of its specs."""

    def __init__(cls: Any, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._abstract = namespace.get("_abstract", False)
        declared = {} if cls._abstract else _own_annotations(cls, sys._getframe(1))
        for field in declared:
            if field in _RESERVED or field.startswith("_tf_extension_type"):
                raise ValueError(
                    f"The field annotations for {name} are invalid. Field '{field}' is reserved."
                )
        found = {f.name: f for base in reversed(bases) for f in getattr(base, "_fields", ())}
        for field, annotation in declared.items():
            found[field] = _field(cls, field, annotation)
        if not cls._abstract:
            _check_annotated(name, {k: v for k, v in namespace.items() if k not in declared})
        cls._fields = tuple(found.values())
        cls._annotations_known = {
            field.name: field.annotation
            for field in cls._fields
            if not _has_names(field.annotation)
        }
        if cls._abstract:
            return
        if "__init__" not in namespace:
            cls.__init__ = _constructor(cls)
        cls.Spec = _spec_class(cls, namespace.get("Spec"))
        if "__name__" in namespace:
            spec_registry.register(namespace["__name__"] + ".Spec")(cls.Spec)

    def __call__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls._abstract:
            raise AssertionError(
                f"Cannot create an instance of {cls.__name__} because {cls.__name__} is an "
                "abstract base class."
            )
        return super().__call__(*args, **kwargs)

    def annotation_of(cls: Any, name: str) -> Any:
        """The annotation of a field, with classes for their names."""
        known = cls._annotations_known
        if name not in known:
            names = {base.__name__: base for base in cls.__mro__}
            found = typing.get_type_hints(cls, localns=names)[name]
            _fields.check_annotation(found, forward=False)
            known[name] = found
        return known[name]


def _check_annotated(name: str, others: Mapping[str, Any]) -> None:
    """Refuse, among what a class holds beside its fields, what is only a value."""
    for key, value in others.items():
        named = key[:2] == key[-2:] == "__"
        if not (named or callable(value)) and not isinstance(value, (property, classmethod)):
            raise ValueError(
                f"The field annotations for {name} are invalid. Field {key} is missing a type "
                "annotation."
            )


def _own_annotations(cls: type, frame: types.FrameType) -> dict[str, Any]:
    """The fields that a class declares itself, and their annotations. One that is a text is looked
    up in the frame that makes the class, and stays a text if it is not known there yet."""

    def known(annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, frame.f_globals, {**frame.f_locals, cls.__name__: cls})
        except NameError:
            return annotation

    return {name: known(annotation) for name, annotation in inspect.get_annotations(cls).items()}


def _field(cls: type, name: str, annotation: Any) -> Field:
    default = vars(cls).get(name, NO_DEFAULT)
    try:
        _fields.check_annotation(annotation)
    except TypeError as error:
        raise TypeError(f"In field {name!r}: {error}") from error
    if default is not NO_DEFAULT and not _has_names(annotation):
        default = _fields.converted(default, annotation, f"default value for {name}")
    return Field(name, annotation, default)


def _has_names(annotation: Any) -> bool:
    if isinstance(annotation, (str, typing.ForwardRef)):
        return True
    return any(map(_has_names, typing.get_args(annotation)))


def _signature(fields: Iterable[Field], returns: Any, defaults: bool = True) -> inspect.Signature:
    """That of a constructor. Fields after one with a default that have none are given by name."""
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters, kind = [first], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name, annotation, default in fields:
        given = default if defaults else NO_DEFAULT
        if given is NO_DEFAULT and parameters[-1].default is not NO_DEFAULT:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=given, annotation=annotation))
    return inspect.Signature(parameters, return_annotation=returns)


def _constructor(cls: Any, spec: bool = False) -> Callable[..., None]:
    """The `__init__` of a class by its fields, or that of its specs."""
    signature = _signature(cls._fields, cls, defaults=not spec)
    names = [field.name for field in cls._fields]
    by_place = all(p.kind is not p.KEYWORD_ONLY for p in signature.parameters.values())

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if by_place and not kwargs and len(args) == len(names):
            vars(self).update(zip(names, args))
            return
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        vars(self).update({name: bound.arguments[name] for name in names})

    made: Any = __init__
    made.__signature__ = signature
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


class _Unchangeable:
    """The base of what has fields: they are set in constructors only, and nothing else is."""

    __slots__ = ()

    def _declared_fields(self) -> Sequence[Field]:
        raise NotImplementedError(f"{type(self).__name__}._declared_fields")

    def __setattr__(self, name: str, value: Any) -> None:
        _refuse_change(self, name)
        vars(self)[name] = value

    def __delattr__(self, name: str) -> None:
        _refuse_change(self, name)
        del vars(self)[name]


def _refuse_change(value: _Unchangeable, name: str) -> None:
    if _OPEN not in vars(value) or all(field.name != name for field in value._declared_fields()):
        kind = "ExtensionTypeSpec" if isinstance(value, TypeSpec) else "ExtensionType"
        raise AttributeError(
            f"Cannot mutate attribute `{name}` outside the custom constructor of {kind}."
        )


def _held(value: _Unchangeable) -> tuple[Any, ...]:
    """What the fields hold, in their order."""
    held = vars(value)
    return tuple([held[field.name] for field in value._declared_fields()])


def _shown(value: _Unchangeable, parts: Iterable[Any]) -> str:
    pairs = zip(value._declared_fields(), parts, strict=True)
    inner = ", ".join(f"{field.name}={part!r}" for field, part in pairs)
    return f"{type(value).__qualname__}({inner})"


def _finished(value: Any, cls: Any, of_spec: bool = False) -> None:
    """Check what a constructor has set, and convert it."""
    held = vars(value)
    missing = {field.name for field in cls._fields if field.name not in held}
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    for name, _, _ in cls._fields:
        annotation = cls.annotation_of(name)
        held[name] = _fields.converted(held[name], annotation, name, of_spec)


class ExtensionType(_Unchangeable, CompositeTensor, metaclass=ExtensionTypeMetaclass):
    """The base of classes of users whose values are made of tensors.

    A class declares its fields by annotations: `tf.Tensor`, classes of composites such as
    `tf.RaggedTensor` or other extension types, `int`, `float`, `str`, `bytes`, `bool`, `None`,
    `tf.DType`, `tf.TensorShape`, and of these `Tuple[X, ...]`, `Tuple[X, Y]`, `Mapping[K, V]`,
    `Union[X, Y]`, `Optional[X]`. Its values are immutable. Functions take and return them, as do
    conditionals, loops and datasets; `==` compares them by their tensors; `cls.Spec` is the class
    of their specs, which has the same fields. A method `__validate__` is called when a value has
    been made; an `__init__` of the class sets the fields by assignment.

    Raises: TypeError for annotations and values of other kinds; AttributeError if a value is
      changed; ValueError if an `__init__` leaves a field out.

    >>> import tape_compat as tf
    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    ...
    ...     def filled(self, default):
    ...         return tf.where(self.mask, self.values, default)
    >>> masked = Masked([1, 2, 3], [True, False, True])
    >>> masked.filled(0).numpy().tolist()
    [1, 0, 3]
    >>> tf.function(lambda m: Masked(m.values * 2, m.mask))(masked).values.numpy().tolist()
    [2, 4, 6]
    >>> tf.type_spec_from_value(masked).mask
    TensorSpec(shape=(3,), dtype=tf.bool, name=None)
    """

    _abstract = True
    _fields: ClassVar[tuple[Field, ...]]
    Spec: ClassVar[Any]

    def _declared_fields(self) -> Sequence[Field]:
        return type(self)._fields

    def _finish(self) -> None:
        _finished(self, type(self))
        self.__validate__()

    def __validate__(self) -> None:
        """Check a value that has been made, and raise an exception if it is wrong. Classes define
        it."""

    @property
    def _type_spec(self) -> Any:
        held = vars(self)
        if _CACHED not in held:
            held[_CACHED] = type(self).Spec.from_value(self)
        return held[_CACHED]

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self) or self._type_spec != other._type_spec:
            return False
        parts = zip(flatten(self, True), flatten(other, True), strict=True)
        return operators.call("all", [True, *(operators.call("all", x == y) for x, y in parts)])

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return True if equal is False else operators.call("invert", equal)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _shown(self, _held(self))


class ExtensionTypeSpec(_Unchangeable, TypeSpec, metaclass=_Declared):
    """The base of the specs of extension types: `cls.Spec` of a class is made of its fields, with
    specs where these are tensors or composites.

    >>> import tape_compat as tf
    >>> class Pair(tf.experimental.ExtensionType):
    ...     x: tf.Tensor
    ...     name: str = "pair"
    >>> spec = Pair.Spec(tf.TensorSpec([None]), "pair")
    >>> spec.is_compatible_with(Pair([1.0, 2.0])), spec.is_compatible_with(Pair([1.0], "other"))
    (True, False)
    """

    _of: ClassVar[Any]

    @property
    @abc.abstractmethod
    def value_type(self) -> Any:
        """The extension type."""

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of a value."""
        held = vars(value)
        return cls._made({f.name: _fields.spec_of(held[f.name]) for f in cls._of._fields})

    @classmethod
    def _made(cls, held: dict[str, Any]) -> Any:
        made = object.__new__(cls)
        vars(made).update(held)
        return made

    def _declared_fields(self) -> Sequence[Field]:
        return self._of._fields

    def _finish(self) -> None:
        _finished(self, self._of, of_spec=True)

    def _serialize(self) -> tuple[Any, ...]:
        names = [field.name for field in self._of._fields]
        return tuple(zip(names, map(_fields.plain, _held(self))))

    @classmethod
    def _deserialize(cls, parts: tuple[Any, ...]) -> Any:
        return cls._made({name: _fields.unchangeable(part) for name, part in parts})

    @property
    def _component_specs(self) -> Any:
        return tuple(_fields.specs_in(_held(self)))

    def _to_components(self, value: Any) -> Any:
        return tuple([part for _, part in _fields.pairs(_held(self), _held(value))])

    def _from_components(self, components: Any) -> Any:
        """The value; of what are no tensors, as specs, one that only holds them."""
        remaining = iter(components)
        parts = self._parts_by(lambda _: next(remaining))
        made = object.__new__(self._of)
        vars(made).update(parts)
        if components and all(isinstance(part, TypeSpec) for part in components):
            vars(made)[_CACHED] = self._made(parts)
        elif not all(isinstance(part, (Tensor, CompositeTensor)) for part in components):
            vars(made)[_CACHED] = self
        return made

    def _parts_by(
        self,
        function: Callable[[TypeSpec], Any],
        of_shape: Callable[[TensorShape], TensorShape] | None = None,
    ) -> dict[str, Any]:
        """The fields, with what `function` makes of the specs in them, and `of_shape` of shapes."""
        held = zip(self._of._fields, _held(self), strict=True)
        return {field.name: _fields.mapped(function, part, of_shape) for field, part in held}

    def _changed(
        self,
        function: Callable[[TypeSpec], Any],
        of_shape: Callable[[TensorShape], TensorShape] | None = None,
    ) -> Any:
        return self._made(self._parts_by(function, of_shape))

    def __repr__(self) -> str:
        return _shown(self, map(_fields.plain, _held(self)))


def _spec_class(cls: Any, body: type | None) -> Any:
    """The class of the specs of a class, with what its own class `Spec` defines."""
    base = cls._spec_base
    own: dict[str, Any] = {}
    if body is not None:
        if body.__bases__ not in ((object,), (TypeSpec,), (ExtensionTypeSpec,), (base,)):
            raise ValueError(
                f"{cls.__qualname__}.Spec must be directly subclassed from tf.TypeSpec."
            )
        own = {k: v for k, v in vars(body).items() if k not in ("__dict__", "__weakref__")}
    own.update(
        __qualname__=f"{cls.__qualname__}.Spec",
        __module__=cls.__module__,
        _of=cls,
        value_type=property(lambda self: cls, doc="The extension type."),
    )
    own.setdefault("__init__", _constructor(cls, spec=True))
    return type(base)(f"{cls.__name__}.Spec", (base,), own)


ExtensionType._spec_base = ExtensionTypeSpec  # type: ignore[attr-defined]


# ---------------------------------------------------------------------------------------------
# Values that can be stacked.


class ExtensionTypeBatchEncoder:
    """How values of an extension type are stacked: as `cls.__batch_encoder__` of a
    `BatchableExtensionType`. The default stacks the tensors of each field.

    A subclass overrides all five methods where a batch is something else than its fields in
    batches: graphs of different sizes, say, encoded as ragged tensors.

    >>> import tape_compat as tf
    >>> class Point(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    >>> encoder = tf.experimental.ExtensionTypeBatchEncoder()
    >>> encoder.batch(Point.Spec(tf.TensorSpec([2])), 3)
    Point.Spec(x=TensorSpec(shape=(3, 2), dtype=tf.float32, name=None))
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of `batch_size` values of a spec; None for an unknown number."""
        return spec._changed(
            lambda part: part._batch(batch_size), lambda shape: batched_shape(shape, batch_size)
        )

    def unbatch(self, spec: Any) -> Any:
        """The spec of one value of a batch."""
        return spec._changed(lambda part: part._unbatch(), lambda shape: shape[1:])

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> list[Any]:
        """The tensors and composites that a value is stacked by; each of at least `minimum_rank`
        dimensions.

        Raises: ValueError for a tensor that has fewer.
        """
        parts = flatten(spec._to_components(value))
        for part in parts:
            if isinstance(part, Tensor) and len(part._aval.shape) < minimum_rank:
                raise ValueError(
                    f"Unbatching a tensor is only supported for rank >= {minimum_rank}: {part!r} "
                    f"of {value!r} (at {user_location()})"
                )
        return parts

    def decode(self, spec: Any, encoded_value: Sequence[Any]) -> Any:
        """The value that was encoded so."""
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec: Any) -> list[TypeSpec]:
        """The specs of what `encode` gives."""
        return list(spec._component_specs)


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """The base of the specs of extension types that can be stacked."""

    def _batch(self, batch_size: int | None) -> Any:
        return self._of.__batch_encoder__.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._of.__batch_encoder__.unbatch(self)


class BatchableExtensionType(ExtensionType):
    """An ExtensionType that datasets, `tf.map_fn` and `tf.vectorized_map` stack and take apart.

    A batch is a value of the same class, of which each tensor has one more dimension. Another
    `__batch_encoder__` of the class says otherwise.

    >>> import tape_compat as tf
    >>> class Point(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    ...     name: str = "point"
    >>> dataset = tf.data.Dataset.from_tensor_slices(Point([[1, 2], [3, 4], [5, 6]]))
    >>> [batch.x.shape for batch in dataset.batch(2)]
    [TensorShape([2, 2]), TensorShape([1, 2])]
    >>> tf.map_fn(lambda point: Point(point.x * 2), Point([[1, 2], [3, 4]])).x.numpy().tolist()
    [[2, 4], [6, 8]]
    """

    _abstract = True
    _spec_base = BatchableExtensionTypeSpec
    __batch_encoder__ = ExtensionTypeBatchEncoder()


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of a value by their names. Those that are extension types stay what they are.

    >>> import tape_compat as tf
    >>> class Pair(tf.experimental.ExtensionType):
    ...     x: int
    ...     y: str = "a"
    >>> tf.experimental.extension_type.as_dict(Pair(3))
    {'x': 3, 'y': 'a'}
    """
    return {
        field.name: part for field, part in zip(value._declared_fields(), _held(value), strict=True)
    }

"""`function_type`: the types of a function's parameters, results and captures."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from ..values import nest
from ..values.composite import TypeSpec
from ..values.spec import TensorSpec
from .signature import type_text


class Structure:
    """The type of what is no tensor: of a nest of specs, and of a Python value.

    >>> Structure({"a": TensorSpec([2]), "b": 3})
    Dict[['a', TensorSpec(shape=(2,), dtype=tf.float32, name=None)], ['b', Literal[3]]]
    """

    def __init__(self, value: Any):
        self.value = value

    def flatten(self) -> list[Any]:
        """The specs of the tensors in it."""
        leaves = nest.flatten(self.value, expand_composites=True)
        return [_unnamed(x) for x in leaves if isinstance(x, TypeSpec)]

    def is_subtype_of(self, other: Any) -> bool:
        """Whether what has this type has the other one too."""
        if not isinstance(other, Structure):
            return False
        try:
            nest.assert_same_structure(self.value, other.value)
        except (TypeError, ValueError):
            return False
        pairs = zip(nest.flatten(self.value), nest.flatten(other.value), strict=True)
        return all(_is_subtype(one, two) for one, two in pairs)

    def __eq__(self, other: object) -> bool:
        return self.is_subtype_of(other) and other.is_subtype_of(self)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return type_text(self.value)


def _unnamed(spec: Any) -> Any:
    return TensorSpec(spec.shape, spec.dtype) if type(spec) is TensorSpec else spec


def _is_subtype(one: Any, two: Any) -> bool:
    if isinstance(one, TypeSpec):
        return isinstance(two, TypeSpec) and _unnamed(one).is_subtype_of(_unnamed(two))
    return type(one) is type(two) and bool(one == two)


def type_of(value: Any) -> Any:
    """The type of a nest of specs: the spec itself if it is one."""
    return value if isinstance(value, TypeSpec) else Structure(value)


class Parameter(inspect.Parameter):
    """A parameter of a function. optional: whether it may be left out; type_constraint: the type
    that arguments must have, None if that is not known."""

    def __init__(self, name: str, kind: Any, optional: bool, type_constraint: Any):
        annotation = self.empty if type_constraint is None else type_constraint
        default = _DEFAULT if optional else self.empty
        super().__init__(name, kind, default=default, annotation=annotation)

    @property
    def optional(self) -> bool:
        """Whether it may be left out of a call."""
        return self.default is not self.empty

    @property
    def type_constraint(self) -> Any:
        """The type that arguments must have."""
        return None if self.annotation is self.empty else self.annotation

    def __repr__(self) -> str:
        return (
            f"Parameter(name={self.name}, kind={self.kind}, optional={self.optional!r}, "
            f"type_constraint={self.type_constraint!r})"
        )


class _CapturedDefault:
    def __repr__(self) -> str:
        return "<captured_default_value>"


_DEFAULT = _CapturedDefault()


class FunctionType(inspect.Signature):
    """The types of a function's parameters, results and captures.

    >>> import tape_compat as tf
    >>> f = tf.function(lambda x, n=2: x * n)
    >>> kind = f.get_concrete_function(tf.TensorSpec([None], tf.int32)).function_type
    >>> kind.parameters["x"].type_constraint, kind.parameters["n"].type_constraint
    (TensorSpec(shape=(None,), dtype=tf.int32, name=None), Literal[2])
    >>> kind.output
    TensorSpec(shape=(None,), dtype=tf.int32, name=None)
    """

    def __init__(
        self,
        parameters: Sequence[inspect.Parameter] | None = None,
        captures: Mapping[Any, Any] | None = None,
        **options: Any,
    ):
        super().__init__(parameters, **options)
        self._captures = OrderedDict(captures or {})

    @classmethod
    def from_callable(
        cls, obj: Any, *, follow_wrapped: bool = True, **options: Any
    ) -> FunctionType:
        """That of a Python function, whose parameters are known by name."""
        found = inspect.Signature.from_callable(obj, follow_wrapped=follow_wrapped, **options)
        return untyped(found)

    @property
    def captures(self) -> OrderedDict[Any, Any]:
        """The types of what the function takes beside its arguments, by identity."""
        return self._captures

    @property
    def output(self) -> Any:
        """The type of what it gives, None if that is not known."""
        return None if self.return_annotation is self.empty else self.return_annotation

    def _flat(self, kinds: Any) -> list[Any]:
        return [part for kind in kinds for part in _structure(kind).flatten()]

    @property
    def flat_inputs(self) -> list[Any]:
        """The specs of the tensors that it takes."""
        return self._flat([p.annotation for p in self.parameters.values()])

    @property
    def flat_outputs(self) -> list[Any]:
        """The specs of the tensors that it gives."""
        return [] if self.output is None else self._flat([self.output])

    @property
    def flat_captures(self) -> list[Any]:
        """The specs of what it takes beside its arguments."""
        return self._flat(self.captures.values())

    def is_supertype_of(self, other: FunctionType) -> bool:
        """Whether a function of the other type takes no less: it can be called in its place."""
        mine, others = list(self.parameters.values()), list(other.parameters.values())
        if len(mine) != len(others):
            return False
        return all(
            (p.name, p.kind, p.default is p.empty) == (q.name, q.kind, q.default is q.empty)
            and _structure(p.annotation).is_subtype_of(_structure(q.annotation))
            for p, q in zip(mine, others, strict=True)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionType):
            return NotImplemented
        return super().__eq__(other) and self.captures == other.captures

    def __hash__(self) -> int:
        return hash((tuple(self.parameters), repr(self)))

    def __repr__(self) -> str:
        lines = self.parameter_lines()
        lines += ["Output Type:", f"  {self.output}", "Captures:"]
        lines += [f"  {name}: {kind}" for name, kind in self.captures.items()] or ["  None"]
        return "\n".join(lines)

    def parameter_lines(self) -> list[str]:
        """Its parameters as text, one a line."""
        parameters: Any = self.parameters.values()
        shown = [f"  {p.name} ({p.kind.name}): {p.type_constraint}" for p in parameters]
        return ["Input Parameters:", *shown]


def _structure(kind: Any) -> Structure:
    return kind if isinstance(kind, Structure) else Structure(kind)


def untyped(signature: inspect.Signature) -> FunctionType:
    """The type of a function whose arguments are not known."""
    parameters = signature.parameters.values()
    return FunctionType(
        [Parameter(p.name, p.kind, p.default is not p.empty, None) for p in parameters]
    )

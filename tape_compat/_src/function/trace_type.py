"""`tf.types.experimental.TraceType`: what a trace is known by, for classes of users."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(abc.ABC):
    """What `tf.function` knows of an argument that is of a class of the user's.

    The class has a method `__tf_tracing_type__(context)`, which gives one. Arguments whose types
    are equal share a trace. Tensors that `to_tensors` gives are inputs of it; all else in the
    argument is as it was when the function was recorded.

    >>> import tape_compat as tf
    >>> class Kind(tf.types.experimental.TraceType):
    ...     def __init__(self, fruit):
    ...         self.fruit = fruit
    ...
    ...     def is_subtype_of(self, other):
    ...         return self == other
    ...
    ...     def most_specific_common_supertype(self, others):
    ...         return self if all(self == other for other in others) else None
    ...
    ...     def placeholder_value(self, placeholder_context=None):
    ...         return self.fruit
    ...
    ...     def __eq__(self, other):
    ...         return type(other) is Kind and type(other.fruit) is type(self.fruit)
    ...
    ...     def __hash__(self):
    ...         return hash(type(self.fruit))
    >>> class Apple:
    ...     taste = 2
    ...
    ...     def __tf_tracing_type__(self, context):
    ...         return Kind(self)
    >>> of_fruit = tf.function(lambda fruit: tf.constant(fruit.taste))
    >>> int(of_fruit(Apple())), int(of_fruit(Apple())), of_fruit.experimental_get_tracing_count()
    (2, 2, 1)
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace for `other` serves for what has this type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The type that this and all `others` are subtypes of; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What the function is given when it is recorded."""

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors of an argument that are inputs."""
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The argument that has these tensors."""
        return self.placeholder_value(None)

    def flatten(self) -> list[TraceType]:
        """The specs of what `to_tensors` gives."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """A value as one of this type."""
        assert value == self.placeholder_value(None), f"Can not cast {value!r} to type {self!r}"
        return value

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    @abc.abstractmethod
    def __hash__(self) -> int: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class whose values say what a trace is known by."""

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The type of this value."""
        ...

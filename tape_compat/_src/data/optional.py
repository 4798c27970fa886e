"""`tf.experimental.Optional`: a value, or that there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.avals import Aval
from ..core.errors import user_location
from ..values.composite import Opaque, TypeSpec
from ..values.tensor import Tensor, concrete
from .structure import leaf_of, map_leaves, spec_of


class OptionalSpec(TypeSpec):
    """What is known of an Optional beforehand: the specs of its value.

    >>> import tape_compat as tf
    >>> tf.OptionalSpec(tf.TensorSpec([2], tf.float32))
    OptionalSpec(TensorSpec(shape=(2,), dtype=tf.float32, name=None),)
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the value."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """`tf.experimental.Optional`."""
        return Optional

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an Optional, or one of another spec, fits this spec."""
        spec = getattr(spec_or_value, "_type_spec", spec_or_value)
        if not isinstance(spec, OptionalSpec):
            return False
        if self._element_spec is None or spec._element_spec is None:
            return self._element_spec is spec._element_spec
        return super().is_compatible_with(spec)

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """The spec of an Optional."""
        return OptionalSpec(value.element_spec)


#: What an Optional without a value has, and specs that are to be those of its value.
_NOTHING, _OF_VALUE = object(), object()
_TRUE, _FALSE, _TRUTH = np.array(True), np.array(False), Aval.of((), dtypes.bool)


class Optional(Opaque):
    """A value that may be missing, such as the next element of an iterator.

    Made by `from_value`, `empty` and `get_next_as_optional` of iterators.

    >>> import tape_compat as tf
    >>> some = tf.experimental.Optional.from_value(tf.constant(3))
    >>> none = tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
    >>> bool(some.has_value()), some.get_value().numpy().item(), bool(none.has_value())
    (True, 3, False)
    """

    def __init__(self, element_spec: Any, value: Any = _NOTHING) -> None:
        self._element_spec, self._value = element_spec, value

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An Optional with this value, a nest of tensors."""
        return Optional(_OF_VALUE, map_leaves(leaf_of, value))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An Optional without a value, of which `element_spec` would be the specs."""
        return Optional(element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value: a bool scalar."""
        return concrete(_TRUE if self._value is not _NOTHING else _FALSE, _TRUTH)

    def get_value(self, name: str | None = None) -> Any:
        """The value. Raises InvalidArgumentError if there is none."""
        if self._value is _NOTHING:
            raise errors.InvalidArgumentError(
                None,
                None,
                "The given optional does not have a value. [Op:OptionalGetValue] (at "
                f"{user_location()})",
            )
        return map_leaves(lambda leaf: leaf, self._value)  # which the user may change

    @property
    def element_spec(self) -> Any:
        """The specs of the value."""
        if self._element_spec is _OF_VALUE:
            self._element_spec = map_leaves(spec_of, self._value)
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self.element_spec)

    def _trace_part(self) -> OptionalSpec:
        return self._type_spec

    @property
    def value_structure(self) -> Any:
        """The same as `element_spec`."""
        return self.element_spec

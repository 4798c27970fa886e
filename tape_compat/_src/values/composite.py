"""Values made of several tensors, and what is known of a value beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..core.dtypes import DType, as_dtype
from ..core.forwards import forwards
from ..core.shapes import TensorShape


class TypeSpec:
    """What is known of a value beforehand: its class, and what its tensors are like.

    A subclass defines `value_type` and `_serialize`, whose results tell two specs apart; one whose
    values are made of tensors defines `_component_specs`, `_to_components` and `_from_components`.

    >>> import tape_compat as tf
    >>> isinstance(tf.TensorSpec([2]), tf.TypeSpec)
    True
    """

    __slots__ = ()
    #: Whether it is a leaf where composites are structures, though it has `_component_specs`.
    _is_leaf = False

    @property
    def value_type(self) -> type:
        """The class of the values that a spec describes."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self) -> tuple[Any, ...]:
        """What two specs of one class differ in."""
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @property
    def _component_specs(self) -> Any:
        """A nest of the specs of what `_to_components` gives."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _to_components(self, value: Any) -> Any:
        """A nest of the tensors and composites that a value of this spec is made of."""
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components: Any) -> Any:
        """The value of this spec that is made of these components."""
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    def _without_tensor_names(self) -> Any:
        """This spec, for tensors without names."""
        return self

    def _with_tensor_ranks_only(self) -> Any:
        """This spec, for tensors of any sizes along their axes."""
        return type(self)._deserialize(_of_any_sizes(self._serialize()))

    def _batch(self, batch_size: int | None) -> Any:
        """The spec of so many values of this spec, stacked; None for an unknown number."""
        raise NotImplementedError(f"Elements of {self} cannot be batched.")

    def _unbatch(self) -> Any:
        """The spec of one of the rows of values of this spec."""
        raise NotImplementedError(f"Elements of {self} have no rows.")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or some value of another spec, fits this spec."""
        spec = spec_or_value
        if not isinstance(spec, TypeSpec):
            spec = spec_of_composite(spec)
        if spec is None or type(spec) is not type(self):
            return False
        return _compatible(self._serialize(), spec._serialize())

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this spec fits `other` too."""
        return type(other) is type(self) and (
            self == other or _general(self._serialize(), other._serialize()) == other._serialize()
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The most that is true of this spec and all `others`; None if they have nothing common."""
        found: Any = self._serialize()
        for other in others:
            if type(other) is not type(self):
                return None
            found = _general(found, other._serialize())
            if found is None:
                return None
        return type(self)._deserialize(found)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The most that is true of both specs. Raises ValueError if they have nothing common."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    @classmethod
    def _deserialize(cls, parts: tuple[Any, ...]) -> Any:
        """The spec that `_serialize` gave these parts of."""
        return cls(*parts)

    def __make_cmp_key(self, value: Any) -> Any:
        """What libraries compare their specs by: something hashable."""
        return _key(value)

    @staticmethod
    def __is_compatible(a: Any, b: Any) -> bool:
        """Whether parts of specs, as libraries have them, fit each other."""
        return _compatible(a, b)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _key(self._serialize()) == _key(other._serialize())

    def __hash__(self) -> int:
        return hash((type(self), _key(self._serialize())))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def batched_shape(shape: TensorShape, size: int | None) -> TensorShape:
    """The shape of so many values of a shape, stacked."""
    return TensorShape(None if shape.rank is None else [size, *shape])


def row_shape(shape: TensorShape) -> TensorShape:
    """The shape of the rows of values of a shape. Raises ValueError for that of scalars."""
    if shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return shape[1:]


class TensorType:
    """The base of Tensor, and of classes of others that ops take as tensors, by `__tf_tensor__`."""

    __slots__ = ()


class CompositeTensor:
    """The base of values that are made of several tensors; `_type_spec` takes them apart."""

    __slots__ = ()

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__}._type_spec")


class Indexed(CompositeTensor):
    """A composite of values and where they stand in a whole."""

    __slots__ = ()

    _indices: Any
    _values: Any
    _dense_shape: Any

    indices: Any = forwards("_indices", "Where the values stand.")
    values: Any = forwards("_values", "What stands there.")
    dense_shape: Any = forwards("_dense_shape", "The shape of the whole.")

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape of the whole."""
        raise NotImplementedError(f"{type(self).__name__}.shape")

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._values.dtype)

    device: str = forwards("_values.device", "Where the values are.")
    op: Any = forwards("_values.op", "Of symbolic values, the operation that gives them.")
    name: str = forwards("_values.name", "Of symbolic values, their name.")
    graph: Any = forwards("_values.graph", "Of symbolic values, the record of their function.")


class Opaque:
    """The base of values that functions hand on as they are: datasets and their iterators. What
    reads them needs Python. `_trace_part` is what a trace for such an argument is known by."""

    __slots__ = ()

    def _trace_part(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._trace_part")


def spec_of_composite(value: Any) -> TypeSpec | None:
    """The spec of a composite, None for another value."""
    return value._type_spec if isinstance(value, CompositeTensor) else None


def _key(part: Any) -> Any:
    """Something hashable that tells parts of specs apart."""
    if isinstance(part, TensorShape):
        return ("shape", None if part.rank is None else tuple(part.as_list()))
    if isinstance(part, dict):
        return ("dict", tuple((name, _key(part[name])) for name in sorted(part)))
    if isinstance(part, (list, tuple)):
        return (type(part), *(_key(each) for each in part))
    if isinstance(part, np.ndarray):
        return ("array", part.shape, part.dtype, part.tobytes())
    return part


def _of_any_sizes(part: Any) -> Any:
    """A part of a spec, of which ranks stay known."""
    if isinstance(part, TensorShape):
        return part if part.rank is None else TensorShape([None] * part.rank)
    if isinstance(part, TypeSpec):
        return part._with_tensor_ranks_only()
    if isinstance(part, (list, tuple)):
        parts, rebuild = [_of_any_sizes(each) for each in part], cast("Any", type(part))
        return rebuild(*parts) if hasattr(part, "_fields") else rebuild(parts)
    if isinstance(part, dict):
        return {key: _of_any_sizes(each) for key, each in part.items()}
    return part


def _compatible(a: Any, b: Any) -> bool:
    if isinstance(a, (TensorShape, TypeSpec)):
        return a.is_compatible_with(b)
    if isinstance(a, (list, tuple)):
        return (
            isinstance(b, (list, tuple))
            and len(a) == len(b)
            and all(_compatible(x, y) for x, y in zip(a, b))
        )
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(_compatible(a[key], b[key]) for key in a)
        )
    return a == b


def _general(a: Any, b: Any) -> Any:
    """What two parts have in common; None if nothing."""
    if isinstance(a, (TensorShape, TypeSpec)):
        return a.most_specific_common_supertype([b])
    if isinstance(a, (list, tuple)):
        if type(a) is not type(b) or len(a) != len(b):
            return None
        parts = [x if x is None and y is None else _general(x, y) for x, y in zip(a, b)]
        lost = any(part is None and x is not None for part, x in zip(parts, a))
        if lost or any(x is None and y is not None for x, y in zip(a, b)):
            return None
        rebuild: Any = type(a)
        return rebuild(*parts) if hasattr(a, "_fields") else rebuild(parts)
    if isinstance(a, dict):
        if not isinstance(b, dict) or a.keys() != b.keys():
            return None
        common = {key: _general(a[key], b[key]) for key in a}
        return None if any(part is None for part in common.values()) else common
    return a if a == b else None

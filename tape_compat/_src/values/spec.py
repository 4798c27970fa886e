"""TensorSpec and VariableSpec: what is known of a tensor, or a variable, beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import DType, as_dtype, float32
from ..core.forwards import forwards
from ..core.shapes import ShapeLike, TensorShape, as_shape
from .composite import TypeSpec, batched_shape, row_shape, spec_of_composite
from .convert import convert
from .spec_registry import register
from .tensor import Tensor
from .variable import Variable


class ShapedSpec(TypeSpec):
    """What is known beforehand of a value that has a shape and a dtype."""

    __slots__ = ("_dtype", "_shape")

    shape: TensorShape = forwards("_shape", "What is known of the shape.")
    dtype: DType = forwards("_dtype", "The dtype of the values.")


class DenseSpec(ShapedSpec):
    """What is known beforehand of a value that has a name, too."""

    __slots__ = ("_name",)

    def __init__(self, shape: ShapeLike, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Any:
        """A spec with the shape and dtype of `spec`, and `name` or else its name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    name: str | None = forwards("_name", "The name, None if it has none.")

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name


class _LeafSpec(TypeSpec):
    """What is known beforehand of a value that is not made of others."""

    __slots__ = ()
    _is_leaf = True

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components


@register("tf.TensorSpec")
class TensorSpec(_LeafSpec, DenseSpec):
    """What is known of a Tensor beforehand: its shape, dtype and name.

    Args:
      shape: as TensorShape takes it.
      dtype: as `tf.as_dtype` takes it.
      name: str or None.
    Raises: TypeError if `shape` or `dtype` names none.

    >>> import tape_compat as tf
    >>> spec = tf.TensorSpec([None, 2], tf.float32)
    >>> spec, spec.is_compatible_with(tf.ones((3, 2)))
    (TensorSpec(shape=(None, 2), dtype=tf.float32, name=None), True)
    """

    __slots__ = ()

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a Tensor. Raises ValueError if `tensor` is none."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def value_type(self) -> type:
        """The class of the values a TensorSpec describes: `tf.Tensor`."""
        return Tensor

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(batched_shape(self._shape, batch_size), self._dtype)

    def _unbatch(self) -> TensorSpec:
        return TensorSpec(row_shape(self._shape), self._dtype)

    def _without_tensor_names(self) -> TensorSpec:
        return self if self._name is None else TensorSpec(self._shape, self._dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a Tensor, or some Tensor of another spec, fits this spec. False for others."""
        if not isinstance(spec_or_value, (TensorSpec, Tensor)):
            return False
        return self._dtype is spec_or_value.dtype and self._shape.is_compatible_with(
            spec_or_value.shape
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every Tensor of this spec fits `other` too. One without a name fits any name."""
        return (
            isinstance(other, TensorSpec)
            and self._name in (None, other._name)
            and self._dtype is other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """The most that is true of this spec and all `others`, None if dtypes or names differ."""
        for other in others:
            if not isinstance(other, TensorSpec) or (other._dtype, other._name) != (
                self._dtype,
                self._name,
            ):
                return None
        shape = self._shape.most_specific_common_supertype([other._shape for other in others])
        return TensorSpec(shape, self._dtype, self._name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self._shape, self._dtype, self._name) == (other._shape, other._dtype, other._name)

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class VariableSpec(_LeafSpec):
    """What is known of a Variable beforehand.

    Args:
      shape: as TensorShape takes it.
      dtype: as `tf.as_dtype` takes it.
      trainable: bool.
      alias_id: int or None; variables whose specs have the same number are the same one.
    """

    __slots__ = ("alias_id", "dtype", "shape", "trainable")

    def __init__(
        self,
        shape: ShapeLike,
        dtype: Any = float32,
        trainable: bool = True,
        alias_id: int | None = None,
    ) -> None:
        self.shape, self.dtype = as_shape(shape), as_dtype(dtype)
        self.trainable, self.alias_id = trainable, alias_id

    @classmethod
    def from_value(cls, value: Variable) -> VariableSpec:
        """The spec of a Variable."""
        return cls(value.shape, value.dtype, value.trainable)

    @property
    def name(self) -> None:
        """None."""

    @property
    def value_type(self) -> type:
        """`tf.Variable`."""
        return Variable

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.trainable, self.alias_id

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a Variable, or some Variable of another spec, fits this spec."""
        return (
            isinstance(spec_or_value, (VariableSpec, Variable))
            and self.dtype is spec_or_value.dtype
            and self.trainable == spec_or_value.trainable
            and self.shape.is_compatible_with(spec_or_value.shape)
        )

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, "
            f"trainable={self.trainable!r}, alias_id={self.alias_id!r})"
        )


@register("tf.NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """The spec of None, as in the elements of a dataset.

    >>> import tape_compat as tf
    >>> tf.data.Dataset.from_tensors((1, None)).element_spec[1]
    NoneTensorSpec()
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        """The class of None."""
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> Any:
        return ()

    def _to_components(self, value: Any) -> Any:
        return ()

    def _from_components(self, components: Any) -> None:
        return None

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return self

    def _unbatch(self) -> NoneTensorSpec:
        return self

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether it is None, or the spec of None."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, of a composite, or of anything that has a spec of its own.

    Raises: TypeError for a value that is none of these and cannot become a tensor.

    >>> import tape_compat as tf
    >>> tf.type_spec_from_value(tf.ones([2]))
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, Variable):
        return VariableSpec.from_value(value)
    if value is None:
        return NoneTensorSpec()
    spec = spec_of_composite(value)
    if spec is None and not isinstance(value, type):
        spec = getattr(value, "_type_spec", None)
    if spec is None:
        try:
            tensor = convert(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Could not build a TypeSpec for {value} of unsupported type {type(value)}."
            ) from error
        return TensorSpec(tensor.shape, tensor.dtype)
    return spec

"""SparseTensor: the elements of a tensor that are not zero, and where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dimensions import is_symbolic
from ..core.dtypes import as_dtype, float32, int64
from ..core.shapes import ShapeLike, TensorShape, as_shape
from ..values import operators
from ..values.capture import Sketch
from ..values.composite import Indexed, batched_shape, row_shape
from ..values.convert import convert
from ..values.sizes import partly_known, sizes_of
from ..values.spec import ShapedSpec, TensorSpec
from ..values.spec_registry import register
from ..values.tensor import Tensor


class SparseTensor(Indexed):
    """The elements `values` [n] of a tensor that are given, and their positions in it.

    Args:
      indices: int64 [n, rank], positions; most ops want them in row-major order, see
        `tf.sparse.reorder`.
      values: [n], of any dtype.
      dense_shape: int64 [rank], or a TensorShape without unknown sizes.
    Raises: ValueError if the shapes of these do not go together.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [3.0, 4.0], [2, 2])
    >>> tf.sparse.to_dense(s).numpy().tolist()
    [[0.0, 3.0], [4.0, 0.0]]
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = _int64(indices)
        self._values = convert(values)
        self._dense_shape = _int64(dense_shape)
        self._spec: SparseTensorSpec | None = None
        self._static: TensorShape | None = None
        if isinstance(dense_shape, TensorShape):
            self._static = dense_shape
        self._check()

    def _check(self) -> None:
        indices = self._indices.shape.with_rank(2)
        values = self._values.shape.with_rank(1)
        dense_shape = self._dense_shape.shape.with_rank(1)
        for one, other in ((indices[0], values[0]), (indices[1], dense_shape[0])):
            if one is not None and other is not None and one != other:
                raise ValueError(f"Dimensions {one} and {other} are not compatible")

    @classmethod
    def _of(cls, indices: Any, values: Any, dense_shape: Any, spec: Any) -> SparseTensor:
        """One of components as they are, which may be placeholders."""
        made = object.__new__(cls)
        made._indices, made._values, made._dense_shape = indices, values, dense_shape
        made._spec = spec
        made._static = spec.shape
        return made

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor of one, or of anything that has `indices`, `values`, `dense_shape`."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        value = sparse_tensor_value
        if not all(hasattr(value, name) for name in ("indices", "values", "dense_shape")):
            raise TypeError(
                f"Argument sparse_tensor_value={value} is neither a SparseTensor nor "
                "SparseTensorValue."
            )
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def shape(self) -> TensorShape:
        return _known_shape(self)

    def set_shape(self, shape: Any) -> None:
        """Note what is known of the shape. Raises ValueError if it differs from `shape`."""
        self._static = self.shape.merge_with(shape)

    def with_values(self, new_values: Any) -> SparseTensor:
        """The same positions with other values [n]."""
        return self._like(convert(new_values))

    def _like(self, values: Tensor) -> SparseTensor:
        made = SparseTensor(self._indices, values, self._dense_shape)
        made._static = self._static
        return made

    @property
    def _type_spec(self) -> SparseTensorSpec:
        if isinstance(self._values, Tensor):
            return SparseTensorSpec(self.shape, self.dtype)
        assert self._spec is not None
        return self._spec

    def __mul__(self, other: Any) -> SparseTensor:
        return operators.call("sparse_mul", self, other)

    def __truediv__(self, other: Any) -> SparseTensor:
        return operators.call("sparse_truediv", self, other)

    __div__ = __truediv__
    __array_priority__ = 100

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def _int64(value: Any) -> Tensor:
    if isinstance(value, TensorShape) and not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
    return convert(value, int64)


def _known_shape(sparse: SparseTensor) -> TensorShape:
    static = sparse._static
    if static is not None and static.is_fully_defined():
        return static
    if sparse._dense_shape._is_symbolic():
        found = partly_known(sparse._dense_shape, Sketch())
        if found is None:
            return TensorShape([None] * sparse._dense_shape._aval.shape[0]).merge_with(static)
        return _shape_of(found).merge_with(static)
    return _shape_of(sizes_of(sparse._dense_shape))


def _shape_of(sizes: np.ndarray) -> TensorShape:
    """The shape of these sizes, of which some may be expressions."""
    return TensorShape([None if is_symbolic(n) or n < 0 else n for n in sizes.tolist()])


def known_dense_shape(sparse: SparseTensor) -> tuple[int, ...]:
    """The sizes of the whole. Raises NeedsValue if they are not known."""
    static = sparse._static
    if static is not None and static.is_fully_defined():
        return tuple([n for n in static if n is not None])
    return tuple(sizes_of(sparse._dense_shape).tolist())


@register("tf.SparseTensorSpec")
class SparseTensorSpec(ShapedSpec):
    """What is known of a SparseTensor beforehand: its shape and dtype.

    >>> import tape_compat as tf
    >>> tf.SparseTensorSpec([None, 3], tf.int32)
    SparseTensorSpec(TensorShape([None, 3]), tf.int32)
    """

    __slots__ = ()

    def __init__(self, shape: ShapeLike = None, dtype: Any = float32) -> None:
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def value_type(self) -> type:
        """`tf.SparseTensor`."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a SparseTensor."""
        if isinstance(value, SparseTensor):
            return value._type_spec
        raise TypeError(f"Expected SparseTensor, got {type(value)}")

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(batched_shape(self._shape, batch_size), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        return SparseTensorSpec(row_shape(self._shape), self._dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.rank
        count = None if self._shape.num_elements() != 0 else 0
        return [
            TensorSpec([count, rank], int64),
            TensorSpec([count], self._dtype),
            TensorSpec([rank], int64),
        ]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, SparseTensor):
            return [value._indices, value._values, value._dense_shape]
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> SparseTensor:
        if all(isinstance(x, (Tensor, np.ndarray)) for x in components):
            made = SparseTensor(*components)
            if made._dense_shape._is_symbolic():
                made._static = self._shape
            return made
        return SparseTensor._of(*components, spec=self)

"""IndexedSlices: some rows of a large tensor, as gathers' gradients are."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.dimensions import Shape, is_symbolic
from ..core.dtypes import DType, as_dtype, float32, int64
from ..core.op import Op
from ..core.shapes import ShapeLike, TensorShape, as_shape
from .bounds import refuse_segments, scattered
from .composite import Indexed, TypeSpec
from .convert import convert
from .record import apply
from .sizes import sizes_of
from .spec import TensorSpec
from .tensor import Tensor


def _densify(values: Any, indices: Any, shape: Shape) -> Any:
    return scattered(jnp.zeros(shape, values.dtype).at[indices], "add", values)


def _known(part: Any) -> Any:
    """A part as a tensor, or the spec that stands for it among specs of arguments."""
    return part if isinstance(part, TensorSpec) else convert(part)


_DENSIFY = Op(_densify, "UnsortedSegmentSum")


class IndexedSlices(Indexed):
    """Rows `values` [n, ...] of a tensor [rows, ...] at `indices` [n]; repeated indices add up.

    It becomes a dense tensor wherever one is needed; rows at negative indices are left out.
    Raises InvalidArgumentError there for an index past the end, if it is known at the call.

    >>> import tape_compat as tf
    >>> s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    >>> tf.convert_to_tensor(s).numpy().tolist()
    [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        sizes = self._dense_shape
        indices = _known(self._indices)
        rows = TensorShape([None]).concatenate(_known(self._values).shape[1:])
        return IndexedSlicesSpec(
            rows if sizes is None else self.shape,
            self.dtype,
            indices.dtype,
            None if sizes is None else _known(sizes).dtype,
            indices.shape,
        )

    @property
    def shape(self) -> TensorShape:
        if self._dense_shape is None:
            return TensorShape(None)
        if isinstance(self._dense_shape, TensorSpec):
            return TensorShape([None] * self._dense_shape.shape[0])
        return TensorShape([None if is_symbolic(n) else n for n in self._sizes()])

    def _sizes(self) -> Shape:
        return tuple(sizes_of(convert(self._dense_shape)).tolist())

    def _as_tensor(self) -> Tensor:
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for which the dense shape is "
                f"unknown: {self}"
            )
        shape = self._sizes()
        indices = convert(self._indices)
        refuse_segments(indices, shape[0], _DENSIFY.name)
        return apply(_DENSIFY.bind(shape=shape), (convert(self._values), indices))

    def _other_dtype(self, dtype: DType) -> str:
        return (
            f"Incompatible tensor conversion requested to `dtype` {dtype.name} for IndexedSlices "
            f"({self}) with dtype {self.dtype.name}"
        )

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


class IndexedSlicesSpec(TypeSpec):
    """What is known of IndexedSlices beforehand: shape, dtypes, and the shape of the indices.

    >>> import tape_compat as tf
    >>> tf.IndexedSlicesSpec([3, 2])
    IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int64, None, TensorShape([None]))
    """

    __slots__ = (
        "_dense_shape_dtype",
        "_indices_dtype",
        "_indices_shape",
        "_shape",
        "_values_dtype",
    )

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: Any = float32,
        indices_dtype: Any = int64,
        dense_shape_dtype: Any = None,
        indices_shape: ShapeLike = None,
    ) -> None:
        self._shape = as_shape(shape)
        self._values_dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """`tf.IndexedSlices`."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        dtypes = self._values_dtype, self._indices_dtype, self._dense_shape_dtype
        return self._shape, *dtypes, self._indices_shape

    @property
    def _component_specs(self) -> Any:
        shape = self._indices_shape.concatenate(self._shape[1:])
        specs = [
            TensorSpec(shape, self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: Any) -> Any:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)

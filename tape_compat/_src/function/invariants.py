"""The shapes that the variables of a loop may have: `shape_invariants` of `tf.while_loop`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.sparse import SparseTensor, SparseTensorSpec
from ..core.shapes import TensorShape
from ..values import nest
from ..values.composite import CompositeTensor, TypeSpec
from ..values.indexed_slices import IndexedSlices, IndexedSlicesSpec
from ..values.spec import TensorSpec
from .recording import flat
from .tensor_array import TensorArray, TensorArraySpec


def invariants(loop_vars: Any, shape_invariants: Any, given: Sequence[Any]) -> list[TensorShape]:
    """The shape that each leaf of the loop variables may have.

    given: the leaves, those of composites too.
    """
    if shape_invariants is None:
        return list(map(_own, given))
    nest.assert_same_structure(loop_vars, shape_invariants)
    leaves = iter(given)
    found: list[TensorShape] = []
    for value, shape in zip(nest.flatten(loop_vars), nest.flatten(shape_invariants), strict=True):
        parts = [next(leaves) for _ in flat(value)]
        if isinstance(value, CompositeTensor):
            found += _of_parts(value, shape, parts)
        else:
            found += [_invariant(x, shape) for x in parts]
    return found


def _own(x: Any) -> TensorShape:
    return TensorShape(None) if x is None or isinstance(x, TensorArray) else x.shape


def _refused(shape: Any) -> TypeError:
    return TypeError(
        f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(shape)}"
    )


def _invariant(x: Any, shape: Any) -> TensorShape:
    if isinstance(shape, TensorSpec):
        shape = shape.shape
    elif shape is not None and not isinstance(shape, TensorShape):
        if isinstance(shape, TensorArraySpec) and isinstance(x, TensorArray):
            return TensorShape(None)
        raise _refused(shape)
    if x is None or isinstance(x, TensorArray):
        return TensorShape(None)
    if shape is None:
        return x.shape
    if not shape.is_compatible_with(x.shape):
        raise ValueError(
            f"The shape invariant specified for {x} is not compatible with the initial shape of "
            f"the loop variable. It enters the loop with shape {x.shape}, but the specified shape "
            f"invariant is {shape}."
        )
    return shape


def _of_parts(value: CompositeTensor, shape: Any, parts: Sequence[Any]) -> list[TensorShape]:
    """The shapes that the tensors of a composite may have."""
    if shape is None:
        return list(map(_own, parts))
    spec = _as_spec(value, shape) if isinstance(shape, TensorShape) else shape
    if not isinstance(spec, TypeSpec):
        raise _refused(shape)
    if not spec.is_compatible_with(value):
        if isinstance(shape, TensorShape):
            raise ValueError(f"The shape invariant {shape} is not compatible with {value!r}.")
        raise TypeError(f"TypeSpec not compatible with {value!r}: {spec!r}")
    if isinstance(spec, SparseTensorSpec) and spec.shape.rank is None:
        return [TensorShape(None)] * len(parts)
    specs = nest.flatten(spec, expand_composites=True)
    return [_invariant(x, part) for x, part in zip(parts, specs, strict=True)]


def _as_spec(value: CompositeTensor, shape: TensorShape) -> TypeSpec:
    """What a shape says of a composite: of a SparseTensor that of `dense_shape`, of IndexedSlices
    that of the values.

    Source: TF's `_shape_invariant_to_type_spec` of these classes.
    """
    if isinstance(value, SparseTensor):
        if shape.rank not in (None, 1):
            raise ValueError(f"Expected a shape with 1 dimension. Received: {shape}.")
        rank = None if shape.rank is None else shape[0]
        sizes = None if rank is None else [None] * rank
        return SparseTensorSpec(sizes, value.dtype)
    if isinstance(value, RaggedTensor):
        return RaggedTensorSpec(shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
    if isinstance(value, IndexedSlices):
        dtype = None if value.dense_shape is None else value.dense_shape.dtype
        dense = TensorShape([None]).concatenate(shape[1:])
        return IndexedSlicesSpec(dense, value.dtype, value.indices.dtype, dtype, shape[:1])
    kind = type(value).__name__
    raise TypeError(f"To describe or constrain a {kind}, use a TypeSpec instead of a TensorShape.")

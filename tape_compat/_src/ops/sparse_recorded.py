"""What moves elements of sparse tensors about whose places are known at a call only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ..composites.sparse import SparseTensor
from ..core.op import Arrays, Op
from ..values.bounds import not_empty
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import is_text
from .gather_scatter import gather
from .joining import concat as join
from .selection import where
from .shapes import reshape as reshape_dense


def _take(values: Any, places: Any) -> Any:
    return jnp.take(not_empty(values, (0,)), places, axis=0, mode="clip")


#: A gather whose gradient is dense.
_TAKE = Op(_take, "GatherV2").bind()
#: The order that sorts positions, the last index fastest. Equal ones keep their order.
_ROW_MAJOR = Op(lambda indices: jnp.lexsort(indices.T[::-1]), "SparseReorder").bind()


def take_rows(values: Tensor, places: Tensor) -> Tensor:
    """Rows at places that are known to be there."""
    return apply(_TAKE, (values, places))


def _rows(values: Tensor, places: Tensor) -> Tensor:
    return gather(values, places) if is_text(values) else take_rows(values, places)


def with_static(sparse: SparseTensor, sizes: Any) -> SparseTensor:
    """A sparse tensor, and what is known of its shape."""
    if sparse.dense_shape._is_symbolic():
        sparse.set_shape(sizes)
    return sparse


def reordered(indices: Tensor, values: Tensor, dense_shape: Any) -> SparseTensor:
    """Elements in row-major order."""
    places = apply(_ROW_MAJOR, (indices,))
    return SparseTensor(take_rows(indices, places), _rows(values, places), dense_shape)


def kept(sparse: SparseTensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The places and the values of the elements for which a mask is true."""
    places = reshape_dense(where(mask), [-1])
    return take_rows(sparse.indices, places), _rows(sparse.values, places)


def _joined(*given: Any, along: int) -> Arrays:
    """Places in the whole, which follow each other, and its shape."""
    count = len(given) // 2
    sizes = jnp.stack(given[count:])
    ends = jnp.cumsum(sizes[:, along])
    starts = [(end - size) for end, size in zip(ends, sizes[:, along])]
    moved = [x.at[:, along].add(start) for x, start in zip(given[:count], starts)]
    return jnp.concatenate(moved), jnp.max(sizes, 0).at[along].set(ends[-1])


_JOINED = Op(_joined, "SparseConcat", differentiable=False)


def joined(parts: Sequence[SparseTensor], along: int, sizes: Any) -> SparseTensor:
    """Sparse tensors end to end along an axis. sizes: what is known of the shape of the whole."""
    given = [part.indices for part in parts] + [part.dense_shape for part in parts]
    indices, shape = apply(_JOINED.bind(along=along), tuple(given))
    values = join([part.values for part in parts], 0)
    return with_static(reordered(indices, values, shape), sizes)


def _sliced(indices: Any, have: Any, start: Any, size: Any) -> Arrays:
    """Places in the part, which of them are inside, and its shape."""
    shape = jnp.maximum(jnp.minimum(size, have - start), 0)
    moved = indices - start
    return moved, jnp.all((moved >= 0) & (moved < shape), 1), shape


_SLICED = Op(_sliced, "SparseSlice", differentiable=False).bind()


def sliced(sparse: SparseTensor, start: Tensor, size: Tensor) -> SparseTensor:
    """The part of a size that begins at a place."""
    given = sparse.indices, sparse.dense_shape, start, size
    indices, inside, shape = apply(_SLICED, given)
    return SparseTensor(*kept(SparseTensor(indices, sparse.values, shape), inside), shape)


def _reshaped(indices: Any, have: Any, wanted: Any) -> Arrays:
    rest = jnp.maximum(jnp.prod(jnp.where(wanted < 0, 1, wanted)), 1)
    wanted = jnp.where(wanted < 0, jnp.prod(have) // rest, wanted)
    flat = jnp.sum(indices * _strides(have), 1, keepdims=True)
    return flat // jnp.maximum(_strides(wanted), 1) % jnp.maximum(wanted, 1), wanted


def _strides(shape: Any) -> Any:
    """How far apart in row-major order the neighbours along each axis are."""
    behind = jnp.concatenate([shape[1:], jnp.ones_like(shape[:1])])
    return jnp.flip(jnp.cumprod(jnp.flip(behind)))


_RESHAPED = Op(_reshaped, "SparseReshape", differentiable=False).bind()


def reshaped(sparse: SparseTensor, shape: Tensor) -> SparseTensor:
    """The elements in another shape, of which one size may be -1."""
    indices, wanted = apply(_RESHAPED, (sparse.indices, sparse.dense_shape, shape))
    return SparseTensor(indices, sparse.values, wanted)


def _softmax(values: Any, indices: Any) -> Any:
    lead = indices[:, :-1]
    before = jnp.maximum(jnp.arange(lead.shape[0]) - 1, 0)
    starts = jnp.any(lead != _take(lead, before), 1)
    ahead = jnp.zeros(1, jnp.int32)  # so that there is one to sum up
    rows = jnp.cumsum(jnp.concatenate([ahead, starts.astype(jnp.int32)]))[1:]
    count = values.shape[0] + 1  # one at least
    largest = jax.ops.segment_max(lax.stop_gradient(values), rows, count)
    powers = jnp.exp(values - _take(largest, rows))
    totals = jax.ops.segment_sum(powers, rows, count)
    return powers / _take(totals, rows)


_SOFTMAX = Op(_softmax, "SparseSoftmax").bind()


def softmax_of_rows(sparse: SparseTensor) -> Tensor:
    """The softmax of the values of each innermost row, whose elements follow each other."""
    return apply(_SOFTMAX, (sparse.values, sparse.indices))

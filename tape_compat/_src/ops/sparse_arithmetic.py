"""Sparse tensors: sums, products, reductions, and what plain ops make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.sparse import SparseTensor, known_dense_shape
from ..core import dtypes
from ..core.refuse import check_dtype_of, invalid, shown
from ..values import dispatch, operators
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from . import arithmetic, casting, counting, elementwise, reductions, shapes
from .arguments import as_int, as_tensor, known_value
from .gather_scatter import gather, gather_nd, scatter_nd, tensor_scatter_nd_add
from .products import adjoint
from .repeating import broadcast_to
from .segments import unsorted_segment_max, unsorted_segment_sum
from .shapes import reshape as reshape_dense
from .sparse_layout import as_sparse, made, positions, taken, to_dense, unraveled
from .sparse_recorded import softmax_of_rows, take_rows


def _is_sparse(value: Any) -> bool:
    return isinstance(value, SparseTensor) or all(
        hasattr(value, name) for name in ("indices", "values", "dense_shape")
    )


def _merged(
    a: SparseTensor, b: SparseTensor, kernel: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...]]:
    """Positions of either, in order; where each of those of `a` and of `b` is; the whole shape. Of
    equal positions in one, the first is that of the first in the other, and so on."""
    shape, other = known_dense_shape(a), known_dense_shape(b)
    if len(shape) != len(other):
        raise invalid(
            f"Ranks of input tensors must match, but saw ranks: {len(shape)} and {len(other)}",
            kernel,
        )
    for i, (m, n) in enumerate(zip(shape, other)):
        if m != n:
            raise invalid(
                f"Operands' shapes do not match: got {m} and {n} for dimension {i}", kernel
            )
    ours, theirs = _numbered(positions(a)), _numbered(positions(b))
    both, inverse = np.unique(np.concatenate([ours, theirs]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    return both[:, :-1], inverse[: len(ours)], inverse[len(ours) :], shape


def _numbered(rows: np.ndarray) -> np.ndarray:
    """Rows, each with how many equal ones are before it in a further column."""
    kinds = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(kinds, kind="stable")
    number = np.empty(len(rows), rows.dtype)
    number[order] = np.arange(len(rows)) - np.searchsorted(kinds[order], kinds[order])
    return np.concatenate([rows, number[:, None]], axis=1)


def _spread(x: Tensor, places: np.ndarray, count: int) -> Tensor:
    """Values at places of a vector of zeros."""
    return unsorted_segment_sum(x, concrete(places.astype(np.int64)), count)


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two tensors, of which one at least is sparse.

    Args:
      threshold: a number; where both have an element, a sum of magnitude below it is left out.
    Returns: a SparseTensor if both are, else a Tensor.
    Raises: TypeError if none is sparse; InvalidArgumentError if the shapes differ.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0]], [3.0], [2])
    >>> tf.sparse.add(s, [1.0, 1.0]).numpy().tolist()
    [4.0, 1.0]
    """
    if not _is_sparse(a) and not _is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not _is_sparse(a):
        a, b = b, a
    a = as_sparse(a)
    if not _is_sparse(b):
        return _added(a, convert(b, hint=a.dtype))
    b = as_sparse(b)
    check_dtype_of(b.values._aval, 4, a.dtype, "SparseAdd")
    both, ours, theirs, shape = _merged(a, b, "SparseAdd")
    count = len(both)
    total = arithmetic.add(_spread(a.values, ours, count), _spread(b.values, theirs, count))
    least = known_value(threshold)
    if least > 0:
        small = np.abs(known_value(total)) < least
        keep = np.flatnonzero(~(small & np.isin(np.arange(count), ours[np.isin(ours, theirs)])))
        both, total = both[keep], taken(total, keep)
    return made(both, total, shape)


def _added(a: SparseTensor, b: Tensor) -> Tensor:
    check_dtype_of(b._aval, 3, a.dtype, "SparseTensorDenseAdd")
    shape = known_dense_shape(a)
    if shape != b._aval.shape and not b._aval.unknown:
        if len(shape) != len(b._aval.shape):
            raise invalid(
                f"Two operands have different ndims: {len(shape)} vs. {len(b._aval.shape)}",
                "SparseTensorDenseAdd",
            )
        i = next(i for i, (m, n) in enumerate(zip(shape, b._aval.shape)) if m != n)
        raise invalid(
            f"Dimension {i} does not equal (no broadcasting is supported): sparse side {shape[i]} "
            f"vs dense side {b._aval.shape[i]}",
            "SparseTensorDenseAdd",
        )
    return tensor_scatter_nd_add(b, a.indices, a.values)


def _extreme(op: Callable[..., Any], kernel: str, a: Any, b: Any) -> SparseTensor:
    a, b = as_sparse(a), as_sparse(b)
    check_dtype_of(b.values._aval, 4, a.dtype, kernel)
    both, ours, theirs, shape = _merged(a, b, kernel)
    count = len(both)
    return made(both, op(_spread(a.values, ours, count), _spread(b.values, theirs, count)), shape)


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of the elements of two sparse tensors, wherever one of them has an element.

    Raises: InvalidArgumentError if the shapes differ.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0], [1]], [-3.0, 1.0], [2])
    >>> tf.sparse.maximum(s, tf.SparseTensor([[1]], [2.0], [2])).values.numpy().tolist()
    [0.0, 2.0]
    """
    return _extreme(arithmetic.maximum, "SparseSparseMaximum", sp_a, sp_b)


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of the elements of two sparse tensors, wherever one of them has an element.

    Raises: InvalidArgumentError if the shapes differ.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0], [1]], [-3.0, 1.0], [2])
    >>> tf.sparse.minimum(s, tf.SparseTensor([[1]], [2.0], [2])).values.numpy().tolist()
    [-3.0, 1.0]
    """
    return _extreme(arithmetic.minimum, "SparseSparseMinimum", sp_a, sp_b)


def _gone_and_kept(rank: int, axis: Any, kernel: str) -> tuple[set[int], list[int]]:
    """The axes that a reduction takes away, and the others."""
    axes = range(rank) if axis is None else np.atleast_1d(known_value(axis)).tolist()
    for i in axes:
        if not -rank <= i < rank:
            raise invalid(
                f"Invalid reduction dimension {i}, for input with {rank} dimensions.", kernel
            )
    gone = {i % rank for i in axes}
    return gone, [i for i in range(rank) if i not in gone]


def _sum(sparse: SparseTensor, axis: Any, keepdims: bool | None, kernel: str) -> Tensor:
    """The sums as a Tensor, whose values need no position on the host."""
    gone, kept = _gone_and_kept(len(known_dense_shape(sparse)), axis, kernel)
    if kept:
        axes = np.array(kept, np.int32)
        places, sizes = gather(sparse.indices, axes, axis=1), gather(sparse.dense_shape, axes)
        sums = scatter_nd(places, sparse.values, sizes)
    else:
        sums = reductions.reduce_sum(sparse.values)
    for i in sorted(gone) if keepdims else ():
        sums = shapes.expand_dims(sums, i)
    return sums


def _reduce(
    segment: Callable[..., Tensor],
    kernel: str,
    sp_input: Any,
    axis: Any,
    keepdims: bool | None,
    output_is_sparse: bool,
) -> Any:
    sparse = as_sparse(sp_input)
    shape = known_dense_shape(sparse)
    rank, (gone, kept) = len(shape), _gone_and_kept(len(shape), axis, kernel)
    indices, sizes = positions(sparse), [shape[i] for i in kept]
    flat = np.zeros(len(indices), np.int64)
    for i in kept:
        flat = flat * shape[i] + indices[:, i]
    result = [1 if i in gone else n for i, n in enumerate(shape)] if keepdims else sizes
    used, place = np.unique(flat, return_inverse=True)
    found = segment(sparse.values, concrete(place.ravel().astype(np.int64)), len(used))
    if output_is_sparse:
        places = unraveled(used, sizes)
        if keepdims:
            wide = np.zeros((len(used), rank), np.int64)
            wide[:, kept] = places
            places = wide
        return made(places, found, result)
    total = int(np.prod(sizes, dtype=np.int64))
    return reshape_dense(_spread(found, used, total), result)


def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sums of the elements along `axis`, all axes by default.

    Returns: a Tensor, or with `output_is_sparse` a SparseTensor.
    Raises: InvalidArgumentError for an axis that is not there.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [3, 4], [2, 2])
    >>> tf.sparse.reduce_sum(s, 1).numpy().tolist()
    [3, 4]
    """
    kernel = "SparseReduceSumSparse" if output_is_sparse else "SparseReduceSum"
    sparse = as_sparse(sp_input)
    if not output_is_sparse and sparse.indices._array is None:
        return _sum(sparse, axis, keepdims, kernel)
    return _reduce(unsorted_segment_sum, kernel, sp_input, axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of the elements that are given along `axis`, 0 where there are none.

    Returns: a Tensor, or with `output_is_sparse` a SparseTensor.
    Raises: InvalidArgumentError for an axis that is not there.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [-3, 4], [2, 2])
    >>> tf.sparse.reduce_max(s, 1).numpy().tolist()
    [-3, 4]
    """
    kernel = "SparseReduceMaxSparse" if output_is_sparse else "SparseReduceMax"
    return _reduce(unsorted_segment_max, kernel, sp_input, axis, keepdims, output_is_sparse)


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax of the elements that are given in each innermost row.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])
    >>> tf.sparse.softmax(s).values.numpy().tolist()
    [0.5, 0.5]
    """
    sparse = as_sparse(sp_input)
    if sparse.dense_shape._aval.shape[0] < 2:
        raise invalid(f"Input should have rank >= 2, but got: {sparse.shape}", "SparseSoftmax")
    if sparse.indices._is_symbolic():
        return sparse._like(softmax_of_rows(sparse))
    rows, row = np.unique(positions(sparse)[:, :-1], axis=0, return_inverse=True)
    places = concrete(row.ravel().astype(np.int64))
    count = len(rows)
    shift = gather(unsorted_segment_max(sparse.values, places, count), places)
    powers = elementwise.exp(arithmetic.subtract(sparse.values, shift))
    return sparse._like(
        arithmetic.divide(powers, gather(unsorted_segment_sum(powers, places, count), places))
    )


def sparse_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, one of them sparse.

    Args:
      sp_a, b: SparseTensor [m, k] and Tensor [k, n], or the other way round.
      adjoint_a, adjoint_b: whether to take the conjugate transpose.
    Raises: InvalidArgumentError if dtypes or sizes do not go together.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    >>> tf.sparse.sparse_dense_matmul(s, [[1.0], [2.0]]).numpy().tolist()
    [[6.0], [0.0]]
    """
    kernel = "SparseTensorDenseMatMul"
    if _is_sparse(b):
        sp_a = as_tensor(sp_a)
        if len(sp_a._aval.shape) != 2:
            raise invalid("Tensor 'b' is not a matrix", kernel)
        swapped = sparse_dense_matmul(as_sparse(b), adjoint(sp_a), not adjoint_b, adjoint_a)
        return adjoint(swapped)
    a = as_sparse(sp_a)
    b = as_tensor(b)
    check_dtype_of(b._aval, 3, a.dtype, kernel)
    shape, have = known_dense_shape(a), b._aval.shape
    if len(shape) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements", kernel)
    if len(have) != 2:
        raise invalid("Tensor 'b' is not a matrix", kernel)
    m, k = shape
    row, column = (1, 0) if adjoint_a else (0, 1)
    inner, rows = (m, k) if adjoint_a else (k, m)
    if adjoint_b:
        b = adjoint(b)
    if isinstance(b._aval.shape[0], int) and b._aval.shape[0] != inner:
        raise invalid(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{inner} vs. {b._aval.shape[0]}.  Did you forget a transpose?  Dimensions of A: "
            f"[{m}, {k}).  Dimensions of B: {shown(have)}",
            kernel,
        )
    values = a.values
    if adjoint_a and a.dtype.is_complex:
        values = elementwise.conj(values)
    taken_rows = take_rows(b, a.indices[:, column])
    scaled = arithmetic.multiply(taken_rows, shapes.expand_dims(values, 1))
    return unsorted_segment_sum(scaled, a.indices[:, row], rows)


def broadcasts_to(have: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a shape broadcasts to another as it is."""
    return len(have) <= len(shape) and all(
        m in (1, n) for m, n in zip(reversed(have), reversed(shape))
    )


def _times(op: Callable[..., Any], kernel: str) -> Callable[[Any, Any], SparseTensor]:
    def call(x: SparseTensor, y: Any) -> SparseTensor:
        y = convert(y, hint=x.dtype)
        check_dtype_of(y._aval, 3, x.dtype, kernel)
        shape = known_dense_shape(x)
        have = y._aval.shape
        if not broadcasts_to(have, shape):
            raise invalid(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                f"shapes: [{','.join(map(str, shape))}] vs. [{','.join(map(str, have))}]",
                kernel,
            )
        if have:
            y = gather_nd(y if have == shape else broadcast_to(y, shape), x.indices)
        return x._like(op(x.values, y))

    return call


operators.define(
    sparse_mul=_times(arithmetic.multiply, "SparseDenseCwiseMul"),
    sparse_truediv=_times(arithmetic.truediv, "SparseDenseCwiseDiv"),
)


def bincount(
    values: Any,
    weights: Any = None,
    axis: Any = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number occurs, as a SparseTensor. Values must be known.

    Args:
      values: int Tensor [n] or [batch, n], or SparseTensor, or RaggedTensor.
      weights: of the form of `values`: what each counts for.
      axis: 0 counts in all, -1 by row.
      minlength, maxlength: the least length of the result; numbers from `maxlength` on are left
        out.
      binary_output: 1 for every number that occurs.

    >>> import tape_compat as tf
    >>> s = tf.sparse.bincount([1, 1, 2])
    >>> s.indices.numpy().tolist(), s.values.numpy().tolist()
    ([[1], [2]], [2, 1])
    """
    if weights is not None and binary_output:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify "
            "only one."
        )
    axis = 0 if axis is None else axis
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently")
    rows, numbers, count = _occurrences(values, axis)
    if (numbers < 0).any():
        raise invalid("Input values must all be non-negative", "DenseCountSparseOutput")
    given = None if weights is None else _flat_weights(weights)
    length = int(numbers.max(initial=0)) + 1
    if minlength is not None:
        length = max(length, as_int(minlength))
    keep = np.arange(numbers.size)
    if maxlength is not None:
        most = as_int(maxlength)
        keep = np.flatnonzero(numbers < most)
        length = most
    pairs = np.stack([rows[keep], numbers[keep]], 1)
    used, place = np.unique(pairs, axis=0, return_inverse=True)
    place = concrete(place.ravel().astype(np.int64))
    if given is not None:
        counts = unsorted_segment_sum(taken(given, keep), place, len(used))
    else:
        found = np.bincount(np.asarray(place._value()), minlength=len(used))
        counts = concrete((np.minimum(found, 1) if binary_output else found).astype(numbers.dtype))
    if count is None:
        return made(used[:, 1:], counts, (length,))
    return made(used, counts, (count, length))


def _dense_counts(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """`tf.math.bincount` of a SparseTensor: what it does not hold is not counted."""
    if axis is None or axis == 0 or len(known_dense_shape(arr)) == 1:
        flat = None if weights is None else _flat_weights(weights)
        return counting.bincount(
            arr.values, flat, minlength, maxlength, dtype, binary_output=binary_output
        )
    found = bincount(arr, weights, axis, minlength, maxlength, binary_output)
    return to_dense(
        found if weights is not None else found.with_values(casting.cast(found.values, dtype))
    )


def _occurrences(values: Any, axis: int) -> tuple[np.ndarray, np.ndarray, int | None]:
    """The row of each number, the numbers, how many rows; None for one without an axis for them."""
    if isinstance(values, SparseTensor):
        numbers, shape = known_value(values.values), known_dense_shape(values)
        if axis == 0 or len(shape) == 1:
            return np.zeros(numbers.size, np.int64), numbers, None
        return positions(values)[:, 0], numbers, shape[0]
    if hasattr(values, "value_rowids"):
        numbers = known_value(values.flat_values).ravel()
        if axis == 0:
            return np.zeros(numbers.size, np.int64), numbers, None
        return known_value(values.value_rowids()), numbers, as_int(values.nrows())
    numbers = known_value(as_tensor(values))
    if axis == 0 or numbers.ndim == 1:
        flat = numbers.ravel()
        return np.zeros(flat.size, np.int64), flat, None
    rows = np.repeat(np.arange(numbers.shape[0]), numbers.shape[1])
    return rows, numbers.ravel(), numbers.shape[0]


def _flat_weights(weights: Any) -> Tensor:
    if isinstance(weights, SparseTensor):
        return weights.values
    if hasattr(weights, "flat_values"):
        return weights.flat_values
    return reshape_dense(as_tensor(weights), [-1])


# ---------------------------------------------------------------------------------------------
# What plain ops do with a SparseTensor.


def _mapped(op: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if op is operators.function_of("mul") and not _is_sparse(args[0]):
        dense, sparse = args
        return sparse * dense
    if op.__name__ not in _TAKES_SPARSE:
        return NotImplemented
    (x,) = args
    return x._like(op(x.values, **kwargs))


#: What TensorFlow maps over the values.
_TAKES_SPARSE = frozenset({"abs", "negative", "sign", "square", "sqrt", "erf", "tanh"})
dispatch.define_elementwise(SparseTensor, _mapped)


def _shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    return casting.cast(input.dense_shape, out_type)


def _size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    return convert(
        int(np.prod(known_dense_shape(input), dtype=np.int64)), dtypes.as_dtype(out_type)
    )


def _rank(input: Any, name: str | None = None) -> Tensor:
    return convert(input.dense_shape._aval.shape[0])


def _identity(input: Any, name: str | None = None) -> SparseTensor:
    indices, values = shapes.identity(input.indices), shapes.identity(input.values)
    return SparseTensor(indices, values, input.dense_shape)


def _cast(x: Any, dtype: Any, name: str | None = None) -> SparseTensor:
    return x._like(casting.cast(x.values, dtype))


dispatch.define(
    SparseTensor,
    bincount=_dense_counts,
    cast=_cast,
    identity=_identity,
    rank=_rank,
    shape=_shape,
    size=_size,
)

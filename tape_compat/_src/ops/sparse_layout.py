"""Sparse tensors: to and from dense ones, and what moves their elements about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.sparse import SparseTensor, known_dense_shape
from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import is_unknown
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.indexed_slices import IndexedSlices
from ..values.tensor import Tensor, concrete
from .arguments import as_int, as_tensor, is_text, known_value, sketched, value_if_known
from .casting import cast
from .comparison import not_equal
from .creation import fill, zeros_like
from .gather_scatter import gather, gather_nd, scatter_nd, tensor_scatter_nd_update
from .joining import concat as join
from .repeating import repeat
from .selection import where
from .shapes import reshape as reshape_dense, shape as shape_of
from .sparse_recorded import (
    joined,
    kept,
    reordered,
    reshaped,
    sliced,
    take_rows,
    with_static,
)


def as_sparse(value: Any) -> SparseTensor:
    """A SparseTensor, or what has its three parts. Raises TypeError for others."""
    if isinstance(value, SparseTensor):
        return value
    if not all(hasattr(value, name) for name in ("indices", "values", "dense_shape")):
        raise TypeError(f"Input must be a SparseTensor. Received: {value!r}.")
    return SparseTensor.from_value(value)


def positions(sparse: SparseTensor) -> np.ndarray:
    """The indices on the host. Raises NeedsValue where they are not known."""
    return known_value(sparse.indices)


def on_hand(values: Tensor) -> np.ndarray | None:
    """The array of texts, integers or truth values that NumPy holds: no derivative goes through
    them, and ever new sizes (words of texts) need no program each."""
    array = values._array
    held = isinstance(array, np.ndarray) and array.dtype.kind in "Oiub"
    return array.view(np.ndarray) if held else None


def taken(values: Tensor, places: np.ndarray) -> Tensor:
    """The values at places of the host; the same tensor if that is all of them, in order."""
    if places.size == values._aval.shape[0] and np.array_equal(places, np.arange(places.size)):
        return values
    held = on_hand(values)
    if held is not None:
        return concrete(held[places], Aval.of((len(places), *held.shape[1:]), values._aval.dtype))
    index = concrete(np.asarray(places, np.int64))
    if is_text(values) or not places.size:
        return gather(values, index)
    return take_rows(values, index)


def made(indices: np.ndarray, values: Tensor, dense_shape: Any) -> SparseTensor:
    """A SparseTensor of positions and sizes that the host knows."""
    shape = np.asarray(dense_shape, np.int64)
    indices = np.asarray(indices, np.int64)
    if indices.ndim != 2:
        indices = indices.reshape(-1, max(shape.size, 1))
    return SparseTensor(concrete(indices), values, concrete(shape))


def of_rows(rows: Sequence[Sequence[Any]], values: Tensor) -> SparseTensor:
    """Rows of different lengths, of which `values` has the elements one after the other."""
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    found = np.array(places, np.int64).reshape(-1, 2)
    return made(found, values, (len(rows), max(map(len, rows), default=0)))


def row_major(indices: np.ndarray) -> np.ndarray:
    """The order that sorts positions, the last index fastest. Equal ones keep their order."""
    if not indices.shape[1]:
        return np.arange(indices.shape[0])
    return np.lexsort(indices.T[::-1])


def check_order(indices: np.ndarray, shape: Sequence[int], kernel: str) -> None:
    """TensorFlow's errors for positions that are outside, repeated or not in order."""
    outside = np.any((indices < 0) | (indices >= np.array(shape)), axis=1)
    step = np.zeros(len(indices), bool)
    if len(indices) > 1:
        order = np.zeros(len(indices) - 1, np.int64)
        for column in range(indices.shape[1]):
            change = np.sign(np.diff(indices[:, column]))
            order = np.where(order == 0, change, order)
        step[1:] = order <= 0
    bad = np.flatnonzero(outside | step)
    if not bad.size:
        return
    i = int(bad[0])
    place = f"indices[{i}] = {shown(indices[i].tolist())}"
    if outside[i]:
        raise invalid(f"{place} is out of bounds: need 0 <= index < {shown(shape)}", kernel)
    if (indices[i] == indices[i - 1]).all():
        raise invalid(f"{place} is repeated", kernel)
    raise invalid(
        f"{place} is out of order. Many sparse ops require sorted indices.\n    Use "
        "`tf.sparse.reorder` to create a correctly ordered copy.\n\n",
        kernel,
    )


def _host_positions(sparse: SparseTensor) -> np.ndarray | None:
    """Positions, if they are at hand."""
    array = sparse.indices._array
    return None if array is None else np.asarray(array)


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The whole tensor, with `default_value` (zero) where the sparse one has no element.

    Raises: InvalidArgumentError for positions outside, and with `validate_indices` for repeated
      ones or a wrong order, where they are known at the call.

    >>> import tape_compat as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [3], [1, 3])).numpy().tolist()
    [[0, 3, 0]]
    """
    sparse = as_sparse(sp_input)
    values = sparse.values
    if is_text(values):
        filler = convert("" if default_value is None else default_value, dtypes.string)
        sizes = tuple(sparse.shape.as_list())
        parts = sparse.indices, values, sparse.dense_shape
        return _texts_to_dense(*parts, filler, sizes, validate_indices)
    shape = known_dense_shape(sparse)
    indices = _host_positions(sparse)
    if indices is not None and validate_indices:
        check_order(indices, shape, "SparseToDense")
    if default_value is None or (isinstance(default_value, int) and not default_value):
        if values.dtype is dtypes.bool:
            return where_bool(sparse, shape)
        if validate_indices:
            return scatter_nd(sparse.indices, values, _sizes(sparse, shape))
    default = convert(0 if default_value is None else default_value, values.dtype)
    if default.shape.rank:
        raise invalid("default_value should be a scalar.", "SparseToDense")
    return tensor_scatter_nd_update(fill(shape, default), sparse.indices, values)


@by_host()
def _texts_to_dense(
    indices: Tensor, values: Tensor, dense_shape: Tensor, filler: Tensor, sizes: Any, checks: bool
) -> Tensor:
    """The whole tensor of texts. sizes: what is known of its shape."""
    sketch = sketched(indices, values, dense_shape, filler)
    if sketch is not None:
        return sketch.tensor(sizes, dtypes.string)
    shape, places = known_value(dense_shape).tolist(), known_value(indices)
    if checks:
        check_order(places, shape, "SparseToDense")
    out = np.empty(shape, object)
    out[...] = known_value(filler).item()
    out[tuple(places.T)] = known_value(values)
    return convert(out)


def _sizes(sparse: SparseTensor, shape: Sequence[int]) -> Tensor:
    """The sizes of the whole as a tensor, of which `shape` is what is known."""
    if not is_unknown(shape):
        return concrete(np.array(shape, np.int64))
    static = sparse.shape.as_list()
    return convert(
        [sparse.dense_shape[i] if n is None else n for i, n in enumerate(static)], dtypes.int64
    )


def where_bool(sparse: SparseTensor, shape: Sequence[int]) -> Tensor:
    """A sparse tensor of truth values as a dense one."""
    return tensor_scatter_nd_update(fill(shape, False), sparse.indices, sparse.values)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero, in row-major order.

    >>> import tape_compat as tf
    >>> tf.sparse.from_dense([[0, 5], [0, 0]]).indices.numpy().tolist()
    [[0, 1]]
    """
    tensor = as_tensor(tensor)
    if tensor._is_symbolic():
        zero = convert("" if is_text(tensor) else 0, tensor.dtype)
        places = where(not_equal(tensor, zero))
        return SparseTensor(places, gather_nd(tensor, places), shape_of(tensor, dtypes.int64))
    known = known_value(tensor)
    indices = np.argwhere(known != b"" if known.dtype == object else known != 0)
    flat = np.ravel_multi_index(tuple(indices.T), known.shape) if known.ndim else indices[:, 0]
    values = taken(reshape_dense(tensor, [-1]), np.asarray(flat, np.int64))
    return made(indices, values, known.shape)


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """Ones on the diagonal of a matrix [num_rows, num_columns].

    >>> import tape_compat as tf
    >>> tf.sparse.eye(2, 3).indices.numpy().tolist()
    [[0, 0], [1, 1]]
    """
    rows = as_int(num_rows)
    columns = rows if num_columns is None else as_int(num_columns)
    places = np.arange(min(rows, columns))
    values = fill([places.size], convert(1, dtypes.as_dtype(dtype)))
    return made(np.stack([places, places], 1), values, (rows, columns))


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` of the values of the SparseTensors among the arguments, at the positions of the first.

    Raises: ValueError if there is no SparseTensor among them.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 1]], [3.0], [1, 3])
    >>> tf.sparse.map_values(tf.add, s, 1.0).values.numpy().tolist()
    [4.0]
    """
    found: list[SparseTensor] = []

    def inner(x: Any) -> Any:
        if isinstance(x, SparseTensor):
            found.append(x)
            return x.values
        if isinstance(x, (list, tuple)):
            return type(x)(map(inner, x))
        return x

    plain = [inner(x) for x in args]
    named = {key: inner(x) for key, x in kwargs.items()}
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    _check_positions(found)
    return found[0]._like(convert(op(*plain, **named)))


def _check_positions(found: list[SparseTensor]) -> None:
    """TensorFlow's error for sparse tensors whose positions differ, where they are at hand."""
    first = _host_positions(found[0])
    for other in found[1:]:
        indices = _host_positions(other)
        if first is None or indices is None:
            continue
        if first.shape != indices.shape or (first != indices).any():
            raise invalid(
                f"Mismatched indices!\nCondition x == y did not hold.\nx: {first.tolist()}, "
                f"y: {indices.tolist()}",
                "Assert",
            )


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """With a new axis of size 1 at `axis`, by default the last.

    Raises: InvalidArgumentError if `axis` is not in [-rank - 1, rank].

    >>> import tape_compat as tf
    >>> tf.sparse.expand_dims(tf.SparseTensor([[1]], [2], [3]), 0).shape
    TensorShape([1, 3])
    """
    sparse = as_sparse(sp_input)
    rank = sparse.dense_shape._aval.shape[0]
    place = -1 if axis is None else as_int(axis)
    at = place + rank + 1 if place < 0 else place
    if not 0 <= at <= rank:
        raise invalid(f"Expected size[1] in [0, {rank}], but got {place}", "Slice")
    columns = sparse.indices
    new = zeros_like(columns[:, :1]) if rank else _no_column(columns)
    one = convert([1], dtypes.int64)
    shape = sparse.dense_shape
    return with_static(
        SparseTensor(
            join([columns[:, :at], new, columns[:, at:]], 1),
            sparse.values,
            join([shape[:at], one, shape[at:]], 0),
        ),
        _inserted(sparse, at),
    )


def _no_column(indices: Tensor) -> Tensor:
    return fill([indices._aval.shape[0], 1], convert(0, dtypes.int64))


def _inserted(sparse: SparseTensor, at: int) -> list[int | None]:
    sizes = sparse.shape.as_list()
    return [*sizes[:at], 1, *sizes[at:]]


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same elements in row-major order of their positions.

    >>> import tape_compat as tf
    >>> tf.sparse.reorder(tf.SparseTensor([[1], [0]], [3, 4], [2])).values.numpy().tolist()
    [4, 3]
    """
    sparse = as_sparse(sp_input)
    if sparse.indices._is_symbolic() and sparse.indices.shape[1]:
        return with_static(
            reordered(sparse.indices, sparse.values, sparse.dense_shape), sparse.shape
        )
    indices = positions(sparse)
    order = row_major(indices)
    return SparseTensor(concrete(indices[order]), taken(sparse.values, order), sparse.dense_shape)


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a whole of another shape, by default the smallest that holds them.

    Raises: ValueError if `new_shape` is smaller somewhere, or of another rank.

    >>> import tape_compat as tf
    >>> tf.sparse.reset_shape(tf.SparseTensor([[1]], [2], [9])).shape
    TensorShape([2])
    """
    sparse = as_sparse(sp_input)
    if new_shape is None:
        indices = positions(sparse)
        rank = sparse.dense_shape._aval.shape[0]
        sizes = indices.max(0) + 1 if len(indices) else np.zeros(rank, np.int64)
        return made(indices, sparse.values, sizes)
    wanted = known_value(convert(new_shape, hint=dtypes.int64)).astype(np.int64)
    have = known_dense_shape(sparse)
    if wanted.ndim != 1 or wanted.size != len(have):
        raise ValueError(f"Dimensions {wanted.size} and {len(have)} are not compatible")
    if (wanted < np.array(have)).any():
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({np.array(have)}), sp_input.shape ({wanted})."
        )
    return SparseTensor(sparse.indices, sparse.values, concrete(wanted))


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements in row-major order in another shape; -1 stands for what is left.

    Raises: InvalidArgumentError if the number of elements of the whole differs.

    >>> import tape_compat as tf
    >>> tf.sparse.reshape(tf.SparseTensor([[1, 0]], [2], [2, 3]), [-1]).indices.numpy().tolist()
    [[3]]
    """
    sparse = as_sparse(sp_input)
    if sparse.indices._is_symbolic():
        sizes = cast(convert(shape, hint=dtypes.int64), dtypes.int64)
        known = value_if_known(sizes)
        static = [None] * sizes._aval.shape[0] if known is None else known.tolist()
        found = reshaped(sparse, sizes)
        return with_static(found, [None if n == -1 else n for n in static])
    have = known_dense_shape(sparse)
    wanted = list(known_value(convert(shape, hint=dtypes.int64)).astype(np.int64).tolist())
    total = int(np.prod(have, dtype=np.int64))
    unknown = [i for i, n in enumerate(wanted) if n == -1]
    if len(unknown) > 1:
        raise invalid(
            f"only one output dimension may be -1, not both {unknown[0]} and {unknown[1]}",
            "SparseReshape",
        )
    if unknown:
        rest = int(np.prod([n for n in wanted if n != -1], dtype=np.int64))
        if not rest or total % rest:
            raise invalid(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {rest}. input_shape={shown(have)} output_shape="
                f"{shown(wanted)}",
                "SparseReshape",
            )
        wanted[unknown[0]] = total // rest
    if int(np.prod(wanted, dtype=np.int64)) != total:
        raise invalid(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{int(np.prod(wanted, dtype=np.int64))}. input_shape={shown(have)} output_shape="
            f"{shown(wanted)}",
            "SparseReshape",
        )
    indices = positions(sparse)
    flat = indices @ strides(have)
    return made(unraveled(flat, wanted), sparse.values, wanted)


def strides(shape: Sequence[int]) -> np.ndarray:
    """How far apart in row-major order the neighbours along each axis are."""
    return (
        np.append(np.cumprod(np.array(shape, np.int64)[:0:-1])[::-1], 1)[-len(shape) :].astype(
            np.int64
        )
        if len(shape)
        else np.zeros(0, np.int64)
    )


def unraveled(flat: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Positions [n, rank] of places in row-major order."""
    if not len(flat) or not len(shape):
        return np.zeros((len(flat), len(shape)), np.int64)
    return np.stack(np.unravel_index(flat, tuple(shape)), 1).astype(np.int64)


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements for which `to_retain`, a bool vector [n] whose value must be known, is true.

    Raises: ValueError if there are not as many of them.

    >>> import tape_compat as tf
    >>> tf.sparse.retain(tf.SparseTensor([[0], [1]], [3, 4], [2]), [False, True]).values.numpy()
    array([4], dtype=int32)
    """
    sparse = as_sparse(sp_input)
    keep = as_tensor(to_retain)
    count, given = sparse.values._aval.shape[0], keep.shape.with_rank(1)[0]
    if given is not None and count != given:
        raise ValueError(f"Dimensions {count} and {given} are not compatible")
    if keep._is_symbolic() or sparse.indices._is_symbolic():
        return with_static(SparseTensor(*kept(sparse, keep), sparse.dense_shape), sparse.shape)
    places = np.flatnonzero(known_value(keep))
    return SparseTensor(
        gather(sparse.indices, concrete(places)), taken(sparse.values, places), sparse.dense_shape
    )


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part of `size` that begins at `start`; what of it lies past the end is left out.

    Raises: InvalidArgumentError if `start` or `size` has another length than the rank.

    >>> import tape_compat as tf
    >>> tf.sparse.slice(tf.SparseTensor([[0, 1]], [3], [2, 2]), [0, 1], [2, 1]).shape
    TensorShape([2, 1])
    """
    sparse = as_sparse(sp_input)
    if sparse.indices._is_symbolic():
        begin, sizes = (cast(convert(x, hint=dtypes.int64), dtypes.int64) for x in (start, size))
        _check_lengths(sparse, begin._aval.shape[0], sizes._aval.shape[0])
        return sliced(sparse, begin, sizes)
    have = np.array(known_dense_shape(sparse), np.int64)
    low, length = (known_value(x).astype(np.int64) for x in (start, size))
    _check_lengths(sparse, low.size, length.size)
    shape = np.maximum(np.minimum(length, have - low), 0)
    indices = positions(sparse)
    keep = np.flatnonzero(((indices >= low) & (indices < low + shape)).all(1))
    return made(indices[keep] - low, taken(sparse.values, keep), shape)


def _check_lengths(sparse: SparseTensor, *lengths: Any) -> None:
    rank = sparse.dense_shape._aval.shape[0]
    for what, length in zip(("start", "size"), lengths):
        if length != rank:
            raise invalid(
                f"Expected {what} to be a vector of length {rank} but got length {length}",
                "SparseSlice",
            )


def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """`num_split` parts along `axis`, the first ones longer by one if it does not divide evenly.

    Raises: ValueError if an argument is missing; InvalidArgumentError if the axis is shorter than
      `num_split`.

    >>> import tape_compat as tf
    >>> [s.shape[0] for s in tf.sparse.split(tf.SparseTensor([[0]], [1], [5]), 2, 0)]
    [3, 2]
    """
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"Argument `{what}` must be specified")
    sparse = as_sparse(sp_input)
    shape, count, along = known_dense_shape(sparse), as_int(num_split), as_int(axis)
    along += len(shape) if along < 0 else 0
    if not 0 <= along < len(shape):
        raise invalid(
            f"Input axis should be in range [-{len(shape)}, {len(shape)}), got {axis}",
            "SparseSplit",
        )
    if not 1 <= count <= shape[along]:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size "
            f"({shape[along]}), got {count}",
            "SparseSplit",
        )
    size, more = divmod(shape[along], count)
    indices = positions(sparse)
    parts, begin = [], 0
    for i in range(count):
        length = size + (i < more)
        keep = np.flatnonzero((indices[:, along] >= begin) & (indices[:, along] < begin + length))
        moved = indices[keep].copy()
        moved[:, along] -= begin
        part = (*shape[:along], length, *shape[along + 1 :])
        parts.append(made(moved, taken(sparse.values, keep), part))
        begin += length
    return parts


def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """SparseTensors end to end along `axis`, in row-major order.

    Args:
      expand_nonconcat_dims: whether the other axes may differ; the result has the longest.
    Raises: TypeError if `sp_inputs` is no list; InvalidArgumentError if axes differ.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 1]], [3], [1, 2])
    >>> tf.sparse.concat(0, [s, s]).indices.numpy().tolist()
    [[0, 1], [1, 1]]
    """
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    parts = [as_sparse(x) for x in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    recorded = any(x.indices._is_symbolic() for x in parts)
    shapes: list[list[Any]] = [
        x.shape.as_list() if recorded else list(known_dense_shape(x)) for x in parts
    ]
    rank, along = len(shapes[0]), as_int(axis)
    if not -rank <= along < rank:
        raise invalid(
            f"Concat dimension must be in range [{-rank}, {rank}), got {along}", "SparseConcat"
        )
    along %= rank
    whole = _concatenated(shapes, along, expand_nonconcat_dims)
    if recorded:
        return joined(parts, along, whole)
    offsets = np.cumsum([0] + [s[along] for s in shapes])
    indices = []
    for part, offset in zip(parts, offsets):
        moved = positions(part).copy()
        moved[:, along] += offset
        indices.append(moved)
    together = np.concatenate(indices)
    order = row_major(together)
    values = join([x.values for x in parts], 0)
    return made(together[order], taken(values, order), whole)


def _concatenated(shapes: list[list[Any]], along: int, expand: bool) -> list[Any]:
    """The sizes of the whole, None where one of them is not known."""
    whole = list(shapes[0])
    for i, shape in enumerate(shapes[1:], 1):
        if len(shape) != len(whole):
            raise invalid(
                f"Ranks of all input tensors must match: expected {len(whole)} but got "
                f"{len(shape)} at position {i}",
                "SparseConcat",
            )
        for axis, n in enumerate(shape):
            if n is None or whole[axis] is None:
                whole[axis] = None
            elif axis == along:
                whole[axis] += n
            elif expand:
                whole[axis] = max(whole[axis], n)
            elif n != whole[axis]:
                raise invalid(
                    f"Input shapes must match: expected {whole[axis]} for dimension {axis} but "
                    f"got {n} at position {i}",
                    "SparseConcat",
                )
    return whole


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """With axes in the order `perm`, reversed by default; elements in row-major order.

    >>> import tape_compat as tf
    >>> tf.sparse.transpose(tf.SparseTensor([[0, 2]], [3], [1, 4])).indices.numpy().tolist()
    [[2, 0]]
    """
    sparse = as_sparse(sp_input)
    rank = sparse.dense_shape._aval.shape[0]
    order = np.arange(rank)[::-1] if perm is None else known_value(perm)
    if len(order) != rank:
        raise ValueError(f"Dimensions {len(order)} and {rank} are not compatible")
    axes = concrete(np.asarray(order, np.int64))
    turned = SparseTensor(
        gather(sparse.indices, axes, axis=1), sparse.values, gather(sparse.dense_shape, axes)
    )
    static = sparse.shape.as_list()
    return reorder(with_static(turned, [static[i] for i in order]))


def _check_rows(rows: np.ndarray, count: int, kernel: str) -> None:
    outside = np.flatnonzero((rows < 0) | (rows >= count))
    if outside.size:
        i = int(outside[0])
        raise invalid(f"indices({i}, 0) is invalid: {rows[i]} >= {count}", kernel)


def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """With an element `default_value` at column 0 of each row that has none, and which those are.

    Args:
      sp_input: of rank 2.
    Returns: (SparseTensor, bool [rows]).

    >>> import tape_compat as tf
    >>> filled, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[1, 1]], [3], [2, 2]), 0)
    >>> filled.values.numpy().tolist(), empty.numpy().tolist()
    ([0, 3], [True, False])
    """
    sparse = as_sparse(sp_input)
    shape = known_dense_shape(sparse)
    indices = positions(sparse)
    _check_rows(indices[:, 0], shape[0], "SparseFillEmptyRows")
    empty = np.ones(shape[0], bool)
    empty[indices[:, 0]] = False
    rows = np.flatnonzero(empty)
    new = np.zeros((len(rows), len(shape)), np.int64)
    new[:, 0] = rows
    together = np.concatenate([indices, new])
    order = np.argsort(together[:, 0], kind="stable")
    default = convert(default_value, hint=sparse.dtype)
    if default.dtype is not sparse.dtype:
        default = convert(default_value, sparse.dtype)
    values = join([sparse.values, repeat(reshape_dense(default, [1]), len(rows))], 0)
    return made(together[order], taken(values, order), shape), concrete(empty)


def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A bool Tensor [..., vocab_size] that is true at the values of each row.

    The values, int32 or int64, take the place of the last axis.

    >>> import tape_compat as tf
    >>> tf.sparse.to_indicator(tf.SparseTensor([[0, 0]], [2], [1, 1]), 3).numpy().tolist()
    [[False, False, True]]
    """
    sparse = as_sparse(sp_input)
    ids = known_value(sparse.values).astype(np.int64)
    shape = (*known_dense_shape(sparse)[:-1], as_int(vocab_size))
    indices = np.concatenate([positions(sparse)[:, :-1], ids[:, None]], 1)
    if (outside := (ids < 0) | (ids >= shape[-1])).any():
        i = int(np.flatnonzero(outside)[0])
        raise invalid(
            f"indices[{i}] = {shown(indices[i].tolist())} is out of bounds: need 0 <= index < "
            f"{shown(shape)}",
            "SparseToDense",
        )
    out = np.zeros(shape, bool)
    out[tuple(indices.T)] = True
    return concrete(out)


def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """IndexedSlices without the rows at `mask_indices`, whose values must be known.

    >>> import tape_compat as tf
    >>> a = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([4, 7]))
    >>> tf.sparse.mask(a, [4]).values.numpy().tolist()
    [[2.0]]
    """
    indices = known_value(a.indices)
    if indices.ndim != 1:
        raise invalid("x should be a 1D vector.", "ListDiff")
    keep = np.flatnonzero(~np.isin(indices, known_value(mask_indices)))
    places = concrete(keep)
    rows = gather(a.values, places)
    return IndexedSlices(rows, concrete(indices[keep]), a.dense_shape)

"""`tf.sets`: the last axis of a tensor, row by row, as sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composites.sparse import SparseTensor, known_dense_shape
from ..core import dtypes
from ..core.dimensions import fit, numbered
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.tensor import Tensor, concrete
from .arguments import as_tensor, known_value, sketched
from .sparse_layout import made, positions

_SETS = {dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16}


def _operand(value: Any) -> Any:
    if isinstance(value, SparseTensor):
        found = value
    else:
        found = as_tensor(value)
    if found.dtype not in _SETS and found.dtype is not dtypes.string:
        allowed = "int8, int16, int32, int64, uint8, uint16, string"
        raise TypeError(f"Invalid dtype `{found.dtype}` not in supported dtypes: `{allowed}`.")
    return found


def _shape(x: Any) -> tuple[int, ...]:
    return known_dense_shape(x) if isinstance(x, SparseTensor) else x._aval.shape


def _rows(x: Any) -> dict[tuple[int, ...], set[Any]]:
    """The sets by the positions of the rows that have any element."""
    found: dict[tuple[int, ...], set[Any]] = {}
    if isinstance(x, SparseTensor):
        for place, value in zip(positions(x).tolist(), known_value(x.values).tolist()):
            found.setdefault(tuple(place[:-1]), set()).add(value)
    else:
        array = known_value(x)
        for place in np.ndindex(*array.shape[:-1]):
            found[place] = set(array[place].tolist())
    return found


def _sizes(x: Any) -> tuple[Any, ...]:
    """The shape, with what stands for sizes that are not known."""
    if not isinstance(x, SparseTensor):
        return x._aval.shape
    return numbered([x.shape.as_list()])[0] if x._dense_shape._is_symbolic() else _shape(x)


def _check(a: Any, b: Any, kernel: str) -> None:
    if a.dtype is not b.dtype:
        raise TypeError(f"Types of input mismatch: {a.dtype} vs {b.dtype}.")
    one, other = _sizes(a), _sizes(b)
    if len(one) < 2 or len(other) < 2:
        raise invalid("Input tensor must have rank >= 2", kernel)
    if not fit(one[:-1], other[:-1]):
        raise invalid(f"Mismatched shapes {shown(one[:-1])} vs {shown(other[:-1])}", kernel)


def _operation(operator: str, kernel: str, a: Any, b: Any) -> SparseTensor:
    a, b = _operand(a), _operand(b)
    _check(a, b, kernel)
    indices, values, shape = _set_operation(_parts(a), _parts(b), operator)
    return SparseTensor(indices, values, shape)


def _parts(x: Any) -> tuple[Tensor, ...]:
    return (x.indices, x.values, x.dense_shape) if isinstance(x, SparseTensor) else (x,)


@by_host()
def _set_operation(
    a: tuple[Tensor, ...], b: tuple[Tensor, ...], operator: str
) -> tuple[Tensor, Tensor, Tensor]:
    """The positions, values and shape of what an operation gives for the rows of two tensors, each
    the parts of a sparse one or a dense one."""
    sketch = sketched(*a, *b)
    if sketch is not None:
        return sketch.sparse_parts(_whole(a).dtype, len(_whole(a).shape))
    one, other = _whole(a), _whole(b)
    ours, theirs = _rows(one), _rows(other)
    indices, values, longest = [], [], 0
    for place in sorted({*ours, *theirs}):
        kept = sorted(_OPERATORS[operator](ours.get(place, set()), theirs.get(place, set())))
        longest = max(longest, len(kept))
        indices += [(*place, i) for i in range(len(kept))]
        values += kept
    group = _shape(one)[:-1]
    flat: Tensor = convert(
        np.array(values, object if one.dtype is dtypes.string else one.dtype.np_dtype), one.dtype
    )
    sparse = made(np.array(indices, np.int64), flat, (*group, longest))
    return sparse.indices, sparse.values, sparse.dense_shape


def _whole(parts: Sequence[Tensor]) -> Any:
    return SparseTensor(*parts) if len(parts) > 1 else parts[0]


#: By the names that kernels give them.
_OPERATORS: dict[str, Callable[[set, set], set]] = {
    "a-b": set.__sub__,
    "intersection": set.__and__,
    "union": set.__or__,
}


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Row by row, the elements that are in both of two tensors, in order. Values must be known.

    Args:
      a, b: Tensors or SparseTensors of integers or strings, alike but for the last axis.
      validate_indices: has no effect: the order of positions does not matter here.
    Raises: TypeError for other dtypes; InvalidArgumentError if the first axes differ.

    >>> import tape_compat as tf
    >>> tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[3, 1, 7]])).numpy().tolist()
    [[1, 3]]
    """
    return _operation("intersection", "DenseToDenseSetOperation", a, b)


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Row by row, the elements that are in one of two tensors, in order. See `intersection`.

    >>> import tape_compat as tf
    >>> tf.sparse.to_dense(tf.sets.union([[1, 2]], [[3, 1]])).numpy().tolist()
    [[1, 2, 3]]
    """
    return _operation("union", "DenseToDenseSetOperation", a, b)


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Row by row, the elements of `a` that are not in `b`, in order; with `aminusb=False` those of
    `b` that are not in `a`. See `intersection`.

    >>> import tape_compat as tf
    >>> tf.sparse.to_dense(tf.sets.difference([[1, 2]], [[3, 1]])).numpy().tolist()
    [[2]]
    """
    if not aminusb:
        a, b = b, a
    return _operation("a-b", "DenseToDenseSetOperation", a, b)


def size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each row of a SparseTensor has: int32 without the last axis.

    Raises: TypeError if `a` is no SparseTensor; InvalidArgumentError if it has one axis.

    >>> import tape_compat as tf
    >>> s = tf.SparseTensor([[0, 0], [0, 1]], [5, 5], [2, 2])
    >>> tf.sets.size(s).numpy().tolist()
    [1, 0]
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    rank = len(_sizes(a))
    if rank < 2:
        raise invalid(f"Invalid rank {rank}.", "SetSize")
    return _set_size(*_parts(_operand(a)))


@by_host()
def _set_size(*parts: Tensor) -> Tensor:
    """How many elements the rows of a sparse tensor of these parts have."""
    a = _whole(parts)
    sketch = sketched(*parts)
    if sketch is not None:
        return sketch.tensor(tuple([sketch.size() for _ in _sizes(a)[:-1]]), dtypes.int32)
    shape = _shape(a)
    out = np.zeros(shape[:-1], np.int32)
    for place, values in _rows(a).items():
        out[place] = len(values)
    return concrete(out)

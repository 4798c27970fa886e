"""Matrix products of ragged tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..composites.ragged import splits_dtype
from ..composites.row_partition import host, splits_of_lengths
from ..core.errors import InvalidArgumentError, user_location
from ..values import dispatch
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from .gather_scatter import gather_nd
from .products import matmul
from .ragged_rows import Rows, ragged, rows_of, spans
from .ragged_shapes import DynamicRaggedShape as DynamicRaggedShape
from .ragged_values import RaggedTensor as RaggedTensor
from .shapes import expand_dims, squeeze


class _Matrices(NamedTuple):
    """A batch of matrices as one tensor [n, most rows, most columns], filled up with zeros; the
    number of rows and of columns of each."""

    filled: Tensor
    rows: np.ndarray
    columns: np.ndarray


def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
) -> Any:
    """Products of matrices of which each of a batch may have a size of its own."""
    for which, both in (("a", transpose_a and adjoint_a), ("b", transpose_b and adjoint_b)):
        if both:
            raise ValueError(f"Only one of transpose_{which} and adjoint_{which} can be True.")
    a, b = (x if isinstance(x, RaggedTensor) else convert(x) for x in (a, b))
    if a.dtype is not b.dtype:
        raise ValueError("`a` and `b` must have the same dtype.")
    if len(a.shape) != len(b.shape):
        raise ValueError("`a` and `b` must have the same rank.")
    settings = {
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "adjoint_a": adjoint_a,
        "adjoint_b": adjoint_b,
        "output_type": output_type,
    }
    if len(a.shape) == 2:
        return matmul(_matrix(a), _matrix(b), **settings)
    if len(a.shape) > 3:
        return _of_more_axes(a, b, settings)
    first, second = _matrices(a), _matrices(b)
    flipped = transpose_a or adjoint_a, transpose_b or adjoint_b
    rows, columns = _sizes(first, second, flipped)
    product = matmul(first.filled, second.filled, **settings)
    fixed = a.shape[-1 if flipped[0] else -2]
    ragged_columns = isinstance(b, RaggedTensor) and (b.ragged_rank == 2 or flipped[1])
    found = _cut(product, rows, columns if ragged_columns else None, fixed)
    return ragged(found, splits_dtype(a, b))


def _of_more_axes(a: Any, b: Any, settings: dict[str, Any]) -> Any:
    """The products of the values of the outermost rows."""
    a, b = (
        x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x, ragged_rank=1)
        for x in (a, b)
    )
    splits = host(a.row_splits), host(b.row_splits)
    if len(splits[0]) != len(splits[1]):
        raise InvalidArgumentError(
            None,
            None,
            f"Incompatible shapes: [{len(splits[0])}] vs. [{len(splits[1])}] [Op:Equal] (at "
            f"{user_location()})",
        )
    if (splits[0] != splits[1]).any():
        raise InvalidArgumentError(
            None,
            None,
            f"Batch dimensions of `a` and `b` do not have the same size. (at {user_location()})",
        )
    return a.with_values(matmul(a.values, b.values, **settings))


def _matrix(x: Any) -> Tensor:
    """A matrix whose rows are found to be of one length."""
    if not isinstance(x, RaggedTensor):
        return x
    lengths = np.diff(rows_of(x).splits[0])
    _of_one_length(lengths, lengths[:1])
    return x.to_tensor()


def _of_one_length(lengths: np.ndarray, wanted: np.ndarray) -> None:
    if (lengths != wanted).any():
        raise InvalidArgumentError(
            None,
            None,
            "The matrices in `a` and `b` may not be ragged in their innermost dimension. (at "
            f"{user_location()})",
        )


def _matrices(x: Any) -> _Matrices:
    if not isinstance(x, RaggedTensor):
        count, height, width = x._aval.shape
        return _Matrices(x, np.full(count, height), np.full(count, width))
    rows = rows_of(x)
    heights = np.diff(rows.splits[0])
    if len(rows.splits) == 1:
        return _Matrices(x.to_tensor(), heights, np.full(len(heights), rows.flat._aval.shape[1]))
    lengths = np.diff(rows.splits[1])
    widths = np.zeros_like(heights)
    filled = heights > 0
    widths[filled] = lengths[rows.splits[0][:-1][filled]]
    _of_one_length(lengths, np.repeat(widths, heights))
    return _Matrices(x.to_tensor(), heights, widths)


def _sizes(a: _Matrices, b: _Matrices, flipped: tuple[bool, bool]) -> tuple[np.ndarray, np.ndarray]:
    """The number of rows and of columns of each product."""
    if len(a.rows) != len(b.rows):
        raise ValueError(f"Dimensions {len(b.rows)} and {len(a.rows)} are not compatible")
    rows, inner = (a.columns, a.rows) if flipped[0] else (a.rows, a.columns)
    columns, outer = (b.rows, b.columns) if flipped[1] else (b.columns, b.rows)
    for i in np.flatnonzero(inner != outer):
        raise InvalidArgumentError(
            None,
            None,
            f"Matrix size-incompatible: In[0]: [{a.rows[i]},{a.columns[i]}], In[1]: "
            f"[{b.rows[i]},{b.columns[i]}] [Op:MatMul] (at {user_location()})",
        )
    return rows, columns


def _cut(product: Tensor, rows: np.ndarray, columns: np.ndarray | None, fixed: int | None) -> Rows:
    """The rows of each matrix that count, and of each of them as many columns, all if None."""
    batch = np.repeat(np.arange(len(rows)), rows)
    row = spans(np.zeros_like(rows), rows)
    splits = splits_of_lengths(rows)
    if columns is None:
        return Rows([splits], [fixed], gather_nd(product, concrete(np.stack([batch, row], 1))))
    widths = columns[batch]
    within = spans(np.zeros_like(widths), widths)
    places = np.stack([np.repeat(batch, widths), np.repeat(row, widths), within], 1)
    flat = gather_nd(product, concrete(places))
    return Rows([splits, splits_of_lengths(widths)], [fixed, None], flat)


def _matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    column = expand_dims(b, -1)
    return squeeze(matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a), -1)


dispatch.define(RaggedTensor, matmul=_matmul, matvec=_matvec)

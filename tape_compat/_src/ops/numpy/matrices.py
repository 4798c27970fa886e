"""Diagonals and triangles."""

from __future__ import annotations

import builtins
from typing import Any

from ...core.dimensions import is_unknown, less
from ...core.errors import NeedsValue
from ...core.refuse import invalid
from ...values.tensor import Tensor
from .. import creation as _of
from ..arguments import as_int, as_size
from ..arithmetic import pow
from ..casting import cast
from ..comparison import greater_equal
from ..diagonals import diag as _diag, diag_part
from ..selection import where
from ..shapes import expand_dims, reshape
from .arrays import as_array, default_dtype
from .dtypes import result_type
from .shapes import moveaxis


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Tensor:
    """A matrix [N, M] with ones on the k-th diagonal. M: N if None.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.eye(2, 3, k=1).numpy().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    kind = default_dtype(dtype)
    rows, columns, k = as_int(N), as_int(M or N), as_int(k)
    if k >= columns or -k >= rows:
        return _of.zeros([rows, columns], kind)
    if k == 0:
        return _of.eye(rows, columns, dtype=kind)
    length = builtins.min(rows, columns - k) if k > 0 else builtins.min(rows + k, columns)
    return _diag(_of.ones([length], kind), k=k, num_rows=rows, num_cols=columns)


def identity(n: Any, dtype: Any = float) -> Tensor:
    """The identity matrix [n, n].

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.identity(2, int).numpy().tolist()
    [[1, 0], [0, 1]]
    """
    return eye(n, n, dtype=dtype)


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with the vector `v` on its k-th diagonal, or that diagonal of the matrix `v`.

    Raises: InvalidArgumentError for a scalar, ValueError for more than two axes.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    v, k = as_array(v), as_int(k)
    v.shape.with_rank_at_most(2)
    if v.ndim == 0:
        raise invalid("Expected 'False' to be true: `v` must have 1 or 2 axes, not 0", "Assert")
    if v.ndim == 2:
        return diagonal(v, k)
    if v._aval.shape[0] == 0:
        return _of.zeros([builtins.abs(k), builtins.abs(k)], v.dtype)
    return _diag(v, k=k)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with the elements of `v` on its k-th diagonal.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.diagflat([[1], [2]], 1).numpy().tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return diag(reshape(as_array(v), [-1]), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of the matrices that two axes of `a` are: the last axis of the result.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.diagonal([[1, 2], [3, 4]], 1).numpy().tolist()
    [2]
    """
    a, k = as_array(a), as_int(offset)
    a = moveaxis(a, (axis1, axis2), (-2, -1))
    *batch, rows, columns = a._aval.shape
    if less(-rows, k) and less(k, columns):
        return diag_part(a, k=k)
    if is_unknown((rows, columns)):
        raise NeedsValue(f"Whether there is a diagonal {k} of {a!s} is not known")
    return _of.zeros([*batch, 0], a.dtype)


def _lower(rows: Any, columns: Any, k: int) -> Tensor:
    """Where a matrix is on or below its k-th diagonal."""
    return greater_equal(expand_dims(_of.range(rows) + k, 1), _of.range(columns))


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Tensor:
    """A matrix [N, M] with ones on and below its k-th diagonal. M: N if None.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.tri(2, 3, dtype=int).numpy().tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    rows = as_size(N)
    columns = rows if M is None else as_size(M)
    return cast(_lower(rows, columns, as_int(k)), result_type(float if dtype is None else dtype))


def _triangle(name: str, m: Any, k: int) -> tuple[Tensor, Tensor]:
    """`m`, and where it is on or below its k-th diagonal."""
    m = as_array(m)
    if m.ndim < 2:
        raise ValueError(f"Argument to {name} must have rank at least 2")
    rows, columns = m._aval.shape[-2:]
    return m, _lower(rows, columns, as_int(k))


def tril(m: Any, k: int = 0) -> Tensor:
    """`m` [..., n, m] with zeros above its k-th diagonal. Raises ValueError for vectors.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.tril([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 0], [3, 4]]
    """
    m, lower = _triangle("tril", m, k)
    return where(lower, m, cast(0, m.dtype))


def triu(m: Any, k: int = 0) -> Tensor:
    """`m` [..., n, m] with zeros below its k-th diagonal. Raises ValueError for vectors.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.triu([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    m, lower = _triangle("triu", m, k - 1)
    return where(lower, cast(0, m.dtype), m)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    """The powers of the vector `x` as columns: N of them, from the highest to 0, or from 0.

    Raises: ValueError if `x` is no vector or N is negative.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.vander([2, 3], 3).numpy().tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    x = as_array(x)
    if N is not None and as_int(N) < 0:
        raise ValueError("N must be nonnegative")
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    count = x._aval.shape[0] if N is None else as_int(N)
    powers = _of.range(count) if increasing else _of.range(count - 1, -1, -1)
    return pow(expand_dims(x, -1), cast(powers, x.dtype))
